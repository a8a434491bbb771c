/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_KMEM_SLABCACHE_H
#define LOCKBLAME_KMEM_SLABCACHE_H

#include <stdint.h>

/* Asks the kernel which slab cache an address belongs to, through the kfunc bpf_get_kmem_cache()
 * (6.13+; the caller has seen that there is one). Loading happens on the first question. */
struct slabcache;

struct slabcache *slabcache__new(void);
void slabcache__free(struct slabcache *s);

/* 1 with the address of the struct kmem_cache in *cache, or 0 in it when addr is no slab memory;
 * 0 when this kernel can't be asked. */
int slabcache__of(struct slabcache *s, uint64_t addr, uint64_t *cache);

#endif
