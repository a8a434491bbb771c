/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_HUNG_IMPL_H
#define LOCKBLAME_HUNG_IMPL_H

/* Between the parts of a look: tasks (look.c), locks (locks.c), ends that are no locks (ends.c). */
#include "hung/look.h"
#include "kmem/lock.h"

/* A lock that somebody waits for, read once a look. */
struct hung_lock {
	uint64_t addr;
	enum lb_kind kind;
	const char *identity; /* NULL: not known */
	bool is_writers;      /* it keeps writers off a file system */
	int err;	      /* of the owner */
	struct lock_owner owner;
	struct lock_waiter *queue; /* in order */
	size_t n;
	bool more;
	uint64_t readers[16]; /* tasks that may hold it for reading */
	unsigned int n_readers;
	bool searched;
};

struct hung_link {
	struct hung_link *next;
	void *ptr;
};

struct hung_look {
	struct kmem *k;
	struct ksyms *ks;
	struct identities *ids;
	struct hung_pass *pass;
	unsigned int sources;
	uint64_t min_ns;
	struct chain *chain;
	struct chain_task **todo; /* still to be filled in */
	size_t n_todo, cap_todo;
	void *locks;		 /* tsearch tree of struct hung_lock, by address */
	void *queued;		 /* tsearch tree of struct hung_queued, by task */
	void *names;		 /* tsearch tree of struct hung_name, by address */
	struct hung_link *memory; /* stacks of the chain */
	struct hung_stack *stack; /* of the task that is being looked at */
	uint64_t sched_start, sched_end; /* the kernel's scheduling functions; 0: not known */
	bool sched_asked;
	unsigned int n_seen;
};

/* Memory until the next look. */
void *hung_look__alloc(struct hung_look *l, size_t size);

/* The task in the chain, to be filled in when it is new. NULL: out of memory. */
struct chain_task *hung_look__add(struct hung_look *l, const struct hung_task *t);
/* The same by address of the task_struct, NULL too when the pass has not seen it. */
struct chain_task *hung_look__add_addr(struct hung_look *l, uint64_t task);

/* frames.c: names of t's kernel stack, innermost first, *n of them; NULL: none. l->stack is t's. */
const char **hung_frames(struct hung_look *l, const struct hung_task *t, int *n);
void hung_frames__fini(struct hung_look *l);

/* locks.c: what t (with its stack in l->stack, which is lost) waits for when it is a lock of this kind (-1: not told by
 * the frames), and who has it. False: no lock was found. */
bool hung_locks__fill(struct hung_look *l, const struct hung_task *t, struct chain_task *c, int kind);
/* Reads the owners again: edges that have changed meanwhile are dropped and counted. */
void hung_locks__again(struct hung_look *l);
void hung_locks__fini(struct hung_look *l);

/* ends.c: what t waits for by its wait.reason: an object, a task at the other end. */
void hung_ends__fill(struct hung_look *l, const struct hung_task *t, struct chain_task *c);

#endif
