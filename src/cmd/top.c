// SPDX-License-Identifier: GPL-2.0
/* lockblame top: the live view, or with -b and without a terminal one table each interval. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/namer.h"
#include "cmd/session.h"
#include "cmd/view.h"
#include "model/columns.h"
#include "model/kinds.h"
#include "out/json.h"
#include "out/out.h"
#include "out/units.h"
#include "tui/detail.h"
#include "tui/draw.h"
#include "tui/screen.h"
#include "util/clock.h"

#define DEFAULT_INTERVAL 1000000000ULL

struct top {
	struct lb_opts *opts;
	struct view view;
	/* full screen */
	struct screen screen;
	struct screen_info info;
	struct lines lines;
	struct snapshot held_delta, held_total; /* while paused */
	double held_delta_seconds, held_total_seconds;
	bool ticked;
	unsigned int skip; /* ticks to leave out, so that a huge table does not cost a whole CPU */
	/* batch */
	struct out *out;
};

static const struct snapshot *shown_snapshot(struct top *t, struct session *s, double *seconds)
{
	bool held = t->screen.paused;

	if (t->screen.totals) {
		*seconds = held ? t->held_total_seconds : s->total_seconds;
		return held ? &t->held_total : &s->total;
	}
	*seconds = held ? t->held_delta_seconds : s->delta_seconds;
	return held ? &t->held_delta : &s->delta;
}

static uint32_t spin_kinds(struct session *s)
{
	uint32_t mask = 0;

	for (int k = 0; k < LB_KIND_N; k++)
		if (collect__hooks(s->collect)->kind[k].spin)
			mask |= LB_KIND_BIT(k);
	return mask;
}

static int stack_kernel(void *ctx, int32_t id, const char **frames, int max)
{
	return namer__stack(ctx, id, frames, max);
}

static int stack_user(void *ctx, int32_t id, uint32_t tgid, const char **frames, int max)
{
	return namer__user_stack(ctx, id, tgid, frames, max);
}

static int stack_raw(void *ctx, const uint64_t *addr, unsigned int n, const char **frames, int max)
{
	return namer__frames(ctx, addr, n, frames, max);
}

static int build_detail(struct top *t, struct session *s, const struct table_names *names,
			struct err *e)
{
	struct detail d = {
		.by = screen__view(&t->screen)->by,
		.row = t->screen.opened,
		.totals = t->screen.totals,
		.all_waiters = t->screen.all_waiters,
		.spin_kinds = spin_kinds(s),
		.names = names,
		.stacks = {stack_kernel, t->opts->user_stacks ? stack_user : NULL, stack_raw,
			   s->namer},
		.width = t->screen.width,
	};
	struct lines lines = {0};

	d.snap = shown_snapshot(t, s, &d.seconds);
	if (detail__lines(&d, &lines)) {
		lines__fini(&lines);
		return err_set(e, -ENOMEM, "out of memory");
	}
	screen__set_detail(&t->screen, &lines);
	return 0;
}

/* What hangs since before we came has no row, and that must not look like health. */
static void empty_text(struct top *t, const struct snapshot *snap, double seconds)
{
	char why[192];

	view__empty_text(OF_WAITS, snap, seconds, why, sizeof(why));
	snprintf(t->info.empty, sizeof(t->info.empty),
		 "%s. Waits that had begun before are not seen%s.", why,
		 cmd_find("explain") ? " (lockblame explain shows them)" : "");
}

/* Makes the table that the screen wants, out of the figures it wants. */
static int build(struct top *t, struct session *s, struct err *e)
{
	/* Who holds a lock is read at this moment: with figures of an earlier one it would not go.
	 */
	struct table_names names = namer__names(s->namer, !t->screen.paused);
	const struct snapshot *snap;
	struct table table;
	double seconds;

	if (!t->ticked)
		return 0;
	snap = shown_snapshot(t, s, &seconds);
	if (table__build(&table, screen__view(&t->screen)->by, snap, seconds, &names)) {
		table__fini(&table);
		return err_set(e, -ENOMEM, "out of memory");
	}
	table.spin_kinds = spin_kinds(s);
	empty_text(t, snap, seconds);
	t->info.seconds = seconds;
	screen__set_table(&t->screen, &table);
	return t->screen.page == PAGE_DETAIL ? build_detail(t, s, &names, e) : 0;
}

static void hooks_text(struct top *t, struct session *s, char *buf, size_t size)
{
	static const char *const families[] = {
		[HOOKS_AUTO] = "?",
		[HOOKS_TP] = "tp",
		[HOOKS_FENTRY] = "fentry",
		[HOOKS_KPROBE] = "kprobe",
	};
	const struct hooks *h = collect__hooks(s->collect);
	uint32_t kinds = t->opts->kinds ? t->opts->kinds : LB_KINDS_SLEEPING;
	char u[UNITS_BUF];
	size_t n;

	n = (size_t)snprintf(buf, size, "%s hooks", families[h->family]);
	for (int k = 0; k < LB_KIND_N && n < size; k++) {
		if (!(kinds & LB_KIND_BIT(k)))
			continue;
		if (!h->kind[k].works)
			n += (size_t)snprintf(buf + n, size - n, ", %s NOT SEEN",
					      kind_name((unsigned int)k));
	}
	/* An rwsem that is won by spinning leaves no trace without a hook on its slow path. */
	if (n < size && (kinds & LB_KIND_BIT(LB_RWSEM)) && !h->kind[LB_RWSEM].spin &&
	    !collect__kernel(s->collect)->rt)
		n += (size_t)snprintf(buf + n, size - n, ", spinning for rwsems not seen");
	if (n < size && collect__walk_threshold(s->collect))
		snprintf(buf + n, size - n, "; stacks < %s sampled",
			 units__ns(u, collect__walk_threshold(s->collect)));
}

static void fill_info(struct top *t, struct session *s)
{
	struct screen_info *i = &t->info;
	const struct lb_stats *st = &s->total.stats;
	const char *why = namer__why(s->namer);
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(i->clock, sizeof(i->clock), "%T", &tm);
	session__loss_text(s, OF_WAITS, i->losses, sizeof(i->losses));
	i->lost = st->lost_map || st->lost_end || st->lost_begin || st->lost_stack ||
		  st->lost_split || st->lost_ring;
	hooks_text(t, s, i->hooks, sizeof(i->hooks));
	snprintf(i->note, sizeof(i->note), "%s", why ? why : "");
	i->waiting = s->delta.n_now;
	i->longest_ns = 0;
	for (size_t k = 0; k < s->delta.n_now; k++) {
		uint64_t begin = s->delta.now[k].slot.begin;

		if (s->delta.when_ns > begin && s->delta.when_ns - begin > i->longest_ns)
			i->longest_ns = s->delta.when_ns - begin;
	}
}

static void draw(struct top *t, bool all)
{
	unsigned int h = t->screen.height, w = t->screen.width, y = 0, x = 0;
	bool cursor;

	if (draw__size(&h, &w))
		screen__resize(&t->screen, h, w);
	screen__frame(&t->screen, &t->info, &t->lines);
	cursor = screen__cursor(&t->screen, &y, &x);
	draw__lines(&t->lines, cursor, y, x, all);
}

/* The figures that are on the screen stay there, whatever is asked of them. */
static int hold(struct top *t, struct session *s, struct err *e)
{
	snapshot__fini(&t->held_delta);
	snapshot__fini(&t->held_total);
	if (!t->screen.paused)
		return 0;
	if (snapshot__delta(&s->delta, NULL, &t->held_delta) ||
	    snapshot__delta(&s->total, NULL, &t->held_total))
		return err_set(e, -ENOMEM, "out of memory");
	t->held_delta_seconds = s->delta_seconds;
	t->held_total_seconds = s->total_seconds;
	return 0;
}

/* Naming the locks of a table takes some 60 us a row. More than a fifth of the time is not spent on
 * it; the clock in the header then stands still for some intervals. */
static void pay_back(struct top *t, uint64_t cost_ns)
{
	uint64_t ticks = cost_ns * 5 / t->screen.interval_ns;

	t->skip = ticks < 100 ? (unsigned int)ticks : 100;
}

static int on_screen_tick(struct session *s, void *ctx, struct err *e)
{
	struct top *t = ctx;
	uint64_t start = clock_ns();
	int r;

	if (s->stopped)
		return 0;
	if (draw__gone())
		return 1;
	t->ticked = true;
	if (t->screen.paused)
		return 0;
	if (t->skip) {
		t->skip--;
		return 0;
	}
	fill_info(t, s);
	r = build(t, s, e);
	if (!r)
		draw(t, false);
	pay_back(t, clock_ns() - start);
	return r;
}

/* Back from a pause the last interval is shown at once. */
static int change_pause(struct top *t, struct session *s, struct err *e)
{
	int r = hold(t, s, e);

	if (r || t->screen.paused)
		return r;
	if (t->ticked)
		fill_info(t, s);
	return build(t, s, e);
}

static int on_key(struct session *s, void *ctx, struct err *e)
{
	struct top *t = ctx;
	unsigned int key, todo, height = t->screen.height, width = t->screen.width;
	bool all = false;
	int r = 0;

	if (draw__gone())
		return 1;
	if (draw__size(&height, &width)) {
		screen__resize(&t->screen, height, width);
		if (t->screen.page == PAGE_DETAIL)
			r = build(t, s, e);
	}
	while (!r && (key = draw__key())) {
		todo = screen__key(&t->screen, key);
		if (todo & TODO_QUIT)
			return 1;
		if (todo & TODO_INTERVAL)
			session__set_interval(s, t->screen.interval_ns);
		if (todo & TODO_PAUSE)
			r = change_pause(t, s, e);
		if (!r && todo & TODO_BUILD)
			r = build(t, s, e);
		all |= !!(todo & TODO_REDRAW);
	}
	if (!r)
		draw(t, all);
	return r;
}

static void init_screen(struct top *t)
{
	unsigned int list[LAYOUT_MAX], n = 0;

	for (int i = 0; i < t->view.n_columns && n < LAYOUT_MAX; i++)
		list[n++] = t->view.columns[i];
	screen__init(&t->screen, t->view.by, t->opts->columns ? list : NULL, n);
	screen__view(&t->screen)->sort = t->view.sort < 0 ? SORT_AUTO : t->view.sort;
	screen__view(&t->screen)->reverse = t->view.reverse;
	t->screen.limit = t->view.rows;
	t->screen.interval_ns = t->opts->interval ? t->opts->interval : DEFAULT_INTERVAL;
	snprintf(t->info.losses, sizeof(t->info.losses), "tracing");
}

static int run_screen(struct top *t, struct session *s, struct err *e)
{
	struct session_ops ops = {
		.default_interval_ns = DEFAULT_INTERVAL,
		.tick_counts = true,
		.tick = on_screen_tick,
		.key = on_key,
		.ctx = t,
	};
	int r;

	init_screen(t);
	hooks_text(t, s, t->info.hooks, sizeof(t->info.hooks));
	r = draw__start();
	if (r)
		return err_errno(e, r, "cannot use this terminal (try -b)");
	draw(t, false);
	r = session__run(s, &ops, e);
	draw__stop();
	snapshot__fini(&t->held_delta);
	snapshot__fini(&t->held_total);
	screen__fini(&t->screen);
	lines__fini(&t->lines);
	return r;
}

static int on_batch_tick(struct session *s, void *ctx, struct err *e)
{
	struct top *t = ctx;
	int r;

	/* what is left after the last whole interval is not one more table */
	if (s->stopped)
		return 0;
	r = view__print(&t->view, s, &s->delta, s->delta_seconds, t->out, e);
	if (t->view.format == FORMAT_TEXT)
		out__putc(t->out, '\n');
	return r || out__flush(t->out) ? (r ? r : 1) : 0;
}

static int run_batch(struct top *t, struct session *s, struct err *e)
{
	struct session_ops ops = {
		.default_interval_ns = DEFAULT_INTERVAL,
		.tick_counts = true,
		.tick = on_batch_tick,
		.ctx = t,
	};

	if (t->view.format == FORMAT_JSON)
		json__header(t->out, "top");
	return session__run(s, &ops, e);
}

/* Without --columns a batch shows what the screen would, on a terminal as far as its width goes. */
static void batch_view(struct top *t)
{
	struct layout_want want[LAYOUT_MAX];
	struct layout_col fits[LAYOUT_MAX];
	unsigned int n, width = t->view.format == FORMAT_TEXT ? out__width(t->out) : 0;

	t->view.timestamps |= t->view.format == FORMAT_TEXT && !t->view.quiet;
	if (t->opts->columns)
		return;
	n = layout__columns(t->view.by, NULL, 0, want);
	for (unsigned int i = 0; i < n; i++)
		want[i].min = want[i].need = columns[want[i].column].width;
	n = layout__fit(want, n, width ? width : UINT16_MAX, fits);
	for (unsigned int i = 0; i < n; i++)
		t->view.columns[i] = fits[i].column;
	t->view.n_columns = (int)n;
}

static int run(struct top *t, bool batch, struct err *e)
{
	struct collect_config cfg = {
		.split = true, .owner = true, .cgroup = t->view.by == BY_CGROUP};
	struct session s;
	int r = session__open(&s, t->opts, &cfg, e);

	if (r)
		return r;
	r = batch ? run_batch(t, &s, e) : run_screen(t, &s, e);
	if (!r)
		view__summary(&t->view, &s, t->out);
	session__close(&s);
	return r;
}

/* Whether to print tables; *why gets the reason when nobody has asked for it. */
static bool want_batch(const struct lb_opts *o, const char **why)
{
	*why = NULL;
	if (o->batch || o->output || o->format != FORMAT_TEXT)
		return true;
	*why = draw__unsuitable();
	return *why != NULL;
}

int cmd_top(struct lb_opts *o)
{
	struct top t = {.opts = o};
	struct err e = {0};
	const char *why;
	bool batch;
	int r;

	if (o->columns && !strcmp(o->columns, "help"))
		return cmd_waits(o);
	r = view__parse(&t.view, o, OF_WAITS, &e);
	if (r)
		return cmd_fail(EXIT_USAGE, &e);
	batch = want_batch(o, &why);
	t.out = out__open(o->output, &e);
	if (!t.out)
		return cmd_fail(EXIT_FAILED, &e);
	if (batch) {
		batch_view(&t);
		if (why && !o->quiet)
			fprintf(stderr,
				"lockblame: no full screen: %s; printing tables as -b does\n", why);
	}
	r = run(&t, batch, &e);
	if (r) {
		out__close(t.out, NULL);
		return cmd_fail(r == -EINVAL ? EXIT_USAGE : EXIT_FAILED, &e);
	}
	return out__close(t.out, &e) ? cmd_fail(EXIT_FAILED, &e) : EXIT_OK;
}
