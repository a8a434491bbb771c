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

struct ksyms;

/* Symbols from kallsyms. Gives k (may be NULL) what it needs of them too. ks (may be NULL: no symbols)
 * must outlive both. */
struct identity_syms identity_syms__kallsyms(struct ksyms *ks, struct kmem *k);

/* k may be NULL (kernel memory can't be read): then only symbols and addresses are known. k and what
 * syms->ctx points to must outlive the object; syms may be NULL. NULL when out of memory. */
struct identities *identities__new(struct kmem *k, const struct identity_syms *syms);
void identities__free(struct identities *ids);

/* Reads mounts from another file than /proc/self/mountinfo (recorded images). 0 or -ENOMEM. */
int identities__set_mountinfo(struct identities *ids, const char *path);

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
	 * "s_umount", a symbol, "&inode_cache+0x98", the address of a static lock whose symbol is not
	 * known, "unknown". */
	char cls[64];
	char text[256]; /* "mmap_lock of mysqld/1234"; control characters are replaced */
};

/* What the caller knows of a wait on the lock. Zero means not known. */
struct identity_hint {
	pid_t tgid;	  /* process of a waiter */
	uint64_t seen_ns; /* CLOCK_MONOTONIC of its begin: a process born later is not the owner */
	/* A BPF program saw at the time of the wait that this is the mmap_lock of the waiter's own mm
	 * (tgid, called comm). That is the answer then, also when the process has ended since and the
	 * address belongs to others: it is for this wait alone, and says IDENTITY_SAME. */
	bool own_mm;
	const char *comm; /* may be NULL */
};

enum identity_state {
	IDENTITY_SAME,	  /* the object is still the one that was named (or was never seen) */
	IDENTITY_GONE,	  /* what was named is no more, and nothing that has a name took its place */
	IDENTITY_CHANGED, /* the address belongs to another object now */
};

/* Names the lock at addr. An address that was named before is checked (about 5 us: whether the object
 * is the same, not whether its name has changed) and keeps its words when it is the same object; else
 * it is named anew, so that a reused address never inherits a name. Always fills *out with what the
 * address is now, the bare address at worst, and says how that compares with the last time. hint may
 * be NULL. A first resolve costs 20 to 100 us. Kinds that spin have no structure looked up, but a
 * symbol or a slab cache. */
enum identity_state identity__resolve(struct identities *ids, uint64_t addr, enum lb_kind kind,
				      const struct identity_hint *hint, struct identity *out);

/* The same before an identity is shown that was taken earlier: refreshes the words too (a process may
 * have renamed itself, a file may have moved). Says IDENTITY_CHANGED also when a resolve in between met
 * the change, once; with IDENTITY_GONE *out is what the lock was, until the address has a new name.
 * Counts from before a change belong to the former identity: on GONE or CHANGED close its row, and let
 * new waits begin a new one. */
enum identity_state identity__check(struct identities *ids, uint64_t addr, enum lb_kind kind,
				    const struct identity_hint *hint, struct identity *out);

#endif
