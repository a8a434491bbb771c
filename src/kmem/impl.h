/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_KMEM_IMPL_H
#define LOCKBLAME_KMEM_IMPL_H

/* What a back end of struct kmem provides. Only src/kmem includes this. */
#include "kmem/kmem.h"

#define KMEM_SELF "(self)"

struct kmem_tasks {
	struct kmem_task_row *rows;
	size_t n, cap;
};

struct kmem_ops {
	/* Sets err of every request; buffers of failed ones are zeroed by the caller. */
	void (*readv)(struct kmem *k, struct kmem_req *reqs, size_t n);
	int (*field)(struct kmem *k, enum kmem_field f, struct btf_field *out);
	/* Fills t (emptied by the caller). */
	int (*tasks)(struct kmem *k, struct kmem_tasks *t);
	/* Address of a data symbol, 0 when not known; that of the own task for KMEM_SELF. */
	uint64_t (*symbol)(struct kmem *k, const char *name);
	/* Address of the kmem_cache that addr belongs to as the kernel itself says: 1 and *cache (0: it
	 * is no slab memory), 0 when the kernel can't be asked. */
	int (*slab_cache)(struct kmem *k, uint64_t addr, uint64_t *cache);
	void (*free)(struct kmem *k);
};

enum kmem_field_state {
	FIELD_UNASKED,
	FIELD_PRESENT,
	FIELD_ABSENT,
};

struct kmem {
	const struct kmem_ops *ops;
	struct kmem_stats stats;
	struct {
		struct btf_field at;
		enum kmem_field_state state;
	} fields[KF_N];
	struct kmem_tasks tasks;
	uint64_t tasks_at; /* CLOCK_MONOTONIC of the last pass, 0: none */
	/* slab.c: struct page of a virtual address v in the direct map is page_base + (v >> PAGE_SHIFT) *
	 * sizeof(struct page). */
	uint64_t page_base;
	int page_base_state; /* 0 not tried, 1 known, -1 can't be had */
};

void kmem__init(struct kmem *k, const struct kmem_ops *ops);
void kmem__fini(struct kmem *k);
const char *kmem__field_path(enum kmem_field f); /* for btf_offsets__find() */
const char *kmem__field_name(enum kmem_field f); /* "TASK_PID" */
struct kmem_task_row *kmem_tasks__add(struct kmem_tasks *t);

#endif
