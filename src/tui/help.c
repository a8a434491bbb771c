// SPDX-License-Identifier: GPL-2.0
#include "tui/help.h"

#include <stdio.h>

#include "model/columns.h"
#include "util/cleanup.h"

static const struct {
	const char *keys, *text;
} rows[] = {
	{"Up Down j k", "one row; the selection follows its row, not the line"},
	{"PgUp PgDn", "one page"},
	{"Home g", "first line, and stay there whichever row it is"},
	{"End G", "last line"},
	{"Left Right", "show columns further to the left, to the right"},
	{"Enter", "open the row: who waits now, stacks, histogram, figures"},
	{"Esc q", "back; Esc in the list removes the filter, q there ends"},
	{"Tab, Shift-Tab", "next, previous view: by lock, site, process, kind"},
	{"/ \\ F4", "filter: rows that contain this text (any case)"},
	{"< >", "sort by the column before, after"},
	{"s F6", "choose the column to sort by"},
	{"r", "reverse the order"},
	{"t", "figures of the last interval, or since the start"},
	{"Space Z", "pause, go on (tracing goes on meanwhile)"},
	{"d", "set the interval;  + longer  - shorter"},
	{"w", "in an opened row: show every waiter, or the oldest ones"},
	{"Ctrl-L", "draw the screen anew"},
	{"h ? F1", "this help"},
	{"q F10 Ctrl-C", "quit"},
};

static const char *const marks[] = {
	">  the selected row        !  a wait of 1 s or more is in progress",
	"v ^ in front of a column's title: sorted by it, largest / smallest first",
	"-  not known, or nothing to tell    +  cut here    ?  likely, not certain",
	"sort auto: what has waited 1 s or more first, then by BLK/S",
	"Waits that began before lockblame did are not seen: they have no row.",
};

/* One entry: what it is about in front, its text beside it, whatever lines that takes. */
static void entry(struct lines *out, unsigned int width, unsigned int indent, const char *name,
		  const char *text)
{
	char buf[256];

	snprintf(buf, sizeof(buf), "  %-*s %s", (int)indent - 3, name, text);
	lines__wrap(out, LINE_PLAIN, width, indent, 4, buf);
}

void help__lines(struct lines *out, unsigned int width)
{
	char name[32];

	lines__add(out, LINE_BOLD, "Keys");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		entry(out, width, 18, rows[i].keys, rows[i].text);
	lines__add(out, LINE_PLAIN, "%s", "");
	lines__add(out, LINE_BOLD, "Marks");
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		entry(out, width, 3, "", marks[i]);
	lines__add(out, LINE_PLAIN, "%s", "");
	lines__add(out, LINE_BOLD, "Columns (s sorts by any of them; lockblame top --columns LIST)");
	for (size_t i = 0; i < n_columns; i++) {
		snprintf(name, sizeof(name), "%-9s %s", columns[i].key, columns[i].title);
		entry(out, width, 21, name, columns[i].help);
	}
}
