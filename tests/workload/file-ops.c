// SPDX-License-Identifier: GPL-2.0
/* --threads threads do --ops system calls each that want one lock:
 *   write  write to one file and cut it, each through a file of its own: the inode's rwsem
 *   dir    make and remove files in one directory: the directory's rwsem
 *   pipe   write to one pipe that another thread empties: the pipe's mutex
 * Every call is timed. Prints one JSON line; "inside_ns", the time spent in those calls (the reader's
 * included), is an upper bound of what the threads can have waited. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workload.h"

#define MAX_THREADS 64

static char top[256], path[300];
static char data[256 * 1024];
static long ops = 200, size = 64 * 1024;
static int pipe_fd[2];
static const char *what;

struct worker {
	pthread_t thread;
	long nr, calls, failed;
	uint64_t inside_ns;
};

/* The clock is read by the caller before the call: arguments have no order of evaluation. */
static long timed(struct worker *w, uint64_t begin, long result)
{
	w->inside_ns += now_ns() - begin;
	w->calls++;
	w->failed += result < 0;
	return result;
}

static void *write_file(void *arg)
{
	struct worker *w = arg;
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	uint64_t t;

	for (long i = 0; i < ops; i++) {
		t = now_ns();
		timed(w, t, pwrite(fd, data, (size_t)size, 0));
		if (i % 16 != w->nr % 16)
			continue;
		t = now_ns();
		timed(w, t, ftruncate(fd, 0));
	}
	close(fd);
	return NULL;
}

static void *change_dir(void *arg)
{
	struct worker *w = arg;
	char name[400];
	uint64_t t;

	snprintf(name, sizeof(name), "%s/new.%ld", top, w->nr);
	for (long i = 0; i < ops; i++) {
		t = now_ns();
		close((int)timed(w, t, open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)));
		t = now_ns();
		timed(w, t, unlink(name));
	}
	return NULL;
}

static void *write_pipe(void *arg)
{
	struct worker *w = arg;

	for (long i = 0; i < ops; i++) {
		uint64_t t = now_ns();

		timed(w, t, write(pipe_fd[1], data, (size_t)size));
	}
	return NULL;
}

static void *read_pipe(void *arg)
{
	static char sink[sizeof(data)];
	struct worker *w = arg;
	uint64_t t;

	do {
		t = now_ns();
	} while (timed(w, t, read(pipe_fd[0], sink, sizeof(sink))) > 0);
	return NULL;
}

static int set_up(const char *where)
{
	int fd;

	if (!strcmp(what, "pipe"))
		return pipe(pipe_fd);
	snprintf(top, sizeof(top), "%s/file-ops.%d", where, getpid());
	if (mkdir(top, 0700))
		return -1;
	if (!strcmp(what, "dir"))
		return 0;
	snprintf(path, sizeof(path), "%s/file", top);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	return fd < 0 ? -1 : close(fd);
}

static void clean_up(void)
{
	if (*path)
		unlink(path);
	if (*top)
		rmdir(top);
}

static void *(*worker_of(void))(void *)
{
	if (!strcmp(what, "write"))
		return write_file;
	if (!strcmp(what, "dir"))
		return change_dir;
	return !strcmp(what, "pipe") ? write_pipe : NULL;
}

static int usage(int rc)
{
	fprintf(rc ? stderr : stdout,
		"usage: file-ops [--threads N] [--ops N] [--size BYTES] [--dir DIR] write|dir|pipe\n");
	return rc;
}

int main(int argc, char **argv)
{
	static const struct option opts[] = {
		{"threads", 1, NULL, 't'}, {"ops", 1, NULL, 'o'}, {"size", 1, NULL, 's'},
		{"dir", 1, NULL, 'd'},	   {"help", 0, NULL, 'h'}, {NULL, 0, NULL, 0}};
	struct worker w[MAX_THREADS] = {0}, reader = {0};
	const char *where = "/tmp";
	void *(*work)(void *);
	long threads = 4;
	int c;

	while ((c = getopt_long(argc, argv, "t:o:s:d:h", opts, NULL)) != -1) {
		if (c == 't')
			threads = number(optarg);
		else if (c == 'o')
			ops = number(optarg);
		else if (c == 's')
			size = number(optarg);
		else if (c == 'd')
			where = optarg;
		else
			return usage(c == 'h' ? 0 : 2);
	}
	what = argv[optind] ? argv[optind] : "";
	work = worker_of();
	if (!work || threads < 1 || threads > MAX_THREADS || size < 1 || size > (long)sizeof(data))
		return usage(2);
	if (set_up(where))
		return perror("file-ops"), 1;
	if (work == write_pipe)
		pthread_create(&reader.thread, NULL, read_pipe, &reader);
	for (long i = 0; i < threads; i++) {
		w[i].nr = i;
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	}
	for (long i = 0; i < threads; i++) {
		pthread_join(w[i].thread, NULL);
		if (i) {
			w[0].calls += w[i].calls;
			w[0].failed += w[i].failed;
			w[0].inside_ns += w[i].inside_ns;
		}
	}
	if (work == write_pipe) {
		close(pipe_fd[1]);
		pthread_join(reader.thread, NULL);
	}
	clean_up();
	printf("{\"workload\":\"file-ops\",\"what\":\"%s\",\"pid\":%d,\"threads\":%ld,\"calls\":%ld,"
	       "\"failed\":%ld,\"inside_ns\":%llu,\"path\":\"%s\"}\n",
	       what, getpid(), threads, w[0].calls, w[0].failed,
	       (unsigned long long)(w[0].inside_ns + reader.inside_ns), *path ? path : top);
	return 0;
}
