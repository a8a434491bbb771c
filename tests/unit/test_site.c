// SPDX-License-Identifier: GPL-2.0
#include "support.h"

#include "names/site.h"
#include "util/cleanup.h"

/* Stacks as the kernels give them, innermost first, one blank between frames, and the site in them.
 * hook says who took the stack. */
static const struct {
	const char *kernel, *hook, *frames, *site;
} stacks[] = {
	/* 4.x: slow paths had other names, and an assembler stub before them */
	{"4.9", "hung task",
	 "__schedule+0x23c schedule+0x36 rwsem_down_read_failed+0xf8 call_rwsem_down_read_failed+0x14 "
	 "down_read+0x20 proc_pid_cmdline_read+0xa4 __vfs_read+0x37 vfs_read+0x89",
	 "proc_pid_cmdline_read"},
	{"4.19", "hung task",
	 "__schedule schedule __rt_mutex_slowlock rt_mutex_slowlock.constprop.14 i2c_transfer "
	 "i2c_transfer_buffer_flags",
	 "i2c_transfer"},
	/* 5.10: kprobe and kretprobe, fentry and fexit on the slow path */
	{"5.10", "kprobe rwsem_down_write_slowpath",
	 "rwsem_down_write_slowpath+0x1 down_write_killable+0x4c vm_mmap_pgoff+0x92 do_syscall_64+0x33 "
	 "entry_SYSCALL_64_after_hwframe+0x61",
	 "vm_mmap_pgoff"},
	{"5.10", "kretprobe rwsem_down_write_slowpath",
	 "kretprobe_trampoline+0x0 down_write_killable+0x4c __vm_munmap+0x5d __x64_sys_munmap+0x28 "
	 "do_syscall_64+0x33",
	 "__vm_munmap"},
	{"5.10", "fentry rwsem_down_read_slowpath",
	 "bpf_prog_6deef7357e7b4530_read_enter+0x53 bpf_prog_6deef7357e7b4530_read_enter+0x53 "
	 "bpf_trampoline_6442471337_0+0x47 rwsem_down_read_slowpath+0x5 exc_page_fault+0x2b1 "
	 "asm_exc_page_fault+0x1e",
	 "exc_page_fault"},
	{"5.10", "fexit, trampoline not listed",
	 "bpf_prog_6deef7357e7b4530_write_exit+0x53 0xffffffffc0364071 down_write+0x3d "
	 "unlink_file_vma+0x2d free_pgtables+0x94 exit_mmap+0xd6",
	 "unlink_file_vma"},
	{"5.10", "kprobe __mutex_lock.isra.0",
	 "__mutex_lock.isra.0+0x1 pipe_write+0x46 new_sync_write+0x11c vfs_write+0x1c0", "pipe_write"},
	/* 6.1: tp_btf on contention_begin, contention_end */
	{"6.1", "tp_btf contention_begin",
	 "bpf_prog_d8a1f4a0e1b3c5d7_begin+0x1a3 bpf_trace_run2+0x4f __bpf_trace_contention_begin+0x8 "
	 "__traceiter_contention_begin+0x3f rwsem_down_write_slowpath+0x2f9 down_write_killable+0x60 "
	 "mmap_write_lock_killable+0x9 vm_mmap_pgoff+0xc4",
	 "vm_mmap_pgoff"},
	{"6.1", "tp_btf contention_end",
	 "__traceiter_contention_end __mutex_lock.constprop.0 mutex_lock pipe_read vfs_read", "pipe_read"},
	{"6.1", "tp_btf contention_begin, percpu-rwsem",
	 "__traceiter_contention_begin percpu_rwsem_wait __percpu_down_read mnt_want_write "
	 "open_last_lookups path_openat",
	 "mnt_want_write"},
	{"6.1", "tp_btf contention_begin, rename",
	 "rwsem_down_write_slowpath down_write lock_rename do_renameat2 __x64_sys_rename",
	 "do_renameat2"},
	{"6.1", "tp_btf contention_begin, i_rwsem",
	 "rwsem_down_write_slowpath down_write ext4_buffered_write_iter ext4_file_write_iter vfs_write",
	 "ext4_buffered_write_iter"},
	/* 6.12, 6.18 */
	{"6.12", "tp_btf contention_begin, page fault",
	 "__traceiter_contention_begin rwsem_down_read_slowpath down_read_killable "
	 "lock_mm_and_find_vma do_user_addr_fault exc_page_fault asm_exc_page_fault",
	 "do_user_addr_fault"},
	{"6.12", "VMA lock",
	 "__schedule schedule rwsem_down_write_slowpath down_write __vma_start_write vma_expand "
	 "mmap_region do_mmap",
	 "vma_expand"},
	{"6.18", "tp_btf contention_begin",
	 "__traceiter_contention_begin+0x3f rwsem_down_write_slowpath+0x2a0 down_write+0x55 "
	 "vma_link_file+0x29 mmap_region",
	 "vma_link_file"},
	{"6.18", "VMA lock by refcount",
	 "__schedule schedule __vma_enter_locked __vma_start_write mprotect_fixup do_mprotect_pkey",
	 "mprotect_fixup"},
	{"6.18", "semaphore",
	 "__schedule schedule schedule_timeout ___down_common __down down down_console_sem "
	 "console_lock con_write",
	 "con_write"},
	{"6.18", "spinlock",
	 "native_queued_spin_lock_slowpath _raw_spin_lock_irqsave folio_lruvec_lock_irqsave "
	 "folio_batch_move_lru folio_add_lru",
	 "folio_batch_move_lru"},
	{"6.18", "paravirtual spinlock",
	 "kvm_wait __pv_queued_spin_lock_slowpath __raw_callee_save___pv_queued_spin_lock_slowpath "
	 "_raw_spin_lock futex_wake do_futex",
	 "futex_wake"},
	{"6.18", "rwlock", "queued_write_lock_slowpath _raw_write_lock_irq release_task do_exit",
	 "release_task"},
	{"6.18", "super_lock",
	 "rwsem_down_write_slowpath down_write super_lock grab_super_dead sget_fc", "grab_super_dead"},
	{"6.18", "rtnl",
	 "schedule_preempt_disabled __mutex_lock.constprop.0 rtnl_lock rtnetlink_rcv_msg netlink_rcv_skb",
	 "rtnetlink_rcv_msg"},
	/* 7.2 */
	{"7.2", "tp_btf contended_release",
	 "bpf_prog_0123456789abcdef_release bpf_trace_run1 __bpf_trace_contended_release "
	 "__traceiter_contended_release downgrade_write vms_complete_munmap_vmas do_vmi_align_munmap",
	 "vms_complete_munmap_vmas"},
	{"7.2", "tp_btf contended_release, reader", "__traceiter_contended_release up_read vm_mmap_pgoff",
	 "vm_mmap_pgoff"},
	{"7.2", "VMA lock", "__schedule schedule __vma_start_exclude_readers vma_mark_detached "
			    "vms_complete_munmap_vmas",
	 "vms_complete_munmap_vmas"},
	/* PREEMPT_RT */
	{"6.12-rt", "tp_btf contention_begin, rwsem write",
	 "__traceiter_contention_begin rt_mutex_slowlock_block.constprop.0 rwbase_rtmutex_slowlock_locked "
	 "rwbase_write_lock down_write_killable vm_mmap_pgoff",
	 "vm_mmap_pgoff"},
	{"6.12-rt", "tp_btf contention_begin, rwsem read",
	 "__rwbase_read_lock down_read_killable proc_pid_cmdline_read vfs_read", "proc_pid_cmdline_read"},
	{"6.12-rt", "mutex",
	 "rt_mutex_schedule rt_mutex_slowlock_block.constprop.0 "
	 "__rt_mutex_slowlock_locked.constprop.0.isra.0 rt_mutex_slowlock.constprop.0 mutex_lock "
	 "pipe_write vfs_write",
	 "pipe_write"},
	{"6.12-rt", "sleeping spinlock",
	 "schedule_rtlock rtlock_slowlock_locked rt_spin_lock unix_stream_sendmsg sock_write_iter",
	 "unix_stream_sendmsg"},
	/* code of modules without symbols is a site, even if all we know is where it is */
	{"any", "module without symbols",
	 "rwsem_down_read_slowpath down_read 0xffffffffc0a01234 0xffffffffc0a05678 vfs_read",
	 "0xffffffffc0a01234"},
	{"any", "nothing known", "0xffffffff81000010 0xffffffff81000020 0xffffffff81000030",
	 "0xffffffff81000010"},
	{"any", "no lock in it", "folio_wait_bit_common filemap_fault __do_fault",
	 "folio_wait_bit_common"},
};

static void finds_the_site(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(stacks); i++) {
		char *text = strdup(stacks[i].frames), *save = NULL, base[128];
		const char *frames[32];
		int n = 0, at;

		for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
			frames[n++] = w;
		at = site__of(frames, n);
		if (at < 0 || strcmp(site__base(frames[at], base, sizeof(base)), stacks[i].site))
			fail_msg("%s, %s: %s instead of %s", stacks[i].kernel, stacks[i].hook,
				 at < 0 ? "nothing" : frames[at], stacks[i].site);
		free(text);
	}
}

static void only_locking_code_has_no_site(void **state)
{
	const char *frames[] = {"__traceiter_contention_begin", "rwsem_down_read_slowpath", "down_read"};
	const char *holes[] = {NULL, "down_read", "vfs_read"};

	assert_int_equal(site__of(frames, 3), -1);
	assert_int_equal(site__of(frames, 0), -1);
	assert_int_equal(site__of(NULL, 0), -1);
	assert_int_equal(site__of(holes, 3), 2);
}

static void tells_locking_code(void **state)
{
	static const char *const yes[] = {
		"down_read", "down_write_killable", "_down_write_nest_lock", "__down_interruptible", "up",
		"__up.isra.0", "rwsem_wake.isra.0", "rwsem_down_read_failed_killable", "mutex_lock_io",
		"__mutex_lock.constprop.0", "__mutex_unlock_slowpath.isra.0", "__ww_mutex_lock.constprop.0",
		"osq_lock", "mmap_read_lock_killable", "__mmap_lock_do_trace_released", "get_mmap_lock_carefully",
		"i_mmap_lock_write", "inode_lock_shared", "lock_two_nondirectories", "percpu_down_write",
		"rt_spin_lock", "queued_read_lock_slowpath", "__raw_spin_lock.llvm.123456", "io_schedule",
		"schedule_timeout_uninterruptible", "down_read+0x1a", "down_read [ext4]", "xfs_ilock",
		"bpf_trampoline_6442471337", "bpf_prog_6deef7357e7b4530", "arch_rethook_trampoline",
	};
	/* real functions that only look like it */
	static const char *const no[] = {
		"schedule_on_each_cpu", "schedule_tail", "schedule_delayed_work", "download_firmware",
		"update_curr", "upgrade_thing", "bpf_prog_load", "bpf_prog_add_free", "bpf_trampoline_link_prog",
		"ftrace_set_filter", "perf_tp_event_init", "rt_cache_flush", "raw_sendmsg", "rtnl_newlink",
		"tty_ldisc_hangup", "lock_mount", "percpu_ref_kill_and_confirm", "vm_mmap_pgoff", "do_user_addr_fault",
		"mmap_region", "exit_mmap", "inode_init_once", "super_setup_bdi", "downstream_handler",
		"0xffffffff81000000", "", "_", "__", ".L123",
	};

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		if (!site__is_lock_code(yes[i]))
			fail_msg("%s is locking code", yes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (site__is_lock_code(no[i]))
			fail_msg("%s is no locking code", no[i]);
	assert_false(site__is_lock_code(NULL));
}

static void strips_names(void **state)
{
	static const char *const pairs[][2] = {
		{"vm_mmap_pgoff+0xc4", "vm_mmap_pgoff"},
		{"rwsem_wake.isra.0+0x10", "rwsem_wake"},
		{"foo.constprop.0.isra.0.cold", "foo"},
		{"foo.part.0", "foo"},
		{"foo.llvm.9132187", "foo"},
		{"ext4_sync_file+0x1 [ext4]", "ext4_sync_file"},
		{"0xffffffff81000010", "0xffffffff81000010"},
		{"plain", "plain"},
		{"", ""},
	};
	char buf[64];

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		assert_string_equal(site__base(pairs[i][0], buf, sizeof(buf)), pairs[i][1]);
	assert_string_equal(site__base("a_long_name", buf, 6), "a_lon");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_site),
		cmocka_unit_test(only_locking_code_has_no_site),
		cmocka_unit_test(tells_locking_code),
		cmocka_unit_test(strips_names),
	};

	return cmocka_run_group_tests_name("site", tests, NULL, NULL);
}
