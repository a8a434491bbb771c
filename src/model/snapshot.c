// SPDX-License-Identifier: GPL-2.0
#include "model/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void snapshot__fini(struct snapshot *s)
{
	free(s->waits);
	free(s->splits);
	free(s->now);
	free(s->before);
	memset(s, 0, sizeof(*s));
}

static int cmp_wait(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct lb_wait_key));
}

static int cmp_split(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct lb_stack_key));
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

static void sub_wait(struct lb_wait_val *a, const struct lb_wait_val *b)
{
	uint64_t max = a->max_ns;

	a->count -= b->count;
	a->failed -= b->failed;
	a->total_ns -= b->total_ns;
	a->spin_ns -= b->spin_ns;
	for (int i = 0; i < LB_HIST_BUCKETS; i++)
		a->hist[i] -= b->hist[i];
	a->max_ns = interval_max(a, b->max_ns, max);
}

static void sub_split(struct lb_stack_val *a, const struct lb_stack_val *b)
{
	a->walked -= b->walked;
	a->sampled -= b->sampled;
	a->count_q -= b->count_q;
	a->total_ns -= b->total_ns;
	a->spin_ns -= b->spin_ns;
	a->var_us2 -= b->var_us2;
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

static void delta_waits(struct snapshot *prev, struct snapshot *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < out->n_waits; i++) {
		struct wait_cell *c = &out->waits[i], *old;

		old = bsearch(c, prev->waits, prev->n_waits_live, sizeof(*c), cmp_wait);
		if (old)
			sub_wait(&c->val, &old->val);
		if (c->val.count)
			out->waits[kept++] = *c;
	}
	out->n_waits = kept;
}

static void delta_splits(struct snapshot *prev, struct snapshot *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < out->n_splits; i++) {
		struct split_cell *c = &out->splits[i], *old;

		old = bsearch(c, prev->splits, prev->n_splits_live, sizeof(*c), cmp_split);
		if (old)
			sub_split(&c->val, &old->val);
		if (c->val.walked)
			out->splits[kept++] = *c;
	}
	out->n_splits = kept;
}

int snapshot__delta(struct snapshot *cur, struct snapshot *prev, struct snapshot *out)
{
	const struct lb_now *before = prev ? prev->now : cur->before;

	*out = *cur;
	out->n_before = prev ? prev->n_now : cur->n_before;
	out->before_ns = prev ? prev->when_ns : cur->before_ns;
	out->before = copy(before, out->n_before * sizeof(*before));
	out->waits = copy(cur->waits, cur->n_waits * sizeof(*cur->waits));
	out->splits = copy(cur->splits, cur->n_splits * sizeof(*cur->splits));
	out->now = copy(cur->now, cur->n_now * sizeof(*cur->now));
	if (!out->waits || !out->splits || !out->now || !out->before) {
		snapshot__fini(out);
		return -ENOMEM;
	}
	if (!prev)
		return 0;
	qsort(prev->waits, prev->n_waits_live, sizeof(*prev->waits), cmp_wait);
	qsort(prev->splits, prev->n_splits_live, sizeof(*prev->splits), cmp_split);
	delta_waits(prev, out);
	delta_splits(prev, out);
	sub_stats(&out->stats, &prev->stats);
	return 0;
}

static void add_wait(struct lb_wait_val *a, const struct lb_wait_val *b)
{
	a->count += b->count;
	a->failed += b->failed;
	a->total_ns += b->total_ns;
	a->spin_ns += b->spin_ns;
	if (a->max_ns < b->max_ns)
		a->max_ns = b->max_ns;
	if (a->last_ns < b->last_ns)
		a->last_ns = b->last_ns;
	for (int i = 0; i < LB_HIST_BUCKETS; i++)
		a->hist[i] += b->hist[i];
}

static void add_split(struct lb_stack_val *a, const struct lb_stack_val *b)
{
	a->walked += b->walked;
	a->sampled += b->sampled;
	a->count_q += b->count_q;
	a->total_ns += b->total_ns;
	a->spin_ns += b->spin_ns;
	a->var_us2 += b->var_us2;
	if (a->max_ns < b->max_ns)
		a->max_ns = b->max_ns;
}

static void add_stats(struct lb_stats *a, const struct lb_stats *b)
{
	uint64_t *x = (uint64_t *)a;
	const uint64_t *y = (const uint64_t *)b;

	for (size_t i = 0; i < sizeof(*a) / sizeof(*x); i++)
		x[i] += y[i];
}

/* Makes room for n more elements of size at the end of *p, which has *have. */
static int grow(void **p, size_t have, size_t n, size_t size)
{
	void *q = realloc(*p, (have + n) * size + 1);

	if (!q)
		return -ENOMEM;
	*p = q;
	return 0;
}

static int merge_waits(struct snapshot *acc, const struct snapshot *d)
{
	size_t old = acc->n_waits, n = old;

	if (grow((void **)&acc->waits, old, d->n_waits, sizeof(*acc->waits)))
		return -ENOMEM;
	for (size_t i = 0; i < d->n_waits; i++) {
		struct wait_cell *c = bsearch(&d->waits[i], acc->waits, old, sizeof(*c), cmp_wait);

		if (c)
			add_wait(&c->val, &d->waits[i].val);
		else
			acc->waits[n++] = d->waits[i];
	}
	acc->n_waits = acc->n_waits_live = n;
	qsort(acc->waits, n, sizeof(*acc->waits), cmp_wait);
	return 0;
}

static int merge_splits(struct snapshot *acc, const struct snapshot *d)
{
	size_t old = acc->n_splits, n = old;

	if (grow((void **)&acc->splits, old, d->n_splits, sizeof(*acc->splits)))
		return -ENOMEM;
	for (size_t i = 0; i < d->n_splits; i++) {
		struct split_cell *c = bsearch(&d->splits[i], acc->splits, old, sizeof(*c), cmp_split);

		if (c)
			add_split(&c->val, &d->splits[i].val);
		else
			acc->splits[n++] = d->splits[i];
	}
	acc->n_splits = acc->n_splits_live = n;
	qsort(acc->splits, n, sizeof(*acc->splits), cmp_split);
	return 0;
}

int snapshot__add(struct snapshot *acc, const struct snapshot *d)
{
	void *now = copy(d->now, d->n_now * sizeof(*d->now));

	if (!now || merge_waits(acc, d) || merge_splits(acc, d)) {
		free(now);
		return -ENOMEM;
	}
	free(acc->now);
	acc->now = now;
	acc->n_now = d->n_now;
	acc->when_ns = d->when_ns;
	add_stats(&acc->stats, &d->stats);
	return 0;
}
