/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_UTIL_CLOCK_H
#define LOCKBLAME_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in ns: the clock of the BPF programs' timestamps. */
static inline uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

#endif
