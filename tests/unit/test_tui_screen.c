// SPDX-License-Identifier: GPL-2.0
#include "tui_support.h"

#include "out/text.h"
#include "tui/help.h"

static struct row lock_row(uint64_t lock, uint64_t total_ns)
{
	return (struct row){
		.lock = lock,
		.kind = LB_RWSEM,
		.mode = LB_WRITE,
		.identity = t_identity(NULL, lock, 0, 0),
		.first_name = t_identity(NULL, lock, 0, 0),
		.site = lock % 2 ? "odd_site" : "even_site",
		.count = total_ns / 10,
		.total_ns = total_ns,
		.max_ns = 100,
		.has_hist = true,
		.n_locks = 1,
	};
}

static uint64_t selected(const struct screen *s)
{
	const struct row *r = screen__selected(s);

	return r ? r->lock : 0;
}

static uint64_t at(const struct screen *s, size_t i)
{
	assert_true(i < s->n_visible);
	return s->table.rows[s->visible[i]].lock;
}

static void start(struct screen *s)
{
	const struct row rows[] = {lock_row(1, 100), lock_row(2, 300), lock_row(3, 200)};

	screen__init(s, BY_LOCK, NULL, 0);
	s->interval_ns = SECOND;
	show(s, rows, 3);
}

static void starts_on_the_first_line_and_stays_there(void **state)
{
	const struct row turned[] = {lock_row(1, 900), lock_row(2, 300)};
	struct screen s;

	start(&s);
	assert_int_equal(selected(&s), 2);
	show(&s, turned, 2);
	assert_int_equal(selected(&s), 1);
	screen__fini(&s);
}

static void selection_follows_the_row(void **state)
{
	const struct row turned[] = {lock_row(1, 100), lock_row(2, 300), lock_row(3, 999),
				     lock_row(4, 500)};
	struct screen s;

	start(&s);
	keys(&s, "j");
	assert_int_equal(selected(&s), 3);
	show(&s, turned, 4);
	assert_int_equal(at(&s, 0), 3);
	assert_int_equal(selected(&s), 3);
	screen__key(&s, TK_END);
	assert_int_equal(selected(&s), 1);
	screen__key(&s, TK_HOME);
	assert_int_equal(selected(&s), 3);
	assert_false(screen__view(&s)->follow);
	screen__fini(&s);
}

static void selected_row_stays_when_it_is_idle(void **state)
{
	const struct row others[] = {lock_row(1, 100), lock_row(2, 300)};
	struct screen s;

	start(&s);
	keys(&s, "j");
	show(&s, others, 2);
	assert_int_equal(s.n_visible, 3);
	assert_int_equal(selected(&s), 3);
	assert_int_equal(screen__selected(&s)->count, 0);
	assert_string_equal(screen__selected(&s)->identity, "lock-3");
	show(&s, others, 0);
	assert_int_equal(s.n_visible, 1);
	assert_int_equal(selected(&s), 3);
	screen__fini(&s);
}

static void modes_of_a_lock_are_rows_of_their_own(void **state)
{
	struct row rows[] = {lock_row(1, 100), lock_row(1, 300)};
	struct screen s;

	rows[1].mode = LB_READ;
	start(&s);
	show(&s, rows, 2);
	keys(&s, "j");
	assert_int_equal(screen__selected(&s)->mode, LB_WRITE);
	rows[0].total_ns = 900;
	show(&s, rows, 2);
	assert_int_equal(screen__selected(&s)->mode, LB_WRITE);
	assert_int_equal(screen__view(&s)->cursor, 0);
	screen__fini(&s);
}

static void a_reused_address_is_another_row(void **state)
{
	struct row rows[] = {lock_row(1, 100), lock_row(1, 300)};
	struct screen s;

	rows[0].first_name = rows[0].identity = "old";
	rows[1].first_name = rows[1].identity = "new";
	start(&s);
	show(&s, rows, 2);
	keys(&s, "j");
	assert_string_equal(screen__selected(&s)->identity, "old");
	rows[0].total_ns = 900;
	show(&s, rows, 2);
	assert_string_equal(screen__selected(&s)->identity, "old");
	screen__fini(&s);
}

static void what_is_stuck_comes_first(void **state)
{
	struct row rows[] = {lock_row(1, 5 * SECOND), lock_row(2, 0), lock_row(3, 0)};
	struct screen s;

	rows[1].waiting_now = rows[2].waiting_now = 1;
	rows[1].longest_now_ns = 2 * SECOND;
	rows[2].longest_now_ns = 900000000;
	start(&s);
	show(&s, rows, 3);
	assert_int_equal(at(&s, 0), 2);
	assert_int_equal(at(&s, 1), 1);
	assert_int_equal(at(&s, 2), 3);
	screen__fini(&s);
}

static void sorts_by_columns(void **state)
{
	struct screen s;

	start(&s);
	keys(&s, "s");
	assert_int_equal(s.page, PAGE_SORT);
	screen__key(&s, TK_DOWN); /* the first column: count */
	screen__key(&s, TK_ENTER);
	assert_int_equal(s.page, PAGE_LIST);
	assert_int_equal(screen__view(&s)->sort, 0);
	assert_int_equal(at(&s, 0), 2);
	keys(&s, "r");
	assert_int_equal(at(&s, 0), 1);
	assert_int_equal(at(&s, 2), 2);
	keys(&s, ">");
	assert_false(screen__view(&s)->reverse);
	screen__fini(&s);
}

static void sort_keys_go_round(void **state)
{
	struct screen s;
	unsigned int n;

	start(&s);
	n = screen__view(&s)->n_want;
	for (unsigned int i = 0; i < n; i++) {
		keys(&s, ">");
		assert_int_equal(screen__view(&s)->sort, screen__view(&s)->want[i].column);
	}
	keys(&s, ">");
	assert_int_equal(screen__view(&s)->sort, SORT_AUTO);
	keys(&s, "<");
	assert_int_equal(screen__view(&s)->sort, screen__view(&s)->want[n - 1].column);
	screen__fini(&s);
}

static void filters_by_any_name(void **state)
{
	struct screen s;

	start(&s);
	keys(&s, "/ODD");
	assert_int_equal(s.prompt, PROMPT_FILTER);
	assert_int_equal(s.n_visible, 2);
	screen__key(&s, TK_ENTER);
	assert_int_equal(s.prompt, PROMPT_NONE);
	assert_int_equal(s.n_visible, 2);
	keys(&s, "\\");
	assert_string_equal(s.input, "ODD");
	screen__key(&s, 'U' & 0x1f);
	keys(&s, "lock-2");
	assert_int_equal(s.n_visible, 1);
	assert_int_equal(selected(&s), 2);
	keys(&s, "x");
	assert_int_equal(s.n_visible, 0);
	assert_int_equal(selected(&s), 0);
	assert_int_equal(screen__key(&s, TK_BACKSPACE), TODO_NONE);
	assert_int_equal(s.n_visible, 1);
	screen__key(&s, TK_ESC);
	assert_string_equal(s.filter, "");
	assert_int_equal(s.n_visible, 3);
	screen__fini(&s);
}

static void filter_keeps_letters_that_are_keys(void **state)
{
	struct screen s;

	start(&s);
	keys(&s, "/qhr q");
	assert_string_equal(s.filter, "qhr q");
	screen__key(&s, 0xe9);
	assert_string_equal(s.filter, "qhr q\xc3\xa9");
	screen__key(&s, TK_BACKSPACE);
	assert_string_equal(s.filter, "qhr q");
	for (int i = 0; i < 300; i++)
		keys(&s, "y");
	assert_int_equal(strlen(s.filter), sizeof(s.filter) - 1);
	screen__fini(&s);
}

static void scrolls_to_keep_the_selection_in_sight(void **state)
{
	struct screen_info info = {0};
	struct lines out = {0};
	struct row rows[60];
	struct screen s;

	for (uint64_t i = 0; i < 60; i++)
		rows[i] = lock_row(100 + i, 6000 - i * 10);
	start(&s);
	show(&s, rows, 60);
	screen__frame(&s, &info, &out);
	assert_int_equal(out.n, 24);
	assert_true(s.body > 10 && s.body < 24);
	screen__key(&s, TK_END);
	assert_int_equal(screen__view(&s)->first, 60 - s.body);
	screen__key(&s, TK_PGUP);
	assert_int_equal(screen__view(&s)->cursor, 59 - (s.body - 1));
	for (int i = 0; i < 10; i++)
		screen__key(&s, TK_PGUP);
	assert_int_equal(screen__view(&s)->cursor, 0);
	assert_int_equal(screen__view(&s)->first, 0);
	lines__fini(&out);
	screen__fini(&s);
}

static void every_size_has_a_frame(void **state)
{
	struct screen_info info = {.losses = "many lost, of all sorts, and told at length",
				   .lost = true};
	struct lines out = {0};
	struct screen s;

	start(&s);
	for (unsigned int h = 0; h < 30; h++)
		for (unsigned int w = 0; w < 130; w += 3) {
			screen__resize(&s, h, w);
			for (s.page = PAGE_LIST; s.page <= PAGE_SORT; s.page++) {
				screen__frame(&s, &info, &out);
				assert_true(out.n <= h);
				assert_false(out.failed);
			}
			s.page = PAGE_LIST;
		}
	lines__fini(&out);
	screen__fini(&s);
}

static void help_fits_80_columns(void **state)
{
	struct lines out = {0};

	help__lines(&out, 80);
	for (size_t i = 0; i < out.n; i++)
		assert_true(text__width(out.line[i].text) <= 80);
	for (size_t i = 0; i < n_columns; i++)
		assert_non_null(find_line(&out, columns[i].key));
	lines__fini(&out);
}

static void rows_are_marked_in_text(void **state)
{
	struct screen_info info = {0};
	struct lines out = {0};
	struct row rows[] = {lock_row(1, 0), lock_row(2, 100)};
	struct screen s;

	rows[0].waiting_now = 3;
	rows[0].longest_now_ns = 5 * SECOND;
	rows[1].identity = "bad\033[31mname\n";
	start(&s);
	show(&s, rows, 2);
	keys(&s, "j");
	screen__frame(&s, &info, &out);
	assert_non_null(find_line(&out, "bad?[31mname?"));
	assert_int_equal(find_line(&out, "lock-1")[1], '!');
	assert_int_equal(find_line(&out, "bad?[31mname?")[0], '>');
	lines__fini(&out);
	screen__fini(&s);
}

static void empty_tables_say_why(void **state)
{
	struct screen_info info = {.empty = "no rows: nothing waited"};
	struct lines out = {0};
	struct screen s;

	screen__init(&s, BY_LOCK, NULL, 0);
	screen__frame(&s, &info, &out);
	assert_non_null(find_line(&out, "first figures"));
	show(&s, NULL, 0);
	screen__frame(&s, &info, &out);
	assert_non_null(find_line(&out, "no rows: nothing waited"));
	show(&s, (struct row[]){lock_row(1, 5)}, 1);
	keys(&s, "/zzz");
	screen__key(&s, TK_ENTER);
	screen__frame(&s, &info, &out);
	assert_non_null(find_line(&out, "the filter \"zzz\" hides all 1"));
	lines__fini(&out);
	screen__fini(&s);
}

static void views_go_round_and_keep_their_state(void **state)
{
	struct screen s;

	start(&s);
	assert_int_equal(s.n_views, 4);
	keys(&s, "jr");
	assert_int_equal(screen__key(&s, TK_TAB), TODO_BUILD);
	assert_int_equal(screen__view(&s)->by, BY_SITE);
	assert_null(screen__selected(&s));
	assert_false(screen__view(&s)->reverse);
	assert_int_equal(screen__key(&s, TK_ENTER), TODO_NONE); /* nothing to open yet */
	screen__key(&s, TK_BACKTAB);
	assert_int_equal(screen__view(&s)->by, BY_LOCK);
	assert_true(screen__view(&s)->reverse);
	screen__fini(&s);
	screen__init(&s, BY_COMM, NULL, 0);
	assert_int_equal(s.n_views, 5);
	assert_int_equal(screen__view(&s)->by, BY_COMM);
	screen__fini(&s);
}

static void opens_and_closes_rows(void **state)
{
	struct screen s;

	start(&s);
	keys(&s, "j");
	assert_int_equal(screen__key(&s, TK_ENTER), TODO_BUILD);
	assert_int_equal(s.page, PAGE_DETAIL);
	assert_int_equal(s.opened.lock, 3);
	assert_int_equal(screen__key(&s, 'w'), TODO_BUILD);
	assert_true(s.all_waiters);
	screen__key(&s, '?');
	assert_int_equal(s.page, PAGE_HELP);
	screen__key(&s, TK_ESC);
	assert_int_equal(s.page, PAGE_DETAIL);
	screen__key(&s, 'q');
	assert_int_equal(s.page, PAGE_LIST);
	assert_int_equal(screen__key(&s, 'q'), TODO_QUIT);
	assert_int_equal(screen__key(&s, TK_F0 + 10), TODO_QUIT);
	screen__fini(&s);
}

/* Parts of 1 + n lines each. */
static void parts(struct lines *l, int a, int b, int c)
{
	const int n[] = {a, b, c};

	for (int i = 0; i < 3; i++) {
		lines__add(l, LINE_BOLD, "part %d", i);
		for (int k = 0; k < n[i]; k++)
			lines__add(l, LINE_PLAIN, "%d.%d", i, k);
	}
}

static void scrolled_text_stays_in_sight(void **state)
{
	struct screen_info info = {0};
	struct lines out = {0}, l = {0};
	struct screen s;

	start(&s);
	screen__key(&s, TK_ENTER);
	parts(&l, 30, 30, 30);
	screen__set_detail(&s, &l);
	screen__frame(&s, &info, &out);
	for (int i = 0; i < 36; i++)
		keys(&s, "j");
	assert_string_equal(s.detail.line[s.scroll].text, "1.4");
	parts(&l, 3, 30, 30);
	screen__set_detail(&s, &l);
	assert_string_equal(s.detail.line[s.scroll].text, "1.4");
	parts(&l, 50, 2, 30);
	screen__set_detail(&s, &l);
	assert_string_equal(s.detail.line[s.scroll].text, "1.1");
	parts(&l, 0, 0, 0);
	screen__set_detail(&s, &l);
	screen__frame(&s, &info, &out);
	assert_int_equal(s.scroll, 0);
	lines__fini(&out);
	screen__fini(&s);
}

static void interval_is_checked(void **state)
{
	struct screen s;

	start(&s);
	assert_int_equal(screen__key(&s, '+'), TODO_INTERVAL);
	assert_int_equal(s.interval_ns, 2 * SECOND);
	screen__key(&s, '-');
	screen__key(&s, '-');
	assert_int_equal(s.interval_ns, SECOND / 2);
	keys(&s, "d");
	assert_string_equal(s.input, "500 ms");
	assert_int_equal(screen__key(&s, TK_ENTER), TODO_INTERVAL); /* what is shown is accepted */
	assert_int_equal(s.interval_ns, SECOND / 2);
	keys(&s, "d");
	screen__key(&s, 'U' & 0x1f);
	keys(&s, "0");
	assert_int_equal(screen__key(&s, TK_ENTER), TODO_NONE);
	assert_int_equal(s.prompt, PROMPT_INTERVAL);
	assert_true(s.complaint[0] != '\0');
	screen__key(&s, TK_BACKSPACE);
	keys(&s, "3s");
	assert_int_equal(screen__key(&s, TK_ENTER), TODO_INTERVAL);
	assert_int_equal(s.interval_ns, 3 * SECOND);
	for (int i = 0; i < 40; i++)
		screen__key(&s, '+');
	assert_int_equal(s.interval_ns, 3600 * SECOND);
	screen__fini(&s);
}

static void pause_and_totals(void **state)
{
	struct screen s;

	start(&s);
	assert_int_equal(screen__key(&s, ' '), TODO_PAUSE);
	assert_true(s.paused);
	assert_int_equal(screen__key(&s, 'Z'), TODO_PAUSE);
	assert_false(s.paused);
	assert_int_equal(screen__key(&s, 't'), TODO_BUILD);
	assert_true(s.totals);
	screen__fini(&s);
}

static void limit_of_rows(void **state)
{
	struct screen s;

	start(&s);
	s.limit = 2;
	screen__arrange(&s);
	assert_int_equal(s.n_visible, 2);
	assert_int_equal(at(&s, 1), 3);
	screen__fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_on_the_first_line_and_stays_there),
		cmocka_unit_test(selection_follows_the_row),
		cmocka_unit_test(selected_row_stays_when_it_is_idle),
		cmocka_unit_test(modes_of_a_lock_are_rows_of_their_own),
		cmocka_unit_test(a_reused_address_is_another_row),
		cmocka_unit_test(what_is_stuck_comes_first),
		cmocka_unit_test(sorts_by_columns),
		cmocka_unit_test(sort_keys_go_round),
		cmocka_unit_test(filters_by_any_name),
		cmocka_unit_test(filter_keeps_letters_that_are_keys),
		cmocka_unit_test(scrolls_to_keep_the_selection_in_sight),
		cmocka_unit_test(every_size_has_a_frame),
		cmocka_unit_test(help_fits_80_columns),
		cmocka_unit_test(rows_are_marked_in_text),
		cmocka_unit_test(empty_tables_say_why),
		cmocka_unit_test(views_go_round_and_keep_their_state),
		cmocka_unit_test(opens_and_closes_rows),
		cmocka_unit_test(scrolled_text_stays_in_sight),
		cmocka_unit_test(interval_is_checked),
		cmocka_unit_test(pause_and_totals),
		cmocka_unit_test(limit_of_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
