// SPDX-License-Identifier: GPL-2.0
/* --procs processes, each starting --execs short programs one after another (itself, with --child):
 * their maps and exits contend for the i_mmap lock of the program's file. Prints one JSON line. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workload.h"

static void storm(const char *self, long execs)
{
	for (long i = 0; i < execs; i++) {
		pid_t pid = fork();

		if (!pid) {
			execl(self, "exec-storm", "--child", NULL);
			_exit(127);
		}
		waitpid(pid, NULL, 0);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	static const struct option opts[] = {
		{"procs", 1, NULL, 'p'}, {"execs", 1, NULL, 'e'}, {"child", 0, NULL, 'c'},
		{"help", 0, NULL, 'h'}, {NULL, 0, NULL, 0}};
	long procs = 4, execs = 50;
	int c;

	while ((c = getopt_long(argc, argv, "p:e:ch", opts, NULL)) != -1) {
		if (c == 'c')
			return 0;
		if (c == 'p')
			procs = number(optarg);
		else if (c == 'e')
			execs = number(optarg);
		else
			return fprintf(c == 'h' ? stdout : stderr, "usage: exec-storm [--procs N] [--execs N]\n"), c == 'h' ? 0 : 2;
	}
	for (long i = 0; i < procs; i++)
		if (!fork())
			storm("/proc/self/exe", execs);
	while (wait(NULL) > 0)
		;
	printf("{\"workload\":\"exec-storm\",\"pid\":%d,\"execs\":%ld}\n", getpid(), procs * execs);
	return 0;
}
