/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_MODEL_TABLE_H
#define LOCKBLAME_MODEL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/snapshot.h"

/* One row per what: tables of waits; from BLAME_HOLDER on of blame; from HOLD_LOCK on of holds, with the keys
 * that waits have, in the same order. */
enum table_by {
	BY_LOCK, BY_SITE, BY_PROCESS, BY_COMM, BY_KIND, BY_CGROUP, BY_STACK, BY_N,
	BLAME_HOLDER = BY_N, BLAME_LOCK, BLAME_SITE, BLAME_PROCESS, BLAME_STACK, BLAME_PAIR, BLAME_PAIR_STACK,
	HOLD_LOCK, HOLD_SITE, HOLD_PROCESS, HOLD_COMM, HOLD_KIND, HOLD_CGROUP, HOLD_STACK,
	TABLE_BY_N,
};

/* What a table is of. */
enum table_of { OF_WAITS, OF_BLAME, OF_HOLDS };

enum table_of table_of(enum table_by by);
/* The key alone: that of a table of holds is the one of waits. */
enum table_by table_key(enum table_by by);

/* "lock", "site", ... ; by name: the key of a table of that sort, or -1. */
const char *table_by_name(enum table_by by);
int table_by_parse(const char *name, enum table_of of);

/* How the model learns names without knowing where they come from. Returned strings are interned: equal
 * text, equal pointer, valid as long as the namer. */
struct table_names {
	/* The site of a stack id, or of raw frames (innermost first); NULL when not known. */
	const char *(*site)(void *ctx, int32_t kstack);
	const char *(*site_of)(void *ctx, const uint64_t *frames, unsigned int n);
	/* What the lock was called when a task of process tgid first waited for it: waits of different
	 * objects that had the same address one after the other are kept apart by it. */
	const char *(*first_name)(void *ctx, uint64_t lock, unsigned int kind, uint32_t tgid);
	/* The same for display: brought up to date where the object is still there. */
	const char *(*identity)(void *ctx, uint64_t lock, unsigned int kind, uint32_t tgid);
	/* Its class: the name without the instance. */
	const char *(*lock_class)(void *ctx, uint64_t lock, unsigned int kind, uint32_t tgid);
	/* The lock that the address belongs to (differs from it on PREEMPT_RT only). */
	uint64_t (*lock_of)(void *ctx, uint64_t lock, unsigned int kind, uint32_t tgid);
	/* Who holds it at this moment, in words ("mysqld/1234", "mysqld/1234?" when only likely), or
	 * NULL. May be NULL itself. */
	const char *(*owner)(void *ctx, uint64_t lock, unsigned int kind);
	/* The path of a cgroup, or its id as a number. */
	const char *(*cgroup)(void *ctx, uint64_t id);
	void *ctx;
};

/* A row. Members that are not part of the table's key are those of the largest share (top lock, top
 * site), or 0 / NULL when there is none. */
struct row {
	uint64_t lock;
	uint64_t cgroup;
	uint32_t tgid;
	int32_t kstack;
	int32_t ustack;
	uint8_t kind;
	uint8_t mode;
	char comm[LB_COMM_LEN];
	const char *site;
	const char *identity;
	const char *cls;
	const char *owner;
	const char *cgroup_path;
	const char *first_name; /* by lock, by stack: part of the key, see table_names.first_name */
	uint32_t name_tgid; /* the process through whose waits identity was found */
	uint32_t n_locks; /* how many different locks are in the row */
	double site_share; /* of the row's split time: 0 to 1 */
	/* Of a row of blame: the holder (tid 0: the row is a process; both 0: nobody). site, kstack and
	 * comm are the holder's, total_ns is the blame, count the charges and max_ns the largest. */
	uint32_t tid;
	uint8_t certainty, known_by; /* enum lb_certainty, lb_known_by */
	const char *waiter_site;
	const char *waiter; /* command name */
	int32_t waiter_kstack;
	uint64_t pending_ns; /* the part of total_ns of a hold that goes on */
	/* figures */
	uint64_t count;
	uint64_t failed;
	uint64_t total_ns;
	uint64_t spin_ns;
	uint64_t max_ns;
	bool has_hist; /* false: rows by site and by stack know no percentiles */
	uint64_t hist[LB_HIST_BUCKETS];
	/* waits in progress */
	uint32_t waiting_now;
	uint64_t longest_now_ns;
	int64_t open_ns; /* total_ns + open_ns is the time waited within the interval: waits in progress
			  * count up to its end, those of before no longer before its begin */
	/* rows by site and by stack: how far they are estimates */
	uint64_t walked;
	uint64_t sampled; /* of the walked; 0: the row is exact */
	double stderr_ns; /* standard error of total_ns */
};

struct table {
	enum table_by by;
	enum table_by key; /* table_key(by) */
	struct row *rows;
	size_t n_rows;
	uint64_t total_ns; /* of all rows, for shares */
	double seconds;	   /* length of the interval, for rates */
	uint32_t spin_kinds; /* mask of kinds whose spin time is known */
};

/* Groups a snapshot (an interval or a running sum). Rows are sorted by total time, largest first.
 * seconds: length of what it covers. 0 or -ENOMEM; table__fini in any case. */
int table__build(struct table *t, enum table_by by, const struct snapshot *s, double seconds,
		 const struct table_names *names);
void table__fini(struct table *t);

/* The time waited within what the table covers, whether or not the waits have ended. */
uint64_t row__blocked_ns(const struct row *r);

/* q-quantile (0..1) of a row's histogram, ns: interpolated within its power-of-two bucket and never
 * above the maximum. 0 when empty. */
uint64_t row__quantile(const struct row *r, double q);

#endif
