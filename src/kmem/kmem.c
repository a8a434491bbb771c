// SPDX-License-Identifier: GPL-2.0
#include "kmem/kmem.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "kmem/impl.h"
#include "util/clock.h"
#include "util/cleanup.h"

#define KMEM_FIELD_PATH(id, path) [KF_##id] = (path),
static const char *const field_paths[KF_N] = {KMEM_FIELDS(KMEM_FIELD_PATH)};

#define KMEM_FIELD_NAME(id, path) [KF_##id] = #id,
static const char *const field_names[KF_N] = {KMEM_FIELDS(KMEM_FIELD_NAME)};

const char *kmem__field_name(enum kmem_field f)
{
	return field_names[f];
}

const char *kmem__field_path(enum kmem_field f)
{
	return field_paths[f];
}

void kmem__init(struct kmem *k, const struct kmem_ops *ops)
{
	k->ops = ops;
}

void kmem__fini(struct kmem *k)
{
	free(k->tasks.rows);
}

void kmem__free(struct kmem *k)
{
	if (k)
		k->ops->free(k);
}

struct kmem_stats kmem__stats(const struct kmem *k)
{
	return k->stats;
}

/* Every address goes through here, so this is where nonsense stops: user addresses, and ranges that
 * wrap around. The kernel would refuse them too. */
static bool readable_range(const struct kmem_req *r)
{
	return r->addr >> 63 && r->len && r->len <= KMEM_READ_MAX && r->addr + r->len > r->addr;
}

int kmem__readv(struct kmem *k, struct kmem_req *reqs, size_t n)
{
	int first = 0;

	for (size_t i = 0; i < n; i++)
		reqs[i].err = readable_range(&reqs[i]) ? 0 : -EFAULT;
	k->ops->readv(k, reqs, n);
	k->stats.reads += n;
	for (size_t i = 0; i < n; i++) {
		if (!reqs[i].err)
			continue;
		k->stats.faults++;
		memset(reqs[i].buf, 0, reqs[i].len);
		if (!first)
			first = reqs[i].err;
	}
	return first;
}

int kmem__read(struct kmem *k, uint64_t addr, void *buf, size_t len)
{
	struct kmem_req r = {.addr = addr, .buf = buf, .len = (uint32_t)len};

	if (len > KMEM_READ_MAX)
		return -E2BIG;
	return kmem__readv(k, &r, 1);
}

/* Strings may end right before an unmapped page: read up to aligned boundaries. */
int kmem__read_str(struct kmem *k, uint64_t addr, char *buf, size_t size)
{
	size_t have = 0;

	while (have < size - 1) {
		size_t len = 64 - ((addr + have) & 63);
		const char *end;
		int err;

		if (len > size - 1 - have)
			len = size - 1 - have;
		err = kmem__read(k, addr + have, buf + have, len);
		if (err) {
			buf[have] = '\0';
			return err;
		}
		end = memchr(buf + have, '\0', len);
		if (end)
			return (int)(end - buf);
		have += len;
	}
	buf[have] = '\0';
	return (int)have;
}

static const struct btf_field *field(struct kmem *k, enum kmem_field f)
{
	if (k->fields[f].state == FIELD_UNASKED)
		k->fields[f].state =
			k->ops->field(k, f, &k->fields[f].at) ? FIELD_ABSENT : FIELD_PRESENT;
	return k->fields[f].state == FIELD_PRESENT ? &k->fields[f].at : NULL;
}

bool kmem__has(struct kmem *k, enum kmem_field f)
{
	return field(k, f) != NULL;
}

int64_t kmem__off(struct kmem *k, enum kmem_field f)
{
	const struct btf_field *at = field(k, f);

	return at ? (int64_t)at->off : -ENOENT;
}

uint32_t kmem__size(struct kmem *k, enum kmem_field f)
{
	const struct btf_field *at = field(k, f);

	return at ? at->size : 0;
}

#define GETV_MAX 16

int kmem__getv(struct kmem *k, uint64_t obj, const enum kmem_field *f, uint64_t *v, size_t n)
{
	struct kmem_req reqs[GETV_MAX];

	if (n > GETV_MAX)
		return -E2BIG;
	memset(v, 0, n * sizeof(*v));
	for (size_t i = 0; i < n; i++) {
		const struct btf_field *at = field(k, f[i]);

		if (!at)
			return -ENOENT;
		reqs[i] = (struct kmem_req){
			.addr = obj + at->off,
			.buf = &v[i],
			/* Structures that wrap one number (atomic_t, memdesc_flags_t) count as it.
			 */
			.len = at->size < sizeof(*v) ? at->size : sizeof(*v),
		};
	}
	return kmem__readv(k, reqs, n);
}

int kmem__get(struct kmem *k, uint64_t obj, enum kmem_field f, uint64_t *v)
{
	return kmem__getv(k, obj, &f, v, 1);
}

uint64_t kmem__self(struct kmem *k)
{
	return k->ops->symbol ? k->ops->symbol(k, KMEM_SELF) : 0;
}

bool kmem__is_rt(struct kmem *k)
{
	return kmem__has(k, KF_RWSEM_RT);
}

struct kmem_task_row *kmem_tasks__add(struct kmem_tasks *t)
{
	if (t->n == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 256;
		struct kmem_task_row *rows = reallocarray(t->rows, cap, sizeof(*rows));

		if (!rows)
			return NULL;
		t->rows = rows;
		t->cap = cap;
	}
	memset(&t->rows[t->n], 0, sizeof(t->rows[0]));
	return &t->rows[t->n++];
}

int kmem__tasks(struct kmem *k, uint64_t max_age_ns, const struct kmem_task_row **rows, size_t *n)
{
	uint64_t now = clock_ns();
	int err;

	if (!k->tasks_at || now - k->tasks_at > max_age_ns) {
		k->tasks.n = 0;
		k->tasks_at = 0;
		err = k->ops->tasks(k, &k->tasks);
		if (err)
			return err;
		k->tasks_at = now;
	}
	*rows = k->tasks.rows;
	*n = k->tasks.n;
	return 0;
}
