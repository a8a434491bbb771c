// SPDX-License-Identifier: GPL-2.0
#include "kmem/inode.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "util/cleanup.h"

#define DEPTH_MAX 256
#define NAME_LEN_MAX 255
#define ALIASES_MAX 16
#define WALK_TRIES 3

static bool is_word(const char *s)
{
	const char *p = s;

	while (isalnum((unsigned char)*p) || *p == '_' || *p == '.' || *p == '-')
		p++;
	return p != s && !*p;
}

static bool on_list(struct kmem *k, uint64_t node)
{
	uint64_t next, prev;

	return !kmem__get(k, node, KF_LIST_NEXT, &next) && kmem_ptr_ok(next) &&
	       !kmem__get(k, next, KF_LIST_PREV, &prev) && prev == node;
}

/* The root dentry points back; a super block that is being torn down has none any more, and must be
 * on the list of all super blocks instead. */
static bool sb_is_linked(struct kmem *k, const struct ksb *sb)
{
	int64_t list = kmem__off(k, KF_SB_LIST);
	uint64_t back;

	if (sb->root)
		return kmem_ptr_ok(sb->root) && !kmem__get(k, sb->root, KF_DENTRY_SB, &back) &&
		       back == sb->addr;
	return list >= 0 && on_list(k, sb->addr + (uint64_t)list);
}

int ksb__read(struct kmem *k, uint64_t addr, struct ksb *out)
{
	static const enum kmem_field f[] = {KF_SB_ROOT, KF_SB_FLAGS, KF_SB_DEV, KF_SB_TYPE,
					    KF_SB_COUNT};
	int64_t id = kmem__off(k, KF_SB_ID);
	uint64_t v[ARRAY_SIZE(f)], name;

	memset(out, 0, sizeof(*out));
	if (!kmem_ptr_ok(addr) || kmem__getv(k, addr, f, v, ARRAY_SIZE(f)))
		return -ESRCH;
	if (!(uint32_t)v[4]) /* freed */
		return -ESRCH;
	out->addr = addr;
	out->root = v[0];
	out->flags = v[1];
	out->dev = (uint32_t)v[2];
	if (!kmem_ptr_ok(v[3]) || kmem__get(k, v[3], KF_FSTYPE_NAME, &name) ||
	    kmem__read_str(k, name, out->type, sizeof(out->type)) <= 0 || !is_word(out->type))
		return -ESRCH;
	if (id < 0 || kmem__read_str(k, addr + (uint64_t)id, out->id, sizeof(out->id)) < 0)
		out->id[0] = '\0';
	return sb_is_linked(k, out) ? 0 : -ESRCH;
}

static bool mode_is_sane(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case 0: /* the kernel's anonymous inodes have no type */
	case S_IFREG:
	case S_IFDIR:
	case S_IFLNK:
	case S_IFBLK:
	case S_IFCHR:
	case S_IFIFO:
	case S_IFSOCK:
		return true;
	default:
		return false;
	}
}

/* The last thing that happens to an inode before its memory is freed is that I_CLEAR is set. The
 * bit has moved twice: with the reordering that came together with the 32-bit i_state (6.12), and
 * later, when the flags became an enum, which BTF knows. */
static bool is_evicted(struct kmem *k, uint64_t state)
{
	int64_t clear = kmem__off(k, KF_ENUM_I_CLEAR);

	if (clear <= 0)
		clear = kmem__size(k, KF_INODE_STATE) == 8 ? 1 << 6 : 1 << 8;
	return state & (uint64_t)clear;
}

int kinode__read(struct kmem *k, uint64_t addr, struct kinode *out)
{
	static const enum kmem_field f[] = {KF_INODE_SB,   KF_INODE_MAPPING, KF_INODE_INO,
					    KF_INODE_MODE, KF_INODE_RDEV,    KF_INODE_GENERATION,
					    KF_INODE_STATE};
	int64_t data = kmem__off(k, KF_INODE_DATA);
	uint64_t v[ARRAY_SIZE(f)], host;

	memset(out, 0, sizeof(*out));
	if (data < 0 || !kmem_ptr_ok(addr) || kmem__getv(k, addr, f, v, ARRAY_SIZE(f)))
		return -ESRCH;
	if (kmem__get(k, addr + (uint64_t)data, KF_MAPPING_HOST, &host) || host != addr)
		return -ESRCH;
	out->addr = addr;
	out->mapping = v[1];
	out->ino = v[2];
	out->mode = (uint32_t)v[3];
	out->rdev = (uint32_t)v[4];
	out->generation = (uint32_t)v[5];
	if (!mode_is_sane(out->mode) || !kmem_ptr_ok(out->mapping) || is_evicted(k, v[6]))
		return -ESRCH;
	return ksb__read(k, v[0], &out->sb);
}

int kmapping__inode(struct kmem *k, uint64_t addr, struct kinode *out)
{
	int64_t data = kmem__off(k, KF_INODE_DATA);
	uint64_t host;

	if (data < 0 || !kmem_ptr_ok(addr) || kmem__get(k, addr, KF_MAPPING_HOST, &host))
		return -ESRCH;
	if (kinode__read(k, host, out))
		return -ESRCH;
	return host + (uint64_t)data == addr || out->mapping == addr ? 0 : -ESRCH;
}

/* f_count is 0 in a freed file; f_ref (6.13+) counts from 0 and is negative when dead. */
static bool file_is_open(struct kmem *k, uint64_t addr)
{
	uint64_t v;

	if (kmem__has(k, KF_FILE_REF))
		return !kmem__get(k, addr, KF_FILE_REF, &v) && !(v >> 63);
	return !kmem__get(k, addr, KF_FILE_COUNT, &v) && v && !(v >> 63);
}

int kfile__read(struct kmem *k, uint64_t addr, struct kfile *out)
{
	static const enum kmem_field f[] = {KF_FILE_INODE, KF_FILE_DENTRY, KF_FILE_MAPPING};
	uint64_t v[ARRAY_SIZE(f)], inode;

	memset(out, 0, sizeof(*out));
	if (!kmem_ptr_ok(addr) || kmem__getv(k, addr, f, v, ARRAY_SIZE(f)))
		return -ESRCH;
	out->addr = addr;
	out->dentry = v[1];
	if (!kmem_ptr_ok(v[1]) || kmem__get(k, v[1], KF_DENTRY_INODE, &inode))
		return -ESRCH;
	if (!file_is_open(k, addr) || kinode__read(k, v[0], &out->inode))
		return -ESRCH;
	/* A file of an overlay may have the dentry above and the inode below. */
	return inode == v[0] || out->inode.mapping == v[2] ? 0 : -ESRCH;
}

int kdentry__read(struct kmem *k, uint64_t addr, struct kdentry *d)
{
	static const enum kmem_field f[] = {KF_DENTRY_PARENT,	KF_DENTRY_SB,
					    KF_DENTRY_NAME,	KF_DENTRY_HASH_PPREV,
					    KF_DENTRY_NAME_LEN, KF_DENTRY_FLAGS};
	uint64_t v[ARRAY_SIZE(f)];

	if (!kmem_ptr_ok(addr) || kmem__getv(k, addr, f, v, ARRAY_SIZE(f)))
		return -EFAULT;
	*d = (struct kdentry){v[0], v[1], v[2], v[3], (uint32_t)v[4], (uint32_t)v[5]};
	return d->len <= NAME_LEN_MAX ? 0 : -ESRCH;
}

int kdentry__prepend(struct kmem *k, const struct kdentry *d, char *buf, size_t *at)
{
	if (!d->len || *at < d->len + 1)
		return -ENAMETOOLONG;
	*at -= d->len;
	if (kmem__read(k, d->name, buf + *at, d->len))
		return -EFAULT;
	if (memchr(buf + *at, '\0', d->len))
		return -ESRCH;
	buf[--*at] = '/';
	return 0;
}

/* The end of the way up: the root of the file system, called "/", or a dentry without a place in a
 * tree (memfd:x, SYSV0001), which has a name of its own. */
static int finish_path(struct kmem *k, uint64_t top, const struct kdentry *d, size_t at,
		       struct kpath *out)
{
	uint64_t root;
	int err;

	out->rooted = !kmem__get(k, d->sb, KF_SB_ROOT, &root) && root == top;
	if (!out->path[at]) {
		err = kdentry__prepend(k, d, out->path, &at);
		if (err)
			return err;
		at += out->path[at + 1] == '/';
	}
	memmove(out->path, out->path + at, sizeof(out->path) - at);
	return 0;
}

static int walk_up(struct kmem *k, uint64_t dentry, struct kpath *out)
{
	size_t at = sizeof(out->path) - 1;
	struct kdentry d;
	uint64_t sb = 0;

	out->path[at] = '\0';
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		int err = kdentry__read(k, dentry, &d);

		if (err)
			return err;
		if (depth && d.sb != sb)
			return -ESRCH;
		sb = d.sb;
		if (!depth)
			out->unlinked = !d.hashed && d.parent != dentry;
		if (d.parent == dentry)
			return finish_path(k, dentry, &d, at, out);
		err = kdentry__prepend(k, &d, out->path, &at);
		if (err)
			return err;
		dentry = d.parent;
	}
	return -ELOOP;
}

int kdentry__path(struct kmem *k, uint64_t dentry, struct kpath *out)
{
	struct kpath *again __free_ptr = malloc(sizeof(*again));
	int err = again ? walk_up(k, dentry, out) : -ENOMEM;

	for (int i = 0; !err && i < WALK_TRIES; i++) {
		err = walk_up(k, dentry, again);
		if (!err && !strcmp(out->path, again->path) && out->unlinked == again->unlinked)
			return 0;
		*out = *again;
	}
	return err ? err : -EAGAIN;
}

int kinode__dentry(struct kmem *k, const struct kinode *inode, uint64_t *out)
{
	int64_t alias = kmem__off(k, KF_DENTRY_ALIAS);
	uint64_t node, dinode, hashed;

	*out = 0;
	if (alias < 0 || kmem__get(k, inode->addr, KF_INODE_DENTRY, &node))
		return -ENOENT;
	for (int i = 0; node && i < ALIASES_MAX; i++) {
		uint64_t dentry = node - (uint64_t)alias;

		if (!kmem_ptr_ok(node) || kmem__get(k, dentry, KF_DENTRY_INODE, &dinode) ||
		    dinode != inode->addr)
			break;
		if (!kmem__get(k, dentry, KF_DENTRY_HASH_PPREV, &hashed)) {
			if (!*out || hashed)
				*out = dentry;
			if (hashed)
				break;
		}
		if (kmem__get(k, node, KF_DENTRY_ALIAS_NEXT, &node))
			break;
	}
	return *out ? 0 : -ENOENT;
}
