/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_BENCH_PROC_H
#define LOCKBLAME_BENCH_PROC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROC_OUT 65536

/* A program that is measured, or that measures. */
struct proc {
	pid_t pid;
	int out_fd;	    /* the other end is its standard output */
	uint64_t start_ns;  /* CLOCK_MONOTONIC, just before the fork */
	char out[PROC_OUT]; /* what it printed, after proc__wait */
	size_t len;
	long max_rss_kb;
};

uint64_t now_ns(void);

/* Starts argv (NULL at its end). 0 or -errno. */
int proc__start(struct proc *p, const char *const *argv);

/* Reads all it prints and reaps it. 0 when it exited with 0, else -EIO or -errno. */
int proc__wait(struct proc *p);

/* Start and wait; says on stderr what failed. */
int proc__run(struct proc *p, const char *const *argv);

/* CPU time of a live process so far in ns, from its schedstat. Negative when it cannot be read. */
int64_t proc__cpu_ns(pid_t pid);

/* The number after "key": in its output, where it stands last, or -1. */
double proc__number(const struct proc *p, const char *key);

#endif
