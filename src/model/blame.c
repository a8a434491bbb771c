// SPDX-License-Identifier: GPL-2.0
#include "model/blame.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"

static const struct {
	const char *name, *text;
} known_by[LB_KNOWN_BY_N] = {
	[LB_BY_RELEASE] = {"release", "released it"},
	[LB_BY_OWNER] = {"owner", "named by the lock"},
	[LB_BY_WAITER] = {"waiter", "got it after a wait"},
	[LB_BY_DOWNGRADE] = {"downgrade", "downgraded it to read"},
	[LB_NO_OWNER] = {"no_owner", "no owner is kept"},
	[LB_HANDOVER] = {"handover", "free, or changing hands"},
	[LB_GAVE_UP] = {"gave_up", "the waiters gave up"},
	[LB_NO_ACCOUNT] = {"no_account", "no room for its account"},
};

const char *known_by_name(unsigned int k)
{
	return k < LB_KNOWN_BY_N ? known_by[k].name : "?";
}

const char *known_by_text(unsigned int k)
{
	return k < LB_KNOWN_BY_N ? known_by[k].text : "?";
}

/* One source cell: a row of its own at first, with its key. */
struct part {
	struct row row;
	struct row_id {
		uint64_t lock;
		const char *name, *site, *waiter_site;
		uint32_t tgid, tid;
		int32_t kstack, waiter_kstack;
		uint8_t kind, mode, certainty, known_by;
		uint32_t pad;
	} id;
	bool figures; /* false: only tells the row its site */
};

struct builder {
	const struct snapshot *s;
	const struct table_names *names;
	struct table *t;
	struct part *parts;
	size_t n_parts;
	struct lock_waiter *waiters; /* sorted by lock */
	size_t n_waiters;
};

/* Locks are named through who waited for them (the namer knows them so): the process with most time. */
struct lock_waiter {
	uint64_t lock;
	uint64_t ns;
	uint32_t tgid;
};

static int cmp_waiter(const void *pa, const void *pb)
{
	const struct lock_waiter *a = pa, *b = pb;

	if (a->lock != b->lock)
		return a->lock < b->lock ? -1 : 1;
	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

static int find_waiters(struct builder *b)
{
	size_t n;
	const struct wait_cell *w = snapshot__waits(b->s, &n);

	b->waiters = calloc(n + b->s->n_now + 1, sizeof(*b->waiters));
	if (!b->waiters)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		b->waiters[b->n_waiters++] =
			(struct lock_waiter){w[i].key.lock, w[i].val.total_ns, w[i].key.tgid};
	for (size_t i = 0; i < b->s->n_now; i++)
		b->waiters[b->n_waiters++] =
			(struct lock_waiter){b->s->now[i].slot.lock, 0, b->s->now[i].tgid};
	qsort(b->waiters, b->n_waiters, sizeof(*b->waiters), cmp_waiter);
	return 0;
}

static int cmp_lock(const void *key, const void *elem)
{
	const struct lock_waiter *a = key, *b = elem;

	return a->lock < b->lock ? -1 : a->lock > b->lock;
}

/* A process that waited for lock; otherwise is what is known without one. */
static uint32_t waiter_of(const struct builder *b, uint64_t lock, uint32_t otherwise)
{
	struct lock_waiter key = {.lock = lock};
	struct lock_waiter *w = bsearch(&key, b->waiters, b->n_waiters, sizeof(key), cmp_lock);

	while (w && w > b->waiters && w[-1].lock == lock)
		w--;
	return w ? w->tgid : otherwise;
}

static void name_lock(const struct builder *b, struct row *r, uint64_t lock, uint8_t kind)
{
	const struct table_names *n = b->names;

	r->name_tgid = waiter_of(b, lock, r->tgid);
	r->lock = n->lock_of(n->ctx, lock, kind, r->name_tgid);
	r->kind = kind;
	r->first_name = n->first_name(n->ctx, lock, kind, r->name_tgid);
	r->identity = n->identity(n->ctx, r->lock, kind, r->name_tgid);
	r->cls = n->lock_class(n->ctx, r->lock, kind, r->name_tgid);
	r->n_locks = 1;
}

static struct row_id id_of(enum table_by by, const struct row *r)
{
	struct row_id k = {0};

	if (by == BLAME_PROCESS) {
		k.tgid = r->tgid;
		k.known_by = r->tgid ? 0 : r->known_by;
		return k;
	}
	if (by == BLAME_SITE) {
		k.site = r->site;
		k.kind = r->kind;
		k.mode = r->mode;
		k.known_by = r->site ? 0 : r->known_by;
		return k;
	}
	k.lock = r->lock;
	k.name = r->first_name;
	k.kind = r->kind;
	if (by == BLAME_LOCK)
		return k;
	k.mode = r->mode;
	if (by == BLAME_HOLDER || by == BLAME_STACK)
		k.tgid = r->tgid;
	if (by == BLAME_HOLDER) {
		k.tid = r->tid;
		k.certainty = r->certainty;
	}
	if (by == BLAME_HOLDER || (by == BLAME_STACK && r->kstack < 0))
		k.known_by = r->known_by;
	if (by == BLAME_STACK || by == BLAME_PAIR_STACK)
		k.kstack = r->kstack;
	if (by == BLAME_PAIR_STACK)
		k.waiter_kstack = r->waiter_kstack;
	if (by == BLAME_PAIR) {
		k.site = r->site;
		k.waiter_site = r->waiter_site;
	}
	return k;
}

static struct part *add_part(struct builder *b, const struct row *r, bool figures)
{
	struct part *p = &b->parts[b->n_parts++];

	p->row = *r;
	p->id = id_of(b->t->by, r);
	p->figures = figures;
	return p;
}

static bool by_stack(enum table_by by)
{
	return by == BLAME_SITE || by == BLAME_STACK;
}

/* Exact blame is the figure of every table but those by stack, where it stands for what no stack was
 * sampled of. */
static void put_blame(struct builder *b, const struct blame_cell *c)
{
	struct row r = {
		.tgid = c->key.tgid,
		.tid = c->key.tid,
		.mode = c->key.mode,
		.certainty = c->key.certainty,
		.known_by = c->key.known_by,
		.kstack = LB_NO_STACK,
		.count = c->val.charges,
		.total_ns = c->val.ns,
		.max_ns = c->val.longest,
	};

	if (by_stack(b->t->by) && c->key.known_by == LB_BY_RELEASE)
		return;
	memcpy(r.comm, c->val.comm, sizeof(r.comm));
	name_lock(b, &r, c->key.lock, c->key.kind);
	add_part(b, &r, true);
}

static void weigh(struct row *r, const struct lb_stack_val *v)
{
	r->count = v->walked;
	r->total_ns = v->total_ns;
	r->walked = v->walked;
	r->sampled = v->sampled;
	r->stderr_ns = (double)v->var_us2;
	r->max_ns = v->max_ns;
}

static void put_hstack(struct builder *b, const struct hstack_cell *c)
{
	struct row r = {
		.tgid = c->key.tgid,
		.mode = c->key.mode,
		.certainty = c->key.kind == LB_SEMAPHORE ? LB_LIKELY : LB_EXACT,
		.known_by = LB_BY_RELEASE,
		.kstack = c->key.kstack,
		.site = b->names->site(b->names->ctx, c->key.kstack),
	};

	memcpy(r.comm, c->val.comm, sizeof(r.comm));
	weigh(&r, &c->val);
	name_lock(b, &r, c->key.lock, c->key.kind);
	add_part(b, &r, by_stack(b->t->by));
}

static const char *comm_of(const struct builder *b, uint32_t tgid)
{
	const struct blame_cell *c = b->s->cells[SET_BLAMES].p;

	for (size_t i = 0; i < b->s->cells[SET_BLAMES].n; i++)
		if (c[i].key.tgid == tgid)
			return c[i].val.comm;
	return "";
}

static void put_pair(struct builder *b, const struct pair_cell *c)
{
	struct row r = {
		.tgid = c->key.holder_tgid,
		.mode = c->key.mode,
		.certainty = c->key.holder_tgid ? LB_LIKELY : LB_UNKNOWN,
		.known_by = c->key.holder_tgid ? LB_BY_RELEASE : LB_NO_OWNER,
		.kstack = c->key.holder_kstack,
		.waiter_kstack = c->key.kstack,
		.site = b->names->site(b->names->ctx, c->key.holder_kstack),
		.waiter_site = b->names->site(b->names->ctx, c->key.kstack),
		.waiter = c->val.comm,
	};

	if (c->key.holder_tgid)
		snprintf(r.comm, sizeof(r.comm), "%.15s", comm_of(b, c->key.holder_tgid));
	weigh(&r, &c->val);
	name_lock(b, &r, c->key.lock, c->key.kind);
	add_part(b, &r, true);
}

static uint64_t waiting_for(const struct snapshot *s, uint64_t lock)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_now; i++)
		n += s->now[i].slot.lock == lock && s->now[i].slot.blamed;
	return n;
}

/* What all waiters have waited so far and nobody has been charged for yet, ns; negative: as much has been
 * charged too often. */
static int64_t uncharged(const struct snapshot *s, const struct account_cell *a)
{
	uint64_t n = a->val.word & 0xffff, now = s->when_ns / LB_TICK;

	/* modulo 2^48 */
	return ((int64_t)((n * now - (a->val.word >> 16) - a->val.charged) << 16) >> 16) * LB_TICK;
}

/* The part of it that is of waits in progress. 0 when the account's number of waiters is not that of the
 * tasks seen waiting: an end was missed, or one came in between. */
static uint64_t pending_of(const struct snapshot *s, const struct account_cell *a)
{
	uint64_t n = a->val.word & 0xffff;
	int64_t d;

	if (!n || waiting_for(s, a->lock) != n)
		return 0;
	d = uncharged(s, a);
	return d > 0 ? (uint64_t)d : 0;
}

/* Charged twice, where it is certain: nobody waits, so no time is to come. */
static uint64_t twice_of(const struct snapshot *s, const struct account_cell *a)
{
	int64_t d = a->val.word & 0xffff ? 0 : uncharged(s, a);

	return d < 0 ? (uint64_t)-d : 0;
}

static void put_pending(struct builder *b, const struct account_cell *a)
{
	uint64_t ns = pending_of(b->s, a);
	bool held = a->val.state == LB_HELD;
	struct row r = {
		.mode = a->val.mode,
		.certainty = !held ? LB_UNKNOWN : a->val.certainty == LB_EXACT ? LB_AT_LEAST : LB_LIKELY,
		.known_by = held ? a->val.known_by : a->val.state == LB_RELEASED ? LB_HANDOVER : LB_NO_OWNER,
		.kstack = LB_NO_STACK,
		.total_ns = ns,
		.pending_ns = ns,
	};

	if (!ns)
		return;
	if (held) {
		r.tgid = (uint32_t)(a->val.holder >> 32);
		r.tid = (uint32_t)a->val.holder;
		memcpy(r.comm, a->val.comm, sizeof(r.comm));
	} else {
		r.mode = LB_WRITE;
	}
	name_lock(b, &r, a->lock, a->val.kind);
	add_part(b, &r, true);
}

static int cmp_part(const void *pa, const void *pb)
{
	const struct part *a = pa, *b = pb;
	int c = memcmp(&a->id, &b->id, sizeof(a->id));

	if (c)
		return c;
	/* the largest part names what the row as a whole has several of */
	if (a->figures != b->figures)
		return a->figures ? -1 : 1;
	return a->row.total_ns > b->row.total_ns ? -1 : a->row.total_ns < b->row.total_ns;
}

/* A stack tells a row of holders their site: it is not of one thread, but of its process. */
static bool tells_site(const struct row *r, const struct row *stack, enum table_by by)
{
	if (by == BLAME_PROCESS)
		return r->tgid == stack->tgid;
	return r->lock == stack->lock && r->kind == stack->kind &&
	       (by == BLAME_LOCK || (r->tgid == stack->tgid && r->mode == stack->mode && r->tgid));
}

static void find_site(struct builder *b, struct row *r)
{
	uint64_t best = 0, all = 0;

	for (size_t i = 0; i < b->n_parts; i++) {
		const struct row *x = &b->parts[i].row;

		if (b->parts[i].figures || !tells_site(r, x, b->t->by))
			continue;
		all += x->total_ns;
		if (x->site && x->total_ns >= best) {
			best = x->total_ns;
			r->site = x->site;
			r->kstack = x->kstack;
		}
	}
	r->site_share = all ? (double)best / (double)all : 0;
}

static void add_row(struct row *r, const struct row *more)
{
	r->count += more->count;
	r->total_ns += more->total_ns;
	r->pending_ns += more->pending_ns;
	r->walked += more->walked;
	r->sampled += more->sampled;
	r->stderr_ns += more->stderr_ns;
	if (r->max_ns < more->max_ns)
		r->max_ns = more->max_ns;
	r->n_locks += r->lock != more->lock;
	/* of the whole row only what is true of all of it */
	if (more->certainty < r->certainty)
		r->certainty = more->certainty;
}

static int cmp_rows(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return a->lock < b->lock ? -1 : a->lock > b->lock;
}

static void merge(struct builder *b)
{
	struct table *t = b->t;

	qsort(b->parts, b->n_parts, sizeof(*b->parts), cmp_part);
	for (size_t i = 0; i < b->n_parts; i++) {
		const struct part *p = &b->parts[i];

		if (!p->figures)
			continue;
		if (t->n_rows && !memcmp(&p->id, &p[-1].id, sizeof(p->id)))
			add_row(&t->rows[t->n_rows - 1], &p->row);
		else
			t->rows[t->n_rows++] = p->row;
		t->total_ns += p->row.total_ns;
	}
	for (size_t i = 0; i < t->n_rows; i++) {
		struct row *r = &t->rows[i];

		if (t->by == BLAME_HOLDER || t->by == BLAME_LOCK || t->by == BLAME_PROCESS)
			find_site(b, r);
		r->stderr_ns = sqrt(r->stderr_ns) * 1000;
	}
	qsort(t->rows, t->n_rows, sizeof(*t->rows), cmp_rows);
}

#define EACH_CELL(b, set, type, put)                                                               \
	for (size_t i = 0; i < (b)->s->cells[set].n; i++)                                          \
	put(b, (const struct type *)(b)->s->cells[set].p + i)

static void put_all(struct builder *b)
{
	if (b->t->by == BLAME_PAIR || b->t->by == BLAME_PAIR_STACK) {
		EACH_CELL(b, SET_PAIRS, pair_cell, put_pair);
		return;
	}
	EACH_CELL(b, SET_BLAMES, blame_cell, put_blame);
	EACH_CELL(b, SET_HSTACKS, hstack_cell, put_hstack);
	EACH_CELL(b, SET_ACCOUNTS, account_cell, put_pending);
}

int blame__build(struct table *t, enum table_by by, const struct snapshot *s, double seconds,
		 const struct table_names *names)
{
	struct builder b = {.s = s, .names = names, .t = t};
	size_t n = 1;
	int r;

	for (int i = SET_BLAMES; i < SET_N; i++)
		n += s->cells[i].n;
	memset(t, 0, sizeof(*t));
	t->by = t->key = by;
	t->seconds = seconds;
	t->rows = calloc(n, sizeof(*t->rows));
	b.parts = calloc(n, sizeof(*b.parts));
	r = t->rows && b.parts ? find_waiters(&b) : -ENOMEM;
	if (!r) {
		put_all(&b);
		merge(&b);
	}
	free(b.parts);
	free(b.waiters);
	return r;
}

void blame__sums(const struct snapshot *s, struct blame_sums *out)
{
	const struct blame_cell *c = s->cells[SET_BLAMES].p;
	const struct account_cell *a = s->cells[SET_ACCOUNTS].p;

	memset(out, 0, sizeof(*out));
	out->waited = s->stats.wait_ns;
	out->lost_waits = s->stats.lost_account + s->stats.lost_end + s->stats.lost_map + s->stats.lost_blame;
	for (size_t i = 0; i < s->n_now; i++)
		if (s->now[i].slot.blamed && s->when_ns > s->now[i].slot.begin)
			out->waiting += s->when_ns - s->now[i].slot.begin;
	for (size_t i = 0; i < s->cells[SET_BLAMES].n; i++) {
		if (c[i].key.certainty == LB_UNKNOWN)
			out->unknown += c[i].val.ns;
		else
			*(c[i].key.certainty == LB_EXACT ? &out->blamed : &out->likely) += c[i].val.ns;
	}
	for (size_t i = 0; i < s->cells[SET_ACCOUNTS].n; i++)
		out->twice += twice_of(s, &a[i]);
	for (size_t i = 0; i < s->cells[SET_ACCOUNTS].n; i++)
		*(a[i].val.state == LB_HELD ? &out->likely : &out->unknown) += pending_of(s, &a[i]);
}
