// SPDX-License-Identifier: GPL-2.0
/* Queues of locks. They change while they are read: every link is checked against the one that
 * leads back, and a walk that meets a break starts again. */
#include <errno.h>
#include <string.h>

#include "kmem/lock.h"
#include "kmem/task.h"
#include "util/cleanup.h"

#define TRIES 3
#define RT_DEPTH_MAX 64
#define RWBASE_READERS 0x3fffffffu /* without the two bias bits */
#define WQ_CUSTOM 4u		   /* percpu_rw_semaphore marks its readers with it */

/* How the entries of one kind of queue look. */
struct queue {
	enum kmem_field list, task; /* in the entry */
	enum kmem_field head;	    /* in the lock: a list_head without data ... */
	enum kmem_field first;	    /* ... or a pointer to the first entry of a ring (7.1+) */
	void (*mode)(struct kmem *k, uint64_t entry, struct lock_waiter *w);
};

struct walk {
	struct kmem *k;
	struct lock_waiter *out;
	size_t max, n;
	bool more;
};

static void rwsem_mode(struct kmem *k, uint64_t entry, struct lock_waiter *w)
{
	uint64_t type, handoff;

	/* enum rwsem_waiter_type: writer 0, reader 1. */
	if (!kmem__get(k, entry, KF_RWAITER_TYPE, &type) && type <= 1) {
		w->mode = type ? LB_READ : LB_WRITE;
		w->mode_known = true;
	}
	if (!kmem__get(k, entry, KF_RWAITER_HANDOFF, &handoff))
		w->handoff = handoff & 1;
}

static void write_mode(struct kmem *k, uint64_t entry, struct lock_waiter *w)
{
	w->mode = LB_WRITE;
	w->mode_known = true;
}

static void percpu_mode(struct kmem *k, uint64_t entry, struct lock_waiter *w)
{
	uint64_t flags;

	if (kmem__get(k, entry, KF_WQE_FLAGS, &flags))
		return;
	w->mode = flags & WQ_CUSTOM ? LB_READ : LB_WRITE;
	w->mode_known = true;
}

static const struct queue rwsem_queue = {
	KF_RWAITER_LIST, KF_RWAITER_TASK, KF_RWSEM_WAIT_LIST, KF_RWSEM_FIRST, rwsem_mode,
};
static const struct queue mutex_queue = {
	KF_MWAITER_LIST, KF_MWAITER_TASK, KF_MUTEX_WAIT_LIST, KF_MUTEX_FIRST, write_mode,
};
static const struct queue semaphore_queue = {
	KF_SWAITER_LIST, KF_SWAITER_TASK, KF_SEM_WAIT_LIST, KF_SEM_FIRST, write_mode,
};
static const struct queue percpu_queue = {
	KF_WQE_ENTRY, KF_WQE_PRIVATE, KF_PERCPU_WAITERS, KF_N, percpu_mode,
};

static void add_waiter(struct walk *w, uint64_t task, const struct queue *q, uint64_t entry)
{
	struct lock_waiter *out;
	struct ktask t;

	if (!task) /* a reader that has been woken and is about to leave the queue */
		return;
	if (w->n == w->max) {
		w->more = true;
		return;
	}
	out = &w->out[w->n++];
	memset(out, 0, sizeof(*out));
	out->task = task;
	if (!ktask__read(w->k, task, &t)) {
		out->tid = t.tid;
		out->tgid = t.tgid;
		memcpy(out->comm, t.comm, sizeof(out->comm));
	}
	if (q && q->mode)
		q->mode(w->k, entry, out);
}

/* Goes from link to link until it is back at end. With a head, that is where the walk starts and
 * ends; without, the first entry's own link, which counts too. */
static int walk_ring(struct walk *w, const struct queue *q, uint64_t start, bool start_is_entry)
{
	uint64_t list_off = (uint64_t)kmem__off(w->k, q->list), link = start, next, prev, task;

	for (size_t i = 0; i <= w->max + 1; i++) {
		if (link != start || start_is_entry) {
			if (kmem__get(w->k, link - list_off, q->task, &task))
				return -EAGAIN;
			add_waiter(w, task, q, link - list_off);
		}
		if (kmem__get(w->k, link, KF_LIST_NEXT, &next) || !kmem_ptr_ok(next) ||
		    kmem__get(w->k, next, KF_LIST_PREV, &prev) || prev != link)
			return -EAGAIN;
		link = next;
		if (link == start)
			return 0;
		if (w->more)
			return 0;
	}
	w->more = true;
	return 0;
}

static int walk_queue(struct walk *w, const struct queue *q, uint64_t lock)
{
	int64_t list = kmem__off(w->k, q->list);
	uint64_t first;
	int err;

	if (list < 0)
		return -EOPNOTSUPP;
	if (q->first < KF_N && kmem__has(w->k, q->first)) {
		err = kmem__get(w->k, lock, q->first, &first);
		if (err || !first)
			return err;
		first &= ~(uint64_t)7;
		return kmem_ptr_ok(first) ? walk_ring(w, q, first + (uint64_t)list, true) : -EAGAIN;
	}
	if (!kmem__has(w->k, q->head))
		return -EOPNOTSUPP;
	lock += (uint64_t)kmem__off(w->k, q->head);
	err = kmem__get(w->k, lock, KF_LIST_NEXT, &first);
	return err ? err : walk_ring(w, q, lock, false);
}

/* In-order walk of a tree of rt_mutex_waiter, leftmost (highest priority) first. */
static int walk_rt(struct walk *w, uint64_t lock)
{
	int64_t tree = kmem__off(w->k, KF_RTW_TREE);
	uint64_t stack[RT_DEPTH_MAX], node, task, back;
	size_t depth = 0, steps = 0;
	int err = kmem__get(w->k, lock, KF_RTM_TREE, &node);

	if (err || tree < 0)
		return err ? err : -EOPNOTSUPP;
	while (node || depth) {
		if (++steps > 2 * w->max + RT_DEPTH_MAX)
			return -EAGAIN;
		if (node) {
			if (depth == RT_DEPTH_MAX || !kmem_ptr_ok(node))
				return -EAGAIN;
			stack[depth++] = node;
			if (kmem__get(w->k, node, KF_RB_LEFT, &node))
				return -EAGAIN;
			continue;
		}
		node = stack[--depth];
		if (kmem__get(w->k, node - (uint64_t)tree, KF_RTW_TASK, &task) ||
		    kmem__get(w->k, node - (uint64_t)tree, KF_RTW_LOCK, &back) || back != lock)
			return -EAGAIN;
		add_waiter(w, task, NULL, 0);
		if (w->more)
			return 0;
		if (kmem__get(w->k, node, KF_RB_RIGHT, &node))
			return -EAGAIN;
	}
	return 0;
}

/* The first writer in the line of a read-held rwbase_rt is in no tree: it has the rt-mutex already,
 * has taken the readers' bias away, and waits for them to leave. */
static int walk_rt_rwsem(struct walk *w, uint64_t lock)
{
	uint64_t mutex = lock + (uint64_t)kmem__off(w->k, KF_RWSEM_RT_MUTEX), readers, owner;
	int err = kmem__get(w->k, lock, KF_RWSEM_RT_READERS, &readers);

	if (err)
		return err;
	if (readers && !(readers & ~RWBASE_READERS)) {
		if (kmem__get(w->k, mutex, KF_RTM_OWNER, &owner))
			return -EAGAIN;
		add_waiter(w, owner & ~(uint64_t)7, &mutex_queue, 0);
		if (w->more)
			return 0;
	}
	return walk_rt(w, mutex);
}

static int one_walk(struct walk *w, uint64_t addr, enum lb_kind kind)
{
	switch (kind) {
	case LB_RWSEM:
		if (kmem__is_rt(w->k))
			return walk_rt_rwsem(w, addr);
		return walk_queue(w, &rwsem_queue, addr);
	case LB_MUTEX:
		if (kmem__has(w->k, KF_MUTEX_RT))
			return walk_rt(w, addr);
		return walk_queue(w, &mutex_queue, addr);
	case LB_RT_MUTEX:
		return walk_rt(w, addr);
	case LB_SEMAPHORE:
		return walk_queue(w, &semaphore_queue, addr);
	case LB_PERCPU_RWSEM:
		return walk_queue(w, &percpu_queue, addr);
	default:
		return -EOPNOTSUPP;
	}
}

int kmem__lock_waiters(struct kmem *k, uint64_t addr, enum lb_kind kind, struct lock_waiter *out,
		       size_t max, size_t *n, bool *more)
{
	struct walk w = {.k = k, .out = out, .max = max};
	int err = -EAGAIN;

	for (int i = 0; i < TRIES && err == -EAGAIN; i++) {
		w.n = 0;
		w.more = false;
		err = one_walk(&w, addr, kind);
	}
	*n = err && err != -EAGAIN ? 0 : w.n;
	*more = w.more;
	return err;
}
