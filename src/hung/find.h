/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_HUNG_FIND_H
#define LOCKBLAME_HUNG_FIND_H

#include "hung/pass.h"
#include "kmem/kmem.h"

/* Which lock a task waits for, found afterwards: nothing was recorded when the wait began. Each source
 * is asked by itself, so that they can be seen to agree. */
enum hung_source {
	HUNG_STACK,	 /* the waiter record on its kernel stack, by its links in both directions */
	HUNG_BLOCKER,	 /* task->blocker (6.16+) */
	HUNG_BLOCKED_ON, /* task->blocked_on (mutexes, 6.17+) */
	HUNG_PI,	 /* task->pi_blocked_on (rt-mutexes: on PREEMPT_RT nearly every lock) */
	HUNG_WRITER,	 /* the lock's own word names it as the writer that waits for readers to leave */
	HUNG_N_SOURCES,
};
#define HUNG_ALL_SOURCES ((1u << HUNG_N_SOURCES) - 1)

/* "stack", "blocker", "blocked_on", "pi", "writer": for switching them off in tests. -1: no such word. */
int hung_source_by_name(const char *name);
/* "waiter record on its stack", "task->blocker", ... */
const char *hung_source_words(enum hung_source s);

struct hung_found {
	uint64_t addr[HUNG_N_SOURCES]; /* 0: this source says nothing */
	enum lb_kind kind;
	uint64_t lock;	    /* what is believed: the first that has the task in its queue */
	unsigned int agree; /* bits of the sources that name it */
	bool disagree;	    /* another source names another lock */
};

/* The words of a task's kernel stack from its saved stack pointer up. */
struct hung_stack {
	uint64_t sp;
	size_t n;
	uint64_t word[2048];
};

/* False when it can't be read. */
bool hung_stack__read(struct kmem *k, const struct hung_task *t, struct hung_stack *s);

/* The distinct words that look like kernel pointers, sorted; returns how many (at most max). */
size_t hung_stack__pointers(const struct hung_stack *s, uint64_t *out, size_t max);

/* Asks the sources in the mask. kind is what the frames say (-1: they say nothing, all kinds are tried).
 * st is t's stack. queued: a lock of that kind in whose queue t has been seen already, which spares the
 * search of the stack; 0: none. False: no source found a lock. */
bool hung_find(struct kmem *k, const struct hung_pass *p, const struct hung_task *t, const struct hung_stack *st, int kind,
	       uint64_t queued, unsigned int sources, struct hung_found *out);

#endif
