// SPDX-License-Identifier: GPL-2.0
#include "cmd/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cmd/namer.h"
#include "model/blame.h"
#include "model/columns.h"
#include "model/kinds.h"
#include "out/csv.h"
#include "out/folded.h"
#include "out/json.h"
#include "out/text.h"
#include "out/units.h"

#define LAST_WIDTH 0 /* the last column takes what is left */

static enum table_by default_by(const struct lb_opts *o, enum table_of of)
{
	bool folded = o->format == FORMAT_FOLDED;

	if (of == OF_BLAME)
		return o->stacks || folded ? BLAME_PAIR_STACK : BLAME_HOLDER;
	if (of == OF_HOLDS)
		return folded ? HOLD_STACK : HOLD_LOCK;
	return folded ? BY_STACK : BY_LOCK;
}

static int parse_by(const struct lb_opts *o, enum table_of of, struct err *e)
{
	int by;

	if (!o->by)
		return default_by(o, of);
	by = table_by_parse(o->by, of);
	if (by == BLAME_PAIR && (o->stacks || o->format == FORMAT_FOLDED))
		by = BLAME_PAIR_STACK;
	if (by < 0)
		err_set(e, -EINVAL, "--by: '%s' is not %s", o->by,
			of == OF_BLAME ? "holder, lock, site, process, stack or pair"
				       : "lock, site, process, comm, kind, cgroup or stack");
	return by;
}

static bool is_stacks(enum table_by by)
{
	return by == BY_STACK || by == BLAME_STACK || by == BLAME_PAIR_STACK || by == HOLD_STACK;
}

int view__parse(struct view *v, const struct lb_opts *o, enum table_of of, struct err *e)
{
	int by = parse_by(o, of, e);

	memset(v, 0, sizeof(*v));
	if (by < 0)
		return -EINVAL;
	v->by = (enum table_by)by;
	v->n_columns = columns_choose(v->by, o->columns, v->columns, e);
	if (v->n_columns < 0)
		return v->n_columns;
	v->sort = -1;
	if (o->sort) {
		v->sort = column_find(v->by, o->sort, e);
		if (v->sort < 0)
			return -EINVAL;
	}
	v->reverse = o->reverse;
	v->rows = o->rows;
	/* a screenful for people; programs get everything */
	if (!v->rows && o->format == FORMAT_TEXT)
		v->rows = 20;
	v->format = o->format;
	v->stacks = o->stacks || is_stacks(v->by);
	v->user_stacks = o->user_stacks;
	v->timestamps = o->timestamps;
	v->quiet = o->quiet;
	if (v->format == FORMAT_FOLDED && !is_stacks(v->by))
		return err_set(e, -EINVAL, "--folded prints stacks: it does not go with --by %s", o->by);
	return 0;
}

void view__list_columns(enum table_by by, struct out *o)
{
	const struct column_set set = columns_of(by);

	for (size_t i = 0; i < set.n; i++)
		out__printf(o, "%-10s %-16s %s\n", set.c[i].key, set.c[i].json, set.c[i].help);
}

/* The object that a member called "a.b" goes to, and its name there. */
static struct json_object *member_of(struct json_object *rec, const char **name)
{
	const char *dot = strchr(*name, '.');
	struct json_object *in = NULL;
	char outer[32];

	if (!dot)
		return rec;
	snprintf(outer, sizeof(outer), "%.*s", (int)(dot - *name), *name);
	*name = dot + 1;
	return json_object_object_get_ex(rec, outer, &in) ? in
							   : json__add(rec, outer, json_object_new_object());
}

static void add_cell(struct json_object *rec, const struct column *c, const struct cell *v)
{
	const char *name = c->json;

	rec = member_of(rec, &name);
	if (!v->known) {
		json__null(rec, name);
		return;
	}
	switch (c->unit) {
	case UNIT_TEXT:
		json__str(rec, name, v->text);
		break;
	case UNIT_HEX:
		json__hex(rec, name, v->u);
		break;
	case UNIT_PER_SEC:
	case UNIT_SHARE:
		json__double(rec, name, v->num);
		break;
	default:
		json__u64(rec, name, v->u);
	}
}

static void add_stack(struct json_object *rec, const char *name, const char **frames, int n)
{
	struct json_object *a = json_object_new_array();

	for (int i = 0; i < n; i++)
		json__push_str(a, frames[i]);
	json__add(rec, name, a);
}

static const char *const record_names[] = {[OF_WAITS] = "wait", [OF_BLAME] = "blame", [OF_HOLDS] = "hold"};

static void json_row(const struct view *v, struct session *s, const struct table *t,
		     const struct row *r, struct out *o)
{
	const struct column_set set = columns_of(v->by);
	struct json_object *rec = json__record(record_names[table_of(v->by)]);
	const char *frames[LB_STACK_DEPTH];
	int n;

	json__str(rec, "by", table_by_name(v->by));
	for (size_t i = 0; i < set.n; i++) {
		struct cell c = set.c[i].get(t, r);

		if (set.c[i].unit == UNIT_TEXT && !strcmp(set.c[i].key, "est"))
			json__bool(rec, "sampled", r->sampled > 0);
		else
			add_cell(rec, &set.c[i], &c);
	}
	if (v->by == BLAME_PAIR_STACK) {
		n = namer__stack(s->namer, r->waiter_kstack, frames, LB_STACK_DEPTH);
		add_stack(rec, "waiter_stack", frames, n);
	}
	if (v->by == BLAME_STACK || v->by == BLAME_PAIR_STACK) {
		n = namer__stack(s->namer, r->kstack, frames, LB_STACK_DEPTH);
		add_stack(rec, "holder_stack", frames, n);
	}
	if (table_key(v->by) == BY_STACK) {
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
		const struct column *c = &columns_of(v->by).c[v->columns[i]];
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

/* Whose doing it was at the root, "--", and above it who waited. */
static void folded_pair(struct session *s, const struct row *r, struct out *o)
{
	const char *w[LB_STACK_DEPTH], *h[LB_STACK_DEPTH];
	struct folded holder = {.comm = r->comm[0] ? r->comm : "unknown", .kernel = h};
	struct folded f = {.comm = r->waiter, .kernel = w, .leaf = r->identity, .below = &holder,
			   .ns = r->total_ns};

	f.n_kernel = (unsigned int)namer__stack(s->namer, r->waiter_kstack, w, LB_STACK_DEPTH);
	holder.n_kernel = (unsigned int)namer__stack(s->namer, r->kstack, h, LB_STACK_DEPTH);
	folded__line(o, &f);
}

static void folded(const struct view *v, struct session *s, const struct row *r, struct out *o)
{
	if (v->by == BLAME_PAIR_STACK)
		folded_pair(s, r, o);
	else if (r->walked)
		folded_row(s, r, o);
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

	if (table__build(&t, table_of(v->by) == OF_HOLDS ? HOLD_STACK : BY_STACK, snap, 0, &names))
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

static void put_frames(struct session *s, int32_t kstack, const char *none, struct out *o)
{
	const char *frames[LB_STACK_DEPTH];
	int n = namer__stack(s->namer, kstack, frames, LB_STACK_DEPTH);

	for (int f = 0; f < n; f++)
		out__printf(o, "          %s\n", frames[f]);
	if (!n && none)
		out__printf(o, "          (%s)\n", none);
}

static void row_stack(const struct view *v, struct session *s, const struct row *r, struct out *o)
{
	const char *frames[LB_STACK_DEPTH];
	int n;

	if (v->by == BLAME_PAIR_STACK) {
		put_frames(s, r->waiter_kstack, "the waiter's stack could not be kept", o);
		out__puts(o, "          --\n");
		put_frames(s, r->kstack, "no release was walked while it waited", o);
		return;
	}
	put_frames(s, r->kstack, v->by == BLAME_STACK ? "no stack of a release" : NULL, o);
	n = v->user_stacks ? namer__user_stack(s->namer, r->ustack, r->tgid, frames, LB_STACK_DEPTH) : 0;
	for (int f = 0; f < n; f++)
		out__printf(o, "          %s (user)\n", frames[f]);
}

static void text_columns(const struct view *v, struct text_col *cols)
{
	for (int i = 0; i < v->n_columns; i++) {
		const struct column *c = &columns_of(v->by).c[v->columns[i]];

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
		const struct column *c = &columns_of(v->by).c[v->columns[i]];
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

void view__empty_text(enum table_of of, const struct snapshot *snap, double seconds, char *buf, size_t size)
{
	if (snap->stats.seen || snap->stats.short_waits)
		snprintf(buf, size,
			 "no rows: of %" PRIu64 " %s in %.1f s, %" PRIu64 " were shorter than --min-duration",
			 (uint64_t)snap->stats.seen, of == OF_HOLDS ? "holds" : "waits", seconds,
			 (uint64_t)snap->stats.short_waits);
	else
		snprintf(buf, size, "no rows: nothing that passes the filters %s in %.1f s",
			 of == OF_HOLDS ? "took a lock" : "waited for a lock", seconds);
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

		view__empty_text(table_of(v->by), snap, t->seconds, why, sizeof(why));
		out__printf(o, "%s\n", why);
		return 0;
	}
	text_columns(v, cols);
	if (!v->quiet)
		text__header(o, cols, (unsigned int)v->n_columns, out__width(o));
	for (size_t i = 0; i < shown; i++) {
		text_row(v, t, &t->rows[i], cols, o);
		if (is_stacks(v->by))
			row_stack(v, s, &t->rows[i], o);
		else if (v->stacks && table_key(v->by) == BY_LOCK)
			print_stacks(v, s, snap, &t->rows[i], o);
	}
	if (shown < t->n_rows && !v->quiet)
		out__printf(o, "... and %zu rows more (-r %zu shows them)\n", t->n_rows - shown, t->n_rows);
	return 0;
}

static void csv_header(const struct view *v, struct out *o)
{
	for (int i = 0; i < v->n_columns; i++)
		csv__field(o, (unsigned int)i, columns_of(v->by).c[v->columns[i]].json);
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
		table__sort(&t, v->sort >= 0 ? (unsigned int)v->sort : (unsigned int)column_find(v->by, table_of(v->by) == OF_BLAME ? "blame" : "total", e),
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
		else if (v->format == FORMAT_FOLDED)
			folded(v, s, &t.rows[i], o);
	}
	table__fini(&t);
	return 0;
}

void session__loss_text(struct session *s, enum table_of of, char *buf, size_t size)
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
		{st->lost_account, "without an account (--map-entries)"},
		{st->older, "ends of holds that had begun before (not counted)"},
		{st->lost_blame, "charges lost (table full: --map-entries)"},
	};
	size_t n;
	bool any = false;

	n = (size_t)snprintf(buf, size, "%" PRIu64 " %s seen", (uint64_t)st->seen,
			     of == OF_HOLDS ? "holds" : "waits");
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

/* "waits 7.35 s = blame 7.13 s (96.9 %) + unknown 225 ms (3.1 %)" */
static void print_sums(struct session *s)
{
	struct blame_sums b;
	char w[UNITS_BUF], x[UNITS_BUF], l[UNITS_BUF], u[UNITS_BUF], g[UNITS_BUF],
		t[UNITS_BUF];
	double all;

	blame__sums(&s->total, &b);
	all = (double)(b.blamed + b.likely + b.unknown);
	if (!(b.waited + b.waiting) || all <= 0)
		return;
	fprintf(stderr, "lockblame: waits %s", units__ns(w, b.waited + b.waiting));
	if (b.waiting)
		fprintf(stderr, " (%s of it by waits that go on)", units__ns(g, b.waiting));
	fprintf(stderr, " %s blame %s (%.1f %%)", b.lost_waits ? "against" : "=", units__ns(x, b.blamed),
		100 * (double)b.blamed / all);
	if (b.likely)
		fprintf(stderr, " + likely %s (%.1f %%)", units__ns(l, b.likely), 100 * (double)b.likely / all);
	fprintf(stderr, " + unknown %s (%.1f %%)", units__ns(u, b.unknown), 100 * (double)b.unknown / all);
	if (b.twice)
		fprintf(stderr, ", less %s charged twice (let go at one moment)", units__ns(t, b.twice));
	fputc('\n', stderr);
	if (b.lost_waits)
		fprintf(stderr,
			"lockblame: %" PRIu64 " waits were not followed to their end, so the two need not agree\n",
			b.lost_waits);
}

static void json_summary(const struct view *v, struct session *s, struct out *o)
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
	json__u64(rec, table_of(v->by) == OF_HOLDS ? "hold_ns" : "wait_ns", st->wait_ns);
	if (table_of(v->by) == OF_HOLDS)
		json__u64(rec, "older", st->older);
	if (table_of(v->by) == OF_BLAME) {
		struct blame_sums b;

		blame__sums(&s->total, &b);
		json__u64(rec, "waiting_ns", b.waiting);
		json__u64(rec, "blame_ns", b.blamed + b.likely);
		json__u64(rec, "likely_ns", b.likely);
		json__u64(rec, "unknown_ns", b.unknown);
		json__u64(rec, "twice_ns", b.twice);
		json__u64(lost, "account", st->lost_account);
		json__u64(lost, "blame", st->lost_blame);
	}
	if (s->exit_status >= 0)
		json__u64(rec, "exit_status", (uint64_t)s->exit_status);
	json__write(o, rec);
}

void view__summary(const struct view *v, struct session *s, struct out *o)
{
	char buf[512], u[UNITS_BUF];

	if (v->format == FORMAT_JSON)
		json_summary(v, s, o);
	if (v->quiet || v->format == FORMAT_JSON)
		return;
	session__loss_text(s, table_of(v->by), buf, sizeof(buf));
	fprintf(stderr, "lockblame: %s in %.1f s", buf, s->total_seconds);
	if (s->total.stats.walked < s->total.stats.recorded)
		fprintf(stderr, "; sites from %" PRIu64 " stacks, %s below %s sampled",
			(uint64_t)s->total.stats.walked, table_of(v->by) == OF_HOLDS ? "holds" : "waits",
			units__ns(u, collect__walk_threshold(s->collect)));
	fputc('\n', stderr);
	if (table_of(v->by) == OF_BLAME)
		print_sums(s);
	if (namer__why(s->namer))
		fprintf(stderr, "lockblame: %s\n", namer__why(s->namer));
	if (s->exit_status > 0)
		fprintf(stderr, "lockblame: the command ended with status %d\n", s->exit_status);
}
