// SPDX-License-Identifier: GPL-2.0
#include "names/identity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kmem/slab.h"
#include "names/identity_impl.h"
#include "util/cleanup.h"

#define BUCKETS 4096
#define ENTRIES_MAX 16384

struct entry {
	struct entry *next; /* in the bucket */
	uint64_t addr, obj;
	const struct shape *shape; /* for IDENTITY_STRUCTURE */
	uint64_t token[3];
	bool changed; /* took the place of another object, which identity__check has not told yet */
	enum lb_certainty certainty;
	enum identity_how how;
	pid_t pid;
	uint64_t lock;
	char *cls, *text;
};

struct identities {
	struct kmem *k;
	struct identity_syms syms;
	struct mounts *mounts;
	struct entry *buckets[BUCKETS];
	size_t n;
	unsigned int victim; /* bucket that loses an entry next */
};

/* The outcome of a look at an address, before it is kept. */
struct look {
	struct identity id;
	bool refresh; /* in: make the words even for an object that is the same */
	const struct shape *shape;
	uint64_t obj, token[3];
};

struct identities *identities__new(struct kmem *k, const struct identity_syms *syms)
{
	struct identities *ids = calloc(1, sizeof(*ids));

	if (!ids)
		return NULL;
	ids->k = k;
	if (syms)
		ids->syms = *syms;
	ids->mounts = mounts__new(NULL);
	if (!ids->mounts) {
		free(ids);
		return NULL;
	}
	return ids;
}

int identities__set_mountinfo(struct identities *ids, const char *path)
{
	struct mounts *m = mounts__new(path);

	if (!m)
		return -ENOMEM;
	mounts__free(ids->mounts);
	ids->mounts = m;
	return 0;
}

static void drop_entry(struct identities *ids, struct entry **at)
{
	struct entry *e = *at;

	*at = e->next;
	free(e->cls);
	free(e->text);
	free(e);
	ids->n--;
}

void identities__free(struct identities *ids)
{
	if (!ids)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		while (ids->buckets[i])
			drop_entry(ids, &ids->buckets[i]);
	mounts__free(ids->mounts);
	free(ids);
}

static struct entry **slot_of(struct identities *ids, uint64_t addr)
{
	struct entry **at = &ids->buckets[(addr * 0x9e3779b97f4a7c15ull) >> 52];

	while (*at && (*at)->addr != addr)
		at = &(*at)->next;
	return at;
}

static void make_room(struct identities *ids)
{
	while (ids->n >= ENTRIES_MAX) {
		ids->victim = (ids->victim + 1) % BUCKETS;
		if (ids->buckets[ids->victim])
			drop_entry(ids, &ids->buckets[ids->victim]);
	}
}

/* Keeps what was seen. Without memory it is looked up again next time. */
static void keep(struct identities *ids, const struct look *l, bool changed)
{
	struct entry **at = slot_of(ids, l->id.addr), *e;

	if (*at)
		drop_entry(ids, at);
	make_room(ids);
	e = calloc(1, sizeof(*e));
	if (!e)
		return;
	e->addr = l->id.addr;
	e->changed = changed;
	e->lock = l->id.lock;
	e->obj = l->obj;
	e->shape = l->shape;
	memcpy(e->token, l->token, sizeof(e->token));
	e->certainty = l->id.certainty;
	e->how = l->id.how;
	e->pid = l->id.pid;
	e->cls = strdup(l->id.cls);
	e->text = strdup(l->id.text);
	at = slot_of(ids, e->addr);
	*at = e;
	ids->n++;
	if (!e->cls || !e->text)
		drop_entry(ids, at);
}

static void from_entry(const struct entry *e, struct identity *out)
{
	memset(out, 0, sizeof(*out));
	out->addr = e->addr;
	out->lock = e->lock;
	out->how = e->how;
	out->certainty = e->certainty;
	out->pid = e->pid;
	snprintf(out->cls, sizeof(out->cls), "%s", e->cls);
	snprintf(out->text, sizeof(out->text), "%s", e->text);
}

static bool look_symbol(struct identities *ids, struct look *l)
{
	uint64_t off = 0;
	bool is_data = false;
	const char *name =
		ids->syms.name ? ids->syms.name(ids->syms.ctx, l->id.addr, &off, &is_data) : NULL;

	if (!name || !is_data)
		return false;
	l->id.how = IDENTITY_SYMBOL;
	l->id.certainty = LB_EXACT;
	if (off)
		snprintf(l->id.text, sizeof(l->id.text), "%s+0x%" PRIx64, name, off);
	else
		snprintf(l->id.text, sizeof(l->id.text), "%s", name);
	snprintf(l->id.cls, sizeof(l->id.cls), "%.*s", (int)sizeof(l->id.cls) - 1, l->id.text);
	return true;
}

static bool try_shape(struct identities *ids, const struct shape *s, uint64_t obj,
		      const struct identity_hint *hint, struct look *l)
{
	const struct entry *e = *slot_of(ids, l->id.addr);
	struct shape_ctx c = {
		.k = ids->k,
		.mounts = ids->mounts,
		.hint = hint,
		.former = e && e->shape == s && e->obj == obj ? e->token : NULL,
		.refresh = l->refresh,
	};
	struct found f = {0};

	if (!s->verify(&c, obj, &f))
		return false;
	l->shape = s;
	l->obj = obj;
	memcpy(l->token, f.token, sizeof(l->token));
	l->id.how = IDENTITY_STRUCTURE;
	l->id.certainty = f.certainty;
	l->id.pid = f.pid;
	snprintf(l->id.cls, sizeof(l->id.cls), "%s", s->cls);
	snprintf(l->id.text, sizeof(l->id.text), "%s", *f.text ? clean_text(f.text) : e->text);
	return true;
}

static bool look_shape(struct identities *ids, const struct shape *s, enum lb_kind kind,
		       const struct identity_hint *hint, struct look *l)
{
	int64_t off = kmem__off(ids->k, s->field);
	int64_t inner = kmem__off(ids->k, KF_RWSEM_RT_MUTEX);
	uint32_t step = s->count > 1 ? kmem__size(ids->k, s->size) : 0;

	if (off < 0 || !(s->kinds & LB_KIND_BIT(kind)) || (s->count > 1 && !step))
		return false;
	for (unsigned int i = 0; i < s->count; i++) {
		uint64_t obj = l->id.addr - (uint64_t)off - i * step;

		if (try_shape(ids, s, obj, hint, l))
			return true;
		if (inner > 0 && try_shape(ids, s, obj - (uint64_t)inner, hint, l)) {
			l->id.lock = l->id.addr - (uint64_t)inner;
			return true;
		}
	}
	return false;
}

static bool look_shapes(struct identities *ids, enum lb_kind kind, const struct identity_hint *hint,
			struct look *l)
{
	for (unsigned int i = 0; i < lb_n_shapes; i++)
		if (look_shape(ids, &lb_shapes[i], kind, hint, l))
			return true;
	return false;
}

/* A lock field of an object that is being built or has been freed: what it belongs to is known by
 * its slab cache, whose it was is not. */
static bool look_remains(struct identities *ids, const char *cache, struct look *l)
{
	static const struct {
		const char *cache, *cls, *text;
		enum kmem_field field;
	} known[] = {
		{"mm_struct", "mmap_lock", "mmap_lock of an exited process", KF_MM_MMAP_LOCK},
		{"anon_vma", "anon_vma", "anon_vma", KF_ANON_RWSEM},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		int64_t off = kmem__off(ids->k, known[i].field);

		if (off < 0 || strcmp(cache, known[i].cache) ||
		    l->id.addr - l->obj != (uint64_t)off)
			continue;
		snprintf(l->id.cls, sizeof(l->id.cls), "%s", known[i].cls);
		snprintf(l->id.text, sizeof(l->id.text), "%s", known[i].text);
		return true;
	}
	return false;
}

/* What a BPF program saw at the time of the wait counts for more than what memory says now. It is
 * about this one wait, not about the address, and is not kept. */
static bool is_own_mm(const struct identity_hint *hint, const struct look *l, struct identity *out)
{
	if (!hint || !hint->own_mm || !hint->tgid)
		return false;
	if (l->shape == &lb_shapes[0] && l->id.pid == hint->tgid)
		return false; /* memory agrees, and knows the name better */
	*out = (struct identity){
		.addr = l->id.addr,
		.lock = l->id.lock,
		.how = IDENTITY_STRUCTURE,
		.certainty = LB_EXACT,
		.pid = hint->tgid,
	};
	snprintf(out->cls, sizeof(out->cls), "%s", lb_shapes[0].cls);
	snprintf(out->text, sizeof(out->text), "mmap_lock of %s/%d", hint->comm ? hint->comm : "?",
		 hint->tgid);
	clean_text(out->text);
	return true;
}

static bool look_slab(struct identities *ids, struct look *l)
{
	struct kslab s;

	if (kslab__read(ids->k, l->id.addr, &s))
		return false;
	l->id.how = IDENTITY_SLAB;
	l->id.certainty = LB_LIKELY; /* of what it is; the cache is a fact */
	l->obj = s.object;
	l->token[0] = s.cache;
	if (s.object && look_remains(ids, s.name, l))
		return true;
	if (s.object)
		snprintf(l->id.cls, sizeof(l->id.cls), "&%s+0x%" PRIx64, s.name,
			 l->id.addr - s.object);
	else
		snprintf(l->id.cls, sizeof(l->id.cls), "&%s", s.name);
	snprintf(l->id.text, sizeof(l->id.text), "%s", l->id.cls);
	return true;
}

/* Within the image of the kernel or of its modules. */
static bool is_static(uint64_t addr)
{
#ifdef __x86_64__
	return addr >= 0xffffffff80000000ull && addr < 0xffffffffff000000ull;
#else
	return false;
#endif
}

static void look_nothing(struct look *l)
{
	l->id.how = IDENTITY_ADDRESS;
	l->id.certainty = LB_UNKNOWN;
	snprintf(l->id.text, sizeof(l->id.text), "0x%" PRIx64, l->id.addr);
	/* A static lock is a class of its own, also where the kernel does not tell its name. */
	snprintf(l->id.cls, sizeof(l->id.cls), "%.32s",
		 is_static(l->id.addr) ? l->id.text : "unknown");
}

static void look(struct identities *ids, uint64_t addr, enum lb_kind kind,
		 const struct identity_hint *hint, bool refresh, struct look *l)
{
	static const struct identity_hint nothing;

	memset(l, 0, sizeof(*l));
	l->refresh = refresh;
	l->id.addr = addr;
	l->id.lock = addr;
	if (!hint)
		hint = &nothing;
	if (look_symbol(ids, l))
		return;
	if (!ids->k || !(addr >> 63) || !(look_shapes(ids, kind, hint, l) || look_slab(ids, l)))
		look_nothing(l);
}

static bool is_same(const struct entry *e, const struct look *l)
{
	return e->how == l->id.how && e->shape == l->shape &&
	       !memcmp(e->token, l->token, sizeof(e->token)) &&
	       (e->how == IDENTITY_STRUCTURE || !strcmp(e->cls, l->id.cls));
}

/* Nothing there that has a better name than its memory, or just what is left of a process. */
static bool is_remains(const struct look *l)
{
	return l->id.certainty != LB_EXACT;
}

static enum identity_state compare(const struct entry *e, const struct look *l)
{
	if (!e || is_same(e, l))
		return IDENTITY_SAME;
	return e->how == IDENTITY_STRUCTURE && is_remains(l) ? IDENTITY_GONE : IDENTITY_CHANGED;
}

enum identity_state identity__resolve(struct identities *ids, uint64_t addr, enum lb_kind kind,
				      const struct identity_hint *hint, struct identity *out)
{
	const struct entry *e = *slot_of(ids, addr);
	enum identity_state st;
	struct look l;

	if (e && e->how == IDENTITY_SYMBOL) {
		from_entry(e, out);
		return IDENTITY_SAME;
	}
	look(ids, addr, kind, hint, false, &l);
	if (is_own_mm(hint, &l, out))
		return IDENTITY_SAME;
	st = compare(e, &l);
	*out = l.id;
	/* What has gone is kept until it has been told, or something else is there. */
	if (!e || st == IDENTITY_CHANGED)
		keep(ids, &l, e != NULL);
	return st;
}

enum identity_state identity__check(struct identities *ids, uint64_t addr, enum lb_kind kind,
				    const struct identity_hint *hint, struct identity *out)
{
	const struct entry *e = *slot_of(ids, addr);
	enum identity_state st;
	struct look l;

	if (!e || e->how == IDENTITY_SYMBOL)
		return identity__resolve(ids, addr, kind, hint, out);
	look(ids, addr, kind, hint, true, &l);
	if (is_own_mm(hint, &l, out))
		return IDENTITY_SAME;
	st = compare(e, &l);
	if (st == IDENTITY_GONE) {
		from_entry(e, out);
		return st;
	}
	if (e->changed)
		st = IDENTITY_CHANGED;
	*out = l.id;
	keep(ids, &l, false);
	return st;
}
