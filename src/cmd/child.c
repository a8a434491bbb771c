// SPDX-License-Identifier: GPL-2.0
#include "cmd/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/cleanup.h"

/* Whether execvp would find it: so that a typing error is told before anything is attached. */
static int find(const char *name)
{
	const char *path = getenv("PATH");
	char buf[4096];

	if (strchr(name, '/'))
		return access(name, X_OK) ? -errno : 0;
	for (path = path ? path : "/usr/bin:/bin"; *path;) {
		size_t len = strcspn(path, ":");

		snprintf(buf, sizeof(buf), "%.*s/%s", (int)len, path, name);
		if (!access(buf, X_OK))
			return 0;
		path += len + (path[len] == ':');
	}
	return -ENOENT;
}

static void run(char **argv, int go)
{
	sigset_t none;
	char c;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	/* End of file without a byte: lockblame gave up before it began. */
	if (read(go, &c, 1) != 1)
		_exit(127);
	execvp(argv[0], argv);
	fprintf(stderr, "lockblame: cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

int child__start(char **argv, int *pid, int *go_fd, struct err *e)
{
	int p[2], r = find(argv[0]);

	*pid = 0;
	if (r)
		return err_errno(e, r, "cannot run %s", argv[0]);
	if (pipe2(p, O_CLOEXEC))
		return err_errno(e, -errno, "cannot make a pipe");
	*pid = fork();
	if (*pid < 0) {
		r = -errno;
		*pid = 0;
		close(p[0]);
		close(p[1]);
		return err_errno(e, r, "cannot fork");
	}
	if (!*pid) {
		close(p[1]);
		run(argv, p[0]);
	}
	close(p[0]);
	*go_fd = p[1];
	return 0;
}

void child__go(int *go_fd)
{
	if (write(*go_fd, "g", 1) != 1)
		return; /* it died already; reaping it tells */
	close(*go_fd);
	*go_fd = -1;
}

bool child__reap(int *pid, int *status)
{
	int st;

	if (waitpid(*pid, &st, WNOHANG) != *pid)
		return false;
	*status = WIFSIGNALED(st) ? 128 + WTERMSIG(st) : WEXITSTATUS(st);
	*pid = 0;
	return true;
}

void child__end(int pid)
{
	if (!pid)
		return;
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}
