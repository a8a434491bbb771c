// SPDX-License-Identifier: GPL-2.0
#include "tui_support.h"

#include "tui/detail.h"

#define T (100 * SECOND)

static int frames_of(void *ctx, int32_t id, const char **frames, int max)
{
	if (id < 0)
		return 0;
	frames[0] = "lock_slow+0x1";
	frames[1] = name_n("site_", (uint64_t)id);
	return 2;
}

static int raw_frames(void *ctx, const uint64_t *addr, unsigned int n, const char **frames, int max)
{
	for (unsigned int i = 0; i < n; i++)
		frames[i] = name_n("site_", addr[i]);
	return (int)n;
}

static struct wait_cell wait(uint64_t lock, uint32_t tgid, uint8_t mode, uint32_t count, int bucket)
{
	struct wait_cell c = {.key = {.lock = lock, .tgid = tgid, .kind = LB_RWSEM, .mode = mode}};

	c.val.count = count;
	c.val.total_ns = count * (1ULL << bucket);
	c.val.max_ns = 1ULL << bucket;
	c.val.hist[bucket] = count;
	snprintf(c.val.comm, sizeof(c.val.comm), "task%u", tgid);
	return c;
}

static struct split_cell split(uint64_t lock, uint32_t tgid, uint8_t mode, int32_t stack,
			       uint64_t total)
{
	struct split_cell c = {.key = {.lock = lock,
				       .tgid = tgid,
				       .kstack = stack,
				       .ustack = -1,
				       .kind = LB_RWSEM,
				       .mode = mode}};

	c.val.walked = 3;
	c.val.count_q = 3 * 1024;
	c.val.total_ns = total;
	snprintf(c.val.comm, sizeof(c.val.comm), "task%u", tgid);
	return c;
}

static struct lb_now now(uint64_t lock, uint32_t tid, uint8_t mode, uint64_t begin, uint64_t frame)
{
	struct lb_now n = {.tgid = 10, .tid = tid, .n_frames = 1, .frame = {frame}};

	n.slot.lock = lock;
	n.slot.begin = begin;
	n.slot.kind = LB_RWSEM;
	n.slot.mode = mode;
	snprintf(n.comm, sizeof(n.comm), "task10");
	return n;
}

static struct wait_cell waits[3];
static struct split_cell splits[3];
static struct lb_now nows[12];
static struct snapshot snap = {.when_ns = T, .cells = {[SET_WAITS] = {.p = waits}, [SET_SPLITS] = {.p = splits}}, .now = nows};

static void fill(void)
{
	waits[0] = wait(1, 10, LB_WRITE, 100, 10);
	waits[1] = wait(1, 11, LB_READ, 5, 12);
	waits[2] = wait(2, 10, LB_WRITE, 7, 20);
	splits[0] = split(1, 10, LB_WRITE, 4, 750);
	splits[1] = split(1, 10, LB_WRITE, 5, 250);
	splits[2] = split(2, 10, LB_WRITE, 6, 99);
	splits[0].val.sampled = 1;
	for (uint32_t i = 0; i < 11; i++)
		nows[i] = now(1, 20 + i, LB_WRITE, T - (i + 1) * SECOND / 2, 4);
	nows[11] = now(2, 99, LB_WRITE, T - 9 * SECOND, 6);
	snap.cells[SET_WAITS].n = snap.cells[SET_SPLITS].n = 3;
	snap.n_now = 12;
}

static struct row row_of(enum table_by by, uint64_t lock, uint32_t tgid)
{
	struct table t;
	struct row r = {0};

	assert_int_equal(table__build(&t, by, &snap, 1, &test_names), 0);
	for (size_t i = 0; i < t.n_rows; i++)
		if ((by == BY_LOCK && t.rows[i].lock == lock && t.rows[i].mode == LB_WRITE) ||
		    (by == BY_PROCESS && t.rows[i].tgid == tgid) ||
		    (by == BY_SITE && t.rows[i].site == t_site(NULL, (int32_t)lock)))
			r = t.rows[i];
	table__fini(&t);
	return r;
}

static struct detail detail_of(enum table_by by, uint64_t lock, uint32_t tgid)
{
	fill();
	return (struct detail){
		.by = by,
		.row = row_of(by, lock, tgid),
		.snap = &snap,
		.seconds = 1,
		.names = &test_names,
		.stacks = {.kernel = frames_of, .raw = raw_frames},
		.width = 80,
	};
}

static void a_lock_shows_its_own_only(void **state)
{
	struct detail d = detail_of(BY_LOCK, 1, 0);
	struct lines out = {0};

	assert_int_equal(detail__lines(&d, &out), 0);
	assert_non_null(find_line(&out, "lock-1"));
	assert_non_null(find_line(&out, "Waiting now: 11"));
	assert_non_null(find_line(&out, "... and 3 more"));
	assert_non_null(find_line(&out, " 75.0 %  ~750 ns"));
	assert_non_null(find_line(&out, " 25.0 %  250 ns"));
	assert_non_null(find_line(&out, "site_5"));
	assert_null(find_line(&out, "site_6"));
	assert_null(find_line(&out, "task10/99"));
	assert_non_null(find_line(&out, "1.02 us - 2.05 us"));
	assert_null(find_line(&out, "4.10 us - 8.19 us")); /* the readers' */
	lines__fini(&out);
}

static void oldest_waiter_first_and_marked(void **state)
{
	struct detail d = detail_of(BY_LOCK, 1, 0);
	struct lines out = {0};
	size_t i;

	d.all_waiters = true;
	assert_int_equal(detail__lines(&d, &out), 0);
	assert_null(find_line(&out, "more (w shows"));
	for (i = 0; i < out.n && !strstr(out.line[i].text, "Waiting now"); i++)
		;
	assert_non_null(strstr(out.line[i + 1].text, "!  5.50 s  write  task10/30"));
	assert_non_null(strstr(out.line[i + 11].text, "   500 ms  write  task10/20"));
	assert_int_equal(out.line[i + 11].text[0], ' ');
	assert_non_null(strstr(out.line[i + 12].text, "site_4")); /* one stack for all of them */
	lines__fini(&out);
}

static void a_process_shows_all_its_locks(void **state)
{
	struct detail d = detail_of(BY_PROCESS, 0, 10);
	struct lines out = {0};

	assert_int_equal(detail__lines(&d, &out), 0);
	assert_non_null(find_line(&out, "process 10"));
	assert_non_null(find_line(&out, "Waiting now: 12"));
	assert_non_null(find_line(&out, "task10/99  lock-2"));
	assert_non_null(find_line(&out, "site_6"));
	/* 100 x 1 us and 7 x 1 ms of that and 5 x 4 us */
	assert_non_null(strstr(find_line(&out, "share of all"), " 99.7 "));
	lines__fini(&out);
}

static void a_site_has_no_histogram(void **state)
{
	struct detail d = detail_of(BY_SITE, 4, 0);
	struct lines out = {0};

	assert_int_equal(detail__lines(&d, &out), 0);
	assert_non_null(find_line(&out, "site_4: waits for a rwsem, write"));
	assert_non_null(find_line(&out, "Histogram: not kept by site"));
	assert_non_null(find_line(&out, "Waiting now: 11"));
	assert_null(find_line(&out, "site_5"));
	lines__fini(&out);
}

static void a_row_that_has_gone_says_so(void **state)
{
	struct detail d = detail_of(BY_LOCK, 1, 0);
	struct lines out = {0};

	snap.cells[SET_WAITS].n = snap.cells[SET_SPLITS].n = snap.n_now = 0;
	assert_int_equal(detail__lines(&d, &out), 0);
	assert_non_null(find_line(&out, "lock-1"));
	assert_non_null(find_line(&out, "Nobody waited in the last interval"));
	assert_non_null(find_line(&out, "Waiting now: nobody"));
	lines__fini(&out);
}

/* Blocked time is of the interval, whether or not the waits have ended in it. */
static void waits_in_progress_count_as_blocked(void **state)
{
	struct lb_now before[2];
	struct snapshot s;
	struct table t;

	fill();
	s = snap;
	/* lock 2: one wait of 9 s goes on; one of 3 s, begun 2.5 s before the interval of 1 s,
	 * ended */
	before[0] = nows[11];
	before[1] = now(2, 98, LB_WRITE, T - 3 * SECOND - SECOND / 2, 6);
	s.before = before;
	s.n_before = 2;
	s.before_ns = T - SECOND;
	waits[2].val.count = 1;
	waits[2].val.total_ns = 3 * SECOND;
	assert_int_equal(table__build(&t, BY_LOCK, &s, 1, &test_names), 0);
	for (size_t i = 0; i < t.n_rows; i++)
		if (t.rows[i].lock == 2)
			assert_int_equal(row__blocked_ns(&t.rows[i]), SECOND + SECOND / 2);
	table__fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lock_shows_its_own_only),
		cmocka_unit_test(oldest_waiter_first_and_marked),
		cmocka_unit_test(a_process_shows_all_its_locks),
		cmocka_unit_test(a_site_has_no_histogram),
		cmocka_unit_test(a_row_that_has_gone_says_so),
		cmocka_unit_test(waits_in_progress_count_as_blocked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
