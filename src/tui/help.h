/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_TUI_HELP_H
#define LOCKBLAME_TUI_HELP_H

#include "tui/lines.h"

/* Appends the help page, width columns wide: keys, marks, columns. */
void help__lines(struct lines *out, unsigned int width);

#endif
