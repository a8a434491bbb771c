/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_CMD_NAMER_H
#define LOCKBLAME_CMD_NAMER_H

#include <stdbool.h>
#include <stdint.h>

#include "lockblame/abi.h"
#include "model/table.h"
#include "util/err.h"

struct collect;
struct ksyms;
struct identities;
struct kmem;

/* Everything that turns numbers of a collector into words: symbols, sites, lock identities, owners.
 * Strings given out are interned and live as long as the namer. */
struct namer;

/* c (may be NULL: frames only) must outlive it. NULL with e filled on failure; what is merely not
 * readable (hidden symbols, kernel memory) is no failure: see namer__notes. */
struct namer *namer__new(struct collect *c, struct err *e);
void namer__free(struct namer *n);

/* For table__build. With owners, rows also tell who holds the lock now. */
struct table_names namer__names(struct namer *n, bool owners);

/* Reads the symbols now, so that the first name is not late: locks do not wait. */
void namer__warm_up(struct namer *n);

/* Call once an interval: modules may have come or gone, owners are read anew. */
void namer__refresh(struct namer *n);

/* The frames of a stack id as "func+0x1a", innermost first; returns how many (at most max). 0: the
 * stack is not known. */
int namer__stack(struct namer *n, int32_t id, const char **frames, int max);
int namer__user_stack(struct namer *n, int32_t id, uint32_t tgid, const char **frames, int max);
/* The same for raw addresses. */
int namer__frames(struct namer *n, const uint64_t *addr, unsigned int n_addr, const char **frames,
		  int max);

const char *namer__intern(struct namer *n, const char *s);

/* Why names are missing, as a sentence, or NULL. */
const char *namer__why(struct namer *n);

struct ksyms *namer__ksyms(struct namer *n);
struct kmem *namer__kmem(struct namer *n); /* NULL: it can't be read */
const char *namer__no_memory(struct namer *n); /* why */
struct identities *namer__identities(struct namer *n);

#endif
