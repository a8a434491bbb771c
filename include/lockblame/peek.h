/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_PEEK_H
#define LOCKBLAME_PEEK_H

/* What the memory-reading programs (bpf/peek*.bpf.c) and src/kmem/live.c share. The includer has the
 * __u32, __s32 and __u64 types already. */

#define PEEK_BATCH 64	/* ranges read in one run */
#define PEEK_SLOT 256	/* bytes of each of them */
#define PEEK_BULK 16384 /* bytes of a single large range */

struct peek_req {
	__u64 addr;
	__u32 len;
	__s32 err;
};

/* One record of the task pass: field offsets come in, since these programs use no CO-RE (which would
 * make libbpf parse the kernel's BTF once more for each object). */
struct peek_task_offsets {
	__u32 pid, tgid, mm, flags, start_time, comm;
};

struct peek_task {
	__u64 task;
	__u64 mm;
	__u64 start_ns;
	__u32 tid;
	__u32 tgid;
	char comm[16];
};

/* The pass of hung over all tasks, with what tells why they do not run. An offset of PEEK_NONE: this kernel
 * has no such field, and the value is 0. */
#define PEEK_NONE 0xffffffffu
#define PEEK_FRAMES 64

struct peek_hung_offsets {
	__u32 pid, tgid, comm, flags, mm, start_time, state, exit_state, on_cpu, cpu, sp, stack;
	__u32 nvcsw, nivcsw, exec_start, last_arrival, cfs_rq, cfs_rq_rq, rq_clock, rq_clock_task;
	__u32 parent, real_parent, vfork_done, blocker, blocked_on, pi_blocked_on;
};

/* Followed by n_frames return addresses, innermost first. */
struct peek_hung {
	__u64 task, mm, start_ns;
	__u64 sp, stack;    /* saved stack pointer and lowest address of the kernel stack */
	__u64 switches;	    /* how often it has stopped running */
	__u64 exec_start;   /* clock of its CPU without interrupts, when it last ran */
	__u64 last_arrival; /* scheduler clock when it last got a CPU */
	__u64 irq_gap;	    /* scheduler clock less clock without interrupts, on its CPU */
	__u64 parent, real_parent, vfork_done;
	__u64 blocker, blocked_on, pi_blocked_on;
	__u32 tid, tgid, state, exit_state, flags, on_cpu, cpu, n_frames;
	char comm[16];
};

_Static_assert(sizeof(struct peek_hung) == 168, "shared layout");
_Static_assert(sizeof(struct peek_req) == 16, "shared layout");
_Static_assert(sizeof(struct peek_task) == 48, "shared layout");

#endif
