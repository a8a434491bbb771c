/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_TUI_KEY_H
#define LOCKBLAME_TUI_KEY_H

/* Keys as the state logic sees them: a character is its code point, the others lie above Unicode,
 * so that nothing but draw.c depends on ncurses. */
enum tui_key {
	TK_NONE = 0,
	TK_ENTER = 0x110000,
	TK_ESC,
	TK_TAB,
	TK_BACKTAB,
	TK_BACKSPACE,
	TK_UP,
	TK_DOWN,
	TK_LEFT,
	TK_RIGHT,
	TK_PGUP,
	TK_PGDN,
	TK_HOME,
	TK_END,
	TK_F0, /* TK_F0 + n is Fn */
	TK_F12 = TK_F0 + 12,
	TK_REDRAW,
};

#endif
