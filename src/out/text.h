/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_OUT_TEXT_H
#define LOCKBLAME_OUT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "out/out.h"

enum text_align { TEXT_LEFT, TEXT_RIGHT };

/* A column of a text table. Cells that are too long push the rest of their row to the right when
 * they are numbers (right-aligned), and are cut when they are names. width 0 is for the last column
 * only: whatever the terminal has left. */
struct text_col {
	const char *title;
	unsigned int width;
	enum text_align align;
};

/* One line: cells with one blank between them, NULL or "" shown as "-". width is that of the
 * terminal (out__width), 0: the last column is never cut. */
void text__header(struct out *o, const struct text_col *cols, unsigned int n, unsigned int width);
void text__row(struct out *o, const struct text_col *cols, const char *const *cells, unsigned int n,
	       unsigned int width);

/* Copies a name for display: control characters and bytes that are no UTF-8 become '?'. Returns dst. */
char *text__clean(char *dst, size_t size, const char *src);

/* Bytes of the UTF-8 character at s, or -1 when none begins there (s is not at its end). */
int text__char_len(const char *s);
bool text__is_utf8(const char *s);

/* How many columns s takes on a terminal. */
unsigned int text__width(const char *s);

/* Cuts s, in place, to at most width columns, never inside a character; the last column is then a
 * '+'. Returns the columns left. */
unsigned int text__cut(char *s, unsigned int width);

#endif
