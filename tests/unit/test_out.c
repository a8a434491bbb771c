// SPDX-License-Identifier: GPL-2.0
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "out/csv.h"
#include "out/folded.h"
#include "out/json.h"
#include "out/out.h"
#include "out/text.h"
#include "out/units.h"
#include "util/cleanup.h"

/* ---- the stream ---- */

static void writes_a_file(void **state)
{
	char *path = temp_file("what was there before, and is longer"), buf[64] = "";
	struct err e;
	struct out *o = out__open(path, &e);
	FILE *f;

	assert_non_null(o);
	assert_int_equal(out__width(o), 0);
	assert_false(out__is_tty(o));
	out__printf(o, "%d%s", 1, "\n");
	out__puts(o, "two");
	out__putc(o, '\n');
	assert_int_equal(out__flush(o), 0);
	assert_int_equal(out__close(o, &e), 0);
	f = fopen(path, "re");
	assert_int_equal(fread(buf, 1, sizeof(buf), f), 6);
	fclose(f);
	assert_string_equal(buf, "1\ntwo\n");
	temp_remove(path);
}

static void refuses_a_bad_path(void **state)
{
	struct err e;

	assert_null(out__open("/proc/nonexistent/file", &e));
	assert_string_equal(e.msg, "cannot write /proc/nonexistent/file: No such file or directory");
	assert_null(out__open("/", &e));
	assert_string_equal(e.msg, "cannot write /: Is a directory");
}

static void a_full_disk_is_one_line(void **state)
{
	struct err e;
	struct out *o = out__open("/dev/full", &e);

	assert_non_null(o);
	out__puts(o, "x\n");
	assert_int_equal(out__error(o), 0); /* still buffered */
	assert_int_equal(out__flush(o), -ENOSPC);
	out__puts(o, "more");
	assert_int_equal(out__error(o), -ENOSPC);
	assert_int_equal(out__close(o, &e), -ENOSPC);
	assert_string_equal(e.msg, "cannot write /dev/full: No space left on device");
}

/* The same for what only out__close gets to write. */
static void a_full_disk_shows_at_the_end(void **state)
{
	struct err e;
	struct out *o = out__open("/dev/full", &e);

	out__puts(o, "x\n");
	assert_int_equal(out__close(o, &e), -ENOSPC);
}

static void a_closed_pipe_is_quiet(void **state)
{
	int fds[2], status;
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	close(fds[0]);
	pid = fork();
	if (!pid) {
		struct err e = {"nothing"};
		struct out *o;
		int r;

		dup2(fds[1], STDOUT_FILENO);
		o = out__open(NULL, &e);
		out__puts(o, "x\n");
		r = out__flush(o) == -EPIPE && out__error(o) == -EPIPE;
		r = r && out__close(o, &e) == 0 && !strcmp(e.msg, "nothing");
		_exit(r ? 0 : 1);
	}
	close(fds[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Without a byte to write. */
static void a_closed_pipe_is_noticed(void **state)
{
	int fds[2], old = dup(STDOUT_FILENO), before, after;
	struct out *o;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	fflush(stdout);
	dup2(fds[1], STDOUT_FILENO);
	close(fds[1]);
	o = out__open(NULL, NULL);
	before = out__flush(o);
	close(fds[0]);
	after = out__flush(o);
	dup2(old, STDOUT_FILENO);
	close(old);
	assert_int_equal(before, 0);
	assert_int_equal(after, -EPIPE);
	assert_int_equal(out__close(o, NULL), 0);
}

static void memory_keeps_everything(void **state)
{
	struct out *o = out__memory();
	char block[5000];

	memset(block, 'x', sizeof(block));
	assert_string_equal(out__text(o), "");
	for (int i = 0; i < 20; i++)
		out__write(o, block, sizeof(block));
	out__printf(o, "%.*s", (int)sizeof(block), block);
	assert_int_equal(strlen(out__text(o)), 21 * sizeof(block));
	assert_int_equal(out__close(o, NULL), 0);
	assert_int_equal(out__close(NULL, NULL), 0);
}

static void more_than_the_buffer(void **state)
{
	char *path = temp_file("");
	struct out *o = out__open(path, NULL);
	char block[100000];
	FILE *f;

	memset(block, 'x', sizeof(block));
	out__puts(o, "a");
	out__write(o, block, sizeof(block));
	out__puts(o, "b");
	assert_int_equal(out__close(o, NULL), 0);
	f = fopen(path, "re");
	assert_int_equal(fgetc(f), 'a');
	assert_int_equal(fread(block, 1, sizeof(block), f), sizeof(block));
	assert_int_equal(fgetc(f), 'b');
	assert_int_equal(fgetc(f), EOF);
	fclose(f);
	temp_remove(path);
}

static void the_first_failure_counts(void **state)
{
	struct out *o = out__memory();
	struct err e;

	out__fail(o, -ENOMEM);
	out__fail(o, -EIO);
	assert_int_equal(out__error(o), -ENOMEM);
	assert_int_equal(out__close(o, &e), -ENOMEM);
}

/* ---- numbers for people ---- */

static void formats_times(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} t[] = {
		{0, "0 ns"},
		{1, "1 ns"},
		{999, "999 ns"},
		{1000, "1.00 us"},
		{1234, "1.23 us"},
		{9994, "9.99 us"},
		{9995, "10.0 us"},
		{99949, "99.9 us"},
		{99950, "100 us"},
		{999499, "999 us"},
		{999500, "1.00 ms"},
		{1230000, "1.23 ms"},
		{12345678, "12.3 ms"},
		{999499999, "999 ms"},
		{999500000, "1.00 s"},
		{59900000000, "59.9 s"},
		{120000000000, "120 s"},
		{999000000000, "999 s"},
		{1000000000000, "16.7 m"},
		{5990000000000, "99.8 m"},
		{6000000000000, "1.67 h"},
		{3600000000000000, "1000 h"},
		{UINT64_MAX, "5124096 h"},
	};
	char buf[UNITS_BUF];

	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		assert_string_equal(units__ns(buf, t[i].ns), t[i].text);
}

static void formats_counts(void **state)
{
	static const struct {
		uint64_t n;
		const char *count, *bytes;
	} t[] = {
		{0, "0", "0"},
		{999, "999", "999"},
		{1000, "1000", "1000"},
		{1024, "1024", "1.00K"},
		{9999, "9999", "9.76K"},
		{10000, "10.0k", "9.77K"},
		{999499, "999k", "976K"},
		{999500, "1.00M", "976K"},
		{1234567, "1.23M", "1.18M"},
		{1073741824, "1.07G", "1.00G"},
		{UINT64_MAX, "18.4E", "16.0E"},
	};
	char buf[UNITS_BUF];

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		assert_string_equal(units__count(buf, t[i].n), t[i].count);
		assert_string_equal(units__bytes(buf, t[i].n), t[i].bytes);
		assert_true(strlen(units__count(buf, t[i].n)) <= 5);
	}
	assert_string_equal(units__percent(buf, 1, 8), "12.5");
	assert_string_equal(units__percent(buf, 8, 8), "100");
	assert_string_equal(units__percent(buf, 9999, 10000), "100");
	assert_string_equal(units__percent(buf, 0, 8), "0.0");
	assert_string_equal(units__percent(buf, 0, 0), "-");
}

/* Never wider than its column for anything below 1000 hours. */
static void times_fit_seven_columns(void **state)
{
	char buf[UNITS_BUF];

	for (uint64_t ns = 1; ns < 3596400000000000; ns += ns / 37 + 1)
		assert_true(strlen(units__ns(buf, ns)) <= 7);
}

/* ---- text ---- */

static void cleans_names(void **state)
{
	static const char *const pairs[][2] = {
		{"mysqld", "mysqld"},
		{"a\tb\nc\x1b[31m", "a?b?c?[31m"},
		{"\x7f\x01", "??"},
		{"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
		{"\xc3", "?"},				    /* cut in the middle, as comms are */
		{"\xff\xfe", "??"},
		{"\xc0\xaf", "??"},			    /* overlong */
		{"\xed\xa0\x80", "???"},		    /* a surrogate */
		{"\xc2\x9b" "31m", "?31m"},		    /* C1: an escape to some terminals */
		{"a\xe2\x80\xae" "b", "a?b"},		    /* turns the line around */
		{"\xf4\x90\x80\x80", "????"},		    /* beyond Unicode */
		{"", ""},
	};
	char buf[64];

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		assert_string_equal(text__clean(buf, sizeof(buf), pairs[i][0]), pairs[i][1]);
	/* a character that does not fit is left out whole */
	assert_string_equal(text__clean(buf, 4, "ab\xc3\xbc"), "ab");
	assert_string_equal(text__clean(buf, 5, "ab\xc3\xbc"), "ab\xc3\xbc");
	assert_string_equal(text__clean(buf, 1, "ab"), "");
}

static void assert_cut(const char *s, unsigned int width, const char *want)
{
	char buf[64];

	snprintf(buf, sizeof(buf), "%s", s);
	assert_int_equal(text__cut(buf, width), text__width(want));
	assert_string_equal(buf, want);
}

static void cuts_at_characters(void **state)
{
	assert_cut("abcdef", 6, "abcdef");
	assert_cut("abcdef", 5, "abcd+");
	assert_cut("abcdef", 1, "+");
	assert_cut("abcdef", 0, "");
	assert_cut("", 3, "");
	assert_cut("gr\xc3\xbc\xc3\x9f" "e", 5, "gr\xc3\xbc\xc3\x9f" "e");
	assert_cut("gr\xc3\xbc\xc3\x9f" "e", 4, "gr\xc3\xbc+");
	assert_cut("gr\xc3\xbc\xc3\x9f" "e", 3, "gr+");
	if (setlocale(LC_CTYPE, "C.UTF-8")) {
		/* two columns each */
		assert_int_equal(text__width("\xe6\x97\xa5\xe6\x9c\xac"), 4);
		assert_cut("\xe6\x97\xa5\xe6\x9c\xac", 3, "\xe6\x97\xa5+");
		assert_cut("\xe6\x97\xa5\xe6\x9c\xac", 2, "+");
		setlocale(LC_CTYPE, "C");
	}
}

static const struct text_col cols[] = {
	{"waits", 6, TEXT_RIGHT},
	{"kind", 8, TEXT_LEFT},
	{"lock", 0, TEXT_LEFT},
};

static void aligns_rows(void **state)
{
	const char *row[] = {"12", "rwsem", "mmap_lock of mysqld/1234"};
	const char *unknown[] = {NULL, "", "0xffff888100000000"};
	const char *long_ones[] = {"123456789", "percpu-rwsem", "x\ny"};
	struct out *o = out__memory();

	text__header(o, cols, 3, 0);
	text__row(o, cols, row, 3, 0);
	text__row(o, cols, unknown, 3, 0);
	text__row(o, cols, long_ones, 3, 0);
	assert_string_equal(out__text(o), " waits kind     lock\n"
					  "    12 rwsem    mmap_lock of mysqld/1234\n"
					  "     - -        0xffff888100000000\n"
					  "123456789 percpu-+ x?y\n");
	out__close(o, NULL);
}

static void fits_the_terminal(void **state)
{
	const char *row[] = {"12", "rwsem", "mmap_lock of mysqld/1234"};
	struct out *o = out__memory();

	text__row(o, cols, row, 3, 30);
	text__row(o, cols, row, 3, 40);
	text__row(o, cols, row, 3, 5); /* too narrow for anything: wraps */
	assert_string_equal(out__text(o), "    12 rwsem    mmap_lock of +\n"
					  "    12 rwsem    mmap_lock of mysqld/1234\n"
					  "    12 rwsem    mmap_lo+\n");
	out__close(o, NULL);
}

/* ---- CSV ---- */

static void quotes_csv(void **state)
{
	const char *row[] = {"plain", "a,b", "say \"no\"", "two\nlines", NULL, "", " blank "};
	struct out *o = out__memory();

	csv__row(o, row, 7);
	csv__row(o, row, 1);
	assert_string_equal(out__text(o),
			    "plain,\"a,b\",\"say \"\"no\"\"\",\"two\nlines\",,, blank \r\nplain\r\n");
	out__close(o, NULL);
}

/* ---- folded stacks ---- */

static void folds_stacks(void **state)
{
	const char *kernel[] = {"rwsem_down_write_slowpath+0x2a0", "down_write+0x1", "do_mmap"};
	const char *user[] = {"mmap+0x10", "[libfoo.so]+0x1234", "operator+(a; b)"};
	struct folded f = {
		.comm = "my app;1",
		.user = user,
		.n_user = 3,
		.kernel = kernel,
		.n_kernel = 3,
		.leaf = "mmap_lock of my app/12",
		.ns = 1499,
	};
	struct out *o = out__memory();

	folded__line(o, &f);
	assert_string_equal(out__text(o),
			    "my_app:1;operator+(a:_b);[libfoo.so]+0x1234;mmap;do_mmap_[k];"
			    "down_write_[k];rwsem_down_write_slowpath_[k];mmap_lock_of_my_app/12 1\n");
	out__close(o, NULL);
	o = out__memory();
	folded__line(o, &(struct folded){.kernel = kernel, .n_kernel = 1, .ns = 1500});
	folded__line(o, &(struct folded){.comm = "x", .ns = 0});
	assert_string_equal(out__text(o), "rwsem_down_write_slowpath_[k] 2\nx 0\n");
	out__close(o, NULL);
}

/* ---- JSON ---- */

static void writes_json(void **state)
{
	struct out *o = out__memory();
	struct json_object *obj = json__record("wait"), *stack = json_object_new_array();

	json__hex(obj, "lock", 0xffff888100000000);
	json__str(obj, "identity", "i_rwsem of /a/\"b\"\n");
	json__str(obj, "nothing", NULL);
	json__u64(obj, "total_ns", UINT64_MAX);
	json__i64(obj, "delta", -5);
	json__double(obj, "share", 0.5);
	json__bool(obj, "cycle", true);
	json__null(obj, "holder");
	json__push_str(stack, "down_read+0x1a");
	json__push_str(stack, NULL);
	json__add(obj, "stack", stack);
	json__write(o, obj);
	assert_string_equal(out__text(o),
			    "{\"record\":\"wait\",\"lock\":\"0xffff888100000000\","
			    "\"identity\":\"i_rwsem of /a/\\\"b\\\"\\n\",\"nothing\":null,"
			    "\"total_ns\":18446744073709551615,\"delta\":-5,\"share\":0.5,"
			    "\"cycle\":true,\"holder\":null,\"stack\":[\"down_read+0x1a\",null]}\n");
	out__close(o, NULL);
}

static void json_is_always_utf8(void **state)
{
	struct out *o = out__memory();
	struct json_object *obj = json__record("task");

	json__str(obj, "comm", "a\xff\xc3");
	json__str(obj, "good", "gr\xc3\xbc\xc3\x9f");
	json__write(o, obj);
	assert_string_equal(out__text(o), "{\"record\":\"task\",\"comm\":\"a\xef\xbf\xbd\xef\xbf\xbd\","
					  "\"good\":\"gr\xc3\xbc\xc3\x9f\"}\n");
	out__close(o, NULL);
}

static void a_lost_record_is_a_failure(void **state)
{
	struct out *o = out__memory();

	json__write(o, NULL);
	assert_int_equal(out__error(o), -ENOMEM);
	out__close(o, NULL);
}

static const char *member(struct json_object *obj, const char *key)
{
	struct json_object *v;

	assert_true(json_object_object_get_ex(obj, key, &v));
	return json_object_get_string(v);
}

static void writes_a_header(void **state)
{
	struct out *o = out__memory();
	struct json_object *obj;
	struct utsname u;
	const char *start;

	json__header(o, "waits");
	assert_ptr_equal(strchr(out__text(o), '\n'), strchr(out__text(o), '\0') - 1);
	obj = json_tokener_parse(out__text(o));
	assert_non_null(obj);
	uname(&u);
	assert_string_equal(member(obj, "record"), "header");
	assert_string_equal(member(obj, "schema"), "1");
	assert_string_equal(member(obj, "tool"), "lockblame");
	assert_string_equal(member(obj, "version"), LB_VERSION);
	assert_string_equal(member(obj, "command"), "waits");
	assert_string_equal(member(obj, "host"), u.nodename);
	assert_string_equal(member(obj, "kernel"), u.release);
	assert_int_equal(strlen(member(obj, "boot_id")), 36);
	start = member(obj, "start");
	assert_int_equal(strlen(start), 20);
	assert_true(start[10] == 'T' && start[19] == 'Z');
	json_object_put(obj);
	out__close(o, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_a_file),
		cmocka_unit_test(refuses_a_bad_path),
		cmocka_unit_test(a_full_disk_is_one_line),
		cmocka_unit_test(a_full_disk_shows_at_the_end),
		cmocka_unit_test(a_closed_pipe_is_quiet),
		cmocka_unit_test(a_closed_pipe_is_noticed),
		cmocka_unit_test(memory_keeps_everything),
		cmocka_unit_test(more_than_the_buffer),
		cmocka_unit_test(the_first_failure_counts),
		cmocka_unit_test(formats_times),
		cmocka_unit_test(formats_counts),
		cmocka_unit_test(times_fit_seven_columns),
		cmocka_unit_test(cleans_names),
		cmocka_unit_test(cuts_at_characters),
		cmocka_unit_test(aligns_rows),
		cmocka_unit_test(fits_the_terminal),
		cmocka_unit_test(quotes_csv),
		cmocka_unit_test(folds_stacks),
		cmocka_unit_test(writes_json),
		cmocka_unit_test(json_is_always_utf8),
		cmocka_unit_test(a_lost_record_is_a_failure),
		cmocka_unit_test(writes_a_header),
	};

	return cmocka_run_group_tests_name("out", tests, NULL, NULL);
}
