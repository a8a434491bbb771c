// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names/mounts.h"

static const char table[] = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
			    "30 22 8:2 / /data rw - xfs /dev/sdb rw\n"
			    "31 22 8:3 /@home /home rw - btrfs /dev/sdc rw\n"
			    "32 22 8:1 /srv/a\\040b /mnt/with\\040blank rw - ext4 /dev/sda1 rw\n"
			    "33 22 0:40 / /over rw - tmpfs a rw\n"
			    "34 33 0:41 / /over rw - tmpfs b rw\n"
			    "35 22 0:42 / /deep rw - tmpfs c rw\n"
			    "36 35 0:43 / /deep/down rw - tmpfs d rw\n"
			    "37 22 8:5 /only/this /this rw - ext4 /dev/sdd rw\n"
			    "garbage\n"
			    "38 22 8:x / /broken rw - ext4 x rw\n"
			    "\n";

static struct mounts *load(void)
{
	char path[] = "/tmp/lockblame-mounts-XXXXXX";
	struct mounts *m;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, table, strlen(table)), (ssize_t)strlen(table));
	close(fd);
	m = mounts__new(path);
	unlink(path);
	assert_non_null(m);
	return m;
}

static void is_at(struct mounts *m, unsigned int major, unsigned int minor, const char *in,
		  const char *want)
{
	char buf[256];

	assert_int_equal(mounts__path(m, major, minor, in, buf, sizeof(buf)), 0);
	assert_string_equal(buf, want);
}

static void is_nowhere(struct mounts *m, unsigned int major, unsigned int minor, const char *in)
{
	char buf[256];

	assert_int_equal(mounts__path(m, major, minor, in, buf, sizeof(buf)), -ENOENT);
}

static void test_paths(void **state)
{
	struct mounts *m = load();
	char small[8];

	is_at(m, 8, 1, "/", "/");
	is_at(m, 8, 1, "/usr/lib/x", "/usr/lib/x");
	is_at(m, 8, 2, "/", "/data");
	is_at(m, 8, 2, "/f", "/data/f");
	is_at(m, 8, 3, "/@home/me", "/home/me");
	is_at(m, 8, 3, "/@home", "/home");
	is_nowhere(m, 8, 3, "/@homely");
	is_nowhere(m, 8, 3, "/");
	is_at(m, 8, 5, "/only/this/f", "/this/f");
	is_nowhere(m, 8, 5, "/only/that");
	is_nowhere(m, 9, 9, "/");
	/* The shortest of the ways to a file. */
	is_at(m, 8, 1, "/srv/a b/c", "/srv/a b/c");
	assert_int_equal(mounts__path(m, 8, 1, "/usr/lib/x", small, sizeof(small)), -ENAMETOOLONG);
	mounts__free(m);
}

static void test_hidden(void **state)
{
	struct mounts *m = load();

	/* The directory that is mounted on, and what is below it. */
	is_nowhere(m, 8, 1, "/data");
	is_nowhere(m, 8, 1, "/data/f");
	is_at(m, 8, 1, "/database", "/database");
	/* One mount over another. */
	is_nowhere(m, 0, 40, "/f");
	is_at(m, 0, 41, "/f", "/over/f");
	is_at(m, 0, 42, "/f", "/deep/f");
	is_nowhere(m, 0, 42, "/down/f");
	is_at(m, 0, 43, "/f", "/deep/down/f");
	mounts__free(m);
}

static void test_live(void **state)
{
	struct mounts *m = mounts__new(NULL), *none = mounts__new("/proc/nonexistent");

	is_nowhere(m, 4095, 4095, "/");
	is_nowhere(none, 8, 1, "/");
	mounts__free(m);
	mounts__free(none);
	mounts__free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_live),
	};

	return cmocka_run_group_tests_name("mounts", tests, NULL, NULL);
}
