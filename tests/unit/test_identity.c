// SPDX-License-Identifier: GPL-2.0
/* Names of locks on memory made by hand: reuse of addresses, processes that end, other layouts. The
 * recorded images are in test_kmem_images.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "kmem/image.h"
#include "names/identity.h"
#include "util/cleanup.h"

#define BASE 0xffff888000000000ull
#define TASK(i) (BASE + 0x100000 + (uint64_t)(i)*0x1000)
#define PID(i) (BASE + 0x200000 + (uint64_t)(i)*0x100)
#define MM (BASE + 0x300000)
#define MM_LOCK (MM + 0x78)
#define SYMBOL 0xffffffff82001000ull

static void put(struct kmem *k, uint64_t addr, uint64_t v)
{
	assert_int_equal(kmem_image__put_u64(k, addr, v), 0);
}

static void add_task(struct kmem *k, int i, uint64_t mm, uint64_t start_ns, const char *name)
{
	char comm[16] = {0};

	snprintf(comm, sizeof(comm), "%s", name);
	put(k, TASK(i), (uint64_t)(100 + i) | (uint64_t)(100 + i) << 32);
	kmem_image__put(k, TASK(i) + 0x10, comm, sizeof(comm));
	put(k, TASK(i) + 0x20, mm);
	put(k, TASK(i) + 0x28, 0);
	put(k, TASK(i) + 0x30, start_ns);
	put(k, TASK(i) + 0x38, TASK(i));
	put(k, TASK(i) + 0x40, PID(i));
	put(k, PID(i) + 0x10, TASK(i) + 0x48);
}

static struct kmem *make(void)
{
	static const struct {
		enum kmem_field f;
		uint32_t off, size;
	} fields[] = {
		{KF_TASK_PID, 0, 4},	       {KF_TASK_TGID, 4, 4},
		{KF_TASK_COMM, 0x10, 16},      {KF_TASK_MM, 0x20, 8},
		{KF_TASK_FLAGS, 0x28, 4},      {KF_TASK_START, 0x30, 8},
		{KF_TASK_LEADER, 0x38, 8},     {KF_TASK_THREAD_PID, 0x40, 8},
		{KF_TASK_PID_LINKS, 0x48, 16}, {KF_PID_TASKS, 0x10, 8},
		{KF_MM_MMAP_LOCK, 0x78, 40},   {KF_MM_OWNER, 0x200, 8},
	};
	struct kmem *k = kmem_image__new();

	assert_non_null(k);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		kmem_image__set_field(k, fields[i].f, fields[i].off, fields[i].size);
	add_task(k, 1, MM, 1000, "mysqld");
	put(k, MM + 0x200, TASK(1));
	return k;
}

static const char *symbol(void *ctx, uint64_t addr, uint64_t *off, bool *is_data)
{
	if (addr < SYMBOL || addr >= SYMBOL + 0x100)
		return NULL;
	*off = addr - SYMBOL;
	*is_data = addr < SYMBOL + 0x80;
	return "rtnl_mutex";
}

static const struct identity_syms syms = {.name = symbol};

static struct identity resolve(struct identities *ids, uint64_t addr, enum lb_kind kind,
			       enum identity_state want)
{
	struct identity id;

	assert_int_equal(identity__resolve(ids, addr, kind, NULL, &id), want);
	return id;
}

static void test_without_memory(void **state)
{
	struct identities *ids = identities__new(NULL, &syms);
	struct identity id;

	id = resolve(ids, SYMBOL, LB_MUTEX, IDENTITY_SAME);
	assert_string_equal(id.text, "rtnl_mutex");
	assert_string_equal(id.cls, "rtnl_mutex");
	assert_int_equal(id.how, IDENTITY_SYMBOL);
	assert_int_equal(id.certainty, LB_EXACT);
	id = resolve(ids, SYMBOL + 0x10, LB_SPINLOCK, IDENTITY_SAME);
	assert_string_equal(id.text, "rtnl_mutex+0x10");
	/* Code is no lock. */
	id = resolve(ids, SYMBOL + 0x80, LB_MUTEX, IDENTITY_SAME);
	assert_string_equal(id.text, "0xffffffff82001080");
	assert_string_equal(id.cls, "0xffffffff82001080");
	assert_int_equal(id.certainty, LB_UNKNOWN);
	id = resolve(ids, 0x1234, LB_RWSEM, IDENTITY_SAME);
	assert_string_equal(id.text, "0x1234");
	assert_string_equal(id.cls, "unknown");
	assert_int_equal(identity__check(ids, SYMBOL, LB_MUTEX, NULL, &id), IDENTITY_SAME);
	assert_string_equal(id.text, "rtnl_mutex");
	identities__free(ids);
	identities__free(NULL);
}

static void test_mmap_lock(void **state)
{
	struct kmem *k = make();
	struct identities *ids = identities__new(k, NULL);
	struct identity id = resolve(ids, MM_LOCK, LB_RWSEM, IDENTITY_SAME);

	assert_string_equal(id.text, "mmap_lock of mysqld/101");
	assert_string_equal(id.cls, "mmap_lock");
	assert_int_equal(id.pid, 101);
	assert_true(id.addr == MM_LOCK && id.lock == MM_LOCK);
	assert_int_equal(id.certainty, LB_EXACT);
	/* One byte beside it is nothing; nor is a mutex there an mmap_lock. */
	assert_int_equal(resolve(ids, MM_LOCK + 8, LB_RWSEM, IDENTITY_SAME).how, IDENTITY_ADDRESS);
	identities__free(ids);
	ids = identities__new(k, NULL);
	assert_int_equal(resolve(ids, MM_LOCK, LB_MUTEX, IDENTITY_SAME).how, IDENTITY_ADDRESS);
	assert_int_equal(resolve(ids, MM_LOCK + 1, LB_RWSEM, IDENTITY_SAME).how, IDENTITY_ADDRESS);
	identities__free(ids);
	kmem__free(k);
}

/* A process may call itself anything. */
static void test_nasty_comm(void **state)
{
	struct kmem *k = make();
	struct identities *ids = identities__new(k, NULL);

	add_task(k, 1, MM, 1000, "\033[31m\nx");
	assert_string_equal(resolve(ids, MM_LOCK, LB_RWSEM, IDENTITY_SAME).text,
			    "mmap_lock of ?[31m?x/101");
	kmem_image__put(k, TASK(1) + 0x10, "0123456789abcdef", 16);
	assert_string_equal(resolve(ids, MM_LOCK, LB_RWSEM, IDENTITY_SAME).text,
			    "mmap_lock of ?[31m?x/101");
	identities__free(ids);
	kmem__free(k);
}

static void test_reuse(void **state)
{
	struct kmem *k = make();
	struct identities *ids = identities__new(k, NULL);
	struct identity id;

	resolve(ids, MM_LOCK, LB_RWSEM, IDENTITY_SAME);
	/* The process renames itself: the same lock, other words when they are asked for. */
	add_task(k, 1, MM, 1000, "mariadbd");
	assert_string_equal(resolve(ids, MM_LOCK, LB_RWSEM, IDENTITY_SAME).text,
			    "mmap_lock of mysqld/101");
	assert_int_equal(identity__check(ids, MM_LOCK, LB_RWSEM, NULL, &id), IDENTITY_SAME);
	assert_string_equal(id.text, "mmap_lock of mariadbd/101");

	/* It ends; then the memory becomes the mm of another. */
	put(k, MM + 0x200, 0);
	put(k, TASK(1) + 0x40, 0);
	assert_int_equal(identity__check(ids, MM_LOCK, LB_RWSEM, NULL, &id), IDENTITY_GONE);
	assert_string_equal(id.text, "mmap_lock of mariadbd/101");
	add_task(k, 2, MM, 5000, "bash");
	put(k, MM + 0x200, TASK(2));
	assert_int_equal(identity__check(ids, MM_LOCK, LB_RWSEM, NULL, &id), IDENTITY_CHANGED);
	assert_string_equal(id.text, "mmap_lock of bash/102");
	assert_int_equal(identity__check(ids, MM_LOCK, LB_RWSEM, NULL, &id), IDENTITY_SAME);

	/* A new wait on the address meets the next one. */
	add_task(k, 3, MM, 6000, "sh");
	put(k, MM + 0x200, TASK(3));
	assert_string_equal(resolve(ids, MM_LOCK, LB_RWSEM, IDENTITY_CHANGED).text,
			    "mmap_lock of sh/103");
	assert_int_equal(identity__check(ids, MM_LOCK, LB_RWSEM, NULL, &id), IDENTITY_CHANGED);
	assert_int_equal(identity__check(ids, MM_LOCK, LB_RWSEM, NULL, &id), IDENTITY_SAME);
	/* And after its end it does not inherit its name. */
	put(k, MM + 0x200, 0);
	id = resolve(ids, MM_LOCK, LB_RWSEM, IDENTITY_GONE);
	assert_int_equal(id.how, IDENTITY_ADDRESS);
	assert_string_equal(id.text, "0xffff888000300078");
	assert_int_equal(identity__check(ids, MM_LOCK, LB_RWSEM, NULL, &id), IDENTITY_GONE);
	assert_string_equal(id.text, "mmap_lock of sh/103");
	identities__free(ids);
	kmem__free(k);
}

/* The same pid with another start is another process. */
static void test_pid_reuse(void **state)
{
	struct kmem *k = make();
	struct identities *ids = identities__new(k, NULL);

	resolve(ids, MM_LOCK, LB_RWSEM, IDENTITY_SAME);
	add_task(k, 1, MM, 9000, "other");
	assert_string_equal(resolve(ids, MM_LOCK, LB_RWSEM, IDENTITY_CHANGED).text,
			    "mmap_lock of other/101");
	identities__free(ids);
	kmem__free(k);
}

/* A wait that began before the process was born was on its predecessor's lock. */
static void test_born_later(void **state)
{
	struct kmem *k = make();
	struct identities *ids = identities__new(k, NULL);
	struct identity_hint h = {.seen_ns = 999};
	struct identity id;

	identity__resolve(ids, MM_LOCK, LB_RWSEM, &h, &id);
	assert_int_equal(id.how, IDENTITY_ADDRESS);
	h.seen_ns = 1001;
	assert_int_equal(identity__resolve(ids, MM_LOCK, LB_RWSEM, &h, &id), IDENTITY_CHANGED);
	assert_string_equal(id.text, "mmap_lock of mysqld/101");
	identities__free(ids);
	kmem__free(k);
}

/* What BPF saw outlives the process, and another one in its place. */
static void test_own_mm(void **state)
{
	struct kmem *k = make();
	struct identities *ids = identities__new(k, NULL);
	struct identity_hint h = {.tgid = 77, .own_mm = true, .comm = "short\n"};
	struct identity id;

	identity__resolve(ids, MM_LOCK, LB_RWSEM, &h, &id);
	assert_string_equal(id.text, "mmap_lock of short?/77");
	assert_int_equal(id.pid, 77);
	assert_int_equal(identity__check(ids, MM_LOCK, LB_RWSEM, &h, &id), IDENTITY_SAME);
	/* It is about that wait, not about the address. */
	assert_int_equal(identity__check(ids, MM_LOCK, LB_RWSEM, NULL, &id), IDENTITY_SAME);
	assert_string_equal(id.text, "mmap_lock of mysqld/101");
	h.tgid = 101;
	assert_int_equal(identity__check(ids, MM_LOCK, LB_RWSEM, &h, &id), IDENTITY_SAME);
	assert_string_equal(id.text, "mmap_lock of mysqld/101");
	h.own_mm = false;
	put(k, MM + 0x200, 0);
	assert_int_equal(identity__check(ids, MM_LOCK, LB_RWSEM, &h, &id), IDENTITY_GONE);
	identities__free(ids);
	kmem__free(k);
}

/* Without CONFIG_MEMCG there is no mm->owner: the pass over all tasks tells. */
static void test_no_owner(void **state)
{
	struct kmem *k = make();
	struct identities *ids = identities__new(k, NULL);
	struct kmem_task_row row = {.task = TASK(1), .mm = MM, .tid = 101, .tgid = 101};

	kmem_image__clear_field(k, KF_MM_OWNER);
	assert_int_equal(resolve(ids, MM_LOCK, LB_RWSEM, IDENTITY_SAME).how, IDENTITY_ADDRESS);
	kmem_image__add_task(k, &row);
	assert_string_equal(resolve(ids, MM_LOCK, LB_RWSEM, IDENTITY_CHANGED).text,
			    "mmap_lock of mysqld/101");
	/* The pass is old news: the task itself must still agree. */
	put(k, TASK(1) + 0x20, 0);
	assert_int_equal(resolve(ids, MM_LOCK, LB_RWSEM, IDENTITY_GONE).how, IDENTITY_ADDRESS);
	identities__free(ids);
	kmem__free(k);
}

/* A thread owns the mm; the process goes by its leader's name while that lives. */
static void test_leader(void **state)
{
	struct kmem *k = make();
	struct identities *ids = identities__new(k, NULL);

	add_task(k, 2, MM, 1100, "worker");
	put(k, TASK(2), 102ull | 101ull << 32);
	put(k, TASK(2) + 0x38, TASK(1));
	put(k, MM + 0x200, TASK(2));
	assert_string_equal(resolve(ids, MM_LOCK, LB_RWSEM, IDENTITY_SAME).text,
			    "mmap_lock of mysqld/101");
	identities__free(ids);
	ids = identities__new(k, NULL);
	put(k, TASK(1) + 0x20, 0); /* a zombie leader */
	assert_string_equal(resolve(ids, MM_LOCK, LB_RWSEM, IDENTITY_SAME).text,
			    "mmap_lock of worker/101");
	identities__free(ids);
	kmem__free(k);
}

/* On PREEMPT_RT the tracepoint may give the rt-mutex inside the rwsem. */
static void test_rt_inner(void **state)
{
	struct kmem *k = make();
	struct identities *ids = identities__new(k, NULL);
	struct identity id;

	kmem_image__set_field(k, KF_RWSEM_RT_MUTEX, 8, 32);
	id = resolve(ids, MM_LOCK + 8, LB_RT_MUTEX, IDENTITY_SAME);
	assert_string_equal(id.text, "mmap_lock of mysqld/101");
	assert_true(id.lock == MM_LOCK && id.addr == MM_LOCK + 8);
	id = resolve(ids, MM_LOCK, LB_RT_MUTEX, IDENTITY_SAME);
	assert_true(id.lock == MM_LOCK);
	identities__free(ids);
	kmem__free(k);
}

static void test_many(void **state)
{
	struct kmem *k = make();
	struct identities *ids = identities__new(k, NULL);

	for (uint64_t i = 0; i < 40000; i++)
		resolve(ids, BASE + 0x10000000 + i * 64, LB_RWSEM, IDENTITY_SAME);
	assert_string_equal(resolve(ids, MM_LOCK, LB_RWSEM, IDENTITY_SAME).text,
			    "mmap_lock of mysqld/101");
	identities__free(ids);
	kmem__free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_memory), cmocka_unit_test(test_mmap_lock),
		cmocka_unit_test(test_nasty_comm),     cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_pid_reuse),      cmocka_unit_test(test_born_later),
		cmocka_unit_test(test_no_owner),       cmocka_unit_test(test_leader),
		cmocka_unit_test(test_own_mm),	       cmocka_unit_test(test_rt_inner),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests_name("lock identity", tests, NULL, NULL);
}
