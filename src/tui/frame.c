// SPDX-License-Identifier: GPL-2.0
/* The screen as lines: header, rows, footer. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/kinds.h"
#include "out/out.h"
#include "out/text.h"
#include "out/units.h"
#include "tui/help.h"
#include "tui/screen.h"
#include "util/cleanup.h"

#define GUTTER 2 /* the marks: selected, stuck */

static void add_to(char *buf, size_t size, const char *text)
{
	size_t n = strlen(buf);

	snprintf(buf + n, size - n, "%s", text);
}

static void title_line(const struct screen *s, const struct screen_info *info, struct lines *out)
{
	char buf[256], u[UNITS_BUF];
	size_t n;

	n = (size_t)snprintf(buf, sizeof(buf), "lockblame top %s  every %s  by", info->clock,
			     units__ns(u, s->interval_ns));
	for (unsigned int i = 0; i < s->n_views; i++)
		n += (size_t)snprintf(buf + n, sizeof(buf) - n, i == s->current ? " [%s]" : " %s",
				      table_by_name(s->view[i].by));
	if (s->paused)
		add_to(buf, sizeof(buf), "  PAUSED");
	lines__add(out, LINE_BOLD | (s->paused ? LINE_ALERT : 0), "%s", buf);
}

static void state_line(const struct screen *s, const struct screen_info *info, struct lines *out)
{
	const struct screen_view *v = screen__view_const(s);
	char buf[320], u[UNITS_BUF];
	size_t n;

	if (s->totals)
		n = (size_t)snprintf(buf, sizeof(buf), "SINCE START, %s",
				     units__ns(u, (uint64_t)(info->seconds * 1e9)));
	else
		n = (size_t)snprintf(buf, sizeof(buf), "last %s",
				     units__ns(u, (uint64_t)(info->seconds * 1e9)));
	n += (size_t)snprintf(buf + n, sizeof(buf) - n, "; %zu waiting now", info->waiting);
	if (info->waiting)
		n += (size_t)snprintf(buf + n, sizeof(buf) - n, ", longest %s",
				      units__ns(u, info->longest_ns));
	n += (size_t)snprintf(buf + n, sizeof(buf) - n, "; sort: %s%s",
			      v->sort == SORT_AUTO ? "auto" : columns[v->sort].title,
			      v->reverse ? " reversed" : "");
	if (s->filter[0] && n < sizeof(buf))
		snprintf(buf + n, sizeof(buf) - n, "; filter \"%s\": %zu of %zu rows", s->filter,
			 s->n_visible, s->table.n_rows);
	lines__wrap(out, info->longest_ns >= STUCK_NS ? LINE_ALERT : LINE_PLAIN, s->width, 2, 2,
		    buf);
}

/* On a low screen rows matter more than what is said around them. */
static void header(const struct screen *s, const struct screen_info *info, struct lines *out)
{
	char buf[1100];

	title_line(s, info, out);
	if (s->height < 8)
		return;
	state_line(s, info, out);
	if (s->height < 12 && !info->lost)
		return;
	snprintf(buf, sizeof(buf), "%s; %s", info->losses, info->hooks);
	lines__wrap(out, info->lost ? LINE_ALERT | LINE_BOLD : LINE_PLAIN, s->width, 2,
		    s->height < 16 ? 2 : 5, buf);
	if (info->note[0] && s->height >= 16)
		lines__wrap(out, LINE_PLAIN, s->width, 2, 2, info->note);
}

static void key_line(const struct screen *s, struct lines *out)
{
	static const char *const keys[] = {
		[PAGE_LIST] = "h help  Enter open  Tab view  / filter  s sort  t totals  Space "
			      "pause  q quit",
		[PAGE_DETAIL] = "Esc back  Up Down PgUp PgDn scroll  w all waiters  t totals  "
				"Space pause  h help",
		[PAGE_HELP] = "Esc back  Up Down PgUp PgDn scroll",
		[PAGE_SORT] = "Enter sort by it  Esc back  Up Down choose",
	};

	if (s->prompt == PROMPT_FILTER)
		lines__add(out, LINE_BOLD, "Filter: %s", s->input);
	else if (s->prompt == PROMPT_INTERVAL && s->complaint[0])
		lines__add(out, LINE_BOLD, "Interval: %s   <- %s", s->input, s->complaint);
	else if (s->prompt == PROMPT_INTERVAL)
		lines__add(out, LINE_BOLD, "Interval: %s", s->input);
	else
		lines__add(out, LINE_REVERSE, "%s", keys[s->page]);
}

bool screen__cursor(const struct screen *s, unsigned int *y, unsigned int *x)
{
	if (s->prompt == PROMPT_NONE || !s->height)
		return false;
	*y = s->height - 1;
	*x = (s->prompt == PROMPT_FILTER ? 8 : 10) + text__width(s->input);
	if (*x >= s->width)
		*x = s->width ? s->width - 1 : 0;
	return true;
}

static void text_cols(const struct layout_col *cols, unsigned int n, struct text_col *out)
{
	for (unsigned int i = 0; i < n; i++) {
		const struct column *c = &columns[cols[i].column];
		bool left = c->unit == UNIT_TEXT || c->unit == UNIT_HEX;

		out[i] = (struct text_col){c->title, cols[i].width, left ? TEXT_LEFT : TEXT_RIGHT};
	}
}

/* Takes one line out of what text__row printed. */
static void add_row(struct lines *out, unsigned int style, const char *marks, struct out *o)
{
	const char *text = out__text(o);

	lines__add(out, style, "%s%.*s", marks, (int)strcspn(text, "\n"), text);
}

static void column_titles(const struct screen *s, const struct layout_col *cols, unsigned int n,
			  struct lines *out)
{
	const struct screen_view *v = screen__view_const(s);
	struct text_col tc[LAYOUT_MAX];
	struct out *o = out__memory();
	size_t at = GUTTER;

	if (!o)
		return;
	text_cols(cols, n, tc);
	text__header(o, tc, n, 0);
	add_row(out, LINE_REVERSE, "  ", o);
	out__close(o, NULL);
	for (unsigned int i = 0; i < n; i++) {
		struct line *l = &out->line[out->n - 1];
		size_t title = strlen(tc[i].title), lead = 0;

		if (tc[i].align == TEXT_RIGHT && tc[i].width > title)
			lead = tc[i].width - title;
		if (v->sort == (int)cols[i].column && at + lead <= strlen(l->text))
			l->text[at + lead - 1] = v->reverse ? '^' : 'v';
		at += tc[i].width + 1;
	}
}

static void table_row(const struct screen *s, const struct layout_col *cols, unsigned int n,
		      const struct row *r, bool selected, struct lines *out)
{
	bool stuck = r->waiting_now && r->longest_now_ns >= STUCK_NS;
	const char marks[] = {selected ? '>' : ' ', stuck ? '!' : ' ', '\0'};
	struct text_col tc[LAYOUT_MAX];
	char buf[LAYOUT_MAX][512];
	const char *cells[LAYOUT_MAX];
	struct out *o = out__memory();

	if (!o)
		return;
	text_cols(cols, n, tc);
	for (unsigned int i = 0; i < n; i++) {
		struct cell cell = columns[cols[i].column].get(&s->table, r);

		cell_text(&columns[cols[i].column], &cell, buf[i], sizeof(buf[i]));
		cells[i] = buf[i][0] ? buf[i] : " ";
	}
	text__row(o, tc, cells, n, 0);
	add_row(out, (selected ? LINE_REVERSE : 0) | (stuck ? LINE_ALERT : 0), marks, o);
	out__close(o, NULL);
}

static const char *known(const char *s)
{
	return s ? s : "-";
}

/* What a narrow table has no room for, of the selected row. */
static void panel(const struct screen *s, struct lines *out)
{
	const struct row *r = screen__selected(s);
	char buf[1200], address[24], p50[UNITS_BUF], p99[UNITS_BUF], max[UNITS_BUF];
	enum table_by by = screen__view_const(s)->by;

	if (!r) {
		lines__add(out, LINE_PLAIN, "%s", "");
		lines__add(out, LINE_PLAIN, "%s", "");
		return;
	}
	snprintf(buf, sizeof(buf), "%s%s (%s %s)",
		 by == BY_LOCK || r->n_locks <= 1 ? "" : "most of it: ", known(r->identity),
		 kind_name(r->kind), mode_name(r->mode));
	snprintf(address, sizeof(address), "  0x%" PRIx64, r->lock);
	if (text__width(buf) + strlen(address) <= s->width)
		add_to(buf, sizeof(buf), address);
	lines__wrap(out, LINE_BOLD, s->width, 2, 1, buf);
	snprintf(buf, sizeof(buf), "owner %s; site %s", known(r->owner), known(r->site));
	if (r->site_share > 0 && by != BY_SITE && by != BY_STACK)
		snprintf(buf + strlen(buf), sizeof(buf) - strlen(buf), " (%.0f%%)",
			 r->site_share * 100);
	if (r->has_hist && r->count)
		snprintf(buf + strlen(buf), sizeof(buf) - strlen(buf), "; p50 %s, p99 %s, max %s",
			 units__ns(p50, row__quantile(r, 0.5)),
			 units__ns(p99, row__quantile(r, 0.99)), units__ns(max, r->max_ns));
	lines__wrap(out, LINE_PLAIN, s->width, 2, 1, buf);
}

static void empty_text(const struct screen *s, const struct screen_info *info, struct lines *out)
{
	char buf[480];

	if (!s->have_table)
		snprintf(buf, sizeof(buf), "The first figures come after one interval.");
	else if (s->table.n_rows)
		snprintf(buf, sizeof(buf),
			 "no rows: the filter \"%s\" hides all %zu (Esc removes it)", s->filter,
			 s->table.n_rows);
	else
		snprintf(buf, sizeof(buf), "%s", info->empty);
	lines__wrap(out, LINE_PLAIN, s->width, 2, 3, buf);
}

static size_t lines_left(const struct screen *s, const struct lines *out, size_t below)
{
	size_t used = out->n + below;

	return s->height > used ? s->height - used : 0;
}

static void pad_to(struct lines *out, size_t n)
{
	while (out->n < n && !out->failed)
		lines__add(out, LINE_PLAIN, "%s", "");
}

static void list_page(struct screen *s, const struct screen_info *info, struct lines *out)
{
	struct screen_view *v = screen__view(s);
	struct layout_col cols[LAYOUT_MAX];
	size_t left = s->left < v->n_want ? s->left : 0;
	size_t below = (s->height >= 12 ? 2 : 0) + (s->height >= 4 ? 1 : 0);
	unsigned int n;

	n = layout__fit(v->want + left, v->n_want - (unsigned int)left,
			s->width > GUTTER ? s->width - GUTTER : 1, cols);
	if (s->height >= 4)
		column_titles(s, cols, n, out);
	s->body = lines_left(s, out, below);
	screen__arrange(s);
	if (!s->n_visible)
		empty_text(s, info, out);
	for (size_t i = v->first; i < s->n_visible && i < v->first + s->body; i++)
		table_row(s, cols, n, &s->table.rows[s->visible[i]], i == v->cursor, out);
	if (s->height > below)
		pad_to(out, s->height - below);
	if (below > 1)
		panel(s, out);
}

static void text_page(struct screen *s, const struct lines *text, struct lines *out)
{
	s->body = lines_left(s, out, 1);
	if (s->scroll + s->body > text->n)
		s->scroll = text->n > s->body ? text->n - s->body : 0;
	for (size_t i = s->scroll; i < text->n && i < s->scroll + s->body; i++)
		lines__add(out, text->line[i].style, "%s", text->line[i].text);
	if (s->height)
		pad_to(out, s->height - 1);
}

static void help_page(struct screen *s, struct lines *out)
{
	struct lines text = {0};

	help__lines(&text, s->width);
	text_page(s, &text, out);
	lines__fini(&text);
}

static void sort_page(struct screen *s, struct lines *out)
{
	struct lines text = {0};
	size_t room;

	lines__add(out, LINE_BOLD, "Sort by");
	room = lines_left(s, out, 1);
	lines__add(&text, s->menu == 0 ? LINE_REVERSE : 0, "%c %-9s %s", s->menu == 0 ? '>' : ' ',
		   "auto", "what has waited 1 s or more first, then by BLK/S");
	for (size_t i = 0; i < n_columns; i++)
		lines__add(&text, s->menu == i + 1 ? LINE_REVERSE : 0, "%c %-9s %s",
			   s->menu == i + 1 ? '>' : ' ', columns[i].title, columns[i].help);
	if (s->menu < s->scroll)
		s->scroll = s->menu;
	if (room && s->menu >= s->scroll + room)
		s->scroll = s->menu - room + 1;
	text_page(s, &text, out);
	lines__fini(&text);
}

void screen__frame(struct screen *s, const struct screen_info *info, struct lines *out)
{
	lines__clear(out);
	if (s->page != PAGE_HELP && s->page != PAGE_SORT)
		header(s, info, out);
	switch (s->page) {
	case PAGE_DETAIL:
		text_page(s, &s->detail, out);
		break;
	case PAGE_HELP:
		help_page(s, out);
		break;
	case PAGE_SORT:
		sort_page(s, out);
		break;
	default:
		list_page(s, info, out);
	}
	if (s->height >= 4 || s->page != PAGE_LIST || s->prompt != PROMPT_NONE) {
		while (out->n >= s->height && out->n)
			free(out->line[--out->n].text);
		key_line(s, out);
	}
	while (out->n > s->height)
		free(out->line[--out->n].text);
}
