// SPDX-License-Identifier: GPL-2.0
/* The memory image in memory; image_file.c reads and writes its file form. */
#include "kmem/image.h"

#include <errno.h>
#include <string.h>

#include "kmem/image_impl.h"
#include "kmem/impl.h"
#include "util/cleanup.h"

#define BUCKETS 1024

struct chunk {
	struct chunk *next;
	uint64_t base; /* multiple of KMEM_CHUNK */
	uint8_t bytes[KMEM_CHUNK];
	bool valid[KMEM_CHUNK];
};

struct named {
	char *name;
	uint64_t addr, value;
};

struct kmem_image {
	struct kmem k;
	struct chunk *buckets[BUCKETS];
	struct kmem_tasks rows;
	struct named *named; /* symbols (with a name) and cache answers (without) */
	size_t n_named;
	char kernel[64];
};

static struct kmem_image *image(struct kmem *k)
{
	return (struct kmem_image *)k;
}

static struct chunk **bucket(struct kmem_image *img, uint64_t base)
{
	return &img->buckets[(base / KMEM_CHUNK * 0x9e3779b97f4a7c15ull) >> 54];
}

static struct chunk *find_chunk(struct kmem_image *img, uint64_t addr)
{
	uint64_t base = addr & ~(uint64_t)(KMEM_CHUNK - 1);
	struct chunk *c = *bucket(img, base);

	while (c && c->base != base)
		c = c->next;
	return c;
}

static struct chunk *make_chunk(struct kmem_image *img, uint64_t addr)
{
	struct chunk *c = find_chunk(img, addr), **head;

	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->base = addr & ~(uint64_t)(KMEM_CHUNK - 1);
	head = bucket(img, c->base);
	c->next = *head;
	*head = c;
	return c;
}

int kmem_image__put(struct kmem *k, uint64_t addr, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < len; i++, addr++) {
		struct chunk *c = make_chunk(image(k), addr);

		if (!c)
			return -ENOMEM;
		c->bytes[addr % KMEM_CHUNK] = p[i];
		c->valid[addr % KMEM_CHUNK] = true;
	}
	return 0;
}

int kmem_image__put_u64(struct kmem *k, uint64_t addr, uint64_t v)
{
	return kmem_image__put(k, addr, &v, sizeof(v));
}

void kmem_image__drop(struct kmem *k, uint64_t addr, size_t len)
{
	for (; len--; addr++) {
		struct chunk *c = find_chunk(image(k), addr);

		if (c)
			c->valid[addr % KMEM_CHUNK] = false;
	}
}

static int read_one(struct kmem_image *img, const struct kmem_req *r)
{
	for (size_t i = 0; i < r->len; i++) {
		struct chunk *c = find_chunk(img, r->addr + i);

		if (!c || !c->valid[(r->addr + i) % KMEM_CHUNK])
			return -EFAULT;
		((uint8_t *)r->buf)[i] = c->bytes[(r->addr + i) % KMEM_CHUNK];
	}
	return 0;
}

static void image_readv(struct kmem *k, struct kmem_req *reqs, size_t n)
{
	k->stats.runs++;
	for (size_t i = 0; i < n; i++)
		if (!reqs[i].err)
			reqs[i].err = read_one(image(k), &reqs[i]);
}

/* Fields are set, not looked up: what is unasked is absent. */
static int image_field(struct kmem *k, enum kmem_field f, struct btf_field *out)
{
	return -ENOENT;
}

int kmem_image__set_field(struct kmem *k, enum kmem_field f, uint32_t off, uint32_t size)
{
	k->fields[f].at = (struct btf_field){.off = off, .size = size};
	k->fields[f].state = FIELD_PRESENT;
	return 0;
}

void kmem_image__clear_field(struct kmem *k, enum kmem_field f)
{
	k->fields[f].state = FIELD_ABSENT;
}

int kmem_image__add_task(struct kmem *k, const struct kmem_task_row *row)
{
	struct kmem_tasks *t = &image(k)->rows;
	struct kmem_task_row *r = NULL;

	for (size_t i = 0; i < t->n && !r; i++)
		if (t->rows[i].task == row->task)
			r = &t->rows[i];
	if (!r)
		r = kmem_tasks__add(t);
	if (!r)
		return -ENOMEM;
	*r = *row;
	return 0;
}

static int image_tasks(struct kmem *k, struct kmem_tasks *t)
{
	const struct kmem_tasks *rows = &image(k)->rows;

	for (size_t i = 0; i < rows->n; i++) {
		struct kmem_task_row *r = kmem_tasks__add(t);

		if (!r)
			return -ENOMEM;
		*r = rows->rows[i];
	}
	return rows->n ? 0 : -EOPNOTSUPP;
}

static struct named *find_named(struct kmem_image *img, const char *name, uint64_t addr)
{
	for (size_t i = 0; i < img->n_named; i++) {
		struct named *s = &img->named[i];

		if (name ? s->name && !strcmp(s->name, name) : !s->name && s->addr == addr)
			return s;
	}
	return NULL;
}

static int add_named(struct kmem *k, const char *name, uint64_t addr, uint64_t value)
{
	struct kmem_image *img = image(k);
	struct named *s = find_named(img, name, addr);

	if (!s) {
		s = reallocarray(img->named, img->n_named + 1, sizeof(*s));
		if (!s)
			return -ENOMEM;
		img->named = s;
		s += img->n_named;
		s->name = name ? strdup(name) : NULL;
		if (name && !s->name)
			return -ENOMEM;
		img->n_named++;
	}
	s->addr = addr;
	s->value = value;
	return 0;
}

int kmem_image__add_symbol(struct kmem *k, const char *name, uint64_t addr)
{
	return add_named(k, name, addr, 0);
}

int kmem_image__add_cache(struct kmem *k, uint64_t addr, uint64_t cache)
{
	return add_named(k, NULL, addr, cache);
}

static uint64_t image_symbol(struct kmem *k, const char *name)
{
	const struct named *s = find_named(image(k), name, 0);

	return s ? s->addr : 0;
}

static int image_slab_cache(struct kmem *k, uint64_t addr, uint64_t *cache)
{
	const struct named *s = find_named(image(k), NULL, addr);

	if (s)
		*cache = s->value;
	return s != NULL;
}

static void image_free(struct kmem *k)
{
	struct kmem_image *img = image(k);

	for (size_t i = 0; i < BUCKETS; i++) {
		while (img->buckets[i]) {
			struct chunk *c = img->buckets[i];

			img->buckets[i] = c->next;
			free(c);
		}
	}
	for (size_t i = 0; i < img->n_named; i++)
		free(img->named[i].name);
	free(img->named);
	free(img->rows.rows);
	kmem__fini(k);
	free(img);
}

static const struct kmem_ops image_ops = {
	.readv = image_readv,
	.field = image_field,
	.tasks = image_tasks,
	.symbol = image_symbol,
	.slab_cache = image_slab_cache,
	.free = image_free,
};

struct kmem *kmem_image__new(void)
{
	struct kmem_image *img = calloc(1, sizeof(*img));

	if (!img)
		return NULL;
	kmem__init(&img->k, &image_ops);
	return &img->k;
}

char *kmem_image__kernel(struct kmem *k, size_t *size)
{
	*size = sizeof(image(k)->kernel);
	return image(k)->kernel;
}

int kmem_image__each_named(struct kmem *k,
			   int (*fn)(void *ctx, const char *name, uint64_t addr, uint64_t value),
			   void *ctx)
{
	const struct kmem_image *img = image(k);
	int err = 0;

	for (size_t i = 0; i < img->n_named && !err; i++)
		err = fn(ctx, img->named[i].name, img->named[i].addr, img->named[i].value);
	return err;
}

static int by_base(const void *a, const void *b)
{
	const struct chunk *const *x = a, *const *y = b;

	return (*x)->base < (*y)->base ? -1 : (*x)->base > (*y)->base;
}

int kmem_image__each_chunk(struct kmem *k,
			   int (*fn)(void *ctx, uint64_t base, const uint8_t *bytes,
				     const bool *valid),
			   void *ctx)
{
	struct kmem_image *img = image(k);
	struct chunk **all __free_ptr = NULL;
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < BUCKETS; i++)
		for (const struct chunk *c = img->buckets[i]; c; c = c->next)
			n++;
	all = calloc(n + 1, sizeof(struct chunk *));
	if (!all)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct chunk *c = img->buckets[i]; c; c = c->next)
			all[n++] = c;
	qsort(all, n, sizeof(struct chunk *), by_base);
	for (size_t i = 0; i < n && !err; i++)
		err = fn(ctx, all[i]->base, all[i]->bytes, all[i]->valid);
	return err;
}

struct each_word {
	int (*fn)(void *ctx, uint64_t addr, uint64_t value);
	void *ctx;
};

static int chunk_words(void *ctx, uint64_t base, const uint8_t *bytes, const bool *valid)
{
	static const bool all[sizeof(uint64_t)] = {true, true, true, true, true, true, true, true};
	const struct each_word *w = ctx;

	for (size_t i = 0; i < KMEM_CHUNK; i += sizeof(uint64_t)) {
		uint64_t v;
		int err;

		if (memcmp(valid + i, all, sizeof(all)))
			continue;
		memcpy(&v, bytes + i, sizeof(v));
		err = w->fn(w->ctx, base + i, v);
		if (err)
			return err;
	}
	return 0;
}

int kmem_image__each_word(struct kmem *k, int (*fn)(void *ctx, uint64_t addr, uint64_t value),
			  void *ctx)
{
	return kmem_image__each_chunk(k, chunk_words, &(struct each_word){fn, ctx});
}

const struct kmem_tasks *kmem_image__rows(struct kmem *k)
{
	return &image(k)->rows;
}
