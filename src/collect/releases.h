/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_COLLECT_RELEASES_H
#define LOCKBLAME_COLLECT_RELEASES_H

#include "collect/hooks.h"

/* The hooks of blame (bpf/release.bpf.h): how this kernel tells that a lock is let go while others wait
 * for it. After hooks__plan: fills h's members about releases, and marks programs of obj (NULL for doctor)
 * to be loaded. A kind without such a hook is no failure: its holders are then known by the lock's
 * owner word. */
void releases__plan(struct hooks *h, const struct kernel *k, bool no_spin, struct bpf_object *obj);

/* Attaches them, to the hooks that end waits (they must be there before the first wait begins). What
 * cannot be attached is taken back from h. 0 or -errno. */
int releases__attach(struct hooks *h, struct bpf_object *obj, struct err *e);

#endif
