/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_KMEM_SLAB_H
#define LOCKBLAME_KMEM_SLAB_H

#include "kmem/kmem.h"

/* The slab object that an address lies in. */
struct kslab {
	uint64_t cache;
	uint64_t object; /* start of the object, 0 when only the cache is known */
	uint32_t object_size;
	char name[48]; /* of the cache; caches of one size may be merged under one name */
};

/* 0; -ENOENT: no slab memory; -EOPNOTSUPP: this kernel does not tell. The kernel is asked where it
 * can be (6.13+), else its page structures are read, which needs their base address: from symbols
 * (KALLSYMS_ALL), or worked out from a slab page that some cache has on a list. */
int kslab__read(struct kmem *k, uint64_t addr, struct kslab *out);

#endif
