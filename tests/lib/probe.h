/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_TESTS_PROBE_H
#define LOCKBLAME_TESTS_PROBE_H

#include "kmem/kmem.h"

/* Kernel addresses of things this process made, by walking from its own task. */
extern struct kmem *probe_k; /* what to walk with */
extern struct btf_offsets *probe_offsets;

uint64_t task_of(pid_t tid); /* 0: none */
uint64_t task_of_self(void);
/* The value of a field, 0 when it can't be read; the address of a field. */
uint64_t get(uint64_t obj, enum kmem_field f);
uint64_t at(uint64_t obj, enum kmem_field f);
/* struct file and inode of an open file of this process, its inode's i_rwsem. */
uint64_t file_of(int fd);
uint64_t inode_of(int fd);
uint64_t lock_of_inode(int fd);
/* The first VMA of this process that want() accepts, or 0; two such functions. */
uint64_t find_vma(bool (*want)(uint64_t vma));
bool has_anon(uint64_t vma);
bool is_huge(uint64_t vma);

/* Calls for hold__begin() (copying through page) and waiter__begin() (page is NULL). The arguments
 * are a pointer to a file descriptor; for do_getdents and do_creat the path of a directory. */
long do_pwrite(void *arg, char *page);	 /* i_rwsem for write */
long do_read(void *arg, char *page);	 /* f_pos_lock */
long do_write(void *arg, char *page);	 /* on a pipe: its mutex */
long do_getdents(void *arg, char *page); /* i_rwsem for read */
long do_creat(void *arg, char *page);	 /* i_rwsem for write */

#endif
