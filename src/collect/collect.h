/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_COLLECT_COLLECT_H
#define LOCKBLAME_COLLECT_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/hooks.h"
#include "collect/kernel.h"
#include "lockblame/abi.h"
#include "model/snapshot.h"
#include "util/err.h"

/* What to collect. Zero means: no filter, default size. */
struct collect_config {
	uint32_t kinds; /* mask; 0: the sleeping kinds */
	uint64_t min_duration_ns;
	uint64_t lock; /* address */
	const uint32_t *pids, *tids;
	unsigned int n_pids, n_tids;
	const char *comm;
	int cgroup_fd;	   /* -1: none */
	bool events;	   /* send single waits through the ring */
	bool split;	   /* keep the split by stack */
	bool owner;	   /* read the owner when a wait begins */
	bool cgroup;	   /* split rows by cgroup */
	bool holds;	   /* follow holds instead of waits: everything is of these then */
	bool blame;	   /* keep accounts, charge holders */
	bool holder_split; /* with blame: split by the holder's stack */
	bool pairs;	   /* with blame: by both stacks */
	bool user_stacks;
	bool all_stacks;
	bool no_spin;
	uint32_t map_entries; /* rows of each table, 16384 */
	uint32_t ring_size;   /* bytes, rounded up to a power of two pages, 4 MiB */
	enum hook_family hooks;
};

struct collect;

/* Loads and attaches everything. On success *out is owned by the caller (collect__free). On failure
 * nothing is attached, and e says in one line what was missing and what to do. */
int collect__open(const struct collect_config *cfg, struct collect **out, struct err *e);
/* Detaches (begins before ends) and frees. NULL is fine. */
void collect__free(struct collect *c);

/* Stops new waits from being opened; those that are open may still end. */
void collect__stop(struct collect *c);

/* Reads all tables into *s (cumulative; the caller calls snapshot__fini). Makes room in the kernel's
 * tables when they are nearly full, by taking out rows that have not changed since the last read; what
 * is taken out stays part of the snapshots. 0 or -errno. */
int collect__read(struct collect *c, struct snapshot *s, struct err *e);

/* Whether the tables could be half full with what came since the last collect__read: cheap to ask, and
 * as long as the answer is no, nothing is lost by not reading them. */
bool collect__filling_up(struct collect *c);

/* Frames of a stack id, innermost first; returns how many (at most max), or -errno. Ids stay valid for
 * the life of the collector. */
int collect__stack(struct collect *c, int32_t id, uint64_t *frames, unsigned int max);

/* Single events (config.events) and new rows: an epoll-able fd, and the call that hands what is there
 * to fn. fn
 * returns 0 to go on; anything else ends the drain and is returned. */
typedef int (*collect_event_fn)(void *ctx, const struct lb_event *ev);
int collect__event_fd(struct collect *c);
int collect__drain(struct collect *c, collect_event_fn fn, void *ctx);

/* Called from collect__drain for each lock that is waited for for the first time (some again later), so
 * that it can be named while it and its users still exist. */
typedef void (*collect_born_fn)(void *ctx, const struct lb_born *b);
void collect__set_born(struct collect *c, collect_born_fn fn, void *ctx);

/* Keeps the number of stack walks within budget: call a few times a second. */
void collect__tune(struct collect *c);
/* The duration from which on stacks are always walked, ns; 0 with all_stacks. */
uint64_t collect__walk_threshold(const struct collect *c);

const struct hooks *collect__hooks(const struct collect *c);
const struct kernel *collect__kernel(const struct collect *c);

#endif
