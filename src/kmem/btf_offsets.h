/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_KMEM_BTF_OFFSETS_H
#define LOCKBLAME_KMEM_BTF_OFFSETS_H

#include <stdbool.h>
#include <stdint.h>

#include "util/err.h"

struct btf;
struct btf_offsets;

/* Where a field lies in its structure: bytes from the start, and its size in bytes. */
struct btf_field {
	uint32_t off;
	uint32_t size;
};

/* Offsets out of a kernel's BTF. path is the file to read, NULL for the running kernel
 * (/sys/kernel/btf/vmlinux). Nothing is read before the first question, so this is free; NULL only
 * when out of memory. */
struct btf_offsets *btf_offsets__new(const char *path);

/* The same out of the running kernel's BTF that somebody has already read and keeps for as long as the
 * result lives: a copy is 6 MB. */
struct btf_offsets *btf_offsets__borrow(struct btf *btf);
void btf_offsets__free(struct btf_offsets *o);

/* The parsed BTF, read on the first call and owned by o; NULL with e filled when it can't be had
 * (the same error again on every later call). Others may use it as long as o lives. */
const struct btf *btf_offsets__btf(struct btf_offsets *o, struct err *e);

/* Gives back the memory of the BTF (some 6 MB) until the next question; nothing happens once somebody
 * has got it from btf_offsets__btf(). */
void btf_offsets__release(struct btf_offsets *o);

/* Finds a field. path is TYPE.FIELD[.FIELD...], through embedded and anonymous structures and the first
 * elements of arrays; with "MODULE:" in front the type is looked for in the kernel and, when it is not
 * there, in that module. Or a list of such paths separated by "|" of which the first that exists
 * counts. "sizeof TYPE" gives the size of a structure (as size, off 0) and "enum NAME" the value of an
 * enumerator (as off), "func NAME" whether there is a function (its BTF id as off).
 * 0, -ENOENT when the kernel has none of them (or a bit field, which has no address), -EINVAL for a
 * malformed path, or the error of btf_offsets__btf(). */
int btf_offsets__find(struct btf_offsets *o, const char *path, struct btf_field *out);

#endif
