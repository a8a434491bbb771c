// SPDX-License-Identifier: GPL-2.0
#include "cmd/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cmd/namer.h"
#include "model/columns.h"
#include "model/kinds.h"
#include "out/csv.h"
#include "out/folded.h"
#include "out/json.h"
#include "out/text.h"
#include "out/units.h"

#define LAST_WIDTH 0 /* the last column takes what is left */

int view__parse(struct view *v, const struct lb_opts *o, struct err *e)
{
	int by = BY_LOCK;

	memset(v, 0, sizeof(*v));
	if (o->by) {
		by = table_by_parse(o->by);
		if (by < 0)
			return err_set(e, -EINVAL,
				       "--by: '%s' is not lock, site, process, comm, kind, cgroup or stack",
				       o->by);
	} else if (o->format == FORMAT_FOLDED) {
		by = BY_STACK;
	}
	v->by = (enum table_by)by;
	v->n_columns = columns_choose(v->by, o->columns, v->columns, e);
	if (v->n_columns < 0)
		return v->n_columns;
	v->sort = -1;
	if (o->sort) {
		v->sort = column_find(o->sort, e);
		if (v->sort < 0)
			return -EINVAL;
	}
	v->reverse = o->reverse;
	v->rows = o->rows;
	/* a screenful for people; programs get everything */
	if (!v->rows && o->format == FORMAT_TEXT)
		v->rows = 20;
	v->format = o->format;
	v->stacks = o->stacks || v->by == BY_STACK;
	v->user_stacks = o->user_stacks;
	v->timestamps = o->timestamps;
	v->quiet = o->quiet;
	if (v->format == FORMAT_FOLDED && v->by != BY_STACK)
		return err_set(e, -EINVAL, "--folded prints stacks: it does not go with --by %s", o->by);
	return 0;
}

void view__list_columns(struct out *o)
{
	for (size_t i = 0; i < n_columns; i++)
		out__printf(o, "%-10s %-16s %s\n", columns[i].key, columns[i].json, columns[i].help);
}

static void add_cell(struct json_object *rec, const struct column *c, const struct cell *v)
{
	if (!v->known) {
		json__null(rec, c->json);
		return;
	}
	switch (c->unit) {
	case UNIT_TEXT:
		json__str(rec, c->json, v->text);
		break;
	case UNIT_HEX:
		json__hex(rec, c->json, v->u);
		break;
	case UNIT_PER_SEC:
	case UNIT_SHARE:
		json__double(rec, c->json, v->num);
		break;
	default:
		json__u64(rec, c->json, v->u);
	}
}

static void add_stack(struct json_object *rec, const char *name, const char **frames, int n)
{
	struct json_object *a = json_object_new_array();

	for (int i = 0; i < n; i++)
		json__push_str(a, frames[i]);
	json__add(rec, name, a);
}

static void json_row(const struct view *v, struct session *s, const struct table *t,
		     const struct row *r, struct out *o)
{
	struct json_object *rec = json__record("wait");
	const char *frames[LB_STACK_DEPTH];
	int n;

	json__str(rec, "by", table_by_name(v->by));
	for (size_t i = 0; i < n_columns; i++) {
		struct cell c = columns[i].get(t, r);

		if (columns[i].unit == UNIT_TEXT && !strcmp(columns[i].key, "est"))
			json__bool(rec, "sampled", r->sampled > 0);
		else
			add_cell(rec, &columns[i], &c);
	}
	if (v->by == BY_STACK) {
		n = namer__stack(s->namer, r->kstack, frames, LB_STACK_DEPTH);
		add_stack(rec, "stack", frames, n);
		if (v->user_stacks) {
			n = namer__user_stack(s->namer, r->ustack, r->tgid, frames, LB_STACK_DEPTH);
			add_stack(rec, "user_stack", frames, n);
		}
	}
	json__write(o, rec);
}

static void csv_row(const struct view *v, const struct table *t, const struct row *r, struct out *o)
{
	for (int i = 0; i < v->n_columns; i++) {
		const struct column *c = &columns[v->columns[i]];
		struct cell cell = c->get(t, r);
		char buf[64];

		if (!cell.known)
			csv__field(o, (unsigned int)i, NULL);
		else if (c->unit == UNIT_TEXT)
			csv__field(o, (unsigned int)i, cell.text);
		else if (c->unit == UNIT_PER_SEC || c->unit == UNIT_SHARE)
			csv__field(o, (unsigned int)i, (snprintf(buf, sizeof(buf), "%.6f", cell.num), buf));
		else if (c->unit == UNIT_HEX)
			csv__field(o, (unsigned int)i,
				   (snprintf(buf, sizeof(buf), "0x%" PRIx64, cell.u), buf));
		else
			csv__field(o, (unsigned int)i,
				   (snprintf(buf, sizeof(buf), "%" PRIu64, cell.u), buf));
	}
	csv__end(o);
}

static void folded_row(struct session *s, const struct row *r, struct out *o)
{
	const char *k[LB_STACK_DEPTH], *u[LB_STACK_DEPTH];
	struct folded f = {.comm = r->comm, .kernel = k, .user = u, .leaf = r->identity, .ns = r->total_ns};

	f.n_kernel = (unsigned int)namer__stack(s->namer, r->kstack, k, LB_STACK_DEPTH);
	f.n_user = (unsigned int)namer__user_stack(s->namer, r->ustack, r->tgid, u, LB_STACK_DEPTH);
	folded__line(o, &f);
}

/* The stacks of one row, largest first, with their shares of the row's split. */
static void print_stacks(const struct view *v, struct session *s, const struct snapshot *snap,
			 const struct row *r, struct out *o)
{
	struct table_names names = namer__names(s->namer, false);
	const char *frames[LB_STACK_DEPTH];
	struct table t;
	int n, shown = 0;
	uint64_t all = 0;

	if (table__build(&t, BY_STACK, snap, 0, &names))
		return;
	for (size_t i = 0; i < t.n_rows; i++)
		if (t.rows[i].lock == r->lock && t.rows[i].mode == r->mode && t.rows[i].kind == r->kind)
			all += t.rows[i].total_ns;
	for (size_t i = 0; i < t.n_rows && shown < 5; i++) {
		const struct row *x = &t.rows[i];

		if (x->lock != r->lock || x->mode != r->mode || x->kind != r->kind || !x->walked)
			continue;
		out__printf(o, "      %5.1f %% of it, %" PRIu64 " stack%s taken\n",
			    all ? 100.0 * (double)x->total_ns / (double)all : 0, x->walked,
			    x->walked == 1 ? "" : "s");
		n = namer__stack(s->namer, x->kstack, frames, LB_STACK_DEPTH);
		for (int f = 0; f < n; f++)
			out__printf(o, "          %s\n", frames[f]);
		if (!n)
			out__puts(o, "          (the kernel stack could not be kept)\n");
		n = v->user_stacks ? namer__user_stack(s->namer, x->ustack, x->tgid, frames,
						       LB_STACK_DEPTH)
				   : 0;
		for (int f = 0; f < n; f++)
			out__printf(o, "          %s (user)\n", frames[f]);
		shown++;
	}
	table__fini(&t);
}

static void row_stack(const struct view *v, struct session *s, const struct row *r, struct out *o)
{
	const char *frames[LB_STACK_DEPTH];
	int n = namer__stack(s->namer, r->kstack, frames, LB_STACK_DEPTH);

	for (int f = 0; f < n; f++)
		out__printf(o, "          %s\n", frames[f]);
	n = v->user_stacks ? namer__user_stack(s->namer, r->ustack, r->tgid, frames, LB_STACK_DEPTH) : 0;
	for (int f = 0; f < n; f++)
		out__printf(o, "          %s (user)\n", frames[f]);
}

static void text_columns(const struct view *v, struct text_col *cols)
{
	for (int i = 0; i < v->n_columns; i++) {
		const struct column *c = &columns[v->columns[i]];

		cols[i] = (struct text_col){
			.title = c->title,
			.width = i == v->n_columns - 1 ? LAST_WIDTH : c->width,
			.align = c->unit == UNIT_TEXT || c->unit == UNIT_HEX ? TEXT_LEFT : TEXT_RIGHT,
		};
	}
}

static void text_row(const struct view *v, const struct table *t, const struct row *r,
		     const struct text_col *cols, struct out *o)
{
	char buf[64][300];
	const char *cells[64];

	for (int i = 0; i < v->n_columns; i++) {
		const struct column *c = &columns[v->columns[i]];
		struct cell cell = c->get(t, r);
		char raw[300];

		cell_text(c, &cell, raw, sizeof(raw));
		cells[i] = text__clean(buf[i], sizeof(buf[i]), raw);
		/* an empty mark is not an unknown value */
		if (!raw[0])
			cells[i] = " ";
	}
	text__row(o, cols, cells, (unsigned int)v->n_columns, out__width(o));
}

static void print_time(struct out *o)
{
	char buf[32];
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(buf, sizeof(buf), "%F %T", &tm);
	out__printf(o, "%s\n", buf);
}

void view__empty_text(const struct snapshot *snap, double seconds, char *buf, size_t size)
{
	if (snap->stats.seen || snap->stats.short_waits)
		snprintf(buf, size,
			 "no rows: of %" PRIu64 " waits in %.1f s, %" PRIu64 " were shorter than --min-duration",
			 (uint64_t)snap->stats.seen, seconds, (uint64_t)snap->stats.short_waits);
	else
		snprintf(buf, size, "no rows: nothing that passes the filters waited for a lock in %.1f s",
			 seconds);
}

static int print_text(const struct view *v, struct session *s, const struct snapshot *snap,
		      const struct table *t, struct out *o)
{
	struct text_col cols[64];
	size_t shown = v->rows && v->rows < t->n_rows ? v->rows : t->n_rows;

	if (v->timestamps)
		print_time(o);
	if (!t->n_rows) {
		char why[256];

		view__empty_text(snap, t->seconds, why, sizeof(why));
		out__printf(o, "%s\n", why);
		return 0;
	}
	text_columns(v, cols);
	if (!v->quiet)
		text__header(o, cols, (unsigned int)v->n_columns, out__width(o));
	for (size_t i = 0; i < shown; i++) {
		text_row(v, t, &t->rows[i], cols, o);
		if (v->by == BY_STACK)
			row_stack(v, s, &t->rows[i], o);
		else if (v->stacks && v->by == BY_LOCK)
			print_stacks(v, s, snap, &t->rows[i], o);
	}
	if (shown < t->n_rows && !v->quiet)
		out__printf(o, "... and %zu rows more (-r %zu shows them)\n", t->n_rows - shown, t->n_rows);
	return 0;
}

static void csv_header(const struct view *v, struct out *o)
{
	for (int i = 0; i < v->n_columns; i++)
		csv__field(o, (unsigned int)i, columns[v->columns[i]].json);
	csv__end(o);
}

int view__print(const struct view *v, struct session *s, const struct snapshot *snap, double seconds,
		struct out *o, struct err *e)
{
	struct table_names names = namer__names(s->namer, true);
	struct table t;
	size_t n;

	if (table__build(&t, v->by, snap, seconds, &names)) {
		table__fini(&t);
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (int k = 0; k < LB_KIND_N; k++)
		if (collect__hooks(s->collect)->kind[k].spin)
			t.spin_kinds |= LB_KIND_BIT(k);
	if (v->sort >= 0 || v->reverse)
		table__sort(&t, v->sort >= 0 ? (unsigned int)v->sort : (unsigned int)column_find("total", e),
			    v->reverse);
	n = v->rows && v->rows < t.n_rows ? v->rows : t.n_rows;
	if (v->format == FORMAT_TEXT)
		print_text(v, s, snap, &t, o);
	if (v->format == FORMAT_CSV && !v->quiet)
		csv_header(v, o);
	for (size_t i = 0; i < n; i++) {
		if (v->format == FORMAT_JSON)
			json_row(v, s, &t, &t.rows[i], o);
		else if (v->format == FORMAT_CSV)
			csv_row(v, &t, &t.rows[i], o);
		else if (v->format == FORMAT_FOLDED && t.rows[i].walked)
			folded_row(s, &t.rows[i], o);
	}
	table__fini(&t);
	return 0;
}

void session__loss_text(struct session *s, char *buf, size_t size)
{
	const struct lb_stats *st = &s->total.stats;
	const struct {
		uint64_t n;
		const char *what;
	} losses[] = {
		{st->lost_map, "not recorded (table full: --map-entries)"},
		{st->lost_end, "never seen to end"},
		{st->lost_begin, "not followed (no room)"},
		{st->lost_stack, "without a stack (stack table full)"},
		{st->lost_split, "not in the split by stack (table full)"},
		{st->lost_ring, "single events lost (--ring-size)"},
	};
	size_t n;
	bool any = false;

	n = (size_t)snprintf(buf, size, "%" PRIu64 " waits seen", (uint64_t)st->seen);
	if (st->short_waits)
		n += (size_t)snprintf(buf + n, size - n, ", %" PRIu64 " too short", (uint64_t)st->short_waits);
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]) && n < size; i++)
		if (losses[i].n) {
			n += (size_t)snprintf(buf + n, size - n, ", %" PRIu64 " %s", losses[i].n,
					      losses[i].what);
			any = true;
		}
	if (!any && n < size)
		snprintf(buf + n, size - n, ", none lost");
}

static void json_summary(struct session *s, struct out *o)
{
	const struct lb_stats *st = &s->total.stats;
	struct json_object *rec = json__record("summary"), *lost = json_object_new_object();

	json__double(rec, "seconds", s->total_seconds);
	json__u64(rec, "seen", st->seen);
	json__u64(rec, "recorded", st->recorded);
	json__u64(rec, "short", st->short_waits);
	json__u64(rec, "in_progress", s->total.n_now);
	json__u64(lost, "map_full", st->lost_map);
	json__u64(lost, "missed", st->lost_end);
	json__u64(lost, "begin", st->lost_begin);
	json__u64(lost, "stack", st->lost_stack);
	json__u64(lost, "split", st->lost_split);
	json__u64(lost, "ring", st->lost_ring);
	json__add(rec, "lost", lost);
	json__u64(rec, "stacks_walked", st->walked);
	json__u64(rec, "walk_threshold_ns", collect__walk_threshold(s->collect));
	json__u64(rec, "wait_ns", st->wait_ns);
	if (s->exit_status >= 0)
		json__u64(rec, "exit_status", (uint64_t)s->exit_status);
	json__write(o, rec);
}

void view__summary(const struct view *v, struct session *s, struct out *o)
{
	char buf[512], u[UNITS_BUF];

	if (v->format == FORMAT_JSON)
		json_summary(s, o);
	if (v->quiet || v->format == FORMAT_JSON)
		return;
	session__loss_text(s, buf, sizeof(buf));
	fprintf(stderr, "lockblame: %s in %.1f s", buf, s->total_seconds);
	if (s->total.stats.walked < s->total.stats.recorded)
		fprintf(stderr, "; sites from %" PRIu64 " stacks, waits below %s sampled",
			(uint64_t)s->total.stats.walked,
			units__ns(u, collect__walk_threshold(s->collect)));
	fputc('\n', stderr);
	if (namer__why(s->namer))
		fprintf(stderr, "lockblame: %s\n", namer__why(s->namer));
	if (s->exit_status > 0)
		fprintf(stderr, "lockblame: the command ended with status %d\n", s->exit_status);
}
