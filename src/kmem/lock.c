// SPDX-License-Identifier: GPL-2.0
/* Owners. The queues are in waiters.c. */
#include "kmem/lock.h"

#include <errno.h>
#include <string.h>

#include "kmem/task.h"
#include "util/cleanup.h"

#define TRIES 4

/* Lock words, see Documentation/locking and kernel/locking/{rwsem,mutex,rwbase_rt}.c. */
#define OWNER_FLAGS 7ull
#define RWSEM_WRITER 1ull
#define RWSEM_WAITERS 2ull
#define RWSEM_READER_SHIFT 8
#define RWSEM_READFAIL (1ull << 63)
#define RWSEM_OWNER_READER 1ull
#define MUTEX_WAITERS 1ull
#define RTM_WAITERS 1ull
#define RWBASE_READER_BIAS (1u << 31)
#define RWBASE_WRITER_BIAS (1u << 30)

/* Fills in the task of a lock word. A task that turns out not to be one leaves the owner unknown.
 */
static void name_owner(struct kmem *k, uint64_t word, enum lb_certainty c, struct lock_owner *out)
{
	struct ktask t;

	out->certainty = LB_UNKNOWN;
	if (ktask__read(k, word & ~OWNER_FLAGS, &t))
		return;
	out->certainty = c;
	out->task = t.addr;
	out->tid = t.tid;
	out->tgid = t.tgid;
	memcpy(out->comm, t.comm, sizeof(out->comm));
}

static int rwsem_owner(struct kmem *k, uint64_t addr, struct lock_owner *out)
{
	static const enum kmem_field f[] = {KF_RWSEM_COUNT, KF_RWSEM_OWNER};
	uint64_t v[2], again[2], readers;
	int err = kmem__getv(k, addr, f, v, 2);

	if (err)
		return err;
	readers = (v[0] & ~RWSEM_READFAIL) >> RWSEM_READER_SHIFT;
	out->waiters = v[0] & RWSEM_WAITERS;
	out->state = v[0] & RWSEM_WRITER || readers ? LOCK_HELD : LOCK_FREE;
	if (v[0] & RWSEM_WRITER) {
		out->mode = LB_WRITE;
		/* The owner is stored after the bit is set, and cleared before: 0, or still marked
		 * as a reader's, means one moment too early. */
		if (!(v[1] & ~OWNER_FLAGS) || v[1] & RWSEM_OWNER_READER)
			return -EAGAIN;
		name_owner(k, v[1], LB_EXACT, out);
	} else if (readers) {
		out->mode = LB_READ;
		out->readers = readers > UINT32_MAX ? UINT32_MAX : (uint32_t)readers;
		if (v[1] & RWSEM_OWNER_READER)
			name_owner(k, v[1], LB_LIKELY, out);
	}
	err = kmem__getv(k, addr, f, again, 2);
	if (err)
		return err;
	/* More readers or waiters do not matter, another holder does. */
	return (v[0] ^ again[0]) & RWSEM_WRITER || v[1] != again[1] ? -EAGAIN : 0;
}

static int word_owner(struct kmem *k, uint64_t addr, enum kmem_field f, uint64_t waiters_bit,
		      struct lock_owner *out)
{
	uint64_t v, again;
	int err = kmem__get(k, addr, f, &v);

	if (err)
		return err;
	out->mode = LB_WRITE;
	out->waiters = v & waiters_bit;
	out->state = v & ~OWNER_FLAGS ? LOCK_HELD : LOCK_FREE;
	if (out->state == LOCK_HELD)
		name_owner(k, v, LB_EXACT, out);
	err = kmem__get(k, addr, f, &again);
	if (err)
		return err;
	return (v ^ again) & ~OWNER_FLAGS ? -EAGAIN : 0;
}

static int rtmutex_owner(struct kmem *k, uint64_t addr, struct lock_owner *out)
{
	return word_owner(k, addr, KF_RTM_OWNER, RTM_WAITERS, out);
}

/* rwbase_rt: the bias is there while no writer is; a writer takes it away, waits until the readers
 * are gone, and then sets its own. It has the inner rt-mutex all that time. */
static int rt_rwsem_owner(struct kmem *k, uint64_t addr, struct lock_owner *out)
{
	int64_t inner = kmem__off(k, KF_RWSEM_RT_MUTEX);
	uint64_t v, again;
	int err = kmem__get(k, addr, KF_RWSEM_RT_READERS, &v);

	if (err || inner < 0)
		return err ? err : -EOPNOTSUPP;
	if (v == RWBASE_WRITER_BIAS) {
		err = rtmutex_owner(k, addr + (uint64_t)inner, out);
		if (!err && out->state == LOCK_FREE)
			err = -EAGAIN;
	} else {
		out->mode = LB_READ;
		out->waiters = !(v & RWBASE_READER_BIAS);
		out->readers = (uint32_t)v & ~RWBASE_READER_BIAS;
		out->state = out->readers ? LOCK_HELD : LOCK_FREE;
	}
	if (!err)
		err = kmem__get(k, addr, KF_RWSEM_RT_READERS, &again);
	if (err)
		return err;
	return (v == RWBASE_WRITER_BIAS) != (again == RWBASE_WRITER_BIAS) ? -EAGAIN : 0;
}

static int semaphore_owner(struct kmem *k, uint64_t addr, struct lock_owner *out)
{
	uint64_t count, holder = 0;
	int err = kmem__get(k, addr, KF_SEM_COUNT, &count);

	if (err)
		return err;
	out->mode = LB_WRITE;
	out->state = count ? LOCK_FREE : LOCK_HELD;
	/* Kept by kernels with CONFIG_DETECT_HUNG_TASK_BLOCKER; a semaphore may have several. */
	if (!count && !kmem__get(k, addr, KF_SEM_LAST_HOLDER, &holder))
		name_owner(k, holder, LB_LIKELY, out);
	return 0;
}

/* A percpu_rw_semaphore records nobody but a writer that waits for the readers to leave. Readers
 * count themselves on their own CPUs: whether there are any can't be told from one place. */
static int percpu_owner(struct kmem *k, uint64_t addr, struct lock_owner *out)
{
	static const enum kmem_field f[] = {KF_PERCPU_BLOCK, KF_PERCPU_WRITER};
	int64_t queue = kmem__off(k, KF_PERCPU_WAITERS);
	uint64_t v[2], next;
	int err = kmem__getv(k, addr, f, v, 2);

	if (err)
		return err;
	out->state = v[0] ? LOCK_HELD : LOCK_UNREADABLE;
	out->mode = v[0] && !v[1] ? LB_WRITE : LB_READ;
	out->waiters = v[1] != 0;
	if (queue >= 0 && !kmem__get(k, addr + (uint64_t)queue, KF_LIST_NEXT, &next))
		out->waiters |= next != addr + (uint64_t)queue;
	return 0;
}

static int one_try(struct kmem *k, uint64_t addr, enum lb_kind kind, struct lock_owner *out)
{
	switch (kind) {
	case LB_RWSEM:
		return kmem__is_rt(k) ? rt_rwsem_owner(k, addr, out) : rwsem_owner(k, addr, out);
	case LB_MUTEX:
		if (kmem__has(k, KF_MUTEX_RT))
			return rtmutex_owner(k, addr, out);
		return word_owner(k, addr, KF_MUTEX_OWNER, MUTEX_WAITERS, out);
	case LB_RT_MUTEX:
		return rtmutex_owner(k, addr, out);
	case LB_SEMAPHORE:
		return semaphore_owner(k, addr, out);
	case LB_PERCPU_RWSEM:
		return percpu_owner(k, addr, out);
	default:
		return -EOPNOTSUPP;
	}
}

int kmem__lock_owner(struct kmem *k, uint64_t addr, enum lb_kind kind, struct lock_owner *out)
{
	int err = -EAGAIN;

	for (int i = 0; i < TRIES && err == -EAGAIN; i++) {
		memset(out, 0, sizeof(*out));
		err = one_try(k, addr, kind, out);
	}
	if (err)
		memset(out, 0, sizeof(*out));
	return err;
}
