// SPDX-License-Identifier: GPL-2.0
/* A waiter's record lies on its own kernel stack: found there by the address of its task, and believed
 * only when its list links lead to the neighbours and back, and when the lock at the end of the list has
 * the task in its queue. */
#include "hung/find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kmem/lock.h"
#include "util/cleanup.h"

#define THREAD_BYTES 16384u
#define RING_MAX 65536
#define LOCK_FLAGS 7ull
#define RT_READER_BIAS (1u << 31)
#define RT_WRITER_BIAS (1u << 30)

static const struct {
	const char *name, *words;
} sources_table[HUNG_N_SOURCES] = {
	[HUNG_STACK] = {"stack", "waiter record on its stack"},
	[HUNG_BLOCKER] = {"blocker", "task->blocker"},
	[HUNG_BLOCKED_ON] = {"blocked_on", "task->blocked_on"},
	[HUNG_PI] = {"pi", "task->pi_blocked_on"},
	[HUNG_WRITER] = {"writer", "the lock's word for its next writer"},
};

int hung_source_by_name(const char *name)
{
	for (int i = 0; i < HUNG_N_SOURCES; i++)
		if (!strcmp(sources_table[i].name, name))
			return i;
	return -1;
}

const char *hung_source_words(enum hung_source s)
{
	return sources_table[s].words;
}

bool hung_stack__read(struct kmem *k, const struct hung_task *t, struct hung_stack *s)
{
	size_t len;

	s->n = 0;
	s->sp = t->sp;
	if (!kmem_ptr_ok(t->stack) || t->on_cpu || t->sp & 7 || t->sp < t->stack || t->sp >= t->stack + THREAD_BYTES)
		return false;
	len = t->stack + THREAD_BYTES - t->sp;
	if (kmem__read(k, t->sp, s->word, len))
		return false;
	s->n = len / 8;
	return true;
}

static int cmp_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

size_t hung_stack__pointers(const struct hung_stack *s, uint64_t *out, size_t max)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < s->n && n < max; i++)
		if (kmem_ptr_ok(s->word[i]))
			out[n++] = s->word[i];
	qsort(out, n, sizeof(*out), cmp_u64);
	for (size_t i = 0; i < n; i++)
		if (!kept || out[kept - 1] != out[i])
			out[kept++] = out[i];
	return kept;
}

/* How the waiters of one kind of lock are queued. */
struct layout {
	enum lb_kind kind;
	enum kmem_field list, task, head, first;
};

static const struct layout layouts[] = {
	{LB_RWSEM, KF_RWAITER_LIST, KF_RWAITER_TASK, KF_RWSEM_WAIT_LIST, KF_RWSEM_FIRST},
	{LB_MUTEX, KF_MWAITER_LIST, KF_MWAITER_TASK, KF_MUTEX_WAIT_LIST, KF_MUTEX_FIRST},
	{LB_SEMAPHORE, KF_SWAITER_LIST, KF_SWAITER_TASK, KF_SEM_WAIT_LIST, KF_SEM_FIRST},
	{LB_PERCPU_RWSEM, KF_WQE_ENTRY, KF_WQE_PRIVATE, KF_PERCPU_WAITERS, KF_N},
};

struct search {
	struct kmem *k;
	const struct hung_pass *p;
	const struct hung_task *t;
	const struct hung_stack *st;
	const struct layout *l;
	uint64_t list_off, task_off;
};

/* link belongs to a waiter when its record lies on the stack of the task that it names. */
static bool is_waiter(const struct search *s, uint64_t link)
{
	const struct hung_task *t;
	uint64_t task;

	if (kmem__read(s->k, link - s->list_off + s->task_off, &task, sizeof(task)) || !kmem_ptr_ok(task))
		return false;
	t = hung_pass__by_addr(s->p, task);
	return t && link >= t->stack && link < t->stack + THREAD_BYTES;
}

static bool next_link(const struct search *s, uint64_t link, uint64_t *next)
{
	uint64_t back;

	return !kmem__get(s->k, link, KF_LIST_NEXT, next) && kmem_ptr_ok(*next) &&
	       !kmem__get(s->k, *next, KF_LIST_PREV, &back) && back == link;
}

/* Once around from the record's link. *head becomes the one link that is no waiter's, 0 without one. The
 * entries go to ring (room for max), sorted. False: no ring, or several heads. */
static bool go_around(const struct search *s, uint64_t start, uint64_t *head, uint64_t *ring, size_t max, size_t *n)
{
	uint64_t link = start;
	size_t steps = 0;

	*head = 0;
	*n = 0;
	do {
		if (steps++ && !is_waiter(s, link)) {
			if (*head)
				return false;
			*head = link;
		} else if (*n < max) {
			ring[(*n)++] = link - s->list_off;
		}
		if (!next_link(s, link, &link) || steps > RING_MAX)
			return false;
	} while (link != start);
	qsort(ring, *n, sizeof(*ring), cmp_u64);
	return true;
}

/* 7.1+: the ring has no head. The lock points to one of its entries, and its address is still on the
 * waiter's stack: the slow path needs it after the sleep. */
static uint64_t lock_of_ring(const struct search *s, const uint64_t *ring, size_t n)
{
	__free_ptr uint64_t *ptr = malloc(sizeof(s->st->word));
	int64_t off = kmem__off(s->k, s->l->first);
	size_t n_ptr;

	if (!ptr || off < 0)
		return 0;
	n_ptr = hung_stack__pointers(s->st, ptr, ARRAY_SIZE(s->st->word));
	for (size_t i = 0; i < n_ptr; i++) {
		uint64_t first;

		if (kmem__read(s->k, ptr[i] + (uint64_t)off, &first, sizeof(first)))
			continue;
		first &= ~LOCK_FLAGS;
		if (first && bsearch(&first, ring, n, sizeof(*ring), cmp_u64))
			return ptr[i];
	}
	return 0;
}

static uint64_t lock_at(const struct search *s, uint64_t entry)
{
	__free_ptr uint64_t *ring = malloc(RING_MAX * sizeof(*ring));
	uint64_t head;
	size_t n;

	if (!ring || !go_around(s, entry + s->list_off, &head, ring, RING_MAX, &n))
		return 0;
	if (head)
		return kmem__has(s->k, s->l->head) ? head - (uint64_t)kmem__off(s->k, s->l->head) : 0;
	return s->l->first < KF_N && kmem__has(s->k, s->l->first) ? lock_of_ring(s, ring, n) : 0;
}

static bool in_queue(struct kmem *k, uint64_t lock, enum lb_kind kind, uint64_t task)
{
	enum { MAX = 4096 };
	__free_ptr struct lock_waiter *w = malloc(MAX * sizeof(*w));
	size_t n;
	bool more;

	if (!w || kmem__lock_waiters(k, lock, kind, w, MAX, &n, &more))
		return false;
	for (size_t i = 0; i < n; i++)
		if (w[i].task == task)
			return true;
	return more; /* can't be told */
}

/* Whether the lock's own words say that somebody waits: records of different kinds look alike, so that a
 * mutex could be taken for an rwsem. */
static bool plausible(struct kmem *k, uint64_t lock, enum lb_kind kind)
{
	struct lock_owner o;

	if (kmem__lock_owner(k, lock, kind, &o))
		return false;
	if (kind == LB_PERCPU_RWSEM)
		return o.waiters;
	if (kind == LB_SEMAPHORE)
		return o.state == LOCK_HELD;
	return o.waiters && (o.state != LOCK_HELD || o.certainty != LB_UNKNOWN || o.mode == LB_READ);
}

/* The record of kind l->kind on the stack: where the task's own address stands. */
static uint64_t by_stack(struct search *s)
{
	int64_t list = kmem__off(s->k, s->l->list), task = kmem__off(s->k, s->l->task);

	if (list < 0 || task < 0)
		return 0;
	s->list_off = (uint64_t)list;
	s->task_off = (uint64_t)task;
	for (size_t i = 0; i < s->st->n; i++) {
		uint64_t entry = s->st->sp + 8 * i - s->task_off, lock;

		if (s->st->word[i] != s->t->task || entry < s->st->sp)
			continue;
		lock = lock_at(s, entry);
		if (lock && plausible(s->k, lock, s->l->kind) && in_queue(s->k, lock, s->l->kind, s->t->task))
			return lock;
	}
	return 0;
}

/* A lock among the pointers on the stack whose field f names the task (masked). */
static uint64_t by_word(struct search *s, enum kmem_field f, bool (*ok)(struct kmem *k, uint64_t lock))
{
	__free_ptr uint64_t *ptr = malloc(sizeof(s->st->word));
	int64_t off = kmem__off(s->k, f);
	size_t n;

	if (!ptr || off < 0)
		return 0;
	n = hung_stack__pointers(s->st, ptr, ARRAY_SIZE(s->st->word));
	for (size_t i = 0; i < n; i++) {
		uint64_t v;

		/* A pointer into its own stack is a record, and no lock. */
		if (ptr[i] >= s->t->stack && ptr[i] < s->t->stack + THREAD_BYTES)
			continue;
		if (kmem__read(s->k, ptr[i] + (uint64_t)off, &v, sizeof(v)) || (v & ~LOCK_FLAGS) != s->t->task)
			continue;
		if (!ok || ok(s->k, ptr[i]))
			return ptr[i];
	}
	return 0;
}

/* A writer that has the inner rt-mutex and waits until the readers are gone. */
static bool rt_readers_left(struct kmem *k, uint64_t lock)
{
	uint64_t readers;

	if (kmem__get(k, lock, KF_RWSEM_RT_READERS, &readers))
		return false;
	return readers && !(readers & (RT_READER_BIAS | RT_WRITER_BIAS)) && readers < 65536;
}

static bool percpu_blocked(struct kmem *k, uint64_t lock)
{
	uint64_t block;

	return !kmem__get(k, lock, KF_PERCPU_BLOCK, &block) && block == 1;
}

static uint64_t by_writer_word(struct search *s, int kind)
{
	if (kind == LB_PERCPU_RWSEM)
		return by_word(s, KF_PERCPU_WRITER, percpu_blocked);
	/* The compiler leaves no frame that tells there. */
	if ((kind >= 0 && kind != LB_RWSEM) || !kmem__is_rt(s->k))
		return 0;
	return by_word(s, KF_RWSEM_RT_OWNER, rt_readers_left);
}

/* task->blocker: the low two bits say what it is. */
static uint64_t by_blocker(const struct hung_task *t, int *kind)
{
	static const enum lb_kind kinds[] = {LB_MUTEX, LB_SEMAPHORE, LB_RWSEM, LB_RWSEM};

	if (!t->blocker)
		return 0;
	*kind = kinds[t->blocker & 3];
	return t->blocker & ~3ull;
}

/* The rt-mutex that a task waits for, as the lock that has it inside. */
static uint64_t by_pi(struct kmem *k, const struct hung_task *t, int *kind)
{
	uint64_t lock, back;
	int64_t off = 0;

	if (!kmem_ptr_ok(t->pi_blocked_on) || kmem__get(k, t->pi_blocked_on, KF_RTW_TASK, &back) || back != t->task ||
	    kmem__get(k, t->pi_blocked_on, KF_RTW_LOCK, &lock) || !kmem_ptr_ok(lock))
		return 0;
	if (*kind == LB_RWSEM)
		off = kmem__off(k, KF_RWSEM_RT_MUTEX);
	else if (*kind == LB_MUTEX)
		off = kmem__off(k, KF_MUTEX_RT);
	else
		*kind = LB_RT_MUTEX;
	return lock - (uint64_t)(off > 0 ? off : 0);
}

static void search_stack(struct search *s, int kind, struct hung_found *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts) && !out->addr[HUNG_STACK]; i++) {
		/* Any wait queue looks like that of a percpu-rwsem: only the frames can tell. */
		if (kind >= 0 ? (int)layouts[i].kind != kind : layouts[i].kind == LB_PERCPU_RWSEM)
			continue;
		s->l = &layouts[i];
		out->addr[HUNG_STACK] = by_stack(s);
		if (out->addr[HUNG_STACK])
			out->kind = layouts[i].kind;
	}
}

/* Believes the first source (in order of trust) and counts who says the same. */
static bool judge(struct hung_found *f)
{
	static const enum hung_source order[] = {HUNG_STACK, HUNG_PI, HUNG_WRITER, HUNG_BLOCKED_ON, HUNG_BLOCKER};

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		uint64_t a = f->addr[order[i]];

		if (!a)
			continue;
		if (!f->lock)
			f->lock = a;
		if (a == f->lock)
			f->agree |= 1u << order[i];
		else
			f->disagree = true;
	}
	return f->lock != 0;
}

bool hung_find(struct kmem *k, const struct hung_pass *p, const struct hung_task *t, const struct hung_stack *st, int kind,
	       uint64_t queued, unsigned int sources, struct hung_found *out)
{
	struct search s = {.k = k, .p = p, .t = t, .st = st};
	int told = kind;

	memset(out, 0, sizeof(*out));
	if (sources & 1u << HUNG_BLOCKER)
		out->addr[HUNG_BLOCKER] = by_blocker(t, &told);
	if (sources & 1u << HUNG_BLOCKED_ON && t->blocked_on) {
		out->addr[HUNG_BLOCKED_ON] = t->blocked_on & ~LOCK_FLAGS;
		told = LB_MUTEX;
	}
	if (sources & 1u << HUNG_PI && t->pi_blocked_on)
		out->addr[HUNG_PI] = by_pi(k, t, &told);
	if (told >= 0)
		out->kind = (enum lb_kind)told;
	if (sources & 1u << HUNG_STACK && queued)
		out->addr[HUNG_STACK] = queued;
	else if (sources & 1u << HUNG_STACK)
		search_stack(&s, kind, out);
	if (sources & 1u << HUNG_WRITER && !out->addr[HUNG_STACK] && !out->addr[HUNG_PI])
		out->addr[HUNG_WRITER] = by_writer_word(&s, told);
	if (told < 0 && out->addr[HUNG_WRITER])
		out->kind = LB_RWSEM;
	return judge(out);
}
