// SPDX-License-Identifier: GPL-2.0
/* Locks of a look: found once, with queue and owner, for all their waiters. */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hung/impl.h"
#include "model/kinds.h"
#include "names/identity.h"
#include "util/cleanup.h"

#define WRITERS "s_writers of "

/* A task in the queue of a lock. */
struct hung_queued {
	uint64_t task;
	struct hung_lock *lock;
	unsigned int place; /* from 1 */
};

static int cmp_lock(const void *a, const void *b)
{
	const struct hung_lock *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static int cmp_queued(const void *a, const void *b)
{
	const struct hung_queued *x = a, *y = b;

	return x->task < y->task ? -1 : x->task > y->task;
}

static void free_lock(void *p)
{
	struct hung_lock *lock = p;

	free(lock->queue);
	free(lock);
}

void hung_locks__fini(struct hung_look *l)
{
	tdestroy(l->queued, free);
	tdestroy(l->locks, free_lock);
	l->queued = l->locks = NULL;
}

static const struct hung_queued *queued(struct hung_look *l, uint64_t task)
{
	struct hung_queued key = {.task = task};
	void *found = tfind(&key, &l->queued, cmp_queued);

	return found ? *(struct hung_queued **)found : NULL;
}

static void remember(struct hung_look *l, struct hung_lock *lock)
{
	for (size_t i = 0; i < lock->n; i++) {
		struct hung_queued *q = malloc(sizeof(*q));
		void *at;

		if (!q)
			return;
		*q = (struct hung_queued){lock->queue[i].task, lock, (unsigned int)i + 1};
		at = tsearch(q, &l->queued, cmp_queued);
		if (!at || *(struct hung_queued **)at != q)
			free(q);
	}
}

static void name_lock(struct hung_look *l, struct hung_lock *lock, pid_t tgid)
{
	const struct identity_hint hint = {.tgid = tgid};
	struct identity id;

	identity__resolve(l->ids, lock->addr, lock->kind, &hint, &id);
	if (id.how != IDENTITY_ADDRESS)
		lock->identity = chain__str(l->chain, id.text);
	lock->is_writers = !strcmp(id.cls, "s_writers");
}

static void read_queue(struct hung_look *l, struct hung_lock *lock)
{
	size_t max;

	hung_pass__rows(l->pass, &max);
	lock->queue = calloc(max + 1, sizeof(*lock->queue));
	if (!lock->queue)
		return;
	if (kmem__lock_waiters(l->k, lock->addr, lock->kind, lock->queue, max, &lock->n, &lock->more))
		lock->n = 0;
}

static struct hung_lock *lock_of(struct hung_look *l, uint64_t addr, enum lb_kind kind, pid_t tgid)
{
	struct hung_lock key = {.addr = addr, .kind = kind}, *lock;
	void *found = tfind(&key, &l->locks, cmp_lock);

	if (found)
		return *(struct hung_lock **)found;
	lock = calloc(1, sizeof(*lock));
	if (!lock)
		return NULL;
	lock->addr = addr;
	lock->kind = kind;
	if (!tsearch(lock, &l->locks, cmp_lock)) {
		free(lock);
		return NULL;
	}
	name_lock(l, lock, tgid);
	read_queue(l, lock);
	lock->err = kmem__lock_owner(l->k, addr, kind, &lock->owner);
	remember(l, lock);
	return lock;
}

static const char *why_unknown(const struct hung_lock *lock)
{
	const struct lock_owner *o = &lock->owner;

	if (lock->err)
		return "the lock can't be read";
	if (lock->kind == LB_PERCPU_RWSEM)
		return "this kind of lock does not record it";
	if (o->state == LOCK_FREE)
		return "nobody holds it: it is being handed over, or a wake-up was lost";
	if (o->mode == LB_READ)
		return "readers hold it, which the lock does not record";
	return "the owner that it records is no task";
}

static void fill_holder(struct hung_look *l, const struct hung_lock *lock, struct chain_task *c)
{
	const struct lock_owner *o = &lock->owner;
	struct chain_task *t = NULL;

	c->holder = (struct chain_holder){.certainty = LB_UNKNOWN};
	if (!lock->err && o->state == LOCK_HELD) {
		c->holder.mode = o->mode;
		c->holder.mode_known = true;
		t = o->task ? hung_look__add_addr(l, o->task) : NULL;
	}
	if (!t) {
		c->holder.basis = why_unknown(lock);
		return;
	}
	c->holder.task = t;
	c->holder.certainty = o->certainty;
	c->holder.basis = o->certainty == LB_EXACT ? "owner word of the lock" :
			  lock->kind == LB_SEMAPHORE ? "last task that took it" : "last reader that came";
}

/* A lock inside one of these structures is often known by the address of the structure. */
static const enum kmem_field around[] = {
	KF_INODE_RWSEM, KF_MM_MMAP_LOCK, KF_MAPPING_I_MMAP_RWSEM, KF_MAPPING_INVALIDATE, KF_SB_UMOUNT,
};

static bool is_mention(struct hung_look *l, uint64_t word, uint64_t lock)
{
	if (word == lock)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(around); i++)
		if (kmem__has(l->k, around[i]) && word == lock - (uint64_t)kmem__off(l->k, around[i]))
			return true;
	return false;
}

static bool stack_mentions(struct hung_look *l, const struct hung_task *t, uint64_t lock)
{
	if (!hung_stack__read(l->k, t, l->stack))
		return false;
	for (size_t i = 0; i < l->stack->n; i++)
		if (kmem_ptr_ok(l->stack->word[i]) && lock - l->stack->word[i] < 4096 &&
		    is_mention(l, l->stack->word[i], lock))
			return true;
	return false;
}

/* Who may hold a lock for reading: sleepers, not in its queue, on whose stacks it is. Once a lock. */
static void find_readers(struct hung_look *l, struct hung_lock *lock)
{
	const struct hung_task *rows;
	size_t n;

	if (lock->searched)
		return;
	lock->searched = true;
	rows = hung_pass__rows(l->pass, &n);
	for (size_t i = 0; i < n && lock->n_readers < ARRAY_SIZE(lock->readers); i++) {
		const struct hung_queued *q = queued(l, rows[i].task);

		if (!rows[i].on_cpu && !rows[i].exit_state && !(q && q->lock == lock) &&
		    stack_mentions(l, &rows[i], lock->addr))
			lock->readers[lock->n_readers++] = rows[i].task;
	}
}

/* The last reader that came is only a guess; that a stack shows the lock is another. */
static void weigh_readers(struct hung_look *l, struct hung_lock *lock, struct chain_task *c)
{
	const struct hung_queued *own = c->holder.task ? queued(l, c->holder.task->key) : NULL;
	bool confirmed = false;

	/* It came last, left, and wants it for itself now. (A reader that wants it again may have it still.) */
	if (own && own->lock == lock && own->place && lock->queue[own->place - 1].mode_known &&
	    lock->queue[own->place - 1].mode == LB_WRITE)
		c->holder = (struct chain_holder){.certainty = LB_UNKNOWN,
						  .basis = "the last reader that came waits for it itself"};
	find_readers(l, lock);
	for (unsigned int i = 0; c->holder.task && i < lock->n_readers; i++)
		confirmed = confirmed || lock->readers[i] == c->holder.task->key;
	if (confirmed)
		c->holder.basis = "last reader that came, and its stack shows the lock";
	for (unsigned int i = 0; i < lock->n_readers; i++) {
		struct chain_task *t = hung_look__add_addr(l, lock->readers[i]);

		if (!t || t == c->holder.task || t == c)
			continue;
		if (c->holder.task) {
			chain__candidate(l->chain, c, t);
			continue;
		}
		c->holder.task = t;
		c->holder.certainty = LB_LIKELY;
		c->holder.basis = "its stack shows the lock";
	}
}

/* While readers hold the lock, a reader waits because of a writer that came before it. */
static void fill_behind(struct hung_look *l, const struct hung_lock *lock, struct chain_task *c)
{
	uint64_t writer = 0;

	/* There the first writer has the inner lock that all others wait for, readers too. */
	if (lock->kind == LB_RWSEM && kmem__is_rt(l->k) && !lock->err && lock->owner.mode == LB_READ) {
		if (lock->n && lock->queue[0].mode_known && lock->queue[0].task != c->key)
			c->behind = hung_look__add_addr(l, lock->queue[0].task);
		return;
	}
	if (lock->err || lock->owner.mode != LB_READ || !c->wait.mode_known || c->wait.mode != LB_READ)
		return;
	if (lock->kind == LB_PERCPU_RWSEM) {
		kmem__get(l->k, lock->addr, KF_PERCPU_WRITER, &writer);
	} else {
		for (size_t i = 0; i < lock->n && lock->queue[i].task != c->key; i++) {
			if (!lock->queue[i].mode_known || lock->queue[i].mode != LB_WRITE)
				continue;
			writer = lock->queue[i].task;
			break;
		}
	}
	if (writer && writer != c->key)
		c->behind = hung_look__add_addr(l, writer);
}

static void fill_sources(struct hung_look *l, const struct hung_found *f, struct chain_task *c)
{
	char buf[256];
	size_t at = 0;

	for (int i = 0; i < HUNG_N_SOURCES; i++)
		if (f->agree & 1u << i && at < sizeof(buf))
			at += (size_t)snprintf(buf + at, sizeof(buf) - at, "%s%s", at ? ", " : "",
					       hung_source_words((enum hung_source)i));
	c->wait.sources = chain__str(l->chain, buf);
	if (!f->disagree)
		return;
	chain__loss(l->chain)->disagree++;
	at = 0;
	for (int i = 0; i < HUNG_N_SOURCES; i++)
		if (f->addr[i] && !(f->agree & 1u << i) && at < sizeof(buf))
			at += (size_t)snprintf(buf + at, sizeof(buf) - at, "%s%s says 0x%llx", at ? ", " : "",
					       hung_source_words((enum hung_source)i), (unsigned long long)f->addr[i]);
	c->wait.doubt = chain__str(l->chain, buf);
}

/* The lock that keeps writers off a frozen file system has no holder: who froze it may be gone. */
static void frozen(struct hung_look *l, const struct hung_lock *lock, struct chain_task *c)
{
	if (!lock->is_writers || lock->owner.mode != LB_WRITE || lock->err || c->wait.mode != LB_READ)
		return;
	c->wait.reason = reason__by_key("frozen-fs");
	if (lock->identity && !strncmp(lock->identity, WRITERS, sizeof(WRITERS) - 1))
		c->wait.object = chain__str(l->chain, lock->identity + sizeof(WRITERS) - 1);
}

static void fill_place(struct hung_look *l, const struct hung_lock *lock, struct chain_task *c)
{
	const struct hung_queued *q = queued(l, c->key);
	const struct lock_waiter *w;

	if (!q || q->lock != lock)
		return;
	w = &lock->queue[q->place - 1];
	c->wait.place = q->place;
	c->wait.queue = lock->more ? 0 : (unsigned int)lock->n;
	if (w->mode_known) {
		c->wait.mode = w->mode;
		c->wait.mode_known = true;
	}
}

/* On PREEMPT_RT a task may wait for the rt-mutex inside an rwsem. */
static void outer_lock(struct hung_look *l, const struct hung_task *t, struct hung_found *f, struct chain_task *c)
{
	const struct identity_hint hint = {.tgid = t->tgid};
	struct identity id;

	if (f->kind != LB_RT_MUTEX)
		return;
	identity__resolve(l->ids, f->lock, f->kind, &hint, &id);
	if (!id.lock || id.lock == f->lock)
		return;
	f->lock = id.lock;
	f->kind = LB_RWSEM;
	c->wait.mode_known = false;
}

bool hung_locks__fill(struct hung_look *l, const struct hung_task *t, struct chain_task *c, int kind)
{
	const struct hung_queued *q = queued(l, t->task);
	uint64_t known = q && (kind < 0 || (int)q->lock->kind == kind) ? q->lock->addr : 0;
	struct hung_lock *lock;
	struct hung_found f;

	if (known && kind < 0)
		kind = (int)q->lock->kind;
	if (!hung_find(l->k, l->pass, t, l->stack, kind, known, l->sources, &f))
		return false;
	outer_lock(l, t, &f, c);
	lock = lock_of(l, f.lock, f.kind, t->tgid);
	if (!lock)
		return false;
	c->wait.lock = lock->addr;
	c->wait.kind = kind_name(lock->kind);
	c->wait.identity = lock->identity;
	fill_sources(l, &f, c);
	fill_place(l, lock, c);
	frozen(l, lock, c);
	fill_holder(l, lock, c);
	if (!lock->err && lock->owner.state == LOCK_HELD && lock->owner.mode == LB_READ && lock->kind == LB_RWSEM)
		weigh_readers(l, lock, c);
	fill_behind(l, lock, c);
	return true;
}

/* An owner that is another than before never was one for sure. */
static bool changed(struct hung_look *l, struct hung_lock *lock)
{
	struct lock_owner o;
	int err = kmem__lock_owner(l->k, lock->addr, lock->kind, &o);

	if (err || lock->err)
		return err != lock->err;
	return o.state != lock->owner.state || o.mode != lock->owner.mode || o.task != lock->owner.task;
}

static void drop_edges(struct hung_look *l, const struct hung_lock *lock)
{
	for (size_t i = 0; i < chain__n_tasks(l->chain); i++) {
		struct chain_task *c = chain__at(l->chain, i);

		if (c->wait.lock != lock->addr || (!c->holder.task && !c->behind))
			continue;
		c->holder = (struct chain_holder){.basis = "it changed hands while it was looked at"};
		c->behind = NULL;
		chain__loss(l->chain)->torn++;
	}
}

static void again(const void *node, VISIT which, void *ctx)
{
	struct hung_lock *lock = *(struct hung_lock *const *)node;

	if ((which == preorder || which == leaf) && changed(ctx, lock))
		drop_edges(ctx, lock);
}

void hung_locks__again(struct hung_look *l)
{
	twalk_r(l->locks, again, l);
}
