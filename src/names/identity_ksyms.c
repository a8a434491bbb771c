// SPDX-License-Identifier: GPL-2.0
/* The symbols of identities, from kallsyms. */
#include "names/identity.h"
#include "names/ksym.h"

static const char *data_symbol(void *ctx, uint64_t addr, uint64_t *off, bool *is_data)
{
	struct ksym sym;

	if (!ksyms__has_data(ctx) || !ksyms__find_data(ctx, addr, &sym))
		return NULL;
	*off = sym.offset;
	*is_data = true;
	return sym.name;
}

static uint64_t addr_of(void *ctx, const char *name)
{
	uint64_t addr;

	return ksyms__has_data(ctx) && !ksyms__addr(ctx, name, &addr) ? addr : 0;
}

struct identity_syms identity_syms__kallsyms(struct ksyms *ks, struct kmem *k)
{
	if (k && ks)
		kmem__set_symbols(k, addr_of, ks);
	return (struct identity_syms){.name = ks ? data_symbol : NULL, .ctx = ks};
}
