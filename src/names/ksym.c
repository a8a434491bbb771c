// SPDX-License-Identifier: GPL-2.0
#include "names/ksym.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "names/ksym_table.h"
#include "util/cleanup.h"

#define PAGE 4096ULL
/* Nothing static is larger, but for tables that hold no locks. */
#define DATA_MAX (1ULL << 20)
/* The room between two sections of the kernel image without marks around them. */
#define STRAY_MAX (64 * 1024ULL)
#define UNKNOWN_SLOTS 256
#define PATIENCE 10

struct ksyms {
	char *kallsyms, *modules;
	bool loaded;
	struct ksym_table t;
	uint64_t signature; /* of /proc/modules when t was read */
	/* names that were given out: kept when t is read again */
	char **given;
	uint32_t n_given, cap_given;
	/* addresses asked for in vain, so that asking again costs nothing */
	uint64_t unknown[UNKNOWN_SLOTS];
	/* in seconds */
	uint64_t loaded_at, checked_at, patience;
	struct err why;
};

static uint64_t hash_bytes(uint64_t h, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3ULL;
	return h;
}

static uint64_t now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec;
}

/* Which modules there are, and where: the first and the sixth word of each line. The reference
 * counts between them change all the time and mean nothing here. */
static uint64_t modules_signature(const char *path)
{
	__close_file FILE *f = fopen(path, "re");
	uint64_t h = 0xcbf29ce484222325ULL;
	__free_ptr char *line = NULL;
	size_t cap = 0;

	if (!f)
		return 0;
	while (getline(&line, &cap, f) > 0) {
		char *word = line, *save = NULL;

		for (int i = 0; (word = strtok_r(i ? NULL : line, " \n", &save)) && i < 6; i++)
			if (i == 0 || i == 5)
				h = hash_bytes(h, word, strlen(word));
	}
	return h;
}

static void load_now(struct ksyms *ks)
{
	ks->loaded = true;
	ks->loaded_at = ks->checked_at = now_s();
	ks->signature = modules_signature(ks->modules);
	ks->why.msg[0] = '\0';
	ksym_table__clear(&ks->t);
	if (ksym_table__read(&ks->t, ks->kallsyms, &ks->why))
		ks->t.hidden = true;
	else if (ks->t.hidden)
		err_set(&ks->why, 0,
			"kernel addresses are hidden (kernel.kptr_restrict, or CAP_SYSLOG is missing), "
			"so functions are shown as numbers");
	else if (!ksyms__has_data(ks))
		err_set(&ks->why, 0,
			"this kernel does not list its variables (CONFIG_KALLSYMS_ALL is off), so static "
			"locks have no names");
}

static struct ksym_table *table(struct ksyms *ks)
{
	if (!ks->loaded)
		load_now(ks);
	return &ks->t;
}

struct ksyms *ksyms__load_from(const char *kallsyms, const char *modules, struct err *e)
{
	struct ksyms *ks;

	if (access(kallsyms, R_OK)) {
		err_errno(e, -errno, "cannot read %s", kallsyms);
		return NULL;
	}
	ks = calloc(1, sizeof(*ks));
	if (ks) {
		ks->patience = PATIENCE;
		ks->kallsyms = strdup(kallsyms);
		ks->modules = strdup(modules);
	}
	if (!ks || !ks->kallsyms || !ks->modules) {
		err_errno(e, -ENOMEM, "cannot read %s", kallsyms);
		ksyms__free(ks);
		return NULL;
	}
	return ks;
}

struct ksyms *ksyms__load(const char *path, struct err *e)
{
	return ksyms__load_from(path ? path : "/proc/kallsyms", "/proc/modules", e);
}

void ksyms__free(struct ksyms *ks)
{
	if (!ks)
		return;
	ksym_table__clear(&ks->t);
	for (uint32_t i = 0; i < ks->cap_given; i++)
		free(ks->given[i]);
	free(ks->given);
	free(ks->kallsyms);
	free(ks->modules);
	free(ks);
}

static char **given_slot(char **slots, uint32_t cap, const char *name)
{
	uint64_t h = hash_bytes(0xcbf29ce484222325ULL, name, strlen(name));
	uint32_t i = (uint32_t)(h ^ h >> 32) & (cap - 1);

	while (slots[i] && strcmp(slots[i], name))
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

static int given_grow(struct ksyms *ks)
{
	uint32_t cap = ks->cap_given ? ks->cap_given * 2 : 256;
	char **bigger = calloc(cap, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	for (uint32_t i = 0; i < ks->cap_given; i++)
		if (ks->given[i])
			*given_slot(bigger, cap, ks->given[i]) = ks->given[i];
	free(ks->given);
	ks->given = bigger;
	ks->cap_given = cap;
	return 0;
}

/* A copy of name that outlives the table; one per name. NULL when out of memory. */
static const char *give(struct ksyms *ks, const char *name)
{
	char **slot;

	if (ks->n_given * 4 >= ks->cap_given * 3 && given_grow(ks))
		return NULL;
	slot = given_slot(ks->given, ks->cap_given, name);
	if (!*slot) {
		*slot = strdup(name);
		ks->n_given += *slot != NULL;
	}
	return *slot;
}

/* The last entry at or below addr, or -1. */
static int64_t at_or_below(const struct ksym_table *t, uint64_t addr)
{
	uint32_t lo = 0, hi = t->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->entry[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (int64_t)lo - 1;
}

static unsigned int underscores(const char *s)
{
	return (unsigned int)strspn(s, "_");
}

/* Of two names for one address, the one that people know. */
static bool better(const struct ksym_table *t, const struct ksym_entry *a,
		   const struct ksym_entry *b)
{
	const char *x = ksym_table__name(t, a), *y = ksym_table__name(t, b);

	if (a->global != b->global)
		return a->global > b->global;
	if (underscores(x) != underscores(y))
		return underscores(x) < underscores(y);
	return strlen(x) < strlen(y);
}

/* The best name of this class among the entries that share the address of entry i. */
static const struct ksym_entry *best_at(const struct ksym_table *t, int64_t i, int class)
{
	const struct ksym_entry *best = NULL;
	uint64_t addr = t->entry[i].addr;

	for (; i >= 0 && t->entry[i].addr == addr; i--) {
		const struct ksym_entry *s = &t->entry[i];

		if (s->class == class && s->name && (!best || better(t, s, best)))
			best = s;
	}
	return best;
}

static uint64_t page_end(uint64_t addr)
{
	return (addr | (PAGE - 1)) + 1;
}

static bool inside(uint64_t addr, uint64_t start, uint64_t end)
{
	return addr >= start && addr < end;
}

/* Where the symbol s ends at the latest; next is the first entry above it, or NULL. */
static uint64_t limit_of(const struct ksym_table *t, const struct ksym_entry *s,
			 const struct ksym_entry *next)
{
	uint64_t end;

	if (s->module) {
		/* Beyond a module's last symbol lies another allocation, with or without a guard
		 * page, maybe a BPF program that kallsyms does not list. */
		if (next && next->module == s->module && next->class == s->class)
			end = next->addr;
		else
			end = page_end(s->addr);
	} else if (inside(s->addr, t->text.start, t->text.end)) {
		end = t->text.end;
	} else if (inside(s->addr, t->init.start, t->init.end)) {
		end = t->init.end;
	} else if (next && !next->module) {
		end = s->class == KSYM_DATA ? next->addr : s->addr + STRAY_MAX;
	} else {
		end = page_end(s->addr);
	}
	if (s->class == KSYM_DATA && end > s->addr + DATA_MAX)
		end = s->addr + DATA_MAX;
	return next && next->addr < end ? next->addr : end;
}

static const struct ksym_entry *lookup(const struct ksym_table *t, uint64_t addr, int class)
{
	const struct ksym_entry *s, *next;
	int64_t i;

	if (t->hidden || inside(addr, t->percpu_start, t->percpu_end))
		return NULL;
	i = at_or_below(t, addr);
	if (i < 0)
		return NULL;
	s = best_at(t, i, class);
	if (!s)
		return NULL;
	next = i + 1 < (int64_t)t->n ? &t->entry[i + 1] : NULL;
	return addr < limit_of(t, s, next) ? s : NULL;
}

/* True when the symbols were read again because modules had changed. */
static bool follow_modules(struct ksyms *ks)
{
	ks->checked_at = now_s();
	if (modules_signature(ks->modules) == ks->signature)
		return false;
	memset(ks->unknown, 0, sizeof(ks->unknown));
	load_now(ks);
	return true;
}

void ksyms__refresh(struct ksyms *ks)
{
	if (ks->loaded)
		follow_modules(ks);
}

/* BPF programs come and go without a trace in /proc/modules, so a new unknown address may be one.
 * Reading everything again for it is worth it once per address, and ever less often as long as it is
 * in vain. */
static bool follow_bpf(struct ksyms *ks, uint64_t addr, int class)
{
	uint64_t *slot = &ks->unknown[(addr >> 2 ^ addr >> 13) % UNKNOWN_SLOTS];

	if (*slot == addr || now_s() - ks->loaded_at < ks->patience)
		return false;
	*slot = addr;
	load_now(ks);
	if (lookup(&ks->t, addr, class))
		ks->patience = PATIENCE;
	else if (ks->patience < 3600)
		ks->patience *= 2;
	return true;
}

/* addr has no name. Could it have one if the symbols were read again? True: they were. */
static bool look_again(struct ksyms *ks, uint64_t addr, int class)
{
	if (ks->t.hidden || addr < 0x100000 || inside(addr, ks->t.text.start, ks->t.text.end))
		return false;
	if (ks->checked_at != now_s() && follow_modules(ks))
		return true;
	return class == KSYM_TEXT && follow_bpf(ks, addr, class);
}

static bool find(struct ksyms *ks, uint64_t addr, int class, struct ksym *out)
{
	struct ksym_table *t = table(ks);
	const struct ksym_entry *s = lookup(t, addr, class);

	if (!s && look_again(ks, addr, class))
		s = lookup(t, addr, class);
	if (!s)
		return false;
	out->name = give(ks, ksym_table__name(t, s));
	out->offset = addr - s->addr;
	out->module = s->module ? give(ks, t->modules[s->module - 1]) : NULL;
	return out->name != NULL;
}

bool ksyms__find(struct ksyms *ks, uint64_t addr, struct ksym *out)
{
	return find(ks, addr, KSYM_TEXT, out);
}

bool ksyms__find_return(struct ksyms *ks, uint64_t addr, struct ksym *out)
{
	struct ksym before;

	if (find(ks, addr, KSYM_TEXT, out) && out->offset)
		return true;
	if (!find(ks, addr - 1, KSYM_TEXT, &before))
		return false;
	*out = before;
	out->offset++;
	return true;
}

bool ksyms__find_data(struct ksyms *ks, uint64_t addr, struct ksym *out)
{
	return ksyms__has_data(ks) && find(ks, addr, KSYM_DATA, out);
}

static char *format_hex(uint64_t addr, char *buf, size_t size)
{
	snprintf(buf, size, "0x%016llx", (unsigned long long)addr);
	return buf;
}

char *ksyms__format(struct ksyms *ks, uint64_t addr, char *buf, size_t size)
{
	struct ksym s;

	if (!ksyms__find_return(ks, addr, &s))
		return format_hex(addr, buf, size);
	snprintf(buf, size, "%s+0x%llx", s.name, (unsigned long long)s.offset);
	return buf;
}

char *ksyms__format_data(struct ksyms *ks, uint64_t addr, char *buf, size_t size)
{
	struct ksym s;

	if (!ksyms__find_data(ks, addr, &s))
		return format_hex(addr, buf, size);
	if (s.offset)
		snprintf(buf, size, "%s+0x%llx", s.name, (unsigned long long)s.offset);
	else
		snprintf(buf, size, "%s", s.name);
	return buf;
}

/* The entry whose name begins at this offset of the names, or NULL. */
static const struct ksym_entry *by_name_offset(const struct ksym_table *t, uint32_t name)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->entry[i].name == name)
			return &t->entry[i];
	return NULL;
}

/* The next name that begins with base, from *at on; *at moves behind it. All names lie one after the
 * other, so one memmem finds them faster than a loop over the entries. */
static const char *next_name(const struct ksym_table *t, const char *base, uint32_t *at)
{
	char key[256];
	size_t len = strlen(base);
	const char *hit;

	if (!t->names || !len || len + 1 >= sizeof(key) || *at >= t->names_len)
		return NULL;
	key[0] = '\0';
	memcpy(key + 1, base, len);
	hit = memmem(t->names + *at, t->names_len - *at, key, len + 1);
	if (!hit)
		return NULL;
	*at = (uint32_t)(hit + 1 - t->names);
	return hit + 1;
}

int ksyms__addr(struct ksyms *ks, const char *name, uint64_t *addr)
{
	struct ksym_table *t = table(ks);
	const char *hit;
	uint32_t at = 0;
	int found = 0;

	while ((hit = next_name(t, name, &at))) {
		const struct ksym_entry *s;

		if (strcmp(hit, name))
			continue;
		s = by_name_offset(t, at);
		if (!s)
			continue;
		if (t->hidden)
			return -EACCES;
		if (!found++)
			*addr = s->addr;
		else if (s->addr != *addr)
			return -ENOTUNIQ;
	}
	return found ? 0 : -ENOENT;
}

static bool is_variant(const char *name, size_t base_len)
{
	const char *suffix = name + base_len;

	return !*suffix || (*suffix == '.' && !strstr(suffix, ".cold"));
}

int ksyms__variants(struct ksyms *ks, const char *base, const char **names, int max)
{
	struct ksym_table *t = table(ks);
	size_t len = strlen(base);
	const char *hit;
	uint32_t at = 0;
	int n = 0;

	while (n < max && (hit = next_name(t, base, &at))) {
		const struct ksym_entry *s;
		const char *name;

		if (!is_variant(hit, len))
			continue;
		s = by_name_offset(t, at);
		if (!s || s->class != KSYM_TEXT)
			continue;
		name = give(ks, hit);
		if (!name)
			break;
		names[n++] = name;
		if (!hit[len] && n > 1) {
			names[n - 1] = names[0];
			names[0] = name;
		}
	}
	return n;
}

bool ksyms__hidden(struct ksyms *ks)
{
	return table(ks)->hidden;
}

bool ksyms__has_data(struct ksyms *ks)
{
	/* without KALLSYMS_ALL a few dozen marks of the linker script are left */
	return !table(ks)->hidden && table(ks)->n_data > 1000;
}

const char *ksyms__why(struct ksyms *ks)
{
	table(ks);
	return ks->why.msg[0] ? ks->why.msg : NULL;
}
