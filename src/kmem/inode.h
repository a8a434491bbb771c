/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_KMEM_INODE_H
#define LOCKBLAME_KMEM_INODE_H

#include "kmem/kmem.h"

/* Super blocks, inodes, dentries, open files. Every read function returns 0 only when the structure's
 * own back pointers say that it is what it is taken for, else -ESRCH (or -EFAULT). */
struct ksb {
	uint64_t addr;
	uint64_t root;	/* its root dentry; 0 while it is being torn down */
	uint64_t flags; /* SB_* */
	uint32_t dev;	/* the kernel's own dev_t: major << 20 | minor */
	char type[32];	/* "ext4" */
	char id[32];	/* "sda1"; what the file system calls the instance, may be empty */
};

#define KSB_KERNMOUNT (1u << 22)
#define KSB_NOUSER (1u << 31)

int ksb__read(struct kmem *k, uint64_t addr, struct ksb *out);

static inline unsigned int kdev_major(uint32_t dev)
{
	return dev >> 20;
}

static inline unsigned int kdev_minor(uint32_t dev)
{
	return dev & 0xfffff;
}

struct kinode {
	uint64_t addr;
	uint64_t mapping; /* i_mapping: another inode's for a block special file */
	uint64_t ino;
	uint32_t generation;
	uint32_t mode;
	uint32_t rdev; /* as ksb.dev */
	struct ksb sb;
};

int kinode__read(struct kmem *k, uint64_t addr, struct kinode *out);

/* The inode that the address_space at addr belongs to. */
int kmapping__inode(struct kmem *k, uint64_t addr, struct kinode *out);

struct kfile {
	uint64_t addr;
	uint64_t dentry;
	struct kinode inode;
};

int kfile__read(struct kmem *k, uint64_t addr, struct kfile *out);

/* Path of a dentry inside its file system ("/usr/lib/x", "/" for its root; for the nameless file
 * systems of the kernel just the name). Walked twice, so that a rename in between can't mix two
 * paths. */
struct kpath {
	char path[4096];
	bool unlinked;
	bool rooted; /* leads up to the root of its file system; else only the last parts are known */
};

/* One step of such a walk. */
struct kdentry {
	uint64_t parent; /* itself: a root */
	uint64_t sb;
	uint64_t name;
	uint64_t hashed; /* 0: unlinked, or a root */
	uint32_t len;
	uint32_t flags;
};

int kdentry__read(struct kmem *k, uint64_t addr, struct kdentry *d);
/* Puts "/NAME" in front of what buf holds from *at on, and moves *at. */
int kdentry__prepend(struct kmem *k, const struct kdentry *d, char *buf, size_t *at);

int kdentry__path(struct kmem *k, uint64_t dentry, struct kpath *out);
/* A name of the inode: its first dentry that is still in its directory, else a deleted one. -ENOENT when
 * no name of it is in the kernel's memory. */
int kinode__dentry(struct kmem *k, const struct kinode *inode, uint64_t *dentry);

#endif
