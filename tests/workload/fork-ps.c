// SPDX-License-Identifier: GPL-2.0
/* A process with --mib of touched memory forks --forks times (each fork holds its mmap_lock for write
 * while the page tables are copied), while a thread of it maps and unmaps, and another process called
 * "ps" reads its /proc/PID/cmdline. Prints one JSON line. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workload.h"

static atomic_bool stop;
static long maps;

static void *map_loop(void *arg)
{
	while (!stop) {
		void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		munmap(p, 4096);
		maps++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct option opts[] = {
		{"mib", 1, NULL, 'm'}, {"forks", 1, NULL, 'f'}, {"help", 0, NULL, 'h'}, {NULL, 0, NULL, 0}};
	long mib = 64, forks = 20;
	pthread_t t;
	pid_t reader;
	char *p;
	int c;

	while ((c = getopt_long(argc, argv, "m:f:h", opts, NULL)) != -1) {
		if (c == 'm')
			mib = number(optarg);
		else if (c == 'f')
			forks = number(optarg);
		else
			return fprintf(c == 'h' ? stdout : stderr, "usage: fork-ps [--mib N] [--forks N]\n"), c == 'h' ? 0 : 2;
	}
	p = mmap(NULL, (size_t)mib << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return perror("fork-ps"), 1;
	madvise(p, (size_t)mib << 20, MADV_NOHUGEPAGE);
	memset(p, 1, (size_t)mib << 20);
	reader = fork();
	if (!reader)
		read_cmdline_of(getppid(), "ps");
	pthread_create(&t, NULL, map_loop, NULL);
	for (long i = 0; i < forks; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	stop = true;
	pthread_join(t, NULL);
	kill(reader, SIGKILL);
	waitpid(reader, NULL, 0);
	printf("{\"workload\":\"fork-ps\",\"pid\":%d,\"forks\":%ld,\"maps\":%ld}\n", getpid(), forks, maps);
	return 0;
}
