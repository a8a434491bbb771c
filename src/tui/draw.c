// SPDX-License-Identifier: GPL-2.0
#include "tui/draw.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>
#undef lines /* term.h's names for capabilities */
#undef columns

#include "out/text.h"
#include "tui/key.h"
#include "tui/rescue.h"
#include "util/cleanup.h"

#define PAIR_ALERT 1

static SCREEN *screen;
static bool utf8, colours;

const char *draw__unsuitable(void)
{
	const char *term = getenv("TERM");
	int status = 0;
	bool able;

	if (!isatty(STDOUT_FILENO))
		return "standard output is no terminal";
	if (!isatty(STDIN_FILENO))
		return "standard input is no terminal";
	if (!term || !*term)
		return "TERM is not set";
	if (!strcmp(term, "dumb"))
		return "TERM is dumb";
	if (setupterm(term, STDOUT_FILENO, &status) != OK || status != 1)
		return "the terminal type in TERM is not known here";
	able = cursor_address && *cursor_address && clear_screen;
	del_curterm(cur_term);
	return able ? NULL : "this terminal cannot place its cursor";
}

static void start_colours(void)
{
	const char *no = getenv("NO_COLOR");

	colours = !(no && *no) && has_colors() && start_color() == OK &&
		  use_default_colors() == OK && init_pair(PAIR_ALERT, COLOR_RED, -1) == OK;
}

int draw__start(void)
{
	setlocale(LC_CTYPE, "");
	utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	rescue__save_modes();
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return -ENODEV;
	rescue__add_bytes(exit_attribute_mode);
	rescue__add_bytes(keypad_local);
	rescue__add_bytes(cursor_normal);
	rescue__add_bytes(exit_ca_mode);
	rescue__add_bytes("\r\n");
	rescue__arm();
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	start_colours();
	return 0;
}

void draw__stop(void)
{
	if (!screen)
		return;
	endwin();
	rescue__disarm();
	delscreen(screen);
	screen = NULL;
}

bool draw__size(unsigned int *height, unsigned int *width)
{
	struct winsize ws;
	unsigned int h = (unsigned int)LINES, w = (unsigned int)COLS;
	bool changed;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_row && ws.ws_col) {
		h = ws.ws_row;
		w = ws.ws_col;
	}
	if (is_term_resized((int)h, (int)w))
		resizeterm((int)h, (int)w);
	changed = *height != h || *width != w;
	*height = h;
	*width = w;
	return changed;
}

static attr_t attributes(unsigned int style)
{
	attr_t a = A_NORMAL;

	if (style & LINE_BOLD)
		a |= A_BOLD;
	if (style & LINE_REVERSE)
		a |= A_REVERSE;
	if (style & LINE_DIM && colours)
		a |= A_DIM;
	if (style & LINE_ALERT)
		a |= colours ? A_BOLD | (attr_t)COLOR_PAIR(PAIR_ALERT) : A_BOLD;
	return a;
}

/* What a terminal that does not know UTF-8 gets: one '?' a character. */
static void to_ascii(char *s)
{
	char *to = s;

	for (int len; *s; s += len) {
		len = text__char_len(s);
		*to++ = len == 1 ? *s : '?';
		if (len < 1)
			len = 1;
	}
	*to = '\0';
}

static void draw_line(int y, const struct line *l)
{
	__free_ptr char *text = strdup(l->text);
	int x;

	if (!text)
		return;
	if (!utf8)
		to_ascii(text);
	text__cut(text, (unsigned int)COLS);
	attrset(attributes(l->style));
	mvaddstr(y, 0, text);
	x = (int)text__width(text);
	if (l->style & LINE_REVERSE)
		while (x++ < COLS)
			addch(' ');
	attrset(A_NORMAL);
}

void draw__lines(const struct lines *l, bool cursor, unsigned int y, unsigned int x, bool all)
{
	if (all)
		clearok(curscr, TRUE);
	erase();
	for (int i = 0; i < (int)l->n && i < LINES; i++)
		draw_line(i, &l->line[i]);
	curs_set(cursor ? 1 : 0);
	if (cursor)
		move((int)y, (int)x);
	refresh();
}

static unsigned int special(wint_t c)
{
	static const struct {
		wint_t curses;
		unsigned int key;
	} keys[] = {
		{KEY_UP, TK_UP},
		{KEY_DOWN, TK_DOWN},
		{KEY_LEFT, TK_LEFT},
		{KEY_RIGHT, TK_RIGHT},
		{KEY_PPAGE, TK_PGUP},
		{KEY_NPAGE, TK_PGDN},
		{KEY_HOME, TK_HOME},
		{KEY_END, TK_END},
		{KEY_ENTER, TK_ENTER},
		{KEY_BTAB, TK_BACKTAB},
		{KEY_BACKSPACE, TK_BACKSPACE},
		{KEY_FIND, TK_HOME},
		{KEY_SELECT, TK_END},
		{KEY_RESIZE, TK_NONE},
	};

	if (c >= KEY_F(1) && c <= KEY_F(12))
		return TK_F0 + (unsigned int)(c - KEY_F0);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].curses == c)
			return keys[i].key;
	return TK_NONE;
}

unsigned int draw__key(void)
{
	for (;;) {
		wint_t c;
		int r = get_wch(&c);
		unsigned int key;

		if (r == ERR)
			return TK_NONE;
		if (r == KEY_CODE_YES) {
			key = special(c);
			if (key != TK_NONE)
				return key;
			continue;
		}
		switch (c) {
		case '\r':
		case '\n':
			return TK_ENTER;
		case '\t':
			return TK_TAB;
		case 27:
			return TK_ESC;
		case 8:
		case 127:
			return TK_BACKSPACE;
		case 0:
			continue;
		default:
			return (unsigned int)c;
		}
	}
}

bool draw__gone(void)
{
	struct pollfd p = {.fd = STDIN_FILENO};

	return poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR | POLLNVAL);
}
