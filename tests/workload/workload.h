/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_WORKLOAD_H
#define LOCKBLAME_WORKLOAD_H

/* Small things that the workloads share. Header only: each workload is one static program. */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static inline long number(const char *s)
{
	char *end;
	long v = strtol(s, &end, 10);

	if (*end || end == s || v < 0) {
		fprintf(stderr, "'%s' is not a number\n", s);
		exit(2);
	}
	return v;
}

/* Reads /proc/PID/cmdline all the time, as ps does, under the given name, until the process or the caller's
 * parent ends. */
static inline void read_cmdline_of(pid_t pid, const char *name)
{
	char path[64], buf[256];

	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	for (;;) {
		int fd = open(path, O_RDONLY);

		if (fd < 0)
			_exit(0);
		while (read(fd, buf, sizeof(buf)) > 0)
			;
		close(fd);
	}
}

#endif
