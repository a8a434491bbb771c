/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_NAMES_IDENTITY_H
#define LOCKBLAME_NAMES_IDENTITY_H

#include "kmem/kmem.h"
#include "lockblame/abi.h"

/* What a lock protects, in words a user knows, told from its address by the structures around it. */
struct identities;

/* Where symbols come from. name: the symbol that addr lies in, with the offset into it and whether it
 * is data; NULL when there is none (or none can be told, as for data without KALLSYMS_ALL). It must
 * not answer with the last symbol of a range for whatever comes after. */
struct identity_syms {
	const char *(*name)(void *ctx, uint64_t addr, uint64_t *off, bool *is_data);
	void *ctx;
};

/* k may be NULL (kernel memory can't be read): then only symbols and addresses are known. k and what
 * syms->ctx points to must outlive the object; syms may be NULL. NULL when out of memory. */
struct identities *identities__new(struct kmem *k, const struct identity_syms *syms);
void identities__free(struct identities *ids);

/* How an identity was found, from the surest to no name at all. */
enum identity_how {
	IDENTITY_SYMBOL,    /* a static lock */
	IDENTITY_STRUCTURE, /* a field of a structure whose back pointers agree */
	IDENTITY_SLAB,	    /* slab cache and offset */
	IDENTITY_ADDRESS,
};

struct identity {
	uint64_t addr; /* as asked for */
	/* The lock that addr belongs to. The same, except on PREEMPT_RT, where the tracepoints may give
	 * the address of a lock inside the lock (the rt-mutex of an rw_semaphore). Group by this. */
	uint64_t lock;
	enum identity_how how;
	/* LB_EXACT: the structure at that address says so now. LB_LIKELY: by inference (an mm that is
	 * being torn down; a slab cache, which may be a merged one). LB_UNKNOWN: just an address. */
	enum lb_certainty certainty;
	pid_t pid; /* of the process that the lock belongs to (mmap_lock), or 0 */
	/* Kind of object, without the instance, for grouping: "mmap_lock", "i_mmap_rwsem", "i_rwsem",
	 * "s_umount", a symbol, "&inode_cache+0x98", "unknown". */
	char cls[64];
	char text[256]; /* "mmap_lock of mysqld/1234"; control characters are replaced */
};

/* What the caller knows of a wait on the lock. Zero means not known. */
struct identity_hint {
	pid_t tgid;	  /* process of a waiter */
	uint64_t seen_ns; /* CLOCK_MONOTONIC of its begin: a process born later is not the owner */
};

/* Names the lock at addr; from the cache when it was named before (see identity__check), so that
 * calling it for every row is cheap. Always fills *out, with the address at worst. hint may be NULL.
 * A first resolve costs 20 to 100 us. */
void identity__resolve(struct identities *ids, uint64_t addr, enum lb_kind kind,
		       const struct identity_hint *hint, struct identity *out);

enum identity_state {
	IDENTITY_SAME,	  /* the object is still the one that was named (or was never seen) */
	IDENTITY_GONE,	  /* it is no more; *out tells what it was */
	IDENTITY_CHANGED, /* the address belongs to another object now; *out is the new one */
};

/* Looks again whether addr is still what identity__resolve() said, and refreshes the words (a process
 * may have renamed itself, a file may have moved). To be called before an identity is shown that was
 * taken earlier: counts from before a change belong to the former identity. */
enum identity_state identity__check(struct identities *ids, uint64_t addr, enum lb_kind kind,
				    const struct identity_hint *hint, struct identity *out);

#endif
