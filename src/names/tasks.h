/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_NAMES_TASKS_H
#define LOCKBLAME_NAMES_TASKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lockblame/abi.h"

/* Names of tasks by tid, from /proc, kept for a while. A tid is reused after its task has gone; the
 * start time tells the old task from the new one, so that nobody inherits a name. */
struct tasks;

struct task_name {
	pid_t tid;
	pid_t tgid;
	/* Since boot, in clock ticks (1/100 s), as /proc/TID/stat says: with tid it names the task. */
	uint64_t start_ticks;
	bool alive; /* at the last look */
	char comm[LB_COMM_LEN];
};

/* proc: where to look, NULL for /proc. max: how many names are kept (0: 8192). NULL when out of
 * memory. */
struct tasks *tasks__new(const char *proc, unsigned int max);
void tasks__free(struct tasks *t);

/* Names the task. start_ns is its task->start_boottime as a BPF program saw it, or 0 when not known:
 * then the task that has the tid now is meant, or, when there is none, the last that was seen with
 * it (alive is false). 0; -ESRCH: the task has gone and was never looked up, or another one has its
 * tid now. Never blocks on a lock of the task: /proc/TID/{stat,status} take none that sleeps.
 * Looks into /proc once per task and epoch (tasks__tick). */
int tasks__get(struct tasks *t, pid_t tid, uint64_t start_ns, struct task_name *out);

/* Makes known what a caller learnt elsewhere (comm and tgid out of a BPF event), for tasks that live
 * too shortly to be found in /proc. start_ns as above, not 0. */
void tasks__learn(struct tasks *t, pid_t tid, pid_t tgid, uint64_t start_ns, const char *comm);

/* Begins a new epoch (an interval of output): names are checked again when asked for. */
void tasks__tick(struct tasks *t);

#endif
