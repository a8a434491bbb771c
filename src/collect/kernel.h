/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_COLLECT_KERNEL_H
#define LOCKBLAME_COLLECT_KERNEL_H

#include <stdbool.h>

#include "util/err.h"

struct btf;

/* What this kernel lets us do, found by asking it: BTF for types and functions, one trial load for
 * fentry, one trial perf event for kprobes. */
struct kernel {
	struct btf *btf;	/* vmlinux BTF, owned */
	bool contention_tp;	/* lock:contention_begin/end */
	bool fentry;
	char fentry_why[96]; /* why not */
	bool kprobe;
	char kprobe_why[96];
	bool task_storage; /* usable from tracing programs */
	bool rt;	   /* PREEMPT_RT lock layouts */
};

/* Fills *k. 0, or -errno with a message when nothing at all can be traced: no BTF, no privilege. */
int kernel__probe(struct kernel *k, struct err *e);
void kernel__fini(struct kernel *k);

/* Number of arguments of a kernel function according to BTF; -ENOENT when BTF does not have it (it is
 * inlined, absent, or carries a compiler suffix). */
int kernel__func_args(const struct kernel *k, const char *func);

/* Number of arguments of a tracepoint; -ENOENT when this kernel has none of that name. */
int kernel__tp_args(const struct kernel *k, const char *tp);

/* Whether an fentry program can be put on func: tried by loading one. (A function can be in BTF under the
 * name that its compiled form no longer has.) */
bool kernel__can_fentry(const struct kernel *k, const char *func);

/* What the process lacks for tracing, as words ("CAP_BPF and CAP_PERFMON"), or NULL when it has all. */
const char *kernel__missing_caps(void);

#endif
