/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_TUI_DRAW_H
#define LOCKBLAME_TUI_DRAW_H

#include <stdbool.h>

#include "tui/lines.h"

/* The terminal: the only file that knows ncurses. */

/* Why this terminal cannot show a full screen, as words, or NULL when it can. Draws nothing. */
const char *draw__unsuitable(void);

/* Takes the terminal over. From here on it is given back on every way out: draw__stop, and the
 * signals that mean a crash. 0, or -errno. */
int draw__start(void);
void draw__stop(void);

/* Asks the kernel for the terminal's size, and follows it. True when it has changed. */
bool draw__size(unsigned int *height, unsigned int *width);

/* Shows lines from the top. With cursor the text cursor is put to y, x. all: send every cell again.
 */
void draw__lines(const struct lines *l, bool cursor, unsigned int y, unsigned int x, bool all);

/* The next key (enum tui_key), TK_NONE when there is none now. */
unsigned int draw__key(void);

/* The terminal has gone: no key will ever come. */
bool draw__gone(void);

#endif
