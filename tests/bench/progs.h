/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_BENCH_PROGS_H
#define LOCKBLAME_BENCH_PROGS_H

#include <stdint.h>
#include <sys/types.h>

#define PROGS_MAX 64

/* BPF programs that a process has attached. They are kept open, so that their counts can still be read
 * when the process is gone. */
struct progs {
	int fd[PROGS_MAX];
	uint32_t id[PROGS_MAX];
	unsigned int n;
};

/* Waits until pid has links (at most timeout_ms) and opens their programs. 0 or -errno. More links may
 * come while we look: call progs__find again later. */
int progs__find(struct progs *p, pid_t pid, unsigned int timeout_ms);

/* What they ran for, and how often. Needs BPF_STATS_RUN_TIME from before they were attached. */
void progs__total(const struct progs *p, uint64_t *ns, uint64_t *runs);

void progs__one(int fd, uint64_t *ns, uint64_t *runs);

void progs__close(struct progs *p);

#endif
