/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_COMPAT_BPF_H
#define LOCKBLAME_COMPAT_BPF_H

/* Every difference between kernels that the tracing programs have to know. Which form is right is
 * found by user space (src/collect/hooks.c asks BTF and kallsyms) and arrives in constants, so that
 * the verifier never sees the other form. */

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "lockblame/abi.h"

/* Keeps what hardly ever happens out of the way: at an event whose code lies cold in memory, each cache
 * line of it counts. */
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Flags of lock:contention_begin. They are macros in the kernel, so BTF does not know them. */
enum {
	LCB_SPIN = 1,
	LCB_READ = 2,
	LCB_WRITE = 4,
	LCB_RT = 8,
	LCB_PERCPU = 16,
	LCB_MUTEX = 32,
};

/* Task storage exists for tracing programs from 5.11 on; 5.10 keeps the same struct in a hash by tid. */
const volatile bool use_task_storage = true;

/* In a return probe the stack is that of the probe's trampoline: one frame with a wrong name. Where those
 * are used stacks are taken when the wait begins, each of them. */
const volatile bool stack_at_begin = false;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct lb_task);
} task_storage SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct lb_task);
} task_hash SEC(".maps");

static const struct lb_task zero_task;

/* Most ends of waits that were turned away, and most tasks of the iterator, are passed over after this
 * look, which is cheaper than the helper. */
static __always_inline bool has_storage(struct task_struct *task)
{
	return !bpf_core_field_exists(task->bpf_storage) || task->bpf_storage;
}

/* The current task's open waits, or NULL: none yet (create false), or no room. */
static __always_inline struct lb_task *current_waits(bool create)
{
	struct task_struct *task;
	struct lb_task *t;
	u32 tid;

	if (use_task_storage) {
		task = bpf_get_current_task_btf();
		if (!create && !has_storage(task))
			return 0;
		return bpf_task_storage_get(&task_storage, task, 0,
					    create ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	}
	tid = (u32)bpf_get_current_pid_tgid();
	t = bpf_map_lookup_elem(&task_hash, &tid);
	if (t || !create)
		return t;
	bpf_map_update_elem(&task_hash, &tid, &zero_task, BPF_NOEXIST);
	return bpf_map_lookup_elem(&task_hash, &tid);
}

/* The last open wait is closed: the hash gives its room back, storage goes with the task. */
static __always_inline void current_waits_done(void)
{
	u32 tid;

	if (use_task_storage)
		return;
	tid = (u32)bpf_get_current_pid_tgid();
	bpf_map_delete_elem(&task_hash, &tid);
}

/* The kind that flags of contention_begin stand for. In 5.19 a mutex had no flag of its own and looks
 * like a semaphore; on PREEMPT_RT mutexes are rt-mutexes, and rwsems and rwlocks share a base. */
static __always_inline u8 kind_of_flags(u32 flags)
{
	if (flags & LCB_PERCPU)
		return LB_PERCPU_RWSEM;
	if (flags & LCB_MUTEX)
		return LB_MUTEX;
	if (flags & LCB_RT)
		return flags & (LCB_READ | LCB_WRITE) ? LB_RWSEM : LB_RT_MUTEX;
	if (flags & LCB_SPIN)
		return flags & (LCB_READ | LCB_WRITE) ? LB_RWLOCK : LB_SPINLOCK;
	if (flags & (LCB_READ | LCB_WRITE))
		return LB_RWSEM;
	return LB_SEMAPHORE;
}

/* A struct rw_semaphore without a count is PREEMPT_RT's. */
static __always_inline bool kernel_is_rt(void)
{
	return !bpf_core_field_exists(struct rw_semaphore, count);
}

#endif
