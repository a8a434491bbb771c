// SPDX-License-Identifier: GPL-2.0
/* Snapshots, histograms, grouping and columns. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "model/columns.h"
#include "model/kinds.h"
#include "model/snapshot.h"
#include "model/table.h"

static const char *name_site(void *ctx, int32_t id)
{
	return id == 7 ? "site_seven" : id == 8 ? "site_eight" : NULL;
}

static const char *name_site_of(void *ctx, const uint64_t *frames, unsigned int n)
{
	return n ? "site_now" : NULL;
}

static const char *name(void *ctx, uint64_t lock, unsigned int kind, uint32_t tgid)
{
	return lock == 0x1000 ? "first lock" : "other lock";
}

static uint64_t same_lock(void *ctx, uint64_t lock, unsigned int kind, uint32_t tgid)
{
	return lock;
}

static const char *cgroup(void *ctx, uint64_t id)
{
	return "/";
}

static const struct table_names names = {
	.site = name_site,
	.site_of = name_site_of,
	.first_name = name,
	.identity = name,
	.lock_class = name,
	.lock_of = same_lock,
	.cgroup = cgroup,
};

static struct wait_cell wait_cell(uint64_t lock, uint32_t tgid, uint64_t count, uint64_t each_ns)
{
	struct wait_cell c = {.key = {.lock = lock, .tgid = tgid, .kind = LB_RWSEM, .mode = LB_WRITE}};
	int b = 63 - __builtin_clzll(each_ns);

	c.val.count = count;
	c.val.total_ns = count * each_ns;
	c.val.max_ns = each_ns;
	c.val.hist[b] = (uint32_t)count;
	return c;
}

static const struct wait_cell *waits_of(const struct snapshot *s)
{
	return s->cells[SET_WAITS].p;
}

static struct snapshot snapshot_of(const struct wait_cell *cells, size_t n)
{
	struct snapshot s = {.cells[SET_WAITS] = {.n = n, .live = n}};

	s.cells[SET_WAITS].p = malloc(n * sizeof(*cells) + 1);
	memcpy(s.cells[SET_WAITS].p, cells, n * sizeof(*cells));
	for (size_t i = 0; i < n; i++)
		s.stats.recorded += cells[i].val.count;
	s.stats.seen = s.stats.recorded;
	return s;
}

static void quantiles_stay_in_their_bucket(void **state)
{
	struct row r = {.has_hist = true, .max_ns = 1500};

	assert_int_equal(row__quantile(&r, 0.5), 0);
	r.hist[10] = 100; /* 1024 to 2047 */
	assert_in_range(row__quantile(&r, 0.5), 1024, 2047);
	/* never above what was seen */
	assert_int_equal(row__quantile(&r, 1), 1500);
	r.hist[4] = 9900;
	assert_in_range(row__quantile(&r, 0.5), 16, 31);
	assert_in_range(row__quantile(&r, 0.99), 16, 32);
	assert_in_range(row__quantile(&r, 0.991), 1024, 1500);
}

static void delta_is_what_came_since(void **state)
{
	struct wait_cell a[] = {wait_cell(0x1000, 1, 5, 100), wait_cell(0x2000, 1, 3, 50)};
	struct wait_cell b[] = {wait_cell(0x2000, 1, 3, 50), wait_cell(0x3000, 2, 1, 9), a[0]};
	struct snapshot prev = snapshot_of(a, 2), cur, d;

	b[2].val.count = 7;
	b[2].val.total_ns = 700;
	b[2].val.hist[6] = 7;
	cur = snapshot_of(b, 3);
	assert_int_equal(snapshot__delta(&cur, &prev, &d), 0);
	/* the row that did not change is not there */
	assert_int_equal(d.cells[SET_WAITS].n, 2);
	for (size_t i = 0; i < d.cells[SET_WAITS].n; i++) {
		if (waits_of(&d)[i].key.lock == 0x1000) {
			assert_int_equal(waits_of(&d)[i].val.count, 2);
			assert_int_equal(waits_of(&d)[i].val.total_ns, 200);
			assert_int_equal(waits_of(&d)[i].val.hist[6], 2);
			/* the maximum of the interval is at most its bucket's edge and the known one */
			assert_int_equal(waits_of(&d)[i].val.max_ns, 100);
		} else {
			assert_int_equal(waits_of(&d)[i].val.count, 1);
		}
	}
	assert_int_equal(d.stats.recorded, cur.stats.recorded - prev.stats.recorded);
	snapshot__fini(&d);
	snapshot__fini(&prev);
	snapshot__fini(&cur);
}

/* A row that has left the kernel's table and comes back counts from zero: it must not be taken for the
 * old one. */
static void evicted_rows_do_not_go_negative(void **state)
{
	struct wait_cell a[] = {wait_cell(0x1000, 1, 100, 100)}, b[] = {wait_cell(0x1000, 1, 2, 100)};
	struct snapshot prev = snapshot_of(a, 1), cur = snapshot_of(b, 1), d;

	prev.cells[SET_WAITS].live = 0;
	assert_int_equal(snapshot__delta(&cur, &prev, &d), 0);
	assert_int_equal(d.cells[SET_WAITS].n, 1);
	assert_int_equal(waits_of(&d)[0].val.count, 2);
	snapshot__fini(&d);
	snapshot__fini(&prev);
	snapshot__fini(&cur);
}

static void sums_are_conserved(void **state)
{
	struct snapshot total = {0};
	uint64_t count = 0, ns = 0;

	for (uint32_t round = 0; round < 50; round++) {
		struct wait_cell c[] = {wait_cell(0x1000 + round % 7, round % 3, round + 1, 100),
					wait_cell(0x9000, 5, 2, 1 + round)};
		struct snapshot d = snapshot_of(c, 2);

		assert_int_equal(snapshot__add(&total, &d), 0);
		snapshot__fini(&d);
	}
	for (size_t i = 0; i < total.cells[SET_WAITS].n; i++) {
		count += waits_of(&total)[i].val.count;
		ns += waits_of(&total)[i].val.total_ns;
	}
	assert_int_equal(count, 50 * 51 / 2 + 100);
	assert_int_equal(count, total.stats.recorded);
	assert_int_equal(ns, 100 * 50 * 51 / 2 + 2 * 50 * 51 / 2);
	snapshot__fini(&total);
}

static void rows_are_grouped_by_the_key(void **state)
{
	struct wait_cell c[] = {wait_cell(0x1000, 1, 5, 100), wait_cell(0x1000, 2, 3, 1000),
				wait_cell(0x2000, 1, 1, 10)};
	struct snapshot s = snapshot_of(c, 3);
	struct table t;

	assert_int_equal(table__build(&t, BY_LOCK, &s, 2.0, &names), 0);
	assert_int_equal(t.n_rows, 2);
	assert_int_equal(t.rows[0].lock, 0x1000);
	assert_int_equal(t.rows[0].count, 8);
	assert_int_equal(t.rows[0].total_ns, 3500);
	assert_int_equal(t.rows[0].max_ns, 1000);
	assert_string_equal(t.rows[0].identity, "first lock");
	assert_int_equal(t.total_ns, 3510);
	table__fini(&t);
	assert_int_equal(table__build(&t, BY_PROCESS, &s, 2.0, &names), 0);
	assert_int_equal(t.n_rows, 2);
	assert_int_equal(t.rows[0].tgid, 2);
	assert_int_equal(t.rows[1].n_locks, 2);
	assert_int_equal(t.rows[1].lock, 0x1000); /* the one with most time */
	table__fini(&t);
	snapshot__fini(&s);
}

static void sampled_rows_keep_quiet_about_counts(void **state)
{
	struct split_cell c = {.key = {.lock = 0x1000, .kstack = 7}};
	struct snapshot s = {.cells[SET_SPLITS] = {&c, 1, 1}};
	const struct column *count, *error;
	struct table t;

	c.val = (struct lb_stack_val){
		.walked = 4, .sampled = 3, .count_q = 5000 * 1024, .total_ns = 4000000, .var_us2 = 9};
	assert_int_equal(table__build(&t, BY_SITE, &s, 1, &names), 0);
	assert_int_equal(t.n_rows, 1);
	assert_string_equal(t.rows[0].site, "site_seven");
	count = &columns[column_find(BY_LOCK, "count", NULL)];
	error = &columns[column_find(BY_LOCK, "error_ns", NULL)];
	assert_false(count->get(&t, &t.rows[0]).known);
	assert_int_equal(error->get(&t, &t.rows[0]).u, 3000);
	table__fini(&t);
}

static void columns_are_found_or_the_near_ones_named(void **state)
{
	unsigned int out[64];
	struct err e = {0};

	assert_true(column_find(BY_LOCK, "total", &e) >= 0);
	assert_int_equal(column_find(BY_LOCK, "total", &e), column_find(BY_LOCK, "total_ns", &e));
	assert_int_equal(column_find(BY_LOCK, "totl", &e), -1);
	assert_non_null(strstr(e.msg, "near it: total"));
	assert_int_equal(columns_choose(BY_LOCK, "count,identity", out, &e), 2);
	assert_int_equal(columns_choose(BY_LOCK, "count,nonsense", out, &e), -22);
	for (int by = 0; by < BY_N; by++)
		assert_true(columns_choose((enum table_by)by, NULL, out, &e) > 4);
}

static void every_kind_has_its_word(void **state)
{
	for (int k = 0; k < LB_KIND_N; k++)
		assert_int_equal(kind_by_name(kind_name((unsigned int)k)), k);
	assert_int_equal(kind_by_name("spin"), -1);
	assert_string_equal(kind_name(99), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_stay_in_their_bucket),
		cmocka_unit_test(delta_is_what_came_since),
		cmocka_unit_test(evicted_rows_do_not_go_negative),
		cmocka_unit_test(sums_are_conserved),
		cmocka_unit_test(rows_are_grouped_by_the_key),
		cmocka_unit_test(sampled_rows_keep_quiet_about_counts),
		cmocka_unit_test(columns_are_found_or_the_near_ones_named),
		cmocka_unit_test(every_kind_has_its_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
