// SPDX-License-Identifier: GPL-2.0
#include "support.h"

#include <errno.h>
#include <sys/stat.h>

#include "names/cgroup.h"

/* A hierarchy of plain directories: ids are inode numbers there too. */
static char top[64];
static char *mountinfo;

static int set_up(void **state)
{
	char text[512], path[128];

	snprintf(top, sizeof(top), "/tmp/lockblame test-XXXXXX");
	assert_non_null(mkdtemp(top));
	snprintf(path, sizeof(path), "%s/system.slice", top);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/system.slice/db.service", top);
	assert_int_equal(mkdir(path, 0755), 0);
	/* the blank in the name is written as octal, as the kernel does */
	snprintf(text, sizeof(text),
		 "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
		 "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
		 "38 31 0:31 / /tmp/lockblame\\040%s rw,relatime shared:9 - cgroup2 cgroup2 rw\n"
		 "39 31 0:32 / /else rw - ext4 /dev/cgroup2 rw\n",
		 strchr(top, ' ') + 1);
	mountinfo = temp_file(text);
	return 0;
}

static int tear_down(void **state)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/system.slice/db.service", top);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/system.slice", top);
	rmdir(path);
	rmdir(top);
	temp_remove(mountinfo);
	return 0;
}

static uint64_t inode_of(const char *below)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s", top, below);
	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

static void finds_the_mount(void **state)
{
	struct cgroups *cg = cgroups__new(mountinfo);

	assert_string_equal(cgroups__mount(cg), top);
	cgroups__free(cg);
	cgroups__free(NULL);
}

static void names_ids(void **state)
{
	struct cgroups *cg = cgroups__new(mountinfo);

	assert_string_equal(cgroups__path(cg, inode_of("")), "/");
	assert_string_equal(cgroups__path(cg, inode_of("/system.slice")), "/system.slice");
	assert_string_equal(cgroups__path(cg, inode_of("/system.slice/db.service")),
			    "/system.slice/db.service");
	/* again, from the cache */
	assert_string_equal(cgroups__path(cg, inode_of("/system.slice")), "/system.slice");
	assert_string_equal(cgroups__path(cg, 1ULL << 60), "1152921504606846976");
	assert_string_equal(cgroups__path(cg, 0), "0");
	cgroups__free(cg);
}

static void finds_what_the_user_wrote(void **state)
{
	struct cgroups *cg = cgroups__new(mountinfo);
	uint64_t id = 0, want = inode_of("/system.slice/db.service");
	unsigned int level = 99;
	char text[256];
	struct err e;

	assert_int_equal(cgroups__find(cg, "/system.slice/db.service", &id, &level, &e), 0);
	assert_true(id == want);
	assert_int_equal(level, 2);
	assert_int_equal(cgroups__find(cg, "system.slice/", &id, &level, &e), 0);
	assert_true(id == inode_of("/system.slice"));
	assert_int_equal(level, 1);
	assert_int_equal(cgroups__find(cg, "/", &id, &level, &e), 0);
	assert_int_equal(level, 0);
	snprintf(text, sizeof(text), "%s/system.slice/db.service", top);
	assert_int_equal(cgroups__find(cg, text, &id, &level, &e), 0);
	assert_true(id == want);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)want);
	assert_int_equal(cgroups__find(cg, text, &id, &level, &e), 0);
	assert_true(id == want);
	assert_int_equal(level, 2);
	cgroups__free(cg);
}

static void refuses_what_is_not_there(void **state)
{
	struct cgroups *cg = cgroups__new(mountinfo);
	char want[256];
	unsigned int level;
	struct err e;
	uint64_t id;

	assert_int_equal(cgroups__find(cg, "/no/such", &id, &level, &e), -ENOENT);
	snprintf(want, sizeof(want), "there is no cgroup '/no/such' below %s", top);
	assert_string_equal(e.msg, want);
	assert_int_equal(cgroups__find(cg, "123456789012345678", &id, &level, &e), -ENOENT);
	/* not out of the hierarchy */
	assert_int_equal(cgroups__find(cg, "../..", &id, &level, &e), -ENOENT);
	assert_int_equal(cgroups__find(cg, "/../../etc", &id, &level, &e), -ENOENT);
	cgroups__free(cg);
}

static void lives_without_cgroup2(void **state)
{
	char *none = temp_file("31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n");
	struct cgroups *cg = cgroups__new(none);
	unsigned int level;
	struct err e;
	uint64_t id;

	assert_null(cgroups__mount(cg));
	assert_string_equal(cgroups__path(cg, 42), "42");
	assert_int_equal(cgroups__find(cg, "/a", &id, &level, &e), -ENOENT);
	assert_string_equal(e.msg, "no cgroup v2 hierarchy is mounted, so '/a' cannot be found");
	cgroups__free(cg);
	cg = cgroups__new("/proc/nonexistent/mountinfo");
	assert_string_equal(cgroups__path(cg, 42), "42");
	cgroups__free(cg);
	temp_remove(none);
}

/* On the machine at hand: the root has a path whoever asks. */
static void knows_this_machine(void **state)
{
	struct cgroups *cg = cgroups__new(NULL);
	unsigned int level;
	uint64_t id;

	if (!cgroups__mount(cg)) {
		cgroups__free(cg);
		skip();
	}
	assert_int_equal(cgroups__find(cg, "/", &id, &level, NULL), 0);
	assert_string_equal(cgroups__path(cg, id), "/");
	cgroups__free(cg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_mount),
		cmocka_unit_test(names_ids),
		cmocka_unit_test(finds_what_the_user_wrote),
		cmocka_unit_test(refuses_what_is_not_there),
		cmocka_unit_test(lives_without_cgroup2),
		cmocka_unit_test(knows_this_machine),
	};

	return cmocka_run_group_tests_name("cgroup", tests, set_up, tear_down);
}
