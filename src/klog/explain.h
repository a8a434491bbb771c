/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_KLOG_EXPLAIN_H
#define LOCKBLAME_KLOG_EXPLAIN_H

#include "klog/log.h"
#include "model/chain.h"

/* The tasks of one boot of a log as a solved chain: what each waits for, by its stack; who holds that, by
 * the kernel's own line or by lockdep's lists. Nothing else makes a holder: where the log does not name
 * one, the basis says so. Stacks and strings belong to the log or the chain. NULL: out of memory. */
struct chain *klog_explain(const struct klog *k, int boot);

#endif
