/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_MODEL_BLAME_H
#define LOCKBLAME_MODEL_BLAME_H

#include "model/snapshot.h"
#include "model/table.h"

/* Builds a table of blame (table__build calls this for the keys from BLAME_HOLDER on). In each table the
 * sum of total_ns is all the blame of the snapshot, what is unknown and what goes on included; by site and
 * stack it is so to within the error of the samples. By pair it is the time waited instead, by the
 * release that let each waiter go on. 0 or -ENOMEM; table__fini in any case. */
int blame__build(struct table *t, enum table_by by, const struct snapshot *s, double seconds,
		 const struct table_names *names);

/* Both sides of the account, ns. */
struct blame_sums {
	uint64_t waited;      /* by waits that ended */
	uint64_t waiting;     /* so far, by those that go on */
	uint64_t blamed;      /* on holders, exactly */
	uint64_t likely;      /* on holders that are likely, and at least so much on those that hold on */
	uint64_t unknown;     /* on nobody */
	uint64_t twice;	      /* charged twice: two tasks took the same time at the same moment, and no later
			       * charge has made up for it. waited + waiting = the three above - twice */
	uint64_t lost_waits;  /* waits that are in no account, or whose end was not seen: when not 0, the
			       * two sides need not agree */
};

void blame__sums(const struct snapshot *s, struct blame_sums *out);

/* Why a holder is or is not known, as a word for JSON ("release") and as words for people. */
const char *known_by_name(unsigned int known_by);
const char *known_by_text(unsigned int known_by);

#endif
