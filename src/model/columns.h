/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_MODEL_COLUMNS_H
#define LOCKBLAME_MODEL_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/table.h"
#include "util/err.h"

/* The one table of figures. Text, JSON, CSV and the full-screen view all print rows through it, so a
 * new figure is one row in columns.c. */
enum column_unit {
	UNIT_TEXT,
	UNIT_COUNT,
	UNIT_NS,
	UNIT_PER_SEC, /* a rate, in num */
	UNIT_SHARE,   /* 0 to 1, in num */
	UNIT_HEX,
};

/* A value; known false prints as "-" (text), null (JSON), or nothing (CSV). */
struct cell {
	bool known;
	uint64_t u;
	double num;
	const char *text;
};

struct column {
	const char *key;   /* name on the command line: -s, --columns */
	const char *json;  /* name in JSON and CSV, with its unit; a.b: in JSON member b of an object a */
	const char *title; /* heading, with the unit where it is not in the cell */
	const char *help;
	enum column_unit unit;
	unsigned char width;
	unsigned int shown_by; /* bit (1 << enum table_by): part of that table's default columns */
	struct cell (*get)(const struct table *t, const struct row *r);
};

/* Of tables of waits. */
extern const struct column columns[];
extern const size_t n_columns;

/* The columns that a table has. */
struct column_set {
	const struct column *c;
	size_t n;
};

struct column_set columns_of(enum table_by by);
#define COLUMNS_MAX 64

/* Finds a column of the table by key (or by its JSON name). -1 when there is none; the error then names
 * near ones. */
int column_find(enum table_by by, const char *key, struct err *e);

/* The default columns of a table, or those of a comma-separated list. Stores indexes; returns how many,
 * or -EINVAL. out has room for COLUMNS_MAX. */
int columns_choose(enum table_by by, const char *list, unsigned int *out, struct err *e);

/* The cell as text, in human units ("-" when unknown). Returns buf. */
char *cell_text(const struct column *c, const struct cell *v, char *buf, size_t size);

/* Sorts rows by column, largest (text: first in the alphabet) first, or the other way round. */
void table__sort(struct table *t, unsigned int column, bool reverse);

#endif
