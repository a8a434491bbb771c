// SPDX-License-Identifier: GPL-2.0
#include "names/usym.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "names/usym_file.h"
#include "util/cleanup.h"
#include "util/err.h"

#define MAX_PROCS 256
#define MAX_MAPS 4096 /* executable ones of a process; a JIT may have more */

struct map {
	uint64_t start, end, offset;
	struct ufile *file; /* NULL: anonymous memory */
};

struct proc {
	pid_t pid;
	uint64_t who;	  /* tells a pid that is used again, and an exec */
	uint64_t read_at; /* seconds: when the mappings were read */
	uint64_t seen_at; /* and when it was last found to be the same program */
	uint64_t used;
	struct map *map;
	unsigned int n;
	struct err why;
};

struct usyms {
	struct ufiles *files;
	struct proc *proc[MAX_PROCS];
	unsigned int n;
	uint64_t tick;
};

struct usyms *usyms__new(void)
{
	struct usyms *us = calloc(1, sizeof(*us));

	if (!us)
		return NULL;
	us->files = ufiles__new();
	if (!us->files) {
		free(us);
		return NULL;
	}
	return us;
}

static void drop_maps(struct usyms *us, struct proc *p)
{
	for (unsigned int i = 0; i < p->n; i++)
		if (p->map[i].file)
			ufiles__put(us->files, p->map[i].file);
	free(p->map);
	p->map = NULL;
	p->n = 0;
}

static void proc_free(struct usyms *us, struct proc *p)
{
	drop_maps(us, p);
	free(p);
}

void usyms__free(struct usyms *us)
{
	if (!us)
		return;
	for (unsigned int i = 0; i < us->n; i++)
		proc_free(us, us->proc[i]);
	ufiles__free(us->files);
	free(us);
}

void usyms__forget(struct usyms *us, pid_t pid)
{
	for (unsigned int i = 0; i < us->n; i++) {
		if (us->proc[i]->pid != pid)
			continue;
		proc_free(us, us->proc[i]);
		us->proc[i] = us->proc[--us->n];
		return;
	}
}

static uint64_t now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec;
}

/* The 22nd word of /proc/PID/stat, in clock ticks since boot; the second word is a name in
 * parentheses that may hold anything. 0: no such process. */
static uint64_t start_time(pid_t pid)
{
	char path[64], line[1024];
	uint64_t v;
	__close_fd int fd = -1;
	const char *s;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	if (n <= 0)
		return 0;
	line[n] = '\0';
	s = strrchr(line, ')');
	if (!s || sscanf(s + 1,
			 " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
			 "%*d %" SCNu64,
			 &v) != 1)
		return 0;
	return v;
}

/* Another value when the pid belongs to another process, or to the same with another program. 0: it
 * has exited. */
static uint64_t identify(pid_t pid)
{
	uint64_t started = start_time(pid);
	char path[64];
	struct stat st;

	if (!started)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (stat(path, &st))
		return started;
	return started ^ (uint64_t)st.st_ino << 20 ^ (uint64_t)st.st_dev << 40;
}

static int add_map(struct usyms *us, struct proc *p, unsigned int *cap, const struct map *m)
{
	if (p->n == *cap) {
		unsigned int bigger = *cap ? *cap * 2 : 16;
		struct map *map = realloc(p->map, bigger * sizeof(*map));

		if (!map)
			return -ENOMEM;
		p->map = map;
		*cap = bigger;
	}
	p->map[p->n++] = *m;
	return 0;
}

/* A line "start-end r-xp offset dev:dev inode   path"; lines of memory without code are skipped. */
static int take_line(struct usyms *us, struct proc *p, unsigned int *cap, char *line)
{
	unsigned int major, minor;
	uint64_t inode;
	struct map m = {0};
	int path = 0, r;
	char perm[5];

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &m.start,
		   &m.end, perm, &m.offset, &major, &minor, &inode, &path) < 7 ||
	    !path)
		return 0;
	if (perm[2] != 'x')
		return 0;
	if (line[path]) {
		char *deleted = strstr(line + path, " (deleted)");

		if (deleted && !deleted[10])
			*deleted = '\0';
		m.file = ufiles__get(us->files, makedev(major, minor), inode, line + path);
		if (!m.file)
			return -ENOMEM;
	}
	r = add_map(us, p, cap, &m);
	if (r && m.file)
		ufiles__put(us->files, m.file);
	return r;
}

static int explain_failure(struct proc *p, int error)
{
	if (error == -ENOENT || error == -ESRCH)
		return err_set(&p->why, -ESRCH,
			       "process %d had exited before its mappings could be read", p->pid);
	if (error == -EACCES || error == -EPERM)
		return err_set(&p->why, error,
			       "the mappings of process %d are not readable (needs CAP_SYS_PTRACE)",
			       p->pid);
	return err_errno(&p->why, error, "cannot read /proc/%d/maps", p->pid);
}

static int read_maps(struct usyms *us, struct proc *p)
{
	__close_file FILE *f = NULL;
	__free_ptr char *line = NULL;
	unsigned int cap = 0;
	char path[64];
	size_t size = 0;
	int r = 0;

	p->read_at = p->seen_at = now_s();
	snprintf(path, sizeof(path), "/proc/%d/maps", p->pid);
	f = fopen(path, "re");
	if (!f)
		return explain_failure(p, -errno);
	errno = 0;
	while (!r && p->n < MAX_MAPS && getline(&line, &size, f) > 0)
		r = take_line(us, p, &cap, line);
	if (!r && ferror(f))
		r = errno ? -errno : -EIO;
	if (r)
		return explain_failure(p, r);
	if (!p->n)
		return err_set(&p->why, -ESRCH, "process %d has no mapped code (it has exited, or is "
			       "a kernel thread)", p->pid);
	p->who = identify(p->pid);
	p->why.msg[0] = '\0';
	return 0;
}

static void drop_oldest(struct usyms *us)
{
	unsigned int oldest = 0;

	for (unsigned int i = 1; i < us->n; i++)
		if (us->proc[i]->used < us->proc[oldest]->used)
			oldest = i;
	proc_free(us, us->proc[oldest]);
	us->proc[oldest] = us->proc[--us->n];
}

static struct proc *find_proc(struct usyms *us, pid_t pid)
{
	for (unsigned int i = 0; i < us->n; i++)
		if (us->proc[i]->pid == pid)
			return us->proc[i];
	return NULL;
}

/* Reads p's mappings anew; what was known is kept when that fails. */
static int read_again(struct usyms *us, struct proc *p)
{
	struct proc fresh = {.pid = p->pid, .used = p->used};
	int r;

	p->read_at = p->seen_at = now_s();
	r = read_maps(us, &fresh);
	if (r && p->n) {
		drop_maps(us, &fresh);
		return r;
	}
	drop_maps(us, p);
	*p = fresh;
	return r;
}

/* Once a second at most: is it still the same program? One that has exited stays what it was. */
static void check_proc(struct usyms *us, struct proc *p)
{
	uint64_t who;

	if (p->seen_at == now_s())
		return;
	p->seen_at = now_s();
	who = identify(p->pid);
	if (who && who != p->who)
		read_again(us, p);
}

static struct proc *get_proc(struct usyms *us, pid_t pid)
{
	struct proc *p = find_proc(us, pid);

	if (p) {
		check_proc(us, p);
	} else {
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		if (us->n == MAX_PROCS)
			drop_oldest(us);
		p->pid = pid;
		us->proc[us->n++] = p;
		read_maps(us, p);
	}
	p->used = ++us->tick;
	return p;
}

int usyms__capture(struct usyms *us, pid_t pid)
{
	struct proc *p = get_proc(us, pid);

	if (!p)
		return -ENOMEM;
	return p->n ? 0 : -ESRCH;
}

static const struct map *find_map(const struct proc *p, uint64_t addr)
{
	for (unsigned int i = 0; i < p->n; i++)
		if (addr >= p->map[i].start && addr < p->map[i].end)
			return &p->map[i];
	return NULL;
}

/* addr lies in no mapping that is known: perhaps a library was loaded since. */
static const struct map *look_again(struct usyms *us, struct proc *p, uint64_t addr)
{
	if (p->read_at == now_s() || read_again(us, p))
		return NULL;
	return find_map(p, addr);
}

char *usyms__name(struct usyms *us, pid_t pid, uint64_t addr, char *buf, size_t size)
{
	struct proc *p = get_proc(us, pid);
	const struct map *m = p ? find_map(p, addr) : NULL;
	uint64_t in;
	const char *name;

	if (p && !m)
		m = look_again(us, p, addr);
	if (!m || !m->file) {
		snprintf(buf, size, "0x%" PRIx64, addr);
		return buf;
	}
	if (ufiles__find(us->files, m->file, &(struct uplace){pid, m->start, m->end},
			 addr - m->start + m->offset, &name, &in))
		snprintf(buf, size, "%s+0x%" PRIx64, name, in);
	else if (ufile__name(m->file)[0] == '[') /* [vdso] */
		snprintf(buf, size, "%s+0x%" PRIx64, ufile__name(m->file), addr - m->start);
	else
		snprintf(buf, size, "[%s]+0x%" PRIx64, ufile__name(m->file),
			 addr - m->start + m->offset);
	return buf;
}

const char *usyms__why(struct usyms *us, pid_t pid)
{
	const struct proc *p = find_proc(us, pid);

	return p && p->why.msg[0] ? p->why.msg : NULL;
}
