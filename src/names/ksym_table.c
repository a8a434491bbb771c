// SPDX-License-Identifier: GPL-2.0
#include "names/ksym_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"

#define CHUNK (64 * 1024)

/* One line of the file, pointing into the read buffer. */
struct line {
	uint64_t addr;
	const char *name;
	size_t name_len;
	const char *module;
	size_t module_len;
	char type;
};


static bool line_starts(const struct line *l, const char *prefix)
{
	size_t n = strlen(prefix);

	return l->name_len >= n && !memcmp(l->name, prefix, n);
}

static bool line_ends(const struct line *l, const char *suffix)
{
	size_t n = strlen(suffix);

	return l->name_len >= n && !memcmp(l->name + l->name_len - n, suffix, n);
}

static bool line_is(const struct line *l, const char *name)
{
	return l->name_len == strlen(name) && !memcmp(l->name, name, l->name_len);
}

/* "ffffffff81000000 T name\t[module]"; hand-made, because 100,000 lines through a checked parser
 * would cost more than the kernel takes to print them. */
static bool parse_line(const char *s, const char *end, struct line *l)
{
	const char *tab;
	int digits = 0;

	memset(l, 0, sizeof(*l));
	for (; s < end && *s != ' '; s++, digits++) {
		unsigned int c = (unsigned char)*s;

		if (c - '0' < 10)
			c -= '0';
		else if ((c | 0x20) - 'a' < 6)
			c = (c | 0x20) - 'a' + 10;
		else
			return false;
		l->addr = l->addr << 4 | c;
	}
	if (!digits || digits > 16 || end - s < 4 || s[2] != ' ')
		return false;
	l->type = s[1];
	l->name = s + 3;
	tab = memchr(l->name, '\t', (size_t)(end - l->name));
	l->name_len = (size_t)((tab ? tab : end) - l->name);
	if (tab && end - tab > 3 && tab[1] == '[' && end[-1] == ']') {
		l->module = tab + 2;
		l->module_len = (size_t)(end - 1 - l->module);
	}
	return l->name_len > 0;
}

/* Section marks of the linker scripts. They are aliases of whatever is first in the section, or
 * begin a gap; either way they are no name for an address. */
static bool is_edge(const struct line *l)
{
	static const char *const names[] = {
		"_text",	"_stext",	"_etext",	 "_sinittext",	  "_einittext",
		"_sdata",	"_edata",	"_end",		 "_sexittext",	  "_eexittext",
		"__init_begin", "__init_end",	"__bss_start",	 "__bss_stop",	  "__end_rodata",
		"__pi__text",	"__per_cpu_start", "__per_cpu_end", "__end_of_kernel_reserve",
	};
	if (l->module || l->name[0] != '_')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (line_is(l, names[i]))
			return true;
	/* tables in data; functions like __stop_tty are none */
	if ((l->type | 0x20) != 't' && (line_starts(l, "__start_") || line_starts(l, "__stop_")))
		return true;
	return line_ends(l, "text_start") || line_ends(l, "text_end") ||
	       line_ends(l, "text_begin") || line_ends(l, "rodata_hugepage_align");
}

static int class_of(const struct line *l)
{
	if (is_edge(l))
		return KSYM_EDGE;
	switch (l->type | 0x20) {
	case 't':
	case 'w':
		return KSYM_TEXT;
	case 'd':
	case 'b':
	case 'r':
	case 'v':
	case 'g':
	case 's':
		return KSYM_DATA;
	default: /* absolute, undefined, debugging: no place in memory */
		return -1;
	}
}

/* The compiler's and the tracing macros' own data: tens of thousands of names that never name a
 * lock. */
static bool is_nameless(const struct line *l)
{
	static const char *const prefix[] = {
		"__func__.",  "__already_done.", "__warned.",	"__ksymtab_",	    "__kstrtab",
		"__UNIQUE_ID", "_entry.",	 "_entry_ptr.", "__compound_literal.", "CSWTCH.",
		"__key.",     "__event_",	 "event_",	"print_fmt_",	    "trace_event_",
		"__tpstrtab", "__bpf_trace_tp_map_", "__syscall_meta_", "types__", "args__",
		"__initcall_", "__setup_",	 "__param_",	"str__",	    "_rs.",
		"__print_once.", "__crc_",	 "__pfx_",	"descriptor.",	    "__msg.",
		"ddebug_",    "__modver_",	 "__already_",	"__ksym_marker_",   "symbols.",
	};

	if (l->name[0] != '_' && !strchr("Cepstatd", l->name[0]))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(prefix); i++)
		if (line_starts(l, prefix[i]))
			return true;
	return false;
}

static int module_index(struct ksym_table *t, const struct line *l)
{
	char *copy;

	if (!l->module)
		return 0;
	/* a module's lines follow one another */
	for (uint32_t i = t->n_modules; i > 0; i--)
		if (!strncmp(t->modules[i - 1], l->module, l->module_len) &&
		    !t->modules[i - 1][l->module_len])
			return (int)i;
	if (t->n_modules == KSYM_MAX_MODULES)
		return -1;
	copy = strndup(l->module, l->module_len);
	if (!copy)
		return -1;
	t->modules[t->n_modules++] = copy;
	return (int)t->n_modules;
}

static int grow(void **p, uint32_t *cap, uint64_t want, size_t size)
{
	uint64_t n = *cap ? *cap : 4096;
	void *bigger;

	if (want <= *cap)
		return 0;
	/* by a quarter: most of what is reserved is used in the end */
	while (n < want)
		n += n / 4;
	if (n > UINT32_MAX)
		return -EFBIG;
	bigger = realloc(*p, n * size);
	if (!bigger)
		return -ENOMEM;
	*p = bigger;
	*cap = (uint32_t)n;
	return 0;
}

static int store_name(struct ksym_table *t, const struct line *l, uint32_t *at)
{
	int r = grow((void **)&t->names, &t->names_cap, (uint64_t)t->names_len + l->name_len + 1, 1);

	if (r)
		return r;
	*at = t->names_len;
	memcpy(t->names + t->names_len, l->name, l->name_len);
	t->names_len += (uint32_t)l->name_len;
	t->names[t->names_len++] = '\0';
	return 0;
}

static void note_edge(struct ksym_table *t, const struct line *l)
{
	if (line_is(l, "_stext"))
		t->text.start = l->addr;
	else if (line_is(l, "_etext"))
		t->text.end = l->addr;
	else if (line_is(l, "_sinittext"))
		t->init.start = l->addr;
	else if (line_is(l, "_einittext"))
		t->init.end = l->addr;
	else if (line_is(l, "__per_cpu_start"))
		t->percpu_start = l->addr;
	else if (line_is(l, "__per_cpu_end"))
		t->percpu_end = l->addr;
}

static int add_line(struct ksym_table *t, const struct line *l)
{
	int class = class_of(l), module;
	struct ksym_entry *s;
	uint32_t name = 0;
	int r;

	if (class < 0 || line_starts(l, "__pfx_"))
		return 0;
	module = module_index(t, l);
	if (module < 0)
		return 0;
	if (class == KSYM_EDGE)
		note_edge(t, l);
	if (class == KSYM_DATA)
		t->n_data++;
	if (class != KSYM_DATA || !is_nameless(l)) {
		r = store_name(t, l, &name);
		if (r)
			return r;
	}
	r = grow((void **)&t->entry, &t->cap, (uint64_t)t->n + 1, sizeof(*t->entry));
	if (r)
		return r;
	s = &t->entry[t->n++];
	*s = (struct ksym_entry){
		.addr = l->addr,
		.name = name,
		.module = (uint16_t)module,
		.class = (uint8_t)class,
		.global = !(l->type & 0x20),
	};
	return 0;
}

/* Takes the complete lines at the start of buf; returns how many bytes they were, or -errno. */
static ssize_t take_lines(struct ksym_table *t, const char *buf, size_t len)
{
	const char *s = buf, *end = buf + len, *nl;

	while (s < end && (nl = memchr(s, '\n', (size_t)(end - s)))) {
		struct line l;

		if (parse_line(s, nl, &l)) {
			int r = add_line(t, &l);

			if (r)
				return r;
		}
		s = nl + 1;
	}
	return s - buf;
}

static int read_lines(struct ksym_table *t, int fd)
{
	__free_ptr char *buf = malloc(CHUNK);
	size_t len = 0;

	if (!buf)
		return -ENOMEM;
	for (;;) {
		ssize_t n = read(fd, buf + len, CHUNK - len), used;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		len += (size_t)n;
		used = take_lines(t, buf, len);
		if (used < 0)
			return (int)used;
		len -= (size_t)used;
		memmove(buf, buf + used, len);
		if (len == CHUNK) /* a line of 64 KiB is no kallsyms */
			return -EINVAL;
	}
}

static int by_addr(const void *a, const void *b)
{
	const struct ksym_entry *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* The kernel's own symbols come sorted and first; modules and BPF programs do not. */
static void sort_entries(struct ksym_table *t)
{
	uint32_t sorted = 1;
	uint64_t min = UINT64_MAX;

	while (sorted < t->n && t->entry[sorted - 1].addr <= t->entry[sorted].addr)
		sorted++;
	for (uint32_t i = sorted; i < t->n; i++)
		if (t->entry[i].addr < min)
			min = t->entry[i].addr;
	while (sorted > 0 && sorted < t->n && t->entry[sorted - 1].addr >= min)
		sorted--;
	if (sorted < t->n)
		qsort(t->entry + sorted, t->n - sorted, sizeof(*t->entry), by_addr);
}

/* Zero addresses mean hidden when all are zero; among real ones a tiny address is a per-CPU offset
 * or an absolute value. */
static void drop_offsets(struct ksym_table *t)
{
	uint32_t n = 0;

	t->hidden = true;
	for (uint32_t i = 0; i < t->n; i++)
		if (t->entry[i].addr)
			t->hidden = false;
	if (t->hidden)
		return;
	for (uint32_t i = 0; i < t->n; i++) {
		uint64_t a = t->entry[i].addr;

		if (a < 0x100000 || (a >= t->percpu_start && a < t->percpu_end))
			continue;
		t->entry[n++] = t->entry[i];
	}
	t->n = n;
}

static bool inside(uint64_t addr, uint64_t start, uint64_t end)
{
	return addr >= start && addr < end;
}

/* The letters are not to be trusted: 7.2 lists half of .data as 'T'. Where a symbol lies is. */
static void class_by_place(struct ksym_table *t)
{
	if (t->hidden || !t->text.end)
		return;
	for (uint32_t i = 0; i < t->n; i++) {
		struct ksym_entry *s = &t->entry[i];

		if (s->class != KSYM_TEXT || s->module)
			continue;
		if (!inside(s->addr, t->text.start, t->text.end) &&
		    !inside(s->addr, t->init.start, t->init.end))
			s->class = KSYM_DATA;
	}
}

static void shrink(struct ksym_table *t)
{
	void *p = realloc(t->entry, t->n ? t->n * sizeof(*t->entry) : 1);

	if (p) {
		t->entry = p;
		t->cap = t->n;
	}
	p = realloc(t->names, t->names_len);
	if (p) {
		t->names = p;
		t->names_cap = t->names_len;
	}
}

int ksym_table__read(struct ksym_table *t, const char *path, struct err *e)
{
	__close_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return err_errno(e, -errno, "cannot read %s", path);
	r = grow((void **)&t->names, &t->names_cap, 2, 1);
	if (!r) {
		memset(t->names, 0, 2);
		t->names_len = 2;
		r = read_lines(t, fd);
	}
	if (!r && !t->n)
		r = -ENODATA;
	if (r) {
		ksym_table__clear(t);
		return err_errno(e, r, "cannot read %s", path);
	}
	drop_offsets(t);
	class_by_place(t);
	sort_entries(t);
	shrink(t);
	return 0;
}

void ksym_table__clear(struct ksym_table *t)
{
	free(t->entry);
	free(t->names);
	for (uint32_t i = 0; i < t->n_modules; i++)
		free(t->modules[i]);
	memset(t, 0, sizeof(*t));
}
