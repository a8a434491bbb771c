// SPDX-License-Identifier: GPL-2.0
#include "model/reasons.h"

#include <stdio.h>
#include <string.h>

#include "util/cleanup.h"

/* clang-format off: tables are read by columns */
static const struct reason reasons[] = {
	/* file systems */
	{"frozen-fs", "other", "waits for the frozen file system[ {}]",
	 "Thaw it (fsfreeze --unfreeze DIRECTORY), or let the snapshot or backup that froze it end."},
	{"fuse", "other", "waits for the answer of a FUSE server[, {}]",
	 "Look at the server process; 'echo 1 > /sys/fs/fuse/connections/NUMBER/abort' fails all its requests."},
	{"nfs", "other", "waits for an NFS server[, {}]",
	 "See whether the server answers (nfsstat, ss -t, mount options hard and soft)."},
	{"network-fs", "other", "waits for the server of a network file system[, {}]",
	 "See whether the server and the way to it are alive."},
	{"jbd2", "other", "waits for the journal (jbd2)[ of {}]",
	 "The journal thread (jbd2/DEVICE) writes it: look at what that waits for, and at the device."},
	{"xfs-log", "other", "waits for the log of XFS[ on {}]",
	 "Log space comes back when metadata is written: look at the device, and at xfsaild."},
	{"btrfs", "other", "waits for a btrfs transaction[ of {}]",
	 "Look at the task that commits (btrfs-transaction), and at the device."},
	{"writeback", "io", "waits for pages to be written back[ to {}]",
	 "Look at the device (iostat -x), and at Dirty and Writeback in /proc/meminfo."},
	{"dirty-throttle", "io", "is slowed down because too much waits to be written",
	 "Look at Dirty in /proc/meminfo, vm.dirty_*, and the speed of the device."},
	{"page-lock", "io", "waits for a locked page of a file[, {}]",
	 "The page is being read or written: look at the device or the server behind the file."},
	{"buffer-io", "io", "waits for a block to be read or written[ on {}]",
	 "Look at the device (iostat -x, the kernel's log for its errors)."},
	/* devices */
	{"block-io", "io", "waits for block I/O[ on {}]",
	 "Look at the device (iostat -x, /sys/block/*/inflight, the kernel's log for its errors)."},
	{"block-tag", "io", "waits for a free slot in the queue of a block device[, {}]",
	 "The device does not finish its requests: look at it and at the kernel's log."},
	{"block-freeze", "io", "waits until a block device's queue is empty[, {}]",
	 "A request in it does not end, or something holds the queue."},
	{"block-throttle", "io", "is held back by I/O control (wbt, iocost, blk-throttle)",
	 "Look at the io.* files of its cgroup and at queue/wbt_lat_usec."},
	{"swap", "io", "waits for a page from swap", "Look at memory pressure and at the swap device."},
	{"raid", "io", "waits for a RAID array[, {}]", "Look at /proc/mdstat and its member devices."},
	{"device-mapper", "io", "waits for a device-mapper device[, {}]",
	 "See whether it is suspended: dmsetup info."},
	{"nvme", "io", "waits for an NVMe controller[, {}]", "Look at the kernel's log for resets and timeouts."},
	{"scsi", "io", "waits for a SCSI command[ to {}]", "Look at the kernel's log for errors and resets."},
	{"usb", "io", "waits for a USB transfer", "Look at the kernel's log; unplugging ends it."},
	{"netdev-refs", "other", "waits until nobody uses a network device[, {}]",
	 "Something still refers to a device that is being removed (a namespace, a route, a socket)."},
	/* processes */
	{"vfork", "other", "waits for its vfork child[ {}] to exec or to exit", "Look at what the child does."},
	{"ptrace", "other", "is stopped by a debugger", "Let the debugger (strace, gdb) go on or detach."},
	{"stopped", "other", "is stopped by a signal", "kill -CONT continues it."},
	{"coredump", "other", "waits for a core dump to be written",
	 "Look at where core dumps go (kernel.core_pattern)."},
	{"freezer", "other", "is frozen (cgroup freezer, or suspend)",
	 "Thaw its cgroup: echo 0 > cgroup.freeze."},
	{"exit-wait", "other", "waits for a child[ {}] to end", NULL},
	/* memory */
	{"userfaultfd", "other", "waits in a page fault for its userfaultfd handler",
	 "The program that handles the faults of this range (a live migration, a checkpointer) does not answer."},
	{"vma-lock", "other", "waits for page faults in a part of its address space to end[ ({})]",
	 "A thread of the same process is in a page fault there: look at what that waits for."},
	{"memcg-oom", "other", "waits because its memory cgroup is out of memory",
	 "Raise memory.max, or end something in the cgroup."},
	{"memcg-high", "other", "is slowed down because its memory cgroup is over memory.high", "Raise memory.high."},
	{"reclaim", "other", "waits for memory to be reclaimed", "Look at memory pressure (/proc/pressure/memory)."},
	{"compaction", "other", "waits for memory compaction", "Look at fragmentation (/proc/buddyinfo)."},
	{"migration", "other", "waits for a page that is being migrated", NULL},
	/* inside the kernel */
	{"rcu", "other", "waits for an RCU grace period",
	 "A CPU or a reader does not let go: look for RCU stalls in the kernel's log."},
	{"workqueue", "other", "waits for work of a kernel worker to end[, {}]",
	 "Look at the kworker that runs it."},
	{"kthread", "other", "waits for a kernel thread to start, park or stop", NULL},
	{"module", "other", "waits for a module to be loaded", "Look at the modprobe process and its stack."},
	{"firmware", "other", "waits for firmware", NULL},
	{"percpu-ref", "other", "waits until nobody uses an object any more", NULL},
	{"cgroup", "other", "waits for a cgroup operation", NULL},
	{"io-uring", "other", "waits for its io_uring requests to end", "One of its requests does not end."},
	{"lockfile", "other", "waits for a file lock", "See /proc/locks."},
	/* asleep, by its own will: roots that can be woken from outside */
	{"pipe", "other", "waits for the other end of a pipe", "Look at the process at the other end."},
	{"fuse-server", "other", "is a FUSE server that waits for requests", NULL},
	{"futex", "other", "waits for a futex: another thread of the program has to wake it", NULL},
	{"poll", "other", "waits for events (poll, select, epoll)", NULL},
	{"sleep", "other", "sleeps for a time of its own choice", NULL},
	{"delay", "other", "sleeps for a fixed time inside the kernel", NULL},
	{"socket", "other", "waits for data from a socket", NULL},
	{"terminal", "other", "waits for a terminal", NULL},
	{"signal", "other", "waits for a signal", NULL},
	/* general, when nothing better is known */
	{"completion", "other", "waits for something inside the kernel to complete", NULL},
	{"io", "io", "waits for I/O", "Look at the devices (iostat -x) and at the kernel's log for their errors."},
	{"running", "other", "is running[ {}]", NULL},
	{"runnable", "other", "is ready to run, but not on a CPU", "Look at the load, its priority and its cgroup's cpu.max."},
	{"lock", "lock", "waits for a lock[, {}]", NULL},
	{"unknown", "other", "sleeps in the kernel[, in {}]", NULL},
};

/* Functions of each reason, separated by blanks. A name that ends in * is a prefix; leading underscores count on
 * neither side. General ones only count when no other row matches anything on the stack. */
static const struct {
	const char *key;
	const char *functions;
	bool general;
} rows[] = {
	{"frozen-fs", "sb_start_write sb_start_pagefault sb_start_intwrite sb_start_write_trylock xfs_trans_freeze*", false},
	{"fuse", "request_wait_answer fuse_simple_request fuse_get_req fuse_request_send fuse_wait_on_page_writeback fuse_wait_aborted "
		 "fuse_sync_writes fuse_set_nowrite", false},
	{"nfs", "rpc_wait_bit_killable nfs_wait_bit_killable nfs_wait_bit_uninterruptible nfs_wait_on_request rpc_call_sync rpc_execute "
		"rpc_run_task nfs4_* nfs3_* nfs_commit_inode nfs_wb_all nfs_sync_inode nfs_iocounter_wait", false},
	{"network-fs", "p9_client_rpc p9_virtio_request cifs_send_recv smb2_* wait_for_response ceph_mdsc_do_request ceph_mdsc_wait_request "
		       "ceph_get_caps afs_make_call afs_wait_for_call_to_complete netfs_wait_for_* netfs_wait_* ocfs2_wait_for_mask ocfs2_cluster_lock "
		       "gfs2_glock_wait gfs2_glock_nq dlm_lock", false},
	{"jbd2", "jbd2_log_wait_commit jbd2_journal_lock_updates start_this_handle wait_transaction_locked wait_transaction_switching "
		 "add_transaction_credits jbd2_log_wait_for_space jbd2_complete_transaction jbd2_journal_flush do_get_write_access "
		 "jbd2_journal_destroy jbd2_journal_wait_updates jbd2_journal_free_reserved jbd2_fc_begin_commit ext4_fc_commit", false},
	{"xfs-log", "xlog_grant_head_wait xlog_grant_head_check xlog_wait xlog_wait_on_iclog xlog_cil_force_seq xlog_cil_force_lsn xfs_log_force* "
		    "xlog_state_get_iclog_space xfs_ail_push_all_sync xfs_log_reserve xlog_cil_push_work xlog_cil_order_write", false},
	{"buffer-io", "xfs_buf_iowait wait_on_buffer bread_gfp bread_slow sync_dirty_buffer ext4_read_bh_lock block_read_full_folio bh_read "
		      "ext4_wait_block_bitmap lock_buffer", false},
	{"btrfs", "wait_current_trans btrfs_commit_transaction wait_for_commit btrfs_wait_ordered_* btrfs_start_ordered_extent "
		  "btrfs_wait_for_commit btrfs_async_run_delayed* btrfs_lock_and_flush_ordered_range handle_reserve_ticket", false},
	{"writeback", "folio_wait_writeback folio_wait_writeback_killable wait_on_page_writeback filemap_fdatawait_range wb_wait_for_completion "
		      "sync_inodes_sb filemap_fdatawait_keep_errors folio_wait_stable wait_for_stable_page inode_wait_for_writeback "
		      "wait_sb_inodes wait_on_writeback", false},
	{"dirty-throttle", "balance_dirty_pages balance_dirty_pages_ratelimited*", false},
	{"swap", "swap_readpage swap_read_folio swapin_readahead swap_cluster_readahead folio_wait_swap*", false},
	{"migration", "migration_entry_wait* migrate_pages softleaf_entry_wait_on_locked pmd_migration_entry_wait "
		      "migrate_pages_batch", false},
	{"page-lock", "folio_lock lock_page folio_lock_killable lock_page_killable folio_lock_or_retry lock_page_or_retry folio_wait_bit "
		      "folio_wait_bit_common wait_on_page_bit_common wait_on_page_bit folio_wait_locked wait_on_page_locked folio_put_wait_locked "
		      "put_and_wait_on_page_locked filemap_update_page lock_folio_maybe_drop_mmap lock_page_maybe_drop_mmap "
		      "folio_wait_bit_killable wait_on_page_bit_killable", false},
	{"block-tag", "blk_mq_get_tag sbitmap_get_wait* blk_mq_get_request", false},
	{"block-freeze", "blk_mq_freeze_queue_wait blk_freeze_queue blk_queue_enter bio_queue_enter blk_mq_freeze_queue* "
			 "blk_queue_usage_counter*", false},
	{"block-throttle", "wbt_wait rq_qos_wait rq_qos_throttle blk_throtl_* ioc_rqos_throttle blkcg_maybe_throttle_current iocg_wait*", false},
	{"raid", "md_write_start wait_barrier raid5_get_active_stripe raid5_make_request md_super_wait md_flush_request md_handle_request "
		 "raid1_* raid10_* freeze_array wait_read_barrier md_stop* mddev_suspend", false},
	{"device-mapper", "dm_wait_for_completion dm_suspend dm_swap_table dm_wait_event dm_bufio_* dm_io dm_kcopyd_* dm_suspended*", false},
	{"nvme", "nvme_submit_sync_cmd nvme_wait_freeze* nvme_reset_ctrl_sync nvme_disable_ctrl nvme_wait_reset "
		 "nvme_start_freeze*", false},
	{"scsi", "scsi_execute scsi_execute_cmd scsi_block_when_processing_errors sd_sync_cache ata_port_wait_eh "
		 "ata_exec_internal* sg_io scsi_error_handler", false},
	{"block-io", "submit_bio_wait blkdev_issue_flush blkdev_issue_discard blkdev_issue_zeroout blk_execute_rq blk_wait_io dio_await_completion "
		     "blockdev_direct_IO iomap_dio_rw blkdev_direct_IO* do_blockdev_direct_IO sync_blockdev blk_mq_poll dio_await_one "
		     "swap_writepage read_events aio_complete* submit_bio_noacct_wait*", false},
	{"usb", "usb_start_wait_urb usb_kill_urb usb_control_msg usb_bulk_msg usb_sg_wait usb_poison_urb", false},
	{"netdev-refs", "netdev_wait_allrefs netdev_wait_allrefs_any netdev_run_todo", false},
	{"vfork", "wait_for_vfork_done", false},
	{"ptrace", "ptrace_stop ptrace_notify ptrace_event do_jobctl_trap syscall_trace_enter ptrace_do_notify", false},
	{"stopped", "do_signal_stop", false},
	{"coredump", "coredump_task_exit do_coredump coredump_wait vfs_coredump wait_for_dump_helpers coredump_finish", false},
	{"freezer", "refrigerator do_freezer_trap cgroup_enter_frozen freezing_slow_path", false},
	{"exit-wait", "do_wait kernel_wait4 kernel_waitid zap_pid_ns_processes exit_notify* ksys_waitid", false},
	{"userfaultfd", "handle_userfault", false},
	{"vma-lock", "vma_start_write vma_mark_detached vma_enter_locked vma_start_exclude_readers vma_start_write_killable "
		     "vma_exclude_readers* vma_mark_attached*", false},
	{"memcg-oom", "mem_cgroup_oom_synchronize mem_cgroup_out_of_memory mem_cgroup_oom", false},
	{"memcg-high", "mem_cgroup_handle_over_high", false},
	{"compaction", "compact_zone compact_node try_to_compact_pages compact_zone_order", false},
	{"reclaim", "throttle_direct_reclaim reclaim_throttle wait_iff_congested congestion_wait shrink_inactive_list shrink_node "
		    "do_try_to_free_pages try_to_free_pages too_many_isolated alloc_pages_direct_reclaim mem_cgroup_reclaim* "
		    "try_to_free_mem_cgroup_pages", false},
	{"rcu", "synchronize_rcu synchronize_rcu_expedited wait_rcu_gp synchronize_srcu synchronize_srcu_expedited rcu_barrier synchronize_rcu_normal "
		"exp_funnel_lock rcu_sync_enter synchronize_rcu_tasks* rcu_barrier_tasks* synchronize_sched synchronize_net "
		"srcu_barrier synchronize_rcu_mult wait_rcu_exp_gp rcu_exp_wait_wake cond_synchronize_rcu", false},
	{"workqueue", "flush_work flush_workqueue cancel_work_timer cancel_work_sync cancel_delayed_work_sync drain_workqueue flush_delayed_work "
		      "flush_rcu_work destroy_workqueue schedule_on_each_cpu lru_add_drain_all* work_on_cpu* "
		      "flush_scheduled_work", false},
	{"kthread", "kthread_stop kthread_park kthread_create_on_node kthread_flush_work kthread_flush_worker stop_one_cpu stop_cpus "
		    "stop_machine* cpuhp_kick_ap* smpboot_* stop_two_cpus", false},
	{"module", "request_module call_usermodehelper_exec load_module* resolve_symbol_wait* idempotent_wait_for_completion", false},
	{"firmware", "request_firmware request_firmware_direct fw_load_sysfs_fallback firmware_fallback*", false},
	{"percpu-ref", "percpu_ref_switch_to_atomic_sync percpu_ref_kill_and_confirm* css_killed* debugfs_file_put* remove_proc_entry "
		       "proc_entry_rundown kernfs_drain debugfs_remove* aio_ring* exit_aio wait_for_device_probe "
		       "unregister_shrinker*", false},
	{"cgroup", "cgroup_lock_and_drain_offline cgroup_drain_offline", false},
	{"io-uring", "io_uring_cancel_generic io_cqring_wait io_uring_del_tctx_node io_ring_exit_work io_wq_put_and_exit "
		     "io_uring_try_cancel_requests", false},
	{"lockfile", "locks_lock_inode_wait posix_lock_inode_wait flock_lock_inode_wait fcntl_setlk do_lock_file_wait "
		     "break_lease nlmclnt_lock nlmclnt_block", false},
	{"fuse-server", "fuse_dev_do_read fuse_dev_read fuse_dev_splice_read fuse_uring_cmd*", false},
	{"pipe", "pipe_read pipe_write pipe_wait pipe_wait_readable pipe_wait_writable wait_for_partner anon_pipe_read anon_pipe_write", false},
	{"futex", "futex_wait futex_wait_queue futex_wait_queue_me do_futex futex_do_wait", false},
	{"poll", "ep_poll do_epoll_wait do_poll do_sys_poll do_select core_sys_select io_schedule_poll* do_poll_wait*", false},
	{"socket", "sk_wait_data inet_csk_accept inet_csk_wait_for_connect tcp_recvmsg unix_stream_read_generic unix_stream_data_wait "
		   "skb_wait_for_more_packets unix_wait_for_peer sk_stream_wait_memory inet_stream_connect unix_accept "
		   "netlink_dump* skb_recv_datagram vsock_connectible_*", false},
	{"terminal", "n_tty_read n_tty_write tty_wait_until_sent tty_port_block_til_ready tty_ldisc_ref_wait", false},
	{"signal", "sigsuspend do_sigtimedwait x64_sys_pause ia32_sys_pause do_sys_pause arm64_sys_pause sys_pause do_rt_sigtimedwait", false},
	{"sleep", "hrtimer_nanosleep do_nanosleep common_nsleep", false},
	{"delay", "msleep msleep_interruptible usleep_range usleep_range_state schedule_timeout_uninterruptible", true},
	{"completion", "wait_for_completion* wait_for_common* do_wait_for_common* wait_on_bit* out_of_line_wait_on_bit* bit_wait", true},
	{"io", "io_schedule io_schedule_timeout bit_wait_io wait_on_page* wait_for_completion_io*", true},
};

/* Innermost frames that show which lock a task is in the slow path of. mode: r, w, or ? (another frame tells). */
static const struct {
	const char *kind;
	char mode;
	const char *functions;
} lock_rows[] = {
	{"rwsem", 'r', "rwsem_down_read_slowpath rwsem_down_read_failed rwsem_down_read_failed_killable rwbase_read_lock"},
	{"rwsem", 'w', "rwsem_down_write_slowpath rwsem_down_write_failed rwsem_down_write_failed_killable rwbase_write_lock"},
	{"percpu-rwsem", '?', "percpu_rwsem_wait"},
	{"percpu-rwsem", 'r', "percpu_down_read"},
	{"percpu-rwsem", 'w', "percpu_down_write"},
	{"mutex", 'w', "mutex_lock mutex_lock_slowpath mutex_lock_killable mutex_lock_killable_slowpath mutex_lock_interruptible "
		       "mutex_lock_interruptible_slowpath mutex_lock_common ww_mutex_lock ww_mutex_lock_slowpath "
		       "ww_mutex_lock_interruptible ww_mutex_lock_interruptible_slowpath mutex_lock_io mutex_lock_nested mutex_lock_killable_nested "
		       "mutex_lock_io_nested mutex_lock_interruptible_nested"},
	{"semaphore", 'w', "down down_common down_killable down_interruptible down_timeout"},
	/* PREEMPT_RT: what stands outside of the rt-mutex code says what it is */
	{"rwsem", 'r', "down_read down_read_killable down_read_interruptible down_read_common"},
	{"rwsem", 'w', "down_write down_write_killable down_write_common"},
	{"rt-mutex", 'w', "rt_spin_lock rtlock_slowlock rt_mutex_lock rt_mutex_slowlock rt_mutex_slowlock_block rt_mutex_slowlock_locked "
			  "rt_mutex_lock_interruptible rt_mutex_lock_killable futex_lock_pi"},
};

/* Between the innermost frame and the lock there is only this. */
static const char *const going_to_sleep =
	"schedule schedule_timeout schedule_preempt_disabled schedule_rtlock switch_to context_switch preempt_schedule* "
	"rt_mutex_slowlock* rt_mutex_slowlock_block* rwbase_* task_blocks_on_rt_mutex rt_mutex_schedule rt_mutex_wait_proxy_lock "
	"rt_mutex_handle_deadlock* rtlock_slowlock* rt_mutex_pre_schedule rt_mutex_lock_state rcuwait_wait_event schedule_loop "
	"rwsem_optimistic_spin rwsem_spin_on_owner mutex_spin_on_owner mutex_optimistic_spin osq_lock "
	"schedule_timeout_uninterruptible schedule_timeout_killable schedule_timeout_interruptible bpf_* arch_* ftrace_* kthread_*";
/* clang-format on */

static size_t base_len(const char *name)
{
	return strcspn(name, ".+ \t");
}

/* Whether one word of the list is the function's name. */
static bool listed(const char *list, const char *name)
{
	size_t len;

	name += strspn(name, "_");
	len = base_len(name);
	while (*list) {
		size_t n = strcspn(list, " ");

		if (n && list[n - 1] == '*' ? len >= n - 1 && !memcmp(list, name, n - 1)
					    : len == n && !memcmp(list, name, n))
			return true;
		list += n;
		list += strspn(list, " ");
	}
	return false;
}

const struct reason *reason__by_key(const char *key)
{
	for (size_t i = 0; key && i < ARRAY_SIZE(reasons); i++)
		if (!strcmp(reasons[i].key, key))
			return &reasons[i];
	return NULL;
}

const struct reason *reason__table(unsigned int *n)
{
	*n = ARRAY_SIZE(reasons);
	return reasons;
}

static const char *key_of(const char *frame, bool general)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].general == general && listed(rows[i].functions, frame))
			return rows[i].key;
	return NULL;
}

const struct reason *reason__of_frames(const char *const *frames, int n, int *at)
{
	for (int general = 0; general < 2; general++) {
		for (int i = 0; i < n; i++) {
			const char *key = frames[i] ? key_of(frames[i], general) : NULL;

			if (!key)
				continue;
			if (at)
				*at = i;
			return reason__by_key(key);
		}
	}
	return NULL;
}

/* percpu_rwsem_wait serves both modes. */
static void outer_mode(const char *const *frames, int n, struct reason_lock *l)
{
	for (int i = l->at + 1; i < n && i <= l->at + 3; i++) {
		if (listed("percpu_down_write", frames[i]))
			l->mode = LB_WRITE;
		else if (listed("percpu_down_read sb_start_write", frames[i]))
			l->mode = LB_READ;
		else
			continue;
		l->mode_known = true;
		return;
	}
	/* percpu_down_read is often inlined; nobody inlines percpu_down_write. */
	l->mode = LB_READ;
	l->mode_known = true;
}

static bool lock_frame(const char *const *frames, int n, int i, struct reason_lock *out)
{
	for (size_t r = 0; r < ARRAY_SIZE(lock_rows); r++) {
		if (!listed(lock_rows[r].functions, frames[i]))
			continue;
		out->kind = lock_rows[r].kind;
		out->at = i;
		out->mode = lock_rows[r].mode == 'r' ? LB_READ : LB_WRITE;
		out->mode_known = lock_rows[r].mode != '?';
		if (!out->mode_known)
			outer_mode(frames, n, out);
		return true;
	}
	return false;
}

bool reason__lock_of_frames(const char *const *frames, int n, struct reason_lock *out)
{
	struct reason_lock inner;

	memset(out, 0, sizeof(*out));
	for (int i = 0; i < n && frames[i]; i++) {
		if (lock_frame(frames, n, i, &inner)) {
			/* rt_mutex_slowlock below mutex_lock: the outermost of the locking code says it
			 * best, but only on PREEMPT_RT are there several. */
			if (!out->kind || !strcmp(out->kind, "rt-mutex"))
				*out = inner;
			continue;
		}
		if (out->kind || !listed(going_to_sleep, frames[i]))
			break;
	}
	return out->kind != NULL;
}

char *reason__words(const struct reason *r, const char *object, char *buf, size_t size)
{
	const char *w = r->words, *open = strchr(w, '['), *close = open ? strchr(open, ']') : NULL, *hole;

	if (!close) {
		snprintf(buf, size, "%s", w);
		return buf;
	}
	hole = strstr(open, "{}");
	if (!object || !hole || hole > close)
		snprintf(buf, size, "%.*s%s", (int)(open - w), w, close + 1);
	else
		snprintf(buf, size, "%.*s%.*s%s%.*s%s", (int)(open - w), w, (int)(hole - open - 1), open + 1, object,
			 (int)(close - hole - 2), hole + 2, close + 1);
	return buf;
}
