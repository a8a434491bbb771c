// SPDX-License-Identifier: GPL-2.0
#include "model/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/blame.h"
#include "util/cleanup.h"

static const char *const by_names[HOLD_LOCK] = {
	[BY_LOCK] = "lock",
	[BY_SITE] = "site",
	[BY_PROCESS] = "process",
	[BY_COMM] = "comm",
	[BY_KIND] = "kind",
	[BY_CGROUP] = "cgroup",
	[BY_STACK] = "stack",
	[BLAME_HOLDER] = "holder",
	[BLAME_LOCK] = "lock",
	[BLAME_SITE] = "site",
	[BLAME_PROCESS] = "process",
	[BLAME_STACK] = "stack",
	[BLAME_PAIR] = "pair",
	[BLAME_PAIR_STACK] = "pair",
};

enum table_of table_of(enum table_by by)
{
	return by >= HOLD_LOCK ? OF_HOLDS : by >= BLAME_HOLDER ? OF_BLAME : OF_WAITS;
}

enum table_by table_key(enum table_by by)
{
	return by >= HOLD_LOCK ? (enum table_by)(by - HOLD_LOCK) : by;
}

const char *table_by_name(enum table_by by)
{
	return by < TABLE_BY_N ? by_names[table_key(by)] : "?";
}

int table_by_parse(const char *name, enum table_of of)
{
	for (int i = 0; i < TABLE_BY_N; i++)
		if (table_of((enum table_by)i) == of && !strcmp(table_by_name((enum table_by)i), name))
			return i;
	return -1;
}

/* The values that can be part of a key; those that are not are zero. */
struct row_key {
	uint64_t lock;
	uint64_t cgroup;
	const char *site;
	const char *name; /* of the lock */
	uint32_t tgid;
	int32_t kstack;
	int32_t ustack;
	uint8_t kind;
	uint8_t mode;
	uint8_t pad[2];
	char comm[LB_COMM_LEN];
};

/* One source cell on its way into a row. */
struct part {
	struct row_key key;
	struct row_key full; /* everything known about it */
	uint64_t total;
	size_t row;
};

struct builder {
	struct table *t;
	const struct table_names *names;
	struct row_key *keys; /* parallel to t->rows, open addressing through slots */
	size_t *slots;	      /* row index + 1 */
	size_t n_slots;
	struct part *sites, *locks; /* tallies for top site and top lock */
	size_t n_sites, n_locks;
};

static struct row_key key_of(enum table_by by, const struct row_key *full)
{
	struct row_key k = {0};

	switch (by) {
	case BY_LOCK:
		k.lock = full->lock;
		k.name = full->name;
		k.kind = full->kind;
		k.mode = full->mode;
		break;
	case BY_SITE:
		k.site = full->site;
		k.kind = full->kind;
		k.mode = full->mode;
		break;
	case BY_PROCESS:
		k.tgid = full->tgid;
		break;
	case BY_COMM:
		memcpy(k.comm, full->comm, sizeof(k.comm));
		break;
	case BY_KIND:
		k.kind = full->kind;
		k.mode = full->mode;
		break;
	case BY_CGROUP:
		k.cgroup = full->cgroup;
		break;
	default:
		k.lock = full->lock;
		k.name = full->name;
		k.kind = full->kind;
		k.mode = full->mode;
		k.kstack = full->kstack;
		k.ustack = full->ustack;
		break;
	}
	return k;
}

static size_t hash_key(const struct row_key *k)
{
	const unsigned char *p = (const unsigned char *)k;
	uint64_t h = 1469598103934665603ULL;

	for (size_t i = 0; i < sizeof(*k); i++)
		h = (h ^ p[i]) * 1099511628211ULL;
	return (size_t)(h ^ (h >> 32));
}

/* The slot of this key: taken by its row, or free. */
static size_t slot_of(const struct builder *b, const struct row_key *k)
{
	size_t i = hash_key(k) % b->n_slots;

	while (b->slots[i] && memcmp(&b->keys[b->slots[i] - 1], k, sizeof(*k)))
		i = (i + 1) % b->n_slots;
	return i;
}

/* The row of this key, made if needed. The arrays have room for every source cell. */
static size_t row_index(struct builder *b, const struct row_key *full)
{
	struct row_key k = key_of(b->t->key, full);
	size_t i = slot_of(b, &k);
	struct row *r;

	if (b->slots[i])
		return b->slots[i] - 1;
	b->keys[b->t->n_rows] = k;
	r = &b->t->rows[b->t->n_rows];
	*r = (struct row){
		.lock = full->lock,
		.cgroup = full->cgroup,
		.tgid = full->tgid,
		.kstack = full->kstack,
		.ustack = full->ustack,
		.kind = full->kind,
		.mode = full->mode,
		.site = full->site,
		.first_name = k.name,
	};
	memcpy(r->comm, full->comm, sizeof(r->comm));
	b->slots[i] = ++b->t->n_rows;
	return b->t->n_rows - 1;
}

static bool by_split(enum table_by by)
{
	return by == BY_SITE || by == BY_STACK;
}

static void put_wait(struct builder *b, const struct wait_cell *c)
{
	struct row_key full = {
		.lock = b->names->lock_of(b->names->ctx, c->key.lock, c->key.kind, c->key.tgid),
		.cgroup = c->key.cgroup,
		.tgid = c->key.tgid,
		.kstack = LB_NO_STACK,
		.ustack = LB_NO_STACK,
		.kind = c->key.kind,
		.mode = c->key.mode,
	};
	size_t i;
	struct row *r;

	memcpy(full.comm, c->val.comm, sizeof(full.comm));
	full.name = b->names->first_name(b->names->ctx, c->key.lock, c->key.kind, c->key.tgid);
	i = row_index(b, &full);
	r = &b->t->rows[i];
	r->has_hist = true;
	r->count += c->val.count;
	r->failed += c->val.failed;
	r->total_ns += c->val.total_ns;
	r->spin_ns += c->val.spin_ns;
	if (r->max_ns < c->val.max_ns)
		r->max_ns = c->val.max_ns;
	for (int h = 0; h < LB_HIST_BUCKETS; h++)
		r->hist[h] += c->val.hist[h];
	b->locks[b->n_locks++] = (struct part){.full = full, .total = c->val.total_ns, .row = i};
}

/* A split cell is a row's figures (by site, by stack), or tells an exact row which sites it has. */
static void put_split(struct builder *b, const struct split_cell *c)
{
	struct row_key full = {
		.lock = b->names->lock_of(b->names->ctx, c->key.lock, c->key.kind, c->key.tgid),
		.cgroup = c->key.cgroup,
		.site = b->names->site(b->names->ctx, c->key.kstack),
		.tgid = c->key.tgid,
		.kstack = c->key.kstack,
		.ustack = c->key.ustack,
		.kind = c->key.kind,
		.mode = c->key.mode,
	};
	size_t i;
	struct row *r;

	memcpy(full.comm, c->val.comm, sizeof(full.comm));
	full.name = b->names->first_name(b->names->ctx, c->key.lock, c->key.kind, c->key.tgid);
	i = row_index(b, &full);
	b->sites[b->n_sites++] = (struct part){.full = full, .total = c->val.total_ns, .row = i};
	if (!by_split(b->t->key))
		return;
	r = &b->t->rows[i];
	r->count += (c->val.count_q + 512) / 1024;
	r->total_ns += c->val.total_ns;
	r->spin_ns += c->val.spin_ns;
	r->walked += c->val.walked;
	r->sampled += c->val.sampled;
	r->stderr_ns += (double)c->val.var_us2; /* a variance until the end */
	if (r->max_ns < c->val.max_ns)
		r->max_ns = c->val.max_ns;
	b->locks[b->n_locks++] = b->sites[b->n_sites - 1];
}

static struct row_key now_key(const struct builder *b, const struct lb_now *n)
{
	uint64_t frames[LB_NOW_DEPTH];
	struct row_key full = {
		.lock = b->names->lock_of(b->names->ctx, n->slot.lock, n->slot.kind, n->tgid),
		.tgid = n->tgid,
		.kstack = LB_NO_STACK,
		.ustack = LB_NO_STACK,
		.kind = n->slot.kind,
		.mode = n->slot.mode,
	};

	memcpy(full.comm, n->comm, sizeof(full.comm));
	full.name = b->names->first_name(b->names->ctx, n->slot.lock, n->slot.kind, n->tgid);
	memcpy(frames, n->frame, sizeof(frames));
	full.site = b->names->site_of(b->names->ctx, frames, n->n_frames);
	return full;
}

static uint64_t age_at(const struct lb_now *n, uint64_t when)
{
	return when > n->slot.begin ? when - n->slot.begin : 0;
}

static void put_now(struct builder *b, const struct lb_now *n, uint64_t when)
{
	struct row_key full = now_key(b, n);
	uint64_t age = age_at(n, when);
	size_t i = row_index(b, &full);
	struct row *r = &b->t->rows[i];

	r->waiting_now++;
	r->open_ns += (int64_t)age;
	if (r->longest_now_ns < age)
		r->longest_now_ns = age;
	/* Seen only as a wait in progress: weigh it by its age. */
	b->sites[b->n_sites++] = (struct part){.full = full, .total = 0, .row = i};
	b->locks[b->n_locks++] = (struct part){.full = full, .total = age, .row = i};
}

/* What a wait had waited before the interval is not of the interval. */
static void put_before(struct builder *b, const struct lb_now *n, uint64_t when)
{
	struct row_key full = now_key(b, n), k = key_of(b->t->key, &full);
	size_t i = slot_of(b, &k);

	if (b->slots[i])
		b->t->rows[b->slots[i] - 1].open_ns -= (int64_t)age_at(n, when);
}

static int cmp_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int cmp_site_part(const void *pa, const void *pb)
{
	const struct part *a = pa, *b = pb;

	if (a->row != b->row)
		return cmp_u64(a->row, b->row);
	return cmp_u64((uintptr_t)a->full.site, (uintptr_t)b->full.site);
}

static int cmp_lock_part(const void *pa, const void *pb)
{
	const struct part *a = pa, *b = pb;

	if (a->row != b->row)
		return cmp_u64(a->row, b->row);
	return cmp_u64(a->full.lock, b->full.lock);
}

/* Finds each row's dominant site, and its share of the time whose site is known. */
static void top_sites(struct builder *b)
{
	size_t i = 0, j;

	qsort(b->sites, b->n_sites, sizeof(*b->sites), cmp_site_part);
	while (i < b->n_sites) {
		struct row *r = &b->t->rows[b->sites[i].row];
		uint64_t best = 0, all = 0;

		for (j = i; j < b->n_sites && b->sites[j].row == b->sites[i].row;) {
			const struct part *p = &b->sites[j];
			uint64_t sum = 0;

			for (; j < b->n_sites && b->sites[j].row == p->row &&
			       b->sites[j].full.site == p->full.site;
			     j++)
				sum += b->sites[j].total;
			all += sum;
			if (p->full.site && (sum > best || !r->site)) {
				best = sum;
				r->site = p->full.site;
			}
		}
		r->site_share = all ? (double)best / (double)all : 0;
		i = j;
	}
}

static void top_locks(struct builder *b)
{
	size_t i = 0, j;

	qsort(b->locks, b->n_locks, sizeof(*b->locks), cmp_lock_part);
	while (i < b->n_locks) {
		struct row *r = &b->t->rows[b->locks[i].row];
		uint64_t best = 0;

		r->n_locks = 0;
		for (j = i; j < b->n_locks && b->locks[j].row == b->locks[i].row;) {
			const struct part *p = &b->locks[j];
			uint64_t sum = 0;

			for (; j < b->n_locks && b->locks[j].row == p->row &&
			       b->locks[j].full.lock == p->full.lock;
			     j++)
				sum += b->locks[j].total;
			if (sum >= best || !r->n_locks) {
				best = sum;
				r->lock = p->full.lock;
				r->kind = p->full.kind;
				r->mode = p->full.mode;
				r->name_tgid = p->full.tgid;
			}
			r->n_locks++;
		}
		i = j;
	}
}

static void name_row(struct builder *b, struct row *r)
{
	const struct table_names *n = b->names;

	r->identity = n->identity(n->ctx, r->lock, r->kind, r->name_tgid);
	r->cls = n->lock_class(n->ctx, r->lock, r->kind, r->name_tgid);
	if (b->t->key == BY_CGROUP && r->cgroup) /* of a wait in progress it is not known */
		r->cgroup_path = n->cgroup(n->ctx, r->cgroup);
	if (n->owner)
		r->owner = n->owner(n->ctx, r->lock, r->kind);
	r->stderr_ns = sqrt(r->stderr_ns) * 1000;
}

static int cmp_rows(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	if (a->total_ns != b->total_ns)
		return cmp_u64(b->total_ns, a->total_ns);
	if (a->longest_now_ns != b->longest_now_ns)
		return cmp_u64(b->longest_now_ns, a->longest_now_ns);
	return cmp_u64(a->lock, b->lock);
}

static int alloc_builder(struct builder *b, size_t cells)
{
	b->n_slots = cells * 2 + 16;
	b->t->rows = calloc(cells + 1, sizeof(*b->t->rows));
	b->keys = calloc(cells + 1, sizeof(*b->keys));
	b->slots = calloc(b->n_slots, sizeof(*b->slots));
	b->sites = calloc(cells + 1, sizeof(*b->sites));
	b->locks = calloc(cells + 1, sizeof(*b->locks));
	return b->t->rows && b->keys && b->slots && b->sites && b->locks ? 0 : -ENOMEM;
}

int table__build(struct table *t, enum table_by by, const struct snapshot *s, double seconds,
		 const struct table_names *names)
{
	struct builder b = {.t = t, .names = names};
	size_t n_waits, n_splits;
	const struct wait_cell *waits = snapshot__waits(s, &n_waits);
	const struct split_cell *splits = snapshot__splits(s, &n_splits);
	int r;

	if (table_of(by) == OF_BLAME)
		return blame__build(t, by, s, seconds, names);
	memset(t, 0, sizeof(*t));
	t->by = by;
	t->key = by = table_key(by);
	t->seconds = seconds;
	r = alloc_builder(&b, n_waits + n_splits + s->n_now);
	for (size_t i = 0; !r && !by_split(by) && i < n_waits; i++)
		put_wait(&b, &waits[i]);
	for (size_t i = 0; !r && i < n_splits; i++)
		put_split(&b, &splits[i]);
	for (size_t i = 0; !r && i < s->n_now; i++)
		put_now(&b, &s->now[i], s->when_ns);
	for (size_t i = 0; !r && i < s->n_before; i++)
		put_before(&b, &s->before[i], s->before_ns);
	if (!r) {
		top_sites(&b);
		top_locks(&b);
		for (size_t i = 0; i < t->n_rows; i++) {
			name_row(&b, &t->rows[i]);
			t->total_ns += t->rows[i].total_ns;
		}
		qsort(t->rows, t->n_rows, sizeof(*t->rows), cmp_rows);
	}
	free(b.keys);
	free(b.slots);
	free(b.sites);
	free(b.locks);
	return r;
}

void table__fini(struct table *t)
{
	free(t->rows);
	memset(t, 0, sizeof(*t));
}

uint64_t row__blocked_ns(const struct row *r)
{
	int64_t ns = (int64_t)r->total_ns + r->open_ns;

	/* estimated totals can be below what is known of single waits */
	return ns > 0 ? (uint64_t)ns : 0;
}

uint64_t row__quantile(const struct row *r, double q)
{
	uint64_t n = 0, want, below = 0;

	for (int b = 0; b < LB_HIST_BUCKETS; b++)
		n += r->hist[b];
	if (!n)
		return 0;
	want = (uint64_t)ceil(q * (double)n);
	if (!want)
		want = 1;
	for (int b = 0; b < LB_HIST_BUCKETS; b++) {
		if (below + r->hist[b] >= want) {
			double low = b ? (double)(1ULL << b) : 0, width = b ? low : 2;
			double v = low + width * (double)(want - below) / (double)r->hist[b];

			return v > (double)r->max_ns ? r->max_ns : (uint64_t)v;
		}
		below += r->hist[b];
	}
	return r->max_ns;
}
