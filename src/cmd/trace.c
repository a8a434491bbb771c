// SPDX-License-Identifier: GPL-2.0
/* lockblame trace: one line a wait. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/namer.h"
#include "cmd/session.h"
#include "cmd/view.h"
#include "model/kinds.h"
#include "out/csv.h"
#include "out/json.h"
#include "out/text.h"
#include "out/units.h"

/* A wait that is still going on is worth a line of its own from this age on. */
#define OVERDUE_NS 1000000000ULL

struct trace {
	struct lb_opts *opts;
	struct out *out;
	struct table_names names;
	uint64_t lines;
	int64_t wall_offset_ns;	 /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	uint64_t overdue_before; /* waits that began before this were told already */
};

/* One line, whatever it comes from. */
struct line {
	uint64_t at_ns; /* when it ended, or now */
	uint64_t duration_ns, spin_ns;
	uint64_t lock;
	const char *comm;
	uint32_t tgid, tid;
	unsigned int kind, mode;
	int ret;
	bool in_progress, spin_known;
	const char *owner_comm;
	uint32_t owner_tgid, owner_tid;
	unsigned int owner_certainty, owner_mode;
	const char *frames[LB_STACK_DEPTH];
	int n_frames;
	const char *user[LB_STACK_DEPTH];
	int n_user;
	const char *site, *identity;
};

static void format_time(const struct trace *t, uint64_t ns, char *buf, size_t size)
{
	uint64_t wall = (uint64_t)((int64_t)ns + t->wall_offset_ns);
	time_t sec = (time_t)(wall / 1000000000ULL);
	struct tm tm;
	char date[32];

	localtime_r(&sec, &tm);
	strftime(date, sizeof(date), "%T", &tm);
	snprintf(buf, size, "%s.%06u", date, (unsigned int)(wall % 1000000000ULL / 1000));
}

static const char *outcome(const struct line *l)
{
	if (l->in_progress)
		return "waiting";
	if (l->ret == -EINTR)
		return "gave up (signal)";
	if (l->ret == -ETIME || l->ret == -ETIMEDOUT)
		return "gave up (timeout)";
	return l->ret ? "gave up" : NULL;
}

static void owner_text(const struct line *l, char *buf, size_t size)
{
	if (l->owner_certainty == LB_UNKNOWN)
		snprintf(buf, size, "-");
	else
		snprintf(buf, size, "%s/%u%s", l->owner_comm, l->owner_tid,
			 l->owner_certainty == LB_EXACT ? "" : "?");
}

static void text_header(struct trace *t)
{
	out__printf(t->out, "%-15s %-15s %7s %7s %-9s %-5s %-20s %-24s %s\n", "TIME", "COMM", "TID",
		    "WAITED", "KIND", "MODE", "OWNER", "SITE", "LOCK");
}

static void text_line(struct trace *t, const struct line *l)
{
	char when[48], comm[LB_COMM_LEN * 4], owner[64], owner_clean[128], u[UNITS_BUF], ident[300];
	const char *what = outcome(l);

	format_time(t, l->at_ns, when, sizeof(when));
	owner_text(l, owner, sizeof(owner));
	out__printf(t->out, "%-15s %-15s %7u %7s %-9s %-5s %-20s %-24s %s%s%s\n", when,
		    text__clean(comm, sizeof(comm), l->comm), l->tid, units__ns(u, l->duration_ns),
		    kind_name(l->kind), mode_name(l->mode),
		    text__clean(owner_clean, sizeof(owner_clean), owner), l->site ? l->site : "-",
		    text__clean(ident, sizeof(ident), l->identity), what ? "  " : "", what ? what : "");
	if (!t->opts->stacks && !t->opts->user_stacks)
		return;
	for (int i = 0; i < l->n_frames; i++)
		out__printf(t->out, "        %s\n", l->frames[i]);
	for (int i = 0; i < l->n_user; i++)
		out__printf(t->out, "        %s (user)\n", l->user[i]);
}

static void push_frames(struct json_object *rec, const char *name, const char *const *frames, int n)
{
	struct json_object *a = json_object_new_array();

	for (int i = 0; i < n; i++)
		json__push_str(a, frames[i]);
	json__add(rec, name, a);
}

static void json_line(struct trace *t, const struct line *l)
{
	struct json_object *rec = json__record("event"), *owner;
	char when[48];

	format_time(t, l->at_ns, when, sizeof(when));
	json__str(rec, "time", when);
	json__u64(rec, "at_ns", l->at_ns);
	json__str(rec, "comm", l->comm);
	json__u64(rec, "pid", l->tgid);
	json__u64(rec, "tid", l->tid);
	json__hex(rec, "lock", l->lock);
	json__str(rec, "kind", kind_name(l->kind));
	json__str(rec, "mode", mode_name(l->mode));
	json__str(rec, "identity", l->identity);
	json__str(rec, "site", l->site);
	json__u64(rec, "wait_ns", l->duration_ns);
	if (l->spin_known && !l->in_progress)
		json__u64(rec, "spin_ns", l->spin_ns);
	else
		json__null(rec, "spin_ns");
	json__bool(rec, "in_progress", l->in_progress);
	json__i64(rec, "ret", l->ret);
	if (l->owner_certainty == LB_UNKNOWN) {
		json__null(rec, "owner");
	} else {
		owner = json__add(rec, "owner", json_object_new_object());
		json__str(owner, "comm", l->owner_comm);
		json__u64(owner, "pid", l->owner_tgid);
		json__u64(owner, "tid", l->owner_tid);
		json__str(owner, "mode", mode_name(l->owner_mode));
		json__str(owner, "certainty", certainty_name(l->owner_certainty));
	}
	push_frames(rec, "stack", l->frames, l->n_frames);
	if (t->opts->user_stacks)
		push_frames(rec, "user_stack", l->user, l->n_user);
	json__write(t->out, rec);
}

static const char *const csv_columns[] = {"time", "at_ns", "comm", "pid", "tid", "lock", "kind", "mode",
					  "identity", "site", "wait_ns", "spin_ns", "in_progress", "ret",
					  "owner", "owner_certainty"};

static void csv_line(struct trace *t, const struct line *l)
{
	char when[48], at[24], pid[16], tid[16], lock[24], wait[24], spin[24], ret[16], owner[64];
	const char *cells[] = {when, at, l->comm, pid, tid, lock, kind_name(l->kind), mode_name(l->mode),
			       l->identity, l->site, wait, l->spin_known ? spin : NULL,
			       l->in_progress ? "1" : "0", ret,
			       l->owner_certainty == LB_UNKNOWN ? NULL : owner,
			       certainty_name(l->owner_certainty)};

	format_time(t, l->at_ns, when, sizeof(when));
	snprintf(at, sizeof(at), "%" PRIu64, l->at_ns);
	snprintf(pid, sizeof(pid), "%u", l->tgid);
	snprintf(tid, sizeof(tid), "%u", l->tid);
	snprintf(lock, sizeof(lock), "0x%" PRIx64, l->lock);
	snprintf(wait, sizeof(wait), "%" PRIu64, l->duration_ns);
	snprintf(spin, sizeof(spin), "%" PRIu64, l->spin_ns);
	snprintf(ret, sizeof(ret), "%d", l->ret);
	snprintf(owner, sizeof(owner), "%s/%u", l->owner_comm, l->owner_tid);
	csv__row(t->out, cells, sizeof(cells) / sizeof(cells[0]));
}

static void print_line(struct trace *t, const struct line *l)
{
	if (t->opts->format == FORMAT_JSON)
		json_line(t, l);
	else if (t->opts->format == FORMAT_CSV)
		csv_line(t, l);
	else
		text_line(t, l);
	t->lines++;
}

/* The run is over when the reader has gone or enough lines are out. */
static int enough(struct trace *t)
{
	if (out__error(t->out))
		return 1;
	return t->opts->count && t->lines >= t->opts->count;
}

static int on_event(struct session *s, void *ctx, const struct lb_event *ev, struct err *e)
{
	struct trace *t = ctx;
	struct line l = {
		.at_ns = ev->end,
		.duration_ns = ev->end - ev->begin,
		.spin_ns = ev->spin_ns,
		.spin_known = collect__hooks(s->collect)->kind[ev->kind].spin,
		.lock = ev->lock,
		.comm = ev->comm,
		.tgid = ev->tgid,
		.tid = ev->tid,
		.kind = ev->kind,
		.mode = ev->mode,
		.ret = ev->ret,
		.owner_comm = ev->owner_comm,
		.owner_tgid = ev->owner_tgid,
		.owner_tid = ev->owner_tid,
		.owner_certainty = ev->owner_certainty,
		.owner_mode = ev->owner_mode,
	};

	/* the last look may find more than was asked for */
	if (enough(t))
		return 1;
	l.site = t->names.site(t->names.ctx, ev->kstack);
	l.identity = t->names.identity(t->names.ctx, ev->lock, ev->kind, ev->tgid);
	l.n_frames = namer__stack(s->namer, ev->kstack, l.frames, LB_STACK_DEPTH);
	if (t->opts->user_stacks)
		l.n_user = namer__user_stack(s->namer, ev->ustack, ev->tgid, l.user, LB_STACK_DEPTH);
	print_line(t, &l);
	return enough(t);
}

static void print_overdue(struct trace *t, struct session *s, const struct lb_now *n)
{
	uint64_t frames[LB_NOW_DEPTH];
	struct line l = {
		.at_ns = s->delta.when_ns,
		.duration_ns = s->delta.when_ns - n->slot.begin,
		.lock = n->slot.lock,
		.comm = n->comm,
		.tgid = n->tgid,
		.tid = n->tid,
		.kind = n->slot.kind,
		.mode = n->slot.mode,
		.in_progress = true,
		.owner_comm = n->slot.owner_comm,
		.owner_tgid = n->slot.owner_tgid,
		.owner_tid = n->slot.owner_tid,
		.owner_certainty = n->slot.owner_certainty,
		.owner_mode = n->slot.owner_mode,
	};

	memcpy(frames, n->frame, sizeof(frames));
	l.site = t->names.site_of(t->names.ctx, frames, n->n_frames);
	l.identity = t->names.identity(t->names.ctx, l.lock, l.kind, l.tgid);
	l.n_frames = namer__frames(s->namer, frames, n->n_frames, l.frames, LB_STACK_DEPTH);
	print_line(t, &l);
}

/* Tools that print at the end only are silent during a hang: each wait that has become overdue since
 * the last tick gets a line now. */
static int on_tick(struct session *s, void *ctx, struct err *e)
{
	struct trace *t = ctx;
	uint64_t age = t->opts->min_duration > OVERDUE_NS ? t->opts->min_duration : OVERDUE_NS;
	uint64_t before = s->delta.when_ns - age;

	for (size_t i = 0; i < s->delta.n_now && !s->stopped; i++) {
		const struct lb_now *n = &s->delta.now[i];

		if (n->slot.begin <= before && n->slot.begin > t->overdue_before)
			print_overdue(t, s, n);
	}
	t->overdue_before = before;
	out__flush(t->out);
	return enough(t);
}

static int64_t wall_offset(void)
{
	struct timespec m, r;

	clock_gettime(CLOCK_MONOTONIC, &m);
	clock_gettime(CLOCK_REALTIME, &r);
	return ((int64_t)r.tv_sec - m.tv_sec) * 1000000000LL + (r.tv_nsec - m.tv_nsec);
}

static void start_output(struct trace *t)
{
	if (t->opts->format == FORMAT_JSON)
		json__header(t->out, "trace");
	else if (t->opts->format == FORMAT_CSV && !t->opts->quiet)
		csv__row(t->out, csv_columns, sizeof(csv_columns) / sizeof(csv_columns[0]));
	else if (t->opts->format == FORMAT_TEXT && !t->opts->quiet)
		text_header(t);
	out__flush(t->out);
}

static int run(struct trace *t, struct err *e)
{
	struct session_ops ops = {.tick = on_tick, .event = on_event, .ctx = t};
	/* Every line has a site, so every stack is walked; --min-duration is what keeps it cheap. */
	struct collect_config cfg = {.events = true, .owner = true};
	struct view view = {.format = t->opts->format, .quiet = t->opts->quiet};
	struct session s;
	int r;

	t->opts->all_stacks = true;
	r = session__open(&s, t->opts, &cfg, e);
	if (r)
		return r;
	t->names = namer__names(s.namer, false);
	t->wall_offset_ns = wall_offset();
	start_output(t);
	r = session__run(&s, &ops, e);
	if (!r)
		view__summary(&view, &s, t->out);
	session__close(&s);
	return r;
}

int cmd_trace(struct lb_opts *o)
{
	struct trace t = {.opts = o};
	struct err e = {0};
	int r;

	t.out = out__open(o->output, &e);
	if (!t.out)
		return cmd_fail(EXIT_FAILED, &e);
	r = run(&t, &e);
	if (r) {
		out__close(t.out, NULL);
		return cmd_fail(r == -EINVAL ? EXIT_USAGE : EXIT_FAILED, &e);
	}
	return out__close(t.out, &e) ? cmd_fail(EXIT_FAILED, &e) : EXIT_OK;
}
