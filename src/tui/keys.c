// SPDX-License-Identifier: GPL-2.0
/* What each key does to the state. help.c tells the user the same. */
#include <stdio.h>
#include <string.h>

#include "out/text.h"
#include "out/units.h"
#include "tui/key.h"
#include "tui/screen.h"
#include "util/cleanup.h"
#include "util/parse.h"

#define SEC 1000000000ULL
#define INTERVAL_MIN (SEC / 10)
#define INTERVAL_MAX (3600 * SEC)

static void move_to(struct screen *s, size_t line)
{
	struct screen_view *v = screen__view(s);

	if (!s->n_visible)
		return;
	v->cursor = line < s->n_visible ? line : s->n_visible - 1;
	v->follow = true;
	v->sel = s->table.rows[s->visible[v->cursor]];
	screen__arrange(s);
}

static void move_up(struct screen *s, size_t by)
{
	size_t at = screen__view(s)->cursor;

	move_to(s, at > by ? at - by : 0);
}

static void move_down(struct screen *s, size_t by)
{
	move_to(s, screen__view(s)->cursor + by);
}

/* Home goes to the first line and stays there, whichever row that is. */
static void move_home(struct screen *s)
{
	screen__view(s)->follow = false;
	screen__arrange(s);
}

static size_t page_size(const struct screen *s)
{
	return s->body > 1 ? s->body - 1 : 1;
}

/* < and >: through the view's columns, and the automatic order at either end. */
static void sort_step(struct screen *s, int step)
{
	struct screen_view *v = screen__view(s);
	int n = (int)v->n_want, at = -1;

	for (int i = 0; i < n; i++)
		if (v->sort == (int)v->want[i].column)
			at = i;
	at += step;
	if (at >= n)
		at = -1;
	else if (at < -1)
		at = n - 1;
	v->sort = at < 0 ? SORT_AUTO : (int)v->want[at].column;
	v->reverse = false;
	screen__arrange(s);
}

static void open_prompt(struct screen *s, enum screen_prompt p)
{
	char u[UNITS_BUF];

	s->prompt = p;
	s->complaint[0] = '\0';
	if (p == PROMPT_FILTER) {
		snprintf(s->input, sizeof(s->input), "%s", s->filter);
		return;
	}
	snprintf(s->input, sizeof(s->input), "%s", units__ns(u, s->interval_ns));
}

static unsigned int set_interval(struct screen *s, uint64_t ns)
{
	s->interval_ns = ns < INTERVAL_MIN ? INTERVAL_MIN : ns > INTERVAL_MAX ? INTERVAL_MAX : ns;
	return TODO_INTERVAL;
}

/* + and -: the next longer or shorter of the usual intervals. */
static unsigned int step_interval(struct screen *s, bool longer)
{
	static const uint64_t usual[] = {
		SEC / 10, SEC / 5,  SEC / 2,   SEC,	  2 * SEC,    5 * SEC,	  10 * SEC,
		30 * SEC, 60 * SEC, 300 * SEC, 600 * SEC, 1800 * SEC, 3600 * SEC,
	};

	if (longer) {
		for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
			if (usual[i] > s->interval_ns)
				return set_interval(s, usual[i]);
	} else {
		for (size_t i = ARRAY_SIZE(usual); i-- > 0;)
			if (usual[i] < s->interval_ns)
				return set_interval(s, usual[i]);
	}
	return TODO_NONE;
}

static unsigned int open_row(struct screen *s)
{
	const struct row *r = screen__selected(s);
	struct screen_view *v = screen__view(s);

	if (!r)
		return TODO_NONE;
	s->opened = *r;
	v->sel = *r;
	v->follow = true;
	s->page = PAGE_DETAIL;
	s->scroll = 0;
	s->all_waiters = false;
	return TODO_BUILD;
}

static unsigned int next_view(struct screen *s, unsigned int step)
{
	s->current = (s->current + step) % s->n_views;
	s->page = PAGE_LIST;
	s->have_table = false;
	s->n_visible = 0;
	s->left = 0;
	return TODO_BUILD;
}

static void open_page(struct screen *s, enum screen_page p)
{
	s->back = s->page == PAGE_DETAIL ? PAGE_DETAIL : PAGE_LIST;
	s->page = p;
	s->scroll = 0;
}

static unsigned int toggle_totals(struct screen *s)
{
	s->totals = !s->totals;
	return TODO_BUILD;
}

static unsigned int toggle_pause(struct screen *s)
{
	s->paused = !s->paused;
	return TODO_PAUSE;
}

static unsigned int end_prompt(struct screen *s)
{
	uint64_t ns;

	if (s->prompt == PROMPT_INTERVAL) {
		char plain[sizeof(s->input)];
		size_t at = 0;

		/* "1.50 s" as it is shown is fine to give back */
		for (const char *p = s->input; *p; p++)
			if (*p != ' ')
				plain[at++] = *p;
		plain[at] = '\0';
		if (parse_duration(plain, SEC, &ns) || ns < INTERVAL_MIN || ns > INTERVAL_MAX) {
			snprintf(s->complaint, sizeof(s->complaint),
				 "a time from 100ms to 1h, please (as in 2s, 500ms)");
			return TODO_NONE;
		}
		s->prompt = PROMPT_NONE;
		return set_interval(s, ns);
	}
	s->prompt = PROMPT_NONE;
	return TODO_NONE;
}

static void apply_filter(struct screen *s)
{
	if (s->prompt != PROMPT_FILTER)
		return;
	snprintf(s->filter, sizeof(s->filter), "%s", s->input);
	screen__arrange(s);
}

static void append_char(struct screen *s, unsigned int c)
{
	size_t n = strlen(s->input);
	unsigned char b[4];
	size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	if (c < 0x20 || c == 0x7f || n + len >= sizeof(s->input))
		return;
	b[0] = (unsigned char)(len == 1 ? c : (0xf00U >> len) | (c >> (6 * (len - 1))));
	for (size_t i = 1; i < len; i++)
		b[i] = (unsigned char)(0x80 | ((c >> (6 * (len - 1 - i))) & 0x3f));
	memcpy(s->input + n, b, len);
	s->input[n + len] = '\0';
}

static void delete_char(struct screen *s)
{
	size_t n = strlen(s->input);

	while (n && ((unsigned char)s->input[n - 1] & 0xc0) == 0x80)
		n--;
	if (n)
		n--;
	s->input[n] = '\0';
}

static unsigned int prompt_key(struct screen *s, unsigned int key)
{
	switch (key) {
	case TK_ENTER:
		return end_prompt(s);
	case TK_ESC:
		if (s->prompt == PROMPT_FILTER)
			s->input[0] = '\0';
		apply_filter(s);
		s->prompt = PROMPT_NONE;
		return TODO_NONE;
	case TK_BACKSPACE:
		delete_char(s);
		break;
	case 'U' & 0x1f: /* Ctrl-U */
		s->input[0] = '\0';
		break;
	case TK_UP:
		move_up(s, 1);
		return TODO_NONE;
	case TK_DOWN:
		move_down(s, 1);
		return TODO_NONE;
	case TK_F0 + 10:
		return TODO_QUIT;
	default:
		if (key < TK_ENTER)
			append_char(s, key);
	}
	s->complaint[0] = '\0';
	apply_filter(s);
	return TODO_NONE;
}

static void open_sort_menu(struct screen *s)
{
	s->menu = (size_t)(screen__view(s)->sort + 1);
	open_page(s, PAGE_SORT);
}

/* Keys that mean the same on the list and on a row's page. */
static unsigned int common_key(struct screen *s, unsigned int key)
{
	switch (key) {
	case TK_F0 + 10:
		return TODO_QUIT;
	case 'h':
	case '?':
	case TK_F0 + 1:
		open_page(s, PAGE_HELP);
		return TODO_NONE;
	case TK_TAB:
		return next_view(s, 1);
	case TK_BACKTAB:
		return next_view(s, s->n_views - 1);
	case ' ':
	case 'z':
	case 'Z':
		return toggle_pause(s);
	case 't':
		return toggle_totals(s);
	case 'd':
		open_prompt(s, PROMPT_INTERVAL);
		return TODO_NONE;
	case '+':
		return step_interval(s, true);
	case '-':
		return step_interval(s, false);
	case 'L' & 0x1f: /* Ctrl-L */
	case TK_REDRAW:
		return TODO_REDRAW;
	default:
		return TODO_NONE;
	}
}

static unsigned int list_key(struct screen *s, unsigned int key)
{
	struct screen_view *v = screen__view(s);

	switch (key) {
	case 'q':
		return TODO_QUIT;
	case TK_ENTER:
		return open_row(s);
	case TK_ESC:
		s->filter[0] = '\0';
		break;
	case TK_UP:
	case 'k':
		move_up(s, 1);
		return TODO_NONE;
	case TK_DOWN:
	case 'j':
		move_down(s, 1);
		return TODO_NONE;
	case TK_PGUP:
		move_up(s, page_size(s));
		return TODO_NONE;
	case TK_PGDN:
		move_down(s, page_size(s));
		return TODO_NONE;
	case TK_HOME:
	case 'g':
		move_home(s);
		return TODO_NONE;
	case TK_END:
	case 'G':
		move_to(s, s->n_visible);
		return TODO_NONE;
	case TK_LEFT:
		s->left -= s->left > 0;
		return TODO_NONE;
	case TK_RIGHT:
		s->left += s->left + 1 < v->n_want;
		return TODO_NONE;
	case '/':
	case '\\':
	case TK_F0 + 4:
		open_prompt(s, PROMPT_FILTER);
		return TODO_NONE;
	case '<':
		sort_step(s, -1);
		return TODO_NONE;
	case '>':
		sort_step(s, 1);
		return TODO_NONE;
	case 's':
	case TK_F0 + 6:
		open_sort_menu(s);
		return TODO_NONE;
	case 'r':
		v->reverse = !v->reverse;
		break;
	default:
		return common_key(s, key);
	}
	screen__arrange(s);
	return TODO_NONE;
}

/* Scrolling of a page of text; true when it was such a key. The end is clamped when drawn. */
static bool scroll_key(struct screen *s, unsigned int key)
{
	size_t page = page_size(s), by = 0;
	bool up = false;

	switch (key) {
	case TK_UP:
	case 'k':
		up = true;
		by = 1;
		break;
	case TK_DOWN:
	case 'j':
		by = 1;
		break;
	case TK_PGUP:
		up = true;
		by = page;
		break;
	case TK_PGDN:
		by = page;
		break;
	case TK_HOME:
	case 'g':
		up = true;
		by = s->scroll;
		break;
	case TK_END:
	case 'G':
		by = 1u << 20;
		break;
	default:
		return false;
	}
	if (up)
		s->scroll -= by < s->scroll ? by : s->scroll;
	else
		s->scroll += by;
	return true;
}

static unsigned int detail_key(struct screen *s, unsigned int key)
{
	if (scroll_key(s, key))
		return TODO_NONE;
	switch (key) {
	case 'q':
	case TK_ESC:
	case TK_LEFT:
	case TK_BACKSPACE:
		s->page = PAGE_LIST;
		return TODO_BUILD;
	case 'w':
		s->all_waiters = !s->all_waiters;
		return TODO_BUILD;
	default:
		return common_key(s, key);
	}
}

static unsigned int help_key(struct screen *s, unsigned int key)
{
	if (scroll_key(s, key))
		return TODO_NONE;
	switch (key) {
	case TK_F0 + 10:
		return TODO_QUIT;
	case 'q':
	case 'h':
	case '?':
	case TK_F0 + 1:
	case TK_ESC:
	case TK_ENTER:
		s->page = s->back;
		s->scroll = 0;
		return TODO_BUILD;
	default:
		return TODO_NONE;
	}
}

static unsigned int sort_menu_key(struct screen *s, unsigned int key)
{
	struct screen_view *v = screen__view(s);

	switch (key) {
	case TK_F0 + 10:
		return TODO_QUIT;
	case TK_UP:
	case 'k':
		s->menu -= s->menu > 0;
		return TODO_NONE;
	case TK_DOWN:
	case 'j':
		s->menu += s->menu < n_columns;
		return TODO_NONE;
	case TK_HOME:
		s->menu = 0;
		return TODO_NONE;
	case TK_END:
		s->menu = n_columns;
		return TODO_NONE;
	case TK_ENTER:
		v->sort = s->menu ? (int)s->menu - 1 : SORT_AUTO;
		v->reverse = false;
		screen__arrange(s);
		break;
	case 'q':
	case TK_ESC:
	case TK_F0 + 6:
		break;
	default:
		return TODO_NONE;
	}
	s->page = PAGE_LIST;
	s->scroll = 0;
	return TODO_BUILD;
}

unsigned int screen__key(struct screen *s, unsigned int key)
{
	if (key == TK_NONE)
		return TODO_NONE;
	if (s->prompt != PROMPT_NONE)
		return prompt_key(s, key);
	switch (s->page) {
	case PAGE_DETAIL:
		return detail_key(s, key);
	case PAGE_HELP:
		return help_key(s, key);
	case PAGE_SORT:
		return sort_menu_key(s, key);
	default:
		return list_key(s, key);
	}
}
