/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_OUT_CHAINS_H
#define LOCKBLAME_OUT_CHAINS_H

#include "model/chain.h"
#include "out/out.h"

struct chains_view {
	bool stacks;	 /* -k */
	size_t max_alike; /* so many of tasks that wait alike get a line; 0: 3 */
	size_t max_rows; /* so many lines below one task; 0: 40 */
};

/* The trees: one a hang, the root's sentence first, then who waits by depth. A solved chain. */
void chains__text(struct out *o, const struct chain *c, const struct chains_view *v);

/* One "hang" record for each hang, then a "task" record for each task that is hung or on the way to a
 * root. No header and no summary: the command writes those. */
void chains__json(struct out *o, const struct chain *c);

/* The members of the summary that a chain knows: hung, hangs, lost. */
struct json_object;
void chains__summary(struct json_object *obj, struct chain *c);

#endif
