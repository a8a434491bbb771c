// SPDX-License-Identifier: GPL-2.0
#include "support.h"

#include <errno.h>

#include "names/ksym.h"

/* A kernel in small: aliases, marks, per-CPU and absolute symbols, two modules, a BPF program. */
static const char small[] =
	"0000000000000000 A fixed_percpu_data\n"
	"0000000000001000 A cpu_debug_store\n"
	"0000000000002000 D old_percpu\n"
	"ffffffff81000000 T _text\n"
	"ffffffff81000000 T _stext\n"
	"ffffffff81000000 T startup_64\n"
	"ffffffff81000100 t __do_sys_getpid\n"
	"ffffffff81000100 T __ia32_sys_getpid\n"
	"ffffffff81000100 T __x64_sys_getpid\n"
	"ffffffff810001f0 t __pfx_down_read\n"
	"ffffffff81000200 T down_read\n"
	"ffffffff81000280 t rwsem_wake.isra.0\n"
	"ffffffff810002c0 t rwsem_wake_q\n"
	"ffffffff81000300 t rwsem_wake.isra.0.cold\n"
	"ffffffff81000340 t init_once\n"
	"ffffffff81000380 T __memmove\n"
	"ffffffff81000380 W memmove\n"
	"ffffffff810003c0 t init_once\n"
	"ffffffff810003e0 T __stop_tty\n"
	"ffffffff81000400 T last_in_text\n"
	"ffffffff81000500 T _etext\n"
	"ffffffff82000000 D __start_rodata\n"
	"ffffffff83000000 T _sinittext\n"
	"ffffffff83000000 t early_thing\n"
	"ffffffff83000100 T _einittext\n"
	"ffffffffc0200000 t ext4_first\t[ext4]\n"
	"ffffffffc0200800 t ext4_last\t[ext4]\n"
	"ffffffffc0100010 t xfs_b\t[xfs]\n"
	"ffffffffc0100000 t xfs_a\t[xfs]\n"
	"ffffffffc0300040 t bpf_prog_6deef7357e7b4530_waits\t[bpf]\n";

static struct ksyms *open_text(const char *text, char **path)
{
	struct ksyms *ks;
	struct err e;

	*path = temp_file(text);
	ks = ksyms__load_from(*path, "/proc/nonexistent/modules", &e);
	assert_non_null(ks);
	return ks;
}

static void assert_name(struct ksyms *ks, uint64_t addr, const char *name)
{
	struct ksym s;

	if (!name) {
		assert_false(ksyms__find(ks, addr, &s));
		return;
	}
	assert_true(ksyms__find(ks, addr, &s));
	assert_string_equal(s.name, name);
}

static void finds_code(void **state)
{
	char *path, buf[KSYM_BUF];
	struct ksyms *ks = open_text(small, &path);
	struct ksym s;

	assert_name(ks, 0xffffffff81000000, "startup_64");
	assert_name(ks, 0xffffffff810000ff, "startup_64");
	assert_true(ksyms__find(ks, 0xffffffff81000234, &s));
	assert_string_equal(s.name, "down_read");
	assert_int_equal(s.offset, 0x34);
	assert_null(s.module);
	assert_name(ks, 0xffffffff81000345, "init_once");
	assert_name(ks, 0xffffffff810003e4, "__stop_tty"); /* no mark of a section */
	assert_name(ks, 0xffffffff83000050, "early_thing");
	assert_string_equal(ksyms__format(ks, 0xffffffff81000234, buf, sizeof(buf)),
			    "down_read+0x34");
	ksyms__free(ks);
	temp_remove(path);
}

static void prefers_the_known_alias(void **state)
{
	char *path;
	struct ksyms *ks = open_text(small, &path);

	assert_name(ks, 0xffffffff81000110, "__x64_sys_getpid");
	assert_name(ks, 0xffffffff81000381, "memmove");
	ksyms__free(ks);
	temp_remove(path);
}

static void gaps_have_no_name(void **state)
{
	char *path, buf[KSYM_BUF];
	struct ksyms *ks = open_text(small, &path);

	assert_name(ks, 0xffffffff80ffffff, NULL); /* below the kernel */
	assert_name(ks, 0xffffffff810004ff, "last_in_text");
	assert_name(ks, 0xffffffff81000500, NULL); /* _etext itself */
	assert_name(ks, 0xffffffff82000010, NULL); /* data: marks are no names */
	assert_name(ks, 0xffffffff83000100, NULL);
	assert_name(ks, 0xffff888100000000, NULL); /* the direct map */
	assert_name(ks, 0x1010, NULL); /* per-CPU offsets are no addresses */
	assert_name(ks, 0x2010, NULL);
	assert_name(ks, 0, NULL);
	assert_name(ks, UINT64_MAX, NULL);
	assert_string_equal(ksyms__format(ks, 0xffff888100000abc, buf, sizeof(buf)),
			    "0xffff888100000abc");
	ksyms__free(ks);
	temp_remove(path);
}

static void modules_end_with_their_page(void **state)
{
	char *path;
	struct ksyms *ks = open_text(small, &path);
	struct ksym s;

	assert_true(ksyms__find(ks, 0xffffffffc0200004, &s));
	assert_string_equal(s.name, "ext4_first");
	assert_string_equal(s.module, "ext4");
	assert_name(ks, 0xffffffffc0100008, "xfs_a"); /* sorted although listed after xfs_b */
	assert_name(ks, 0xffffffffc0100fff, "xfs_b");
	assert_name(ks, 0xffffffffc0101000, NULL);
	assert_name(ks, 0xffffffffc0200fff, "ext4_last");
	assert_name(ks, 0xffffffffc0201000, NULL);
	assert_name(ks, 0xffffffffc02fffff, NULL);
	assert_true(ksyms__find(ks, 0xffffffffc0300050, &s));
	assert_string_equal(s.module, "bpf");
	assert_name(ks, 0xffffffffc0301000, NULL);
	ksyms__free(ks);
	temp_remove(path);
}

/* A call that never returns at the end of a function: its return address is the next function. */
static void return_addresses_belong_to_the_caller(void **state)
{
	char *path;
	struct ksyms *ks = open_text(small, &path);
	struct ksym s;

	assert_true(ksyms__find_return(ks, 0xffffffff81000280, &s));
	assert_string_equal(s.name, "down_read");
	assert_int_equal(s.offset, 0x80);
	assert_true(ksyms__find_return(ks, 0xffffffff81000281, &s));
	assert_string_equal(s.name, "rwsem_wake.isra.0");
	assert_true(ksyms__find_return(ks, 0xffffffff81000500, &s));
	assert_string_equal(s.name, "last_in_text");
	assert_false(ksyms__find_return(ks, 0xffffffff81000000, &s));
	ksyms__free(ks);
	temp_remove(path);
}

static void finds_names(void **state)
{
	char *path;
	struct ksyms *ks = open_text(small, &path);
	const char *names[4];
	uint64_t addr = 0;

	assert_int_equal(ksyms__addr(ks, "down_read", &addr), 0);
	assert_true(addr == 0xffffffff81000200);
	assert_int_equal(ksyms__addr(ks, "down_rea", &addr), -ENOENT);
	assert_int_equal(ksyms__addr(ks, "own_read", &addr), -ENOENT);
	assert_int_equal(ksyms__addr(ks, "", &addr), -ENOENT);
	assert_int_equal(ksyms__addr(ks, "old_percpu", &addr), -ENOENT);
	assert_int_equal(ksyms__addr(ks, "init_once", &addr), -ENOTUNIQ);
	assert_int_equal(ksyms__addr(ks, "_etext", &addr), 0);
	assert_true(addr == 0xffffffff81000500);

	assert_int_equal(ksyms__variants(ks, "rwsem_wake", names, 4), 1);
	assert_string_equal(names[0], "rwsem_wake.isra.0");
	assert_int_equal(ksyms__variants(ks, "down_read", names, 4), 1);
	assert_int_equal(ksyms__variants(ks, "nothing_like_it", names, 4), 0);
	ksyms__free(ks);
	temp_remove(path);
}

static void equal_names_are_one_pointer(void **state)
{
	char *path;
	struct ksyms *ks = open_text(small, &path);
	struct ksym a, b;

	assert_true(ksyms__find(ks, 0xffffffff81000341, &a));
	assert_true(ksyms__find(ks, 0xffffffff810003c1, &b));
	assert_ptr_equal(a.name, b.name);
	ksyms__free(ks);
	temp_remove(path);
}

static void hidden_addresses_name_nothing(void **state)
{
	static const char text[] = "0000000000000000 A fixed_percpu_data\n"
				   "0000000000000000 T _stext\n"
				   "0000000000000000 T down_read\n"
				   "0000000000000000 t rwsem_wake.isra.0\n"
				   "0000000000000000 t ext4_first\t[ext4]\n";
	char *path, buf[KSYM_BUF];
	struct ksyms *ks = open_text(text, &path);
	const char *names[2];
	uint64_t addr;

	assert_true(ksyms__hidden(ks));
	assert_false(ksyms__has_data(ks));
	assert_non_null(strstr(ksyms__why(ks), "CAP_SYSLOG"));
	assert_name(ks, 0xffffffff81000000, NULL);
	assert_name(ks, 0, NULL);
	assert_string_equal(ksyms__format(ks, 0xffffffff81000000, buf, sizeof(buf)),
			    "0xffffffff81000000");
	/* the names are there all the same: hooks by name still work */
	assert_int_equal(ksyms__addr(ks, "down_read", &addr), -EACCES);
	assert_int_equal(ksyms__addr(ks, "no_such", &addr), -ENOENT);
	assert_int_equal(ksyms__variants(ks, "rwsem_wake", names, 2), 1);
	ksyms__free(ks);
	temp_remove(path);
}

/* Enough variables for a kernel with KALLSYMS_ALL, and some that matter. */
static char *with_data(void)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	fputs("ffffffff81000000 T _stext\nffffffff81000000 T first\nffffffff81000500 T _etext\n", f);
	fputs("ffffffff82000000 D _sdata\n", f);
	for (int i = 0; i < 1100; i++)
		fprintf(f, "ffffffff82%06x d filler_%d\n", 0x1000 + i * 16, i);
	fputs("ffffffff82100000 D rtnl_mutex\n"
	      "ffffffff82100020 d __func__.12345\n"
	      "ffffffff82100040 T cgroup_threadgroup_rwsem\n" /* sic: 7.2 */
	      "ffffffff82100100 b big_table\n"
	      "ffffffff82900000 B __bss_stop\n"
	      "ffffffff82900000 B _end\n"
	      "ffffffff829ff000 T handshake_exit\n"
	      "ffffffff82a00000 D __per_cpu_start\n"
	      "ffffffff82a00100 d runqueues\n"
	      "ffffffff82a10000 D __per_cpu_end\n"
	      "ffffffffc0200000 t ext4_first\t[ext4]\n"
	      "ffffffffc0201000 d ext4_li_mtx\t[ext4]\n"
	      "ffffffffc0201020 d ext4_other\t[ext4]\n",
	      f);
	fclose(f);
	return text;
}

static void finds_data(void **state)
{
	char *text = with_data(), *path, buf[KSYM_BUF];
	struct ksyms *ks = open_text(text, &path);
	uint64_t addr = 0;
	struct ksym s;

	assert_true(ksyms__has_data(ks));
	assert_null(ksyms__why(ks));
	assert_string_equal(ksyms__format_data(ks, 0xffffffff82100000, buf, sizeof(buf)),
			    "rtnl_mutex");
	assert_string_equal(ksyms__format_data(ks, 0xffffffff82100048, buf, sizeof(buf)),
			    "cgroup_threadgroup_rwsem+0x8");
	assert_int_equal(ksyms__addr(ks, "rtnl_mutex", &addr), 0);
	assert_true(addr == 0xffffffff82100000);
	assert_string_equal(ksyms__format_data(ks, 0xffffffffc0201004, buf, sizeof(buf)),
			    "ext4_li_mtx+0x4");
	/* the compiler's own data is no name, and does not lend one */
	assert_false(ksyms__find_data(ks, 0xffffffff82100028, &s));
	/* no table is that big: its neighbour is unlisted */
	assert_true(ksyms__find_data(ks, 0xffffffff821ff000, &s));
	assert_false(ksyms__find_data(ks, 0xffffffff82300000, &s));
	assert_false(ksyms__find_data(ks, 0xffffffff82900000, &s));
	/* code is no data, data no code */
	assert_false(ksyms__find_data(ks, 0xffffffff81000010, &s));
	assert_false(ksyms__find(ks, 0xffffffff82100000, &s));
	assert_false(ksyms__find(ks, 0xffffffff82100048, &s));
	/* the per-CPU template is nobody's memory */
	assert_false(ksyms__find_data(ks, 0xffffffff82a00110, &s));
	assert_int_equal(ksyms__addr(ks, "runqueues", &addr), -ENOENT);
	ksyms__free(ks);
	temp_remove(path);
	free(text);
}

static void no_data_without_kallsyms_all(void **state)
{
	char *path;
	struct ksyms *ks = open_text(small, &path);
	struct ksym s;

	assert_false(ksyms__has_data(ks));
	assert_false(ksyms__hidden(ks));
	assert_non_null(strstr(ksyms__why(ks), "CONFIG_KALLSYMS_ALL"));
	assert_false(ksyms__find_data(ks, 0xffffffff82000000, &s));
	ksyms__free(ks);
	temp_remove(path);
}

static void follows_modules(void **state)
{
	static const char before[] = "ffffffff81000000 T _stext\nffffffff81000500 T _etext\n"
				     "ffffffffc0200000 t one\t[one]\n";
	static const char after[] = "ffffffff81000000 T _stext\nffffffff81000500 T _etext\n"
				    "ffffffffc0200000 t two\t[two]\n";
	char *kallsyms = temp_file(before);
	char *modules = temp_file("one 16384 0 - Live 0xffffffffc0200000\n");
	struct ksym old, new;
	struct ksyms *ks;
	struct err e;

	ks = ksyms__load_from(kallsyms, modules, &e);
	assert_non_null(ks);
	assert_true(ksyms__find(ks, 0xffffffffc0200010, &old));
	replace_file(kallsyms, after);
	ksyms__refresh(ks);
	assert_name(ks, 0xffffffffc0200010, "one"); /* not read again without a reason */
	replace_file(modules, "one 16384 3 - Live 0xffffffffc0200000\n");
	ksyms__refresh(ks);
	assert_name(ks, 0xffffffffc0200010, "one"); /* a reference count is none */
	replace_file(modules, "two 16384 0 - Live 0xffffffffc0200000\n");
	ksyms__refresh(ks);
	assert_true(ksyms__find(ks, 0xffffffffc0200010, &new));
	assert_string_equal(new.name, "two");
	assert_string_equal(old.name, "one"); /* what was given out stays */
	assert_string_equal(old.module, "one");
	ksyms__free(ks);
	temp_remove(kallsyms);
	temp_remove(modules);
}

/* An unknown address looks at /proc/modules by itself, at most once a second. */
static void unknown_address_follows_modules(void **state)
{
	char *kallsyms = temp_file("ffffffff81000000 T _stext\nffffffff81000500 T _etext\n");
	char *modules = temp_file("");
	struct ksyms *ks;
	struct err e;

	ks = ksyms__load_from(kallsyms, modules, &e);
	assert_name(ks, 0xffffffffc0200010, NULL);
	replace_file(kallsyms, "ffffffff81000000 T _stext\nffffffff81000500 T _etext\n"
			       "ffffffffc0200000 t late\t[late]\n");
	replace_file(modules, "late 16384 0 - Live 0xffffffffc0200000\n");
	sleep(2);
	assert_name(ks, 0xffffffffc0200010, "late");
	ksyms__free(ks);
	temp_remove(kallsyms);
	temp_remove(modules);
}

static void bad_lines_are_skipped(void **state)
{
	char *path;
	struct ksyms *ks = open_text("\n \nhello\nffffffff8100000g T wrong_digit\n"
				     "ffffffff81000000ffffffff T too_long\nffffffff81000010 T \n"
				     "ffffffff81000020 T\nffffffff81000030\n"
				     "ffffffff81000040 T good\nffffffff81000050 t cut\t[modu\n"
				     "ffffffff81000060 T no_newline",
				     &path);

	assert_name(ks, 0xffffffff81000044, "good");
	assert_name(ks, 0xffffffff81000010, NULL);
	ksyms__free(ks);
	temp_remove(path);
}

static void unreadable_is_explained(void **state)
{
	char *path;
	struct ksyms *ks;
	struct ksym s;
	struct err e;

	assert_null(ksyms__load("/proc/nonexistent/kallsyms", &e));
	assert_string_equal(e.msg, "cannot read /proc/nonexistent/kallsyms: No such file or directory");
	ks = open_text("", &path);
	assert_true(ksyms__hidden(ks));
	assert_non_null(ksyms__why(ks));
	assert_false(ksyms__find(ks, 0xffffffff81000000, &s));
	ksyms__free(ks);
	ksyms__free(NULL);
	temp_remove(path);
}

/* On the kernel at hand, whatever it is and whoever runs this. */
static void reads_this_kernel(void **state)
{
	struct ksyms *ks;
	uint64_t addr;
	struct ksym s;
	struct err e;

	ks = ksyms__load(NULL, &e);
	if (!ks || ksyms__hidden(ks)) {
		ksyms__free(ks);
		skip();
	}
	assert_int_equal(ksyms__addr(ks, "schedule", &addr), 0);
	assert_true(ksyms__find(ks, addr + 1, &s));
	assert_string_equal(s.name, "schedule");
	assert_int_equal(s.offset, 1);
	assert_int_equal(ksyms__addr(ks, "_etext", &addr), 0);
	assert_name(ks, addr + 4096, NULL);
	ksyms__free(ks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_code),
		cmocka_unit_test(prefers_the_known_alias),
		cmocka_unit_test(gaps_have_no_name),
		cmocka_unit_test(modules_end_with_their_page),
		cmocka_unit_test(return_addresses_belong_to_the_caller),
		cmocka_unit_test(finds_names),
		cmocka_unit_test(equal_names_are_one_pointer),
		cmocka_unit_test(hidden_addresses_name_nothing),
		cmocka_unit_test(finds_data),
		cmocka_unit_test(no_data_without_kallsyms_all),
		cmocka_unit_test(follows_modules),
		cmocka_unit_test(unknown_address_follows_modules),
		cmocka_unit_test(bad_lines_are_skipped),
		cmocka_unit_test(unreadable_is_explained),
		cmocka_unit_test(reads_this_kernel),
	};

	return cmocka_run_group_tests_name("ksym", tests, NULL, NULL);
}
