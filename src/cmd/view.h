/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_CMD_VIEW_H
#define LOCKBLAME_CMD_VIEW_H

#include "cmd/session.h"
#include "model/table.h"
#include "out/out.h"

/* How a table of waits or of blame is printed: which rows and columns, in which format. */
struct view {
	enum table_by by;
	unsigned int columns[64];
	int n_columns;
	int sort; /* column, or -1: by total */
	bool reverse;
	size_t rows; /* at most this many; 0: all */
	enum lb_format format;
	bool stacks, user_stacks;
	bool timestamps;
	bool quiet;
};

/* Reads the view out of the options. -EINVAL with a message for an unknown key or column. */
int view__parse(struct view *v, const struct lb_opts *o, enum table_of of, struct err *e);

/* Prints the list that --columns help asks for: those of tables like by. */
void view__list_columns(enum table_by by, struct out *o);

/* Builds the table of snapshot snap and prints it. 0, or -errno with e filled (out of memory; write
 * errors stay in out). */
int view__print(const struct view *v, struct session *s, const struct snapshot *snap, double seconds,
		struct out *o, struct err *e);

/* Why there is nothing, as a sentence: an empty table alone would leave open whether nothing was seen or
 * nothing was there. */
void view__empty_text(enum table_of of, const struct snapshot *snap, double seconds, char *buf, size_t size);

/* The closing line: what was seen, recorded and lost. In text it goes to standard error. */
void view__summary(const struct view *v, struct session *s, struct out *o);

/* One summary line in words, without a line end: "1204 waits seen, ...". */
void session__loss_text(struct session *s, enum table_of of, char *buf, size_t size);

#endif
