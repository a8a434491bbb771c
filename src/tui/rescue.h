/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_TUI_RESCUE_H
#define LOCKBLAME_TUI_RESCUE_H

/* Gives the terminal back when the program crashes. ncurses' own endwin allocates and locks, which
 * a signal handler must not; so the bytes and the modes are prepared beforehand. */

/* Remembers the terminal's modes; before the screen is taken over. */
void rescue__save_modes(void);
/* Adds the bytes that undo the full screen; NULL and (char *)-1 are skipped, padding is dropped. */
void rescue__add_bytes(const char *bytes);
/* Catches the signals of a crash, on a stack of their own; and lets go of them. */
void rescue__arm(void);
void rescue__disarm(void);

#endif
