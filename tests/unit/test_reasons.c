// SPDX-License-Identifier: GPL-2.0
#include "support.h"

#include "model/reasons.h"
#include "util/cleanup.h"

/* Stacks as kernels give them, innermost first. lock is "kind mode" or NULL; reason a key or NULL. */
static const struct {
	const char *frames, *lock, *reason;
} stacks[] = {
	{"__schedule+0x282 schedule+0x46 rwsem_down_write_slowpath+0x246 down_write_killable+0x4c vm_mmap_pgoff+0x92",
	 "rwsem write", NULL},
	{"__schedule schedule schedule_preempt_disabled rwsem_down_read_slowpath down_read_killable __access_remote_vm",
	 "rwsem read", NULL},
	{"__schedule schedule rwsem_down_read_failed+0xf8 call_rwsem_down_read_failed+0x14 down_read", "rwsem read", NULL},
	{"__schedule schedule schedule_preempt_disabled __mutex_lock.constprop.0+0x3b pipe_write", "mutex write", NULL},
	{"__schedule schedule schedule_preempt_disabled __mutex_lock_slowpath mutex_lock rtnl_lock", "mutex write", NULL},
	{"__schedule schedule percpu_rwsem_wait __percpu_down_read mnt_want_write", "percpu-rwsem read", NULL},
	{"__schedule schedule percpu_rwsem_wait percpu_down_write freeze_super", "percpu-rwsem write", NULL},
	{"__schedule schedule percpu_down_write+0xc5 freeze_super", "percpu-rwsem write", NULL},
	{"__schedule schedule percpu_rwsem_wait ext4_page_mkwrite", "percpu-rwsem read", NULL},
	{"__schedule schedule schedule_timeout ___down_common __down down console_lock", "semaphore write", NULL},
	/* PREEMPT_RT */
	{"__schedule schedule rt_mutex_slowlock_block.constprop.0 __rt_mutex_slowlock_locked.constprop.0 mutex_lock pipe_write",
	 "mutex write", NULL},
	{"__schedule schedule rt_mutex_slowlock_block.constprop.0 __rwbase_read_lock down_read_killable", "rwsem read", NULL},
	{"__schedule schedule rwbase_write_lock down_write vm_mmap_pgoff", "rwsem write", NULL},
	{"__schedule schedule rt_mutex_slowlock_block rt_mutex_slowlock rwbase_write_lock down_write", "rwsem write", NULL},
	{"__schedule schedule_rtlock rtlock_slowlock_locked rt_spin_lock lru_add_drain", "rt-mutex write", NULL},
	/* a lock's name further out is not what it waits for */
	{"__schedule schedule schedule_timeout pipe_read mutex_lock", NULL, "pipe"},
	/* no locks */
	{"__schedule schedule percpu_rwsem_wait __percpu_down_read __sb_start_write ext4_page_mkwrite do_page_mkwrite "
	 "do_shared_fault handle_mm_fault", "percpu-rwsem read", "frozen-fs"},
	{"__schedule schedule wait_for_vfork_done kernel_clone __do_sys_vfork", NULL, "vfork"},
	{"__schedule schedule schedule_timeout wait_for_completion_killable wait_for_vfork_done kernel_clone", NULL, "vfork"},
	{"__schedule schedule request_wait_answer __fuse_simple_request fuse_lookup_name", NULL, "fuse"},
	{"__schedule schedule io_schedule bit_wait_io __wait_on_bit out_of_line_wait_on_bit __wait_on_buffer "
	 "jbd2_journal_commit_transaction kjournald2", NULL, "buffer-io"},
	{"__schedule schedule jbd2_log_wait_commit ext4_sync_file", NULL, "jbd2"},
	{"__schedule schedule io_schedule folio_wait_bit_common filemap_fault", NULL, "page-lock"},
	{"__schedule schedule schedule_timeout io_schedule_timeout __wait_for_common submit_bio_wait blkdev_issue_flush", NULL,
	 "block-io"},
	{"__schedule schedule schedule_timeout wait_for_completion __flush_work cancel_work_sync", NULL, "workqueue"},
	{"__schedule schedule schedule_timeout wait_for_completion some_driver_ioctl", NULL, "completion"},
	{"__schedule schedule handle_userfault do_anonymous_page handle_mm_fault", NULL, "userfaultfd"},
	{"__schedule schedule vma_start_write_killable+0x1 mprotect_fixup", NULL, "vma-lock"},
	{"__schedule schedule __vma_start_write mprotect_fixup", NULL, "vma-lock"},
	{"__schedule schedule synchronize_rcu_expedited namespace_unlock", NULL, "rcu"},
	{"__schedule schedule nobody_knows_this [strange]", NULL, NULL},
};

static int split(const char *s, const char **frames, char *buf, size_t size)
{
	int n = 0;

	snprintf(buf, size, "%s", s);
	for (char *w = strtok(buf, " "); w && n < 64; w = strtok(NULL, " "))
		frames[n++] = w;
	return n;
}

static void test_stacks(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(stacks); i++) {
		const char *frames[64];
		char buf[1024], got[64] = "-";
		struct reason_lock l;
		const struct reason *r;
		int n = split(stacks[i].frames, frames, buf, sizeof(buf)), at = -1;

		if (reason__lock_of_frames(frames, n, &l))
			snprintf(got, sizeof(got), "%s %s", l.kind, l.mode == LB_READ ? "read" : "write");
		if (strcmp(got, stacks[i].lock ? stacks[i].lock : "-"))
			fail_msg("%s: lock %s", stacks[i].frames, got);
		if (stacks[i].lock && !stacks[i].reason)
			continue;
		r = reason__of_frames(frames, n, &at);
		if (strcmp(r ? r->key : "-", stacks[i].reason ? stacks[i].reason : "-"))
			fail_msg("%s: reason %s", stacks[i].frames, r ? r->key : "none");
		assert_true(!r || (at >= 0 && at < n));
	}
}

static void test_words(void **state)
{
	char buf[256];

	assert_string_equal(reason__words(reason__by_key("frozen-fs"), "/data", buf, sizeof(buf)),
			    "waits for the frozen file system /data");
	assert_string_equal(reason__words(reason__by_key("frozen-fs"), NULL, buf, sizeof(buf)),
			    "waits for the frozen file system");
	assert_string_equal(reason__words(reason__by_key("vfork"), "sh/12", buf, sizeof(buf)),
			    "waits for its vfork child sh/12 to exec or to exit");
	assert_string_equal(reason__words(reason__by_key("vma-lock"), "x", buf, sizeof(buf)),
			    "waits for page faults in a part of its address space to end (x)");
	assert_null(reason__by_key("no such"));
	assert_null(reason__by_key(NULL));
}

static void test_table(void **state)
{
	unsigned int n;
	const struct reason *r = reason__table(&n);

	assert_true(n > 40);
	for (unsigned int i = 0; i < n; i++) {
		assert_ptr_equal(reason__by_key(r[i].key), &r[i]);
		assert_non_null(r[i].words);
		assert_true(!strcmp(r[i].kind, "io") || !strcmp(r[i].kind, "other") || !strcmp(r[i].kind, "lock"));
		/* brackets come in pairs around {} */
		assert_true((strchr(r[i].words, '[') != NULL) == (strstr(r[i].words, "{}") != NULL));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
