// SPDX-License-Identifier: GPL-2.0
#include "tui/detail.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/columns.h"
#include "model/kinds.h"
#include "out/units.h"
#include "tui/screen.h"
#include "util/cleanup.h"

#define WAITERS_SHOWN 8
#define STACKS_SHOWN 20
#define BAR_WIDTH 40

/* The row that a cell would fall into, as far as identifying it goes. */
static struct row_id id_of(enum table_by by, const struct table_names *n, uint64_t lock,
			   uint32_t kind, uint32_t mode, uint32_t tgid, const char *comm,
			   const char *site)
{
	struct row r = {
		.lock = by == BY_LOCK || by == BY_STACK ? n->lock_of(n->ctx, lock, kind, tgid) : 0,
		.tgid = tgid,
		.site = site,
		.kind = (uint8_t)kind,
		.mode = (uint8_t)mode,
		.kstack = LB_NO_STACK,
		.ustack = LB_NO_STACK,
	};

	if (by == BY_LOCK || by == BY_STACK)
		r.first_name = n->first_name(n->ctx, lock, kind, tgid);
	memcpy(r.comm, comm, sizeof(r.comm));
	return row_id__of(by, &r);
}

static bool wait_belongs(enum table_by by, const struct row_id *want, const struct table_names *n,
			 const struct wait_cell *c)
{
	struct row_id id;

	if (by == BY_SITE || by == BY_STACK)
		return false;
	id = id_of(by, n, c->key.lock, c->key.kind, c->key.mode, c->key.tgid, c->val.comm, NULL);
	id.cgroup = by == BY_CGROUP ? c->key.cgroup : 0;
	return row_id__equal(&id, want);
}

static bool split_belongs(enum table_by by, const struct row_id *want, const struct table_names *n,
			  const struct split_cell *c)
{
	const char *site = by == BY_SITE ? n->site(n->ctx, c->key.kstack) : NULL;
	struct row_id id =
		id_of(by, n, c->key.lock, c->key.kind, c->key.mode, c->key.tgid, c->val.comm, site);

	id.cgroup = by == BY_CGROUP ? c->key.cgroup : 0;
	if (by == BY_STACK) {
		id.kstack = c->key.kstack;
		id.ustack = c->key.ustack;
	}
	return row_id__equal(&id, want);
}

static bool now_belongs(enum table_by by, const struct row_id *want, const struct table_names *n,
			const struct lb_now *w)
{
	const char *site = NULL;
	uint64_t frames[LB_NOW_DEPTH];
	struct row_id id;

	if (by == BY_SITE) {
		memcpy(frames, w->frame, sizeof(frames));
		site = n->site_of(n->ctx, frames, w->n_frames);
	}
	id = id_of(by, n, w->slot.lock, w->slot.kind, w->slot.mode, w->tgid, w->comm, site);
	if (by == BY_STACK) {
		id.kstack = LB_NO_STACK;
		id.ustack = LB_NO_STACK;
	}
	return row_id__equal(&id, want);
}

static void *alloc_cells(struct snapshot *s, enum snapshot_set set, size_t n)
{
	return s->cells[set].p = calloc(n + 1, snapshot__set(set)->size);
}

int detail__select(enum table_by by, const struct row *r, const struct snapshot *snap,
		   const struct table_names *names, struct snapshot *out)
{
	struct row_id want = row_id__of(by, r);
	size_t n_waits, n_splits;
	const struct wait_cell *all_waits = snapshot__waits(snap, &n_waits);
	const struct split_cell *all_splits = snapshot__splits(snap, &n_splits);
	struct wait_cell *waits;
	struct split_cell *splits;

	memset(out, 0, sizeof(*out));
	out->when_ns = snap->when_ns;
	out->before_ns = snap->before_ns;
	out->stats = snap->stats;
	waits = alloc_cells(out, SET_WAITS, n_waits);
	splits = alloc_cells(out, SET_SPLITS, n_splits);
	out->now = calloc(snap->n_now + 1, sizeof(*out->now));
	out->before = calloc(snap->n_before + 1, sizeof(*out->before));
	if (!waits || !splits || !out->now || !out->before) {
		snapshot__fini(out);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n_waits; i++)
		if (wait_belongs(by, &want, names, &all_waits[i]))
			waits[out->cells[SET_WAITS].n++] = all_waits[i];
	for (size_t i = 0; i < n_splits; i++)
		if (split_belongs(by, &want, names, &all_splits[i]))
			splits[out->cells[SET_SPLITS].n++] = all_splits[i];
	for (size_t i = 0; i < snap->n_now; i++)
		if (now_belongs(by, &want, names, &snap->now[i]))
			out->now[out->n_now++] = snap->now[i];
	for (size_t i = 0; i < snap->n_before; i++)
		if (now_belongs(by, &want, names, &snap->before[i]))
			out->before[out->n_before++] = snap->before[i];
	out->cells[SET_WAITS].live = out->cells[SET_WAITS].n;
	out->cells[SET_SPLITS].live = out->cells[SET_SPLITS].n;
	return 0;
}

static const char *known(const char *s)
{
	return s ? s : "-";
}

static void blank(struct lines *out)
{
	lines__add(out, LINE_PLAIN, "%s", "");
}

static void heading(const struct detail *d, const struct row *r, struct lines *out)
{
	char buf[1024];

	switch (d->by) {
	case BY_LOCK:
		snprintf(buf, sizeof(buf), "%s", known(r->identity));
		break;
	case BY_SITE:
		snprintf(buf, sizeof(buf), "%s: waits for a %s, %s", known(r->site),
			 kind_name(r->kind), mode_name(r->mode));
		break;
	case BY_PROCESS:
		snprintf(buf, sizeof(buf), "process %u, %s", r->tgid, r->comm);
		break;
	case BY_COMM:
		snprintf(buf, sizeof(buf), "tasks called %s", r->comm);
		break;
	case BY_CGROUP:
		if (r->cgroup)
			snprintf(buf, sizeof(buf), "cgroup %s", known(r->cgroup_path));
		else
			snprintf(buf, sizeof(buf), "waits in progress: their cgroup is known when they end");
		break;
	default:
		snprintf(buf, sizeof(buf), "%s, %s", kind_name(r->kind), mode_name(r->mode));
	}
	lines__wrap(out, LINE_BOLD, d->width, 2, 3, buf);
	if (d->by == BY_LOCK)
		snprintf(buf, sizeof(buf), "%s, waits for %s; 0x%" PRIx64 "; owner now: %s",
			 kind_name(r->kind), mode_name(r->mode), r->lock, known(r->owner));
	else
		snprintf(buf, sizeof(buf), "%u lock%s; largest: %s (0x%" PRIx64 "), owner now: %s",
			 r->n_locks, r->n_locks == 1 ? "" : "s", known(r->identity), r->lock,
			 known(r->owner));
	lines__wrap(out, LINE_PLAIN, d->width, 2, 3, buf);
}

static int cmp_begin(const void *pa, const void *pb)
{
	const struct lb_now *a = pa, *b = pb;

	return a->slot.begin < b->slot.begin ? -1 : a->slot.begin > b->slot.begin;
}

static bool same_stack(const struct lb_now *a, const struct lb_now *b)
{
	return a->n_frames == b->n_frames &&
	       !memcmp(a->frame, b->frame,
		       (a->n_frames < LB_NOW_DEPTH ? a->n_frames : LB_NOW_DEPTH) *
			       sizeof(a->frame[0]));
}

static void waiter_stack(const struct detail *d, const struct lb_now *w, struct lines *out)
{
	const char *frames[LB_NOW_DEPTH];
	uint64_t addr[LB_NOW_DEPTH];
	int n;

	memcpy(addr, w->frame, sizeof(addr));
	n = d->stacks.raw(d->stacks.ctx, addr, w->n_frames, frames, LB_NOW_DEPTH);
	for (int i = 0; i < n; i++)
		lines__add(out, LINE_DIM, "        %s", frames[i]);
	if (!n)
		lines__add(out, LINE_DIM,
			   "        (no stack: it was running when it was looked at)");
}

static void waiter(const struct detail *d, const struct lb_now *w, uint64_t when, struct lines *out)
{
	uint64_t age = when > w->slot.begin ? when - w->slot.begin : 0;
	char u[UNITS_BUF], owner[64] = "";

	if (w->slot.owner_certainty != LB_UNKNOWN)
		snprintf(owner, sizeof(owner), "  came behind %.16s/%u%s", w->slot.owner_comm,
			 w->slot.owner_tid, w->slot.owner_certainty == LB_EXACT ? "" : "?");
	lines__add(out, age >= STUCK_NS ? LINE_ALERT : 0, "%c %7s  %-5s  %.16s/%u%s%s%s",
		   age >= STUCK_NS ? '!' : ' ', units__ns(u, age), mode_name(w->slot.mode), w->comm,
		   w->tid, owner, d->by == BY_LOCK ? "" : "  ",
		   d->by == BY_LOCK ? ""
				    : known(d->names->identity(d->names->ctx, w->slot.lock,
							       w->slot.kind, w->tgid)));
}

/* Oldest first; a stack that equals the one above is not shown again. */
static void waiters(const struct detail *d, struct snapshot *sub, struct lines *out)
{
	size_t shown = d->all_waiters || sub->n_now <= WAITERS_SHOWN ? sub->n_now : WAITERS_SHOWN;

	blank(out);
	if (!sub->n_now) {
		lines__add(out, LINE_BOLD, "Waiting now: nobody");
		return;
	}
	qsort(sub->now, sub->n_now, sizeof(*sub->now), cmp_begin);
	lines__add(out, LINE_BOLD, "Waiting now: %zu, oldest first", sub->n_now);
	for (size_t i = 0; i < shown; i++) {
		waiter(d, &sub->now[i], sub->when_ns, out);
		if (i + 1 == shown || !same_stack(&sub->now[i], &sub->now[i + 1]))
			waiter_stack(d, &sub->now[i], out);
	}
	if (shown < sub->n_now)
		lines__add(out, LINE_PLAIN, "  ... and %zu more (w shows them)",
			   sub->n_now - shown);
}

static void one_stack(const struct detail *d, const struct row *x, uint64_t all, struct lines *out)
{
	const char *frames[LB_STACK_DEPTH];
	char share[UNITS_BUF], total[UNITS_BUF], err[UNITS_BUF + 8] = "", u[UNITS_BUF];
	int n;

	if (x->sampled)
		snprintf(err, sizeof(err), " +- %s", units__ns(u, (uint64_t)x->stderr_ns));
	lines__add(out, LINE_PLAIN, "%5s %%  %s%s%s, %" PRIu64 " stacks walked%s%s",
		   units__percent(share, x->total_ns, all), x->sampled ? "~" : "",
		   units__ns(total, x->total_ns), err, x->walked, d->by == BY_LOCK ? "" : ", ",
		   d->by == BY_LOCK ? "" : known(x->identity));
	n = d->stacks.kernel(d->stacks.ctx, x->kstack, frames, LB_STACK_DEPTH);
	for (int i = 0; i < n; i++)
		lines__add(out, LINE_DIM, "        %s", frames[i]);
	if (!n)
		lines__add(out, LINE_DIM, "        (the kernel stack could not be kept)");
	n = d->stacks.user
		    ? d->stacks.user(d->stacks.ctx, x->ustack, x->tgid, frames, LB_STACK_DEPTH)
		    : 0;
	for (int i = 0; i < n; i++)
		lines__add(out, LINE_DIM, "        %s (user)", frames[i]);
}

static int stacks(const struct detail *d, const struct snapshot *sub, struct lines *out)
{
	struct snapshot only = *sub;
	struct table t;
	uint64_t all = 0;
	size_t shown;
	int r;

	blank(out);
	only.n_now = only.n_before = 0; /* these have just been shown, and have no stack id */
	r = table__build(&t, BY_STACK, &only, d->seconds, d->names);
	for (size_t i = 0; !r && i < t.n_rows; i++)
		all += t.rows[i].total_ns;
	if (!r && !t.n_rows)
		lines__add(out, LINE_BOLD, "Stacks: no wait with a stack ended in this time");
	else if (!r)
		lines__add(out, LINE_BOLD,
			   "Stacks, by share of the time waited (~ estimated: short waits are "
			   "sampled)");
	shown = r || t.n_rows < STACKS_SHOWN ? t.n_rows : STACKS_SHOWN;
	for (size_t i = 0; !r && i < shown; i++)
		one_stack(d, &t.rows[i], all, out);
	if (!r && shown < t.n_rows)
		lines__add(out, LINE_PLAIN, "  ... and %zu stacks more", t.n_rows - shown);
	table__fini(&t);
	return r;
}

static void histogram(const struct detail *d, const struct row *r, struct lines *out)
{
	int low = -1, high = -1;
	uint64_t most = 0, all = 0;

	for (int b = 0; r && b < LB_HIST_BUCKETS; b++) {
		if (!r->hist[b])
			continue;
		low = low < 0 ? b : low;
		high = b;
		all += r->hist[b];
		most = r->hist[b] > most ? r->hist[b] : most;
	}
	blank(out);
	if (d->by == BY_SITE || d->by == BY_STACK) {
		lines__add(out, LINE_BOLD, "Histogram: not kept by site (see the lock's own)");
		return;
	}
	if (low < 0) {
		lines__add(out, LINE_BOLD, "Histogram: no wait ended in this time");
		return;
	}
	lines__add(out, LINE_BOLD, "Waits by duration");
	for (int b = low; b <= high; b++) {
		char from[UNITS_BUF], to[UNITS_BUF], count[UNITS_BUF], share[UNITS_BUF],
			bar[BAR_WIDTH + 1];
		size_t len = (size_t)((double)r->hist[b] / (double)most * BAR_WIDTH + 0.5);

		if (r->hist[b] && !len)
			len = 1;
		memset(bar, '#', len);
		bar[len] = '\0';
		lines__add(out, LINE_PLAIN, "  %7s - %-7s %6s %5s%% %s",
			   units__ns(from, b ? 1ULL << b : 0),
			   b + 1 == LB_HIST_BUCKETS ? "up" : units__ns(to, 2ULL << b),
			   units__count(count, r->hist[b]), units__percent(share, r->hist[b], all),
			   bar);
	}
}

/* Every figure of the column table that is known for this row. */
static void figures(const struct table *t, const struct row *r, struct lines *out)
{
	blank(out);
	lines__add(out, LINE_BOLD, "Figures");
	for (size_t i = 0; i < n_columns; i++) {
		struct cell cell;
		char buf[512];

		if (columns[i].unit == UNIT_TEXT || columns[i].unit == UNIT_HEX)
			continue;
		if (!strcmp(columns[i].key, "error") && !r->sampled)
			continue; /* exact */
		cell = columns[i].get(t, r);
		if (cell.known)
			lines__add(out, LINE_PLAIN, "  %-8s %10s  %s", columns[i].title,
				   cell_text(&columns[i], &cell, buf, sizeof(buf)),
				   columns[i].help);
	}
}

/* For shares: the time of all rows, this one being a part of it. */
static uint64_t whole_ns(enum table_by by, const struct snapshot *s)
{
	uint64_t ns = 0;
	size_t n_waits, n_splits;
	const struct wait_cell *waits = snapshot__waits(s, &n_waits);
	const struct split_cell *splits = snapshot__splits(s, &n_splits);

	for (size_t i = 0; i < n_waits && by != BY_SITE && by != BY_STACK; i++)
		ns += waits[i].val.total_ns;
	for (size_t i = 0; i < n_splits && (by == BY_SITE || by == BY_STACK); i++)
		ns += splits[i].val.total_ns;
	return ns;
}

int detail__lines(const struct detail *d, struct lines *out)
{
	struct snapshot sub;
	struct table t = {0};
	struct row_id want = row_id__of(d->by, &d->row);
	struct row row = d->row;
	const struct row *found = NULL;
	int r = detail__select(d->by, &d->row, d->snap, d->names, &sub);

	if (r)
		return r;
	r = table__build(&t, d->by, &sub, d->seconds, d->names);
	t.spin_kinds = d->spin_kinds;
	t.total_ns = whole_ns(d->by, d->snap);
	for (size_t i = 0; !r && i < t.n_rows; i++) {
		struct row_id id = row_id__of(d->by, &t.rows[i]);

		if (row_id__equal(&id, &want))
			found = &t.rows[i];
	}
	if (found)
		row = *found;
	if (!r) {
		heading(d, &row, out);
		if (!found)
			lines__add(out, LINE_PLAIN, "%s",
				   d->totals ? "Nobody has waited for it since the start."
					     : "Nobody waited in the last interval (t: since the "
					       "start).");
		waiters(d, &sub, out);
		r = stacks(d, &sub, out);
		histogram(d, found, out);
		if (found)
			figures(&t, found, out);
	}
	table__fini(&t);
	snapshot__fini(&sub);
	return r || out->failed ? -ENOMEM : 0;
}
