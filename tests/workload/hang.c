// SPDX-License-Identifier: GPL-2.0
/* Makes tasks hang in a way that is known beforehand, runs a command, and lets them go again:
 *   hang frozen DIR [-- COMMAND]  DIR's file system is frozen; a thread of the process "app" faults in a page of
 *                                 a file there, a second one unmaps that page, two processes "ps" read the
 *                                 process's command line, "cp" writes a file
 *   hang vfork [-- COMMAND]       a process whose vfork child sleeps
 *   hang fuse DIR [-- COMMAND]    a FUSE file system on DIR, whose server answers no more; "ls" looks at it
 *   hang queue [-- COMMAND]       a directory is listed (its lock held for read), a second task makes a file in it,
 *                                 --tasks more list it
 *   hang pile [-- COMMAND]        --tasks threads want the mutex of a pipe
 *   hang stopped [-- COMMAND]     a traced process that its tracer has stopped is the vfork child
 * Options: --tasks N (3), --age MS: the command starts when the hang is that old (1200).
 * Before the command starts a JSON line tells the threads. Ends with the command's status; 77: this
 * kernel or machine lacks what is needed. */
#include <errno.h>
#include <linux/fs.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../lib/hold.h"
#include "workload.h"

#define MAX_TASKS 2000

static long tasks = 3, age_ms = 1200;
static const char *dir;
static char path[400];
static char *page;
static struct waiter waiters[MAX_TASKS];
static int pipe_fd[2], fs_fd = -1;

static void lacks(const char *what)
{
	fprintf(stderr, "hang: %s: %s\n", what, strerror(errno));
	exit(77);
}

static char state_of(pid_t pid)
{
	char name[64], buf[256], *p;
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return '?';
	buf[n] = '\0';
	p = strrchr(buf, ')');
	return p && p[1] ? p[2] : '?';
}

/* Until the process has been asleep at three looks. */
static void wait_asleep(pid_t pid)
{
	for (int i = 0, asleep = 0; i < 2000 && asleep < 3; i++) {
		char s = state_of(pid);

		asleep = s == 'S' || s == 'D' || s == 't' ? asleep + 1 : 0;
		usleep(5000);
	}
}

/* A process under this name that does f() once. */
static pid_t process(const char *name, void (*f)(void))
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_NAME, name);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		f();
		_exit(0);
	}
	wait_asleep(pid);
	return pid;
}

static int run_command(char **argv)
{
	int status;
	pid_t pid;

	fflush(stdout);
	if (!*argv)
		return 0;
	usleep((useconds_t)age_ms * 1000);
	pid = fork();
	if (!pid) {
		execvp(*argv, argv);
		perror(*argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static pid_t app;

static void read_cmdline(void)
{
	char name[64], buf[256];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/cmdline", app);
	fd = open(name, O_RDONLY);
	if (read(fd, buf, sizeof(buf)) < 0)
		_exit(1);
}

static void write_file(void)
{
	char name[500];
	int fd;

	snprintf(name, sizeof(name), "%s/copy", dir);
	fd = open(name, O_WRONLY);
	if (write(fd, "x", 1) < 0)
		_exit(1);
}

static long touch(void *arg, char *unused)
{
	*(volatile char *)page = 1;
	return 0;
}

static long unmap(void *arg, char *unused)
{
	return munmap(page, 4096);
}

static int make_file(const char *name)
{
	char buf[4096] = {0};
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || write(fd, buf, sizeof(buf)) != sizeof(buf))
		lacks(path);
	return fd;
}

/* Thaws when this process has ended, in whatever way, or after a minute. Started before anything hangs: a
 * process whose mm is locked cannot fork. */
static void watch_over(void)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC))
		lacks("pipe");
	if (!fork()) {
		struct pollfd f = {.fd = p[0], .events = POLLIN};

		close(p[1]);
		setsid();
		signal(SIGTERM, SIG_IGN);
		poll(&f, 1, 60000);
		ioctl(fs_fd, FITHAW, 0);
		_exit(0);
	}
	close(p[0]);
}

static struct shared {
	pid_t fault, unmap;
	_Atomic int ready;
} *shared;

static void app_main(void)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	waiter__begin(&waiters[0], touch, NULL);
	waiter__begin(&waiters[1], unmap, NULL);
	shared->fault = waiters[0].tid;
	shared->unmap = waiters[1].tid;
	shared->ready = 1;
	waiter__end(&waiters[0]);
	waiter__end(&waiters[1]);
}

static int frozen(char **command)
{
	pid_t ps[2], cp;
	int r;

	close(make_file("copy"));
	fsync(make_file("mapped"));
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fs_fd = open(dir, O_RDONLY | O_CLOEXEC);
	watch_over();
	if (fs_fd < 0 || ioctl(fs_fd, FIFREEZE, 0))
		lacks("cannot freeze");
	app = process("app", app_main);
	for (int i = 0; i < 2000 && !shared->ready; i++)
		usleep(5000);
	ps[0] = process("ps", read_cmdline);
	ps[1] = process("ps", read_cmdline);
	cp = process("cp", write_file);
	printf("{\"app\":%d,\"fault\":%d,\"unmap\":%d,\"ps\":%d,\"ps2\":%d,\"cp\":%d}\n", app, shared->fault, shared->unmap,
	       ps[0], ps[1], cp);
	r = run_command(command);
	ioctl(fs_fd, FITHAW, 0);
	waitpid(app, NULL, 0);
	waitpid(cp, NULL, 0);
	return r;
}

static void vfork_and_sleep(void)
{
	if (!vfork()) {
		prctl(PR_SET_NAME, "child");
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		syscall(SYS_pause);
		_exit(0);
	}
}

static int vforked(char **command)
{
	pid_t parent = process("parent", vfork_and_sleep);
	int r;

	printf("{\"parent\":%d}\n", parent);
	r = run_command(command);
	kill(parent, SIGKILL);
	wait(NULL);
	return r;
}

static void vfork_and_trace(void)
{
	if (!vfork()) {
		prctl(PR_SET_NAME, "child");
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		syscall(SYS_kill, syscall(SYS_getpid), SIGSTOP);
		_exit(0);
	}
}

static int stopped(char **command)
{
	pid_t parent = process("parent", vfork_and_trace);
	int r;

	printf("{\"parent\":%d}\n", parent);
	r = run_command(command);
	kill(parent, SIGKILL);
	wait(NULL);
	return r;
}

static void look_at_dir(void)
{
	struct stat st;

	stat(path, &st);
}

/* Answers INIT, and nothing after it. */
static int fuse(char **command)
{
	struct {
		struct fuse_out_header h;
		struct fuse_init_out init;
	} out = {.h = {.len = sizeof(out)}};
	char options[200], buf[FUSE_MIN_READ_BUFFER * 2];
	struct fuse_in_header in;
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC), r;
	pid_t ls;

	if (fd < 0)
		lacks("/dev/fuse");
	prctl(PR_SET_NAME, "server");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (mount("hang", dir, "fuse", 0, options))
		lacks(dir);
	if (read(fd, buf, sizeof(buf)) < (ssize_t)sizeof(in))
		lacks("no request");
	memcpy(&in, buf, sizeof(in));
	out.h.unique = in.unique;
	out.init.major = FUSE_KERNEL_VERSION;
	out.init.minor = FUSE_KERNEL_MINOR_VERSION;
	out.init.max_write = 4096;
	if (write(fd, &out, sizeof(out)) != sizeof(out))
		lacks("INIT");
	snprintf(path, sizeof(path), "%s/file", dir);
	ls = process("ls", look_at_dir);
	printf("{\"server\":%d,\"ls\":%d}\n", getpid(), ls);
	r = run_command(command);
	kill(ls, SIGKILL);
	umount2(dir, MNT_DETACH);
	close(fd);
	wait(NULL);
	return r;
}

static long list_dir(void *arg, char *to)
{
	char buf[4096];
	int d = open(path, O_RDONLY | O_DIRECTORY);
	long r = syscall(SYS_getdents64, d, to ? to : buf, 4096);

	close(d);
	return r;
}

static long add_file(void *arg, char *unused)
{
	char name[500];

	snprintf(name, sizeof(name), "%s/new", path);
	return close(open(name, O_CREAT | O_WRONLY, 0600));
}

static int queue(char **command)
{
	char name[500];
	struct hold h;
	int r;

	snprintf(path, sizeof(path), "/tmp/hang.%d", getpid());
	if (mkdir(path, 0700))
		lacks(path);
	errno = -hold__begin(&h, list_dir, NULL);
	if (errno) {
		rmdir(path);
		lacks("no userfaultfd");
	}
	waiter__begin(&waiters[0], add_file, NULL);
	for (long i = 1; i <= tasks; i++)
		waiter__begin(&waiters[i], list_dir, NULL);
	printf("{\"holder\":%d,\"writer\":%d,\"first_reader\":%d,\"dir\":\"%s\"}\n", h.tid, waiters[0].tid, waiters[1].tid, path);
	r = run_command(command);
	hold__end(&h);
	for (long i = 0; i <= tasks; i++)
		waiter__end(&waiters[i]);
	snprintf(name, sizeof(name), "%s/new", path);
	unlink(name);
	rmdir(path);
	return r;
}

static long write_pipe(void *arg, char *from)
{
	char c = 0;

	return write(pipe_fd[1], from ? from : &c, 1);
}

static void *pile_main(void *arg)
{
	write_pipe(NULL, NULL);
	return NULL;
}

static int pile(char **command)
{
	struct hold h;
	int r;

	if (pipe2(pipe_fd, O_CLOEXEC))
		lacks("pipe");
	errno = -hold__begin(&h, write_pipe, NULL);
	if (errno)
		lacks("no userfaultfd");
	for (long i = 0; i < tasks; i++)
		pthread_create(&waiters[i].thread, NULL, pile_main, NULL);
	printf("{\"holder\":%d}\n", h.tid);
	r = run_command(command);
	hold__end(&h);
	for (long i = 0; i < tasks; i++)
		pthread_join(waiters[i].thread, NULL);
	return r;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"tasks", required_argument, NULL, 't'},
		{"age", required_argument, NULL, 'a'},
		{0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		if (c == 't')
			tasks = number(optarg);
		else if (c == 'a')
			age_ms = number(optarg);
		else
			return 2;
	}
	argv += optind;
	if (!*argv || tasks < 1 || tasks >= MAX_TASKS)
		return 2;
	c = !strcmp(*argv, "frozen") || !strcmp(*argv, "fuse");
	dir = c ? argv[1] : NULL;
	if (c && !dir)
		return 2;
	c = 1 + c;
	if (argv[c] && !strcmp(argv[c], "--"))
		c++;
	if (!strcmp(*argv, "frozen"))
		return frozen(argv + c);
	if (!strcmp(*argv, "vfork"))
		return vforked(argv + c);
	if (!strcmp(*argv, "stopped"))
		return stopped(argv + c);
	if (!strcmp(*argv, "fuse"))
		return fuse(argv + c);
	if (!strcmp(*argv, "queue"))
		return queue(argv + c);
	if (!strcmp(*argv, "pile"))
		return pile(argv + c);
	return 2;
}
