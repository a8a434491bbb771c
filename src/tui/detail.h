/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_TUI_DETAIL_H
#define LOCKBLAME_TUI_DETAIL_H

#include "model/snapshot.h"
#include "model/table.h"
#include "tui/lines.h"

/* One row of a view, opened: who waits now, from where, how long waits took. */

/* How stacks become text; frames innermost first, interned; both return how many. */
struct detail_stacks {
	int (*kernel)(void *ctx, int32_t id, const char **frames, int max);
	int (*user)(void *ctx, int32_t id, uint32_t tgid, const char **frames,
		    int max); /* may be NULL */
	int (*raw)(void *ctx, const uint64_t *addr, unsigned int n, const char **frames, int max);
	void *ctx;
};

struct detail {
	enum table_by by;
	struct row row; /* as it was when opened */
	const struct snapshot *snap;
	double seconds;
	bool totals; /* snap is since the start */
	bool all_waiters;
	uint32_t spin_kinds;
	const struct table_names *names;
	struct detail_stacks stacks;
	unsigned int width;
};

/* Appends the page. 0, or -ENOMEM. */
int detail__lines(const struct detail *d, struct lines *out);

/* The part of snap that belongs to row r of a table by `by`; *out owns copies. 0 or -ENOMEM. */
int detail__select(enum table_by by, const struct row *r, const struct snapshot *snap,
		   const struct table_names *names, struct snapshot *out);

#endif
