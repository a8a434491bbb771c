/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_MODEL_CHAIN_H
#define LOCKBLAME_MODEL_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lockblame/abi.h"
#include "model/reasons.h"

/* Who waits for whom, to the end: the same graph whether the running kernel was looked at (hung) or its log
 * was read (explain). Use: chain__task() for each task, fill in what is known, chain__solve(), then read
 * the hangs. Everything that is not filled in is zero and means "not known".
 *
 * Strings in it are the caller's, or made to last as long as the chain by chain__str(). */
struct chain;
struct chain_task;

/* Where a holder is known from, weakest last; basis says it in words. */
struct chain_holder {
	struct chain_task *task;     /* NULL: not known */
	enum lb_certainty certainty; /* LB_EXACT, LB_LIKELY; LB_UNKNOWN without a task */
	enum lb_mode mode; /* how it holds the lock */
	bool mode_known;
	const char *basis;	     /* "owner word of the lock", "last reader that came", ...; for an unknown
				      * holder: why it is not known */
};

/* What a task waits for. A lock has a kind of lb_kind's names; what is no lock has a reason, whose kind is
 * used. Both may be set: a lock whose holder is no task (a frozen file system). */
struct chain_wait {
	const char *kind; /* kind_name(): "rwsem", "mutex", ...; NULL: no lock */
	enum lb_mode mode;
	bool mode_known;
	uint64_t lock;	      /* address, 0: not known */
	const char *identity; /* "mmap_lock of mysqld/1234"; NULL: not known */
	const struct reason *reason;
	const char *object;   /* what the reason is about: "/data", "sda (8:0)" */
	unsigned int place, queue; /* place in the queue from 1, of so many; 0: not known */
	const char *sources;  /* where this is known from: "waiter on its stack, task->blocker" */
	const char *doubt;    /* a sentence when sources disagree, else NULL */
};

struct chain_task {
	/* filled by the caller */
	pid_t pid, tid;
	char comm[LB_COMM_LEN + 48]; /* the log may have longer ones (workers) */
	uint64_t key;	    /* the caller's own, e.g. the task_struct */
	char state;	    /* R S D T t Z X I K; 0: not known */
	bool hung;	    /* blocked for longer than what was asked for: counted and shown by itself */
	uint64_t blocked_ns; /* has not run for so long; 0: not known */
	uint64_t running_ns; /* state R on a CPU: for so long without a pause; 0: not known */
	int cpu;	     /* -1: not known, or not on one */
	bool on_cpu;
	struct chain_wait wait;
	struct chain_holder holder;
	/* A task queued before this one that has to be served first although it does not hold the lock: a
	 * writer in front of a reader. The tree hangs from it, the holder stays the holder. */
	struct chain_task *behind;
	struct chain_task **candidates; /* who else may hold it (read-held locks); chain__candidate() */
	unsigned int n_candidates;
	const char *const *stack; /* innermost first, "func+0x1a" */
	int n_stack;
	const char *site; /* the first frame that is not locking code */

	/* results of chain__solve() */
	struct chain_task *up;	   /* what it hangs from: behind, else the holder; NULL: a root */
	struct chain_task *first_child, *next; /* children: longest blocked first */
	struct chain_task *root;   /* itself for a root; for a task in or behind a cycle: the one where the
				    * cycle begins (most waiters) */
	unsigned int depth;	   /* 0 for a root and for the members of a cycle */
	unsigned int waiting;	   /* hung tasks below it */
	bool in_cycle;
	/* It stands for a thing that is no task (a frozen file system that several wait for): only comm,
	 * wait.reason and wait.object mean something; tid is 0. */
	bool thing;
};

/* One root with everything that waits for it. */
struct chain_hang {
	struct chain_task *root; /* of a cycle: a member */
	unsigned int waiting;	 /* hung tasks behind the root; of a cycle: its members included */
	bool cycle;
	unsigned int cycle_len;
	enum lb_certainty certainty; /* of the weakest edge in it: LB_EXACT or LB_LIKELY */
	uint64_t longest_ns;	     /* longest blocked_ns in it */
};

/* Losses of a look at a moving system. */
struct chain_loss {
	unsigned int torn;	 /* edges that were another at the second look, dropped */
	unsigned int ended;	 /* tasks that went on or exited while we looked */
	unsigned int unreadable; /* tasks whose lock could not be found */
	unsigned int disagree;	 /* tasks whose sources name different locks */
};

struct chain *chain__new(void);
void chain__free(struct chain *c);

/* The task with this thread id: new (zeroed, cpu -1) or the one that is there already; pointers stay good.
 * NULL when out of memory. tid 0 makes a new one each time (a log may not tell). */
struct chain_task *chain__task(struct chain *c, pid_t tid);
struct chain_task *chain__find(const struct chain *c, pid_t tid);
size_t chain__n_tasks(const struct chain *c);
struct chain_task *chain__at(const struct chain *c, size_t i);

/* A string that lives as long as the chain (NULL gives NULL). */
const char *chain__str(struct chain *c, const char *s);
/* Adds a possible holder, once. 0 or -ENOMEM. */
int chain__candidate(struct chain *c, struct chain_task *t, struct chain_task *other);
struct chain_loss *chain__loss(struct chain *c);

/* Finds parents, roots, cycles, depths. May be called again after changes. Several hung tasks that wait
 * for the same thing without a holder (same lock, or same reason and object) get one root that is a thing.
 * 0 or -ENOMEM. */
int chain__solve(struct chain *c);

/* After chain__solve(): the hangs that hold at least one hung task, worst first (most waiting, then
 * longest). Deadlocks come before everything. */
const struct chain_hang *chain__hangs(const struct chain *c, size_t *n);

/* Number of tasks with .hung. */
unsigned int chain__n_hung(const struct chain *c);

/* One plain sentence without full stop: what the root has, what it waits for, and how many wait behind it:
 * "cp/812 has held mmap_lock of mysqld/1234 for write, at least 131 s; it waits for the frozen file system
 * /data; 14 tasks wait behind it". Returns buf. */
char *chain__sentence(const struct chain *c, const struct chain_hang *h, char *buf, size_t size);

/* "cp/812", "cp/812 (thread of 800)" when tid and pid differ, "a frozen file system". */
char *chain__name(const struct chain_task *t, char *buf, size_t size);

/* "waits for mmap_lock of x/1 (rwsem) to write", or what the reason says, or "is running on CPU 1, for 3 s".
 * Goes behind a name. */
char *chain__does(const struct chain_task *t, char *buf, size_t size);

/* "1.2 s", "131 s", "12 min", "3.4 h", rounded down. Returns buf. */
char *chain__duration(uint64_t ns, char *buf, size_t size);

/* Advice for the hang's root, or NULL. */
const char *chain__advice(const struct chain_hang *h);

/* Whether two tasks wait in the same way, so that one line may stand for both: same name, parent, lock or
 * reason, mode and site, and nobody waits for either. */
bool chain__alike(const struct chain_task *a, const struct chain_task *b);

#endif
