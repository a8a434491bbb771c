/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_MODEL_SNAPSHOT_H
#define LOCKBLAME_MODEL_SNAPSHOT_H

#include <stdbool.h>
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

struct blame_cell {
	struct lb_blame_key key;
	struct lb_blame_val val;
};

struct hstack_cell {
	struct lb_hstack_key key;
	struct lb_stack_val val;
};

struct pair_cell {
	struct lb_pair_key key;
	struct lb_stack_val val;
};

struct account_cell {
	__u64 lock;
	struct lb_account val;
};

/* The tables. Each has cells of one type: key, then value. */
enum snapshot_set { SET_WAITS, SET_SPLITS, SET_BLAMES, SET_HSTACKS, SET_PAIRS, SET_ACCOUNTS, SET_N };

struct snapshot_set_info {
	const char *map; /* its name in the kernel */
	size_t key_size, size;
	bool gauge; /* a state, not sums: an interval has that of its end */
	void (*sub)(void *val, const void *before); /* the interval's figures out of those since the start */
	void (*add)(void *val, const void *more);
	bool (*empty)(const void *val); /* of an interval: nothing happened */
};

const struct snapshot_set_info *snapshot__set(enum snapshot_set set);

/* The cells of one table. */
struct cells {
	void *p;
	size_t n, live; /* cells past the live ones have just left the kernel's table */
};

struct snapshot {
	uint64_t when_ns; /* CLOCK_MONOTONIC */
	struct cells cells[SET_N];
	struct lb_now *now; /* waits in progress, innermost of each task */
	size_t n_now;
	struct lb_now *before; /* of an interval: those in progress when it began, at before_ns */
	size_t n_before;
	uint64_t before_ns;
	struct lb_stats stats;
};

/* Typed access: the cells of a set, *n how many. */
static inline const struct wait_cell *snapshot__waits(const struct snapshot *s, size_t *n)
{
	*n = s->cells[SET_WAITS].n;
	return s->cells[SET_WAITS].p;
}

static inline const struct split_cell *snapshot__splits(const struct snapshot *s, size_t *n)
{
	*n = s->cells[SET_SPLITS].n;
	return s->cells[SET_SPLITS].p;
}

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
