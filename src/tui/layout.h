/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_TUI_LAYOUT_H
#define LOCKBLAME_TUI_LAYOUT_H

#include "model/columns.h"

#define LAYOUT_MAX 32

/* A column that a view would like to show. */
struct layout_want {
	unsigned int column; /* in columns[] */
	unsigned int rank;   /* 0 is the last to be left out */
	unsigned int min;    /* text: the fewest columns it is of use with */
	unsigned int need;   /* text: columns that its longest cell takes */
};

struct layout_col {
	unsigned int column;
	unsigned int width;
};

/* The columns of a view, in order of display; list is a user's choice of n columns (NULL: the
 * default of this table). Returns how many were stored in out (LAYOUT_MAX). */
unsigned int layout__columns(enum table_by by, const unsigned int *list, unsigned int n,
			     struct layout_want *out);

/* Which of them fit into width, with one blank in between, and how wide each is: as many as
 * possible in order of rank, then names get the room they need. Order stays. Returns how many. */
unsigned int layout__fit(const struct layout_want *want, unsigned int n, unsigned int width,
			 struct layout_col *out);

#endif
