/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_RELEASE_BPF_H
#define LOCKBLAME_RELEASE_BPF_H

/* The hooks that see a lock being let go while others wait. Which are loaded is chosen in
 * src/collect/releases.c. */

#include "blame.bpf.h"

/* The argument wake_type of rwsem_mark_wake that downgrade_write passes. */
#define WAKE_READ_OWNED 2

/* rwsem_mark_wake runs after the count was given back: a writer has cleared the owner word, a reader has
 * left its name there, a writer that downgrades has become a reader. */
static __always_inline void rwsem_released(void *ctx, u64 lock, u32 wake_type)
{
	void *sem = (void *)lock;
	unsigned long word = BPF_CORE_READ((struct rw_semaphore *)sem, owner.counter);
	bool downgrade = wake_type == WAKE_READ_OWNED;

	released(ctx, lock, !downgrade && (word & RWSEM_READER) ? LB_READ : LB_WRITE, LB_EXACT, downgrade);
}

/* A typed pointer may not be computed with: the context's words as plain numbers. */
static __always_inline u64 word_of(const void *ctx, u32 i)
{
	u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), (const u64 *)ctx + i);
	return v;
}

SEC("fentry/rwsem_mark_wake")
int BPF_PROG(fe_mark_wake, void *sem)
{
	rwsem_released(ctx, word_of(ctx, 0), (u32)word_of(ctx, 1));
	return 0;
}

SEC("kprobe")
int BPF_KPROBE(kp_mark_wake, void *sem, u32 wake_type)
{
	rwsem_released(ctx, (u64)sem, wake_type);
	return 0;
}

SEC("fentry/percpu_up_write")
int BPF_PROG(fe_percpu_up, void *sem)
{
	released(ctx, word_of(ctx, 0), LB_WRITE, LB_EXACT, false);
	return 0;
}

/* Mutexes, and writers of percpu-rwsems. */
SEC("kprobe")
int BPF_KPROBE(kp_unlock, void *lock)
{
	released(ctx, (u64)lock, LB_WRITE, LB_EXACT, false);
	return 0;
}

/* Who ups a semaphore need not be who downed it. */
SEC("fentry/up")
int BPF_PROG(fe_up, void *sem)
{
	released(ctx, word_of(ctx, 0), LB_WRITE, LB_LIKELY, false);
	return 0;
}

SEC("kprobe")
int BPF_KPROBE(kp_up, void *sem)
{
	released(ctx, (u64)sem, LB_WRITE, LB_LIKELY, false);
	return 0;
}

/* PREEMPT_RT: an rt-mutex by itself, or the one inside an rwsem, whose account is the rwsem's. */
SEC("kprobe")
int BPF_KPROBE(kp_rt_unlock, void *wake_q, void *lock)
{
	u64 a = (u64)lock;

	released(ctx, a, LB_WRITE, LB_EXACT, false);
	released(ctx, a - bpf_core_field_offset(struct rwbase_rt, rtmutex), LB_WRITE, LB_EXACT, false);
	return 0;
}

/* lock:contended_release tells all kinds. Of readers every one that leaves is told, not only the last. */
SEC("tp_btf/contended_release")
int BPF_PROG(on_contended_release, void *lock)
{
	u64 addr = word_of(ctx, 0);
	struct lb_account *a = bpf_map_lookup_elem(&accounts, &addr);
	u8 kind, certainty;

	if (!a)
		return 0;
	kind = a->kind;
	/* told in better detail by rwsem_mark_wake */
	if (kind == LB_RWSEM && !(released_by_tp & LB_KIND_BIT(LB_RWSEM)))
		return 0;
	certainty = kind == LB_SEMAPHORE || kind == LB_RWSEM ? LB_LIKELY : LB_EXACT;
	if (kind == LB_RWSEM && !kernel_is_rt()) {
		void *sem = (void *)addr;
		unsigned long word = BPF_CORE_READ((struct rw_semaphore *)sem, owner.counter);
		bool read = word & RWSEM_READER;

		released(ctx, addr, read ? LB_READ : LB_WRITE, read ? LB_LIKELY : LB_EXACT, false);
		return 0;
	}
	released(ctx, addr, LB_WRITE, certainty, false);
	return 0;
}

/* mmap_lock by its own tracepoints, which come before the lock is given back. A look at the lock word
 * first: most of these releases are not contended. */
#define RWSEM_READERS(count) ((count) >> 8 & 0x7fffffffffffffUL)

static __always_inline void mmap_lock_event(void *ctx, u64 mm, bool write, bool acquired)
{
	u64 lock = mm + bpf_core_field_offset(struct mm_struct, mmap_lock);
	void *sem = (void *)lock;
	unsigned long count = BPF_CORE_READ((struct rw_semaphore *)sem, count.counter), word;

	if (!(count & RWSEM_WAITERS))
		return;
	if (!acquired) {
		/* the last reader is charged */
		if (!write && RWSEM_READERS(count) > 1)
			return;
		released(ctx, lock, write ? LB_WRITE : LB_READ, LB_EXACT, false);
		return;
	}
	/* Got for read by who has it for write: a downgrade. */
	word = BPF_CORE_READ((struct rw_semaphore *)sem, owner.counter);
	if ((count & RWSEM_WRITER_LOCKED) && !(word & RWSEM_READER) &&
	    (word & ~OWNER_FLAGS) == bpf_get_current_task())
		released(ctx, lock, LB_WRITE, LB_EXACT, true);
}

/* (mm, write[, success]), or with a path of the cgroup after mm on older kernels. */
SEC("raw_tp/mmap_lock_released")
int BPF_PROG(on_mmap_released, u64 mm, u64 write)
{
	mmap_lock_event(ctx, mm, (bool)write, false);
	return 0;
}

SEC("raw_tp/mmap_lock_released")
int BPF_PROG(on_mmap_released3, u64 mm, u64 path, u64 write)
{
	mmap_lock_event(ctx, mm, (bool)write, false);
	return 0;
}

SEC("raw_tp/mmap_lock_acquire_returned")
int BPF_PROG(on_mmap_acquired, u64 mm, u64 write)
{
	if (!(bool)write)
		mmap_lock_event(ctx, mm, false, true);
	return 0;
}

SEC("raw_tp/mmap_lock_acquire_returned")
int BPF_PROG(on_mmap_acquired4, u64 mm, u64 path, u64 write)
{
	if (!(bool)write)
		mmap_lock_event(ctx, mm, false, true);
	return 0;
}

#endif
