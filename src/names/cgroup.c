// SPDX-License-Identifier: GPL-2.0
#include "names/cgroup.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "util/cleanup.h"
#include "util/parse.h"

/* kernfs's own kind of file handle: the 64-bit id and nothing else (exportfs.h, FILEID_KERNFS). */
#define HANDLE_KERNFS 0xfe
#define SLOTS 1024
#define ROOM 4096 /* paths remembered before the cache starts over */

struct entry {
	struct entry *next;
	uint64_t id;
	char path[];
};

struct cgroups {
	char *mount;
	int fd; /* of mount, for open_by_handle_at */
	bool no_handles;
	unsigned int n;
	struct entry *slot[SLOTS];
};

/* mountinfo writes blanks and backslashes as octal. */
static void unescape(char *s)
{
	char *to = s;

	while (*s) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] && s[3]) {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

/* The mount point in a line "31 23 0:28 / /sys/fs/cgroup rw ... - cgroup2 cgroup2 rw", if the file
 * system is cgroup2. The last such mount wins: it is the one on top. */
static char *cgroup2_mount(char *line)
{
	char *type = strstr(line, " - "), *save = NULL, *word = NULL;

	if (!type || strncmp(type + 3, "cgroup2 ", 8))
		return NULL;
	for (int i = 0; i < 5; i++)
		word = strtok_r(i ? NULL : line, " ", &save);
	if (!word)
		return NULL;
	unescape(word);
	return strdup(word);
}

static char *find_mount(const char *mountinfo)
{
	__close_file FILE *f = fopen(mountinfo, "re");
	__free_ptr char *line = NULL;
	char *found = NULL;
	size_t cap = 0;

	while (f && getline(&line, &cap, f) > 0) {
		char *mount = cgroup2_mount(line);

		if (!mount)
			continue;
		free(found);
		found = mount;
	}
	return found;
}

struct cgroups *cgroups__new(const char *mountinfo)
{
	struct cgroups *cg = calloc(1, sizeof(*cg));
	struct statfs fs;

	if (!cg)
		return NULL;
	cg->mount = find_mount(mountinfo ? mountinfo : "/proc/self/mountinfo");
	cg->fd = cg->mount ? open(cg->mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	/* other file systems (in tests) have handles of their own */
	cg->no_handles = cg->fd < 0 || fstatfs(cg->fd, &fs) || fs.f_type != CGROUP2_SUPER_MAGIC;
	return cg;
}

static void drop_cache(struct cgroups *cg)
{
	for (unsigned int i = 0; i < SLOTS; i++) {
		while (cg->slot[i]) {
			struct entry *e = cg->slot[i];

			cg->slot[i] = e->next;
			free(e);
		}
	}
	cg->n = 0;
}

void cgroups__free(struct cgroups *cg)
{
	if (!cg)
		return;
	drop_cache(cg);
	if (cg->fd >= 0)
		close(cg->fd);
	free(cg->mount);
	free(cg);
}

const char *cgroups__mount(const struct cgroups *cg)
{
	return cg->mount;
}

/* What is left of a full path below the mount: "/" for the mount itself, NULL when it is elsewhere. */
static const char *below(const struct cgroups *cg, const char *path)
{
	size_t len = strlen(cg->mount);

	if (strncmp(path, cg->mount, len) || (path[len] && path[len] != '/'))
		return NULL;
	return path[len] ? path + len : "/";
}

/* By file handle: one system call, but it takes CAP_DAC_READ_SEARCH. */
static int path_by_handle(struct cgroups *cg, uint64_t id, char *path, size_t size)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + sizeof(uint64_t)];
	} h = {.handle = {.handle_bytes = sizeof(id), .handle_type = HANDLE_KERNFS}};
	char link[64], target[PATH_MAX];
	__close_fd int fd = -1;
	const char *rest;
	ssize_t n;

	memcpy(h.room + sizeof(struct file_handle), &id, sizeof(id));
	fd = open_by_handle_at(cg->fd, &h.handle, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	rest = below(cg, target);
	if (!rest || strstr(target, " (deleted)"))
		return -ENOENT;
	snprintf(path, size, "%s", rest);
	return 0;
}

/* Without that capability: looks at every cgroup until one has this inode number. nftw has no
 * argument for its callback. */
static struct {
	uint64_t id;
	char path[PATH_MAX];
} walk;

static int visit(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	if (flag != FTW_D)
		return FTW_CONTINUE;
	if ((uint64_t)st->st_ino != walk.id)
		return FTW_CONTINUE;
	snprintf(walk.path, sizeof(walk.path), "%s", path);
	return FTW_STOP;
}

static int path_by_walk(struct cgroups *cg, uint64_t id, char *path, size_t size)
{
	const char *rest;

	walk.id = id;
	if (nftw(cg->mount, visit, 16, FTW_PHYS | FTW_MOUNT | FTW_ACTIONRETVAL) != FTW_STOP)
		return -ENOENT;
	rest = below(cg, walk.path);
	snprintf(path, size, "%s", rest ? rest : "/");
	return 0;
}

static int look_up(struct cgroups *cg, uint64_t id, char *path, size_t size)
{
	int r = -EPERM;

	if (cg->fd < 0 || !id)
		return -ENOENT;
	if (!cg->no_handles)
		r = path_by_handle(cg, id, path, size);
	if (r != -EPERM && r != -EOPNOTSUPP && r != -ENOSYS)
		return r;
	cg->no_handles = true;
	return path_by_walk(cg, id, path, size);
}

const char *cgroups__path(struct cgroups *cg, uint64_t id)
{
	static char number[24];
	char path[PATH_MAX];
	struct entry *e;

	for (e = cg->slot[id % SLOTS]; e; e = e->next)
		if (e->id == id)
			return e->path;
	if (look_up(cg, id, path, sizeof(path)))
		snprintf(path, sizeof(path), "%llu", (unsigned long long)id);
	if (cg->n >= ROOM)
		drop_cache(cg);
	e = malloc(sizeof(*e) + strlen(path) + 1);
	if (!e) {
		snprintf(number, sizeof(number), "%llu", (unsigned long long)id);
		return number;
	}
	e->id = id;
	memcpy(e->path, path, strlen(path) + 1);
	e->next = cg->slot[id % SLOTS];
	cg->slot[id % SLOTS] = e;
	cg->n++;
	return e->path;
}

static unsigned int depth_of(const char *path)
{
	unsigned int depth = 0;

	for (; *path; path++)
		depth += path[0] == '/' && path[1] && path[1] != '/';
	return depth;
}

static int find_by_id(struct cgroups *cg, uint64_t id, unsigned int *level, struct err *e)
{
	char path[PATH_MAX];

	if (look_up(cg, id, path, sizeof(path)))
		return err_set(e, -ENOENT, "there is no cgroup with the id %llu below %s",
			       (unsigned long long)id, cg->mount);
	*level = depth_of(path);
	return 0;
}

int cgroups__find(struct cgroups *cg, const char *text, uint64_t *id, unsigned int *level,
		  struct err *e)
{
	__free_ptr char *full = NULL, *real = NULL;
	const char *rest;
	struct stat st;

	if (!cg->mount)
		return err_set(e, -ENOENT, "no cgroup v2 hierarchy is mounted, so '%s' cannot be found",
			       text);
	if (isdigit((unsigned char)text[0]) && !parse_u64(text, 1, UINT64_MAX, id))
		return find_by_id(cg, *id, level, e);
	rest = below(cg, text);
	if (asprintf(&full, "%s/%s", cg->mount, rest ? rest : text) < 0) {
		full = NULL;
		return err_errno(e, -ENOMEM, "cgroup '%s'", text);
	}
	real = realpath(full, NULL);
	rest = real ? below(cg, real) : NULL;
	if (!rest || stat(real, &st) || !S_ISDIR(st.st_mode))
		return err_set(e, -ENOENT, "there is no cgroup '%s' below %s", text, cg->mount);
	*id = st.st_ino;
	*level = depth_of(rest);
	return 0;
}
