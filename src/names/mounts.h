/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_NAMES_MOUNTS_H
#define LOCKBLAME_NAMES_MOUNTS_H

#include <stddef.h>
#include <stdint.h>

/* The mounts of this process's namespace, from /proc/self/mountinfo, read again when the kernel says
 * that they changed. */
struct mounts;

/* path: NULL for /proc/self/mountinfo. NULL when out of memory; a table that can't be read is empty. */
struct mounts *mounts__new(const char *path);
void mounts__free(struct mounts *m);

/* Where the file FSPATH ("/" for the root) of the file system with device number major:minor can be
 * seen. 0 with the absolute path in buf; -ENOENT when that file system is not mounted here, or only
 * parts of it that FSPATH is not in, or another mount hides it; -ENAMETOOLONG. */
int mounts__path(struct mounts *m, unsigned int major, unsigned int minor, const char *fspath,
		 char *buf, size_t size);

#endif
