// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "names/tasks.h"

#define TICK 10000000ull

static char proc[] = "/tmp/lockblame-proc-XXXXXX";

static void write_file(pid_t tid, const char *what, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d", proc, tid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%d/%s", proc, tid, what);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void set_task(pid_t tid, pid_t tgid, const char *comm, uint64_t ticks)
{
	char buf[512];

	snprintf(buf, sizeof(buf),
		 "%d (%s) S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 %" PRIu64 " 100 200\n", tid,
		 comm, ticks);
	write_file(tid, "stat", buf);
	snprintf(buf, sizeof(buf),
		 "Name:\t%s\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t%d\nNgid:\t0\n", comm,
		 tgid);
	write_file(tid, "status", buf);
}

static void end_task(pid_t tid)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%d/stat", proc, tid);
	unlink(path);
	snprintf(path, sizeof(path), "%s/%d/status", proc, tid);
	unlink(path);
	snprintf(path, sizeof(path), "%s/%d", proc, tid);
	rmdir(path);
}

static int make_proc(void **state)
{
	return mkdtemp(proc) ? 0 : -1;
}

static int remove_proc(void **state)
{
	return rmdir(proc);
}

static struct task_name get(struct tasks *t, pid_t tid, uint64_t start_ns)
{
	struct task_name n;

	assert_int_equal(tasks__get(t, tid, start_ns, &n), 0);
	return n;
}

static void test_parse(void **state)
{
	struct tasks *t = tasks__new(proc, 0);
	struct task_name n;

	set_task(7, 5, "a) (b R 1", 1234);
	n = get(t, 7, 0);
	assert_string_equal(n.comm, "a) (b R 1");
	assert_int_equal(n.tgid, 5);
	assert_int_equal(n.start_ticks, 1234);
	assert_true(n.alive);
	assert_int_equal(tasks__get(t, 8, 0, &n), -ESRCH);
	write_file(8, "stat", "8 (x) S 1\n");
	tasks__tick(t);
	assert_int_equal(tasks__get(t, 8, 0, &n), -ESRCH);
	write_file(8, "stat", "");
	tasks__tick(t);
	assert_int_equal(tasks__get(t, 8, 0, &n), -ESRCH);
	end_task(7);
	end_task(8);
	tasks__free(t);
}

static void test_reuse(void **state)
{
	struct tasks *t = tasks__new(proc, 0);
	struct task_name n;

	set_task(7, 7, "old", 100);
	assert_string_equal(get(t, 7, 100 * TICK + 5).comm, "old");
	end_task(7);
	/* Within an epoch it is not looked at again. */
	assert_true(get(t, 7, 0).alive);
	tasks__tick(t);
	n = get(t, 7, 0);
	assert_string_equal(n.comm, "old");
	assert_false(n.alive);
	set_task(7, 3, "new", 500);
	tasks__tick(t);
	n = get(t, 7, 0);
	assert_string_equal(n.comm, "new");
	assert_true(n.alive);
	/* Both can be told apart by their start, and a third is nobody. */
	n = get(t, 7, 100 * TICK);
	assert_string_equal(n.comm, "old");
	assert_false(n.alive);
	assert_string_equal(get(t, 7, 500 * TICK + TICK - 1).comm, "new");
	assert_int_equal(tasks__get(t, 7, 300 * TICK, &n), -ESRCH);
	/* A comm may change, the task is the same. */
	set_task(7, 3, "renamed", 500);
	tasks__tick(t);
	assert_string_equal(get(t, 7, 500 * TICK).comm, "renamed");
	end_task(7);
	tasks__free(t);
}

static void test_learn(void **state)
{
	struct tasks *t = tasks__new(proc, 0);
	struct task_name n;

	tasks__learn(t, 9, 4, 77 * TICK, "short-lived");
	n = get(t, 9, 77 * TICK);
	assert_string_equal(n.comm, "short-lived");
	assert_int_equal(n.tgid, 4);
	assert_false(n.alive);
	tasks__learn(t, 9, 4, 77 * TICK, "a comm that is far too long");
	assert_string_equal(get(t, 9, 0).comm, "a comm that is ");
	tasks__free(t);
}

static void test_bounded(void **state)
{
	struct tasks *t = tasks__new(proc, 4);
	struct task_name n;

	for (int i = 1; i <= 100; i++) {
		tasks__learn(t, i, i, TICK, "x");
		assert_int_equal(tasks__get(t, 1, 0, &n), 0); /* used all the time: stays */
	}
	assert_int_equal(tasks__get(t, 100, 0, &n), 0);
	assert_int_equal(tasks__get(t, 2, 0, &n), -ESRCH);
	tasks__free(t);
	tasks__free(NULL);
}

static void test_live(void **state)
{
	struct tasks *t = tasks__new(NULL, 0);
	struct task_name n = get(t, getpid(), 0);

	assert_int_equal(n.tgid, getpid());
	assert_string_equal(n.comm, "test_tasks");
	tasks__free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse), cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_learn), cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_live),
	};

	return cmocka_run_group_tests_name("task names", tests, make_proc, remove_proc);
}
