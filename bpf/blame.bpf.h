/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_BLAME_BPF_H
#define LOCKBLAME_BLAME_BPF_H

/* Blame: every nanosecond waited for a lock is charged to one holder, or to nobody with a reason. Each
 * lock with waiters has an account (struct lb_account in abi.h) that says at any time how long all its
 * waiters together have waited; who lets the lock go is charged what has come up since the last charge.
 * Charges telescope: what one hook misses is in the next charge. No lock is taken. */

#include "compat.bpf.h"
#include "owner.bpf.h"
#include "account.bpf.h"

const volatile bool want_blame = false;
const volatile bool want_holder_split = false;
const volatile bool want_pairs = false;
/* The kinds whose releases are seen (on_release): of the others a holder is known by the owner word. */
const volatile __u32 released_kinds = 0;
/* Of these: those that lock:contended_release tells. */
const volatile __u32 released_by_tp = 0;

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct lb_account);
} accounts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct lb_blame_key);
	__type(value, struct lb_blame_val);
} blames SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct lb_hstack_key);
	__type(value, struct lb_stack_val);
} holder_split SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct lb_pair_key);
	__type(value, struct lb_stack_val);
} pairs SEC(".maps");

static const struct lb_account zero_account;
static const struct lb_blame_val zero_blame;

/* The clock of waits. With blame it moves in ticks, so that the sums of waits and of accounts are made of
 * the same numbers. */
static __always_inline u64 wait_clock(void)
{
	u64 now = bpf_ktime_get_ns();

	return want_blame ? now & ~(u64)(LB_TICK - 1) : now;
}

static __always_inline u64 waiters_of(const struct lb_account *a)
{
	return *(const volatile u64 *)&a->word & 0xffff;
}

/* Takes what has come up since the last charge, ns. */
static __always_inline u64 settle(struct lb_account *a, u64 now)
{
	u64 w = *(volatile u64 *)&a->word;
	s64 d = (w & 0xffff) * (now / LB_TICK) - (w >> 16) - *(volatile u64 *)&a->charged;

	/* modulo 2^48 */
	d = d << 16 >> 16;
	/* Negative: others were charged at the same moment. Nothing until it has come up again. */
	if (d <= 0)
		return 0;
	__sync_fetch_and_add(&a->charged, (u64)d);
	return (u64)d * LB_TICK;
}

static __always_inline void set_holder(struct lb_account *a, u64 id, u8 mode, u8 certainty, u8 known_by)
{
	a->holder = id;
	a->mode = mode;
	a->certainty = certainty;
	a->known_by = known_by;
	a->state = LB_HELD;
}

/* Adds d to the row of holder id (0: nobody). Returns whether it is one of the first of its row. */
static __always_inline bool add_blame(struct lb_stats *st, u64 lock, u8 kind, u64 id, u8 mode,
				      u8 certainty, u8 known_by, const char *comm, u64 d)
{
	struct lb_blame_key key = {
		.lock = lock,
		.tgid = id >> 32,
		.tid = (u32)id,
		.kind = kind,
		.mode = mode,
		.certainty = certainty,
		.known_by = known_by,
	};
	struct lb_blame_val *v = bpf_map_lookup_elem(&blames, &key);
	bool first;

	if (!v) {
		bpf_map_update_elem(&blames, &key, &zero_blame, BPF_NOEXIST);
		v = bpf_map_lookup_elem(&blames, &key);
		if (!v) {
			st->lost_blame++;
			return false;
		}
		if (comm)
			__builtin_memcpy(v->comm, comm, LB_COMM_LEN);
	}
	first = v->charges < WALK_FIRST;
	__sync_fetch_and_add(&v->ns, d);
	__sync_fetch_and_add(&v->charges, 1);
	raise_max(&v->longest, d);
	return first;
}

static __always_inline void add_unknown(struct lb_stats *st, u64 lock, u8 kind, u8 why, u64 d)
{
	add_blame(st, lock, kind, 0, LB_WRITE, LB_UNKNOWN, why, 0, d);
}

/* Charges d to the holder that the account knows. */
static __always_inline void charge_held(struct lb_stats *st, struct lb_account *a, u64 lock, u8 kind,
					u8 certainty, u64 d)
{
	char comm[LB_COMM_LEN];

	__builtin_memcpy(comm, a->comm, sizeof(comm));
	add_blame(st, lock, kind, a->holder, a->mode, certainty, a->known_by, comm, d);
}

/* A wait begins: who holds the lock now? Where the owner has changed unseen, the one before is charged
 * up to now. A reader's name in the owner word changes with every reader that comes: where the release
 * will be seen, that is left to it. */
static __always_inline void learn_owner(struct lb_stats *st, struct lb_account *a, struct lb_slot *s)
{
	u64 id, d;
	bool seen = a->told || (released_kinds & LB_KIND_BIT(s->kind));

	read_owner(s);
	/* PREEMPT_RT: the waiter itself owns the inner lock while it waits for the readers to leave. */
	if (s->owner_certainty == LB_UNKNOWN || s->owner_tid == (u32)bpf_get_current_pid_tgid())
		return;
	id = (u64)s->owner_tgid << 32 | s->owner_tid;
	if (a->state == LB_HELD && a->holder != id &&
	    !(seen && (a->mode == LB_READ || s->owner_mode == LB_READ))) {
		d = settle(a, s->begin);
		if (d)
			charge_held(st, a, s->lock, s->kind, LB_LIKELY, d);
	}
	set_holder(a, id, s->owner_mode, s->owner_certainty, LB_BY_OWNER);
	__builtin_memcpy(a->comm, s->owner_comm, LB_COMM_LEN);
}

static __always_inline void blame_begin(struct lb_stats *st, struct lb_slot *s)
{
	u64 lock = s->lock;
	struct lb_account *a = bpf_map_lookup_elem(&accounts, &lock);

	s->blamed = 0;
	if (!a) {
		bpf_map_update_elem(&accounts, &lock, &zero_account, BPF_NOEXIST);
		a = bpf_map_lookup_elem(&accounts, &lock);
		if (!a)
			return;
	}
	a->kind = s->kind;
	learn_owner(st, a, s);
	s->blamed = 1;
	__sync_fetch_and_add(&a->word, (s->begin / LB_TICK << 16) + 1);
}

/* The wait never was: its end was not seen. */
static __always_inline void blame_drop(const struct lb_slot *s)
{
	u64 lock = s->lock;
	struct lb_account *a = s->blamed ? bpf_map_lookup_elem(&accounts, &lock) : 0;

	if (a)
		__sync_fetch_and_add(&a->word, -((s->begin / LB_TICK << 16) + 1));
}

/* The waiter has got the lock: what nobody was charged for was the last known holder's, likely; and from
 * now on it is the waiter who holds it. */
static __always_inline void got_it(struct lb_stats *st, struct lb_account *a, struct lb_slot *s, u64 now)
{
	u64 me = bpf_get_current_pid_tgid(), d = settle(a, now);
	bool together = s->mode == LB_READ && a->mode == LB_READ;

	if (d) {
		if (a->state == LB_HELD && a->holder != me && !together)
			charge_held(st, a, s->lock, s->kind, LB_LIKELY, d);
		else
			add_unknown(st, s->lock, s->kind,
				    a->state == LB_HOLDER_UNKNOWN ? LB_NO_OWNER : LB_HANDOVER, d);
	}
	set_holder(a, me, s->mode, LB_EXACT, LB_BY_WAITER);
	bpf_get_current_comm(a->comm, sizeof(a->comm));
}

/* The last waiter has given up: nobody need announce the release any more. */
static __always_inline void all_gave_up(struct lb_stats *st, struct lb_account *a, struct lb_slot *s,
					u64 now)
{
	u64 d = settle(a, now);

	if (!d)
		return;
	read_owner(s);
	if (s->owner_certainty == LB_UNKNOWN || s->owner_tid == (u32)bpf_get_current_pid_tgid()) {
		add_unknown(st, s->lock, s->kind, LB_GAVE_UP, d);
		return;
	}
	add_blame(st, s->lock, s->kind, (u64)s->owner_tgid << 32 | s->owner_tid, s->owner_mode,
		  s->owner_certainty, LB_BY_OWNER, s->owner_comm, d);
}

static __always_inline void add_pair(struct lb_stats *st, const struct lb_account *a,
				     const struct lb_slot *s, const struct ended *e)
{
	bool walked = a->walked_at > s->begin;
	struct lb_pair_key key = {
		.lock = s->lock,
		.tgid = e->tgid,
		.holder_tgid = walked ? a->walked_tgid : 0,
		.kstack = e->kstack,
		.holder_kstack = walked ? a->kstack : LB_NO_STACK,
		.kind = s->kind,
		.mode = s->mode,
	};
	struct lb_stack_val *v = bpf_map_lookup_elem(&pairs, &key);

	if (!v) {
		bpf_map_update_elem(&pairs, &key, &zero_split, BPF_NOEXIST);
		v = bpf_map_lookup_elem(&pairs, &key);
		if (!v) {
			st->lost_split++;
			return;
		}
		bpf_get_current_comm(v->comm, sizeof(v->comm));
	}
	add_weight(v, &e->w, e->total);
}

static __always_inline void blame_end(struct lb_stats *st, struct lb_slot *s, const struct ended *e)
{
	u64 lock = s->lock;
	struct lb_account *a = s->blamed ? bpf_map_lookup_elem(&accounts, &lock) : 0;

	if (unlikely(!a)) {
		st->lost_account++;
		add_unknown(st, lock, s->kind, LB_NO_ACCOUNT, e->total);
		return;
	}
	if (!e->ret)
		got_it(st, a, s, e->now);
	__sync_fetch_and_add(&a->word, -((e->now / LB_TICK << 16) + 1));
	if (e->ret && !waiters_of(a))
		all_gave_up(st, a, s, e->now);
	if (want_pairs && e->walked)
		add_pair(st, a, s, e);
}

static __always_inline void split_by_holder(void *ctx, struct lb_stats *st, struct lb_account *a,
					    u64 lock, u8 kind, u8 mode, u64 d, bool first, u64 now)
{
	struct lb_hstack_key key = {
		.lock = lock,
		.tgid = bpf_get_current_pid_tgid() >> 32,
		.kind = kind,
		.mode = mode,
	};
	struct lb_stack_val *v;
	struct weight w;

	if (!pick(d, 0, first, &w))
		return;
	st->walked++;
	key.kstack = bpf_get_stackid(ctx, &stacks, 0);
	if (key.kstack < 0) {
		st->lost_stack++;
		key.kstack = LB_NO_STACK;
	}
	a->kstack = key.kstack;
	a->walked_tgid = key.tgid;
	a->walked_at = now;
	v = bpf_map_lookup_elem(&holder_split, &key);
	if (!v) {
		bpf_map_update_elem(&holder_split, &key, &zero_split, BPF_NOEXIST);
		v = bpf_map_lookup_elem(&holder_split, &key);
		if (!v) {
			st->lost_split++;
			return;
		}
		bpf_get_current_comm(v->comm, sizeof(v->comm));
	}
	add_weight(v, &w, d);
}

/* The current task lets lock go, or (downgrade) goes on holding it for read. mode is what it held it
 * in, certainty how sure it is that it was the holder. */
static __always_inline void released(void *ctx, u64 lock, u8 mode, u8 certainty, bool downgrade)
{
	struct lb_account *a = bpf_map_lookup_elem(&accounts, &lock);
	struct lb_task *t;
	struct lb_stats *st;
	char comm[LB_COMM_LEN];
	u64 now, d, me;
	bool first;

	if (!a)
		return;
	if (!waiters_of(a)) {
		a->state = LB_RELEASED;
		return;
	}
	/* The wake-up functions are also called by waiters, on their own behalf. */
	t = current_waits(false);
	if (t) {
		if (t->passed_by == lock)
			return;
		for (u32 i = 0; i < LB_MAX_NEST; i++)
			if (i < t->depth && t->slot[i].lock == lock)
				return;
	}
	st = my_stats();
	if (!st)
		return;
	now = wait_clock();
	me = bpf_get_current_pid_tgid();
	bpf_get_current_comm(comm, sizeof(comm));
	a->told = 1;
	d = settle(a, now);
	if (d) {
		st->charges++;
		first = add_blame(st, lock, a->kind, me, mode, certainty, LB_BY_RELEASE, comm, d);
		if (want_holder_split)
			split_by_holder(ctx, st, a, lock, a->kind, mode, d, first, now);
	}
	if (!downgrade) {
		a->state = LB_RELEASED;
		return;
	}
	set_holder(a, me, LB_READ, LB_EXACT, LB_BY_DOWNGRADE);
	__builtin_memcpy(a->comm, comm, LB_COMM_LEN);
}

#endif
