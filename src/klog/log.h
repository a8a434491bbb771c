/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_KLOG_LOG_H
#define LOCKBLAME_KLOG_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "klog/line.h"
#include "klog/reader.h"
#include "util/err.h"

/* What a kernel log says about tasks that wait: its blocks taken apart, nothing concluded yet. Each task
 * is there once for each boot: a warning that is repeated updates it. All strings belong to the log. */

/* Where a task is known from. A set. */
#define KLOG_HUNG (1u << 0)    /* "blocked for more than N seconds" */
#define KLOG_OWNER (1u << 1)   /* its stack was printed because it owns what another waits for */
#define KLOG_SHOWN (1u << 2)   /* SysRq-w, SysRq-t, or a header of which no more is left */
#define KLOG_RUNNING (1u << 3) /* was on a CPU when its stack was taken (NMI, soft lockup, warning) */
#define KLOG_STALL (1u << 4)   /* RCU waits for it */
#define KLOG_LOCKDEP (1u << 5) /* lockdep lists what it holds */

#define KLOG_MAX_FRAMES 64
#define KLOG_MAX_TIMES 8
#define KLOG_MAX_TASKS 65536 /* more are counted, not kept */

/* An entry of lockdep's list of held locks. The last one of a task may be what it waits for. */
struct klog_held {
	uint64_t addr;	  /* 0: not printed */
	const char *name; /* "rtnl_mutex", "(work_completion)(&m->wq)" */
	const char *at;	  /* the function that took it */
};

/* The kernel's own word on who holds a lock ("likely owned by"). */
struct klog_owner {
	const char *kind; /* kind_name(): "mutex", "semaphore", "rwsem"; NULL: it said nothing */
	pid_t pid;	  /* 0: "the owner is not found" */
	const char *comm;
	char mode;	  /* of the waiter: 'r', 'w'; 0: not said */
	char owner_mode;
	bool last;	  /* "likely last held by": semaphores */
};

struct klog_task {
	unsigned int from; /* KLOG_ bits */
	int boot;
	pid_t pid;	   /* 0: not in the log */
	pid_t tgid;	   /* 0: not printed */
	const char *comm;
	char state;	   /* 0: not printed */
	int cpu;	   /* -1 */
	int seconds[KLOG_MAX_TIMES]; /* as printed by the first warnings and, in the last place, by the last one */
	unsigned int n_seconds;
	unsigned int warnings;
	bool io_wait;	   /* "blocked in I/O wait" */
	double first, last; /* of the warnings, seconds since boot; < 0: not known */
	const char *when_first, *when_last; /* wall clock as written, or NULL */
	const char *work;  /* "events_freezable mmc_rescan" */
	const char *frames[KLOG_MAX_FRAMES]; /* innermost first, "func+0x1a/0x20", never with the ? */
	bool sure[KLOG_MAX_FRAMES]; /* false: printed with a question mark */
	unsigned int n_frames, n_sure;
	struct klog_owner owner;
	struct klog_held *held;
	unsigned int n_held;
	int n_held_said;   /* "3 locks held by": the entries may be missing; -1: nothing was said */
	unsigned int snapshot; /* of lockdep's lists, from 1; a later one replaces those before */
};

struct klog_stats {
	uint64_t bytes;
	uint64_t cut, nul;  /* lines too long, lines with bytes 0 */
	uint64_t dropped;   /* "N messages dropped", "N callbacks suppressed": said by the kernel */
	uint64_t too_many;  /* tasks above KLOG_MAX_TASKS */
	uint64_t headless;  /* headers of which no pid could be read */
	bool suppressed;    /* "Future hung task reports are suppressed" */
	bool backwards;	    /* times that jump back without a boot in between */
};

struct klog;

struct klog *klog__new(void);
void klog__free(struct klog *k);

/* Reads to the end of the file. 0 or -errno. */
int klog__read(struct klog *k, int fd, struct err *e);
int klog__read_mem(struct klog *k, const void *data, size_t len, struct err *e);

size_t klog__n_tasks(const struct klog *k);
struct klog_task *klog__at(const struct klog *k, size_t i);
/* NULL when there is none. */
struct klog_task *klog__find(const struct klog *k, int boot, pid_t pid);
int klog__n_boots(const struct klog *k);
/* "6.1.0-13-amd64" of that boot, NULL when the log does not say. */
const char *klog__release(const struct klog *k, int boot);
const struct klog_stats *klog__stats(const struct klog *k);

#endif
