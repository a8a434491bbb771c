/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_KMEM_IMAGE_IMPL_H
#define LOCKBLAME_KMEM_IMAGE_IMPL_H

/* What image_file.c needs to know of an image. */
#include "kmem/impl.h"

#define KMEM_CHUNK 64

/* The buffer that holds the kernel release, and its size. */
char *kmem_image__kernel(struct kmem *k, size_t *size);

/* Calls fn for all symbols (name set) and cache answers (name NULL); stops at the first that returns
 * non-zero, which is returned. */
int kmem_image__each_named(struct kmem *k, int (*fn)(void *ctx, const char *name, uint64_t addr,
						      uint64_t value), void *ctx);
/* The same for chunks of KMEM_CHUNK bytes, by rising address. */
int kmem_image__each_chunk(struct kmem *k, int (*fn)(void *ctx, uint64_t base, const uint8_t *bytes,
						      const bool *valid), void *ctx);
const struct kmem_tasks *kmem_image__rows(struct kmem *k);

#endif
