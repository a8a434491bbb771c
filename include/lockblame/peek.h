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

_Static_assert(sizeof(struct peek_req) == 16, "shared layout");
_Static_assert(sizeof(struct peek_task) == 48, "shared layout");

#endif
