// SPDX-License-Identifier: GPL-2.0
/* Selection, sorting, filtering. Keys are in keys.c, lines in frame.c. */
#include "tui/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/text.h"
#include "util/cleanup.h"

struct row_id row_id__of(enum table_by by, const struct row *r)
{
	struct row_id id = {.by = by};

	switch (by) {
	case BY_PROCESS:
		id.tgid = r->tgid;
		return id;
	case BY_COMM:
		memcpy(id.comm, r->comm, sizeof(id.comm));
		return id;
	case BY_CGROUP:
		id.cgroup = r->cgroup;
		return id;
	case BY_SITE:
		id.site = r->site;
		break;
	case BY_STACK:
		id.kstack = r->kstack;
		id.ustack = r->ustack;
		id.lock = r->lock;
		id.first_name = r->first_name;
		break;
	case BY_LOCK:
		id.lock = r->lock;
		id.first_name = r->first_name;
		break;
	default:
		break;
	}
	id.kind = r->kind;
	id.mode = r->mode;
	return id;
}

bool row_id__equal(const struct row_id *a, const struct row_id *b)
{
	return a->by == b->by && a->lock == b->lock && a->cgroup == b->cgroup &&
	       a->site == b->site && a->first_name == b->first_name && a->tgid == b->tgid && a->kstack == b->kstack &&
	       a->ustack == b->ustack && a->kind == b->kind && a->mode == b->mode &&
	       !strncmp(a->comm, b->comm, sizeof(a->comm));
}

static void add_view(struct screen *s, enum table_by by, const unsigned int *list,
		     unsigned int n_list)
{
	struct screen_view *v = &s->view[s->n_views++];

	v->by = by;
	v->sort = SORT_AUTO;
	v->n_want = layout__columns(by, list, n_list, v->want);
}

void screen__init(struct screen *s, enum table_by by, const unsigned int *list, unsigned int n_list)
{
	static const enum table_by usual[] = {BY_LOCK, BY_SITE, BY_PROCESS, BY_KIND};
	bool found = false;

	memset(s, 0, sizeof(*s));
	s->height = 24;
	s->width = 80;
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++) {
		if (usual[i] == by) {
			found = true;
			s->current = s->n_views;
		}
		add_view(s, usual[i], list, n_list);
	}
	if (!found) {
		s->current = s->n_views;
		add_view(s, by, list, n_list);
	}
}

void screen__fini(struct screen *s)
{
	table__fini(&s->table);
	free(s->visible);
	lines__fini(&s->detail);
	memset(s, 0, sizeof(*s));
}

struct screen_view *screen__view(struct screen *s)
{
	return &s->view[s->current];
}

const struct screen_view *screen__view_const(const struct screen *s)
{
	return &s->view[s->current];
}

/* Everything a row says in words, and the numbers that name things. */
static bool passes(const struct screen *s, const struct row *r)
{
	char text[512];

	if (!s->filter[0])
		return true;
	for (size_t i = 0; i < n_columns; i++) {
		const struct column *c = &columns[i];
		bool names = c->unit == UNIT_TEXT || c->unit == UNIT_HEX ||
			     !strcmp(c->key, "pid") || !strcmp(c->key, "cgroup");
		struct cell cell;

		if (!names)
			continue;
		cell = c->get(&s->table, r);
		if (cell.known && strcasestr(cell_text(c, &cell, text, sizeof(text)), s->filter))
			return true;
	}
	return false;
}

static uint64_t stuck(const struct row *r)
{
	return r->waiting_now && r->longest_now_ns >= STUCK_NS ? r->longest_now_ns : 0;
}

/* A hang has no wait that ends, so by total it would be at the bottom: what has waited long comes
 * first. */
static int cmp_auto(const void *pa, const void *pb, void *ctx)
{
	const struct row *a = pa, *b = pb;
	uint64_t x = stuck(a), y = stuck(b);
	int sign = *(const int *)ctx;

	if (x == y) {
		x = row__blocked_ns(a);
		y = row__blocked_ns(b);
	}
	if (x == y) {
		x = a->longest_now_ns;
		y = b->longest_now_ns;
	}
	if (x == y) {
		x = b->lock;
		y = a->lock;
	}
	return sign * (x < y ? 1 : x > y ? -1 : 0);
}

static void sort_rows(struct screen *s)
{
	const struct screen_view *v = screen__view(s);
	int sign = v->sort == SORT_AUTO && v->reverse ? -1 : 1;

	if (!s->table.n_rows)
		return;
	/* also before a sort by column, so that equal rows keep one order */
	qsort_r(s->table.rows, s->table.n_rows, sizeof(*s->table.rows), cmp_auto, &sign);
	if (v->sort != SORT_AUTO)
		table__sort(&s->table, (unsigned int)v->sort, v->reverse);
}

static bool select_visible(struct screen *s)
{
	size_t max = s->limit && s->limit < s->table.n_rows ? s->limit : s->table.n_rows;

	if (s->room_visible < s->table.n_rows) {
		size_t *p = realloc(s->visible, s->table.n_rows * sizeof(*p));

		if (!p)
			return false;
		s->visible = p;
		s->room_visible = s->table.n_rows;
	}
	s->n_visible = 0;
	for (size_t i = 0; i < s->table.n_rows && s->n_visible < max; i++)
		if (passes(s, &s->table.rows[i]))
			s->visible[s->n_visible++] = i;
	return true;
}

/* The line of the row that the selection sticks to; n_visible when it is not shown. */
static size_t find_selected(const struct screen *s)
{
	const struct screen_view *v = screen__view_const(s);
	struct row_id want = row_id__of(v->by, &v->sel);
	size_t i;

	for (i = 0; i < s->n_visible; i++) {
		struct row_id id = row_id__of(v->by, &s->table.rows[s->visible[i]]);

		if (row_id__equal(&id, &want))
			break;
	}
	return i;
}

static void keep_in_sight(struct screen *s)
{
	struct screen_view *v = screen__view(s);

	if (v->cursor >= s->n_visible)
		v->cursor = s->n_visible ? s->n_visible - 1 : 0;
	if (v->first > v->cursor)
		v->first = v->cursor;
	if (s->body && v->cursor >= v->first + s->body)
		v->first = v->cursor - s->body + 1;
	/* no empty lines at the end while there are rows above */
	if (s->body && v->first + s->body > s->n_visible)
		v->first = s->n_visible > s->body ? s->n_visible - s->body : 0;
}

/* Names only grow, so that columns do not jump with every interval. */
static void measure(struct screen *s)
{
	struct screen_view *v = screen__view(s);
	char text[512], clean[512];

	for (unsigned int i = 0; i < v->n_want; i++) {
		const struct column *c = &columns[v->want[i].column];

		if (c->unit != UNIT_TEXT)
			continue;
		for (size_t k = 0; k < s->n_visible && k < 200; k++) {
			struct cell cell = c->get(&s->table, &s->table.rows[s->visible[k]]);
			unsigned int w;

			cell_text(c, &cell, text, sizeof(text));
			w = (unsigned int)strlen(text) < 12
				    ? (unsigned int)strlen(text)
				    : text__width(text__clean(clean, sizeof(clean), text));
			if (w > v->want[i].need)
				v->want[i].need = w;
		}
	}
}

void screen__arrange(struct screen *s)
{
	struct screen_view *v = screen__view(s);

	if (!s->have_table)
		return;
	sort_rows(s);
	if (!select_visible(s)) {
		s->n_visible = 0;
		return;
	}
	if (v->follow) {
		size_t i = find_selected(s);

		if (i < s->n_visible) {
			v->cursor = i;
			v->sel = s->table.rows[s->visible[i]];
		}
	} else {
		v->cursor = 0;
	}
	measure(s);
	keep_in_sight(s);
}

static bool has_row(const struct table *t, const struct row *r)
{
	struct row_id want = row_id__of(t->by, r);

	for (size_t i = 0; i < t->n_rows; i++) {
		struct row_id id = row_id__of(t->by, &t->rows[i]);

		if (row_id__equal(&id, &want))
			return true;
	}
	return false;
}

/* The selected row did not wait this time. It stays, so that the selection does not slip to another
 * row under the user's fingers. */
static void add_idle_row(struct table *t, const struct row *sel)
{
	struct row *p = realloc(t->rows, (t->n_rows + 1) * sizeof(*p)), r = *sel;

	if (!p)
		return;
	t->rows = p;
	r.count = r.failed = r.total_ns = r.spin_ns = r.max_ns = 0;
	r.longest_now_ns = r.walked = r.sampled = 0;
	r.waiting_now = 0;
	r.open_ns = 0;
	r.stderr_ns = r.site_share = 0;
	r.owner = NULL;
	memset(r.hist, 0, sizeof(r.hist));
	p[t->n_rows++] = r;
}

void screen__set_table(struct screen *s, struct table *t)
{
	const struct screen_view *v = screen__view(s);

	table__fini(&s->table);
	s->table = *t;
	memset(t, 0, sizeof(*t));
	s->have_table = true;
	if (v->follow && !has_row(&s->table, &v->sel))
		add_idle_row(&s->table, &v->sel);
	screen__arrange(s);
}

/* The heading of the part that line at is in: its number; *line gets where it is. */
static size_t heading_above(const struct lines *l, size_t at, size_t *line)
{
	size_t n = 0;

	*line = 0;
	for (size_t i = 0; i < l->n && i <= at; i++)
		if (l->line[i].style & LINE_BOLD) {
			n++;
			*line = i;
		}
	return n;
}

/* Where the nth part begins, and where the next one does. */
static void part(const struct lines *l, size_t n, size_t *begin, size_t *end)
{
	size_t seen = 0;

	*begin = 0;
	*end = l->n;
	for (size_t i = 0; i < l->n; i++) {
		if (!(l->line[i].style & LINE_BOLD))
			continue;
		seen++;
		if (seen == n)
			*begin = i;
		if (seen == n + 1) {
			*end = i;
			return;
		}
	}
}

void screen__set_detail(struct screen *s, struct lines *l)
{
	size_t line, begin, end, into;

	if (s->page == PAGE_DETAIL && s->scroll) {
		size_t n = heading_above(&s->detail, s->scroll, &line);

		into = s->scroll - line;
		part(l, n, &begin, &end);
		s->scroll = begin + into < end ? begin + into : end - (end > 0);
	}
	lines__fini(&s->detail);
	s->detail = *l;
	memset(l, 0, sizeof(*l));
}

const struct row *screen__selected(const struct screen *s)
{
	const struct screen_view *v = screen__view_const(s);

	if (!s->have_table || v->cursor >= s->n_visible)
		return NULL;
	return &s->table.rows[s->visible[v->cursor]];
}

void screen__resize(struct screen *s, unsigned int height, unsigned int width)
{
	s->height = height;
	s->width = width;
	for (unsigned int i = 0; i < s->n_views; i++)
		for (unsigned int k = 0; k < s->view[i].n_want; k++)
			s->view[i].want[k].need =
				(unsigned int)strlen(columns[s->view[i].want[k].column].title);
	screen__arrange(s);
}
