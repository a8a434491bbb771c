/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_FILTER_BPF_H
#define LOCKBLAME_FILTER_BPF_H

#include "compat.bpf.h"

/* Which waits are wanted. Constants, so that a filter that is not asked for costs nothing. */
const volatile __u32 want_kinds = LB_KINDS_SLEEPING;
const volatile __u64 only_lock = 0;
const volatile bool filter_pids = false;
const volatile bool filter_tids = false;
/* When only one is wanted, its number: a look into a hash costs more than all else of a wait that is
 * turned away. 0: look into the hash. */
const volatile __u32 only_pid = 0;
const volatile __u32 only_tid = 0;
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

static __always_inline bool task_wanted(void)
{
	u64 id = bpf_get_current_pid_tgid();
	u32 tgid = id >> 32, tid = (u32)id;

	if (filter_pids && (only_pid ? tgid != only_pid : !bpf_map_lookup_elem(&only_pids, &tgid)))
		return false;
	return !filter_tids ||
	       (only_tid ? tid == only_tid : !!bpf_map_lookup_elem(&only_tids, &tid));
}

/* Cheapest test first. */
static __always_inline bool wanted(u64 lock, u8 kind)
{
	if (!(want_kinds & LB_KIND_BIT(kind)))
		return false;
	if (only_lock && lock != only_lock)
		return false;
	if ((filter_pids || filter_tids) && !task_wanted())
		return false;
	if (filter_comm && !comm_matches())
		return false;
	if (filter_cgroup && bpf_current_task_under_cgroup(&only_cgroup, 0) != 1)
		return false;
	return true;
}

#endif
