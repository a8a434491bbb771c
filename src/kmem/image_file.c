// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>

#include "kmem/image.h"
#include "kmem/image_impl.h"
#include "util/cleanup.h"
#include "util/parse.h"

#define MAGIC "lockblame-kmem-image 1"

static int write_chunk(void *ctx, uint64_t base, const uint8_t *bytes, const bool *valid)
{
	FILE *f = ctx;
	bool open = false;

	for (size_t i = 0; i < KMEM_CHUNK; i++) {
		if (valid[i]) {
			if (!open)
				fprintf(f, "mem 0x%" PRIx64 " ", base + i);
			fprintf(f, "%02x", bytes[i]);
		} else if (open) {
			fputc('\n', f);
		}
		open = valid[i];
	}
	if (open)
		fputc('\n', f);
	return ferror(f) ? -EIO : 0;
}

static int write_named(void *ctx, const char *name, uint64_t addr, uint64_t value)
{
	FILE *f = ctx;

	if (name)
		fprintf(f, "symbol %s 0x%" PRIx64 "\n", name, addr);
	else
		fprintf(f, "cache 0x%" PRIx64 " 0x%" PRIx64 "\n", addr, value);
	return ferror(f) ? -EIO : 0;
}

static void write_head(FILE *f, struct kmem *k, const char *comment)
{
	const struct kmem_tasks *t = kmem_image__rows(k);
	size_t size;

	fprintf(f, MAGIC "\n");
	if (comment)
		fprintf(f, "# %s\n", comment);
	fprintf(f, "kernel %s\n", kmem_image__kernel(k, &size));
	for (int i = 0; i < KF_N; i++) {
		if (k->fields[i].state != FIELD_PRESENT)
			continue;
		fprintf(f, "field %s %u %u\n", kmem__field_name((enum kmem_field)i),
			k->fields[i].at.off, k->fields[i].at.size);
	}
	for (size_t i = 0; i < t->n; i++) {
		const struct kmem_task_row *r = &t->rows[i];

		fprintf(f, "task 0x%" PRIx64 " 0x%" PRIx64 " %d %d %" PRIu64 " %s\n", r->task,
			r->mm, r->tid, r->tgid, r->start_ns, r->comm);
	}
}

int kmem_image__save(struct kmem *k, const char *path, const char *comment, struct err *e)
{
	FILE *f __close_file = fopen(path, "we");
	size_t size;
	char *kernel = kmem_image__kernel(k, &size);
	int err;

	if (!f)
		return err_errno(e, -errno, "cannot write %s", path);
	if (!*kernel) {
		struct utsname u;

		snprintf(kernel, size, "%s", uname(&u) ? "unknown" : u.release);
	}
	write_head(f, k, comment);
	err = kmem_image__each_named(k, write_named, f);
	if (!err)
		err = kmem_image__each_chunk(k, write_chunk, f);
	if (!err && fflush(f))
		err = -errno;
	return err ? err_errno(e, err, "cannot write %s", path) : 0;
}

/* Cuts the next word off *s; "" at the end. */
static char *word(char **s)
{
	char *w = *s;

	*s += strcspn(*s, " ");
	if (**s)
		*(*s)++ = '\0';
	return w;
}

static int number(char **s, uint64_t max, uint64_t *v)
{
	return parse_u64(word(s), 0, max, v);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static int load_mem(struct kmem *k, char *s)
{
	uint8_t bytes[KMEM_CHUNK];
	uint64_t addr;
	size_t n;

	if (number(&s, UINT64_MAX, &addr))
		return -EINVAL;
	for (n = 0; s[2 * n]; n++) {
		int hi = hex_digit(s[2 * n]), lo = hi < 0 ? -1 : hex_digit(s[2 * n + 1]);

		if (lo < 0 || n == sizeof(bytes))
			return -EINVAL;
		bytes[n] = (uint8_t)(hi << 4 | lo);
	}
	return n ? kmem_image__put(k, addr, bytes, n) : -EINVAL;
}

static int load_field(struct kmem *k, char *s)
{
	const char *name = word(&s);
	uint64_t off, size;

	if (number(&s, UINT32_MAX, &off) || number(&s, UINT32_MAX, &size) || *s)
		return -EINVAL;
	for (int i = 0; i < KF_N; i++)
		if (!strcmp(name, kmem__field_name((enum kmem_field)i)))
			return kmem_image__set_field(k, (enum kmem_field)i, (uint32_t)off,
						     (uint32_t)size);
	return 0; /* a field that walkers no longer read */
}

static int load_task(struct kmem *k, char *s)
{
	struct kmem_task_row r = {0};
	uint64_t tid, tgid;

	if (number(&s, UINT64_MAX, &r.task) || number(&s, UINT64_MAX, &r.mm) ||
	    number(&s, INT32_MAX, &tid) || number(&s, INT32_MAX, &tgid) ||
	    number(&s, UINT64_MAX, &r.start_ns))
		return -EINVAL;
	r.tid = (pid_t)tid;
	r.tgid = (pid_t)tgid;
	snprintf(r.comm, sizeof(r.comm), "%s", s);
	return kmem_image__add_task(k, &r);
}

static int load_named(struct kmem *k, char *s, bool symbol)
{
	const char *name = symbol ? word(&s) : NULL;
	uint64_t addr, value = 0;

	if (number(&s, UINT64_MAX, &addr) || (!symbol && number(&s, UINT64_MAX, &value)) || *s)
		return -EINVAL;
	return symbol ? kmem_image__add_symbol(k, name, addr)
		      : kmem_image__add_cache(k, addr, value);
}

static int load_line(struct kmem *k, char *s)
{
	const char *what = word(&s);
	size_t size;

	if (!*what || *what == '#')
		return 0;
	if (!strcmp(what, "mem"))
		return load_mem(k, s);
	if (!strcmp(what, "field"))
		return load_field(k, s);
	if (!strcmp(what, "task"))
		return load_task(k, s);
	if (!strcmp(what, "symbol"))
		return load_named(k, s, true);
	if (!strcmp(what, "cache"))
		return load_named(k, s, false);
	if (strcmp(what, "kernel"))
		return -EINVAL;
	snprintf(kmem_image__kernel(k, &size), 64, "%s", s);
	return 0;
}

static int load_file(struct kmem *k, FILE *f, const char *path, struct err *e)
{
	char *line __free_ptr = NULL;
	size_t cap = 0;
	ssize_t len;

	for (unsigned int n = 1; (len = getline(&line, &cap, f)) > 0; n++) {
		int err;

		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		if (n == 1)
			err = strcmp(line, MAGIC) ? -EINVAL : 0;
		else
			err = load_line(k, line);
		if (err)
			return err_errno(e, err, "%s: line %u", path, n);
	}
	return ferror(f) ? err_errno(e, -EIO, "cannot read %s", path) : 0;
}

struct kmem *kmem_image__load(const char *path, struct err *e)
{
	FILE *f __close_file = fopen(path, "re");
	struct kmem *k;

	if (!f) {
		err_errno(e, -errno, "cannot read %s", path);
		return NULL;
	}
	k = kmem_image__new();
	if (!k) {
		err_errno(e, -ENOMEM, "cannot read %s", path);
		return NULL;
	}
	if (load_file(k, f, path, e)) {
		kmem__free(k);
		return NULL;
	}
	return k;
}
