// SPDX-License-Identifier: GPL-2.0
/* Waits on locks whose waiters sleep. A wait is open from the slow path's first hook until it ends;
 * its record lies with the task. Which of the programs are loaded is chosen in src/collect/hooks.c:
 *   tp_btf contention_begin/end        all kinds, where the kernel has the tracepoints
 *   fentry/fexit on rwsem slow paths   in addition: shows spinning, which comes before the tracepoint
 *   fentry/fexit, or kprobe/kretprobe  on all slow paths, where there are no tracepoints */
#include "compat.bpf.h"
#include "filter.bpf.h"
#include "owner.bpf.h"
#include "account.bpf.h"
#include "blame.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile bool want_owner = false;

/* slot[i], i below LB_MAX_NEST. The compiler may keep the check and the use of i in different
 * registers; the mask, hidden from it, is what the verifier goes by. */
static __always_inline struct lb_slot *slot_at(struct lb_task *t, u32 i)
{
	_Static_assert((LB_MAX_NEST & (LB_MAX_NEST - 1)) == 0, "a mask");
	asm volatile("" : "+r"(i));
	return &t->slot[i & (LB_MAX_NEST - 1)];
}

static __always_inline struct lb_slot *innermost(struct lb_task *t)
{
	u32 i = t->depth - 1;

	return i < LB_MAX_NEST ? slot_at(t, i) : 0;
}

/* The same wait goes on in another way: a waiter that stops spinning and sleeps, or wakes and spins
 * again. */
static __always_inline void change_phase(struct lb_slot *s, bool spinning)
{
	u64 now;

	if (s->spinning == spinning)
		return;
	now = wait_clock();
	if (s->spinning)
		s->spin_ns += now - s->phase_start;
	s->phase_start = now;
	s->spinning = spinning;
}

/* The end of the innermost wait was never seen (its hook was missed). */
static __always_inline void drop_stale(struct lb_task *t, struct lb_stats *st)
{
	struct lb_slot *s = innermost(t);

	if (want_blame && s)
		blame_drop(s);
	st->lost_end++;
	t->depth--;
}

static __always_inline void open_slot(struct lb_slot *s, u64 lock, u8 kind, u8 mode, bool spinning,
				      bool slow)
{
	s->lock = lock;
	s->begin = wait_clock();
	s->phase_start = s->begin;
	s->spin_ns = 0;
	s->kind = kind;
	s->mode = mode;
	s->spinning = spinning;
	s->slow = slow;
	s->owner_certainty = LB_UNKNOWN;
	if (want_owner)
		read_owner(s);
}

/* PREEMPT_RT: who waits for an rwsem does so on the rt-mutex inside of it, and both are announced. It is
 * one wait. */
static __always_inline bool is_inner_lock(const struct lb_slot *s, u64 lock)
{
	return kernel_is_rt() && s->kind == LB_RWSEM &&
	       lock - s->lock < bpf_core_type_size(struct rwbase_rt);
}

/* A wait that the filters turn away still tells releases apart from wake-ups by waiters. */
const volatile bool tell_passed_by = false;

static __always_inline void pass_by(u64 lock)
{
	struct lb_task *t = current_waits(true);

	if (t)
		t->passed_by = lock;
}

static __always_inline void wait_begin(void *ctx, u64 lock, u8 kind, u8 mode, bool spinning, bool slow)
{
	struct lb_stats *st;
	struct lb_task *t;
	struct lb_slot *s;
	u32 i;

	if (!wanted(lock, kind)) {
		if (tell_passed_by)
			pass_by(lock);
		return;
	}
	st = my_stats();
	if (!st)
		return;
	t = current_waits(true);
	if (unlikely(!t)) {
		st->lost_begin++;
		return;
	}
	s = innermost(t);
	if (s && is_inner_lock(s, lock))
		return;
	if (unlikely(s && s->lock == lock)) {
		if (!slow) {
			change_phase(s, spinning);
			return;
		}
		drop_stale(t, st);
	}
	i = t->depth;
	if (unlikely(i >= LB_MAX_NEST)) {
		st->lost_begin++;
		return;
	}
	s = slot_at(t, i);
	open_slot(s, lock, kind, mode, spinning, slow);
	if (stack_at_begin)
		walk(ctx, st, &s->kstack, &s->ustack);
	t->depth = i + 1;
	st->seen++;
	if (want_blame)
		blame_begin(st, s);
	if (unlikely(t->announced != lock)) {
		t->announced = lock;
		/* Out of the slot it is a number; fentry's argument is a typed pointer, barred from
		 * arithmetic. */
		announce(*(volatile u64 *)&s->lock, kind, bpf_get_current_pid_tgid() >> 32);
	}
}

static __always_inline void finish(void *ctx, struct lb_stats *st, struct lb_slot *s, s32 ret)
{
	struct ended e = {
		.now = wait_clock(),
		.ret = ret,
		.spin = s->spin_ns,
	};

	e.total = e.now - s->begin;
	if (s->spinning)
		e.spin += e.now - s->phase_start;
	account(ctx, st, s, &e);
	if (want_blame)
		blame_end(st, s, &e);
}

/* Where lock's open wait is, and how many lie inside it whose ends are therefore lost. lock 0 means the
 * innermost: a kretprobe does not know the arguments. */
static __always_inline bool unwind_to(struct lb_task *t, u64 lock, struct lb_stats *st)
{
	bool open = false;

	for (u32 i = 0; i < LB_MAX_NEST; i++)
		if (i < t->depth && (!lock || t->slot[i].lock == lock))
			open = true;
	if (!open)
		return false;
	for (u32 i = 0; i < LB_MAX_NEST; i++) {
		struct lb_slot *s = innermost(t);

		if (!s || !lock || s->lock == lock)
			break;
		drop_stale(t, st);
	}
	return true;
}

/* by_slow says which sort of hook calls: the sort that opened a wait closes it. */
static __always_inline void wait_end(void *ctx, u64 lock, s32 ret, bool by_slow)
{
	struct lb_task *t = current_waits(false);
	struct lb_stats *st;
	struct lb_slot *s;

	if (tell_passed_by && t && (!lock || t->passed_by == lock))
		t->passed_by = 0;
	/* Nothing open: filtered out, older than we are, or (contention_end does not tell) a spinlock. */
	if (!t || !t->depth)
		return;
	st = my_stats();
	if (!st)
		return;
	s = innermost(t);
	if (!s)
		return;
	if (unlikely(s->lock != lock)) {
		if (!unwind_to(t, lock, st))
			return;
		s = innermost(t);
		if (!s)
			return;
	}
	if (s->slow != by_slow)
		return;
	finish(ctx, st, s, ret);
	t->depth--;
	if (!t->depth)
		current_waits_done();
}

SEC("tp_btf/contention_begin")
int BPF_PROG(on_contention_begin, void *lock, unsigned int flags)
{
	u8 kind = kind_of_flags(flags);

	/* Spinning kinds have an object of their own; leave before anything else is touched. */
	if (kind == LB_SPINLOCK || kind == LB_RWLOCK)
		return 0;
	wait_begin(ctx, (u64)lock, kind, flags & LCB_READ ? LB_READ : LB_WRITE, flags & LCB_SPIN, false);
	return 0;
}

SEC("tp_btf/contention_end")
int BPF_PROG(on_contention_end, void *lock, int ret)
{
	wait_end(ctx, (u64)lock, ret, false);
	return 0;
}

#define IS_ERR(p) ((u64)(p) >= (u64)-4095L)
#define EINTR 4

/* A slow path as fentry and fexit. spinning: whether it starts out spinning (rwsem and mutex do, but a
 * mutex without tracepoints never tells when it stops, so only rwsems claim it). */
#define FENTRY(name, func, kind, mode, spinning)                                                   \
	SEC("fentry/" func)                                                                        \
	int BPF_PROG(name, void *lock)                                                             \
	{                                                                                          \
		wait_begin(ctx, (u64)lock, kind, mode, spinning, true);                                 \
		return 0;                                                                          \
	}

#define FEXIT(name, func, result)                                                                  \
	SEC("fexit/" func)                                                                         \
	int BPF_PROG(name, void *lock)                                                             \
	{                                                                                          \
		wait_end(ctx, (u64)lock, (s32)(result), true);                                     \
		return 0;                                                                          \
	}

/* fexit sees the result as a typed pointer, which the verifier allows to be compared but not cut to an
 * int. A rwsem slow path only ever fails because of a signal. */
#define POINTER_RESULT(r) (IS_ERR(r) ? -EINTR : 0)

FENTRY(fe_rwsem_read, "rwsem_down_read_slowpath", LB_RWSEM, LB_READ, true)
/* (sem, state) in 5.10, (sem, count, state) from 6.1 on: the result comes after the arguments. */
FEXIT(fx_rwsem_read, "rwsem_down_read_slowpath", POINTER_RESULT(ctx[2]))
FEXIT(fx_rwsem_read3, "rwsem_down_read_slowpath", POINTER_RESULT(ctx[3]))
FENTRY(fe_rwsem_write, "rwsem_down_write_slowpath", LB_RWSEM, LB_WRITE, true)
FEXIT(fx_rwsem_write, "rwsem_down_write_slowpath", POINTER_RESULT(ctx[2]))
FENTRY(fe_mutex, "__mutex_lock_slowpath", LB_MUTEX, LB_WRITE, false)
FEXIT(fx_mutex, "__mutex_lock_slowpath", 0)
FENTRY(fe_mutex_kill, "__mutex_lock_killable_slowpath", LB_MUTEX, LB_WRITE, false)
FEXIT(fx_mutex_kill, "__mutex_lock_killable_slowpath", ctx[1])
FENTRY(fe_mutex_intr, "__mutex_lock_interruptible_slowpath", LB_MUTEX, LB_WRITE, false)
FEXIT(fx_mutex_intr, "__mutex_lock_interruptible_slowpath", ctx[1])
FENTRY(fe_semaphore, "__down", LB_SEMAPHORE, LB_WRITE, false)
FEXIT(fx_semaphore, "__down", 0)

SEC("fentry/percpu_rwsem_wait")
int BPF_PROG(fe_percpu, void *lock, bool reader)
{
	wait_begin(ctx, (u64)lock, LB_PERCPU_RWSEM, reader ? LB_READ : LB_WRITE, false, true);
	return 0;
}

FEXIT(fx_percpu, "percpu_rwsem_wait", 0)

#define KPROBE(name, kind, mode, spinning)                                                         \
	SEC("kprobe")                                                                              \
	int BPF_KPROBE(name, void *lock)                                                           \
	{                                                                                          \
		wait_begin(ctx, (u64)lock, kind, mode, spinning, true);                                 \
		return 0;                                                                          \
	}

#define KRETPROBE(name, result)                                                                    \
	SEC("kretprobe")                                                                           \
	int BPF_KRETPROBE(name, long ret)                                                          \
	{                                                                                          \
		wait_end(ctx, 0, (s32)(result), true);                                             \
		return 0;                                                                          \
	}

KPROBE(kp_rwsem_read, LB_RWSEM, LB_READ, true)
KPROBE(kp_rwsem_write, LB_RWSEM, LB_WRITE, true)
KPROBE(kp_mutex, LB_MUTEX, LB_WRITE, false)
KPROBE(kp_semaphore, LB_SEMAPHORE, LB_WRITE, false)
KPROBE(kp_rt_mutex, LB_RT_MUTEX, LB_WRITE, false)

SEC("kprobe")
int BPF_KPROBE(kp_percpu, void *lock, bool reader)
{
	wait_begin(ctx, (u64)lock, LB_PERCPU_RWSEM, reader ? LB_READ : LB_WRITE, false, true);
	return 0;
}

KRETPROBE(kr_void, 0)
KRETPROBE(kr_int, ret)
KRETPROBE(kr_pointer, POINTER_RESULT(ret))

#include "release.bpf.h"
#include "hold.bpf.h"

/* Waits in progress: every task that has one, with its stack as it is now. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct lb_now);
} now_scratch SEC(".maps");

SEC("iter/task")
int waits_in_progress(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct lb_now *rec;
	struct lb_task *t;
	struct lb_slot *s;
	u32 zero = 0, tid;
	long n;

	if (!task)
		return 0;
	if (use_task_storage && !has_storage(task))
		return 0;
	tid = task->pid;
	if (use_task_storage)
		t = bpf_task_storage_get(&task_storage, task, 0, 0);
	else
		t = bpf_map_lookup_elem(&task_hash, &tid);
	if (!t)
		return 0;
	s = innermost(t);
	rec = bpf_map_lookup_elem(&now_scratch, &zero);
	if (!s || !rec)
		return 0;
	rec->tid = tid;
	rec->tgid = task->tgid;
	bpf_probe_read_kernel(rec->comm, sizeof(rec->comm), task->comm);
	rec->slot = *s;
	n = bpf_get_task_stack(task, rec->frame, sizeof(rec->frame), 0);
	rec->n_frames = n > 0 ? n / sizeof(u64) : 0;
	bpf_seq_write(ctx->meta->seq, rec, sizeof(*rec));
	return 0;
}
