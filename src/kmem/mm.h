/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_KMEM_MM_H
#define LOCKBLAME_KMEM_MM_H

#include "kmem/kmem.h"
#include "kmem/task.h"

/* The process that an mm belongs to: its thread-group leader where that is alive, else the task that
 * was found. */
struct kmm {
	uint64_t addr;
	struct ktask process;
};

/* 0 when addr is the mm_struct of a live process, told by a task whose mm it is: mm->owner (there
 * with CONFIG_MEMCG), else a task of the process hint_tgid, else any, from a pass over all tasks.
 * -ESRCH: no process has this mm (it may be no mm at all, or that of an exiting process). */
int kmm__read(struct kmem *k, uint64_t addr, pid_t hint_tgid, struct kmm *out);

/* 0 when addr is the mm_struct of a process that is exiting: nobody's mm any more, but still there,
 * and with the file it runs. *file is that struct file. */
int kmm__exiting(struct kmem *k, uint64_t addr, uint64_t *file);

/* The anon_vma at addr, verified through its tree of VMAs: each belongs to an mm. */
struct kanon {
	uint64_t addr;
	uint64_t mm;	   /* of the first VMA found */
	bool several;	   /* there are VMAs of other processes too, or more than were looked at */
};

int kanon__read(struct kmem *k, uint64_t addr, struct kanon *out);

#endif
