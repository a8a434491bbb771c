// SPDX-License-Identifier: GPL-2.0
/* What lockblame is measured against: the plain way to count waits by stack. Every contention_begin
 * walks the kernel stack and adds to a hash keyed by it. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

#define DEPTH 64 /* as many frames as lockblame keeps */
#define FLAG_SPIN 1
#define FLAG_PERCPU 16
#define FLAG_MUTEX 32
#define FLAG_RT 8

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 8192);
	__uint(key_size, sizeof(u32));
	__uint(value_size, DEPTH * sizeof(u64));
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, u64);
} counts SEC(".maps");

/* Begins of kinds whose waiters sleep: what lockblame counts as waits, but for a mutex that spins and
 * then sleeps (two begins). */
__u64 sleeping;

SEC("tp_btf/contention_begin")
int BPF_PROG(plain, void *lock, unsigned int flags)
{
	u32 id = (u32)bpf_get_stackid(ctx, &stacks, 0);
	u64 *n = bpf_map_lookup_elem(&counts, &id), one = 1;

	if (n)
		__sync_fetch_and_add(n, 1);
	else
		bpf_map_update_elem(&counts, &id, &one, BPF_NOEXIST);
	if (!(flags & FLAG_SPIN) || (flags & (FLAG_PERCPU | FLAG_MUTEX | FLAG_RT)))
		__sync_fetch_and_add(&sleeping, 1);
	return 0;
}

/* What the statistics themselves say of a program that does nothing: the floor of all figures. */
SEC("tp_btf/contention_end")
int BPF_PROG(empty, void *lock, int ret)
{
	return 0;
}
