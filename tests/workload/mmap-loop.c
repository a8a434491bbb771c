// SPDX-License-Identifier: GPL-2.0
/* Threads of one process map, touch and unmap: contention on its mmap_lock, for read and write.
 * With --readers N, N other processes (called "cmdline-reader") read /proc/PID/cmdline of it all the
 * time: waiters for the mmap_lock of another process. Ends after --seconds, or after --ops rounds a
 * thread. Prints one JSON line: what was done, and how long the threads spent in system calls and
 * faults (an upper bound of what they can have waited). */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workload.h"

#define LENGTH (64 * 1024)

static atomic_bool stop;
static long max_ops;

struct worker {
	pthread_t thread;
	long ops;
	uint64_t inside_ns;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	while (!stop && (!max_ops || w->ops < max_ops)) {
		uint64_t t = now_ns();
		char *p = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			break;
		p[0] = 1;
		p[LENGTH / 2] = 1;
		munmap(p, LENGTH);
		w->inside_ns += now_ns() - t;
		w->ops++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct option opts[] = {
		{"threads", 1, NULL, 't'}, {"seconds", 1, NULL, 's'}, {"ops", 1, NULL, 'o'},
		{"readers", 1, NULL, 'r'}, {"help", 0, NULL, 'h'},    {NULL, 0, NULL, 0}};
	long threads = 4, seconds = 2, readers = 0, ops = 0;
	struct worker w[64] = {0};
	pid_t child[16];
	uint64_t start, inside = 0;
	int c;

	while ((c = getopt_long(argc, argv, "t:s:o:r:h", opts, NULL)) != -1) {
		if (c == 't')
			threads = number(optarg);
		else if (c == 's')
			seconds = number(optarg);
		else if (c == 'o')
			max_ops = number(optarg);
		else if (c == 'r')
			readers = number(optarg);
		else
			return fprintf(c == 'h' ? stdout : stderr, "usage: mmap-loop [--threads N] "
				       "[--seconds S | --ops N] [--readers N]\n"), c == 'h' ? 0 : 2;
	}
	if (threads < 1 || threads > 64 || readers > 16)
		return 2;
	for (long i = 0; i < readers; i++) {
		child[i] = fork();
		if (!child[i])
			read_cmdline_of(getppid(), "cmdline-reader");
	}
	start = now_ns();
	for (long i = 0; i < threads; i++)
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	if (!max_ops) {
		sleep((unsigned int)seconds);
		stop = true;
	}
	for (long i = 0; i < threads; i++) {
		pthread_join(w[i].thread, NULL);
		ops += w[i].ops;
		inside += w[i].inside_ns;
	}
	start = now_ns() - start;
	for (long i = 0; i < readers; i++) {
		kill(child[i], SIGKILL);
		waitpid(child[i], NULL, 0);
	}
	printf("{\"workload\":\"mmap-loop\",\"pid\":%d,\"threads\":%ld,\"ops\":%ld,\"ops_per_s\":%.0f,"
	       "\"inside_ns\":%llu}\n",
	       getpid(), threads, ops, (double)ops * 1e9 / (double)start, (unsigned long long)inside);
	return 0;
}
