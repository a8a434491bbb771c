/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_KMEM_KMEM_H
#define LOCKBLAME_KMEM_KMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kmem/btf_offsets.h"
#include "kmem/fields.h"
#include "lockblame/abi.h"
#include "util/err.h"

/* A reader of kernel memory. Three kinds share this interface: the live kernel, a recorded image,
 * and a recorder that passes on what another reader says and keeps it. Walkers (task.h, lock.h,
 * mm.h, inode.h, slab.h) are plain C above it. The kernel goes on running while we read, so that
 * every value may be stale by the time it is looked at: walkers bound their loops, check back
 * pointers, and read again before they claim anything. */
struct kmem;

/* The running kernel, read by small BPF programs through BPF_PROG_TEST_RUN (5.10+). offsets is
 * borrowed and must outlive k; give the same one to everybody so that BTF is parsed once. No BTF is
 * read here, only the program is loaded (some milliseconds). NULL with e filled on failure. */
struct kmem *kmem__live(struct btf_offsets *offsets, struct err *e);

/* Where to look for a data symbol of the kernel (KALLSYMS_ALL kernels only): the address, or 0. Used
 * to find out which slab cache an address belongs to on kernels before 6.13. Optional. */
void kmem__set_symbols(struct kmem *k, uint64_t (*addr_of)(void *ctx, const char *name), void *ctx);

void kmem__free(struct kmem *k);

/* Counters of this reader, for whoever measures. */
struct kmem_stats {
	uint64_t runs;	/* batches sent to the kernel */
	uint64_t reads; /* ranges asked for */
	uint64_t faults; /* of these, unreadable */
};
struct kmem_stats kmem__stats(const struct kmem *k);

/* Reads. An address that is no kernel address, or not mapped, is -EFAULT and never harmful; buffers
 * of failed reads are zeroed. */
struct kmem_req {
	uint64_t addr;
	void *buf;
	uint32_t len; /* at most KMEM_READ_MAX */
	int err;      /* out: 0 or -EFAULT */
};
#define KMEM_READ_MAX 16384

int kmem__read(struct kmem *k, uint64_t addr, void *buf, size_t len);
/* Reads n ranges, as many at a time as the reader can. 0 when all could be read, else the error of
 * the first that could not; each has its own err. */
int kmem__readv(struct kmem *k, struct kmem_req *reqs, size_t n);
/* A NUL-terminated string, cut at size - 1. Returns its length or a negative error. */
int kmem__read_str(struct kmem *k, uint64_t addr, char *buf, size_t size);

/* Fields. */
bool kmem__has(struct kmem *k, enum kmem_field f);
/* Offset in bytes, or -ENOENT. */
int64_t kmem__off(struct kmem *k, enum kmem_field f);
/* Size in bytes (of the structure, for the *_SIZE entries), or 0 when the field is absent. */
uint32_t kmem__size(struct kmem *k, enum kmem_field f);
/* Value of an integer or pointer field of the structure at obj, zero-extended. */
int kmem__get(struct kmem *k, uint64_t obj, enum kmem_field f, uint64_t *v);
/* Several fields of one structure in one batch; n <= 16. Fails when one fails. */
int kmem__getv(struct kmem *k, uint64_t obj, const enum kmem_field *f, uint64_t *v, size_t n);

/* Whether this is a PREEMPT_RT kernel, told by the layout of its rw_semaphore. */
bool kmem__is_rt(struct kmem *k);

/* Looks like a pointer to something in kernel memory: upper half, aligned to 8. */
static inline bool kmem_ptr_ok(uint64_t p)
{
	return p >> 63 && !(p & 7) && p < (uint64_t)-4096;
}

/* The task_struct of this process, 0 when not known. */
uint64_t kmem__self(struct kmem *k);

/* All tasks, as one pass over them saw them. */
struct kmem_task_row {
	uint64_t task;
	uint64_t mm; /* 0 for kernel threads and tasks that have let go of theirs */
	pid_t tid;
	pid_t tgid;
	uint64_t start_ns; /* task->start_time, CLOCK_MONOTONIC at creation */
	char comm[LB_COMM_LEN];
};

/* The rows, valid until the next call; *n of them. max_age_ns says how old a former pass may be to be
 * used again (0: make a new one). -EOPNOTSUPP when this kernel allows no task iterator. */
int kmem__tasks(struct kmem *k, uint64_t max_age_ns, const struct kmem_task_row **rows, size_t *n);

#endif
