/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_COLLECT_HOOKS_H
#define LOCKBLAME_COLLECT_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/kernel.h"
#include "lockblame/abi.h"
#include "util/err.h"

struct bpf_object;
struct bpf_link;

/* Which family of hooks to use. HOOKS_AUTO takes the best that the kernel has. */
enum hook_family { HOOKS_AUTO, HOOKS_TP, HOOKS_FENTRY, HOOKS_KPROBE };

/* "tp", "fentry", "kprobe" -> family, or -EINVAL. NULL is HOOKS_AUTO. */
int hooks_parse(const char *name, enum hook_family *f, struct err *e);

#define HOOKS_MAX 32

/* How one kind's waits are seen on this kernel. */
struct kind_hooks {
	char how[160]; /* "tp_btf contention_begin + fentry rwsem_down_*_slowpath", for doctor */
	char why[224]; /* when !works or !spin: why not, and what would help */
	bool works;
	bool spin; /* the time spent spinning is part of the wait and shown apart */
	char release[96];      /* how it is seen that a lock of this kind is let go while others wait */
	char release_why[256]; /* when it is not, or not of all of them */
};

/* The choice of hooks, and after hooks__attach what is attached. */
struct hooks {
	bool uses_kprobes;
	enum hook_family family; /* never HOOKS_AUTO once planned */
	struct kind_hooks kind[LB_KIND_N];
	struct bpf_link *ends[HOOKS_MAX], *begins[HOOKS_MAX];
	unsigned int n_ends, n_begins;
	/* Blame (src/collect/releases.c): kinds whose releases are seen, those of them that the tracepoint
	 * contended_release tells, and whether waiters too call the function that tells. */
	uint32_t released, released_by_tp;
	bool wakes_by_waiters;
	uint32_t release_probes; /* rows of its table that kprobes serve */
};

/* Decides, from what the kernel has, how waits of the given kinds (mask) are seen, and marks the
 * programs of obj (bpf/wait.bpf.c, opened, not loaded; NULL for doctor) to be loaded or not.
 * -EOPNOTSUPP with a message when no wanted kind can be seen at all. */
int hooks__plan(struct hooks *h, const struct kernel *k, enum hook_family want, uint32_t kinds,
		bool no_spin, struct bpf_object *obj, struct err *e);

/* Marks no program of obj to be loaded; marks one; attaches it if it is. name may be NULL. What is attached goes to
 * the end of links (room for HOOKS_MAX). For the files that have hooks of their own. */
void hooks__none_loaded(struct bpf_object *obj);
void hooks__load(struct bpf_object *obj, const char *prog);
bool hooks__loaded(struct bpf_object *obj, const char *prog);
int hooks__attach_tracing(struct bpf_object *obj, const char *prog, struct bpf_link **links,
			  unsigned int *n, struct err *e);
/* A kprobe (ret: the return probe) on each of funcs that this kernel has, up to a NULL or n_funcs. */
int hooks__attach_kprobes(struct bpf_object *obj, const char *prog, bool ret, const char *const *funcs,
			  size_t n_funcs, struct bpf_link **links, unsigned int *n, struct err *e);

/* Attaches the programs: first the hooks that end waits, then those that begin them, so that no wait is
 * opened that nobody closes. On failure nothing stays attached. */
int hooks__attach(struct hooks *h, const struct kernel *k, struct bpf_object *obj, struct err *e);

/* Detaches in the opposite order: begins first. The second half waits for hooks__detach_ends, so that
 * waits that were open can end in between. */
void hooks__detach_begins(struct hooks *h);
void hooks__detach_ends(struct hooks *h);


#endif
