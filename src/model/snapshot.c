// SPDX-License-Identifier: GPL-2.0
#include "model/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void snapshot__fini(struct snapshot *s)
{
	for (int i = 0; i < SET_N; i++)
		free(s->cells[i].p);
	free(s->now);
	free(s->before);
	memset(s, 0, sizeof(*s));
}

/* The largest wait of the interval can only be bounded: by the highest bucket that grew. */
static uint64_t interval_max(const struct lb_wait_val *d, uint64_t max_before, uint64_t max_now)
{
	uint64_t edge = 0;

	if (max_now > max_before)
		return max_now;
	for (int b = LB_HIST_BUCKETS - 1; b >= 0; b--)
		if (d->hist[b]) {
			edge = 2ULL << b;
			break;
		}
	return edge < max_now ? edge : max_now;
}

static void sub_wait(void *pa, const void *pb)
{
	struct lb_wait_val *a = pa;
	const struct lb_wait_val *b = pb;
	uint64_t max = a->max_ns;

	a->count -= b->count;
	a->failed -= b->failed;
	a->total_ns -= b->total_ns;
	a->spin_ns -= b->spin_ns;
	for (int i = 0; i < LB_HIST_BUCKETS; i++)
		a->hist[i] -= b->hist[i];
	a->max_ns = interval_max(a, b->max_ns, max);
}

static void sub_split(void *pa, const void *pb)
{
	struct lb_stack_val *a = pa;
	const struct lb_stack_val *b = pb;

	a->walked -= b->walked;
	a->sampled -= b->sampled;
	a->count_q -= b->count_q;
	a->total_ns -= b->total_ns;
	a->spin_ns -= b->spin_ns;
	a->var_us2 -= b->var_us2;
}

static void add_wait(void *pa, const void *pb)
{
	struct lb_wait_val *a = pa;
	const struct lb_wait_val *b = pb;

	a->count += b->count;
	a->failed += b->failed;
	a->total_ns += b->total_ns;
	a->spin_ns += b->spin_ns;
	if (a->max_ns < b->max_ns)
		a->max_ns = b->max_ns;
	if (a->last_ns < b->last_ns)
		a->last_ns = b->last_ns;
	memcpy(a->comm, b->comm, sizeof(a->comm)); /* the latest */
	for (int i = 0; i < LB_HIST_BUCKETS; i++)
		a->hist[i] += b->hist[i];
}

static void add_split(void *pa, const void *pb)
{
	struct lb_stack_val *a = pa;
	const struct lb_stack_val *b = pb;

	a->walked += b->walked;
	a->sampled += b->sampled;
	a->count_q += b->count_q;
	a->total_ns += b->total_ns;
	a->spin_ns += b->spin_ns;
	a->var_us2 += b->var_us2;
	if (a->max_ns < b->max_ns)
		a->max_ns = b->max_ns;
}

static bool wait_empty(const void *p)
{
	return !((const struct lb_wait_val *)p)->count;
}

static bool split_empty(const void *p)
{
	return !((const struct lb_stack_val *)p)->walked;
}

/* The largest charge of an interval is not known when it was not the largest of all: at most the
 * interval's sum. */
static void sub_blame(void *pa, const void *pb)
{
	struct lb_blame_val *a = pa;
	const struct lb_blame_val *b = pb;

	a->ns -= b->ns;
	a->charges -= b->charges;
	if (a->longest == b->longest && a->longest > a->ns)
		a->longest = a->ns;
}

static void add_blame(void *pa, const void *pb)
{
	struct lb_blame_val *a = pa;
	const struct lb_blame_val *b = pb;

	a->ns += b->ns;
	a->charges += b->charges;
	if (a->longest < b->longest)
		a->longest = b->longest;
}

static bool blame_empty(const void *p)
{
	return !((const struct lb_blame_val *)p)->charges;
}

#define CELL(type) offsetof(struct type, val), sizeof(struct type)

static const struct snapshot_set_info sets[SET_N] = {
	[SET_WAITS] = {"waits", CELL(wait_cell), false, sub_wait, add_wait, wait_empty},
	[SET_SPLITS] = {"split", CELL(split_cell), false, sub_split, add_split, split_empty},
	[SET_BLAMES] = {"blames", CELL(blame_cell), false, sub_blame, add_blame, blame_empty},
	[SET_HSTACKS] = {"holder_split", CELL(hstack_cell), false, sub_split, add_split, split_empty},
	[SET_PAIRS] = {"pairs", CELL(pair_cell), false, sub_split, add_split, split_empty},
	[SET_ACCOUNTS] = {"accounts", CELL(account_cell), true, NULL, NULL, NULL},
};

const struct snapshot_set_info *snapshot__set(enum snapshot_set set)
{
	return &sets[set];
}

static void sub_stats(struct lb_stats *a, const struct lb_stats *b)
{
	uint64_t *x = (uint64_t *)a;
	const uint64_t *y = (const uint64_t *)b;

	for (size_t i = 0; i < sizeof(*a) / sizeof(*x); i++)
		x[i] -= y[i];
}

static void *copy(const void *p, size_t n)
{
	void *q = malloc(n ? n : 1);

	if (q && n)
		memcpy(q, p, n);
	return q;
}

static void add_stats(struct lb_stats *a, const struct lb_stats *b)
{
	uint64_t *x = (uint64_t *)a;
	const uint64_t *y = (const uint64_t *)b;

	for (size_t i = 0; i < sizeof(*a) / sizeof(*x); i++)
		x[i] += y[i];
}

/* qsort and bsearch have no context argument; nobody compares keys of two tables at once. */
static size_t cmp_size;

static int cmp_keys(const void *a, const void *b)
{
	return memcmp(a, b, cmp_size);
}

/* Keeps of out's cells those in which something has happened since prev. */
static void delta_cells(const struct snapshot_set_info *t, struct cells *prev, struct cells *out)
{
	size_t kept = 0;

	cmp_size = t->key_size;
	if (prev->live)
		qsort(prev->p, prev->live, t->size, cmp_keys);
	for (size_t i = 0; i < out->n; i++) {
		char *c = (char *)out->p + i * t->size, *to = (char *)out->p + kept * t->size;
		const char *old = prev->live ? bsearch(c, prev->p, prev->live, t->size, cmp_keys) : NULL;

		if (old)
			t->sub(c + t->key_size, old + t->key_size);
		if (t->empty(c + t->key_size))
			continue;
		if (c != to)
			memcpy(to, c, t->size);
		kept++;
	}
	out->n = kept;
}

int snapshot__delta(struct snapshot *cur, struct snapshot *prev, struct snapshot *out)
{
	const struct lb_now *before = prev ? prev->now : cur->before;
	bool ok = true;

	*out = *cur;
	out->n_before = prev ? prev->n_now : cur->n_before;
	out->before_ns = prev ? prev->when_ns : cur->before_ns;
	out->before = copy(before, out->n_before * sizeof(*before));
	out->now = copy(cur->now, cur->n_now * sizeof(*cur->now));
	for (int i = 0; i < SET_N; i++) {
		out->cells[i].p = copy(cur->cells[i].p, cur->cells[i].n * sets[i].size);
		ok = ok && out->cells[i].p;
	}
	if (!ok || !out->now || !out->before) {
		snapshot__fini(out);
		return -ENOMEM;
	}
	if (!prev)
		return 0;
	for (int i = 0; i < SET_N; i++)
		if (!sets[i].gauge)
			delta_cells(&sets[i], &prev->cells[i], &out->cells[i]);
	sub_stats(&out->stats, &prev->stats);
	return 0;
}

/* Adds d's cells to acc's, which are sorted. */
static int merge_cells(const struct snapshot_set_info *t, struct cells *acc, const struct cells *d)
{
	size_t old = acc->n;
	char *p = realloc(acc->p, (old + d->n) * t->size + 1);

	if (!p)
		return -ENOMEM;
	acc->p = p;
	cmp_size = t->key_size;
	for (size_t i = 0; i < d->n; i++) {
		const char *from = (const char *)d->p + i * t->size;
		char *c = bsearch(from, p, old, t->size, cmp_keys);

		if (c)
			t->add(c + t->key_size, from + t->key_size);
		else
			memcpy(p + acc->n++ * t->size, from, t->size);
	}
	acc->live = acc->n;
	qsort(p, acc->n, t->size, cmp_keys);
	return 0;
}

static int replace_cells(const struct snapshot_set_info *t, struct cells *acc, const struct cells *d)
{
	void *p = copy(d->p, d->n * t->size);

	if (!p)
		return -ENOMEM;
	free(acc->p);
	*acc = (struct cells){p, d->n, d->live};
	return 0;
}

int snapshot__add(struct snapshot *acc, const struct snapshot *d)
{
	void *now = copy(d->now, d->n_now * sizeof(*d->now));
	int r = now ? 0 : -ENOMEM;

	for (int i = 0; i < SET_N && !r; i++)
		r = sets[i].gauge ? replace_cells(&sets[i], &acc->cells[i], &d->cells[i])
				  : merge_cells(&sets[i], &acc->cells[i], &d->cells[i]);
	if (r) {
		free(now);
		return r;
	}
	free(acc->now);
	acc->now = now;
	acc->n_now = d->n_now;
	acc->when_ns = d->when_ns;
	add_stats(&acc->stats, &d->stats);
	return 0;
}
