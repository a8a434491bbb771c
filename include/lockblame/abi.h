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
	__u8 pad[2];
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
	struct lb_slot slot[LB_MAX_NEST];
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
};

_Static_assert(sizeof(struct lb_wait_key) == 24, "abi");
_Static_assert(sizeof(struct lb_wait_val) == 64 + 4 * LB_HIST_BUCKETS, "abi");
_Static_assert(sizeof(struct lb_stack_key) == 32, "abi");
_Static_assert(sizeof(struct lb_slot) == 72, "abi");
_Static_assert(sizeof(struct lb_event) == 104, "abi");

#endif
