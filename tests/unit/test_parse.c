// SPDX-License-Identifier: GPL-2.0
#include "support.h"

#include <errno.h>

#include "util/cleanup.h"
#include "util/err.h"
#include "util/parse.h"

#define SEC 1000000000ULL
#define UNTOUCHED 0x5a5a5a5a5a5a5a5aULL

static void parses_numbers(void **state)
{
	static const struct {
		const char *text;
		int r;
		uint64_t value;
	} t[] = {
		{"0", 0, 0},
		{"1", 0, 1},
		{"010", 0, 10}, /* no octal */
		{"0x1F", 0, 31},
		{"0Xff", 0, 255},
		{"18446744073709551615", 0, UINT64_MAX},
		{"0xffffffffffffffff", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE, 0},
		{"0x10000000000000000", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
		{"1x", -EINVAL, 0},
		{"0x", -EINVAL, 0},
		{"0x-1", -EINVAL, 0},
		{"0x 1", -EINVAL, 0},
		{"0xg", -EINVAL, 0},
		{"1.0", -EINVAL, 0},
		{"1e3", -EINVAL, 0},
		{"abc", -EINVAL, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		uint64_t v = UNTOUCHED;
		int r = parse_u64(t[i].text, 0, UINT64_MAX, &v);

		if (r != t[i].r || v != (r ? UNTOUCHED : t[i].value))
			fail_msg("'%s': %d, %llu", t[i].text, r, (unsigned long long)v);
	}
}

static void keeps_to_the_range(void **state)
{
	uint64_t v = UNTOUCHED;

	assert_int_equal(parse_u64("0", 1, 10, &v), -ERANGE);
	assert_int_equal(parse_u64("11", 1, 10, &v), -ERANGE);
	assert_true(v == UNTOUCHED);
	assert_int_equal(parse_u64("1", 1, 10, &v), 0);
	assert_int_equal(parse_u64("10", 1, 10, &v), 0);
	assert_int_equal(v, 10);
}

static void parses_durations(void **state)
{
	static const struct {
		const char *text;
		int r;
		uint64_t ns;
	} t[] = {
		{"1", 0, SEC},
		{"0", 0, 0},
		{"0.5", 0, SEC / 2},
		{"1.", 0, SEC},
		{"5ns", 0, 5},
		{"5us", 0, 5000},
		{"10ms", 0, 10000000},
		{"1.5s", 0, 1500000000},
		{"2m", 0, 120 * SEC},
		{"1h", 0, 3600 * SEC},
		{"0.1us", 0, 100},
		{"1000000000ns", 0, SEC},
		{"292471208677536s", -ERANGE, 0},
		{"99999999999999999999h", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"-1ms", -EINVAL, 0},
		{"+1ms", -EINVAL, 0},
		{".5", -EINVAL, 0},
		{"1 s", -EINVAL, 0},
		{" 1s", -EINVAL, 0},
		{"1s ", -EINVAL, 0},
		{"ms", -EINVAL, 0},
		{"1sec", -EINVAL, 0},
		{"1S", -EINVAL, 0},
		{"1d", -EINVAL, 0},
		{"1.2.3", -EINVAL, 0},
		{"1,5", -EINVAL, 0},
		{"1e3", -EINVAL, 0},
		{"0x10", -EINVAL, 0},
		{"inf", -EINVAL, 0},
		{"nan", -EINVAL, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		uint64_t v = UNTOUCHED;
		int r = parse_duration(t[i].text, SEC, &v);

		if (r != t[i].r || v != (r ? UNTOUCHED : t[i].ns))
			fail_msg("'%s': %d, %llu", t[i].text, r, (unsigned long long)v);
	}
}

static void bare_durations_take_the_unit_asked_for(void **state)
{
	uint64_t v = UNTOUCHED;

	assert_int_equal(parse_duration("3", 1000, &v), 0);
	assert_int_equal(v, 3000);
	assert_int_equal(parse_duration("3", 0, &v), -EINVAL);
	assert_int_equal(parse_duration("3ms", 0, &v), 0);
	assert_int_equal(v, 3000000);
}

static void parses_sizes(void **state)
{
	static const struct {
		const char *text;
		int r;
		uint64_t bytes;
	} t[] = {
		{"0", 0, 0},
		{"512", 0, 512},
		{"4k", 0, 4096},
		{"4K", 0, 4096},
		{"1.5M", 0, 1536 * 1024},
		{"2G", 0, 2ULL << 30},
		{"4MB", -EINVAL, 0},
		{"4m", -EINVAL, 0},
		{"-4k", -EINVAL, 0},
		{"k", -EINVAL, 0},
		{"", -EINVAL, 0},
		{"1T", -EINVAL, 0},
		{"99999999999999999G", -ERANGE, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		uint64_t v = UNTOUCHED;
		int r = parse_size(t[i].text, &v);

		if (r != t[i].r || v != (r ? UNTOUCHED : t[i].bytes))
			fail_msg("'%s': %d, %llu", t[i].text, r, (unsigned long long)v);
	}
}

static void long_digits_are_out_of_range(void **state)
{
	char text[600];
	uint64_t v = UNTOUCHED;

	memset(text, '9', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(parse_u64(text, 0, UINT64_MAX, &v), -ERANGE);
	assert_int_equal(parse_duration(text, SEC, &v), -ERANGE);
	assert_int_equal(parse_size(text, &v), -ERANGE);
	assert_true(v == UNTOUCHED);
}

static void errors_are_one_line_each(void **state)
{
	struct err e;
	char text[1000];

	assert_int_equal(err_set(&e, -EINVAL, "no %s", "lock"), -EINVAL);
	assert_string_equal(e.msg, "no lock");
	assert_int_equal(err_errno(&e, -ENOENT, "cannot read %s", "x"), -ENOENT);
	assert_string_equal(e.msg, "cannot read x: No such file or directory");
	assert_int_equal(err_wrap(&e, -ENOENT, "waits"), -ENOENT);
	assert_string_equal(e.msg, "waits: cannot read x: No such file or directory");
	assert_int_equal(err_set(NULL, -EPERM, "x"), -EPERM);
	assert_int_equal(err_errno(NULL, -EPERM, "x"), -EPERM);
	assert_int_equal(err_wrap(NULL, -EPERM, "x"), -EPERM);
	/* cut, not overrun */
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	err_set(&e, 0, "%s", text);
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
	err_wrap(&e, 0, "context");
	err_errno(&e, -EIO, "%s", text);
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_numbers),
		cmocka_unit_test(keeps_to_the_range),
		cmocka_unit_test(parses_durations),
		cmocka_unit_test(bare_durations_take_the_unit_asked_for),
		cmocka_unit_test(parses_sizes),
		cmocka_unit_test(long_digits_are_out_of_range),
		cmocka_unit_test(errors_are_one_line_each),
	};

	return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
