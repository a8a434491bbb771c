/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_TUI_SCREEN_H
#define LOCKBLAME_TUI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/columns.h"
#include "model/table.h"
#include "tui/layout.h"
#include "tui/lines.h"

/* The state of the full-screen view, and what keys and new figures do to it. Nothing here knows a
 * terminal: keys come in as enum tui_key, lines go out. */

/* What makes a row the same row in the next interval. */
struct row_id {
	enum table_by by;
	uint64_t lock, cgroup;
	const char *site, *first_name; /* interned */
	uint32_t tgid;
	int32_t kstack, ustack;
	uint8_t kind, mode;
	char comm[LB_COMM_LEN];
};

struct row_id row_id__of(enum table_by by, const struct row *r);
bool row_id__equal(const struct row_id *a, const struct row_id *b);

enum screen_page { PAGE_LIST, PAGE_DETAIL, PAGE_HELP, PAGE_SORT };
enum screen_prompt { PROMPT_NONE, PROMPT_FILTER, PROMPT_INTERVAL };

#define SORT_AUTO (-1) /* what is stuck first, then by total */
#define STUCK_NS 1000000000ULL
#define VIEWS_MAX 6

struct screen_view {
	enum table_by by;
	int sort; /* in columns[], or SORT_AUTO */
	bool reverse;
	bool follow;	/* the selection sticks to a row; else to the first line */
	struct row sel; /* that row as last seen */
	size_t cursor;	/* in visible rows */
	size_t first;	/* first visible row on the screen */
	struct layout_want want[LAYOUT_MAX];
	unsigned int n_want;
};

struct screen {
	unsigned int height, width;
	struct screen_view view[VIEWS_MAX];
	unsigned int n_views, current;
	enum screen_page page, back; /* back: where help and the sort menu return to */
	enum screen_prompt prompt;
	char input[96];	    /* of the prompt */
	char complaint[96]; /* why the last input was refused */
	char filter[96];
	bool totals; /* figures since the start instead of the last interval */
	bool paused;
	bool all_waiters; /* detail: every waiter, not just the oldest */
	uint64_t interval_ns;
	size_t limit;	    /* rows at most; 0: all */
	struct table table; /* of the current view; owned */
	bool have_table;
	size_t *visible; /* rows that pass the filter, in order */
	size_t n_visible, room_visible;
	size_t left;	     /* columns scrolled off to the left */
	size_t body;	     /* lines for rows when last drawn */
	struct row opened;   /* detail: the row */
	struct lines detail; /* its lines, see screen__set_detail */
	size_t scroll;	     /* first line shown of a text page */
	size_t menu;	     /* sort menu: 0 is automatic, else column + 1 */
};

/* What the caller has to do after a key. */
enum screen_todo {
	TODO_NONE = 0,
	TODO_QUIT = 1,
	TODO_BUILD = 2,	   /* another table (or detail) is to be shown: build it and hand it over */
	TODO_INTERVAL = 4, /* interval_ns has changed */
	TODO_PAUSE = 8,	   /* paused has changed */
	TODO_REDRAW = 16,  /* the terminal's content is not to be trusted */
};

/* by is the first view; list and n_list a user's choice of columns (NULL: each view's own). */
void screen__init(struct screen *s, enum table_by by, const unsigned int *list,
		  unsigned int n_list);
void screen__fini(struct screen *s);

struct screen_view *screen__view(struct screen *s);
const struct screen_view *screen__view_const(const struct screen *s);

/* Takes a new table of the current view (*t is emptied): filters, sorts, and keeps the selection on
 * its row. A selected row that has no figures this time stays, with zeroes. */
void screen__set_table(struct screen *s, struct table *t);

/* Applies sort, filter and selection again. */
void screen__arrange(struct screen *s);

/* Takes the lines of the opened row (*l is emptied). What the user has scrolled to stays in sight
 * when the parts above it grow or shrink: headings are the bold lines. */
void screen__set_detail(struct screen *s, struct lines *l);

/* The selected row, or NULL when none is shown. */
const struct row *screen__selected(const struct screen *s);

/* Handles a key; returns a mask of enum screen_todo. */
unsigned int screen__key(struct screen *s, unsigned int key);

/* Wider or narrower, higher or lower. */
void screen__resize(struct screen *s, unsigned int height, unsigned int width);

/* Facts for the header that are not part of the state. Strings may be empty. */
struct screen_info {
	char clock[16];	     /* when the figures were taken */
	double seconds;	     /* what they cover */
	char losses[512];    /* "1204 waits seen, none lost" */
	bool lost;	     /* something was lost */
	char hooks[512];     /* which hooks, which kinds, spin, sampling */
	char note[256];	     /* why names are missing, ... */
	char empty[320];     /* why there are no rows */
	size_t waiting;	     /* tasks waiting now */
	uint64_t longest_ns; /* oldest of these waits */
};

/* The whole screen as lines, at most s->height. Remembers in s how many rows fitted. */
void screen__frame(struct screen *s, const struct screen_info *info, struct lines *out);

/* Where the text cursor belongs (in a prompt): true with *y, *x set. */
bool screen__cursor(const struct screen *s, unsigned int *y, unsigned int *x);

#endif
