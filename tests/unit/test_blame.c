// SPDX-License-Identifier: GPL-2.0
/* Tables of blame: grouped by each key they keep their sum; what goes on; whose stack; the two sides. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "model/blame.h"
#include "model/columns.h"
#include "util/cleanup.h"

#define A 0x1000
#define B 0x2000
#define NOW (1000000 * (uint64_t)LB_TICK)

static const char *name_site(void *ctx, int32_t id)
{
	return id == 7 ? "unmap" : id == 8 ? "fork" : id == 9 ? "read_cmdline" : NULL;
}

static const char *name(void *ctx, uint64_t lock, unsigned int kind, uint32_t tgid)
{
	return lock == A ? "first lock" : "other lock";
}

static uint64_t same_lock(void *ctx, uint64_t lock, unsigned int kind, uint32_t tgid)
{
	return lock;
}

static const struct table_names names = {
	.site = name_site,
	.first_name = name,
	.identity = name,
	.lock_class = name,
	.lock_of = same_lock,
};

static struct blame_cell blames[] = {
	{{.lock = A, .tgid = 10, .tid = 11, .mode = LB_WRITE, .certainty = LB_EXACT, .known_by = LB_BY_RELEASE},
	 {.ns = 700, .charges = 7, .longest = 300, .comm = "holder"}},
	{{.lock = A, .tgid = 10, .tid = 12, .mode = LB_READ, .certainty = LB_EXACT, .known_by = LB_BY_RELEASE},
	 {.ns = 200, .charges = 2, .longest = 150, .comm = "holder"}},
	{{.lock = A, .tgid = 20, .tid = 20, .mode = LB_WRITE, .certainty = LB_LIKELY, .known_by = LB_BY_OWNER},
	 {.ns = 50, .charges = 1, .longest = 50, .comm = "other"}},
	{{.lock = A, .certainty = LB_UNKNOWN, .known_by = LB_HANDOVER}, {.ns = 30, .charges = 3, .longest = 20}},
	{{.lock = B, .certainty = LB_UNKNOWN, .known_by = LB_NO_OWNER}, {.ns = 20, .charges = 1, .longest = 20}},
};

/* All stacks were walked: the split's sum is that of the exact holders. */
static struct hstack_cell hstacks[] = {
	{{.lock = A, .tgid = 10, .kstack = 7, .mode = LB_WRITE}, {.walked = 5, .total_ns = 600, .comm = "holder"}},
	{{.lock = A, .tgid = 10, .kstack = 8, .mode = LB_WRITE}, {.walked = 2, .total_ns = 100, .comm = "holder"}},
	{{.lock = A, .tgid = 10, .kstack = 7, .mode = LB_READ}, {.walked = 2, .total_ns = 200, .comm = "holder"}},
};

static struct pair_cell pairs[] = {
	{{.lock = A, .tgid = 30, .holder_tgid = 10, .kstack = 9, .holder_kstack = 7, .mode = LB_READ},
	 {.walked = 3, .total_ns = 400, .comm = "waiter"}},
	{{.lock = A, .tgid = 30, .kstack = 9, .holder_kstack = LB_NO_STACK, .mode = LB_READ},
	 {.walked = 1, .total_ns = 5, .comm = "waiter"}},
};

static struct lb_now nows[2];
static struct account_cell accounts[2];

/* Two tasks wait for B since 100 and 50 ticks; of these 150 ticks 30 have been charged. */
static struct snapshot in_progress(void)
{
	uint64_t t = NOW / LB_TICK;

	for (int i = 0; i < 2; i++) {
		nows[i].tgid = 30;
		nows[i].slot = (struct lb_slot){.lock = B, .blamed = 1, .begin = NOW - (i ? 50 : 100) * LB_TICK};
	}
	accounts[0] = (struct account_cell){
		.lock = B,
		.val = {.word = ((t - 100 + t - 50) << 16) + 2, .charged = 30, .holder = 40ULL << 32 | 41,
			.comm = "sleeper", .state = LB_HELD, .certainty = LB_EXACT, .known_by = LB_BY_OWNER}};
	return (struct snapshot){
		.when_ns = NOW, .now = nows, .n_now = 2, .cells[SET_ACCOUNTS] = {accounts, 1, 1}};
}

static struct snapshot ended(void)
{
	struct snapshot s = {.when_ns = NOW};

	s.cells[SET_BLAMES] = (struct cells){blames, ARRAY_SIZE(blames), ARRAY_SIZE(blames)};
	s.cells[SET_HSTACKS] = (struct cells){hstacks, ARRAY_SIZE(hstacks), ARRAY_SIZE(hstacks)};
	s.cells[SET_PAIRS] = (struct cells){pairs, ARRAY_SIZE(pairs), ARRAY_SIZE(pairs)};
	s.stats.wait_ns = 1000;
	return s;
}

static void every_key_keeps_the_sum(void **state)
{
	struct snapshot s = ended();
	struct table t;

	for (int by = BLAME_HOLDER; by < BLAME_PAIR; by++) {
		assert_int_equal(table__build(&t, (enum table_by)by, &s, 1, &names), 0);
		assert_int_equal(t.total_ns, 1000);
		table__fini(&t);
	}
}

static void holders_and_their_sites(void **state)
{
	struct snapshot s = ended();
	struct table t;

	assert_int_equal(table__build(&t, BLAME_HOLDER, &s, 1, &names), 0);
	assert_int_equal(t.n_rows, 5);
	assert_int_equal(t.rows[0].tid, 11);
	assert_string_equal(t.rows[0].comm, "holder");
	assert_string_equal(t.rows[0].site, "unmap");
	assert_string_equal(t.rows[0].identity, "first lock");
	assert_int_equal(t.rows[0].count, 7);
	assert_int_equal(t.rows[0].max_ns, 300);
	assert_int_equal(t.rows[2].certainty, LB_LIKELY);
	assert_null(t.rows[2].site);
	assert_null(t.rows[3].site); /* nobody's */
	table__fini(&t);
	assert_int_equal(table__build(&t, BLAME_SITE, &s, 1, &names), 0);
	assert_string_equal(t.rows[0].site, "unmap");
	assert_int_equal(t.rows[0].total_ns, 600);
	assert_int_equal(t.rows[1].total_ns, 200);
	assert_int_equal(t.rows[1].mode, LB_READ);
	table__fini(&t);
}

static void a_mixed_row_claims_no_certainty(void **state)
{
	const struct column_set set = columns_of(BLAME_LOCK);
	int sure = column_find(BLAME_LOCK, "sure", NULL), tid = column_find(BLAME_LOCK, "tid", NULL);
	struct snapshot s = ended();
	struct table t;

	assert_int_equal(table__build(&t, BLAME_LOCK, &s, 1, &names), 0);
	assert_int_equal(t.n_rows, 2);
	assert_int_equal(t.rows[0].total_ns, 980);
	assert_false(set.c[sure].get(&t, &t.rows[0]).known);
	assert_false(set.c[tid].get(&t, &t.rows[0]).known);
	table__fini(&t);
}

static void pairs_have_both_sides(void **state)
{
	struct snapshot s = ended();
	struct table t;

	assert_int_equal(table__build(&t, BLAME_PAIR, &s, 1, &names), 0);
	assert_int_equal(t.n_rows, 2);
	assert_string_equal(t.rows[0].waiter_site, "read_cmdline");
	assert_string_equal(t.rows[0].site, "unmap");
	assert_string_equal(t.rows[0].comm, "holder");
	assert_string_equal(t.rows[0].waiter, "waiter");
	assert_int_equal(t.rows[1].tgid, 0);
	assert_int_equal(t.total_ns, 405);
	table__fini(&t);
}

static void a_hold_that_goes_on_is_at_least(void **state)
{
	struct snapshot s = in_progress();
	struct blame_sums sums;
	struct table t;

	assert_int_equal(table__build(&t, BLAME_HOLDER, &s, 1, &names), 0);
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(t.rows[0].tid, 41);
	assert_int_equal(t.rows[0].total_ns, 120 * LB_TICK);
	assert_int_equal(t.rows[0].pending_ns, 120 * LB_TICK);
	assert_int_equal(t.rows[0].certainty, LB_AT_LEAST);
	table__fini(&t);
	blame__sums(&s, &sums);
	assert_int_equal(sums.waiting, 150 * LB_TICK);
	assert_int_equal(sums.likely, 120 * LB_TICK);

	/* one more waiter in the account than there are: an end was missed, and the figure is worthless */
	accounts[0].val.word++;
	assert_int_equal(table__build(&t, BLAME_HOLDER, &s, 1, &names), 0);
	assert_int_equal(t.n_rows, 0);
	table__fini(&t);
}

/* Two let go at one moment, and both were charged: that is told, not hidden. */
static void what_was_charged_twice_is_told(void **state)
{
	struct snapshot s = in_progress();
	struct blame_sums sums;
	uint64_t t = NOW / LB_TICK;

	s.n_now = 0;
	/* a wait of 100 ticks that has ended, 110 charged */
	accounts[0].val.word = ((t - 100) << 16) - (t << 16);
	accounts[0].val.charged = 110;
	blame__sums(&s, &sums);
	assert_int_equal(sums.twice, 10 * LB_TICK);
	accounts[0].val.charged = 100;
	blame__sums(&s, &sums);
	assert_int_equal(sums.twice, 0);
}

static void nobody_holds_what_was_let_go(void **state)
{
	struct snapshot s = in_progress();
	struct table t;

	accounts[0].val.state = LB_RELEASED;
	assert_int_equal(table__build(&t, BLAME_HOLDER, &s, 1, &names), 0);
	assert_int_equal(t.rows[0].certainty, LB_UNKNOWN);
	assert_int_equal(t.rows[0].known_by, LB_HANDOVER);
	assert_int_equal(t.rows[0].tgid, 0);
	table__fini(&t);
}

static void intervals_and_sums(void **state)
{
	struct snapshot s = ended(), d, total = {0};
	struct blame_cell later[ARRAY_SIZE(blames)];
	const struct blame_cell *c;
	struct snapshot cur;

	memcpy(later, blames, sizeof(later));
	later[0].val.ns += 64;
	later[0].val.charges++;
	cur = s;
	cur.cells[SET_BLAMES].p = later;
	assert_int_equal(snapshot__delta(&cur, &s, &d), 0);
	assert_int_equal(d.cells[SET_BLAMES].n, 1);
	c = d.cells[SET_BLAMES].p;
	assert_int_equal(c->val.ns, 64);
	/* the largest charge was before: of this one at most its own sum is known */
	assert_int_equal(c->val.longest, 64);
	assert_int_equal(snapshot__add(&total, &d), 0);
	assert_int_equal(snapshot__add(&total, &d), 0);
	c = total.cells[SET_BLAMES].p;
	assert_int_equal(c->val.ns, 128);
	snapshot__fini(&d);
	snapshot__fini(&total);
}

static void both_sides_are_told(void **state)
{
	struct snapshot s = ended();
	struct blame_sums b;

	blame__sums(&s, &b);
	assert_int_equal(b.waited, 1000);
	assert_int_equal(b.blamed, 900);
	assert_int_equal(b.likely, 50);
	assert_int_equal(b.unknown, 50);
	assert_int_equal(b.lost_waits, 0);
	for (unsigned int k = 0; k < LB_KNOWN_BY_N; k++) {
		assert_string_not_equal(known_by_name(k), "?");
		assert_non_null(known_by_text(k));
	}
	assert_string_equal(known_by_name(LB_KNOWN_BY_N), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_keeps_the_sum),
		cmocka_unit_test(holders_and_their_sites),
		cmocka_unit_test(a_mixed_row_claims_no_certainty),
		cmocka_unit_test(pairs_have_both_sides),
		cmocka_unit_test(a_hold_that_goes_on_is_at_least),
		cmocka_unit_test(what_was_charged_twice_is_told),
		cmocka_unit_test(nobody_holds_what_was_let_go),
		cmocka_unit_test(intervals_and_sums),
		cmocka_unit_test(both_sides_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
