/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_HOLD_BPF_H
#define LOCKBLAME_HOLD_BPF_H

/* Holds: from acquire to release, contended or not. An open hold lies with its task; its end goes the
 * way that ends of waits go (account.bpf.h), with the stack that the lock is released from. A downgrade
 * ends the part held for write and begins the part held for read. Which programs are loaded is chosen in
 * src/collect/holds.c. */

#include "compat.bpf.h"
#include "filter.bpf.h"
#include "owner.bpf.h"
#include "account.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct lb_held);
} held_storage SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct lb_held);
} held_hash SEC(".maps");

static const struct lb_held zero_held;

static __always_inline struct lb_held *current_held(bool create)
{
	struct task_struct *task;
	struct lb_held *h;
	u32 tid;

	if (use_task_storage) {
		task = bpf_get_current_task_btf();
		if (!create && !has_storage(task))
			return 0;
		return bpf_task_storage_get(&held_storage, task, 0,
					    create ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	}
	tid = (u32)bpf_get_current_pid_tgid();
	h = bpf_map_lookup_elem(&held_hash, &tid);
	if (h || !create)
		return h;
	bpf_map_update_elem(&held_hash, &tid, &zero_held, BPF_NOEXIST);
	return bpf_map_lookup_elem(&held_hash, &tid);
}

/* The slot of lock; lock 0: a free one. */
static __always_inline struct lb_slot *held_slot(struct lb_held *h, u64 lock)
{
	for (u32 i = 0; i < LB_MAX_HELD; i++)
		if (h->slot[i].lock == lock)
			return &h->slot[i];
	return 0;
}

/* Whether somebody waits for the lock at this moment. */
#define MUTEX_WAITERS 1UL

static __always_inline bool has_waiters(u64 lock, u8 kind)
{
	void *p = (void *)lock;

	if (kernel_is_rt())
		return false;
	if (kind == LB_MUTEX)
		return BPF_CORE_READ((struct mutex *)p, owner.counter) & MUTEX_WAITERS;
	return BPF_CORE_READ((struct rw_semaphore *)p, count.counter) & RWSEM_WAITERS;
}

static __always_inline void close_hold(void *ctx, struct lb_stats *st, struct lb_slot *s)
{
	struct ended e = {.now = bpf_ktime_get_ns()};

	e.total = e.now - s->begin;
	e.ret = has_waiters(s->lock, s->kind);
	account(ctx, st, s, &e);
}

static __always_inline void begin_hold(struct lb_slot *s, u64 lock, u8 kind, u8 mode)
{
	s->lock = lock;
	s->kind = kind;
	s->mode = mode;
	s->begin = bpf_ktime_get_ns();
}

static __always_inline void acquired(void *ctx, u64 lock, u8 kind, u8 mode)
{
	struct lb_stats *st;
	struct lb_held *h;
	struct lb_slot *s;

	if (!wanted(lock, kind))
		return;
	st = my_stats();
	h = st ? current_held(true) : 0;
	if (!h) {
		if (st)
			st->lost_begin++;
		return;
	}
	s = held_slot(h, lock);
	if (s && s->mode == LB_WRITE && mode == LB_READ) {
		close_hold(ctx, st, s);
	} else if (s) {
		st->lost_end++; /* its release was not seen */
	} else {
		s = held_slot(h, 0);
		if (!s) {
			st->lost_begin++;
			return;
		}
		announce(lock, kind, bpf_get_current_pid_tgid() >> 32);
	}
	st->seen++;
	begin_hold(s, lock, kind, mode);
}

static __always_inline void let_go(void *ctx, u64 lock, u8 kind)
{
	struct lb_held *h;
	struct lb_stats *st;
	struct lb_slot *s;

	if (!wanted(lock, kind))
		return;
	st = my_stats();
	if (!st)
		return;
	h = current_held(false);
	s = h ? held_slot(h, lock) : 0;
	if (!s) {
		st->older++;
		return;
	}
	close_hold(ctx, st, s);
	s->lock = 0;
}

/* A typed pointer may not be computed with; this is what it points to as a number. */
static __always_inline u64 lock_arg(const void *ctx)
{
	u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), ctx);
	return v;
}

/* Acquire functions by what their result means: none, 0 is success, 1 is success. */
#define ACQUIRE(func, kind, mode, success)                                                         \
	SEC("fexit/" #func)                                                                        \
	int BPF_PROG(hold_##func, void *lock)                                                      \
	{                                                                                          \
		if (success)                                                                       \
			acquired(ctx, lock_arg(ctx), kind, mode);                                   \
		return 0;                                                                          \
	}

#define RELEASE(func, kind)                                                                        \
	SEC("fentry/" #func)                                                                       \
	int BPF_PROG(hold_##func, void *lock)                                                      \
	{                                                                                          \
		let_go(ctx, lock_arg(ctx), kind);                                                   \
		return 0;                                                                          \
	}

ACQUIRE(down_read, LB_RWSEM, LB_READ, true)
ACQUIRE(down_read_interruptible, LB_RWSEM, LB_READ, !(s32)ctx[1])
ACQUIRE(down_read_killable, LB_RWSEM, LB_READ, !(s32)ctx[1])
ACQUIRE(down_read_trylock, LB_RWSEM, LB_READ, (s32)ctx[1])
ACQUIRE(down_write, LB_RWSEM, LB_WRITE, true)
ACQUIRE(down_write_killable, LB_RWSEM, LB_WRITE, !(s32)ctx[1])
ACQUIRE(down_write_trylock, LB_RWSEM, LB_WRITE, (s32)ctx[1])
ACQUIRE(downgrade_write, LB_RWSEM, LB_READ, true)
RELEASE(up_read, LB_RWSEM)
RELEASE(up_write, LB_RWSEM)
ACQUIRE(mutex_lock, LB_MUTEX, LB_WRITE, true)
ACQUIRE(mutex_lock_interruptible, LB_MUTEX, LB_WRITE, !(s32)ctx[1])
ACQUIRE(mutex_lock_killable, LB_MUTEX, LB_WRITE, !(s32)ctx[1])
ACQUIRE(mutex_trylock, LB_MUTEX, LB_WRITE, (s32)ctx[1])
RELEASE(mutex_unlock, LB_MUTEX)

/* mmap_lock alone, by its own tracepoints: (mm, write[, success]), or with a path of the cgroup after mm
 * on older kernels. A downgrade is announced as got for read. */
static __always_inline u64 mmap_lock_of(u64 mm)
{
	return mm + bpf_core_field_offset(struct mm_struct, mmap_lock);
}

SEC("raw_tp/mmap_lock_acquire_returned")
int BPF_PROG(hold_mmap_acquired, u64 mm, u64 write, u64 success)
{
	if ((bool)success)
		acquired(ctx, mmap_lock_of(mm), LB_RWSEM, (bool)write ? LB_WRITE : LB_READ);
	return 0;
}

SEC("raw_tp/mmap_lock_acquire_returned")
int BPF_PROG(hold_mmap_acquired4, u64 mm, u64 path, u64 write, u64 success)
{
	if ((bool)success)
		acquired(ctx, mmap_lock_of(mm), LB_RWSEM, (bool)write ? LB_WRITE : LB_READ);
	return 0;
}

SEC("raw_tp/mmap_lock_released")
int BPF_PROG(hold_mmap_released, u64 mm)
{
	let_go(ctx, mmap_lock_of(mm), LB_RWSEM);
	return 0;
}

/* Holds in progress, without a stack: most holders are on a CPU, where none can be taken from outside. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct lb_now);
} held_scratch SEC(".maps");

SEC("iter/task")
int holds_in_progress(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct lb_held *h;
	struct lb_now *rec;
	u32 zero = 0, tid;

	if (!task || (use_task_storage && !has_storage(task)))
		return 0;
	tid = task->pid;
	if (use_task_storage)
		h = bpf_task_storage_get(&held_storage, task, 0, 0);
	else
		h = bpf_map_lookup_elem(&held_hash, &tid);
	rec = bpf_map_lookup_elem(&held_scratch, &zero);
	if (!h || !rec)
		return 0;
	rec->tid = tid;
	rec->tgid = task->tgid;
	bpf_probe_read_kernel(rec->comm, sizeof(rec->comm), task->comm);
	rec->n_frames = 0;
	for (u32 i = 0; i < LB_MAX_HELD; i++) {
		if (!h->slot[i].lock)
			continue;
		rec->slot = h->slot[i];
		bpf_seq_write(ctx->meta->seq, rec, sizeof(*rec));
	}
	return 0;
}

#endif
