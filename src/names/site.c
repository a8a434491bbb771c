// SPDX-License-Identifier: GPL-2.0
#include "names/site.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "util/cleanup.h"

/* How a row's name is compared. Leading underscores are not part of it on either side. */
enum match {
	EXACT,
	PREFIX,
	NUMBERED, /* a prefix before a hexadecimal number: what the BPF JIT names */
};

struct row {
	const char *name;
	enum match match;
};

/* The locking code of Linux 5.10 to 7.x, PREEMPT_RT included. A row is PREFIX only where no function
 * of another kind begins like that; so "schedule" and "down" are not. */
static const struct row lock_code[] = {
	/* rwsem; before 5.3 its slow paths were ..._failed */
	{"down_read", PREFIX},
	{"down_write", PREFIX},
	{"up_read", PREFIX},
	{"up_write", PREFIX},
	{"downgrade_write", PREFIX},
	{"rwsem_", PREFIX},
	{"call_rwsem_", PREFIX},
	{"osq_", PREFIX},
	{"rwbase_", PREFIX},
	/* mutex, ww_mutex, rt_mutex and what PREEMPT_RT makes of spinlocks */
	{"mutex_", PREFIX},
	{"ww_mutex_", PREFIX},
	{"rt_mutex_", PREFIX},
	{"rtlock_", PREFIX},
	{"rt_spin_", PREFIX},
	{"rt_read_", PREFIX},
	{"rt_write_", PREFIX},
	{"task_blocks_on_rt_mutex", EXACT},
	{"try_to_take_rt_mutex", EXACT},
	{"remove_waiter", EXACT},
	{"mark_wakeup_next_waiter", EXACT},
	{"wakeup_next_waiter", EXACT},
	/* semaphore */
	{"down", EXACT},
	{"down_common", EXACT},
	{"down_interruptible", EXACT},
	{"down_killable", EXACT},
	{"down_timeout", EXACT},
	{"down_trylock", EXACT},
	{"up", EXACT},
	/* percpu-rwsem */
	{"percpu_down_", PREFIX},
	{"percpu_up_", PREFIX},
	{"percpu_rwsem_", PREFIX},
	/* the terminal layer's own */
	{"ldsem_", PREFIX},
	/* spinlock, rwlock, with their paravirtual and architecture forms */
	{"raw_spin_", PREFIX},
	{"raw_read_", PREFIX},
	{"raw_write_", PREFIX},
	{"do_raw_spin_", PREFIX},
	{"do_raw_read_", PREFIX},
	{"do_raw_write_", PREFIX},
	{"queued_spin_", PREFIX},
	{"queued_read_", PREFIX},
	{"queued_write_", PREFIX},
	{"native_queued_", PREFIX},
	{"pv_queued_", PREFIX},
	{"raw_callee_save___pv_queued_", PREFIX},
	{"raw_callee_save___native_queued_", PREFIX},
	{"pv_wait_head_or_lock", EXACT},
	{"kvm_wait", EXACT},
	{"xen_qlock_wait", EXACT},
	{"hv_qlock_wait", EXACT},
	{"resilient_", PREFIX},
	{"arch_spin_", PREFIX},
	{"arch_read_", PREFIX},
	{"arch_write_", PREFIX},
	{"spin_lock", PREFIX},
	{"spin_unlock", PREFIX},
	{"bit_spin_", PREFIX},
	{"lockref_", PREFIX},
	{"atomic_dec_and_lock", PREFIX},
	{"atomic_dec_and_raw_lock", PREFIX},
	{"atomic_dec_and_mutex_lock", EXACT},
	{"refcount_dec_and_lock", PREFIX},
	{"refcount_dec_and_mutex_lock", EXACT},
	{"refcount_dec_and_rtnl_lock", EXACT},
	/* going to sleep */
	{"schedule", EXACT},
	{"schedule_timeout", PREFIX},
	{"schedule_hrtimeout", PREFIX},
	{"schedule_preempt_disabled", EXACT},
	{"schedule_rtlock", EXACT},
	{"schedule_loop", EXACT},
	{"io_schedule", PREFIX},
	{"preempt_schedule", PREFIX},
	{"cond_resched", EXACT},
	{"switch_to", PREFIX},
	{"context_switch", EXACT},
	{"finish_task_switch", EXACT},
	/* wrappers: memory management */
	{"mmap_lock_", PREFIX},
	{"mmap_read_", PREFIX},
	{"mmap_write_", PREFIX},
	{"get_mmap_lock_carefully", EXACT},
	{"upgrade_mmap_lock_carefully", EXACT},
	{"lock_mm_and_find_vma", EXACT},
	{"lock_vma_under_rcu", EXACT},
	{"lock_next_vma", EXACT},
	{"vma_start_read", PREFIX},
	{"vma_start_write", PREFIX},
	{"vma_start_exclude_readers", EXACT},
	{"vma_end_exclude_readers", EXACT},
	{"vma_enter_locked", EXACT},
	{"vma_exit_locked", EXACT},
	{"vma_exclude_readers", PREFIX},
	{"vma_mark_detached", EXACT},
	{"i_mmap_lock_", PREFIX},
	{"i_mmap_trylock_", PREFIX},
	{"i_mmap_unlock_", PREFIX},
	{"anon_vma_lock_", PREFIX},
	{"folio_lock_anon_vma_read", EXACT},
	{"page_lock_anon_vma_read", EXACT},
	{"rmap_walk_anon_lock", EXACT},
	{"hugetlb_vma_lock_", PREFIX},
	{"hugetlb_vma_unlock_", PREFIX},
	{"hugetlb_vma_trylock_", PREFIX},
	{"filemap_invalidate_lock", PREFIX},
	{"filemap_invalidate_unlock", PREFIX},
	{"folio_lruvec_lock", PREFIX},
	{"lock_page_lruvec", PREFIX},
	{"pte_offset_map_lock", EXACT},
	{"pmd_trans_huge_lock", EXACT},
	{"pud_trans_huge_lock", EXACT},
	{"mem_hotplug_begin", EXACT},
	{"get_online_mems", EXACT},
	/* wrappers: files */
	{"inode_lock", PREFIX},
	{"inode_trylock", PREFIX},
	{"inode_unlock", PREFIX},
	{"lock_two_", PREFIX},
	{"unlock_two_", PREFIX},
	{"lock_rename", PREFIX},
	{"unlock_rename", PREFIX},
	{"super_lock", PREFIX},
	{"super_unlock", PREFIX},
	{"super_trylock", PREFIX},
	{"sb_start_write", PREFIX},
	{"sb_start_pagefault", EXACT},
	{"sb_start_intwrite", EXACT},
	{"namespace_lock", EXACT},
	{"namespace_unlock", EXACT},
	{"pipe_lock", PREFIX},
	{"pipe_unlock", EXACT},
	{"pipe_double_lock", EXACT},
	{"xfs_ilock", PREFIX},
	{"xfs_iunlock", PREFIX},
	{"xfs_buf_lock", EXACT},
	{"btrfs_tree_lock", PREFIX},
	{"btrfs_tree_read_lock", PREFIX},
	{"btrfs_tree_unlock", EXACT},
	{"btrfs_tree_read_unlock", PREFIX},
	{"btrfs_lock_root_node", EXACT},
	{"btrfs_read_lock_root_node", EXACT},
	{"btrfs_inode_lock", EXACT},
	{"btrfs_inode_unlock", EXACT},
	{"f2fs_down_", PREFIX},
	{"f2fs_up_", PREFIX},
	{"f2fs_lock_op", EXACT},
	{"nfs_start_io_", PREFIX},
	{"netfs_start_io_", PREFIX},
	/* wrappers: the rest */
	{"rtnl_lock", PREFIX},
	{"rtnl_unlock", EXACT},
	{"rtnl_net_lock", PREFIX},
	{"rtnl_net_unlock", EXACT},
	{"rtnl_net_dev_lock", EXACT},
	{"rtnl_nets_lock", EXACT},
	{"netdev_lock", PREFIX},
	{"devl_lock", EXACT},
	{"genl_lock", EXACT},
	{"lock_sock", PREFIX},
	{"cpus_read_lock", EXACT},
	{"cpus_write_lock", EXACT},
	{"cpus_read_unlock", EXACT},
	{"cpus_write_unlock", EXACT},
	{"get_online_cpus", EXACT},
	{"cgroup_lock", EXACT},
	{"cgroup_attach_lock", EXACT},
	{"cgroup_kn_lock_live", EXACT},
	{"cgroup_lock_and_drain_offline", EXACT},
	{"perf_event_ctx_lock", PREFIX},
	{"lock_system_sleep", EXACT},
	{"console_lock", EXACT},
	{"console_trylock", EXACT},
	{"down_console_sem", EXACT},
	{"down_trylock_console_sem", EXACT},
	{"up_console_sem", EXACT},
	{"tty_lock", PREFIX},
	{"tty_unlock", PREFIX},
	{"tty_ldisc_lock", PREFIX},
	{"tty_ldisc_ref_wait", EXACT},
	{"lock_device_hotplug", PREFIX},
	{"device_lock", PREFIX},
	{"drm_modeset_lock", PREFIX},
	{"modeset_lock", EXACT},
	{"lock_task_sighand", EXACT},
	{"task_rq_lock", EXACT},
	{"lock_timer_base", EXACT},
	{"lock_hrtimer_base", EXACT},
	{"console_lock_spinning_", PREFIX},
};

/* The tracing that took the stack. */
static const struct row tracing_code[] = {
	{"traceiter_", PREFIX},
	{"probestub_", PREFIX},
	{"trace_contention_", PREFIX},
	{"trace_contended_release", EXACT},
	{"SCT__tp_func_", PREFIX},
	{"SCT__", PREFIX},
	{"bpf_trace_", PREFIX},
	{"trace_call_bpf", EXACT},
	{"trace_event_raw_event_", PREFIX},
	{"perf_trace_", PREFIX},
	{"perf_tp_event", EXACT},
	{"mmap_lock_do_trace_", PREFIX},
	{"mmap_lock_trace_", PREFIX},
	{"bpf_prog_", NUMBERED},
	{"bpf_trampoline_", NUMBERED},
	{"bpf_dispatcher_", NUMBERED},
	{"bpf_prog_enter", PREFIX},
	{"bpf_prog_exit", PREFIX},
	{"bpf_tramp_enter", PREFIX},
	{"bpf_tramp_exit", PREFIX},
	{"bpf_get_stack", PREFIX},
	{"bpf_get_task_stack", PREFIX},
	{"get_perf_callchain", EXACT},
	{"perf_callchain_kernel", EXACT},
	{"kprobe_ftrace_handler", EXACT},
	{"kprobe_dispatcher", EXACT},
	{"kretprobe_dispatcher", EXACT},
	{"kprobe_perf_func", EXACT},
	{"kretprobe_perf_func", EXACT},
	{"kprobe_multi_link_", PREFIX},
	{"kprobe_trampoline", EXACT},
	{"kretprobe_trampoline", PREFIX},
	{"kretprobe_rethook_handler", EXACT},
	{"trampoline_handler", EXACT},
	{"trampoline_probe_handler", EXACT},
	{"arch_rethook_", PREFIX},
	{"rethook_trampoline_handler", EXACT},
	{"rethook_hook", EXACT},
	{"rethook_try_get", EXACT},
	{"pre_handler_kretprobe", EXACT},
	{"aggr_pre_handler", EXACT},
	{"aggr_post_handler", EXACT},
	{"opt_pre_handler", EXACT},
	{"optimized_callback", EXACT},
	{"optprobe_template_", PREFIX},
	{"kprobe_int3_handler", EXACT},
	{"kprobe_breakpoint_handler", EXACT},
	{"setup_singlestep", EXACT},
	{"exc_int3", EXACT},
	{"asm_exc_int3", EXACT},
	{"do_int3", EXACT},
	{"int3", EXACT},
	{"fentry__", EXACT},
	{"fprobe_handler", EXACT},
	{"fprobe_kprobe_handler", EXACT},
	{"fprobe_exit_handler", EXACT},
	{"fprobe_return", EXACT},
	{"fprobe_fgraph_entry", EXACT},
	{"fprobe_ftrace_entry", EXACT},
	{"ftrace_call", EXACT},
	{"ftrace_caller", EXACT},
	{"ftrace_regs_call", EXACT},
	{"ftrace_regs_caller", EXACT},
	{"ftrace_ops_list_func", EXACT},
	{"arch_ftrace_ops_list_func", EXACT},
	{"ftrace_ops_assist_func", EXACT},
	{"ftrace_trampoline", EXACT},
	{"ftrace_graph_caller", EXACT},
	{"ftrace_graph_func", EXACT},
	{"ftrace_return_to_handler", EXACT},
	{"ftrace_stub", PREFIX},
	{"function_graph_enter", PREFIX},
	{"return_to_handler", EXACT},
	{"prepare_ftrace_return", EXACT},
	{"x86_indirect_thunk", PREFIX},
	{"x86_return_thunk", EXACT},
};

/* Where a compiler's suffix begins: at the first dot, which no C name has. */
static size_t base_len(const char *name)
{
	return strcspn(name, ".+ \t");
}

char *site__base(const char *name, char *buf, size_t size)
{
	/* numbers, and names that begin with a dot, are what they are */
	size_t len = *name == '.' ? strlen(name) : base_len(name);

	snprintf(buf, size, "%.*s", (int)len, name);
	return buf;
}

static bool row_matches(const struct row *row, const char *name, size_t len)
{
	size_t n = strlen(row->name);

	if (len < n || memcmp(row->name, name, n))
		return false;
	switch (row->match) {
	case EXACT:
		return len == n;
	case PREFIX:
		return true;
	case NUMBERED:
		/* "bpf_prog_6deef7357e7b4530_name", but not "bpf_prog_add", whose hexadecimal
		 * letters are a word: the JIT's tags have 16 digits, its other numbers are decimal */
		if (isdigit((unsigned char)name[n]))
			return true;
		return strspn(name + n, "0123456789abcdef") >= 16;
	}
	return false;
}

static bool unknown(const char *frame)
{
	return !frame || !*frame || (frame[0] == '0' && frame[1] == 'x');
}

static bool in_table(const struct row *rows, size_t n, const char *func)
{
	size_t len;

	if (unknown(func))
		return false;
	func += strspn(func, "_");
	len = base_len(func);
	for (size_t i = 0; i < n; i++)
		if (rows[i].name[0] == func[0] && row_matches(&rows[i], func, len))
			return true;
	return false;
}

bool site__is_lock_code(const char *func)
{
	return in_table(lock_code, ARRAY_SIZE(lock_code), func) ||
	       in_table(tracing_code, ARRAY_SIZE(tracing_code), func);
}

/* Is frame i, which has no name, one of at most three such frames right above locking code? Locking
 * code is called by its users and calls nobody, so what it seems to have called is a trampoline that
 * kallsyms does not list (yet). */
static bool is_trampoline(const char *const *frames, int n, int i)
{
	int end = i + 3;

	for (; i < n && i < end && unknown(frames[i]); i++)
		;
	return i < n && site__is_lock_code(frames[i]);
}

int site__of(const char *const *frames, int n)
{
	for (int i = 0; i < n; i++) {
		if (site__is_lock_code(frames[i]))
			continue;
		if (unknown(frames[i]) && is_trampoline(frames, n, i))
			continue;
		return i;
	}
	return -1;
}

int site__tracing_frames(const char *const *frames, int n)
{
	int i = 0;

	while (i < n && (in_table(tracing_code, ARRAY_SIZE(tracing_code), frames[i]) ||
			 (unknown(frames[i]) && is_trampoline(frames, n, i))))
		i++;
	return i;
}
