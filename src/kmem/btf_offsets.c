// SPDX-License-Identifier: GPL-2.0
#include "kmem/btf_offsets.h"

#include <bpf/btf.h>
#include <errno.h>
#include <string.h>

#include "util/cleanup.h"

#define PATH_MAX_LEN 192
#define DEPTH_MAX 16

/* libbpf finds a type by walking all of them (130,000 in a distribution kernel). The composite ones
 * that have a name are hashed once instead. */
struct btf_offsets {
	char *path;
	struct btf *btf;
	int failed;
	struct err err;
	uint32_t *slots; /* type ids, 0 is free; n_slots is a power of two */
	uint32_t n_slots;
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

void btf_offsets__free(struct btf_offsets *o)
{
	if (!o)
		return;
	btf__free(o->btf);
	free(o->slots);
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

static const char *type_name(const struct btf_offsets *o, uint32_t id)
{
	return btf__name_by_offset(o->btf, btf__type_by_id(o->btf, id)->name_off);
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

	o->btf = btf__parse(path, NULL);
	if (!o->btf) {
		err = -errno;
		return err_errno(&o->err, err,
				 "cannot read the kernel's type information %s%s", path,
				 err == -ENOENT ? " (CONFIG_DEBUG_INFO_BTF is needed)" : "");
	}
	err = index_types(o);
	return err ? err_errno(&o->err, err, "cannot index %s", path) : 0;
}

const struct btf *btf_offsets__btf(struct btf_offsets *o, struct err *e)
{
	if (!o->btf && !o->failed)
		o->failed = load(o);
	if (o->failed) {
		err_set(e, o->failed, "%s", o->err.msg);
		return NULL;
	}
	return o->btf;
}

/* The first composite type of that name. Names are nearly unique among the kernel's structures;
 * where one name has several definitions, the first is the one from the core headers. */
static uint32_t find_type(const struct btf_offsets *o, const char *name, size_t len)
{
	uint32_t id;

	for (uint32_t i = hash_name(name, len); (id = o->slots[i & (o->n_slots - 1)]); i++) {
		const char *s = type_name(o, id);

		if (!strncmp(s, name, len) && !s[len])
			return id;
	}
	return 0;
}

static uint32_t skip_modifiers(const struct btf_offsets *o, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(o->btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t))) {
		id = t->type;
		t = btf__type_by_id(o->btf, id);
	}
	return id;
}

/* Looks for the member called name in type id and, depth first, in its anonymous members. Adds its
 * bit offset to *bits and returns its type id, or 0. */
static uint32_t find_member(const struct btf_offsets *o, uint32_t id, const char *name, size_t len,
			    uint32_t *bits, int depth)
{
	const struct btf_type *t = btf__type_by_id(o->btf, id);
	const struct btf_member *m;

	if (!t || !btf_is_composite(t) || depth > DEPTH_MAX)
		return 0;
	m = btf_members(t);
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const char *s = btf__name_by_offset(o->btf, m[i].name_off);
		uint32_t inner, at = btf_member_bit_offset(t, i);

		if (*s) {
			if (strncmp(s, name, len) || s[len])
				continue;
			*bits += at;
			return btf_member_bitfield_size(t, i) ? 0 : m[i].type;
		}
		inner = find_member(o, skip_modifiers(o, m[i].type), name, len, &at, depth + 1);
		if (inner) {
			*bits += at;
			return inner;
		}
	}
	return 0;
}

static int find_one(struct btf_offsets *o, const char *path, struct btf_field *out)
{
	size_t len = strcspn(path, ".");
	uint32_t id = find_type(o, path, len), bits = 0;
	int64_t size;

	if (!path[len])
		return -EINVAL;
	while (id && path[len]) {
		path += len + 1;
		len = strcspn(path, ".");
		id = find_member(o, skip_modifiers(o, id), path, len, &bits, 0);
	}
	if (!id || bits % 8)
		return -ENOENT;
	size = btf__resolve_size(o->btf, id);
	out->off = bits / 8;
	out->size = size < 0 ? 0 : (uint32_t)size;
	return 0;
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

int btf_offsets__find(struct btf_offsets *o, const char *path, struct btf_field *out)
{
	int err = -ENOENT;

	if (!btf_offsets__btf(o, NULL))
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
		else
			err = find_one(o, one, out);
	}
	return err;
}

int btf_offsets__func(struct btf_offsets *o, const char *name)
{
	int id;

	if (!btf_offsets__btf(o, NULL))
		return o->failed;
	id = btf__find_by_name_kind(o->btf, name, BTF_KIND_FUNC);
	return id > 0 ? id : -ENOENT;
}
