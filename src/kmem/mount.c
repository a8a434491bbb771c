// SPDX-License-Identifier: GPL-2.0
#include "kmem/mount.h"

#include <errno.h>
#include <string.h>

#include "kmem/inode.h"
#include "util/cleanup.h"

#define PATH_SIZE 4096
#define STEPS_MAX 512
#define MOUNTS_MAX 512	   /* of one super block */
#define CHILDREN_MAX 65536 /* of one mount */

/* A place in the tree of mounts: a dentry, seen through a mount. */
struct place {
	uint64_t mount, dentry;
};

struct mount {
	uint64_t parent, point, root, sb, ns;
};

/* Where this process stands: its mount namespace, and its root. */
struct stand {
	uint64_t ns;
	struct place root;
};

static int read_mount(struct kmem *k, uint64_t addr, struct mount *m)
{
	static const enum kmem_field f[] = {KF_MOUNT_PARENT, KF_MOUNT_POINT, KF_MOUNT_ROOT,
					    KF_MOUNT_SB, KF_MOUNT_NS};
	uint64_t v[ARRAY_SIZE(f)];
	int err = kmem_ptr_ok(addr) ? kmem__getv(k, addr, f, v, ARRAY_SIZE(f)) : -EFAULT;

	if (!err)
		*m = (struct mount){v[0], v[1], v[2], v[3], v[4]};
	return err;
}

static int read_stand(struct kmem *k, struct stand *s)
{
	static const enum kmem_field f[] = {KF_FS_ROOT_MNT, KF_FS_ROOT_DENTRY};
	int64_t vfs = kmem__off(k, KF_MOUNT_VFS);
	uint64_t self = kmem__self(k), nsproxy, fs, v[2];

	if (!self || vfs < 0 || !kmem__has(k, KF_SB_MOUNTS) || !kmem__has(k, KF_MOUNT_NS))
		return -EOPNOTSUPP;
	if (kmem__get(k, self, KF_TASK_NSPROXY, &nsproxy) || !kmem_ptr_ok(nsproxy) ||
	    kmem__get(k, nsproxy, KF_NSPROXY_MNT, &s->ns) || kmem__get(k, self, KF_TASK_FS, &fs) ||
	    !kmem_ptr_ok(fs) || kmem__getv(k, fs, f, v, 2))
		return -EOPNOTSUPP;
	s->root = (struct place){v[0] - (uint64_t)vfs, v[1]};
	return 0;
}

/* 1 when something is mounted on dentry, seen through mount. The flag of the dentry, which stands
 * for all namespaces, spares us the list most of the time. It was bit 16, and is 15 since it is an
 * enum. Else 0, or an error. */
static int covered(struct kmem *k, uint64_t mount, uint64_t dentry, uint32_t flags)
{
	int64_t bit = kmem__off(k, KF_ENUM_DCACHE_MOUNTED), child = kmem__off(k, KF_MOUNT_CHILD);
	uint64_t head = mount + (uint64_t)kmem__off(k, KF_MOUNT_CHILDREN), link, prev, point;

	if (!(flags & (bit > 0 ? (uint32_t)bit : 0x18000u)))
		return 0;
	if (child < 0 || !kmem__has(k, KF_MOUNT_CHILDREN))
		return -EOPNOTSUPP;
	if (kmem__get(k, head, KF_LIST_NEXT, &link))
		return -EAGAIN;
	prev = head;
	for (int i = 0; link != head; i++) {
		uint64_t back;

		if (i == CHILDREN_MAX || !kmem_ptr_ok(link) ||
		    kmem__get(k, link, KF_LIST_PREV, &back) || back != prev ||
		    kmem__get(k, link - (uint64_t)child, KF_MOUNT_POINT, &point))
			return -EAGAIN;
		if (point == dentry)
			return 1;
		prev = link;
		if (kmem__get(k, link, KF_LIST_NEXT, &link))
			return -EAGAIN;
	}
	return 0;
}

/* Writes the way from the root of the process to p at the end of buf; *at is its begin. */
static int walk_up(struct kmem *k, const struct stand *s, struct place p, char *buf, size_t *at)
{
	bool from_child = false; /* p is what the mount we came from covers */
	struct mount m;

	*at = PATH_SIZE - 1;
	buf[*at] = '\0';
	if (read_mount(k, p.mount, &m))
		return -EAGAIN;
	for (int step = 0; step < STEPS_MAX; step++) {
		struct kdentry d;
		int err = kdentry__read(k, p.dentry, &d);

		if (err)
			return -EAGAIN;
		if (!from_child) {
			err = covered(k, p.mount, p.dentry, d.flags);
			if (err)
				return err < 0 ? err : -ENOENT;
		}
		if (p.mount == s->root.mount && p.dentry == s->root.dentry)
			return 0;
		if (p.dentry == m.root) {
			if (m.parent == p.mount)
				return -ENOENT; /* above our root */
			p = (struct place){m.parent, m.point};
			if (read_mount(k, p.mount, &m))
				return -EAGAIN;
			from_child = true;
			continue;
		}
		if (d.parent == p.dentry)
			return -ENOENT; /* this mount shows another part of the file system */
		err = kdentry__prepend(k, &d, buf, at);
		if (err)
			return err == -ENAMETOOLONG ? err : -EAGAIN;
		p.dentry = d.parent;
		from_child = false;
	}
	return -EAGAIN;
}

/* Twice, so that no path is put together from before and after a rename. */
static int path_through(struct kmem *k, const struct stand *s, struct place p, char *buf)
{
	char *again __free_ptr = malloc(PATH_SIZE);
	size_t at1, at2;
	int err = again ? walk_up(k, s, p, buf, &at1) : -ENOMEM;

	if (!err)
		err = walk_up(k, s, p, again, &at2);
	if (err)
		return err;
	if (strcmp(buf + at1, again + at2))
		return -EAGAIN;
	if (!buf[at1])
		buf[--at1] = '/';
	memmove(buf, buf + at1, PATH_SIZE - at1);
	return 0;
}

/* The next mount of a super block: a list with its head in the super block, or (6.18) a chain of
 * mounts that ends with NULL. 0 at the end. */
static uint64_t next_mount(struct kmem *k, uint64_t sb, uint64_t mount)
{
	int64_t link = kmem__off(k, KF_MOUNT_INSTANCE);
	uint64_t head = sb + (uint64_t)kmem__off(k, KF_SB_MOUNTS), next;
	int err;

	if (link < 0)
		err = mount ? kmem__get(k, mount, KF_MOUNT_NEXT_FOR_SB, &next)
			    : kmem__get(k, sb, KF_SB_MOUNTS, &next);
	else
		err = kmem__get(k, mount ? mount + (uint64_t)link : head, KF_LIST_NEXT, &next);
	if (err || !kmem_ptr_ok(next) || next == head)
		return 0;
	return link < 0 ? next : next - (uint64_t)link;
}

int kmount__path(struct kmem *k, uint64_t sb, uint64_t dentry, char *buf, size_t size)
{
	char *one __free_ptr = malloc(PATH_SIZE);
	uint64_t mount = 0;
	struct stand s;
	int err = one ? read_stand(k, &s) : -ENOMEM, best = -ENOENT;

	if (!err && !kmem__has(k, KF_MOUNT_INSTANCE) && !kmem__has(k, KF_MOUNT_NEXT_FOR_SB))
		err = -EOPNOTSUPP;
	if (err)
		return err;
	*buf = '\0';
	for (int i = 0; i < MOUNTS_MAX && (mount = next_mount(k, sb, mount)); i++) {
		struct mount m;

		if (read_mount(k, mount, &m) || m.sb != sb)
			return -EAGAIN;
		if (m.ns != s.ns)
			continue;
		err = path_through(k, &s, (struct place){mount, dentry}, one);
		if (!err && strlen(one) >= size)
			err = -ENAMETOOLONG;
		if (!err && (best || strlen(one) < strlen(buf)))
			memcpy(buf, one, strlen(one) + 1);
		if (!err || best == -ENOENT)
			best = err;
	}
	return best;
}
