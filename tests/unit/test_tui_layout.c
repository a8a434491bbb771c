// SPDX-License-Identifier: GPL-2.0
#include "tui_support.h"

#include "tui/layout.h"

static unsigned int width_of(const struct layout_col *c, unsigned int n)
{
	unsigned int w = n ? n - 1 : 0;

	for (unsigned int i = 0; i < n; i++)
		w += c[i].width;
	return w;
}

static int index_of(const struct layout_col *c, unsigned int n, const char *key)
{
	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(columns[c[i].column].key, key))
			return (int)i;
	return -1;
}

static void every_view_fits_every_width(void **state)
{
	struct layout_want want[LAYOUT_MAX];
	struct layout_col got[LAYOUT_MAX];

	for (int by = 0; by < BY_N; by++) {
		unsigned int n = layout__columns((enum table_by)by, NULL, 0, want), before = 0;

		assert_true(n > 5);
		for (unsigned int i = 0; i < n; i++)
			want[i].need = 40;
		for (unsigned int w = 1; w < 300; w++) {
			unsigned int k = layout__fit(want, n, w, got);

			assert_true(k >= 1);
			assert_true(k == 1 || width_of(got, k) <= w);
			assert_true(k + 2 >= before);
			before = k;
		}
		assert_int_equal(layout__fit(want, n, 400, got), n);
	}
}

static void eighty_columns_tell_the_most_important(void **state)
{
	static const char *const must[] = {"now",  "longest", "blocked",
					   "mode", "owner",   "identity"};
	struct layout_want want[LAYOUT_MAX];
	struct layout_col got[LAYOUT_MAX];
	unsigned int n = layout__columns(BY_LOCK, NULL, 0, want);

	for (unsigned int i = 0; i < n; i++)
		want[i].need = 60;
	n = layout__fit(want, n, 78, got);
	for (size_t i = 0; i < sizeof(must) / sizeof(must[0]); i++)
		assert_true(index_of(got, n, must[i]) >= 0);
	assert_int_equal(index_of(got, n, "identity"), n - 1);
	assert_true(got[n - 1].width >= 24);
}

static void names_take_no_more_than_they_need(void **state)
{
	struct layout_want want[LAYOUT_MAX];
	struct layout_col got[LAYOUT_MAX];
	unsigned int n = layout__columns(BY_LOCK, NULL, 0, want), k;

	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(columns[want[i].column].key, "owner"))
			want[i].need = 5;
	k = layout__fit(want, n, 78, got);
	assert_int_equal(got[index_of(got, k, "owner")].width, 5);
}

static void own_columns_keep_their_order(void **state)
{
	unsigned int list[] = {(unsigned int)column_find(BY_LOCK, "max", NULL),
			       (unsigned int)column_find(BY_LOCK, "now", NULL)};
	struct layout_want want[LAYOUT_MAX];
	struct layout_col got[LAYOUT_MAX];
	unsigned int n = layout__columns(BY_LOCK, list, 2, want);

	assert_int_equal(n, 2);
	assert_int_equal(layout__fit(want, n, 80, got), 2);
	assert_int_equal(index_of(got, 2, "max"), 0);
	assert_int_equal(index_of(got, 2, "now"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_view_fits_every_width),
		cmocka_unit_test(eighty_columns_tell_the_most_important),
		cmocka_unit_test(names_take_no_more_than_they_need),
		cmocka_unit_test(own_columns_keep_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
