// SPDX-License-Identifier: GPL-2.0
#include "hung/look.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hung/impl.h"
#include "model/kinds.h"
#include "names/ksym.h"
#include "names/site.h"
#include "util/cleanup.h"

struct hung_look *hung_look__new(struct kmem *k, struct ksyms *ks, struct identities *ids)
{
	struct hung_look *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->k = k;
	l->ks = ks;
	l->ids = ids;
	l->stack = calloc(1, sizeof(*l->stack));
	if (l->stack)
		return l;
	free(l);
	return NULL;
}

static void forget(struct hung_look *l)
{
	hung_locks__fini(l);
	hung_frames__fini(l);
	chain__free(l->chain);
	l->chain = NULL;
	l->n_todo = 0;
	while (l->memory) {
		struct hung_link *m = l->memory;

		l->memory = m->next;
		free(m->ptr);
		free(m);
	}
}

void hung_look__free(struct hung_look *l)
{
	if (!l)
		return;
	forget(l);
	hung_pass__free(l->pass);
	free(l->todo);
	free(l->stack);
	free(l);
}

void *hung_look__alloc(struct hung_look *l, size_t size)
{
	struct hung_link *m = malloc(sizeof(*m));

	if (!m)
		return NULL;
	m->ptr = calloc(1, size);
	if (!m->ptr) {
		free(m);
		return NULL;
	}
	m->next = l->memory;
	l->memory = m;
	return m->ptr;
}

static struct chain_task *later(struct hung_look *l, struct chain_task *c)
{
	if (l->n_todo == l->cap_todo) {
		size_t cap = l->cap_todo ? 2 * l->cap_todo : 256;
		struct chain_task **more = realloc(l->todo, cap * sizeof(*more));

		if (!more)
			return NULL;
		l->todo = more;
		l->cap_todo = cap;
	}
	l->todo[l->n_todo++] = c;
	return c;
}

struct chain_task *hung_look__add(struct hung_look *l, const struct hung_task *t)
{
	struct chain_task *c = chain__task(l->chain, t->tid);

	if (!c || c->key)
		return c;
	c->key = t->task;
	c->pid = t->tgid;
	snprintf(c->comm, sizeof(c->comm), "%s", t->comm);
	c->state = hung_task__state(t);
	c->blocked_ns = t->idle_ns;
	c->running_ns = t->running_ns;
	c->on_cpu = t->on_cpu;
	c->cpu = t->on_cpu ? (int)t->cpu : -1;
	return later(l, c);
}

struct chain_task *hung_look__add_addr(struct hung_look *l, uint64_t task)
{
	const struct hung_task *t = hung_pass__by_addr(l->pass, task);

	return t ? hung_look__add(l, t) : NULL;
}

static void fill_stack(struct hung_look *l, const struct hung_task *t, struct chain_task *c)
{
	char buf[KSYM_BUF];
	int site;

	c->stack = hung_frames(l, t, &c->n_stack);
	site = site__of(c->stack, c->n_stack);
	if (site >= 0)
		c->site = chain__str(l->chain, site__base(c->stack[site], buf, sizeof(buf)));
}

/* What the frames say comes first; then the lock itself is looked for. */
static void fill_wait(struct hung_look *l, const struct hung_task *t, struct chain_task *c)
{
	struct reason_lock rl;
	bool lock = reason__lock_of_frames(c->stack, c->n_stack, &rl);

	if (lock) {
		c->wait.kind = rl.kind;
		c->wait.mode = rl.mode;
		c->wait.mode_known = rl.mode_known;
	} else {
		c->wait.reason = reason__of_frames(c->stack, c->n_stack, NULL);
	}
	/* Also without such a frame: it may have been overwritten, or have no name. */
	if (l->stack->n && c->state != 'T' && c->state != 't' &&
	    hung_locks__fill(l, t, c, lock ? kind_by_name(rl.kind) : -1))
		return;
	if (lock) {
		chain__loss(l->chain)->unreadable++;
		c->holder.basis = "the lock could not be found";
	}
	hung_ends__fill(l, t, c);
}

static void fill(struct hung_look *l, struct chain_task *c)
{
	const struct hung_task *t = hung_pass__by_addr(l->pass, c->key);

	if (!t || t->on_cpu || c->state == 'R' || c->state == 'Z' || c->state == 'X')
		return;
	hung_stack__read(l->k, t, l->stack);
	fill_stack(l, t, c);
	fill_wait(l, t, c);
}

/* Interruptible waits that are as good as blocked: a kernel lock, or a server that does not answer. */
static bool blocked_anyway(struct hung_look *l, const struct hung_task *t)
{
	const struct reason *r;
	struct reason_lock rl;
	const char **f;
	int n;

	if (hung_task__state(t) != 'S')
		return false;
	hung_stack__read(l->k, t, l->stack);
	f = hung_frames(l, t, &n);
	if (reason__lock_of_frames(f, n, &rl))
		return true;
	r = reason__of_frames(f, n, NULL);
	return r && !strcmp(r->key, "fuse");
}

static bool is_hung(struct hung_look *l, const struct hung_task *t)
{
	if (t->idle_ns < l->min_ns || t->exit_state)
		return false;
	return hung_task__state(t) == 'D' || blocked_anyway(l, t);
}

static int find_hung(struct hung_look *l)
{
	const struct hung_task *rows;
	size_t n;

	rows = hung_pass__rows(l->pass, &n);
	l->n_seen = (unsigned int)n;
	for (size_t i = 0; i < n; i++) {
		struct chain_task *c;

		if (!is_hung(l, &rows[i]))
			continue;
		c = hung_look__add(l, &rows[i]);
		if (!c)
			return -ENOMEM;
		c->hung = true;
	}
	return 0;
}

/* Whether it is still in the sleep in which the pass met it. */
static bool still(struct hung_look *l, const struct hung_task *t)
{
	static const enum kmem_field f[] = {KF_TASK_NVCSW, KF_TASK_NIVCSW, KF_TASK_PID, KF_TASK_START};
	uint64_t v[ARRAY_SIZE(f)];

	return !kmem__getv(l->k, t->task, f, v, ARRAY_SIZE(f)) && v[0] + v[1] == t->switches &&
	       v[2] == (uint64_t)t->tid && v[3] == t->start_ns;
}

/* The second look: who has run since waits for nothing that we know. */
static void look_again(struct hung_look *l)
{
	for (size_t i = 0; i < chain__n_tasks(l->chain); i++) {
		struct chain_task *c = chain__at(l->chain, i);
		const struct hung_task *t = hung_pass__by_addr(l->pass, c->key);

		if (t->on_cpu || (!c->wait.kind && !c->wait.reason && !c->hung) || still(l, t))
			continue;
		memset(&c->wait, 0, sizeof(c->wait));
		memset(&c->holder, 0, sizeof(c->holder));
		c->behind = NULL;
		c->blocked_ns = 0;
		if (c->hung)
			chain__loss(l->chain)->ended++;
		c->hung = false;
	}
	hung_locks__again(l);
}

static int take(struct hung_look *l)
{
	int r = find_hung(l);

	while (!r && l->n_todo)
		fill(l, l->todo[--l->n_todo]);
	if (r)
		return r;
	look_again(l);
	return chain__solve(l->chain);
}

struct chain *hung_look__take(struct hung_look *l, uint64_t min_ns, unsigned int sources, struct err *e)
{
	int r;

	forget(l);
	l->min_ns = min_ns;
	l->sources = sources;
	r = hung_pass__read(&l->pass, l->k, e);
	if (r)
		return NULL;
	l->chain = chain__new();
	r = l->chain ? take(l) : -ENOMEM;
	if (!r)
		return l->chain;
	err_errno(e, r, "cannot look at the blocked tasks");
	return NULL;
}

unsigned int hung_look__n_seen(const struct hung_look *l)
{
	return l->n_seen;
}
