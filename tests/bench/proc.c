// SPDX-License-Identifier: GPL-2.0
#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

int proc__start(struct proc *p, const char *const *argv)
{
	int fds[2], r;

	memset(p, 0, sizeof(*p));
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	p->start_ns = now_ns();
	p->pid = fork();
	if (p->pid < 0) {
		r = -errno;
		close(fds[0]);
		close(fds[1]);
		return r;
	}
	if (!p->pid) {
		char *args[32] = {NULL};

		/* execv wants pointers that it does not write through. */
		for (size_t i = 0; i < 31 && argv[i]; i++)
			args[i] = strdup(argv[i]);
		dup2(fds[1], STDOUT_FILENO);
		execv(args[0], args);
		_exit(127);
	}
	close(fds[1]);
	p->out_fd = fds[0];
	return 0;
}

int proc__wait(struct proc *p)
{
	struct rusage ru;
	ssize_t n;
	int st;

	do {
		n = read(p->out_fd, p->out + p->len, PROC_OUT - 1 - p->len);
		if (n > 0)
			p->len += (size_t)n;
		if (p->len == PROC_OUT - 1) /* the end is what counts: keep it */
			p->len = PROC_OUT / 2, memmove(p->out, p->out + PROC_OUT / 2 - 1, p->len);
	} while (n > 0 || (n < 0 && errno == EINTR));
	close(p->out_fd);
	p->out[p->len] = '\0';
	if (wait4(p->pid, &st, 0, &ru) != p->pid)
		return -errno;
	p->max_rss_kb = ru.ru_maxrss;
	return WIFEXITED(st) && !WEXITSTATUS(st) ? 0 : -EIO;
}

int proc__run(struct proc *p, const char *const *argv)
{
	int r = proc__start(p, argv);

	if (!r)
		r = proc__wait(p);
	if (r)
		fprintf(stderr, "bench: %s: %s\n", argv[0], strerror(-r));
	return r;
}

int64_t proc__cpu_ns(pid_t pid)
{
	char path[64];
	long long ns;
	FILE *f;
	int n;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	n = fscanf(f, "%lld", &ns);
	fclose(f);
	return n == 1 ? ns : -EIO;
}

double proc__number(const struct proc *p, const char *key)
{
	char quoted[64];
	const char *at = p->out, *last = NULL;

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	while ((at = strstr(at, quoted)))
		last = at += strlen(quoted);
	return last ? strtod(last, NULL) : -1;
}
