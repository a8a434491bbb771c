// SPDX-License-Identifier: GPL-2.0
#include "progs.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int add(struct progs *p, uint32_t id)
{
	int fd;

	for (unsigned int i = 0; i < p->n; i++)
		if (p->id[i] == id)
			return 0;
	if (p->n == PROGS_MAX)
		return -ENOSPC;
	fd = bpf_prog_get_fd_by_id(id);
	if (fd < 0)
		return 0; /* a trial of the start-up, gone already */
	p->id[p->n] = id;
	p->fd[p->n++] = fd;
	return 0;
}

/* What fdinfo says about one descriptor: a link names the program that it attached. */
static bool link_of(pid_t pid, const char *name, uint32_t *prog)
{
	char path[512], line[128];
	bool is_link = false, has_prog = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", (int)pid, name);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		is_link |= !strncmp(line, "link_type:", 10);
		has_prog |= sscanf(line, "prog_id: %u", prog) == 1;
	}
	fclose(f);
	return is_link && has_prog;
}

/* Between fork and exec the process is still a copy of us, with our links. */
static bool is_us(pid_t pid)
{
	char path[64], theirs[512], ours[512];
	ssize_t n, m = readlink("/proc/self/exe", ours, sizeof(ours));

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, theirs, sizeof(theirs));
	return n == m && n > 0 && !memcmp(theirs, ours, (size_t)n);
}

static int look(struct progs *p, pid_t pid)
{
	char path[64];
	struct dirent *de;
	uint32_t id;
	int r = 0;
	DIR *d;

	if (is_us(pid))
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo", (int)pid);
	d = opendir(path);
	if (!d)
		return -errno;
	while (!r && (de = readdir(d)))
		if (link_of(pid, de->d_name, &id))
			r = add(p, id);
	closedir(d);
	return r;
}

int progs__find(struct progs *p, pid_t pid, unsigned int timeout_ms)
{
	const struct timespec ms10 = {.tv_nsec = 10000000};
	int r;

	for (unsigned int t = 0;; t += 10) {
		r = look(p, pid);
		if (r || p->n >= 2)
			return r;
		if (t >= timeout_ms)
			return -ETIMEDOUT;
		nanosleep(&ms10, NULL);
	}
}

void progs__one(int fd, uint64_t *ns, uint64_t *runs)
{
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);

	*ns = *runs = 0;
	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return;
	*ns = info.run_time_ns;
	*runs = info.run_cnt;
}

void progs__total(const struct progs *p, uint64_t *ns, uint64_t *runs)
{
	uint64_t n, r;

	*ns = *runs = 0;
	for (unsigned int i = 0; i < p->n; i++) {
		progs__one(p->fd[i], &n, &r);
		*ns += n;
		*runs += r;
	}
}

void progs__close(struct progs *p)
{
	while (p->n)
		close(p->fd[--p->n]);
}
