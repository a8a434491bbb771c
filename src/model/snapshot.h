/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_MODEL_SNAPSHOT_H
#define LOCKBLAME_MODEL_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "lockblame/abi.h"

/* What the collector read at one moment: the kernel's tables as they are, cumulative since the start.
 * The difference of two of them is an interval. */
struct wait_cell {
	struct lb_wait_key key;
	struct lb_wait_val val;
};

struct split_cell {
	struct lb_stack_key key;
	struct lb_stack_val val;
};

struct snapshot {
	uint64_t when_ns; /* CLOCK_MONOTONIC */
	struct wait_cell *waits;
	size_t n_waits, n_waits_live; /* rows past the live ones have just left the kernel's table */
	struct split_cell *splits;
	size_t n_splits, n_splits_live;
	struct lb_now *now; /* waits in progress, innermost of each task */
	size_t n_now;
	struct lb_now *before; /* of an interval: those in progress when it began, at before_ns */
	size_t n_before;
	uint64_t before_ns;
	struct lb_stats stats;
};

/* Frees what *s owns and zeroes it. */
void snapshot__fini(struct snapshot *s);

/* out = cur - prev: the rows that changed, with counts and times of the interval; maxima stay those
 * since the start, except that a row whose maximum did not move gets the upper edge of its highest
 * bucket in use, clipped to that maximum. prev may be NULL (everything since the start). now, stats
 * and when are cur's, stats differenced. out owns copies. 0 or -ENOMEM. */
int snapshot__delta(struct snapshot *cur, struct snapshot *prev, struct snapshot *out);

/* Adds the interval d to the running sum acc (zeroed at first): rows by key, counters added, now and
 * when replaced. 0 or -ENOMEM. */
int snapshot__add(struct snapshot *acc, const struct snapshot *d);

#endif
