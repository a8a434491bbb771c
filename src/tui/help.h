/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_TUI_HELP_H
#define LOCKBLAME_TUI_HELP_H

#include "tui/lines.h"

/* Appends the help page: keys, marks, columns. */
void help__lines(struct lines *out);

#endif
