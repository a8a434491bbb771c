/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_HUNG_PASS_H
#define LOCKBLAME_HUNG_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kmem/kmem.h"

/* Bits of task_struct.state that are the same on all kernels from 5.10 on. */
#define TASK_S 0x0001u
#define TASK_D 0x0002u
#define TASK_STOPPED_ 0x0004u
#define TASK_TRACED_ 0x0008u
#define TASK_PARKED_ 0x0040u
#define TASK_WAKEKILL_ 0x0100u
#define TASK_NOLOAD_ 0x0400u
#define TASK_RTLOCK_ 0x1000u
#define TASK_FROZEN_ 0x8000u

/* A task as one pass over all of them saw it. */
struct hung_task {
	uint64_t task, mm, start_ns;
	uint64_t sp, stack; /* 0: not known */
	uint64_t switches;
	uint64_t idle_ns;    /* has not run for at least so long; 0 while it runs */
	uint64_t running_ns; /* on a CPU: for so long; 0: not known */
	uint64_t parent, real_parent, vfork_done;
	uint64_t blocker, blocked_on, pi_blocked_on;
	uint32_t state, exit_state, flags, cpu;
	bool on_cpu;
	pid_t tid, tgid;
	char comm[LB_COMM_LEN];
	const uint64_t *frames; /* innermost first */
	unsigned int n_frames;
};

struct hung_pass;

/* A pass over the tasks of the kernel that k reads: the program is loaded on the first use of p (NULL
 * before). 0, or an error with e filled; -EOPNOTSUPP when this kernel allows no task iterator. */
int hung_pass__read(struct hung_pass **p, struct kmem *k, struct err *e);
void hung_pass__free(struct hung_pass *p);

/* The rows of the last read, by address of the task_struct. */
const struct hung_task *hung_pass__rows(const struct hung_pass *p, size_t *n);
/* NULL: no such task. */
const struct hung_task *hung_pass__by_addr(const struct hung_pass *p, uint64_t task);

/* R S D T t Z X I P as ps has them. */
char hung_task__state(const struct hung_task *t);

#endif
