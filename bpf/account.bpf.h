/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_ACCOUNT_BPF_H
#define LOCKBLAME_ACCOUNT_BPF_H

/* What becomes of a finished wait: exact row, split by stack, single event, counters. Shared by the
 * objects that end waits; each object has maps of its own (a spinlock probe must not share a hash with
 * the others: taking its bucket lock can contend, and that fires the probe again). */

#include "compat.bpf.h"

const volatile __u64 min_duration_ns = 0;
const volatile bool all_stacks = false;
const volatile bool want_user_stack = false;
const volatile bool want_events = false;
const volatile bool want_split = true;
const volatile bool want_cgroup = false;

/* Waits of at least this long are always walked; a shorter one of d ns with probability d / this, and
 * then stands for this much time. Whether a wait is walked never depends on its stack, so time by stack
 * is unbiased. User space moves the threshold to keep the number of walks within budget. */
volatile __u64 walk_threshold_ns = 2000000;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct lb_wait_key);
	__type(value, struct lb_wait_val);
} waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct lb_stack_key);
	__type(value, struct lb_stack_val);
} split SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 8192);
	__uint(key_size, sizeof(u32));
	__uint(value_size, LB_STACK_DEPTH * sizeof(u64));
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 * 1024 * 1024);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
} born SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct lb_stats);
} stats SEC(".maps");

static __always_inline struct lb_stats *my_stats(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&stats, &zero);
}

/* Locks that user space has been told of, by waiting process (an address that is reused is mostly used
 * by another process). Direct-mapped: a cache, so that the ring sees a pair once, or a few times when
 * two share a place. */
#define KNOWN_LOCKS 1024
__u64 known_locks[KNOWN_LOCKS];

/* Whether lock is current's own mmap_lock, or (PREEMPT_RT) a lock inside of it. */
static __always_inline bool is_own_mmap_lock(u64 lock)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	u64 start = (u64)BPF_CORE_READ(task, mm);

	if (!start)
		return false;
	start += bpf_core_field_offset(struct mm_struct, mmap_lock);
	return lock - start < bpf_core_field_size(struct mm_struct, mmap_lock);
}

/* Tells user space of a lock when the first wait for it begins: its name can be found while the lock and
 * its users still exist. When there is no room it is named at the next read of the tables instead. */
static __always_inline void announce(u64 lock, u8 kind, u32 tgid)
{
	u64 pair = lock ^ (u64)tgid << 40;
	u32 h = (lock >> 6 ^ lock >> 16 ^ tgid) & (KNOWN_LOCKS - 1);
	struct lb_born b = {.lock = lock, .tgid = tgid, .kind = kind};

	if (known_locks[h] == pair)
		return;
	known_locks[h] = pair;
	b.begin = bpf_ktime_get_ns();
	b.own_mm = is_own_mmap_lock(lock);
	bpf_get_current_comm(b.comm, sizeof(b.comm));
	bpf_ringbuf_output(&born, &b, sizeof(b), 0);
}

static __always_inline u32 log2_u64(u64 v)
{
	u32 r = 0;

	if (v >> 32) {
		v >>= 32;
		r = 32;
	}
	if (v >> 16) {
		v >>= 16;
		r += 16;
	}
	if (v >> 8) {
		v >>= 8;
		r += 8;
	}
	if (v >> 4) {
		v >>= 4;
		r += 4;
	}
	if (v >> 2) {
		v >>= 2;
		r += 2;
	}
	return r + (v >> 1);
}

/* How a walked wait counts in the split. */
struct weight {
	u64 count_q;
	u64 ns;
	u64 spin_ns;
	u64 var_us2;
	bool sampled;
};

/* A wait that has ended: when, for whom (account() fills that in), how. */
struct ended {
	u64 now;
	u64 cgroup;
	u64 total;
	u64 spin;
	u32 tgid;
	u32 tid;
	s32 ret;
	bool first; /* one of the first of its row */
	bool walked; /* its stack was taken: kstack, and it counts with the weight w */
	s32 kstack;
	struct weight w;
};

/* The oldest kernel has no compare-and-exchange: store, and store again if somebody smaller came in
 * between. */
static __always_inline void raise_max(volatile u64 *max, u64 v)
{
	if (*max < v)
		*max = v;
	if (*max < v)
		*max = v;
}

static const struct lb_wait_val zero_wait;
static const struct lb_stack_val zero_split;

/* Every row gets some stacks, however short its waits are: the first few are walked for certain. */
#define WALK_FIRST 8

static __always_inline bool add_exact(const struct lb_slot *s, struct ended *e)
{
	struct lb_wait_key key = {
		.lock = s->lock,
		.cgroup = e->cgroup,
		.tgid = e->tgid,
		.kind = s->kind,
		.mode = s->mode,
	};
	struct lb_wait_val *v;
	u32 b;

	v = bpf_map_lookup_elem(&waits, &key);
	if (!v) {
		bpf_map_update_elem(&waits, &key, &zero_wait, BPF_NOEXIST);
		v = bpf_map_lookup_elem(&waits, &key);
		if (!v)
			return false;
	}
	/* A process changes its name by exec: the row has the latest, but for the last few. */
	if (!(v->count & (v->count - 1)))
		bpf_get_current_comm(v->comm, sizeof(v->comm));
	e->first = v->count < WALK_FIRST;
	__sync_fetch_and_add(&v->count, 1);
	if (e->ret)
		__sync_fetch_and_add(&v->failed, 1);
	__sync_fetch_and_add(&v->total_ns, e->total);
	if (e->spin)
		__sync_fetch_and_add(&v->spin_ns, e->spin);
	raise_max(&v->max_ns, e->total);
	v->last_ns = e->now;
	b = log2_u64(e->total);
	if (b >= LB_HIST_BUCKETS)
		b = LB_HIST_BUCKETS - 1;
	__sync_fetch_and_add(&v->hist[b], 1);
	return true;
}

/* Decides whether the stack of a wait (or a charge) of d ns is walked, and what it then stands for. */
static __always_inline bool pick(u64 d, u64 spin, bool first, struct weight *w)
{
	u64 t = walk_threshold_ns;

	w->count_q = 1024;
	w->ns = d;
	w->spin_ns = spin;
	w->var_us2 = 0;
	w->sampled = false;
	if (all_stacks || first || d >= t)
		return true;
	if (!d || (u64)bpf_get_prandom_u32() * t >= d << 32)
		return false;
	/* Kept with p = d / t: stands for t ns and 1 / p waits, and adds (1 - p) * t^2 of variance. */
	w->count_q = t * 1024 / d;
	w->ns = t;
	w->spin_ns = spin * 1024 / d * t / 1024;
	w->var_us2 = (t / 1000) * ((t - d) / 1000);
	w->sampled = true;
	return true;
}

static __always_inline void add_weight(struct lb_stack_val *v, const struct weight *w, u64 d)
{
	__sync_fetch_and_add(&v->walked, 1);
	if (w->sampled)
		__sync_fetch_and_add(&v->sampled, 1);
	__sync_fetch_and_add(&v->count_q, w->count_q);
	__sync_fetch_and_add(&v->total_ns, w->ns);
	if (w->spin_ns) /* a constant 0 would become another instruction, which 5.10 does not have */
		__sync_fetch_and_add(&v->spin_ns, w->spin_ns);
	__sync_fetch_and_add(&v->var_us2, w->var_us2);
	raise_max(&v->max_ns, d);
}

static __always_inline void add_split(struct lb_stats *st, const struct lb_slot *s,
				      const struct ended *e, const struct weight *w, s32 kstack,
				      s32 ustack)
{
	struct lb_stack_key key = {
		.lock = s->lock,
		.cgroup = e->cgroup,
		.tgid = e->tgid,
		.kstack = kstack,
		.ustack = ustack,
		.kind = s->kind,
		.mode = s->mode,
	};
	struct lb_stack_val *v;

	v = bpf_map_lookup_elem(&split, &key);
	if (!v) {
		bpf_map_update_elem(&split, &key, &zero_split, BPF_NOEXIST);
		v = bpf_map_lookup_elem(&split, &key);
		if (!v) {
			st->lost_split++;
			return;
		}
		bpf_get_current_comm(v->comm, sizeof(v->comm));
	}
	add_weight(v, w, e->total);
}

static __always_inline void send_event(struct lb_stats *st, const struct lb_slot *s,
				       const struct ended *e, s32 kstack, s32 ustack)
{
	struct lb_event *ev = bpf_ringbuf_reserve(&events, sizeof(*ev), 0);

	if (!ev) {
		st->lost_ring++;
		return;
	}
	ev->lock = s->lock;
	ev->begin = s->begin;
	ev->end = e->now;
	ev->spin_ns = e->spin;
	ev->cgroup = e->cgroup;
	ev->tgid = e->tgid;
	ev->tid = e->tid;
	ev->owner_tid = s->owner_tid;
	ev->owner_tgid = s->owner_tgid;
	ev->kstack = kstack;
	ev->ustack = ustack;
	ev->ret = e->ret;
	ev->kind = s->kind;
	ev->mode = s->mode;
	ev->owner_certainty = s->owner_certainty;
	ev->owner_mode = s->owner_mode;
	bpf_get_current_comm(ev->comm, sizeof(ev->comm));
	__builtin_memcpy(ev->owner_comm, s->owner_comm, sizeof(ev->owner_comm));
	bpf_ringbuf_submit(ev, 0);
}

/* Takes the stacks of the current task. */
static __always_inline void walk(void *ctx, struct lb_stats *st, s32 *kstack, s32 *ustack)
{
	*ustack = LB_NO_STACK;
	st->walked++;
	*kstack = bpf_get_stackid(ctx, &stacks, 0);
	if (*kstack < 0) {
		st->lost_stack++;
		*kstack = LB_NO_STACK;
	}
	if (want_user_stack) {
		*ustack = bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK);
		if (*ustack < 0)
			*ustack = LB_NO_STACK; /* kernel threads have none */
	}
}

/* Accounts for the wait s that has just ended. The stack is walked last, and only if it is wanted: the
 * walk costs ten times everything else. */
static __always_inline void account(void *ctx, struct lb_stats *st, const struct lb_slot *s,
				    struct ended *e)
{
	s32 kstack = LB_NO_STACK, ustack = LB_NO_STACK;
	u64 id;

	if (e->total < min_duration_ns) {
		st->short_waits++;
		return;
	}
	id = bpf_get_current_pid_tgid();
	e->tgid = id >> 32;
	e->tid = (u32)id;
	if (want_cgroup)
		e->cgroup = bpf_get_current_cgroup_id();
	if (!add_exact(s, e)) {
		st->lost_map++;
		return;
	}
	st->recorded++;
	st->wait_ns += e->total;
	if (!want_split && !want_events)
		return;
	if (pick(e->total, e->spin, e->first, &e->w)) {
		if (stack_at_begin) {
			kstack = s->kstack;
			ustack = s->ustack;
		} else {
			walk(ctx, st, &kstack, &ustack);
		}
		e->walked = true;
		e->kstack = kstack;
		if (want_split)
			add_split(st, s, e, &e->w, kstack, ustack);
	}
	if (want_events)
		send_event(st, s, e, kstack, ustack);
}

#endif
