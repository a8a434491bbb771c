/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_NAMES_KSYM_TABLE_H
#define LOCKBLAME_NAMES_KSYM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/* The parsed form of kallsyms, private to ksym.c. Only what lookups need is kept: the padding
 * symbols __pfx_* (half of the file) and absolute ones are dropped, and data symbols that can name
 * no lock keep their address (they bound their neighbours) but not their name. */
enum ksym_class {
	KSYM_TEXT,
	KSYM_DATA,
	KSYM_EDGE, /* marks where a section begins or ends; names nothing, has an address */
};

struct ksym_entry {
	uint64_t addr;
	uint32_t name; /* offset in names; 0: the name was not kept */
	uint16_t module; /* index in modules; 0: the kernel itself */
	uint8_t class;
	uint8_t global;
};

#define KSYM_MAX_MODULES 1024

struct ksym_table {
	struct ksym_entry *entry;
	uint32_t n, cap;
	char *names; /* NUL-terminated, one after the other; begins with two NULs */
	uint32_t names_len, names_cap;
	char *modules[KSYM_MAX_MODULES];
	uint32_t n_modules;
	uint32_t n_data;
	bool hidden;
	/* [start, end) of the sections that hold code; end 0: not known */
	struct {
		uint64_t start, end;
	} text, init;
	/* the template of the per-CPU area, whose addresses are nobody's */
	uint64_t percpu_start, percpu_end;
};

/* Reads path into *t (which must be zeroed). On failure *t is left empty. */
int ksym_table__read(struct ksym_table *t, const char *path, struct err *e);
void ksym_table__clear(struct ksym_table *t);

static inline const char *ksym_table__name(const struct ksym_table *t, const struct ksym_entry *s)
{
	return t->names + s->name;
}

#endif
