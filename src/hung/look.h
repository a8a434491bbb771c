/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_HUNG_LOOK_H
#define LOCKBLAME_HUNG_LOOK_H

#include <stdint.h>

#include "hung/find.h"
#include "model/chain.h"

struct identities;
struct ksyms;

/* A look at all tasks that are blocked now, and at what they wait for, to the end. */
struct hung_look;

/* All are borrowed and must outlive it; ks may be NULL (stacks have no names). NULL: out of memory. */
struct hung_look *hung_look__new(struct kmem *k, struct ksyms *ks, struct identities *ids);
void hung_look__free(struct hung_look *l);

/* Looks. Tasks that have been blocked for min_ns or longer are hung; only the sources in the mask are asked.
 * Returns a solved chain, with every task that is hung or stands in the way of one; it is valid until the
 * next look. NULL with e filled on failure. */
struct chain *hung_look__take(struct hung_look *l, uint64_t min_ns, unsigned int sources, struct err *e);

/* Of the last look: tasks seen, blocked ones among them. */
unsigned int hung_look__n_seen(const struct hung_look *l);

#endif
