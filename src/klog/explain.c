// SPDX-License-Identifier: GPL-2.0
#include "klog/explain.h"

#include <stdio.h>
#include <string.h>

#include "model/kinds.h"
#include "model/reasons.h"
#include "names/site.h"

#define NOT_IN_LOG "it is not in this log: a SysRq-w dump, or lockblame hung on the machine, would show it"

struct explain {
	const struct klog *k;
	struct chain *c;
	int boot;
};

static bool of_boot(const struct explain *x, const struct klog_task *t)
{
	return t->boot == x->boot;
}

/* Frames that the unwinder itself doubts tell nothing, unless there are no others. */
static int usable(struct klog_task *t, const char *const **frames)
{
	unsigned int n = 0;

	*frames = t->frames;
	if (!t->n_sure)
		return (int)t->n_frames;
	for (unsigned int i = 0; i < t->n_frames; i++) {
		if (!t->sure[i])
			continue;
		t->frames[n] = t->frames[i];
		t->sure[n++] = true;
	}
	t->n_frames = n;
	return (int)n;
}

static struct chain_task *task_of(struct explain *x, const struct klog_task *t)
{
	return chain__task(x->c, t->pid);
}

static void fill_wait(struct chain_task *c, const struct klog_task *t)
{
	struct reason_lock rl;

	if (t->from & KLOG_RUNNING)
		return;
	if (reason__lock_of_frames(c->stack, c->n_stack, &rl)) {
		c->wait.kind = rl.kind;
		c->wait.mode = rl.mode;
		c->wait.mode_known = rl.mode_known;
		c->wait.sources = "its stack";
	} else {
		c->wait.reason = reason__of_frames(c->stack, c->n_stack, NULL);
	}
	/* Where the stack is cut off, the kernel's own words are all there is. */
	if (!c->wait.kind && !c->wait.reason && t->owner.kind) {
		c->wait.kind = t->owner.kind;
		c->wait.sources = "the kernel's own line";
	}
	if (t->owner.mode && c->wait.kind) {
		c->wait.mode = t->owner.mode == 'r' ? LB_READ : LB_WRITE;
		c->wait.mode_known = true;
	}
}

static int fill(struct explain *x, struct klog_task *t)
{
	struct chain_task *c = task_of(x, t);
	const char *const *frames;
	char buf[256];
	int site;

	if (!c)
		return -1;
	c->pid = t->tgid ? t->tgid : t->pid;
	snprintf(c->comm, sizeof(c->comm), "%s", t->comm ? t->comm : "?");
	c->state = t->state;
	c->hung = t->from & KLOG_HUNG;
	c->on_cpu = t->from & KLOG_RUNNING;
	c->cpu = t->from & KLOG_RUNNING ? t->cpu : -1;
	for (unsigned int i = 0; i < KLOG_MAX_TIMES; i++)
		if (t->seconds[i] > 0 && (uint64_t)t->seconds[i] * 1000000000ULL > c->blocked_ns)
			c->blocked_ns = (uint64_t)t->seconds[i] * 1000000000ULL;
	c->n_stack = usable(t, &frames);
	c->stack = frames;
	site = site__of(c->stack, c->n_stack);
	if (site >= 0)
		c->site = chain__str(x->c, site__base(c->stack[site], buf, sizeof(buf)));
	fill_wait(c, t);
	return 0;
}

/* What the kernel itself says: "likely owned by". */
static bool by_kernel(struct explain *x, const struct klog_task *t, struct chain_task *c)
{
	struct chain_task *h;

	if (!t->owner.kind)
		return false;
	if (!t->owner.pid) {
		c->holder.basis = "the kernel says: the owner is not found";
		return true;
	}
	h = chain__task(x->c, t->owner.pid);
	if (!h)
		return false;
	if (!h->comm[0]) {
		snprintf(h->comm, sizeof(h->comm), "%s", t->owner.comm ? t->owner.comm : "?");
		h->pid = t->owner.pid;
	}
	c->holder.task = h;
	c->holder.certainty = LB_LIKELY;
	c->holder.basis = t->owner.last ? "the kernel's own line: last held by" : "the kernel's own line";
	if (t->owner.owner_mode) {
		c->holder.mode = t->owner.owner_mode == 'r' ? LB_READ : LB_WRITE;
		c->holder.mode_known = true;
	}
	return true;
}

/* The entry of lockdep's list that is what the task waits for: the last one, when it is in a slow path. */
static const struct klog_held *wanted_entry(const struct klog_task *t, const struct chain_task *c)
{
	return c->wait.kind && t->n_held ? &t->held[t->n_held - 1] : NULL;
}

static bool holds(const struct klog_task *t, const struct chain_task *c, uint64_t addr)
{
	const struct klog_held *own = c ? wanted_entry(t, c) : NULL;

	for (unsigned int i = 0; i < t->n_held; i++)
		if (t->held[i].addr == addr && &t->held[i] != own)
			return true;
	return false;
}

/* Whether the entry could be what the task only waits for: its last one, when no stack tells what it does. */
static bool only_wanted(const struct klog_task *t, uint64_t addr)
{
	return !t->n_frames && t->n_held && t->held[t->n_held - 1].addr == addr;
}

/* Lockdep lists who has which lock; joined by address. Lists of another snapshot may be of another time. */
static bool by_lockdep(struct explain *x, const struct klog_task *t, struct chain_task *c)
{
	const struct klog_held *want = wanted_entry(t, c);
	struct chain_task *first = NULL;

	if (!want)
		return false;
	c->wait.identity = chain__str(x->c, want->name);
	c->wait.lock = want->addr;
	for (size_t i = 0; want->addr && i < klog__n_tasks(x->k); i++) {
		struct klog_task *o = klog__at(x->k, i);
		struct chain_task *h;

		if (o == t || !of_boot(x, o) || o->snapshot != t->snapshot ||
		    !holds(o, chain__find(x->c, o->pid), want->addr))
			continue;
		h = task_of(x, o);
		if (!h || h == first)
			continue;
		if (first) {
			chain__candidate(x->c, c, h);
			c->holder.certainty = LB_LIKELY;
			continue;
		}
		first = h;
		c->holder.task = h;
		/* A task that runs may have let it go while the list was printed. */
		c->holder.certainty = o->from & KLOG_RUNNING || only_wanted(o, want->addr) ? LB_LIKELY : LB_EXACT;
		c->holder.basis = "lockdep's list of held locks";
	}
	return first;
}

static void find_holder(struct explain *x, const struct klog_task *t)
{
	struct chain_task *c = chain__find(x->c, t->pid);
	bool found;

	if (!c || !t->pid)
		return;
	found = by_lockdep(x, t, c);
	if (!found)
		found = by_kernel(x, t, c);
	if (!found && c->wait.kind)
		c->holder.basis = NOT_IN_LOG;
}

struct chain *klog_explain(const struct klog *k, int boot)
{
	struct explain x = {.k = k, .c = chain__new(), .boot = boot};
	bool ok = x.c != NULL;

	for (size_t i = 0; ok && i < klog__n_tasks(k); i++)
		if (of_boot(&x, klog__at(k, i)))
			ok = !fill(&x, klog__at(k, i));
	for (size_t i = 0; ok && i < klog__n_tasks(k); i++)
		if (of_boot(&x, klog__at(k, i)))
			find_holder(&x, klog__at(k, i));
	if (ok && !chain__solve(x.c))
		return x.c;
	chain__free(x.c);
	return NULL;
}
