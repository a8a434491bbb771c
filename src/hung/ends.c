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
		c->wait.reason = reason__by_key("vfork"); /* its function is often inlined */
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

/* Whether t's stack has one of the n pointers (sorted) on it. */
static bool mentions(struct hung_look *l, const struct hung_task *t, const uint64_t *ptr, size_t n)
{
	if (!n || !hung_stack__read(l->k, t, l->stack))
		return false;
	for (size_t i = 0; i < l->stack->n; i++)
		for (size_t k = 0; k < n; k++)
			if (l->stack->word[i] == ptr[k])
				return true;
	return false;
}

/* Keeps the pointers that are VMAs of this mm. */
static size_t vmas_of(struct hung_look *l, uint64_t mm, uint64_t *ptr, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t back;

		if (!kmem__get(l->k, ptr[i], KF_VMA_MM, &back) && back == mm)
			ptr[kept++] = ptr[i];
	}
	return kept;
}

static bool in_fault(const char *const *f, int n)
{
	for (int i = 0; i < n; i++)
		if (strstr(f[i], "handle_mm_fault"))
			return true;
	return false;
}

/* A writer of a VMA waits for the page faults in it: threads of the process whose stacks show a fault, and
 * one of the VMAs that the writer's shows. */
static void vma_faults(struct hung_look *l, const struct hung_task *t, struct chain_task *c)
{
	uint64_t ptr[2048];
	size_t n_ptr = hung_stack__pointers(l->stack, ptr, 2048), n;
	const struct hung_task *rows = hung_pass__rows(l->pass, &n);

	n_ptr = vmas_of(l, t->mm, ptr, n_ptr);
	for (size_t i = 0; i < n; i++) {
		struct chain_task *other;
		const char **f;
		int n_f;

		if (rows[i].mm != t->mm || rows[i].task == t->task || !mentions(l, &rows[i], ptr, n_ptr))
			continue;
		f = hung_frames(l, &rows[i], &n_f);
		other = in_fault(f, n_f) ? hung_look__add(l, &rows[i]) : NULL;
		if (!other)
			continue;
		if (c->holder.task)
			chain__candidate(l->chain, c, other);
		else
			set_holder(c, other, LB_LIKELY, "it is in a page fault in the same part of the address space");
	}
}

void hung_ends__fill(struct hung_look *l, const struct hung_task *t, struct chain_task *c)
{
	const char *key = c->wait.reason ? c->wait.reason->key : "";

	if (!strcmp(key, "vfork") || !strcmp(key, "completion"))
		vfork_child(l, t, c);
	else if (!strcmp(key, "ptrace"))
		tracer(l, t, c);
	else if (!strcmp(key, "vma-lock") && t->mm)
		vma_faults(l, t, c);
}
