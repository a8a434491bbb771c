/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_KMEM_LOCK_H
#define LOCKBLAME_KMEM_LOCK_H

#include "kmem/kmem.h"

/* Who has a lock now, and who waits for it, read from the lock itself. */
enum lock_state {
	LOCK_UNREADABLE, /* not a lock of that kind, gone, or a kind that keeps no state we can read */
	LOCK_FREE,
	LOCK_HELD,
};

struct lock_owner {
	enum lock_state state;
	/* LB_EXACT: this task holds it. LB_LIKELY: a reader-held lock remembers only the last reader that
	 * came. LB_UNKNOWN: held, but by whom can't be told (tid 0). Says nothing when not LOCK_HELD. */
	enum lb_certainty certainty;
	enum lb_mode mode;
	uint32_t readers; /* how many hold it for read; 0 when not known */
	bool waiters;	  /* the lock says that somebody waits */
	uint64_t task;
	pid_t tid;
	pid_t tgid;
	char comm[LB_COMM_LEN];
};

/* Reads the lock at addr twice and fails rather than mix two states. 0 with *out filled, -EFAULT when
 * addr can't be read, -EAGAIN when it changed at every try, -EOPNOTSUPP for kinds without an owner
 * (spinlock, rwlock). On a PREEMPT_RT kernel, LB_RT_MUTEX reads an rt_mutex_base, LB_RWSEM and
 * LB_MUTEX the whole structure of that name. */
int kmem__lock_owner(struct kmem *k, uint64_t addr, enum lb_kind kind, struct lock_owner *out);

struct lock_waiter {
	uint64_t task;
	pid_t tid; /* 0: the task could not be read any more */
	pid_t tgid;
	enum lb_mode mode;
	bool mode_known; /* a PREEMPT_RT queue does not tell readers from writers */
	bool handoff;	 /* rwsem: it has asked to be given the lock next (where the kernel tells) */
	char comm[LB_COMM_LEN];
};

/* The queue of the lock in order (by priority on PREEMPT_RT), at most max entries; *n were stored and
 * *more says that there are others. 0, -EAGAIN when the queue changed at every try (what was stored
 * is then the longest part that was consistent), -EFAULT, -EOPNOTSUPP as above. */
int kmem__lock_waiters(struct kmem *k, uint64_t addr, enum lb_kind kind, struct lock_waiter *out,
		       size_t max, size_t *n, bool *more);

#endif
