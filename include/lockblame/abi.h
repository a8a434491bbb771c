/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_ABI_H
#define LOCKBLAME_ABI_H

/* What the BPF programs and user space share: kinds and modes, map keys and values, ring records.
 * Fixed-width, explicitly padded, asserted. Times are CLOCK_MONOTONIC nanoseconds. */

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* Lock kinds, named as the kernel names them. The order is the order of display. */
enum lb_kind {
	LB_RWSEM,
	LB_MUTEX,
	LB_PERCPU_RWSEM,
	LB_SEMAPHORE,
	LB_RT_MUTEX,
	LB_RWLOCK,
	LB_SPINLOCK,
	LB_KIND_N,
};

#define LB_KIND_BIT(k) (1u << (k))
/* The kinds whose waiters sleep: what is traced unless --kind says otherwise. */
#define LB_KINDS_SLEEPING                                                                          \
	(LB_KIND_BIT(LB_RWSEM) | LB_KIND_BIT(LB_MUTEX) | LB_KIND_BIT(LB_PERCPU_RWSEM) |            \
	 LB_KIND_BIT(LB_SEMAPHORE) | LB_KIND_BIT(LB_RT_MUTEX))
#define LB_KINDS_SPINNING (LB_KIND_BIT(LB_RWLOCK) | LB_KIND_BIT(LB_SPINLOCK))

enum lb_mode {
	LB_WRITE,
	LB_READ,
};

/* How sure we are of a holder. */
enum lb_certainty {
	LB_UNKNOWN,
	LB_LIKELY,
	LB_AT_LEAST,
	LB_EXACT,
};

#define LB_COMM_LEN 16
#define LB_MAX_NEST 4	   /* waits that one task can be in at once */
#define LB_HIST_BUCKETS 40 /* log2 of ns: bucket b holds [2^b, 2^(b+1)), the last everything above */
#define LB_STACK_DEPTH 64  /* frames that a stack id keeps */
#define LB_NOW_DEPTH 32	   /* frames shown of a wait in progress */
#define LB_NO_STACK (-1)   /* stack id: not walked */

/* One row of exact figures. cgroup is 0 unless asked for (see settings.want_cgroup). */
struct lb_wait_key {
	__u64 lock;
	__u64 cgroup;
	__u32 tgid;
	__u8 kind;
	__u8 mode;
	__u16 pad;
};

struct lb_wait_val {
	__u64 count;	/* ended waits, those that gave up included */
	__u64 failed;	/* of these: gave up (signal, timeout) */
	__u64 total_ns; /* of all of them */
	__u64 spin_ns;	/* the part of total_ns spent spinning, where hooks show it */
	__u64 max_ns;	/* racing ends within a few ns of each other may lose an update */
	__u64 last_ns;	/* when the last one ended */
	char comm[LB_COMM_LEN];
	__u32 hist[LB_HIST_BUCKETS];
};

/* One row of the split by stack: sampled, weighted so that it is unbiased. */
struct lb_stack_key {
	__u64 lock;
	__u64 cgroup;
	__u32 tgid;
	__s32 kstack;
	__s32 ustack;
	__u8 kind;
	__u8 mode;
	__u16 pad;
};

struct lb_stack_val {
	__u64 walked;	/* waits whose stack was walked */
	__u64 sampled;	/* of these: with a probability below 1 */
	__u64 count_q;	/* estimated number of waits, in 1/1024 */
	__u64 total_ns; /* estimated time */
	__u64 spin_ns;
	__u64 var_us2;	/* estimated variance of total_ns, in us^2 */
	__u64 max_ns;	/* of those walked */
	char comm[LB_COMM_LEN];
};

/* How a holder is known, or why it is not. */
enum lb_known_by {
	LB_BY_RELEASE,	/* it let the lock go while others waited */
	LB_BY_OWNER,	/* the lock's owner word named it when a wait began, or was given up */
	LB_BY_WAITER,	/* it had waited and got the lock */
	LB_BY_DOWNGRADE, /* it held the lock for write, and goes on holding it for read */
	LB_NO_OWNER,	/* this kind of lock keeps no owner, or it had none */
	LB_HANDOVER,	/* the lock was free, or on its way from one task to the next */
	LB_GAVE_UP,	/* the last waiter gave up, and who held the lock could not be read */
	LB_NO_ACCOUNT,	/* no room for the lock's account */
	LB_KNOWN_BY_N,
};

/* Times of accounts are counted in ticks of this many ns, so that 2^48 of them are 208 days. */
#define LB_TICK 64

/* What is known of the holder of a lock with waiters. */
enum lb_holding {
	LB_HOLDER_UNKNOWN,
	LB_HELD,
	LB_RELEASED,
};

/* The account of one lock: waiter-time, and what of it has been charged to holders.
 * word = (S << 16) | n: n waiters, and S so that T(t) = n * t - S (modulo 2^48 ticks) is the time that
 * all waiters together have waited up to t. One read of it is consistent. */
struct lb_account {
	__u64 word;
	__u64 charged;	 /* ticks */
	__u64 holder;	 /* tgid << 32 | tid, of the holder, or who held it last */
	__u64 walked_at; /* when a release was walked last */
	char comm[LB_COMM_LEN];
	__s32 kstack; /* where from, then */
	__u32 walked_tgid;
	__u8 kind;
	__u8 mode; /* of the holder */
	__u8 state;
	__u8 certainty;
	__u8 known_by;
	__u8 told; /* its releases are seen */
	__u8 pad[2];
};

/* Blame, exact: per lock and holder. tgid and tid 0: nobody, known_by says why. */
struct lb_blame_key {
	__u64 lock;
	__u32 tgid;
	__u32 tid;
	__u8 kind;
	__u8 mode; /* that the holder held it in */
	__u8 certainty;
	__u8 known_by;
	__u32 pad;
};

struct lb_blame_val {
	__u64 ns;
	__u64 charges; /* releases, and other times that blame was settled at */
	__u64 longest; /* the largest single charge, ns */
	char comm[LB_COMM_LEN];
};

/* Blame by the stack that the holder released from: sampled and weighted as the split of waits is. */
struct lb_hstack_key {
	__u64 lock;
	__u32 tgid;
	__s32 kstack;
	__u8 kind;
	__u8 mode;
	__u16 pad;
	__u32 pad2;
};

/* Who blocked whom: a wait, by its own stack and by the latest walked stack that the lock was released
 * from while it waited. */
struct lb_pair_key {
	__u64 lock;
	__u32 tgid; /* that waited */
	__u32 holder_tgid;
	__s32 kstack;
	__s32 holder_kstack;
	__u8 kind;
	__u8 mode;
	__u16 pad;
	__u32 pad2;
};

/* One open wait. */
struct lb_slot {
	__u64 lock;
	__u64 begin;
	__u64 phase_start;
	__u64 spin_ns; /* finished spin phases */
	__u8 kind;
	__u8 mode;
	__u8 spinning;
	__u8 slow; /* opened by a slow-path hook, which also closes it */
	__u8 owner_certainty;
	__u8 owner_mode;
	__u8 blamed; /* it is in the lock's account */
	__u8 pad;
	/* Up to here one cache line of a task's first slot; the rest is only touched on request. */
	__u32 owner_tid;
	__u32 owner_tgid;
	char owner_comm[LB_COMM_LEN];
	__s32 kstack; /* taken when it began, where it cannot be taken at the end */
	__s32 ustack;
};

/* The open waits of one task, innermost last. */
struct lb_task {
	__u32 depth;
	__u32 pad;
	__u64 announced; /* the lock that user space was told of last: most waits are for the same again */
	__u64 passed_by; /* the lock of a wait that the filters turned away (where releases are told by it) */
	struct lb_slot slot[LB_MAX_NEST];
};

/* Locks that one task holds at once and that are followed. */
#define LB_MAX_HELD 8

/* The open holds of one task, in no order; lock 0: free. Where holds are collected, the rows, splits,
 * events and counters above are of holds instead of waits: a hold that others waited for when it ended
 * counts as "failed". */
struct lb_held {
	struct lb_slot slot[LB_MAX_HELD];
};

/* A single wait that has ended (ring buffer). */
struct lb_event {
	__u64 lock;
	__u64 begin;
	__u64 end;
	__u64 spin_ns;
	__u64 cgroup;
	__u32 tgid;
	__u32 tid;
	__u32 owner_tid;
	__u32 owner_tgid;
	__s32 kstack;
	__s32 ustack;
	__s32 ret; /* 0, or the negative errno it gave up with */
	__u8 kind;
	__u8 mode;
	__u8 owner_certainty;
	__u8 owner_mode;
	char comm[LB_COMM_LEN];
	char owner_comm[LB_COMM_LEN];
};

/* A lock is waited for for the first time (ring buffer): the moment to find out what it is called. */
struct lb_born {
	__u64 lock;
	__u64 begin;
	__u32 tgid;
	__u8 kind;
	__u8 own_mm; /* it is the mmap_lock of the waiter's own mm */
	__u8 pad[2];
	char comm[LB_COMM_LEN];
};

/* A wait in progress, as the task iterator writes it: a fixed part, then depth frames. */
struct lb_now {
	__u32 tgid;
	__u32 tid;
	char comm[LB_COMM_LEN];
	__u32 n_frames;
	__u32 pad;
	struct lb_slot slot;
	__u64 frame[LB_NOW_DEPTH];
};

/* Counters, per CPU. seen = recorded + short_waits + lost_map + lost_end + in progress. */
struct lb_stats {
	__u64 seen;	   /* waits that began and passed the filters */
	__u64 recorded;	   /* waits in the table */
	__u64 short_waits; /* below --min-duration */
	__u64 walked;	   /* stack walks */
	__u64 wait_ns;	   /* total of recorded */
	__u64 lost_map;	   /* ended, but the table was full */
	__u64 lost_end;	   /* the end was never seen; found open when the task went on to other waits */
	__u64 lost_begin;  /* began, but nesting or task room was exhausted; not in seen */
	__u64 lost_stack;  /* recorded, but the stack could not be kept */
	__u64 lost_split;  /* recorded, but the split by stack had no room */
	__u64 lost_ring;   /* recorded, but the single event had no room */
	__u64 lost_account; /* waits whose lock had no account: their blame is unknown */
	__u64 lost_blame;   /* charges that the table of blame had no room for */
	__u64 charges;	    /* releases that were charged: each may walk a stack */
	__u64 older;	    /* holds that had begun before they were followed; not in seen */
};

_Static_assert(sizeof(struct lb_wait_key) == 24, "abi");
_Static_assert(sizeof(struct lb_wait_val) == 64 + 4 * LB_HIST_BUCKETS, "abi");
_Static_assert(sizeof(struct lb_stack_key) == 32, "abi");
_Static_assert(sizeof(struct lb_slot) == 72, "abi");
_Static_assert(sizeof(struct lb_account) == 64, "abi");
_Static_assert(sizeof(struct lb_blame_key) == 24, "abi");
_Static_assert(sizeof(struct lb_hstack_key) == 24, "abi");
_Static_assert(sizeof(struct lb_pair_key) == 32, "abi");
_Static_assert(sizeof(struct lb_event) == 104, "abi");

#endif
