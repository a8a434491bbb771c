// SPDX-License-Identifier: GPL-2.0
#include "kmem/slab.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kmem/impl.h"
#include "util/cleanup.h"

#define CACHES_MAX 1024
#define SLABS_MAX 8
#define OO_SHIFT 16 /* kmem_cache_order_objects: order << 16 | objects */
#define ORDER_MAX 10
#define OBJECT_SIZE_MAX (4u << 20)

struct cache {
	uint64_t addr, list;
	uint32_t size, object_size, red_left, order, min_order;
	char name[48];
};

static unsigned int page_shift(void)
{
	return (unsigned int)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
}

static bool is_printable(const char *s)
{
	const char *p = s;

	while (isgraph((unsigned char)*p))
		p++;
	return p != s && !*p;
}

static int read_cache(struct kmem *k, uint64_t addr, struct cache *c)
{
	static const enum kmem_field f[] = {KF_CACHE_NAME, KF_CACHE_SIZE, KF_CACHE_OBJECT_SIZE,
					    KF_CACHE_OO, KF_CACHE_MIN};
	uint64_t v[ARRAY_SIZE(f)], red;

	memset(c, 0, sizeof(*c));
	if (!kmem_ptr_ok(addr) || kmem__getv(k, addr, f, v, ARRAY_SIZE(f)))
		return -ENOENT;
	c->addr = addr;
	c->size = (uint32_t)v[1];
	c->object_size = (uint32_t)v[2];
	c->order = (uint32_t)v[3] >> OO_SHIFT;
	c->min_order = (uint32_t)v[4] >> OO_SHIFT;
	if (!kmem__get(k, addr, KF_CACHE_RED_LEFT, &red))
		c->red_left = (uint32_t)red;
	if (!c->size || c->size > OBJECT_SIZE_MAX || !c->object_size || c->object_size > c->size ||
	    c->red_left >= c->size || c->order > ORDER_MAX || c->min_order > c->order)
		return -ENOENT;
	if (kmem__read_str(k, v[0], c->name, sizeof(c->name)) <= 0 || !is_printable(c->name))
		return -ENOENT;
	return 0;
}

/* struct page of a direct-map address, given the base. */
static uint64_t page_of(struct kmem *k, uint64_t addr)
{
	return k->page_base + (addr >> page_shift()) * kmem__size(k, KF_PAGE_SIZE_OF);
}

static bool base_from_symbols(struct kmem *k)
{
	uint64_t map_sym = k->ops->symbol(k, "vmemmap_base");
	uint64_t off_sym = k->ops->symbol(k, "page_offset_base");
	uint64_t map, off;

	if (!map_sym || !off_sym || kmem__read(k, map_sym, &map, sizeof(map)) ||
	    kmem__read(k, off_sym, &off, sizeof(off)) || !kmem_ptr_ok(map) || !kmem_ptr_ok(off))
		return false;
	k->page_base = map - (off >> page_shift()) * kmem__size(k, KF_PAGE_SIZE_OF);
	return true;
}

/* A slab on the partial list of a cache is a struct page, and its first free object an address in
 * that page, if its slabs are one page each: a pair that gives the base. */
static bool base_from_cache(struct kmem *k, const struct cache *c, uint64_t *base)
{
	int64_t node_off = kmem__off(k, KF_CACHE_NODE), list = kmem__off(k, KF_SLAB_LIST);
	uint64_t node, link, freelist, owner;

	if (c->order || node_off < 0 || list < 0 || kmem__get(k, c->addr, KF_CACHE_NODE, &node) ||
	    !kmem_ptr_ok(node) || kmem__get(k, node, KF_NODE_PARTIAL, &link))
		return false;
	for (int i = 0; i < SLABS_MAX && kmem_ptr_ok(link); i++) {
		uint64_t slab = link - (uint64_t)list;

		if (kmem__get(k, slab, KF_SLAB_CACHE, &owner) || owner != c->addr)
			return false; /* the list head, or a list that changed */
		if (!kmem__get(k, slab, KF_SLAB_FREELIST, &freelist) && kmem_ptr_ok(freelist)) {
			*base = slab - (freelist >> page_shift()) * kmem__size(k, KF_PAGE_SIZE_OF);
			return true;
		}
		if (kmem__get(k, link, KF_LIST_NEXT, &link))
			return false;
	}
	return false;
}

/* Goes through the list of all caches, from one that is known, until two agree on the base. */
static bool base_from_caches(struct kmem *k, uint64_t known)
{
	int64_t list = kmem__off(k, KF_CACHE_LIST);
	uint64_t link, base, first = 0;

	if (list < 0)
		return false;
	link = known + (uint64_t)list;
	for (int i = 0; i < CACHES_MAX; i++) {
		struct cache c;

		/* One link of the ring is the list's head, which is no cache. */
		if (!read_cache(k, link - (uint64_t)list, &c) && base_from_cache(k, &c, &base)) {
			if (first && first != base)
				return false;
			if (first) {
				k->page_base = base;
				return true;
			}
			first = base;
		}
		if (kmem__get(k, link, KF_LIST_NEXT, &link) || !kmem_ptr_ok(link) ||
		    link == known + (uint64_t)list)
			return false;
	}
	return false;
}

static bool know_page_base(struct kmem *k, uint64_t cache)
{
	if (!k->page_base_state) {
		k->page_base_state = -1;
		if (kmem__size(k, KF_PAGE_SIZE_OF) &&
		    (base_from_symbols(k) || (cache && base_from_caches(k, cache))))
			k->page_base_state = 1;
	}
	return k->page_base_state > 0;
}

static bool page_is_slab(struct kmem *k, uint64_t page)
{
	int64_t bit = kmem__off(k, KF_ENUM_PG_SLAB), type = kmem__off(k, KF_ENUM_PGTY_SLAB);
	uint64_t v;

	/* The page type is the top byte of its word since 6.11, and a page flag before 6.10. */
	if (type > 0 && type < 256)
		return !kmem__get(k, page, KF_PAGE_TYPE, &v) && v >> 24 == (uint64_t)type;
	if (bit > 0 && bit < 64)
		return !kmem__get(k, page, KF_PAGE_FLAGS, &v) && v >> bit & 1;
	return false;
}

/* The first of the pages that page was allocated with. A tail page has bit 0 of the word set; the
 * rest leads to the head, or (7.x) is a mask that leaves the head's address of its own. */
static uint64_t head_of(struct kmem *k, uint64_t page)
{
	uint64_t size = kmem__size(k, KF_PAGE_SIZE_OF), word, head;

	if (kmem__get(k, page, KF_PAGE_HEAD, &word))
		return 0;
	if (!(word & 1))
		return page;
	head = word - 1;
	if (head > page || (page - head) / size >= 1u << ORDER_MAX)
		head = page & word;
	if (head > page || (page - head) % size || (page - head) / size >= 1u << ORDER_MAX)
		return 0;
	return head;
}

/* The first page of the slab that addr lies in, through the page structures: 0 with its virtual
 * address and its cache, -ENOENT when it is no slab page. */
static int slab_of(struct kmem *k, uint64_t addr, uint64_t *start, uint64_t *cache)
{
	uint64_t page = page_of(k, addr), head = head_of(k, page);

	if (!head || !page_is_slab(k, head) || kmem__get(k, head, KF_SLAB_CACHE, cache))
		return -ENOENT;
	*start = ((addr >> page_shift()) - (page - head) / kmem__size(k, KF_PAGE_SIZE_OF))
		 << page_shift();
	return 0;
}

static void place(const struct cache *c, uint64_t addr, uint64_t start, struct kslab *out)
{
	uint64_t at = (addr - start) % c->size;

	if (at >= c->red_left && at - c->red_left < c->object_size)
		out->object = addr - (at - c->red_left);
}

int kslab__read(struct kmem *k, uint64_t addr, struct kslab *out)
{
	uint64_t asked = 0, cache = 0, start = 0;
	int told = k->ops->slab_cache(k, addr, &asked);
	struct cache c;

	memset(out, 0, sizeof(*out));
	if (told && !asked)
		return -ENOENT;
	if (know_page_base(k, asked) && slab_of(k, addr, &start, &cache))
		start = 0;
	if (!told && k->page_base_state < 0)
		return -EOPNOTSUPP;
	/* Both ways must say the same. */
	if (told && start && cache != asked)
		start = 0;
	if (told)
		cache = asked;
	else if (!start)
		return -ENOENT;
	if (read_cache(k, cache, &c))
		return -ENOENT;
	/* Slabs of one size are aligned to it. */
	if (!start && c.order == c.min_order)
		start = addr & ~((1ull << (page_shift() + c.order)) - 1);
	out->cache = cache;
	out->object_size = c.object_size;
	snprintf(out->name, sizeof(out->name), "%s", c.name);
	if (start)
		place(&c, addr, start, out);
	return 0;
}
