/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_CMD_SESSION_H
#define LOCKBLAME_CMD_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/options.h"
#include "collect/collect.h"

struct namer;

/* A tracing run: collector, names, the command under -- , timers and signals, in one epoll loop. The
 * commands differ in what they do at each tick and event. */
struct session {
	struct lb_opts *opts;
	struct collect *collect;
	struct namer *namer;
	struct snapshot prev;	/* last read */
	struct snapshot delta;	/* of the last interval */
	struct snapshot total;	/* since the start */
	double delta_seconds;
	double total_seconds;
	uint64_t start_ns;	/* CLOCK_MONOTONIC */
	bool stopped;		/* the run is ending: this tick is the last */
	int exit_status;	/* of the command under --, or -1 */
	/* internal */
	int epoll_fd, signal_fd, timer_fd, tune_fd;
	int child_pid, child_go_fd;
	uint64_t ticks;
	uint64_t deadline_ns;
	bool end;
};

/* What a command adds to the loop. All may be NULL. A hook returns 0 to go on, 1 to end the run, or
 * -errno with e filled. */
struct session_ops {
	uint64_t default_interval_ns;
	bool tick_counts; /* -n COUNT counts ticks */
	bool lazy; /* ticks are upkeep: only when the tables fill up, and at the end */
	int (*tick)(struct session *s, void *ctx, struct err *e); /* after each read, and at the end */
	int (*event)(struct session *s, void *ctx, const struct lb_event *ev, struct err *e);
	int (*key)(struct session *s, void *ctx, struct err *e); /* stdin is readable, or SIGWINCH came */
	void *ctx;
};

/* Sets everything up: checks the options that need the system (pids, cgroup, lock symbol), loads,
 * attaches, starts the command. cfg carries what the command itself wants. 0 or -errno; -EINVAL when
 * it is the user's mistake (exit 2). Nothing is left attached after a failure. */
int session__open(struct session *s, struct lb_opts *o, struct collect_config *cfg, struct err *e);

/* Runs until the duration, the count, the command, or a signal ends it. 0, or -errno. */
int session__run(struct session *s, const struct session_ops *ops, struct err *e);
void session__close(struct session *s);

/* Changes the interval while running. */
void session__set_interval(struct session *s, uint64_t ns);

/* Reads the tables now and fills delta and total. */
int session__read(struct session *s, struct err *e);

#endif
