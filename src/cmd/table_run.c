// SPDX-License-Identifier: GPL-2.0
#include "cmd/table_run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/session.h"
#include "cmd/view.h"
#include "out/json.h"
#include "out/out.h"

struct run {
	struct view view;
	struct out *out;
	bool intervals;
	enum table_of of;
	const char *name;
};

static int on_tick(struct session *s, void *ctx, struct err *e)
{
	struct run *w = ctx;
	int r = 0;

	/* Without an interval the ticks in between are upkeep. */
	if (w->intervals)
		r = view__print(&w->view, s, &s->delta, s->delta_seconds, w->out, e);
	else if (s->stopped)
		r = view__print(&w->view, s, &s->total, s->total_seconds, w->out, e);
	if (w->intervals && !s->stopped && w->view.format == FORMAT_TEXT)
		out__putc(w->out, '\n');
	return r || out__flush(w->out) ? (r ? r : 1) : 0;
}

static bool is_pair(enum table_by by)
{
	return by == BLAME_PAIR || by == BLAME_PAIR_STACK;
}

static int run(struct run *w, struct lb_opts *o, struct err *e)
{
	struct session_ops ops = {.tick = on_tick, .ctx = w};
	struct collect_config cfg = {
		/* a pair is of the waiter's stack and the holder's */
		.split = w->of != OF_BLAME || is_pair(w->view.by),
		.cgroup = table_key(w->view.by) == BY_CGROUP,
		.blame = w->of == OF_BLAME,
		.holder_split = w->of == OF_BLAME,
		.holds = w->of == OF_HOLDS,
		.pairs = is_pair(w->view.by),
	};
	struct session s;
	int r;

	w->intervals = o->interval > 0;
	ops.tick_counts = w->intervals;
	ops.lazy = !w->intervals;
	r = session__open(&s, o, &cfg, e);
	if (r)
		return r;
	if (w->view.format == FORMAT_JSON)
		json__header(w->out, w->name);
	if (!o->quiet && !o->run && !o->duration && !o->count && isatty(STDERR_FILENO))
		fprintf(stderr, "lockblame: tracing %s; Ctrl-C ends%s\n",
			w->name, w->intervals ? "" : " and shows the table");
	r = session__run(&s, &ops, e);
	if (!r)
		view__summary(&w->view, &s, w->out);
	session__close(&s);
	return r;
}

int table_run(struct lb_opts *o, const char *name, enum table_of of)
{
	struct run w = {.name = name, .of = of};
	struct err e = {0};
	int r, closed;

	if (o->columns && !strcmp(o->columns, "help")) {
		w.out = out__open(o->output, &e);
		if (!w.out)
			return cmd_fail(EXIT_FAILED, &e);
		view__list_columns(of == OF_BLAME ? BLAME_HOLDER : of == OF_HOLDS ? HOLD_LOCK : BY_LOCK, w.out);
		return out__close(w.out, &e) ? cmd_fail(EXIT_FAILED, &e) : EXIT_OK;
	}
	r = view__parse(&w.view, o, of, &e);
	if (r)
		return cmd_fail(EXIT_USAGE, &e);
	w.out = out__open(o->output, &e);
	if (!w.out)
		return cmd_fail(EXIT_FAILED, &e);
	r = run(&w, o, &e);
	if (r) {
		out__close(w.out, NULL);
		return cmd_fail(r == -EINVAL ? EXIT_USAGE : EXIT_FAILED, &e);
	}
	closed = out__close(w.out, &e);
	return closed ? cmd_fail(EXIT_FAILED, &e) : EXIT_OK;
}
