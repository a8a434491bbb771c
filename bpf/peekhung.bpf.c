// SPDX-License-Identifier: GPL-2.0
/* One pass over all tasks, written as struct peek_hung records, each with its kernel stack, to whoever
 * reads the iterator. */
#include "peektypes.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct seq_file;
struct task_struct;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#define PF_KTHREAD 0x00200000

const volatile struct peek_hung_offsets offs;

__u64 hung_now; /* the scheduler's clock on the reader's CPU, 0 where it can't be read */
struct peek_hung hung_rec;
__u64 hung_frames[PEEK_FRAMES];

static __u64 get64(const char *p, __u32 off)
{
	__u64 v = 0;

	if (off != PEEK_NONE)
		bpf_probe_read_kernel(&v, sizeof(v), p + off);
	return v;
}

static __u32 get32(const char *p, __u32 off)
{
	__u32 v = 0;

	if (off != PEEK_NONE)
		bpf_probe_read_kernel(&v, sizeof(v), p + off);
	return v;
}

static const char *rq_of(const char *task)
{
	const char *cfs = (const char *)get64(task, offs.cfs_rq);

	if (!cfs || offs.cfs_rq_rq == PEEK_NONE)
		return 0;
	return (const char *)get64(cfs, offs.cfs_rq_rq);
}

static void read_clock(const char *task, struct peek_hung *r)
{
	const char *rq = rq_of(task);

	r->irq_gap = 0;
	r->exec_start = get64(task, offs.exec_start);
	r->last_arrival = get64(task, offs.last_arrival);
	if (rq && offs.rq_clock != PEEK_NONE && offs.rq_clock_task != PEEK_NONE)
		r->irq_gap = get64(rq, offs.rq_clock) - get64(rq, offs.rq_clock_task);
}

static void read_now(void)
{
	const char *current = (const char *)bpf_get_current_task(), *rq = rq_of(current);

	hung_now = rq ? get64(rq, offs.rq_clock) : 0;
	if (!hung_now)
		hung_now = get64(current, offs.last_arrival);
}

static void read_task(const char *task, struct peek_hung *r)
{
	r->task = (__u64)task;
	r->tid = get32(task, offs.pid);
	r->tgid = get32(task, offs.tgid);
	r->flags = get32(task, offs.flags);
	r->mm = r->flags & PF_KTHREAD ? 0 : get64(task, offs.mm);
	r->start_ns = get64(task, offs.start_time);
	r->state = get32(task, offs.state);
	r->exit_state = get32(task, offs.exit_state);
	r->on_cpu = get32(task, offs.on_cpu) & 0xff; /* an int once, a byte since: never above 1 */
	r->cpu = get32(task, offs.cpu);
	r->sp = get64(task, offs.sp);
	r->stack = get64(task, offs.stack);
	r->switches = get64(task, offs.nvcsw) + get64(task, offs.nivcsw);
	r->parent = get64(task, offs.parent);
	r->real_parent = get64(task, offs.real_parent);
	r->vfork_done = get64(task, offs.vfork_done);
	r->blocker = get64(task, offs.blocker);
	r->blocked_on = get64(task, offs.blocked_on);
	r->pi_blocked_on = get64(task, offs.pi_blocked_on);
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), task + offs.comm);
	read_clock(task, r);
}

SEC("iter/task")
int peek_hung(struct bpf_iter__task *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct task_struct *task = ctx->task;
	long n = 0;

	if (!task)
		return 0;
	read_now();
	read_task((const char *)task, &hung_rec);
	if (!hung_rec.on_cpu)
		n = bpf_get_task_stack(task, hung_frames, sizeof(hung_frames), 0);
	if (n < 0)
		n = 0;
	if (n > (long)sizeof(hung_frames))
		n = sizeof(hung_frames);
	hung_rec.n_frames = n / 8;
	bpf_seq_write(seq, &hung_rec, sizeof(hung_rec));
	if (n > 0)
		bpf_seq_write(seq, hung_frames, n);
	return 0;
}
