// SPDX-License-Identifier: GPL-2.0
/* Waits for spinlocks and rwlocks, only loaded when --kind asks for them. They come from any context,
 * also from inside the locks that BPF's own maps take. Three rules keep that safe:
 *   - the maps here are this object's own, so that no lock taken by another program is wanted here;
 *   - a flag per CPU makes everything that contends below these programs pass by unseen;
 *   - an open wait is kept per CPU, not per task: the waiter spins with preemption off. */
#include "compat.bpf.h"
#include "filter.bpf.h"
#include "account.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct cpu_state {
	struct lb_task waits; /* nested by interrupts */
	u32 busy;
	u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct cpu_state);
} cpus SEC(".maps");

static __always_inline struct cpu_state *enter(void)
{
	u32 zero = 0;
	struct cpu_state *c = bpf_map_lookup_elem(&cpus, &zero);

	if (!c || c->busy)
		return 0;
	c->busy = 1;
	return c;
}

static __always_inline struct lb_slot *slot_at(struct lb_task *t, u32 i)
{
	asm volatile("" : "+r"(i));
	return &t->slot[i & (LB_MAX_NEST - 1)];
}

static __always_inline void spin_begin(struct cpu_state *c, u64 lock, u8 kind, u8 mode, u32 tgid)
{
	struct lb_stats *st = my_stats();
	u32 i = c->waits.depth;
	struct lb_slot *s;

	if (!st)
		return;
	if (i >= LB_MAX_NEST) {
		/* Ends were lost; start over. */
		st->lost_end += LB_MAX_NEST;
		i = 0;
	}
	s = slot_at(&c->waits, i);
	s->lock = lock;
	s->kind = kind;
	s->mode = mode;
	s->begin = bpf_ktime_get_ns();
	c->waits.depth = i + 1;
	st->seen++;
	announce(lock, kind, tgid);
}

static __always_inline void spin_end(void *ctx, struct cpu_state *c, u64 lock, s32 ret)
{
	struct ended e = {.ret = ret};
	struct lb_stats *st = my_stats();
	u32 i = c->waits.depth - 1;
	struct lb_slot *s;

	if (!st || i >= LB_MAX_NEST)
		return;
	s = slot_at(&c->waits, i);
	/* The end of a sleeping lock, or of one that was not wanted. */
	if (s->lock != lock)
		return;
	c->waits.depth = i;
	e.now = bpf_ktime_get_ns();
	e.total = e.now - s->begin;
	e.spin = e.total;
	account(ctx, st, s, &e);
}

SEC("tp_btf/contention_begin")
int BPF_PROG(on_spin_begin, void *lock, unsigned int flags)
{
	u8 kind = kind_of_flags(flags);
	struct cpu_state *c;

	if (kind != LB_SPINLOCK && kind != LB_RWLOCK)
		return 0;
	c = enter();
	if (!c)
		return 0;
	if (wanted((u64)lock, kind))
		spin_begin(c, (u64)lock, kind, flags & LCB_READ ? LB_READ : LB_WRITE,
			   bpf_get_current_pid_tgid() >> 32);
	c->busy = 0;
	return 0;
}

SEC("tp_btf/contention_end")
int BPF_PROG(on_spin_end, void *lock, int ret)
{
	struct cpu_state *c = enter();

	if (!c)
		return 0;
	if (c->waits.depth)
		spin_end(ctx, c, (u64)lock, ret);
	c->busy = 0;
	return 0;
}
