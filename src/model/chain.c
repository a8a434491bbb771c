// SPDX-License-Identifier: GPL-2.0
/* The graph of who waits for whom. Every task hangs from at most one other, so that it is a set of trees,
 * some of which have a cycle where others have a root. */
#include "model/chain.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"
#include "util/intern.h"

struct list {
	struct chain_task **t;
	size_t n, cap;
};

struct chain {
	struct list tasks;
	struct list things; /* made by chain__solve() */
	void *by_tid;	    /* tsearch tree of tasks */
	struct intern *pool;
	struct chain_loss loss;
	struct chain_hang *hangs;
	size_t n_hangs;
};

struct chain *chain__new(void)
{
	struct chain *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->pool = intern__new();
	if (c->pool)
		return c;
	free(c);
	return NULL;
}

static void keep(void *p)
{
}

static void free_list(struct list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->t[i]->candidates);
		free(l->t[i]);
	}
	free(l->t);
	memset(l, 0, sizeof(*l));
}

void chain__free(struct chain *c)
{
	if (!c)
		return;
	tdestroy(c->by_tid, keep);
	free_list(&c->tasks);
	free_list(&c->things);
	free(c->hangs);
	intern__free(c->pool);
	free(c);
}

static struct chain_task *append(struct list *l)
{
	struct chain_task *t;

	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 64;
		struct chain_task **more = realloc(l->t, cap * sizeof(*more));

		if (!more)
			return NULL;
		l->t = more;
		l->cap = cap;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->cpu = -1;
	l->t[l->n++] = t;
	return t;
}

static int cmp_tid(const void *a, const void *b)
{
	const struct chain_task *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

struct chain_task *chain__find(const struct chain *c, pid_t tid)
{
	struct chain_task key = {.tid = tid};
	void *found = tid ? tfind(&key, &c->by_tid, cmp_tid) : NULL;

	return found ? *(struct chain_task **)found : NULL;
}

struct chain_task *chain__task(struct chain *c, pid_t tid)
{
	struct chain_task *t = chain__find(c, tid);

	if (t)
		return t;
	t = append(&c->tasks);
	if (!t)
		return NULL;
	t->tid = tid;
	if (tid && !tsearch(t, &c->by_tid, cmp_tid)) {
		free(t);
		c->tasks.n--;
		return NULL;
	}
	return t;
}

size_t chain__n_tasks(const struct chain *c)
{
	return c->tasks.n;
}

struct chain_task *chain__at(const struct chain *c, size_t i)
{
	return c->tasks.t[i];
}

const char *chain__str(struct chain *c, const char *s)
{
	return intern__get(c->pool, s);
}

struct chain_loss *chain__loss(struct chain *c)
{
	return &c->loss;
}

int chain__candidate(struct chain *c, struct chain_task *t, struct chain_task *other)
{
	struct chain_task **more;

	for (unsigned int i = 0; i < t->n_candidates; i++)
		if (t->candidates[i] == other)
			return 0;
	more = realloc(t->candidates, (t->n_candidates + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->candidates = more;
	t->candidates[t->n_candidates++] = other;
	return 0;
}

static bool same_str(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static void parents(struct chain *c)
{
	for (size_t i = 0; i < c->tasks.n; i++) {
		struct chain_task *t = c->tasks.t[i];

		t->up = t->behind ? t->behind : t->holder.task;
		/* A guess that names the waiter itself is a wrong guess (it was the last reader once). */
		if (t->up == t && t->holder.certainty != LB_EXACT)
			t->up = NULL;
		t->first_child = t->next = t->root = NULL;
		t->depth = t->waiting = 0;
		t->in_cycle = false;
	}
}

/* A frozen file system has several locks: what it is called counts more. */
static bool by_lock(const struct chain_task *t)
{
	return t->wait.lock && !(t->wait.reason && t->wait.object);
}

/* Tasks that wait for the same thing, which is no task, compare as equal. */
static int cmp_thing(const void *a, const void *b)
{
	const struct chain_task *x = *(struct chain_task *const *)a, *y = *(struct chain_task *const *)b;
	bool x_lock = by_lock(x), y_lock = by_lock(y);

	if (x_lock != y_lock)
		return x_lock ? -1 : 1;
	if (x_lock)
		return x->wait.lock < y->wait.lock ? -1 : x->wait.lock > y->wait.lock;
	if (x->wait.reason != y->wait.reason)
		return x->wait.reason < y->wait.reason ? -1 : 1;
	return strcmp(x->wait.object ? x->wait.object : "", y->wait.object ? y->wait.object : "");
}

static bool waits_for_thing(const struct chain_task *t)
{
	return t->hung && !t->up &&
	       ((t->wait.kind && t->wait.lock) || (t->wait.reason && t->wait.object));
}

static int make_thing(struct chain *c, struct chain_task **t, size_t n)
{
	struct chain_task *thing = append(&c->things);

	if (!thing)
		return -ENOMEM;
	thing->thing = true;
	thing->wait = t[0]->wait;
	thing->wait.place = thing->wait.queue = 0;
	thing->holder = t[0]->holder;
	for (size_t i = 0; i < n; i++)
		t[i]->up = thing;
	return 0;
}

static int things(struct chain *c)
{
	__free_ptr struct chain_task **t = malloc((c->tasks.n + 1) * sizeof(*t));
	size_t n = 0, i, j;
	int r = 0;

	free_list(&c->things);
	if (!t)
		return -ENOMEM;
	for (i = 0; i < c->tasks.n; i++)
		if (waits_for_thing(c->tasks.t[i]))
			t[n++] = c->tasks.t[i];
	qsort(t, n, sizeof(*t), cmp_thing);
	for (i = 0; i < n && !r; i = j) {
		for (j = i + 1; j < n && !cmp_thing(&t[i], &t[j]); j++)
			;
		if (j - i > 1)
			r = make_thing(c, t + i, j - i);
	}
	return r;
}

/* Marks the members of the cycle that t is in. */
static void mark_cycle(struct chain_task *t)
{
	struct chain_task *p = t;

	do {
		p->in_cycle = true;
		p->root = t;
		p->depth = 0;
		p = p->up;
	} while (p != t);
}

/* Root and depth of t and of everything above it: up until something is known, then down again. visit
 * marks the way by a root that is no task. */
static struct chain_task on_the_way;

static void find_root(struct chain_task *t, struct chain_task **way)
{
	size_t n = 0;

	while (!t->root) {
		t->root = &on_the_way;
		way[n++] = t;
		if (!t->up) {
			t->root = t;
			break;
		}
		t = t->up;
		if (t->root == &on_the_way)
			mark_cycle(t);
	}
	while (n--) {
		t = way[n];
		if (t->root != &on_the_way)
			continue;
		t->root = t->up->root;
		t->depth = t->up->depth + 1;
	}
}

static size_t n_all(const struct chain *c)
{
	return c->tasks.n + c->things.n;
}

static struct chain_task *nth(const struct chain *c, size_t i)
{
	return i < c->tasks.n ? c->tasks.t[i] : c->things.t[i - c->tasks.n];
}

static int cmp_depth(const void *a, const void *b)
{
	const struct chain_task *x = *(struct chain_task *const *)a, *y = *(struct chain_task *const *)b;

	if (x->depth != y->depth)
		return x->depth < y->depth ? 1 : -1;
	/* Children are put in front of their brothers: the longest comes last. */
	if (x->blocked_ns != y->blocked_ns)
		return x->blocked_ns < y->blocked_ns ? -1 : 1;
	return x->tid < y->tid ? 1 : x->tid > y->tid ? -1 : 0;
}

/* Deepest first, so that what waits below a task is complete when it is handed up. */
static void count_up(struct chain_task **t, size_t n)
{
	qsort(t, n, sizeof(*t), cmp_depth);
	for (size_t i = 0; i < n; i++) {
		struct chain_task *up = t[i]->up;

		if (!up || t[i]->in_cycle)
			continue;
		up->waiting += t[i]->waiting + t[i]->hung;
		t[i]->next = up->first_child;
		up->first_child = t[i];
	}
}

/* The member of a cycle that most wait for stands for it. */
static struct chain_task *head_of(struct chain_task *member)
{
	struct chain_task *best = member;

	for (struct chain_task *p = member->up; p != member; p = p->up)
		if (p->waiting > best->waiting || (p->waiting == best->waiting && p->tid < best->tid))
			best = p;
	return best;
}

static enum lb_certainty edge(const struct chain_task *t)
{
	return t->behind || t->up->thing ? LB_EXACT : t->holder.certainty;
}

static int cmp_hang(const void *a, const void *b)
{
	const struct chain_hang *x = a, *y = b;

	if (x->cycle != y->cycle)
		return x->cycle ? -1 : 1;
	if (x->waiting != y->waiting)
		return x->waiting < y->waiting ? 1 : -1;
	if (x->longest_ns != y->longest_ns)
		return x->longest_ns < y->longest_ns ? 1 : -1;
	return x->root->tid < y->root->tid ? -1 : x->root->tid > y->root->tid;
}

static void add_hang(struct chain *c, struct chain_task *root)
{
	struct chain_hang *h = &c->hangs[c->n_hangs++];

	memset(h, 0, sizeof(*h));
	h->root = root;
	h->waiting = root->waiting;
	h->certainty = LB_EXACT;
	h->longest_ns = root->hung ? root->blocked_ns : 0;
	if (!root->in_cycle)
		return;
	h->cycle = true;
	h->waiting = 0;
	do {
		h->waiting += root->waiting + root->hung;
		h->cycle_len++;
		root = root->up;
	} while (root != h->root);
}

/* One hang a root; the place of a root's hang is kept in its key of the scratch array. */
static int collect(struct chain *c)
{
	free(c->hangs);
	c->n_hangs = 0;
	c->hangs = malloc((n_all(c) + 1) * sizeof(*c->hangs));
	if (!c->hangs)
		return -ENOMEM;
	for (size_t i = 0; i < n_all(c); i++) {
		struct chain_task *t = nth(c, i);

		if (t->in_cycle ? head_of(t) == t : t->root == t && (t->hung || t->waiting))
			add_hang(c, t);
		if (t->in_cycle)
			t->root = head_of(t);
	}
	return 0;
}

static int cmp_root(const void *a, const void *b)
{
	const struct chain_hang *x = a, *y = b;

	return x->root < y->root ? -1 : x->root > y->root;
}

/* Weakest edges and longest waits of all hangs, in one pass over the tasks. */
static void weigh(struct chain *c)
{
	qsort(c->hangs, c->n_hangs, sizeof(*c->hangs), cmp_root);
	for (size_t i = 0; i < c->tasks.n; i++) {
		struct chain_task *t = c->tasks.t[i];
		struct chain_hang key, *h;

		if (t->root->in_cycle)
			t->root = t->root->root; /* its head */
		key.root = t->root;
		h = bsearch(&key, c->hangs, c->n_hangs, sizeof(*c->hangs), cmp_root);
		if (!h)
			continue;
		if (t->hung && t->blocked_ns > h->longest_ns)
			h->longest_ns = t->blocked_ns;
		if (t->up && edge(t) < h->certainty && (t->hung || t->waiting))
			h->certainty = edge(t);
	}
	qsort(c->hangs, c->n_hangs, sizeof(*c->hangs), cmp_hang);
}

int chain__solve(struct chain *c)
{
	__free_ptr struct chain_task **scratch = NULL;
	int r;

	parents(c);
	r = things(c);
	scratch = malloc((n_all(c) + 1) * sizeof(*scratch));
	if (r || !scratch)
		return -ENOMEM;
	for (size_t i = 0; i < n_all(c); i++)
		find_root(nth(c, i), scratch);
	for (size_t i = 0; i < n_all(c); i++)
		scratch[i] = nth(c, i);
	count_up(scratch, n_all(c));
	r = collect(c);
	if (!r)
		weigh(c);
	return r;
}

const struct chain_hang *chain__hangs(const struct chain *c, size_t *n)
{
	*n = c->n_hangs;
	return c->hangs;
}

unsigned int chain__n_hung(const struct chain *c)
{
	unsigned int n = 0;

	for (size_t i = 0; i < c->tasks.n; i++)
		n += c->tasks.t[i]->hung;
	return n;
}

bool chain__alike(const struct chain_task *a, const struct chain_task *b)
{
	const struct chain_wait *x = &a->wait, *y = &b->wait;

	return a->up == b->up && !a->first_child && !b->first_child && !a->in_cycle && !b->in_cycle &&
	       !a->thing && !b->thing && !strcmp(a->comm, b->comm) && a->hung == b->hung && x->lock == y->lock &&
	       x->reason == y->reason && same_str(x->kind, y->kind) && x->mode == y->mode &&
	       same_str(x->identity, y->identity) && same_str(x->object, y->object) && same_str(a->site, b->site);
}
