/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_KMEM_TASK_H
#define LOCKBLAME_KMEM_TASK_H

#include "kmem/kmem.h"

/* A task, read from its task_struct. */
struct ktask {
	uint64_t addr;
	uint64_t mm; /* 0: kernel thread, or it has let go of its mm */
	uint64_t leader;
	uint64_t start_ns; /* CLOCK_MONOTONIC at creation: with tid it names the task for ever */
	uint32_t flags;	   /* PF_* */
	pid_t tid;
	pid_t tgid;
	char comm[LB_COMM_LEN]; /* terminated, bytes as the task chose them */
};

#define KTASK_PF_KTHREAD 0x00200000u
#define KTASK_PF_EXITING 0x00000004u

/* 0 when addr is the task_struct of a task that is hashed by its pid, which the kernel's own pid
 * structure confirms by pointing back. -ESRCH: no task, or one that has been reaped (a stale owner
 * pointer); -EFAULT: unreadable. The idle tasks (tid 0) are not hashed and give -ESRCH. */
int ktask__read(struct kmem *k, uint64_t addr, struct ktask *out);

#endif
