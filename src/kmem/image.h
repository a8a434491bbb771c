/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_KMEM_IMAGE_H
#define LOCKBLAME_KMEM_IMAGE_H

#include "kmem/kmem.h"

/* Recorded kernel memory, so that every walker can be tested without a kernel, and so that a report
 * of a wrong name can be made again elsewhere.
 *
 * The file is text, a record a line, fields apart by one blank, numbers in decimal unless 0x is in
 * front; empty lines and lines that begin with # count for nothing:
 *
 *	lockblame-kmem-image 1			first line: format and version
 *	kernel RELEASE
 *	field NAME OFFSET SIZE			a field, by its name in fields.h
 *	task ADDRESS MM TID TGID START COMM	a row of the task pass; COMM is the rest of the line
 *	symbol NAME ADDRESS			a data symbol
 *	cache ADDRESS CACHE			what the kernel said about the slab cache of an address
 *	mem ADDRESS HEXBYTES			memory; at most 64 bytes a line
 *
 * Fields that are not listed do not exist on that kernel; memory that is not listed can't be read. */

/* An empty image: no memory, no fields. Also a struct kmem, to be given to walkers. */
struct kmem *kmem_image__new(void);
/* Reads a file. NULL with e filled on failure (which names the line). */
struct kmem *kmem_image__load(const char *path, struct err *e);
int kmem_image__save(struct kmem *k, const char *path, const char *comment, struct err *e);

/* Building and spoiling images (tests). 0 or -ENOMEM. */
int kmem_image__put(struct kmem *k, uint64_t addr, const void *bytes, size_t len);
int kmem_image__put_u64(struct kmem *k, uint64_t addr, uint64_t v);
/* Makes a range unreadable. */
void kmem_image__drop(struct kmem *k, uint64_t addr, size_t len);
/* Calls fn for every aligned 8 bytes that are all there, by rising address; stops when it returns
 * non-zero, which is returned. */
int kmem_image__each_word(struct kmem *k, int (*fn)(void *ctx, uint64_t addr, uint64_t value),
			  void *ctx);
int kmem_image__set_field(struct kmem *k, enum kmem_field f, uint32_t off, uint32_t size);
void kmem_image__clear_field(struct kmem *k, enum kmem_field f);
int kmem_image__add_task(struct kmem *k, const struct kmem_task_row *row);
int kmem_image__add_symbol(struct kmem *k, const char *name, uint64_t addr);
int kmem_image__add_cache(struct kmem *k, uint64_t addr, uint64_t cache);

/* A reader that asks another one (borrowed; must outlive this one) and keeps every answer in an
 * image of its own, to be had with kmem_record__image() (owned by the recorder). */
struct kmem *kmem_record__new(struct kmem *inner);
struct kmem *kmem_record__image(struct kmem *recorder);

#endif
