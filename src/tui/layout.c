// SPDX-License-Identifier: GPL-2.0
#include "tui/layout.h"

#include <stdbool.h>
#include <string.h>

#include "util/cleanup.h"

/* What a screen shows of the column table, per view: key, rank, least width. On 80 columns the
 * ranks decide; what is left out comes with a wider terminal, and is told of the selected row
 * anyway. */
struct shown {
	const char *key;
	unsigned char rank;
	unsigned char min;
};

static const struct shown by_lock[] = {
	{"now", 1, 0},	  {"longest", 2, 0}, {"rate", 6, 0},	  {"blocked", 3, 0},
	{"p50", 10, 0},	  {"p99", 7, 0},     {"max", 9, 0},	  {"mode", 4, 0},
	{"owner", 5, 15}, {"site", 8, 14},   {"identity", 0, 28}, {NULL, 0, 0},
};

/* No rates and means here: how many short waits a site has is estimated from few samples; the time
 * it took is what the sampling is made for. */
static const struct shown by_split[] = {
	{"now", 2, 0},	 {"longest", 3, 0},   {"blocked", 1, 0}, {"share", 6, 0},
	{"est", 4, 0},	 {"error", 7, 0},     {"kind", 9, 9},	 {"mode", 5, 0},
	{"site", 0, 20}, {"identity", 8, 20}, {NULL, 0, 0},
};

static const struct shown by_process[] = {
	{"now", 3, 0},	{"longest", 4, 0}, {"rate", 6, 0},	{"blocked", 2, 0},
	{"p50", 10, 0}, {"p99", 7, 0},	   {"max", 8, 0},	{"pid", 0, 0},
	{"comm", 1, 8}, {"site", 9, 14},   {"identity", 5, 20}, {NULL, 0, 0},
};

static const struct shown by_comm[] = {
	{"now", 2, 0},	 {"longest", 3, 0},   {"rate", 5, 0}, {"blocked", 1, 0},
	{"p50", 9, 0},	 {"p99", 6, 0},	      {"max", 7, 0},  {"comm", 0, 8},
	{"site", 8, 14}, {"identity", 4, 20}, {NULL, 0, 0},
};

static const struct shown by_kind[] = {
	{"now", 3, 0},	{"longest", 4, 0}, {"rate", 5, 0},	{"blocked", 2, 0},
	{"p50", 9, 0},	{"p99", 6, 0},	   {"max", 7, 0},	{"locks", 8, 0},
	{"kind", 0, 9}, {"mode", 1, 0},	   {"identity", 4, 20}, {NULL, 0, 0},
};

static const struct shown by_cgroup[] = {
	{"now", 2, 0},	 {"longest", 3, 0},   {"rate", 5, 0}, {"blocked", 1, 0},
	{"p50", 9, 0},	 {"p99", 6, 0},	      {"max", 7, 0},  {"cgroup", 0, 16},
	{"site", 8, 14}, {"identity", 4, 20}, {NULL, 0, 0},
};

static const struct shown *const shown_by[BY_N] = {
	[BY_LOCK] = by_lock,	   [BY_SITE] = by_split, [BY_STACK] = by_split,
	[BY_PROCESS] = by_process, [BY_COMM] = by_comm,	 [BY_CGROUP] = by_cgroup,
	[BY_KIND] = by_kind,
};

static struct layout_want want_of(unsigned int column, unsigned int rank, unsigned int min)
{
	unsigned int title = (unsigned int)strlen(columns[column].title);

	if (min < title)
		min = title;
	return (struct layout_want){.column = column, .rank = rank, .min = min, .need = title};
}

static bool is_name(unsigned int column)
{
	return columns[column].unit == UNIT_TEXT && columns[column].width > 5;
}

unsigned int layout__columns(enum table_by by, const unsigned int *list, unsigned int n,
			     struct layout_want *out)
{
	unsigned int count = 0;

	if (list) {
		for (unsigned int i = 0; i < n && count < LAYOUT_MAX; i++, count++)
			out[count] =
				want_of(list[i], i, is_name(list[i]) ? 8 : columns[list[i]].width);
		return count;
	}
	for (const struct shown *s = shown_by[by]; s->key && count < LAYOUT_MAX; s++) {
		int c = column_find(BY_LOCK, s->key, NULL);

		if (c >= 0)
			out[count++] = want_of((unsigned int)c, s->rank, s->min);
	}
	return count;
}

static unsigned int least(const struct layout_want *w)
{
	if (!is_name(w->column))
		return columns[w->column].width > w->min ? columns[w->column].width : w->min;
	return w->need < w->min ? w->need : w->min;
}

/* The best ranked one that is not taken yet; n when there is none. */
static unsigned int next_best(const struct layout_want *want, unsigned int n, const bool *seen)
{
	unsigned int best = n;

	for (unsigned int i = 0; i < n; i++)
		if (!seen[i] && (best == n || want[i].rank < want[best].rank))
			best = i;
	return best;
}

unsigned int layout__fit(const struct layout_want *want, unsigned int n, unsigned int width,
			 struct layout_col *out)
{
	unsigned int w[LAYOUT_MAX] = {0}, used = 0, count = 0;
	bool seen[LAYOUT_MAX] = {false}, grown[LAYOUT_MAX] = {false};

	for (unsigned int i; (i = next_best(want, n, seen)) < n; seen[i] = true) {
		unsigned int take = least(&want[i]) + (used ? 1 : 0);

		if (used && used + take > width)
			continue;
		w[i] = least(&want[i]);
		used += take;
	}
	for (unsigned int i; (i = next_best(want, n, grown)) < n; grown[i] = true) {
		unsigned int left = width > used ? width - used : 0, more;

		if (!w[i] || !is_name(want[i].column) || want[i].need <= w[i])
			continue;
		more = want[i].need - w[i] < left ? want[i].need - w[i] : left;
		w[i] += more;
		used += more;
	}
	for (unsigned int i = 0; i < n; i++)
		if (w[i])
			out[count++] = (struct layout_col){want[i].column, w[i]};
	return count;
}
