// SPDX-License-Identifier: GPL-2.0
/* A reader that keeps what another one answers. */
#include <errno.h>
#include <stdlib.h>

#include "kmem/image.h"
#include "kmem/impl.h"

struct kmem_record {
	struct kmem k;
	struct kmem *inner;
	struct kmem *image;
};

static struct kmem_record *record(struct kmem *k)
{
	return (struct kmem_record *)k;
}

static void record_readv(struct kmem *k, struct kmem_req *reqs, size_t n)
{
	struct kmem_record *r = record(k);

	r->inner->ops->readv(r->inner, reqs, n);
	for (size_t i = 0; i < n; i++)
		if (!reqs[i].err)
			kmem_image__put(r->image, reqs[i].addr, reqs[i].buf, reqs[i].len);
}

static int record_field(struct kmem *k, enum kmem_field f, struct btf_field *out)
{
	struct kmem_record *r = record(k);

	if (!kmem__has(r->inner, f))
		return -ENOENT;
	out->off = (uint32_t)kmem__off(r->inner, f);
	out->size = kmem__size(r->inner, f);
	return kmem_image__set_field(r->image, f, out->off, out->size);
}

static int record_tasks(struct kmem *k, struct kmem_tasks *t)
{
	struct kmem_record *r = record(k);
	int err = r->inner->ops->tasks(r->inner, t);

	for (size_t i = 0; !err && i < t->n; i++)
		err = kmem_image__add_task(r->image, &t->rows[i]);
	return err;
}

static uint64_t record_symbol(struct kmem *k, const char *name)
{
	struct kmem_record *r = record(k);
	uint64_t addr = r->inner->ops->symbol(r->inner, name);

	if (addr)
		kmem_image__add_symbol(r->image, name, addr);
	return addr;
}

static int record_slab_cache(struct kmem *k, uint64_t addr, uint64_t *cache)
{
	struct kmem_record *r = record(k);
	int known = r->inner->ops->slab_cache(r->inner, addr, cache);

	if (known)
		kmem_image__add_cache(r->image, addr, *cache);
	return known;
}

static void record_free(struct kmem *k)
{
	kmem__free(record(k)->image);
	kmem__fini(k);
	free(k);
}

static const struct kmem_ops record_ops = {
	.readv = record_readv,
	.field = record_field,
	.tasks = record_tasks,
	.symbol = record_symbol,
	.slab_cache = record_slab_cache,
	.free = record_free,
};

struct kmem *kmem_record__new(struct kmem *inner)
{
	struct kmem_record *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->image = kmem_image__new();
	if (!r->image) {
		free(r);
		return NULL;
	}
	kmem__init(&r->k, &record_ops);
	r->inner = inner;
	return &r->k;
}

struct kmem *kmem_record__image(struct kmem *recorder)
{
	return record(recorder)->image;
}
