// SPDX-License-Identifier: GPL-2.0
#include "kmem/btf_offsets.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/cleanup.h"

#define PATH_MAX_LEN 192
#define DEPTH_MAX 16
#define MODULES_MAX 8

/* libbpf finds a type by walking all of them (130,000 in a distribution kernel). The composite ones
 * that have a name are hashed once instead. */
struct btf_offsets {
	char *path;
	struct btf *btf;
	bool borrowed; /* btf is somebody else's */
	bool pinned;   /* btf is ours, and somebody else uses it */
	int failed;
	struct err err;
	uint32_t *slots; /* type ids, 0 is free; n_slots is a power of two */
	uint32_t n_slots;
	/* Modules that were asked about, so that each is read once; btf is NULL where there is
	 * none. */
	struct module {
		char name[64];
		struct btf *btf;
	} modules[MODULES_MAX];
	unsigned int n_modules;
};

struct btf_offsets *btf_offsets__new(const char *path)
{
	struct btf_offsets *o = calloc(1, sizeof(*o));

	if (o && path) {
		o->path = strdup(path);
		if (!o->path) {
			free(o);
			return NULL;
		}
	}
	return o;
}

struct btf_offsets *btf_offsets__borrow(struct btf *btf)
{
	struct btf_offsets *o = btf_offsets__new(NULL);

	if (o) {
		o->btf = btf;
		o->borrowed = true;
	}
	return o;
}

static void unload(struct btf_offsets *o)
{
	for (unsigned int i = 0; i < o->n_modules; i++)
		btf__free(o->modules[i].btf);
	o->n_modules = 0;
	free(o->slots);
	o->slots = NULL;
	if (o->borrowed)
		return;
	btf__free(o->btf);
	o->btf = NULL;
}

void btf_offsets__release(struct btf_offsets *o)
{
	if (!o->pinned)
		unload(o);
}

void btf_offsets__free(struct btf_offsets *o)
{
	if (!o)
		return;
	unload(o);
	free(o->path);
	free(o);
}

static uint32_t hash_name(const char *s, size_t len)
{
	uint32_t h = 2166136261u;

	while (len--)
		h = (h ^ (unsigned char)*s++) * 16777619u;
	return h;
}

static int index_types(struct btf_offsets *o)
{
	uint32_t n = btf__type_cnt(o->btf), named = 0;

	for (uint32_t id = 1; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(o->btf, id);

		named += btf_is_composite(t) && t->name_off;
	}
	for (o->n_slots = 64; o->n_slots < named * 2;)
		o->n_slots *= 2;
	o->slots = calloc(o->n_slots, sizeof(*o->slots));
	if (!o->slots)
		return -ENOMEM;
	for (uint32_t id = 1; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(o->btf, id);
		const char *name;
		uint32_t i;

		if (!btf_is_composite(t) || !t->name_off)
			continue;
		name = btf__name_by_offset(o->btf, t->name_off);
		for (i = hash_name(name, strlen(name)); o->slots[i & (o->n_slots - 1)]; i++)
			;
		o->slots[i & (o->n_slots - 1)] = id;
	}
	return 0;
}

static int load(struct btf_offsets *o)
{
	const char *path = o->path ? o->path : "/sys/kernel/btf/vmlinux";
	int err;

	if (!o->btf)
		o->btf = btf__parse(path, NULL);
	if (!o->btf) {
		err = -errno;
		return err_errno(&o->err, err, "cannot read the kernel's type information %s%s",
				 path, err == -ENOENT ? " (CONFIG_DEBUG_INFO_BTF is needed)" : "");
	}
	err = index_types(o);
	return err ? err_errno(&o->err, err, "cannot index %s", path) : 0;
}

static int ensure(struct btf_offsets *o)
{
	if (!o->slots && !o->failed)
		o->failed = load(o);
	return o->failed;
}

const struct btf *btf_offsets__btf(struct btf_offsets *o, struct err *e)
{
	if (ensure(o)) {
		err_set(e, o->failed, "%s", o->err.msg);
		return NULL;
	}
	o->pinned = true;
	return o->btf;
}

/* The first composite type of that name. Names are nearly unique among the kernel's structures;
 * where one name has several definitions, the first is the one from the core headers. */
static uint32_t find_type(const struct btf_offsets *o, const char *name, size_t len)
{
	uint32_t id;

	for (uint32_t i = hash_name(name, len); (id = o->slots[i & (o->n_slots - 1)]); i++) {
		const struct btf_type *t = btf__type_by_id(o->btf, id);
		const char *s = btf__name_by_offset(o->btf, t->name_off);

		if (!strncmp(s, name, len) && !s[len])
			return id;
	}
	return 0;
}

/* The structure behind typedefs, qualifiers, and arrays (their first element). */
static uint32_t skip_modifiers(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t) || btf_is_array(t))) {
		id = btf_is_array(t) ? btf_array(t)->type : t->type;
		t = btf__type_by_id(btf, id);
	}
	return id;
}

/* Looks for the member called name in type id and, depth first, in its anonymous members. Adds its
 * bit offset to *bits and returns its type id, or 0. */
static uint32_t find_member(const struct btf *btf, uint32_t id, const char *name, size_t len,
			    uint32_t *bits, int depth)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	const struct btf_member *m;

	if (!t || !btf_is_composite(t) || depth > DEPTH_MAX)
		return 0;
	m = btf_members(t);
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const char *s = btf__name_by_offset(btf, m[i].name_off);
		uint32_t inner, at = btf_member_bit_offset(t, i);

		if (*s) {
			if (strncmp(s, name, len) || s[len])
				continue;
			*bits += at;
			return btf_member_bitfield_size(t, i) ? 0 : m[i].type;
		}
		inner = find_member(btf, skip_modifiers(btf, m[i].type), name, len, &at, depth + 1);
		if (inner) {
			*bits += at;
			return inner;
		}
	}
	return 0;
}

/* path starts after the name of type id. */
static int find_in(const struct btf *btf, uint32_t id, const char *path, struct btf_field *out)
{
	uint32_t bits = 0;
	int64_t size;

	while (id && *path) {
		size_t len = strcspn(++path, ".");

		id = find_member(btf, skip_modifiers(btf, id), path, len, &bits, 0);
		path += len;
	}
	if (!id || bits % 8)
		return -ENOENT;
	size = btf__resolve_size(btf, id);
	out->off = bits / 8;
	out->size = size < 0 ? 0 : (uint32_t)size;
	return 0;
}

static struct btf *module_btf(struct btf_offsets *o, const char *name, size_t len)
{
	struct module *m;
	char path[128];

	for (unsigned int i = 0; i < o->n_modules; i++)
		if (!strncmp(o->modules[i].name, name, len) && !o->modules[i].name[len])
			return o->modules[i].btf;
	if (o->n_modules == MODULES_MAX || len >= sizeof(m->name) || o->path)
		return NULL;
	m = &o->modules[o->n_modules++];
	memcpy(m->name, name, len);
	m->name[len] = '\0';
	snprintf(path, sizeof(path), "/sys/kernel/btf/%s", m->name);
	m->btf = btf__parse_split(path, o->btf);
	return m->btf;
}

static uint32_t find_module_type(const struct btf *btf, uint32_t first, const char *name,
				 size_t len)
{
	for (uint32_t id = first; id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const char *s = btf__name_by_offset(btf, t->name_off);

		if (btf_is_composite(t) && !strncmp(s, name, len) && !s[len])
			return id;
	}
	return 0;
}

static int find_one(struct btf_offsets *o, const char *path, struct btf_field *out)
{
	const char *colon = strchr(path, ':'), *type = colon ? colon + 1 : path;
	size_t len = strcspn(type, ".");
	uint32_t id = find_type(o, type, len);
	const struct btf *btf = o->btf;

	if (!type[len])
		return -EINVAL;
	if (!id && colon) {
		btf = module_btf(o, path, (size_t)(colon - path));
		if (btf)
			id = find_module_type(btf, btf__type_cnt(o->btf), type, len);
	}
	return id ? find_in(btf, id, type + len, out) : -ENOENT;
}

static int find_sizeof(struct btf_offsets *o, const char *name, struct btf_field *out)
{
	uint32_t id = find_type(o, name, strlen(name));

	if (!id)
		return -ENOENT;
	out->off = 0;
	out->size = btf__type_by_id(o->btf, id)->size;
	return 0;
}

static int find_enumerator(struct btf_offsets *o, const char *name, struct btf_field *out)
{
	uint32_t n = btf__type_cnt(o->btf);

	for (uint32_t id = 1; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(o->btf, id);

		if (!btf_is_enum(t))
			continue;
		for (uint32_t i = 0; i < btf_vlen(t); i++) {
			const struct btf_enum *v = btf_enum(t) + i;

			if (strcmp(btf__name_by_offset(o->btf, v->name_off), name))
				continue;
			out->off = (uint32_t)v->val;
			out->size = t->size;
			return 0;
		}
	}
	return -ENOENT;
}

static int find_func(struct btf_offsets *o, const char *name, struct btf_field *out)
{
	int id = btf__find_by_name_kind(o->btf, name, BTF_KIND_FUNC);

	if (id <= 0)
		return -ENOENT;
	out->off = (uint32_t)id;
	out->size = 0;
	return 0;
}

int btf_offsets__find(struct btf_offsets *o, const char *path, struct btf_field *out)
{
	int err = -ENOENT;

	if (ensure(o))
		return o->failed;
	while (err == -ENOENT && *path) {
		char one[PATH_MAX_LEN];
		size_t len = strcspn(path, "|");

		if (!len || len >= sizeof(one))
			return -EINVAL;
		memcpy(one, path, len);
		one[len] = '\0';
		path += len + (path[len] == '|');
		if (!strncmp(one, "sizeof ", 7))
			err = find_sizeof(o, one + 7, out);
		else if (!strncmp(one, "enum ", 5))
			err = find_enumerator(o, one + 5, out);
		else if (!strncmp(one, "func ", 5))
			err = find_func(o, one + 5, out);
		else
			err = find_one(o, one, out);
	}
	return err;
}
