// SPDX-License-Identifier: GPL-2.0
/* Owners and queues on memory made by hand: the layouts of other kernels (7.1's first_waiter,
 * PREEMPT_RT), and kernels that change while they are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kmem/image.h"
#include "kmem/impl.h"
#include "kmem/lock.h"
#include "kmem/task.h"
#include "util/cleanup.h"

#define BASE 0xffff888000000000ull
#define TASK(i) (BASE + 0x100000 + (uint64_t)(i)*0x1000)
#define PID(i) (BASE + 0x200000 + (uint64_t)(i)*0x100)
#define WAITER(i) (BASE + 0x300000 + (uint64_t)(i)*0x100)
#define LOCK (BASE + 0x400000)

static void field(struct kmem *k, enum kmem_field f, uint32_t off, uint32_t size)
{
	kmem_image__set_field(k, f, off, size);
}

static void put(struct kmem *k, uint64_t addr, uint64_t v)
{
	assert_int_equal(kmem_image__put_u64(k, addr, v), 0);
}

static void add_task(struct kmem *k, int i)
{
	char comm[16];

	for (uint64_t off = 0; off < 0x80; off += 8)
		put(k, TASK(i) + off, 0);
	put(k, TASK(i), (uint64_t)(100 + i) | (uint64_t)(100 + i) << 32); /* pid, tgid */
	snprintf(comm, sizeof(comm), "task-%d", i);
	kmem_image__put(k, TASK(i) + 0x10, comm, sizeof(comm));
	put(k, TASK(i) + 0x40, PID(i));
	put(k, PID(i) + 0x10, TASK(i) + 0x48);
}

static struct kmem *make(void)
{
	struct kmem *k = kmem_image__new();

	assert_non_null(k);
	field(k, KF_TASK_PID, 0, 4);
	field(k, KF_TASK_TGID, 4, 4);
	field(k, KF_TASK_COMM, 0x10, 16);
	field(k, KF_TASK_MM, 0x20, 8);
	field(k, KF_TASK_FLAGS, 0x28, 4);
	field(k, KF_TASK_START, 0x30, 8);
	field(k, KF_TASK_LEADER, 0x38, 8);
	field(k, KF_TASK_THREAD_PID, 0x40, 8);
	field(k, KF_TASK_PID_LINKS, 0x48, 16);
	field(k, KF_PID_TASKS, 0x10, 8);
	field(k, KF_LIST_NEXT, 0, 8);
	field(k, KF_LIST_PREV, 8, 8);
	field(k, KF_RB_RIGHT, 8, 8);
	field(k, KF_RB_LEFT, 16, 8);
	for (int i = 0; i < 8; i++)
		add_task(k, i);
	return k;
}

static struct kmem *make_rwsem(void)
{
	struct kmem *k = make();

	field(k, KF_RWSEM_COUNT, 0, 8);
	field(k, KF_RWSEM_OWNER, 8, 8);
	field(k, KF_RWSEM_WAIT_LIST, 0x10, 16);
	field(k, KF_RWAITER_LIST, 0, 16);
	field(k, KF_RWAITER_TASK, 0x10, 8);
	field(k, KF_RWAITER_TYPE, 0x18, 4);
	return k;
}

static void rwsem(struct kmem *k, uint64_t count, uint64_t owner)
{
	put(k, LOCK, count);
	put(k, LOCK + 8, owner);
	put(k, LOCK + 0x10, LOCK + 0x10);
	put(k, LOCK + 0x18, LOCK + 0x10);
}

static struct lock_owner owner_of(struct kmem *k, enum lb_kind kind)
{
	struct lock_owner o;

	assert_int_equal(kmem__lock_owner(k, LOCK, kind, &o), 0);
	return o;
}

static void test_rwsem_owner(void **state)
{
	struct kmem *k = make_rwsem();
	struct lock_owner o;

	rwsem(k, 0, 0);
	assert_int_equal(owner_of(k, LB_RWSEM).state, LOCK_FREE);

	/* The last reader stays in the owner field of a free lock. */
	rwsem(k, 0, TASK(1) | 1);
	o = owner_of(k, LB_RWSEM);
	assert_int_equal(o.state, LOCK_FREE);
	assert_int_equal(o.tid, 0);

	rwsem(k, 1 | 2, TASK(1));
	o = owner_of(k, LB_RWSEM);
	assert_int_equal(o.state, LOCK_HELD);
	assert_int_equal(o.certainty, LB_EXACT);
	assert_int_equal(o.mode, LB_WRITE);
	assert_int_equal(o.tid, 101);
	assert_true(o.waiters);
	assert_string_equal(o.comm, "task-1");

	rwsem(k, 3 << 8, TASK(2) | 1);
	o = owner_of(k, LB_RWSEM);
	assert_int_equal(o.mode, LB_READ);
	assert_int_equal(o.readers, 3);
	assert_int_equal(o.certainty, LB_LIKELY);
	assert_int_equal(o.tid, 102);

	/* A reader's lock that still shows a writer: nobody can be named. */
	rwsem(k, 1 << 8, TASK(2));
	o = owner_of(k, LB_RWSEM);
	assert_int_equal(o.state, LOCK_HELD);
	assert_int_equal(o.certainty, LB_UNKNOWN);
	assert_int_equal(o.tid, 0);

	/* A write bit with the owner not stored yet. */
	rwsem(k, 1, 0);
	assert_int_equal(kmem__lock_owner(k, LOCK, LB_RWSEM, &o), -EAGAIN);
	rwsem(k, 1, TASK(2) | 1);
	assert_int_equal(kmem__lock_owner(k, LOCK, LB_RWSEM, &o), -EAGAIN);
	assert_int_equal(o.tid, 0);
	kmem__free(k);
}

/* Owner words that lead to no living task name nobody. */
static void test_dead_owner(void **state)
{
	struct kmem *k = make_rwsem();
	const uint64_t words[] = {
		TASK(1), 0xdead000000000100ull, 0xffff888fffff0000ull, 0x7fff00001000ull,
		~7ull,	 BASE + 0x500000};
	struct lock_owner o;

	put(k, TASK(1) + 0x40, 0); /* reaped: no pid any more */
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		rwsem(k, 1, words[i]);
		o = owner_of(k, LB_RWSEM);
		assert_int_equal(o.state, LOCK_HELD);
		assert_int_equal(o.certainty, LB_UNKNOWN);
		assert_int_equal(o.tid, 0);
	}
	/* Another task has the pid now. */
	put(k, TASK(1) + 0x40, PID(2));
	rwsem(k, 1, TASK(1));
	assert_int_equal(owner_of(k, LB_RWSEM).tid, 0);
	kmem_image__drop(k, LOCK, 8);
	assert_int_equal(kmem__lock_owner(k, LOCK, LB_RWSEM, &o), -EFAULT);
	assert_int_equal(kmem__lock_owner(k, LOCK, LB_SPINLOCK, &o), -EOPNOTSUPP);
	kmem__free(k);
}

static void waiter(struct kmem *k, int i, uint64_t next, uint64_t prev, uint64_t type)
{
	put(k, WAITER(i), next);
	put(k, WAITER(i) + 8, prev);
	put(k, WAITER(i) + 0x10, TASK(i));
	put(k, WAITER(i) + 0x18, type);
}

static int queue(struct kmem *k, enum lb_kind kind, struct lock_waiter *w, size_t max, size_t *n,
		 bool *more)
{
	return kmem__lock_waiters(k, LOCK, kind, w, max, n, more);
}

static void test_wait_list(void **state)
{
	struct kmem *k = make_rwsem();
	struct lock_waiter w[8];
	bool more;
	size_t n;

	rwsem(k, 1 | 2, TASK(0));
	put(k, LOCK + 0x10, WAITER(1));
	put(k, LOCK + 0x18, WAITER(3));
	waiter(k, 1, WAITER(2), LOCK + 0x10, 0);
	waiter(k, 2, WAITER(3), WAITER(1), 1);
	waiter(k, 3, LOCK + 0x10, WAITER(2), 0);
	assert_int_equal(queue(k, LB_RWSEM, w, 8, &n, &more), 0);
	assert_int_equal(n, 3);
	assert_int_equal(w[1].tid, 102);
	assert_int_equal(w[1].mode, LB_READ);
	assert_int_equal(w[2].mode, LB_WRITE);
	assert_true(w[0].mode_known && !more);

	/* A woken reader has no task any more and is no waiter. */
	put(k, WAITER(2) + 0x10, 0);
	assert_int_equal(queue(k, LB_RWSEM, w, 8, &n, &more), 0);
	assert_int_equal(n, 2);

	/* Exactly full, and one too many. */
	assert_int_equal(queue(k, LB_RWSEM, w, 2, &n, &more), 0);
	assert_true(n == 2 && !more);
	assert_int_equal(queue(k, LB_RWSEM, w, 1, &n, &more), 0);
	assert_true(n == 1 && more);
	assert_int_equal(queue(k, LB_RWSEM, w, 0, &n, &more), 0);
	assert_true(n == 0 && more);
	kmem__free(k);
}

static void test_bad_lists(void **state)
{
	struct kmem *k = make_rwsem();
	struct lock_waiter w[8];
	bool more;
	size_t n;

	/* A ring that does not come back to the lock, with links that agree. */
	rwsem(k, 1 | 2, TASK(0));
	put(k, LOCK + 0x10, WAITER(1));
	waiter(k, 1, WAITER(2), LOCK + 0x10, 0);
	waiter(k, 2, WAITER(1), WAITER(1), 0);
	assert_int_equal(queue(k, LB_RWSEM, w, 8, &n, &more), -EAGAIN);
	assert_true(n <= 8);
	/* The same where each link leads back: only the bound ends it. */
	put(k, WAITER(1) + 8, WAITER(2));
	waiter(k, 2, WAITER(1), WAITER(1), 0);
	put(k, LOCK + 0x10, WAITER(1));
	assert_int_equal(queue(k, LB_RWSEM, w, 8, &n, &more), -EAGAIN);
	/* Links into nowhere, into user space, unaligned, and a hole. */
	waiter(k, 1, 0xdead000000000100ull, LOCK + 0x10, 0);
	assert_int_equal(queue(k, LB_RWSEM, w, 8, &n, &more), -EAGAIN);
	waiter(k, 1, 0x7f0000001000ull, LOCK + 0x10, 0);
	assert_int_equal(queue(k, LB_RWSEM, w, 8, &n, &more), -EAGAIN);
	waiter(k, 1, WAITER(2) + 3, LOCK + 0x10, 0);
	assert_int_equal(queue(k, LB_RWSEM, w, 8, &n, &more), -EAGAIN);
	put(k, LOCK + 0x10, 0);
	assert_int_equal(queue(k, LB_RWSEM, w, 8, &n, &more), -EAGAIN);
	kmem_image__drop(k, LOCK, 0x20);
	assert_int_equal(queue(k, LB_RWSEM, w, 8, &n, &more), -EFAULT);
	assert_int_equal(n, 0);
	kmem__free(k);
}

/* A closed ring beside the lock, all of whose links agree, entered by a stale pointer. */
static void test_stray_ring(void **state)
{
	struct kmem *k = make_rwsem();
	struct lock_waiter w[4];
	bool more;
	size_t n;

	kmem_image__clear_field(k, KF_RWSEM_WAIT_LIST);
	field(k, KF_RWSEM_FIRST, 0x10, 8);
	put(k, LOCK, 2);
	put(k, LOCK + 0x10, WAITER(7));
	waiter(k, 7, WAITER(1), WAITER(3), 0);
	waiter(k, 1, WAITER(2), WAITER(7), 0);
	waiter(k, 2, WAITER(3), WAITER(1), 0);
	waiter(k, 3, WAITER(1), WAITER(2), 0); /* skips the first: no way back */
	assert_int_equal(queue(k, LB_RWSEM, w, 4, &n, &more), -EAGAIN);
	assert_true(n <= 4);
	kmem__free(k);
}

static void test_first_waiter(void **state)
{
	struct kmem *k = make_rwsem();
	struct lock_waiter w[8];
	bool more;
	size_t n;

	kmem_image__clear_field(k, KF_RWSEM_WAIT_LIST);
	field(k, KF_RWSEM_FIRST, 0x10, 8);
	put(k, LOCK, 1 | 2);
	put(k, LOCK + 8, TASK(0));
	put(k, LOCK + 0x10, 0);
	assert_int_equal(queue(k, LB_RWSEM, w, 8, &n, &more), 0);
	assert_int_equal(n, 0);
	put(k, LOCK + 0x10, WAITER(4));
	waiter(k, 4, WAITER(4), WAITER(4), 1);
	assert_int_equal(queue(k, LB_RWSEM, w, 8, &n, &more), 0);
	assert_int_equal(n, 1);
	assert_int_equal(w[0].tid, 104);
	assert_int_equal(w[0].mode, LB_READ);
	waiter(k, 4, WAITER(2), WAITER(2), 1);
	waiter(k, 2, WAITER(4), WAITER(4), 0);
	assert_int_equal(queue(k, LB_RWSEM, w, 8, &n, &more), 0);
	assert_int_equal(n, 2);
	assert_int_equal(w[1].tid, 102);
	assert_int_equal(queue(k, LB_RWSEM, w, 1, &n, &more), 0);
	assert_true(n == 1 && more);
	kmem__free(k);
}

static void test_mutex(void **state)
{
	struct kmem *k = make();
	struct lock_owner o;

	field(k, KF_MUTEX_OWNER, 0, 8);
	put(k, LOCK, 0);
	assert_int_equal(owner_of(k, LB_MUTEX).state, LOCK_FREE);
	/* Sleepers and nobody who holds it: seen in real reports. */
	put(k, LOCK, 1);
	o = owner_of(k, LB_MUTEX);
	assert_int_equal(o.state, LOCK_FREE);
	assert_true(o.waiters);
	put(k, LOCK, TASK(3) | 7);
	o = owner_of(k, LB_MUTEX);
	assert_int_equal(o.certainty, LB_EXACT);
	assert_int_equal(o.tid, 103);
	kmem__free(k);
}

static void test_semaphore_and_percpu(void **state)
{
	struct kmem *k = make();
	struct lock_owner o;

	field(k, KF_SEM_COUNT, 0, 4);
	put(k, LOCK, 2);
	assert_int_equal(owner_of(k, LB_SEMAPHORE).state, LOCK_FREE);
	put(k, LOCK, 0);
	o = owner_of(k, LB_SEMAPHORE);
	assert_true(o.state == LOCK_HELD && o.certainty == LB_UNKNOWN);
	field(k, KF_SEM_LAST_HOLDER, 8, 8);
	put(k, LOCK + 8, TASK(5));
	o = owner_of(k, LB_SEMAPHORE);
	assert_true(o.certainty == LB_LIKELY && o.tid == 105);

	field(k, KF_PERCPU_BLOCK, 0, 4);
	field(k, KF_PERCPU_WRITER, 8, 8);
	put(k, LOCK, 0);
	put(k, LOCK + 8, 0);
	assert_int_equal(owner_of(k, LB_PERCPU_RWSEM).state, LOCK_UNREADABLE);
	put(k, LOCK, 1);
	o = owner_of(k, LB_PERCPU_RWSEM);
	assert_true(o.state == LOCK_HELD && o.mode == LB_WRITE && o.certainty == LB_UNKNOWN);
	put(k, LOCK + 8, TASK(1)); /* it waits for the readers */
	o = owner_of(k, LB_PERCPU_RWSEM);
	assert_true(o.state == LOCK_HELD && o.mode == LB_READ && o.waiters);
	kmem__free(k);
}

static struct kmem *make_rt(void)
{
	struct kmem *k = make();

	field(k, KF_RWSEM_RT, 0, 0x40);
	field(k, KF_RWSEM_RT_READERS, 0, 4);
	field(k, KF_RWSEM_RT_MUTEX, 8, 0x20);
	field(k, KF_RTM_TREE, 8, 8);
	field(k, KF_RTM_OWNER, 0x18, 8);
	field(k, KF_RTW_TREE, 0, 24);
	field(k, KF_RTW_TASK, 0x20, 8);
	field(k, KF_RTW_LOCK, 0x28, 8);
	return k;
}

static void rt_waiter(struct kmem *k, int i, uint64_t left, uint64_t right)
{
	put(k, WAITER(i) + 8, right);
	put(k, WAITER(i) + 16, left);
	put(k, WAITER(i) + 0x20, TASK(i));
	put(k, WAITER(i) + 0x28, LOCK + 8);
}

static void test_rt(void **state)
{
	struct kmem *k = make_rt();
	struct lock_waiter w[8];
	struct lock_owner o;
	bool more;
	size_t n;

	put(k, LOCK, 0x80000000u);
	put(k, LOCK + 8 + 0x18, 0);
	assert_int_equal(owner_of(k, LB_RWSEM).state, LOCK_FREE);
	put(k, LOCK, 0x80000002u);
	o = owner_of(k, LB_RWSEM);
	assert_true(o.state == LOCK_HELD && o.mode == LB_READ && o.readers == 2 && !o.waiters);
	/* A writer has taken the bias and waits for them. */
	put(k, LOCK, 2);
	put(k, LOCK + 8 + 0x18, TASK(1));
	o = owner_of(k, LB_RWSEM);
	assert_true(o.mode == LB_READ && o.readers == 2 && o.waiters && o.tid == 0);
	put(k, LOCK + 8 + 8, 0);
	assert_int_equal(queue(k, LB_RWSEM, w, 8, &n, &more), 0);
	assert_int_equal(n, 1);
	assert_true(w[0].tid == 101 && w[0].mode == LB_WRITE && w[0].mode_known);
	put(k, LOCK, 0x40000000u);
	o = owner_of(k, LB_RWSEM);
	assert_true(o.mode == LB_WRITE && o.certainty == LB_EXACT && o.tid == 101);

	put(k, LOCK + 8 + 8, WAITER(2));
	rt_waiter(k, 2, WAITER(3), WAITER(4));
	rt_waiter(k, 3, 0, WAITER(5));
	rt_waiter(k, 4, 0, 0);
	rt_waiter(k, 5, 0, 0);
	assert_int_equal(queue(k, LB_RWSEM, w, 8, &n, &more), 0);
	assert_int_equal(n, 4);
	assert_true(w[0].tid == 103 && w[1].tid == 105 && w[2].tid == 102 && w[3].tid == 104);
	assert_false(w[0].mode_known);
	assert_int_equal(queue(k, LB_RWSEM, w, 2, &n, &more), 0);
	assert_true(n == 2 && more);

	/* A tree that is a ring; a node that belongs to another lock. */
	rt_waiter(k, 3, WAITER(2), 0);
	assert_int_equal(queue(k, LB_RWSEM, w, 8, &n, &more), -EAGAIN);
	rt_waiter(k, 3, 0, WAITER(2));
	assert_int_equal(queue(k, LB_RWSEM, w, 8, &n, &more), 0);
	assert_true(more);
	rt_waiter(k, 3, 0, 0);
	put(k, WAITER(4) + 0x28, LOCK);
	assert_int_equal(queue(k, LB_RWSEM, w, 8, &n, &more), -EAGAIN);
	kmem__free(k);
}

/* A kernel in which another task has the lock at every look. */
struct moving {
	struct kmem k;
	struct kmem *image;
	unsigned int looks, calm; /* after calm looks the owner stays */
};

static void moving_readv(struct kmem *k, struct kmem_req *reqs, size_t n)
{
	struct moving *m = (struct moving *)k;

	if (reqs[0].addr == LOCK && m->looks < m->calm)
		put(m->image, LOCK + 8, TASK(1 + (m->looks++ & 1)));
	m->image->ops->readv(m->image, reqs, n);
}

static int moving_field(struct kmem *k, enum kmem_field f, struct btf_field *out)
{
	struct moving *m = (struct moving *)k;

	if (!kmem__has(m->image, f))
		return -ENOENT;
	*out = m->image->fields[f].at;
	return 0;
}

static void test_moving(void **state)
{
	static const struct kmem_ops ops = {.readv = moving_readv, .field = moving_field};
	struct moving m = {.image = make_rwsem(), .calm = 1000};
	struct lock_owner o;

	kmem__init(&m.k, &ops);
	rwsem(m.image, 1, TASK(1));
	/* No answer rather than one of them. */
	assert_int_equal(kmem__lock_owner(&m.k, LOCK, LB_RWSEM, &o), -EAGAIN);
	assert_int_equal(o.tid, 0);
	m.calm = m.looks + 2;
	assert_int_equal(kmem__lock_owner(&m.k, LOCK, LB_RWSEM, &o), 0);
	assert_int_equal(o.tid, 102);
	kmem__free(m.image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rwsem_owner), cmocka_unit_test(test_dead_owner),
		cmocka_unit_test(test_wait_list),   cmocka_unit_test(test_bad_lists),
		cmocka_unit_test(test_stray_ring),  cmocka_unit_test(test_first_waiter),
		cmocka_unit_test(test_mutex),	    cmocka_unit_test(test_semaphore_and_percpu),
		cmocka_unit_test(test_rt),	    cmocka_unit_test(test_moving),
	};

	return cmocka_run_group_tests_name("lock owners and queues", tests, NULL, NULL);
}
