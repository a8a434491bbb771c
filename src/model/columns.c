// SPDX-License-Identifier: GPL-2.0
#include "model/columns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	if (t->by != BY_SITE && t->by != BY_STACK)
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
	if (t->by == BY_PROCESS || t->by == BY_COMM || t->by == BY_CGROUP)
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
	return t->by == BY_PROCESS || t->by == BY_COMM ? text(r->comm) : UNKNOWN;
}

CELL get_pid(const struct table *t, const struct row *r)
{
	return t->by == BY_PROCESS ? num(r->tgid) : UNKNOWN;
}

CELL get_cgroup(const struct table *t, const struct row *r)
{
	return t->by == BY_CGROUP ? text(r->cgroup_path) : UNKNOWN;
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

int column_find(const char *key, struct err *e)
{
	char near[128] = "";

	for (size_t i = 0; i < n_columns; i++)
		if (!strcmp(columns[i].key, key) || !strcmp(columns[i].json, key))
			return (int)i;
	for (size_t i = 0; i < n_columns; i++) {
		size_t len = strlen(near);

		if (distance(key, columns[i].key) <= 2 || !strncmp(key, columns[i].key, 3))
			snprintf(near + len, sizeof(near) - len, "%s%s", len ? ", " : "", columns[i].key);
	}
	err_set(e, -EINVAL, "there is no column '%s' (%s%s)", key, near[0] ? "near it: " : "",
		near[0] ? near : "--columns help lists them");
	return -1;
}

int columns_choose(enum table_by by, const char *list, unsigned int *out, struct err *e)
{
	int n = 0;

	if (!list) {
		for (size_t i = 0; i < n_columns; i++)
			if (columns[i].shown_by & B(by))
				out[n++] = (unsigned int)i;
		return n;
	}
	while (*list) {
		size_t len = strcspn(list, ",");
		char word[32];
		int c;

		snprintf(word, sizeof(word), "%.*s", (int)len, list);
		c = column_find(word, e);
		if (c < 0)
			return -EINVAL;
		if ((size_t)n == n_columns)
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
		snprintf(buf, size, "%s", c->get == get_pid
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
	struct sort s = {t, &columns[column], reverse ? -1 : 1};

	qsort_r(t->rows, t->n_rows, sizeof(*t->rows), cmp_cells, &s);
}
