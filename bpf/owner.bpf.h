/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_OWNER_BPF_H
#define LOCKBLAME_OWNER_BPF_H

#include "compat.bpf.h"

#define OWNER_FLAGS 7UL /* low bits of an owner word that are no address */
#define RWSEM_READER 1UL
#define RWSEM_WRITER_LOCKED 1UL
#define RWSEM_WAITERS 2UL

/* The owner word of s->lock; sets how sure it is and in which mode it holds. A writer and a mutex owner
 * are exact; an rwsem held by readers remembers only the last one that came, who may have left. */
static __always_inline unsigned long owner_word(struct lb_slot *s)
{
	/* A plain variable: what BPF_CORE_READ is given is all taken for kernel structures. */
	void *lock = (void *)s->lock;

	s->owner_certainty = LB_EXACT;
	s->owner_mode = LB_WRITE;
	if (kernel_is_rt()) {
		if (s->kind == LB_RT_MUTEX)
			return (unsigned long)BPF_CORE_READ((struct rt_mutex_base *)lock, owner);
		if (s->kind == LB_RWSEM)
			return (unsigned long)BPF_CORE_READ((struct rwbase_rt *)lock, rtmutex.owner);
		return 0;
	}
	if (s->kind == LB_MUTEX)
		return BPF_CORE_READ((struct mutex *)lock, owner.counter);
	if (s->kind == LB_RWSEM) {
		struct rw_semaphore *sem = lock;
		unsigned long count = BPF_CORE_READ(sem, count.counter);
		unsigned long word = BPF_CORE_READ(sem, owner.counter);

		/* Lock word and owner word are two stores: only when they agree is it a fact. */
		if (!(count & RWSEM_WRITER_LOCKED)) {
			s->owner_mode = LB_READ;
			s->owner_certainty = LB_LIKELY;
		} else if (word & RWSEM_READER) {
			s->owner_certainty = LB_LIKELY;
		}
		return word;
	}
	return 0;
}

/* Puts who held the lock when the wait began into s. */
static __always_inline void read_owner(struct lb_slot *s)
{
	struct task_struct *task = (void *)(owner_word(s) & ~OWNER_FLAGS);

	s->owner_tid = 0;
	if (!task) {
		s->owner_certainty = LB_UNKNOWN;
		return;
	}
	s->owner_tid = BPF_CORE_READ(task, pid);
	s->owner_tgid = BPF_CORE_READ(task, tgid);
	bpf_probe_read_kernel(s->owner_comm, sizeof(s->owner_comm), &task->comm);
}

#endif
