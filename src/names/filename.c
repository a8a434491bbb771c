// SPDX-License-Identifier: GPL-2.0
/* Words for inodes and file systems. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kmem/mount.h"
#include "names/identity_impl.h"
#include "util/cleanup.h"

char *clean_text(char *s)
{
	for (char *p = s; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	return s;
}

/* Copies a path that may be longer than there is room for: the end tells more than the middle. */
static void put_path(char *buf, size_t size, const char *path, const char *suffix)
{
	size_t room = size - strlen(suffix) - 1, len = strlen(path), head;

	if (len <= room) {
		snprintf(buf, size, "%s%s", path, suffix);
		return;
	}
	head = room / 4;
	snprintf(buf, size, "%.*s...%s%s", (int)head, path, path + len - (room - head - 3), suffix);
}

/* "ext4 sda1"; for file systems without a device just "tmpfs". */
static void name_fs(const struct ksb *sb, char *buf, size_t size)
{
	bool id = *sb->id && strcmp(sb->id, sb->type);

	snprintf(buf, size, "%s%s%s", sb->type, id ? " " : "", id ? sb->id : "");
}

/* Files of the nameless file systems, as /proc/PID/fd calls them. */
static bool name_nameless(const struct kinode *inode, char *buf, size_t size)
{
	static const struct {
		const char *type, *word;
	} words[] = {{"sockfs", "socket"}, {"pipefs", "pipe"}, {"nsfs", "namespace"}};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(inode->sb.type, words[i].type))
			continue;
		snprintf(buf, size, "%s:[%llu]", words[i].word, (unsigned long long)inode->ino);
		return true;
	}
	if (!strcmp(inode->sb.type, "anon_inodefs")) {
		snprintf(buf, size, "anonymous inode");
		return true;
	}
	return false;
}

/* The inode behind a block device has no path of its own. */
static bool name_block_device(const struct kinode *inode, char *buf, size_t size)
{
	char link[64], target[256];
	const char *base;
	ssize_t n;

	if (strcmp(inode->sb.type, "bdev"))
		return false;
	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", kdev_major(inode->rdev),
		 kdev_minor(inode->rdev));
	n = readlink(link, target, sizeof(target) - 1);
	if (n > 0) {
		target[n] = '\0';
		base = strrchr(target, '/');
		snprintf(buf, size, "block device %s", base ? base + 1 : target);
	} else {
		snprintf(buf, size, "block device %u:%u", kdev_major(inode->rdev),
			 kdev_minor(inode->rdev));
	}
	return true;
}

/* A dentry outside any tree: memory that has a file only inside the kernel. */
static void name_rootless(const struct kinode *inode, const char *name, char *buf, size_t size)
{
	char fs[72];

	name_fs(&inode->sb, fs, sizeof(fs));
	name += *name == '/';
	if (!strncmp(name, "SYSV", 4))
		snprintf(buf, size, "%s (shmid %llu)", name, (unsigned long long)inode->ino);
	else if (!strcmp(name, "dev/zero"))
		snprintf(buf, size, "shared anonymous memory (inode %llu)",
			 (unsigned long long)inode->ino);
	else if (!strncmp(name, "memfd:", 6) || !strcmp(name, "anon_hugepage"))
		snprintf(buf, size, "%s (inode %llu)", name, (unsigned long long)inode->ino);
	else
		snprintf(buf, size, "%s on %s (inode %llu)", name, fs,
			 (unsigned long long)inode->ino);
}

/* The mounts in the kernel's memory, so that nobody who holds namespace_sem can make us wait; where
 * that can't be had, the table in /proc. */
static int find_path(struct shape_ctx *c, const struct ksb *sb, uint64_t dentry, const char *in_fs,
		     char *buf, size_t size)
{
	int err = kmount__path(c->k, sb->addr, dentry, buf, size);

	if (err != -EOPNOTSUPP)
		return err;
	return mounts__path(c->mounts, kdev_major(sb->dev), kdev_minor(sb->dev), in_fs, buf, size);
}

static void name_rooted(struct shape_ctx *c, const struct kpath *p, uint64_t dentry,
			const struct kinode *inode, char *buf, size_t size)
{
	bool dir = (inode->mode & S_IFMT) == S_IFDIR;
	const char *suffix = p->unlinked ? " (deleted)" : dir ? "/" : "";
	char *path __free_ptr = malloc(sizeof(p->path) + 256);
	char where[96], fs[72];

	if (path && !find_path(c, &inode->sb, dentry, p->path, path, sizeof(p->path) + 256)) {
		if (!strcmp(path, "/"))
			suffix = "";
		put_path(buf, size, path, suffix);
		return;
	}
	if (!strcmp(p->path, "/"))
		suffix = "";
	/* Mounted elsewhere, or hidden: the path inside the file system is all there is. */
	name_fs(&inode->sb, fs, sizeof(fs));
	snprintf(where, sizeof(where), "%s on %s", suffix, fs);
	put_path(buf, size, p->path, where);
}

static void name_by_path(struct shape_ctx *c, const struct kpath *p, uint64_t dentry,
			 const struct kinode *inode, char *buf, size_t size)
{
	if (p->rooted)
		name_rooted(c, p, dentry, inode, buf, size);
	else
		name_rootless(inode, p->path, buf, size);
	clean_text(buf);
}

static void name_by_number(const struct kinode *inode, char *buf, size_t size)
{
	snprintf(buf, size, "dev %u:%u inode %llu", kdev_major(inode->sb.dev),
		 kdev_minor(inode->sb.dev), (unsigned long long)inode->ino);
}

void filename__inode(struct shape_ctx *c, const struct kinode *inode, char *buf, size_t size)
{
	struct kpath *p __free_ptr = NULL;
	uint64_t dentry;

	if (name_nameless(inode, buf, size) || name_block_device(inode, buf, size))
		return;
	p = malloc(sizeof(*p));
	if (p && !kinode__dentry(c->k, inode, &dentry) && !kdentry__path(c->k, dentry, p))
		name_by_path(c, p, dentry, inode, buf, size);
	else
		name_by_number(inode, buf, size);
}

void filename__dentry(struct shape_ctx *c, uint64_t dentry, const struct kinode *inode, char *buf,
		      size_t size)
{
	struct kpath *p __free_ptr = malloc(sizeof(*p));
	uint64_t of;

	if (p && !kmem__get(c->k, dentry, KF_DENTRY_INODE, &of) && of == inode->addr &&
	    !name_nameless(inode, buf, size) && !name_block_device(inode, buf, size) &&
	    !kdentry__path(c->k, dentry, p))
		name_by_path(c, p, dentry, inode, buf, size);
	else
		filename__inode(c, inode, buf, size);
}

void filename__sb(struct shape_ctx *c, const struct ksb *sb, char *buf, size_t size)
{
	char *path __free_ptr = malloc(4096);
	char suffix[48];

	snprintf(suffix, sizeof(suffix), " (%s)", sb->type);
	if (path && !find_path(c, sb, sb->root, "/", path, 4096))
		put_path(buf, size, path, suffix);
	else
		name_fs(sb, buf, size);
	clean_text(buf);
}
