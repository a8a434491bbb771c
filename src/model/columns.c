// SPDX-License-Identifier: GPL-2.0
#include "model/columns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/blame.h"
#include "model/kinds.h"
#include "out/units.h"
#include "util/cleanup.h"

#define CELL static struct cell
#define UNKNOWN ((struct cell){0})

static struct cell num(uint64_t u)
{
	return (struct cell){.known = true, .u = u, .num = (double)u};
}

static struct cell real(double v)
{
	return (struct cell){.known = true, .u = (uint64_t)v, .num = v};
}

static struct cell text(const char *s)
{
	return (struct cell){.known = s != NULL, .text = s};
}

/* From samples that were picked by their duration a number of waits can be estimated without bias, but
 * one short wait may stand for thousands: no figure to print. */
CELL get_count(const struct table *t, const struct row *r)
{
	return r->sampled ? UNKNOWN : num(r->count);
}

CELL get_failed(const struct table *t, const struct row *r)
{
	return r->has_hist ? num(r->failed) : UNKNOWN;
}

CELL get_rate(const struct table *t, const struct row *r)
{
	return t->seconds > 0 && !r->sampled ? real((double)r->count / t->seconds) : UNKNOWN;
}

CELL get_total(const struct table *t, const struct row *r)
{
	return num(r->total_ns);
}

CELL get_blocked(const struct table *t, const struct row *r)
{
	return t->seconds > 0 ? real((double)row__blocked_ns(r) / 1e9 / t->seconds) : UNKNOWN;
}

CELL get_share(const struct table *t, const struct row *r)
{
	return t->total_ns ? real((double)r->total_ns / (double)t->total_ns) : UNKNOWN;
}

CELL get_error(const struct table *t, const struct row *r)
{
	if (t->key != BY_SITE && t->key != BY_STACK)
		return num(0);
	return num((uint64_t)r->stderr_ns);
}

CELL get_mean(const struct table *t, const struct row *r)
{
	return r->count && !r->sampled ? num(r->total_ns / r->count) : UNKNOWN;
}

CELL get_p50(const struct table *t, const struct row *r)
{
	return r->has_hist && r->count ? num(row__quantile(r, 0.5)) : UNKNOWN;
}

CELL get_p99(const struct table *t, const struct row *r)
{
	return r->has_hist && r->count ? num(row__quantile(r, 0.99)) : UNKNOWN;
}

CELL get_max(const struct table *t, const struct row *r)
{
	return r->count ? num(r->max_ns) : UNKNOWN;
}

CELL get_spin(const struct table *t, const struct row *r)
{
	return t->spin_kinds & LB_KIND_BIT(r->kind) ? num(r->spin_ns) : UNKNOWN;
}

CELL get_now(const struct table *t, const struct row *r)
{
	return num(r->waiting_now);
}

CELL get_longest(const struct table *t, const struct row *r)
{
	return r->waiting_now ? num(r->longest_now_ns) : UNKNOWN;
}

CELL get_kind(const struct table *t, const struct row *r)
{
	return text(kind_name(r->kind));
}

CELL get_mode(const struct table *t, const struct row *r)
{
	/* a process or a cgroup waits in both */
	if (t->key == BY_PROCESS || t->key == BY_COMM || t->key == BY_CGROUP)
		return UNKNOWN;
	return text(mode_name(r->mode));
}

CELL get_lock(const struct table *t, const struct row *r)
{
	return (struct cell){.known = r->lock != 0, .u = r->lock, .num = (double)r->lock};
}

CELL get_locks(const struct table *t, const struct row *r)
{
	return num(r->n_locks);
}

CELL get_identity(const struct table *t, const struct row *r)
{
	return text(r->identity);
}

CELL get_class(const struct table *t, const struct row *r)
{
	return text(r->cls);
}

CELL get_site(const struct table *t, const struct row *r)
{
	return text(r->site);
}

CELL get_site_share(const struct table *t, const struct row *r)
{
	return r->site_share > 0 ? real(r->site_share) : UNKNOWN;
}

CELL get_owner(const struct table *t, const struct row *r)
{
	return text(r->owner);
}

/* Only where a row is one process, or all of it is the same one. */
CELL get_comm(const struct table *t, const struct row *r)
{
	return t->key == BY_PROCESS || t->key == BY_COMM ? text(r->comm) : UNKNOWN;
}

CELL get_pid(const struct table *t, const struct row *r)
{
	return t->key == BY_PROCESS ? num(r->tgid) : UNKNOWN;
}

CELL get_cgroup(const struct table *t, const struct row *r)
{
	return t->key == BY_CGROUP ? text(r->cgroup_path) : UNKNOWN;
}

CELL get_sampled(const struct table *t, const struct row *r)
{
	return text(r->sampled ? "~" : "");
}

#define B(by) (1u << (by))
#define EACH (B(BY_N) - 1)
#define SPLIT (B(BY_SITE) | B(BY_STACK))
#define EXACT (EACH & ~SPLIT)
#define LOCKS (B(BY_LOCK) | SPLIT)

/* clang-format off: a table is read by columns */
const struct column columns[] = {
	{"count", "count", "WAITS", "waits that ended, those that gave up included; not known for sampled rows", UNIT_COUNT, 6, EACH, get_count},
	{"failed", "failed", "FAILED", "waits that gave up: a signal or a timeout", UNIT_COUNT, 6, 0, get_failed},
	{"rate", "waits_per_s", "WAITS/S", "waits that ended, a second", UNIT_PER_SEC, 7, 0, get_rate},
	{"total", "total_ns", "TOTAL", "time waited, all waiters together", UNIT_NS, 7, EACH, get_total},
	{"est", "sampled", "~", "~ : an estimate, short waits were sampled", UNIT_TEXT, 1, SPLIT, get_sampled},
	{"error", "error_ns", "+-ERR", "standard error of an estimated total", UNIT_NS, 7, SPLIT, get_error},
	{"blocked", "blocked_s_per_s", "BLK/S", "seconds waited a second: how many tasks wait on average", UNIT_PER_SEC, 6, 0, get_blocked},
	{"share", "share", "%", "share of all the time waited", UNIT_SHARE, 5, SPLIT, get_share},
	{"mean", "mean_ns", "MEAN", "time waited divided by waits", UNIT_NS, 7, 0, get_mean},
	{"p50", "p50_ns", "P50", "median wait, to within its power of two", UNIT_NS, 7, 0, get_p50},
	{"p99", "p99_ns", "P99", "99 of 100 waits are shorter, to within a power of two", UNIT_NS, 7, EXACT, get_p99},
	{"max", "max_ns", "MAX", "longest wait that ended (by site and stack: at least)", UNIT_NS, 7, EACH, get_max},
	{"spin", "spin_ns", "SPIN", "part of the total spent spinning, where hooks show it", UNIT_NS, 7, 0, get_spin},
	{"now", "waiting_now", "NOW", "tasks waiting at this moment", UNIT_COUNT, 4, EXACT, get_now},
	{"longest", "longest_now_ns", "LONGEST", "age of the oldest wait in progress", UNIT_NS, 7, EXACT, get_longest},
	{"pid", "pid", "PID", "process that waits", UNIT_COUNT, 7, B(BY_PROCESS), get_pid},
	{"comm", "comm", "COMM", "command name of the task that waits", UNIT_TEXT, 15, B(BY_PROCESS) | B(BY_COMM), get_comm},
	{"cgroup", "cgroup", "CGROUP", "cgroup (v2) that waits", UNIT_TEXT, 24, B(BY_CGROUP), get_cgroup},
	{"kind", "kind", "KIND", "kind of lock", UNIT_TEXT, 9, LOCKS | B(BY_KIND), get_kind},
	{"mode", "mode", "MODE", "read or write", UNIT_TEXT, 5, LOCKS | B(BY_KIND), get_mode},
	{"lock", "lock", "ADDRESS", "address of the lock", UNIT_HEX, 18, 0, get_lock},
	{"locks", "locks", "LOCKS", "different locks in the row", UNIT_COUNT, 5, 0, get_locks},
	{"class", "class", "CLASS", "what sort of object the lock protects", UNIT_TEXT, 20, 0, get_class},
	{"owner", "owner", "OWNER", "who holds it at this moment (? : likely)", UNIT_TEXT, 18, 0, get_owner},
	{"site", "site", "SITE", "where it was wanted: the first frame that is not locking code", UNIT_TEXT, 24, EACH, get_site},
	{"siteshare", "site_share", "SITE%", "share of that site in the row", UNIT_SHARE, 5, 0, get_site_share},
	{"identity", "identity", "LOCK", "what the lock protects (largest, where a row has several)", UNIT_TEXT, 30, EACH, get_identity},
};
/* clang-format on */
const size_t n_columns = ARRAY_SIZE(columns);

CELL get_blame(const struct table *t, const struct row *r)
{
	return num(r->total_ns);
}

CELL get_pending(const struct table *t, const struct row *r)
{
	return num(r->pending_ns);
}

/* Stacks are samples: how often they were seen is not how often the lock was let go. */
CELL get_charges(const struct table *t, const struct row *r)
{
	return r->walked ? UNKNOWN : num(r->count);
}

CELL get_longest_charge(const struct table *t, const struct row *r)
{
	return r->max_ns ? num(r->max_ns) : UNKNOWN;
}

static bool by_holder(const struct table *t)
{
	return t->by != BLAME_LOCK && t->by != BLAME_SITE;
}

CELL get_holder(const struct table *t, const struct row *r)
{
	if (!by_holder(t))
		return UNKNOWN;
	return r->tgid || r->comm[0] ? text(r->comm) : UNKNOWN;
}

CELL get_holder_pid(const struct table *t, const struct row *r)
{
	return by_holder(t) && r->tgid ? num(r->tgid) : UNKNOWN;
}

CELL get_holder_tid(const struct table *t, const struct row *r)
{
	return t->by == BLAME_HOLDER && r->tid ? num(r->tid) : UNKNOWN;
}

static bool is_pair(const struct table *t)
{
	return t->by == BLAME_PAIR || t->by == BLAME_PAIR_STACK;
}

/* A row that is a mixture has no one reason, and is not of one certainty. */
static bool one_reason(const struct table *t, const struct row *r)
{
	switch (t->by) {
	case BLAME_LOCK:
		return false;
	case BLAME_PROCESS:
		return !r->tgid;
	case BLAME_SITE:
		return !r->site;
	case BLAME_STACK:
		return r->kstack < 0;
	default:
		return true;
	}
}

CELL get_certainty(const struct table *t, const struct row *r)
{
	return one_reason(t, r) ? text(certainty_name(r->certainty)) : UNKNOWN;
}

CELL get_reason(const struct table *t, const struct row *r)
{
	return one_reason(t, r) ? text(known_by_name(r->known_by)) : UNKNOWN;
}

CELL get_how(const struct table *t, const struct row *r)
{
	return one_reason(t, r) ? text(known_by_text(r->known_by)) : UNKNOWN;
}

CELL get_held_mode(const struct table *t, const struct row *r)
{
	if (t->by == BLAME_PROCESS || t->by == BLAME_LOCK || (r->certainty == LB_UNKNOWN && !is_pair(t)))
		return UNKNOWN;
	return text(mode_name(r->mode));
}

CELL get_blame_error(const struct table *t, const struct row *r)
{
	return num((uint64_t)r->stderr_ns);
}

CELL get_waiter(const struct table *t, const struct row *r)
{
	return text(r->waiter);
}

CELL get_waiter_site(const struct table *t, const struct row *r)
{
	return text(r->waiter_site);
}

#define PAIRS (B(BLAME_PAIR) | B(BLAME_PAIR_STACK))
#define ALL (B(HOLD_LOCK) - B(BLAME_HOLDER))
#define STACKS (B(BLAME_SITE) | B(BLAME_STACK) | PAIRS)
#define NAMED (B(BLAME_HOLDER) | B(BLAME_PROCESS) | B(BLAME_STACK) | PAIRS)

/* clang-format off: a table is read by columns */
static const struct column blame_columns[] = {
	{"blame", "blame_ns", "BLAME", "waiting that the holder is to blame for (pairs: time waited)", UNIT_NS, 7, ALL, get_blame},
	{"share", "share", "%", "share of all of it", UNIT_SHARE, 5, ALL, get_share},
	{"est", "sampled", "~", "~ : an estimate, short holds were sampled", UNIT_TEXT, 1, STACKS, get_sampled},
	{"error", "error_ns", "+-ERR", "standard error of an estimate", UNIT_NS, 7, 0, get_blame_error},
	{"pending", "pending_ns", "PENDING", "the part of it that a hold is to blame for that goes on", UNIT_NS, 7, 0, get_pending},
	{"holds", "holds", "HOLDS", "times that the holder made others wait until it let go", UNIT_COUNT, 6, B(BLAME_HOLDER) | B(BLAME_LOCK) | B(BLAME_PROCESS), get_charges},
	{"longest", "longest_ns", "LONGEST", "the largest blame of one hold, or charge of it", UNIT_NS, 7, ALL & ~PAIRS, get_longest_charge},
	{"mode", "mode", "MODE", "how it was held: read or write (pairs: how it was wanted)", UNIT_TEXT, 5, ALL & ~B(BLAME_PROCESS) & ~B(BLAME_LOCK), get_held_mode},
	{"sure", "certainty", "SURE", "how sure it is that this was the holder", UNIT_TEXT, 8, B(BLAME_HOLDER), get_certainty},
	{"reason", "reason", "REASON", "how the holder is known, or why not", UNIT_TEXT, 10, 0, get_reason},
	{"how", "how", "HOW", "the same, in words", UNIT_TEXT, 22, ALL & ~PAIRS & ~B(BLAME_LOCK), get_how},
	{"kind", "kind", "KIND", "kind of lock", UNIT_TEXT, 9, 0, get_kind},
	{"lock", "lock", "ADDRESS", "address of the lock", UNIT_HEX, 18, 0, get_lock},
	{"locks", "locks", "LOCKS", "different locks in the row", UNIT_COUNT, 5, 0, get_locks},
	{"class", "class", "CLASS", "what sort of object the lock protects", UNIT_TEXT, 20, 0, get_class},
	{"pid", "holder.pid", "PID", "the holder's process", UNIT_COUNT, 7, B(BLAME_PROCESS), get_holder_pid},
	{"tid", "holder.tid", "TID", "the holder's thread", UNIT_COUNT, 7, B(BLAME_HOLDER), get_holder_tid},
	{"holder", "holder.comm", "HOLDER", "command name of the holder", UNIT_TEXT, 15, NAMED, get_holder},
	{"waiter", "waiter.comm", "WAITER", "command name of who waited", UNIT_TEXT, 15, 0, get_waiter},
	{"waitersite", "waiter.site", "WAITER SITE", "where it was wanted", UNIT_TEXT, 22, PAIRS, get_waiter_site},
	{"site", "site", "HOLDER SITE", "where the holder let it go: the first frame that is not locking code", UNIT_TEXT, 22, ALL, get_site},
	{"siteshare", "site_share", "SITE%", "share of that site in the row", UNIT_SHARE, 5, 0, get_site_share},
	{"identity", "identity", "LOCK", "what the lock protects (largest, where a row has several)", UNIT_TEXT, 30, ALL, get_identity},
};
/* clang-format on */

#undef EACH
#undef SPLIT
#undef EXACT
#undef LOCKS
#define EACH (B(TABLE_BY_N) - B(HOLD_LOCK))
#define SPLIT (B(HOLD_SITE) | B(HOLD_STACK))
#define EXACT (EACH & ~SPLIT)
#define LOCKS (B(HOLD_LOCK) | SPLIT)

/* clang-format off: a table is read by columns */
static const struct column hold_columns[] = {
	{"count", "count", "HOLDS", "holds that ended; not known for sampled rows", UNIT_COUNT, 6, EACH, get_count},
	{"contended", "contended", "CONT", "holds that others waited for when they ended", UNIT_COUNT, 6, EXACT, get_failed},
	{"rate", "holds_per_s", "HOLDS/S", "holds that ended, a second", UNIT_PER_SEC, 7, 0, get_rate},
	{"total", "total_ns", "TOTAL", "time held, all holders together", UNIT_NS, 7, EACH, get_total},
	{"est", "sampled", "~", "~ : an estimate, short holds were sampled", UNIT_TEXT, 1, SPLIT, get_sampled},
	{"error", "error_ns", "+-ERR", "standard error of an estimated total", UNIT_NS, 7, SPLIT, get_error},
	{"held", "held_s_per_s", "HELD/S", "seconds held a second, holds in progress included", UNIT_PER_SEC, 6, 0, get_blocked},
	{"share", "share", "%", "share of all the time held", UNIT_SHARE, 5, SPLIT, get_share},
	{"mean", "mean_ns", "MEAN", "time held divided by holds", UNIT_NS, 7, 0, get_mean},
	{"p50", "p50_ns", "P50", "median hold, to within its power of two", UNIT_NS, 7, EXACT, get_p50},
	{"p99", "p99_ns", "P99", "99 of 100 holds are shorter, to within a power of two", UNIT_NS, 7, EXACT, get_p99},
	{"max", "max_ns", "MAX", "longest hold that ended (by site and stack: at least)", UNIT_NS, 7, EACH, get_max},
	{"now", "held_now", "NOW", "holds in progress", UNIT_COUNT, 4, EXACT, get_now},
	{"longest", "longest_now_ns", "LONGEST", "age of the oldest hold in progress", UNIT_NS, 7, EXACT, get_longest},
	{"pid", "pid", "PID", "process that holds", UNIT_COUNT, 7, B(HOLD_PROCESS), get_pid},
	{"comm", "comm", "COMM", "command name of the task that holds", UNIT_TEXT, 15, B(HOLD_PROCESS) | B(HOLD_COMM), get_comm},
	{"cgroup", "cgroup", "CGROUP", "cgroup (v2) that holds", UNIT_TEXT, 24, B(HOLD_CGROUP), get_cgroup},
	{"kind", "kind", "KIND", "kind of lock", UNIT_TEXT, 9, B(HOLD_KIND), get_kind},
	{"mode", "mode", "MODE", "read or write; a downgraded hold has a part of each", UNIT_TEXT, 5, LOCKS | B(HOLD_KIND), get_mode},
	{"lock", "lock", "ADDRESS", "address of the lock", UNIT_HEX, 18, 0, get_lock},
	{"locks", "locks", "LOCKS", "different locks in the row", UNIT_COUNT, 5, 0, get_locks},
	{"class", "class", "CLASS", "what sort of object the lock protects", UNIT_TEXT, 20, 0, get_class},
	{"site", "site", "SITE", "where it was given back: the first frame that is not locking code", UNIT_TEXT, 24, EACH, get_site},
	{"siteshare", "site_share", "SITE%", "share of that site in the row", UNIT_SHARE, 5, 0, get_site_share},
	{"identity", "identity", "LOCK", "what the lock protects (largest, where a row has several)", UNIT_TEXT, 30, EACH, get_identity},
};
/* clang-format on */

struct column_set columns_of(enum table_by by)
{
	if (table_of(by) == OF_BLAME)
		return (struct column_set){blame_columns, ARRAY_SIZE(blame_columns)};
	if (table_of(by) == OF_HOLDS)
		return (struct column_set){hold_columns, ARRAY_SIZE(hold_columns)};
	return (struct column_set){columns, n_columns};
}

/* Levenshtein distance, for "did you mean". Words are short. */
static unsigned int distance(const char *a, const char *b)
{
	size_t n = strlen(b);
	unsigned int d[32];

	if (n >= ARRAY_SIZE(d))
		return 99;
	for (size_t j = 0; j <= n; j++)
		d[j] = (unsigned int)j;
	for (size_t i = 0; a[i]; i++) {
		unsigned int diag = d[0];

		d[0] = (unsigned int)i + 1;
		for (size_t j = 0; j < n; j++) {
			unsigned int best = diag + (a[i] != b[j]);

			if (best > d[j] + 1)
				best = d[j] + 1;
			if (best > d[j + 1] + 1)
				best = d[j + 1] + 1;
			diag = d[j + 1];
			d[j + 1] = best;
		}
	}
	return d[n];
}

int column_find(enum table_by by, const char *key, struct err *e)
{
	const struct column_set set = columns_of(by);
	char near[128] = "";

	for (size_t i = 0; i < set.n; i++)
		if (!strcmp(set.c[i].key, key) || !strcmp(set.c[i].json, key))
			return (int)i;
	for (size_t i = 0; i < set.n; i++) {
		size_t len = strlen(near);

		if (distance(key, set.c[i].key) <= 2 || !strncmp(key, set.c[i].key, 3))
			snprintf(near + len, sizeof(near) - len, "%s%s", len ? ", " : "", set.c[i].key);
	}
	err_set(e, -EINVAL, "there is no column '%s' (%s%s)", key, near[0] ? "near it: " : "",
		near[0] ? near : "--columns help lists them");
	return -1;
}

int columns_choose(enum table_by by, const char *list, unsigned int *out, struct err *e)
{
	const struct column_set set = columns_of(by);
	int n = 0;

	if (!list) {
		for (size_t i = 0; i < set.n; i++)
			if (set.c[i].shown_by & B(by))
				out[n++] = (unsigned int)i;
		return n;
	}
	while (*list) {
		size_t len = strcspn(list, ",");
		char word[32];
		int c;

		snprintf(word, sizeof(word), "%.*s", (int)len, list);
		c = column_find(by, word, e);
		if (c < 0)
			return -EINVAL;
		if ((size_t)n == set.n)
			return err_set(e, -EINVAL, "more columns than there are");
		out[n++] = (unsigned int)c;
		list += len + (list[len] == ',');
	}
	return n ? n : err_set(e, -EINVAL, "an empty list of columns");
}

char *cell_text(const struct column *c, const struct cell *v, char *buf, size_t size)
{
	char u[UNITS_BUF];

	if (!v->known) {
		snprintf(buf, size, "-");
		return buf;
	}
	switch (c->unit) {
	case UNIT_TEXT:
		snprintf(buf, size, "%s", v->text);
		break;
	case UNIT_NS:
		snprintf(buf, size, "%s", units__ns(u, v->u));
		break;
	case UNIT_COUNT:
		snprintf(buf, size, "%s", c->get == get_pid || c->get == get_holder_pid || c->get == get_holder_tid
						  ? (snprintf(u, sizeof(u), "%llu", (unsigned long long)v->u), u)
						  : units__count(u, v->u));
		break;
	case UNIT_PER_SEC:
		snprintf(buf, size, v->num < 10 ? "%.2f" : "%.0f", v->num);
		break;
	case UNIT_SHARE:
		snprintf(buf, size, "%.1f", v->num * 100);
		break;
	case UNIT_HEX:
		snprintf(buf, size, "0x%llx", (unsigned long long)v->u);
		break;
	}
	return buf;
}

struct sort {
	const struct table *t;
	const struct column *c;
	int sign;
};

static int cmp_cells(const void *pa, const void *pb, void *ctx)
{
	const struct sort *s = ctx;
	struct cell a = s->c->get(s->t, pa), b = s->c->get(s->t, pb);

	/* what is not known comes last either way */
	if (a.known != b.known)
		return a.known ? -1 : 1;
	if (s->c->unit == UNIT_TEXT)
		return s->sign * strcmp(a.text ? a.text : "", b.text ? b.text : "");
	return s->sign * (a.num < b.num ? 1 : a.num > b.num ? -1 : 0);
}

void table__sort(struct table *t, unsigned int column, bool reverse)
{
	struct sort s = {t, &columns_of(t->by).c[column], reverse ? -1 : 1};

	qsort_r(t->rows, t->n_rows, sizeof(*t->rows), cmp_cells, &s);
}
