// SPDX-License-Identifier: GPL-2.0
/* Holds one lock for a time of its choosing while a known number of tasks queue for it, so that the
 * number of waits and their least duration are known beforehand:
 *   pipe   a mutex: one task writes to a pipe, the others want to write to it
 *   inode  an rwsem for write: one task writes to a file, the others want to
 *   dir    an rwsem for read: one task lists a directory, the others want to make a file in it
 *   kill   as dir, but the waiters list it too (behind one that makes a file) and are killed
 * With --use DIR it works in that directory instead of one of its own, so that two runs meet one lock; with
 * --after FILE it begins when FILE exists.
 * Prints one JSON line at the end. Exit status 77: this kernel lacks what is needed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/hold.h"
#include "workload.h"

#define MAX_WAITERS 64

static int fd; /* pipe or file */
static _Atomic uint64_t waited_ns; /* by the waiters' own clocks, around the call that waits */
static const char *where = "/tmp", *used;
static char dir[256], file[300];

/* A file is opened by each for itself: else they would queue for the mutex of its position. */
static long write_page(void *arg, char *page)
{
	int f = *file ? open(file, O_WRONLY) : fd;
	char c = 'x';
	uint64_t t = now_ns();
	long r = write(f, page ? page : &c, 1);

	if (!page)
		waited_ns += now_ns() - t;
	if (f != fd)
		close(f);
	return r;
}

static long list_dir(void *arg, char *page)
{
	char buf[4096];
	int d = open(dir, O_RDONLY | O_DIRECTORY);
	long r = syscall(SYS_getdents64, d, page ? page : buf, 4096);

	close(d);
	return r;
}

static long make_file(void *arg, char *page)
{
	char path[400];
	uint64_t t;
	int f;

	snprintf(path, sizeof(path), "%s/new.%ld", dir, (long)syscall(SYS_gettid));
	t = now_ns();
	f = open(path, O_CREAT | O_WRONLY, 0600);
	waited_ns += now_ns() - t;
	close(f);
	return f;
}

static int set_up(const char *what)
{
	int p[2];

	if (used)
		snprintf(dir, sizeof(dir), "%s", used);
	else
		snprintf(dir, sizeof(dir), "%s/hold-lock.%d", where, getpid());
	if (!used && mkdir(dir, 0700))
		return -errno;
	if (!strcmp(what, "pipe")) {
		if (pipe(p))
			return -errno;
		fd = p[1];
		return 0;
	}
	snprintf(file, sizeof(file), "%s/held", dir);
	fd = open(file, O_CREAT | O_WRONLY, 0600);
	return fd < 0 ? -errno : 0;
}

static void clean_up(const struct waiter *w, long n)
{
	char path[400];

	for (long i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/new.%d", dir, w[i].tid);
		unlink(path);
	}
	unlink(file);
	if (!used)
		rmdir(dir);
}

/* Waiters that are to be killed have to be processes. 0: it did not have to wait (in 5.10 readers pass a
 * queued writer). */
static pid_t killable(void)
{
	pid_t pid = fork();
	char path[64], line[512], *state;
	FILE *f;

	if (!pid) {
		list_dir(NULL, NULL);
		_exit(0);
	}
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (int i = 0; i < 20000; i++) {
		f = fopen(path, "re");
		if (!f || !fgets(line, sizeof(line), f))
			break;
		fclose(f);
		state = strrchr(line, ')');
		if (state && state[2] == 'D')
			return pid;
		if (state && state[2] == 'Z')
			break;
		usleep(500);
	}
	waitpid(pid, NULL, 0);
	return 0;
}

static int usage(int rc)
{
	fprintf(rc ? stderr : stdout, "usage: hold-lock [--waiters N] [--hold-ms MS] [--dir DIR | --use DIR] "
				      "[--after FILE] pipe|inode|dir|kill\n");
	return rc;
}

int main(int argc, char **argv)
{
	static const struct option opts[] = {
		{"waiters", 1, NULL, 'n'}, {"hold-ms", 1, NULL, 'm'}, {"dir", 1, NULL, 'd'}, {"use", 1, NULL, 'u'},
		{"after", 1, NULL, 'a'},   {"help", 0, NULL, 'h'},    {NULL, 0, NULL, 0}};
	const char *after = NULL;
	long waiters = 3, ms = 100;
	struct waiter w[MAX_WAITERS];
	pid_t killed[MAX_WAITERS];
	struct hold h = {0};
	const char *what;
	bool kills, none = false;
	uint64_t begin, held;
	int c, r;

	while ((c = getopt_long(argc, argv, "n:m:d:u:a:h", opts, NULL)) != -1) {
		if (c == 'n')
			waiters = number(optarg);
		else if (c == 'm')
			ms = number(optarg);
		else if (c == 'd')
			where = optarg;
		else if (c == 'u')
			used = optarg;
		else if (c == 'a')
			after = optarg;
		else
			return usage(c == 'h' ? 0 : 2);
	}
	what = argv[optind] ? argv[optind] : "";
	kills = !strcmp(what, "kill");
	if (waiters < 1 || waiters > MAX_WAITERS ||
	    (strcmp(what, "pipe") && strcmp(what, "inode") && strcmp(what, "dir") && !kills))
		return usage(2);
	if (!hold__works())
		return fprintf(stderr, "hold-lock: no userfaultfd for faults from the kernel\n"), 77;
	while (after && access(after, F_OK))
		usleep(10000);
	if (set_up(what))
		return perror("hold-lock"), 1;
	c = !strcmp(what, "pipe") || !strcmp(what, "inode");
	r = hold__begin(&h, c ? write_page : list_dir, NULL);
	if (r)
		return fprintf(stderr, "hold-lock: cannot hold the lock: %s\n", strerror(-r)), 1;
	begin = now_ns();
	for (long i = 0; i < (kills ? 1 : waiters); i++) {
		r = waiter__begin(&w[i], c ? write_page : make_file, NULL);
		if (r)
			return fprintf(stderr, "hold-lock: waiter %ld did not wait: %s\n", i, strerror(-r)), 1;
	}
	for (long i = 0; kills && i < waiters; i++) {
		killed[i] = killable();
		none |= !killed[i];
	}
	held = now_ns();
	usleep((useconds_t)ms * 1000);
	for (long i = 0; kills && i < waiters; i++) {
		if (killed[i]) {
			kill(killed[i], SIGKILL);
			waitpid(killed[i], NULL, 0);
		}
	}
	held = now_ns() - held;
	hold__end(&h);
	for (long i = 0; i < (kills ? 1 : waiters); i++)
		waiter__end(&w[i]);
	clean_up(w, kills ? 1 : waiters);
	if (none)
		return fprintf(stderr, "hold-lock: on this kernel readers pass a queued writer\n"), 77;
	printf("{\"workload\":\"hold-lock\",\"what\":\"%s\",\"pid\":%d,\"holder_tid\":%d,\"waits\":%ld,"
	       "\"failed\":%ld,\"held_ns\":%llu,\"total_ns\":%llu,\"waited_ns\":%llu,\"dir\":\"%s\"}\n",
	       what, getpid(), h.tid, waiters + kills, kills ? waiters : 0, (unsigned long long)held,
	       (unsigned long long)(now_ns() - begin), (unsigned long long)waited_ns, dir);
	return 0;
}
