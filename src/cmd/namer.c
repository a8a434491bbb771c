// SPDX-License-Identifier: GPL-2.0
#include "cmd/namer.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/kernel.h"
#include "kmem/btf_offsets.h"
#include "kmem/kmem.h"
#include "kmem/lock.h"
#include "names/cgroup.h"
#include "names/identity.h"
#include "names/ksym.h"
#include "names/site.h"
#include "names/usym.h"
#include "util/cleanup.h"
#include "util/intern.h"

/* Stack ids never change their meaning, so their sites are looked up once. */
struct site_entry {
	int32_t id;
	const char *site;
};

/* A lock under the name it had when it was first seen in a wait of this process. */
struct lock_entry {
	uint64_t addr;
	uint32_t tgid;
	pid_t owner_pid; /* the process it belongs to, for an mmap_lock */
	uint64_t lock; /* the lock that addr belongs to */
	unsigned int kind;
	enum lb_certainty certainty;
	const char *text, *cls;
};

/* So many locks are remembered; then all are named anew. */
#define LOCKS_MAX 65536

struct namer {
	struct collect *collect;
	struct intern *pool;
	struct ksyms *ksyms;
	struct usyms *usyms;
	struct cgroups *cgroups;
	struct btf_offsets *offsets;
	struct kmem *kmem;
	struct identities *ids;
	void *sites; /* tsearch tree of struct site_entry */
	void *locks; /* of struct lock_entry */
	unsigned int n_locks;
	char why[256], no_memory[256];
};

static void open_memory(struct namer *n)
{
	struct identity_syms syms;
	struct err e = {0};

	n->offsets = n->collect ? btf_offsets__borrow(collect__kernel(n->collect)->btf)
				: btf_offsets__new(NULL);
	n->kmem = n->offsets ? kmem__live(n->offsets, &e) : NULL;
	syms = identity_syms__kallsyms(n->ksyms, n->kmem);
	if (!n->kmem) {
		snprintf(n->why, sizeof(n->why), "locks have no names: %.200s", e.msg);
		snprintf(n->no_memory, sizeof(n->no_memory), "%.200s", e.msg);
	}
	n->ids = identities__new(n->kmem, &syms);
}

static int cmp_lock(const void *a, const void *b)
{
	const struct lock_entry *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static void take_name(struct namer *n, struct lock_entry *l, const struct identity *id)
{
	l->lock = id->lock ? id->lock : l->addr;
	l->certainty = id->certainty;
	l->owner_pid = id->pid;
	l->text = intern__get(n->pool, id->text);
	l->cls = intern__get(n->pool, id->cls);
}

/* The entry of a lock: what it was called when it was seen first. NULL only without memory. */
static struct lock_entry *name_lock(struct namer *n, uint64_t addr, unsigned int kind,
				    const struct identity_hint *hint)
{
	struct lock_entry key = {.addr = addr, .kind = kind, .tgid = (uint32_t)hint->tgid}, *l;
	struct identity id;
	void *found = tfind(&key, &n->locks, cmp_lock);

	if (found)
		return *(struct lock_entry **)found;
	if (n->n_locks >= LOCKS_MAX) {
		tdestroy(n->locks, free);
		n->locks = NULL;
		n->n_locks = 0;
	}
	identity__resolve(n->ids, addr, (enum lb_kind)kind, hint, &id);
	l = malloc(sizeof(*l));
	if (!l)
		return NULL;
	*l = key;
	take_name(n, l, &id);
	if (!tsearch(l, &n->locks, cmp_lock)) {
		free(l);
		return NULL;
	}
	n->n_locks++;
	/* The lock around it has the same name, learnt at the same moment. */
	if (l->lock != addr)
		name_lock(n, l->lock, kind, hint);
	return l;
}

/* Takes the name while it can be had. */
static void on_born(void *ctx, const struct lb_born *b)
{
	const struct identity_hint hint = {
		.tgid = (pid_t)b->tgid,
		.seen_ns = b->begin,
		.own_mm = b->own_mm,
		.comm = b->comm,
	};

	name_lock(ctx, b->lock, b->kind, &hint);
}

struct namer *namer__new(struct collect *c, struct err *e)
{
	struct namer *n = calloc(1, sizeof(*n));

	if (!n)
		goto oom;
	n->collect = c;
	n->pool = intern__new();
	if (!n->pool)
		goto oom;
	n->ksyms = ksyms__load(NULL, e);
	if (!n->ksyms) {
		namer__free(n);
		return NULL;
	}
	open_memory(n);
	if (!n->ids)
		goto oom;
	if (c)
		collect__set_born(c, on_born, n);
	return n;
oom:
	namer__free(n);
	err_set(e, -ENOMEM, "out of memory");
	return NULL;
}

void namer__free(struct namer *n)
{
	if (!n)
		return;
	if (n->collect)
		collect__set_born(n->collect, NULL, NULL);
	tdestroy(n->sites, free);
	tdestroy(n->locks, free);
	identities__free(n->ids);
	kmem__free(n->kmem);
	btf_offsets__free(n->offsets);
	usyms__free(n->usyms);
	cgroups__free(n->cgroups);
	ksyms__free(n->ksyms);
	intern__free(n->pool);
	free(n);
}

const char *namer__intern(struct namer *n, const char *s)
{
	return intern__get(n->pool, s);
}

int namer__frames(struct namer *n, const uint64_t *addr, unsigned int n_addr, const char **frames,
		  int max)
{
	char buf[KSYM_BUF];
	int i, skip;

	for (i = 0; i < (int)n_addr && i < max; i++)
		frames[i] = namer__intern(n, ksyms__format(n->ksyms, addr[i], buf, sizeof(buf)));
	skip = site__tracing_frames(frames, i);
	memmove(frames, frames + skip, (size_t)(i - skip) * sizeof(*frames));
	return i - skip;
}

int namer__stack(struct namer *n, int32_t id, const char **frames, int max)
{
	uint64_t addr[LB_STACK_DEPTH];
	int r = n->collect ? collect__stack(n->collect, id, addr, LB_STACK_DEPTH) : 0;

	return r > 0 ? namer__frames(n, addr, (unsigned int)r, frames, max) : 0;
}

int namer__user_stack(struct namer *n, int32_t id, uint32_t tgid, const char **frames, int max)
{
	uint64_t addr[LB_STACK_DEPTH];
	int r = n->collect ? collect__stack(n->collect, id, addr, LB_STACK_DEPTH) : 0;
	char buf[USYM_BUF];
	int i;

	if (r <= 0)
		return 0;
	if (!n->usyms)
		n->usyms = usyms__new();
	for (i = 0; i < r && i < max; i++) {
		if (n->usyms)
			usyms__name(n->usyms, (pid_t)tgid, addr[i], buf, sizeof(buf));
		else
			snprintf(buf, sizeof(buf), "0x%llx", (unsigned long long)addr[i]);
		frames[i] = namer__intern(n, buf);
	}
	return i;
}

static const char *site_name(struct namer *n, const char **frames, int count)
{
	int i = site__of(frames, count);
	char buf[KSYM_BUF];

	return i < 0 ? NULL : namer__intern(n, site__base(frames[i], buf, sizeof(buf)));
}

static int cmp_site(const void *a, const void *b)
{
	const struct site_entry *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static const char *name_site(void *ctx, int32_t id)
{
	struct namer *n = ctx;
	struct site_entry key = {.id = id}, *s;
	const char *frames[LB_STACK_DEPTH];
	void *found;

	if (id < 0)
		return NULL;
	found = tfind(&key, &n->sites, cmp_site);
	if (found)
		return (*(struct site_entry **)found)->site;
	key.site = site_name(n, frames, namer__stack(n, id, frames, LB_STACK_DEPTH));
	s = malloc(sizeof(*s));
	if (s) {
		*s = key;
		if (!tsearch(s, &n->sites, cmp_site))
			free(s);
	}
	return key.site;
}

static const char *name_site_of(void *ctx, const uint64_t *addr, unsigned int count)
{
	const char *frames[LB_NOW_DEPTH];

	return site_name(ctx, frames, namer__frames(ctx, addr, count, frames, LB_NOW_DEPTH));
}

static struct lock_entry *entry_of(struct namer *n, uint64_t lock, unsigned int kind, uint32_t tgid)
{
	const struct identity_hint hint = {.tgid = (pid_t)tgid};

	return name_lock(n, lock, kind, &hint);
}

static const char *first_name(void *ctx, uint64_t lock, unsigned int kind, uint32_t tgid)
{
	struct lock_entry *l = entry_of(ctx, lock, kind, tgid);

	return l ? l->text : NULL;
}

/* What the figures belong to is what the lock was when they were taken, also when it is gone now. When
 * the address has become another lock since, waits of the same process may belong to either: that is
 * said, unless the lock was the process's own. */
static const char *name_identity(void *ctx, uint64_t lock, unsigned int kind, uint32_t tgid)
{
	struct namer *n = ctx;
	const struct identity_hint hint = {.tgid = (pid_t)tgid};
	struct lock_entry *l = entry_of(n, lock, kind, tgid);
	struct identity now;
	char reused[sizeof(now.text) + 16];

	if (!l)
		return NULL;
	switch (identity__check(n->ids, lock, (enum lb_kind)kind, &hint, &now)) {
	case IDENTITY_SAME:
		/* An mm that is being torn down knows less of its process than it did; and another
		 * process's may have been told of the change before. */
		if (now.certainty >= l->certainty && now.pid == l->owner_pid)
			take_name(n, l, &now);
		return l->text;
	case IDENTITY_GONE:
		return l->text;
	default:
		if ((uint32_t)l->owner_pid == tgid || l->text == intern__get(n->pool, now.text))
			return l->text;
		snprintf(reused, sizeof(reused), "%s (reused)", l->text);
		return intern__get(n->pool, reused);
	}
}

static const char *name_class(void *ctx, uint64_t lock, unsigned int kind, uint32_t tgid)
{
	struct lock_entry *l = entry_of(ctx, lock, kind, tgid);

	return l ? l->cls : NULL;
}

static uint64_t lock_of(void *ctx, uint64_t lock, unsigned int kind, uint32_t tgid)
{
	struct lock_entry *l = entry_of(ctx, lock, kind, tgid);

	return l ? l->lock : lock;
}

static const char *name_owner(void *ctx, uint64_t lock, unsigned int kind)
{
	struct namer *n = ctx;
	struct lock_owner o;
	char buf[64];

	if (!n->kmem || kmem__lock_owner(n->kmem, lock, (enum lb_kind)kind, &o) || o.state != LOCK_HELD ||
	    !o.tid)
		return NULL;
	snprintf(buf, sizeof(buf), "%s/%d%s", o.comm, o.tid, o.certainty == LB_EXACT ? "" : "?");
	return namer__intern(n, buf);
}

static const char *name_cgroup(void *ctx, uint64_t id)
{
	struct namer *n = ctx;
	char buf[24];

	if (!n->cgroups)
		n->cgroups = cgroups__new(NULL);
	if (n->cgroups)
		return namer__intern(n, cgroups__path(n->cgroups, id));
	snprintf(buf, sizeof(buf), "%llu", (unsigned long long)id);
	return namer__intern(n, buf);
}

struct table_names namer__names(struct namer *n, bool owners)
{
	return (struct table_names){
		.site = name_site,
		.site_of = name_site_of,
		.first_name = first_name,
		.identity = name_identity,
		.lock_class = name_class,
		.lock_of = lock_of,
		.owner = owners ? name_owner : NULL,
		.cgroup = name_cgroup,
		.ctx = n,
	};
}

void namer__warm_up(struct namer *n)
{
	struct ksym s;

	ksyms__find(n->ksyms, 0, &s);
}

void namer__refresh(struct namer *n)
{
	ksyms__refresh(n->ksyms);
}

const char *namer__why(struct namer *n)
{
	const char *why = ksyms__why(n->ksyms);

	/* Lacking variables only costs the names of static locks: not worth a line in every run. */
	if (ksyms__hidden(n->ksyms))
		return why;
	return n->why[0] ? n->why : NULL;
}

struct ksyms *namer__ksyms(struct namer *n)
{
	return n->ksyms;
}

struct kmem *namer__kmem(struct namer *n)
{
	return n->kmem;
}

struct identities *namer__identities(struct namer *n)
{
	return n->ids;
}

const char *namer__no_memory(struct namer *n)
{
	return n->no_memory;
}
