// SPDX-License-Identifier: GPL-2.0
/* Kernel logs: warnings found under any prefix, and what is concluded from them. The logs are made up. */
#include "support.h"

#include <string.h>

#include "klog/explain.h"
#include "klog/log.h"

#define TRACE                                                                                      \
	"task:writer          state:D stack:0     pid:812   tgid:812   ppid:1      flags:0x00004002\n" \
	"Call Trace:\n"                                                                            \
	" <TASK>\n"                                                                                \
	" __schedule+0x3ef/0xa30\n"                                                                \
	" schedule+0x5d/0xe0\n"                                                                    \
	" schedule_preempt_disabled+0x14/0x30\n"                                                   \
	" ? stale_function+0x1/0x20\n"                                                             \
	" __mutex_lock.constprop.0+0x3b4/0x700\n"                                                  \
	" pipe_write+0x41/0x590\n"                                                                 \
	" vfs_write+0x385/0x420\n"                                                                 \
	" </TASK>\n"
#define HEADER "INFO: task writer:812 blocked for more than 120 seconds.\n"

static struct klog *read_log(const char *text)
{
	struct klog *k = klog__new();
	struct err e = {0};

	assert_non_null(k);
	assert_int_equal(klog__read_mem(k, text, strlen(text), &e), 0);
	return k;
}

/* The same log with something in front of each line. */
static struct klog *read_prefixed(const char *prefix, const char *text)
{
	static char buf[8192];
	size_t n = 0;

	while (*text) {
		size_t len = strcspn(text, "\n");

		n += (size_t)snprintf(buf + n, sizeof(buf) - n, "%s%.*s\n", prefix, (int)len, text);
		text += len + 1;
	}
	return read_log(buf);
}

static void warnings_are_found_behind_any_prefix(void **state)
{
	static const char *const prefixes[] = {
		"", "[ 1234.567890] ", "<3>[ 1234.567890] ", "[ 1234.567890][  T812] ",
		"[Mon Dec  7 10:00:00 2026] ", "Dec  7 10:00:00 host kernel: ",
		"<6>[\xc2\xa0 1234.567890] ", "2026-12-07T10:00:00+0000 host kernel: ", "Dec  7 10:00:00 host kernel: [ 1234.567890] ",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		struct klog *k = read_prefixed(prefixes[i], HEADER TRACE);
		struct klog_task *t = klog__find(k, 0, 812);

		assert_non_null(t);
		assert_int_equal(klog__n_tasks(k), 1);
		assert_true(t->from & KLOG_HUNG);
		assert_string_equal(t->comm, "writer");
		assert_int_equal(t->seconds[0], 120);
		assert_int_equal(t->state, 'D');
		assert_int_equal(t->n_sure, 6);
		klog__free(k);
	}
}

static void the_stack_tells_the_wait(void **state)
{
	struct klog *k = read_log(HEADER TRACE);
	struct chain *c = klog_explain(k, 0);
	struct chain_task *t = chain__find(c, 812);

	assert_string_equal(t->wait.kind, "mutex");
	assert_string_equal(t->site, "pipe_write");
	assert_true(t->hung);
	assert_int_equal(t->blocked_ns, 120000000000ULL);
	/* nobody is made up */
	assert_null(t->holder.task);
	assert_non_null(strstr(t->holder.basis, "not in this log"));
	chain__free(c);
	klog__free(k);
}

static void the_kernels_own_line_is_likely(void **state)
{
	struct klog *k = read_log(HEADER TRACE
				  "INFO: task writer:812 is blocked on a mutex likely owned by task keeper:811.\n");
	struct chain *c = klog_explain(k, 0);
	struct chain_task *t = chain__find(c, 812);
	const struct chain_hang *h;
	size_t n;

	assert_non_null(t->holder.task);
	assert_int_equal(t->holder.task->tid, 811);
	assert_string_equal(t->holder.task->comm, "keeper");
	assert_int_equal(t->holder.certainty, LB_LIKELY);
	h = chain__hangs(c, &n);
	assert_int_equal(n, 1);
	assert_int_equal(h[0].root->tid, 811);
	assert_int_equal(h[0].waiting, 1);
	chain__free(c);
	klog__free(k);
}

static void lockdep_joins_by_address(void **state)
{
	struct klog *k = read_log(HEADER TRACE "Showing all locks held in the system:\n"
					       "1 lock held by keeper/811:\n"
					       " #0: ffff888100112233 (&pipe->mutex){+.+.}-{4:4}, at: pipe_read+0x4a/0x4d0\n"
					       "2 locks held by writer/812:\n"
					       " #0: ffff888100445566 (sb_writers#3){.+.+}-{0:0}, at: vfs_write+0xf0/0x420\n"
					       " #1: ffff888100112233 (&pipe->mutex){+.+.}-{4:4}, at: pipe_write+0x41/0x590\n"
					       "=============================================\n");
	struct chain *c = klog_explain(k, 0);
	struct chain_task *t = chain__find(c, 812);

	assert_string_equal(t->wait.identity, "&pipe->mutex");
	assert_non_null(t->holder.task);
	assert_int_equal(t->holder.task->tid, 811);
	/* it is the last entry of a task without a stack: it might only want it */
	assert_int_equal(t->holder.certainty, LB_LIKELY);
	chain__free(c);
	klog__free(k);
}

static void a_lock_that_is_not_the_last_is_held(void **state)
{
	struct klog *k = read_log(HEADER TRACE "Showing all locks held in the system:\n"
					       "2 locks held by keeper/811:\n"
					       " #0: ffff888100112233 (&pipe->mutex){+.+.}-{4:4}, at: pipe_read+0x4a/0x4d0\n"
					       " #1: ffff888100778899 (&other->mutex){+.+.}-{4:4}, at: pipe_read+0x90/0x4d0\n"
					       "1 lock held by writer/812:\n"
					       " #0: ffff888100112233 (&pipe->mutex){+.+.}-{4:4}, at: pipe_write+0x41/0x590\n");
	struct chain *c = klog_explain(k, 0);
	struct chain_task *t = chain__find(c, 812);

	assert_non_null(t->holder.task);
	assert_int_equal(t->holder.task->tid, 811);
	assert_int_equal(t->holder.certainty, LB_EXACT);
	chain__free(c);
	klog__free(k);
}

static void repeated_warnings_are_one_task(void **state)
{
	struct klog *k = read_log("INFO: task writer:812 blocked for more than 120 seconds.\n" TRACE
				  "INFO: task writer:812 blocked for more than 241 seconds.\n" TRACE);
	struct chain *c = klog_explain(k, 0);

	assert_int_equal(klog__n_tasks(k), 1);
	assert_int_equal(klog__find(k, 0, 812)->warnings, 2);
	assert_int_equal(chain__find(c, 812)->blocked_ns, 241000000000ULL);
	chain__free(c);
	klog__free(k);
}

static void rubbish_is_no_hang(void **state)
{
	static const char bytes[] = "\xff\xfe\0\x01INFO: task\nINFO: task :: blocked for more than\n\n]]][[[ \x1b[31m";
	struct klog *k = klog__new();
	struct err e = {0};

	assert_int_equal(klog__read_mem(k, bytes, sizeof(bytes), &e), 0);
	for (size_t i = 0; i < klog__n_tasks(k); i++)
		assert_int_equal(klog__at(k, i)->pid, 0);
	klog__free(k);
	k = read_log("");
	assert_int_equal(klog__n_tasks(k), 0);
	klog__free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(warnings_are_found_behind_any_prefix),
		cmocka_unit_test(the_stack_tells_the_wait),
		cmocka_unit_test(the_kernels_own_line_is_likely),
		cmocka_unit_test(lockdep_joins_by_address),
		cmocka_unit_test(a_lock_that_is_not_the_last_is_held),
		cmocka_unit_test(repeated_warnings_are_one_task),
		cmocka_unit_test(rubbish_is_no_hang),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
