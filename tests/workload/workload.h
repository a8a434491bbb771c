/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_WORKLOAD_H
#define LOCKBLAME_WORKLOAD_H

/* Small things that the workloads share. Header only: each workload is one static program. */
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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

#endif
