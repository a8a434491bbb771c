/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_TUI_LINES_H
#define LOCKBLAME_TUI_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* Lines of a screen before a terminal is involved. Styles only underline what the text says
 * already: nothing is told by colour alone. */
enum line_style {
	LINE_PLAIN = 0,
	LINE_BOLD = 1,
	LINE_REVERSE = 2,
	LINE_DIM = 4,
	LINE_ALERT = 8,
};

struct line {
	char *text;
	unsigned int style; /* mask of enum line_style */
};

/* Zeroed at first. When memory runs out lines are dropped and failed is set. */
struct lines {
	struct line *line;
	size_t n, room;
	bool failed;
};

/* Adds a line; control characters and broken UTF-8 in it become '?'. */
void lines__add(struct lines *l, unsigned int style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds text in as many lines as it takes at this width, broken at blanks, at most max; the last one
 * is cut with a '+'. Every line but the first begins with indent blanks. */
void lines__wrap(struct lines *l, unsigned int style, unsigned int width, unsigned int indent,
		 unsigned int max, const char *text);

/* Empties it, keeping the memory; frees all. */
void lines__clear(struct lines *l);
void lines__fini(struct lines *l);

#endif
