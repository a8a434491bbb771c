// SPDX-License-Identifier: GPL-2.0
/* Field paths, on BTF made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kmem/btf_offsets.h"

static char path[] = "/tmp/lockblame-btf-XXXXXX";

/* struct inner { int a; long b; };
 * struct outer { long first; union { struct { int x; struct inner deep; }; long y; };
 *                const inner_t named; int bits : 3; int *p; };
 * enum colour { RED = 3, GREEN = 245 }; */
static int write_btf(void **state)
{
	struct btf *b = btf__new_empty();
	const void *raw;
	uint32_t size;
	int fd;

	assert_non_null(b);
	assert_int_equal(btf__add_int(b, "int", 4, BTF_INT_SIGNED), 1);
	assert_int_equal(btf__add_int(b, "long", 8, BTF_INT_SIGNED), 2);
	assert_int_equal(btf__add_struct(b, "inner", 16), 3);
	btf__add_field(b, "a", 1, 0, 0);
	btf__add_field(b, "b", 2, 64, 0);
	assert_int_equal(btf__add_typedef(b, "inner_t", 3), 4);
	assert_int_equal(btf__add_const(b, 4), 5);
	assert_int_equal(btf__add_struct(b, NULL, 24), 6);
	btf__add_field(b, "x", 1, 0, 0);
	btf__add_field(b, "deep", 3, 64, 0);
	assert_int_equal(btf__add_union(b, NULL, 24), 7);
	btf__add_field(b, NULL, 6, 0, 0);
	btf__add_field(b, "y", 2, 0, 0);
	assert_int_equal(btf__add_ptr(b, 1), 8);
	assert_int_equal(btf__add_struct(b, "outer", 64), 9);
	btf__add_field(b, "first", 2, 0, 0);
	btf__add_field(b, NULL, 7, 64, 0);
	btf__add_field(b, "named", 5, 256, 0);
	btf__add_field(b, "bits", 1, 384, 3);
	btf__add_field(b, "p", 8, 448, 0);
	assert_int_equal(btf__add_enum(b, "colour", 4), 10);
	btf__add_enum_value(b, "RED", 3);
	btf__add_enum_value(b, "GREEN", 245);
	btf__add_struct(b, "inner", 99); /* a second definition of a name: the first counts */
	raw = btf__raw_data(b, &size);
	assert_non_null(raw);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, raw, size), size);
	close(fd);
	btf__free(b);
	return 0;
}

static int remove_btf(void **state)
{
	return unlink(path);
}

static void finds(struct btf_offsets *o, const char *p, uint32_t off, uint32_t size)
{
	struct btf_field f;

	assert_int_equal(btf_offsets__find(o, p, &f), 0);
	assert_int_equal(f.off, off);
	assert_int_equal(f.size, size);
}

static void fails(struct btf_offsets *o, const char *p, int err)
{
	struct btf_field f;

	assert_int_equal(btf_offsets__find(o, p, &f), err);
}

static void test_paths(void **state)
{
	struct btf_offsets *o = btf_offsets__new(path);
	const struct btf *b;
	struct err e;

	assert_non_null(o);
	finds(o, "outer.first", 0, 8);
	finds(o, "outer.x", 8, 4);
	finds(o, "outer.y", 8, 8);
	finds(o, "outer.deep", 16, 16);
	finds(o, "outer.deep.b", 24, 8);
	finds(o, "outer.named.b", 40, 8);
	finds(o, "outer.p", 56, 8);
	finds(o, "nosuch.x|outer.nosuch|inner.b|inner.a", 8, 8);
	finds(o, "sizeof outer", 0, 64);
	finds(o, "sizeof nosuch|sizeof inner", 0, 16);
	finds(o, "enum GREEN", 245, 4);
	fails(o, "outer.bits", -ENOENT);
	fails(o, "outer.firs", -ENOENT);
	fails(o, "outer.firsts", -ENOENT);
	fails(o, "outer.first.x", -ENOENT);
	fails(o, "outer.p.x", -ENOENT);
	fails(o, "oute.first", -ENOENT);
	fails(o, "enum BLUE", -ENOENT);
	fails(o, "sizeof int", -ENOENT);
	fails(o, "outer", -EINVAL);
	fails(o, "|outer.first", -EINVAL);
	fails(o, "func nosuch", -ENOENT);
	btf_offsets__release(o);
	finds(o, "inner.b", 8, 8);
	/* What was handed out stays. */
	b = btf_offsets__btf(o, &e);
	assert_non_null(b);
	btf_offsets__release(o);
	assert_true(btf__type_cnt(b) > 5);
	assert_ptr_equal(btf_offsets__btf(o, &e), b);
	btf_offsets__free(o);
}

static void test_no_btf(void **state)
{
	struct btf_offsets *o = btf_offsets__new("/proc/nonexistent/btf");
	struct btf_field f;
	struct err e = {{0}};

	assert_int_equal(btf_offsets__find(o, "outer.first", &f), -ENOENT);
	assert_null(btf_offsets__btf(o, &e));
	assert_non_null(strstr(e.msg, "/proc/nonexistent/btf"));
	assert_non_null(strstr(e.msg, "CONFIG_DEBUG_INFO_BTF"));
	btf_offsets__free(o);
	btf_offsets__free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_no_btf),
	};

	return cmocka_run_group_tests_name("BTF offsets", tests, write_btf, remove_btf);
}
