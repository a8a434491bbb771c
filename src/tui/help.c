// SPDX-License-Identifier: GPL-2.0
#include "tui/help.h"

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

void help__lines(struct lines *out)
{
	lines__add(out, LINE_BOLD, "Keys");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		lines__add(out, LINE_PLAIN, "  %-15s %s", rows[i].keys, rows[i].text);
	lines__add(out, LINE_PLAIN, "%s", "");
	lines__add(out, LINE_BOLD, "Marks");
	lines__add(out, LINE_PLAIN, "  >  the selected row        !  a wait of 1 s or more is in progress");
	lines__add(out, LINE_PLAIN, "  v ^ in front of a column's title: sorted by it, largest / smallest first");
	lines__add(out, LINE_PLAIN, "  -  not known, or nothing to tell    +  cut here    ?  likely, not certain");
	lines__add(out, LINE_PLAIN, "  Only waits that began after lockblame did are seen: what hung before has no row.");
	lines__add(out, LINE_PLAIN, "  sort auto: what has waited 1 s or more first, then by BLK/S");
	lines__add(out, LINE_PLAIN, "%s", "");
	lines__add(out, LINE_BOLD, "Columns (s sorts by any of them; lockblame top --columns LIST)");
	for (size_t i = 0; i < n_columns; i++)
		lines__add(out, LINE_PLAIN, "  %-9s %-8s %s", columns[i].key, columns[i].title, columns[i].help);
}
