// SPDX-License-Identifier: GPL-2.0
#include "support.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "names/usym.h"

/* Two functions of this program, with bodies, that no compiler merges or inlines. */
static volatile int sink;

__attribute__((noinline)) static void local_function(void)
{
	for (int i = 0; i < 3; i++)
		sink += i;
}

__attribute__((noinline)) static void child_waits(void)
{
	for (;;)
		pause();
}

static uint64_t addr_of(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static void names_own_functions(void **state)
{
	struct usyms *us = usyms__new();
	char buf[USYM_BUF];

	local_function();
	assert_string_equal(usyms__name(us, getpid(), addr_of(local_function) + 4, buf, sizeof(buf)),
			    "local_function+0x4");
	assert_null(usyms__why(us, getpid()));
	usyms__free(us);
	usyms__free(NULL);
}

static void names_library_functions(void **state)
{
	struct usyms *us = usyms__new();
	char buf[USYM_BUF];

	usyms__name(us, getpid(), addr_of(qsort) + 4, buf, sizeof(buf));
	assert_string_equal(buf, "qsort+0x4");
	usyms__free(us);
}

/* A mapping of a file without symbols: module and offset in it. */
static void falls_back_to_the_module(void **state)
{
	char *path = temp_file("no ELF file"), want[128], buf[USYM_BUF];
	struct usyms *us = usyms__new();
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *map = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	assert_true(map != MAP_FAILED);
	snprintf(want, sizeof(want), "[%s]+0x123", strrchr(path, '/') + 1);
	assert_string_equal(usyms__name(us, getpid(), addr_of(map) + 0x123, buf, sizeof(buf)), want);
	munmap(map, 4096);
	close(fd);
	usyms__free(us);
	temp_remove(path);
}

static void anonymous_code_has_no_name(void **state)
{
	struct usyms *us = usyms__new();
	char *map = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char want[32], buf[USYM_BUF];

	assert_true(map != MAP_FAILED);
	snprintf(want, sizeof(want), "0x%llx", (unsigned long long)addr_of(map) + 16);
	assert_string_equal(usyms__name(us, getpid(), addr_of(map) + 16, buf, sizeof(buf)), want);
	assert_string_equal(usyms__name(us, getpid(), 0, buf, sizeof(buf)), "0x0");
	assert_string_equal(usyms__name(us, getpid(), UINT64_MAX, buf, sizeof(buf)),
			    "0xffffffffffffffff");
	munmap(map, 4096);
	usyms__free(us);
}

/* A call that never returns, at the end of its function: the address belongs to the caller. */
static void return_addresses_belong_to_the_caller(void **state)
{
	struct usyms *us = usyms__new();
	char buf[USYM_BUF];

	usyms__name(us, getpid(), addr_of(local_function), buf, sizeof(buf));
	assert_int_not_equal(strncmp(buf, "local_function", 14), 0);
	usyms__free(us);
}

static pid_t start_child(void)
{
	pid_t pid = fork();

	if (!pid)
		child_waits();
	assert_true(pid > 0);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void names_a_process_that_has_exited(void **state)
{
	struct usyms *us = usyms__new();
	pid_t pid = start_child();
	char buf[USYM_BUF];

	assert_int_equal(usyms__capture(us, pid), 0);
	end_child(pid);
	assert_string_equal(usyms__name(us, pid, addr_of(child_waits) + 5, buf, sizeof(buf)),
			    "child_waits+0x5");
	usyms__free(us);
}

static void says_when_it_was_too_late(void **state)
{
	struct usyms *us = usyms__new();
	pid_t pid = start_child();
	char want[128], buf[USYM_BUF];

	end_child(pid);
	assert_string_equal(usyms__name(us, pid, 0x1234, buf, sizeof(buf)), "0x1234");
	snprintf(want, sizeof(want), "process %d had exited before its mappings could be read", pid);
	assert_string_equal(usyms__why(us, pid), want);
	assert_int_not_equal(usyms__capture(us, pid), 0);
	assert_null(usyms__why(us, pid + 1)); /* never asked for */
	usyms__free(us);
}

static void forgets(void **state)
{
	struct usyms *us = usyms__new();
	pid_t pid = start_child();
	char buf[USYM_BUF];

	assert_int_equal(usyms__capture(us, pid), 0);
	end_child(pid);
	usyms__forget(us, pid);
	usyms__forget(us, pid);
	usyms__name(us, pid, addr_of(child_waits) + 5, buf, sizeof(buf));
	assert_int_equal(strncmp(buf, "0x", 2), 0);
	usyms__free(us);
}

/* More processes than are remembered. */
static void stays_bounded(void **state)
{
	struct usyms *us = usyms__new();
	char buf[USYM_BUF];

	for (pid_t pid = 5000000; pid < 5001000; pid++)
		usyms__name(us, pid, 0x1000, buf, sizeof(buf));
	assert_null(usyms__why(us, 5000000));
	assert_non_null(usyms__why(us, 5000999));
	assert_string_equal(usyms__name(us, getpid(), addr_of(local_function) + 4, buf, sizeof(buf)),
			    "local_function+0x4");
	usyms__free(us);
}

static void short_buffers_are_cut(void **state)
{
	struct usyms *us = usyms__new();
	char buf[8];

	assert_string_equal(usyms__name(us, getpid(), addr_of(local_function) + 4, buf, sizeof(buf)),
			    "local_f");
	usyms__free(us);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_own_functions),
		cmocka_unit_test(names_library_functions),
		cmocka_unit_test(falls_back_to_the_module),
		cmocka_unit_test(anonymous_code_has_no_name),
		cmocka_unit_test(return_addresses_belong_to_the_caller),
		cmocka_unit_test(names_a_process_that_has_exited),
		cmocka_unit_test(says_when_it_was_too_late),
		cmocka_unit_test(forgets),
		cmocka_unit_test(stays_bounded),
		cmocka_unit_test(short_buffers_are_cut),
	};

	return cmocka_run_group_tests_name("usym", tests, NULL, NULL);
}
