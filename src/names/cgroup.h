/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_NAMES_CGROUP_H
#define LOCKBLAME_NAMES_CGROUP_H

#include <stdint.h>

#include "util/err.h"

/* Cgroup ids, as BPF reports them (cgroup v2), and their paths. */
struct cgroups;

/* mountinfo NULL: /proc/self/mountinfo. A machine without a cgroup v2 mount is no error: ids then
 * stay numbers. NULL: out of memory. */
struct cgroups *cgroups__new(const char *mountinfo);
void cgroups__free(struct cgroups *cg);

/* Where cgroup v2 is mounted, or NULL. */
const char *cgroups__mount(const struct cgroups *cg);

/* The path below the mount ("/" for the root, "/system.slice/x.service"), or the id as a decimal
 * number when there is no such cgroup (any more). Lives until cgroups__free or, when thousands of
 * cgroups have been asked for, until a later call. */
const char *cgroups__path(struct cgroups *cg, uint64_t id);

/* What the user wrote: an id, a path below the mount ("/a/b" or "a/b"), or a full path in the file
 * system. Stores the id and how many levels below the root it is (root: 0). Returns 0 or -errno with
 * one line in *e. */
int cgroups__find(struct cgroups *cg, const char *text, uint64_t *id, unsigned int *level,
		  struct err *e);

#endif
