/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_FILTER_BPF_H
#define LOCKBLAME_FILTER_BPF_H

#include "compat.bpf.h"

/* Which waits are wanted. Constants, so that a filter that is not asked for costs nothing. */
const volatile __u32 want_kinds = LB_KINDS_SLEEPING;
const volatile __u64 only_lock = 0;
const volatile bool filter_pids = false;
const volatile bool filter_tids = false;
const volatile bool filter_comm = false;
const volatile bool filter_cgroup = false;
const volatile char only_comm[LB_COMM_LEN] = {};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, u32);
	__type(value, u8);
} only_pids SEC(".maps"), only_tids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} only_cgroup SEC(".maps");

static __always_inline bool comm_matches(void)
{
	char comm[LB_COMM_LEN];

	bpf_get_current_comm(comm, sizeof(comm));
	for (int i = 0; i < LB_COMM_LEN; i++) {
		if (comm[i] != only_comm[i])
			return false;
		if (!comm[i])
			break;
	}
	return true;
}

/* Cheapest test first. */
static __always_inline bool wanted(u64 lock, u8 kind, u32 tgid, u32 tid)
{
	if (!(want_kinds & LB_KIND_BIT(kind)))
		return false;
	if (only_lock && lock != only_lock)
		return false;
	if (filter_pids && !bpf_map_lookup_elem(&only_pids, &tgid))
		return false;
	if (filter_tids && !bpf_map_lookup_elem(&only_tids, &tid))
		return false;
	if (filter_comm && !comm_matches())
		return false;
	if (filter_cgroup && bpf_current_task_under_cgroup(&only_cgroup, 0) != 1)
		return false;
	return true;
}

#endif
