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

#endif
