/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_COLLECT_HOLDS_H
#define LOCKBLAME_COLLECT_HOLDS_H

#include "collect/hooks.h"

/* The hooks of holds (bpf/hold.bpf.h), in the place of hooks__plan and hooks__attach. kinds 0: mmap_lock
 * alone where it has tracepoints of its own, else rwsems; rwsems and mutexes by their functions, of which
 * every call then costs something. Marks the programs of obj to be loaded. -EOPNOTSUPP with a message when a
 * kind that was asked for cannot be followed on this kernel. */
int holds__plan(struct hooks *h, const struct kernel *k, enum hook_family want, uint32_t kinds,
		struct bpf_object *obj, struct err *e);

/* Attaches them: what ends holds before what begins them. On failure nothing stays attached. */
int holds__attach(struct hooks *h, struct bpf_object *obj, struct err *e);

/* How holds of a kind can be followed on this kernel ("fexit down_read, ..."), or NULL and why not. buf is
 * for the text. mmap_lock: by its own tracepoints. */
const char *holds__how(const struct kernel *k, bool mmap_lock, enum lb_kind kind, const char **why, char *buf,
		       size_t size);

#endif
