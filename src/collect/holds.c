// SPDX-License-Identifier: GPL-2.0
#include "collect/holds.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/kinds.h"
#include "util/cleanup.h"

/* A function that takes a lock or gives it back; its program is called hold_FUNC. A kernel that lacks one
 * has no such form; only those that every kernel has are needed. */
struct hold_func {
	enum lb_kind kind;
	const char *func;
	bool ends, needed;
};

static const struct hold_func funcs[] = {
	{LB_RWSEM, "up_read", true, true},
	{LB_RWSEM, "up_write", true, true},
	{LB_RWSEM, "downgrade_write", false, true},
	{LB_RWSEM, "down_read", false, true},
	{LB_RWSEM, "down_read_interruptible", false, false},
	{LB_RWSEM, "down_read_killable", false, true},
	{LB_RWSEM, "down_read_trylock", false, true},
	{LB_RWSEM, "down_write", false, true},
	{LB_RWSEM, "down_write_killable", false, true},
	{LB_RWSEM, "down_write_trylock", false, true},
	{LB_MUTEX, "mutex_unlock", true, true},
	{LB_MUTEX, "mutex_lock", false, true},
	{LB_MUTEX, "mutex_lock_interruptible", false, true},
	{LB_MUTEX, "mutex_lock_killable", false, true},
	{LB_MUTEX, "mutex_trylock", false, true},
};

#define HOLD_KINDS (LB_KIND_BIT(LB_RWSEM) | LB_KIND_BIT(LB_MUTEX))

static const char *const tp_ends[] = {"hold_mmap_released"};
static const char *const tp_begins[] = {"hold_mmap_acquired", "hold_mmap_acquired4"};

/* Number of arguments of mmap_lock's events, 2 or 3; 0: there are none. */
static int mmap_lock_args(const struct kernel *k)
{
	int args = kernel__tp_args(k, "mmap_lock_released");

	return args < 2 || k->rt ? 0 : args;
}

/* The first function of this kind that cannot be traced though it is needed, or NULL. */
static const char *missing(const struct kernel *k, enum lb_kind kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(funcs); i++)
		if (funcs[i].kind == kind && funcs[i].needed && !kernel__can_fentry(k, funcs[i].func))
			return funcs[i].func;
	return NULL;
}

const char *holds__how(const struct kernel *k, bool mmap_lock, enum lb_kind kind, const char **why, char *buf,
		       size_t size)
{
	const char *func;

	*why = NULL;
	if (mmap_lock && mmap_lock_args(k))
		return "raw_tp mmap_lock_acquire_returned, _released";
	if (!(LB_KIND_BIT(kind) & HOLD_KINDS)) {
		*why = "only rwsems and mutexes are followed";
		return NULL;
	}
	if (!k->fentry) {
		*why = k->fentry_why;
		return NULL;
	}
	func = missing(k, kind);
	if (func) {
		snprintf(buf, size, "%s cannot be traced on this kernel", func);
		*why = buf;
		return NULL;
	}
	return kind == LB_MUTEX ? "fexit mutex_lock*, mutex_trylock; fentry mutex_unlock"
				: "fexit down_read*, down_write*; fentry up_read, up_write";
}

static int plan_kind(struct hooks *h, const struct kernel *k, enum lb_kind kind, struct bpf_object *obj,
		     struct err *e)
{
	char prog[64], buf[128];
	const char *why;
	const char *how = holds__how(k, false, kind, &why, buf, sizeof(buf));

	if (!how)
		return err_set(e, -EOPNOTSUPP, "holds of %s cannot be followed here: fentry: %s%s",
			       kind_name(kind), why,
			       kind == LB_RWSEM && mmap_lock_args(k) ? " (without --kind: those of mmap_lock)"
								    : "");
	snprintf(h->kind[kind].how, sizeof(h->kind[kind].how), "%s", how);
	h->kind[kind].works = true;
	for (size_t i = 0; i < ARRAY_SIZE(funcs); i++) {
		if (funcs[i].kind != kind || !kernel__can_fentry(k, funcs[i].func))
			continue;
		snprintf(prog, sizeof(prog), "hold_%s", funcs[i].func);
		hooks__load(obj, prog);
	}
	return 0;
}

static int plan_mmap_lock(struct hooks *h, const struct kernel *k, struct bpf_object *obj)
{
	const char *why;

	hooks__load(obj, mmap_lock_args(k) == 2 ? tp_begins[0] : tp_begins[1]);
	hooks__load(obj, tp_ends[0]);
	snprintf(h->kind[LB_RWSEM].how, sizeof(h->kind[LB_RWSEM].how), "mmap_lock only: %s",
		 holds__how(k, true, LB_RWSEM, &why, NULL, 0));
	h->kind[LB_RWSEM].works = true;
	return 0;
}

int holds__plan(struct hooks *h, const struct kernel *k, enum hook_family want, uint32_t kinds,
		struct bpf_object *obj, struct err *e)
{
	int r = 0;

	memset(h, 0, sizeof(*h));
	h->family = want == HOOKS_AUTO ? HOOKS_TP : want;
	hooks__none_loaded(obj);
	if (want == HOOKS_KPROBE)
		return err_set(e, -EOPNOTSUPP, "holds are not followed by kprobes");
	if (!kinds && want != HOOKS_FENTRY && mmap_lock_args(k))
		return plan_mmap_lock(h, k, obj);
	if (kinds & ~HOLD_KINDS)
		return err_set(e, -EOPNOTSUPP, "holds: --kind: only rwsem and mutex can be followed");
	if (!kinds)
		kinds = LB_KIND_BIT(LB_RWSEM);
	for (int kind = 0; kind < LB_KIND_N && !r; kind++)
		if (kinds & LB_KIND_BIT(kind))
			r = plan_kind(h, k, (enum lb_kind)kind, obj, e);
	return r;
}

static int attach(struct bpf_object *obj, bool ends, struct bpf_link **links, unsigned int *n, struct err *e)
{
	const char *const *tp = ends ? tp_ends : tp_begins;
	size_t n_tp = ends ? ARRAY_SIZE(tp_ends) : ARRAY_SIZE(tp_begins);
	char prog[64];
	int r = 0;

	for (size_t i = 0; i < n_tp && !r; i++)
		r = hooks__attach_tracing(obj, tp[i], links, n, e);
	for (size_t i = 0; i < ARRAY_SIZE(funcs) && !r; i++) {
		snprintf(prog, sizeof(prog), "hold_%s", funcs[i].func);
		if (funcs[i].ends == ends)
			r = hooks__attach_tracing(obj, prog, links, n, e);
	}
	return r;
}

int holds__attach(struct hooks *h, struct bpf_object *obj, struct err *e)
{
	int r = attach(obj, true, h->ends, &h->n_ends, e);

	if (!r)
		r = attach(obj, false, h->begins, &h->n_begins, e);
	if (r) {
		hooks__detach_begins(h);
		hooks__detach_ends(h);
	}
	return r;
}
