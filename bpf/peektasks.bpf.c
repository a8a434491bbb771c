// SPDX-License-Identifier: GPL-2.0
/* One pass over all tasks, written as struct peek_task records to whoever reads the iterator. */
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

const volatile struct peek_task_offsets offs;

static __u64 get64(const char *p)
{
	__u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), p);
	return v;
}

static __u32 get32(const char *p)
{
	__u32 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), p);
	return v;
}

SEC("iter/task")
int peek_tasks(struct bpf_iter__task *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	const char *task = (const char *)ctx->task;
	struct peek_task r = {};

	if (!task)
		return 0;
	r.task = (__u64)task;
	r.tid = get32(task + offs.pid);
	r.tgid = get32(task + offs.tgid);
	/* A kernel thread may borrow a process's mm (kthread_use_mm); that makes it no owner. */
	if (!(get32(task + offs.flags) & PF_KTHREAD))
		r.mm = get64(task + offs.mm);
	r.start_ns = get64(task + offs.start_time);
	bpf_probe_read_kernel(r.comm, sizeof(r.comm), task + offs.comm);
	bpf_seq_write(seq, &r, sizeof(r));
	return 0;
}
