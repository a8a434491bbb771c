// SPDX-License-Identifier: GPL-2.0
/* Waits that are no locks, as far as the other end can be found. */
#include <stdio.h>
#include <string.h>

#include "hung/impl.h"

static void set_holder(struct chain_task *c, struct chain_task *other, enum lb_certainty certainty, const char *basis)
{
	if (!other || other == c)
		return;
	c->holder.task = other;
	c->holder.certainty = certainty;
	c->holder.basis = basis;
}

static void name_object(struct hung_look *l, struct chain_task *c, const struct chain_task *other)
{
	char name[128];

	c->wait.object = chain__str(l->chain, chain__name(other, name, sizeof(name)));
}

/* The child has not let go of the mm yet: its vfork_done points to the parent's completion. */
static void vfork_child(struct hung_look *l, const struct hung_task *t, struct chain_task *c)
{
	const struct hung_task *rows;
	struct chain_task *child;
	size_t n;

	rows = hung_pass__rows(l->pass, &n);
	for (size_t i = 0; i < n; i++) {
		if (rows[i].vfork_done < t->stack || rows[i].vfork_done >= t->stack + 16384 || !rows[i].vfork_done)
			continue;
		child = hung_look__add(l, &rows[i]);
		if (!child)
			return;
		set_holder(c, child, LB_EXACT, "its child, which has not called exec yet");
		name_object(l, c, child);
		return;
	}
}

static void tracer(struct hung_look *l, const struct hung_task *t, struct chain_task *c)
{
	if (t->parent && t->parent != t->real_parent)
		set_holder(c, hung_look__add_addr(l, t->parent), LB_EXACT, "its tracer");
}

void hung_ends__fill(struct hung_look *l, const struct hung_task *t, struct chain_task *c)
{
	const char *key = c->wait.reason ? c->wait.reason->key : "";

	if (!strcmp(key, "vfork"))
		vfork_child(l, t, c);
	else if (!strcmp(key, "ptrace"))
		tracer(l, t, c);
}
