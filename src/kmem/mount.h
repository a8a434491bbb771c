/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_KMEM_MOUNT_H
#define LOCKBLAME_KMEM_MOUNT_H

#include "kmem/kmem.h"

/* The absolute path under which this process sees the dentry of super block sb: by way of the mounts
 * in its own namespace, from its own root, through the shortest of several. Nothing here takes a lock
 * in the kernel, while a read of /proc/self/mountinfo waits for whoever holds namespace_sem.
 * 0; -ENOENT: not mounted where we are, or hidden below another mount; -ENAMETOOLONG; -EAGAIN: the
 * mounts changed at every try; -EOPNOTSUPP: this kernel's structures are not known. */
int kmount__path(struct kmem *k, uint64_t sb, uint64_t dentry, char *buf, size_t size);

#endif
