// SPDX-License-Identifier: GPL-2.0
#include "names/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>

#include "util/cleanup.h"

struct mount {
	unsigned int id, parent, major, minor;
	char *root;  /* what part of the file system is mounted */
	char *point; /* where */
};

struct mounts {
	int fd;
	bool read_once;
	struct mount *all;
	size_t n;
};

struct mounts *mounts__new(const char *path)
{
	struct mounts *m = calloc(1, sizeof(*m));

	if (m)
		m->fd = open(path ? path : "/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	return m;
}

static void forget(struct mounts *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->all[i].root);
		free(m->all[i].point);
	}
	free(m->all);
	m->all = NULL;
	m->n = 0;
}

void mounts__free(struct mounts *m)
{
	if (!m)
		return;
	forget(m);
	if (m->fd >= 0)
		close(m->fd);
	free(m);
}

/* Blanks and the like are written as \ooo. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (*s == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime ..." (man 5 proc_pid_mountinfo) */
static int add_line(struct mounts *m, const char *line)
{
	struct mount mt = {0}, *all = NULL;

	if (sscanf(line, "%u %u %u:%u %ms %ms", &mt.id, &mt.parent, &mt.major, &mt.minor, &mt.root,
		   &mt.point) == 6)
		all = reallocarray(m->all, m->n + 1, sizeof(*all));
	if (!all) {
		free(mt.root);
		free(mt.point);
		return mt.point ? -ENOMEM : 0;
	}
	unescape(mt.root);
	unescape(mt.point);
	m->all = all;
	m->all[m->n++] = mt;
	return 0;
}

static void read_table(struct mounts *m)
{
	char *line __free_ptr = NULL;
	FILE *f __close_file = NULL;
	size_t cap = 0;
	int fd = dup(m->fd);

	forget(m);
	if (fd < 0 || lseek(fd, 0, SEEK_SET) < 0 || !(f = fdopen(fd, "r"))) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while (getline(&line, &cap, f) > 0)
		if (add_line(m, line))
			return;
}

/* The kernel flags the open file with POLLERR | POLLPRI when the table has changed. */
static void refresh(struct mounts *m)
{
	struct pollfd p = {.fd = m->fd, .events = POLLPRI};

	if (m->fd < 0)
		return;
	if (m->read_once && !(poll(&p, 1, 0) > 0 && p.revents & (POLLPRI | POLLERR)))
		return;
	m->read_once = true;
	read_table(m);
}

/* Length of dir when path is dir itself or below it, else -1. */
static ssize_t below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n == 1 && *dir == '/')
		return *path == '/' ? 0 : -1;
	if (strncmp(path, dir, n) || (path[n] && path[n] != '/'))
		return -1;
	return (ssize_t)n;
}

/* Whether a lookup of path ends in mount mt: no other mount has a longer mount point on the way,
 * and nothing is mounted over this one. */
static bool is_visible(const struct mounts *m, const struct mount *mt, const char *path)
{
	ssize_t mine = below(path, mt->point);

	for (size_t i = 0; i < m->n; i++) {
		const struct mount *other = &m->all[i];

		if (other == mt)
			continue;
		if (below(path, other->point) > mine)
			return false;
		if (!strcmp(other->point, mt->point) && other->parent == mt->id)
			return false;
	}
	return true;
}

int mounts__path(struct mounts *m, unsigned int major, unsigned int minor, const char *fspath,
		 char *buf, size_t size)
{
	size_t best = SIZE_MAX;

	refresh(m);
	for (size_t i = 0; i < m->n; i++) {
		const struct mount *mt = &m->all[i];
		char path[4096 + 256];
		ssize_t skip;
		int len;

		if (mt->major != major || mt->minor != minor)
			continue;
		skip = below(fspath, mt->root);
		if (skip < 0)
			continue;
		/* "/" + "/x" is "/x", "/mnt" + "/" is "/mnt". */
		len = snprintf(path, sizeof(path), "%s%s", strcmp(mt->point, "/") ? mt->point : "",
			       strcmp(fspath + skip, "/") ? fspath + skip : "");
		if (len < 0 || (size_t)len >= sizeof(path) || (size_t)len >= best ||
		    !is_visible(m, mt, path))
			continue;
		best = (size_t)len;
		if (best >= size)
			return -ENAMETOOLONG;
		snprintf(buf, size, "%s", *path ? path : "/");
	}
	return best == SIZE_MAX ? -ENOENT : 0;
}
