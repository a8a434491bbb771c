// SPDX-License-Identifier: GPL-2.0
#include "collect/hooks.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collect/releases.h"
#include "model/kinds.h"
#include "util/cleanup.h"

/* One slow path. A new hook is a row here and a program in bpf/wait.bpf.c. */
struct slow_path {
	enum lb_kind kind;
	const char *func[4]; /* kprobe: each that exists; fentry: the first only */
	const char *fentry, *fexit;
	const char *fexit3; /* when the function has three arguments */
	const char *kprobe, *kretprobe;
	bool spin; /* starts out spinning, visibly so */
};

static const struct slow_path slow_paths[] = {
	{LB_RWSEM, {"rwsem_down_read_slowpath", "rwsem_down_read_failed", "rwsem_down_read_failed_killable"},
	 "fe_rwsem_read", "fx_rwsem_read", "fx_rwsem_read3", "kp_rwsem_read", "kr_pointer", true},
	{LB_RWSEM, {"rwsem_down_write_slowpath", "rwsem_down_write_failed", "rwsem_down_write_failed_killable"},
	 "fe_rwsem_write", "fx_rwsem_write", NULL, "kp_rwsem_write", "kr_pointer", true},
	{LB_MUTEX, {"__mutex_lock_slowpath"}, "fe_mutex", "fx_mutex", NULL, "kp_mutex", "kr_void", false},
	{LB_MUTEX, {"__mutex_lock_killable_slowpath"},
	 "fe_mutex_kill", "fx_mutex_kill", NULL, "kp_mutex", "kr_int", false},
	{LB_MUTEX, {"__mutex_lock_interruptible_slowpath"},
	 "fe_mutex_intr", "fx_mutex_intr", NULL, "kp_mutex", "kr_int", false},
	{LB_SEMAPHORE, {"__down"}, "fe_semaphore", "fx_semaphore", NULL, "kp_semaphore", "kr_void", false},
	{LB_SEMAPHORE, {"__down_interruptible", "__down_killable", "__down_timeout"},
	 NULL, NULL, NULL, "kp_semaphore", "kr_int", false},
	{LB_PERCPU_RWSEM, {"percpu_rwsem_wait"}, "fe_percpu", "fx_percpu", NULL, "kp_percpu", "kr_void", false},
	{LB_RT_MUTEX, {"rt_mutex_slowlock", "__rt_mutex_slowlock_locked.constprop.0"},
	 NULL, NULL, NULL, "kp_rt_mutex", "kr_int", false},
};

int hooks_parse(const char *name, enum hook_family *f, struct err *e)
{
	static const char *const names[] = {NULL, "tp", "fentry", "kprobe"};

	*f = HOOKS_AUTO;
	if (!name)
		return 0;
	for (size_t i = 1; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i])) {
			*f = (enum hook_family)i;
			return 0;
		}
	return err_set(e, -EINVAL, "--hooks: '%s' is not tp, fentry or kprobe", name);
}

void hooks__load(struct bpf_object *obj, const char *prog)
{
	struct bpf_program *p = obj ? bpf_object__find_program_by_name(obj, prog) : NULL;

	if (p)
		bpf_program__set_autoload(p, true);
}

void hooks__none_loaded(struct bpf_object *obj)
{
	struct bpf_program *p;

	if (!obj)
		return;
	bpf_object__for_each_program(p, obj)
		bpf_program__set_autoload(p, false);
}

static bool fentry_has(const struct kernel *k, const struct slow_path *s)
{
	return k->fentry && s->fentry && kernel__func_args(k, s->func[0]) > 0;
}

static const char *fexit_of(const struct kernel *k, const struct slow_path *s)
{
	return s->fexit3 && kernel__func_args(k, s->func[0]) == 3 ? s->fexit3 : s->fexit;
}

static void append(char *buf, size_t size, const char *a, const char *b)
{
	size_t n = strlen(buf);

	snprintf(buf + n, size - n, "%s%s%s", n ? ", " : "", a, b);
}

static void plan_tp(struct hooks *h, const struct kernel *k, bool no_spin, struct bpf_object *obj)
{
	hooks__load(obj, "on_contention_begin");
	hooks__load(obj, "on_contention_end");
	for (int kind = 0; kind < LB_KIND_N; kind++) {
		struct kind_hooks *kh = &h->kind[kind];

		kh->works = true;
		snprintf(kh->how, sizeof(kh->how), "tp_btf contention_begin/end");
	}
	h->kind[LB_MUTEX].spin = true;
	h->kind[LB_RWLOCK].spin = h->kind[LB_SPINLOCK].spin = true;
	for (size_t i = 0; i < ARRAY_SIZE(slow_paths); i++) {
		const struct slow_path *s = &slow_paths[i];
		struct kind_hooks *kh = &h->kind[s->kind];

		if (!s->spin)
			continue;
		if (no_spin) {
			snprintf(kh->why, sizeof(kh->why), "spinning is not shown: --no-spin");
		} else if (k->rt) {
			snprintf(kh->why, sizeof(kh->why), "PREEMPT_RT: rwsems do not spin");
		} else if (!fentry_has(k, s)) {
			snprintf(kh->why, sizeof(kh->why),
				 "spinning before the tracepoint is not shown; it needs fentry on %s: %s",
				 s->func[0], k->fentry_why[0] ? k->fentry_why : "not in BTF");
		} else {
			hooks__load(obj, s->fentry);
			hooks__load(obj, fexit_of(k, s));
			kh->spin = true;
			append(kh->how, sizeof(kh->how), "fentry/fexit ", s->func[0]);
		}
	}
}

static void plan_slow(struct hooks *h, const struct kernel *k, enum hook_family want,
		      struct bpf_object *obj)
{
	for (size_t i = 0; i < ARRAY_SIZE(slow_paths); i++) {
		const struct slow_path *s = &slow_paths[i];
		struct kind_hooks *kh = &h->kind[s->kind];

		if (want == HOOKS_FENTRY && fentry_has(k, s)) {
			hooks__load(obj, s->fentry);
			hooks__load(obj, fexit_of(k, s));
			append(kh->how, sizeof(kh->how), "fentry/fexit ", s->func[0]);
		} else if (k->kprobe) {
			hooks__load(obj, s->kprobe);
			hooks__load(obj, s->kretprobe);
			h->uses_kprobes = true;
			append(kh->how, sizeof(kh->how), "kprobe/kretprobe ", s->func[0]);
			snprintf(kh->why, sizeof(kh->why),
				 "return probes miss ends when many tasks wait at once (counted as never "
				 "seen to end); spinning is not shown apart");
		} else {
			continue;
		}
		kh->works = true;
	}
	for (int kind = 0; kind < LB_KIND_N; kind++) {
		struct kind_hooks *kh = &h->kind[kind];

		if (!kh->works && (LB_KIND_BIT(kind) & LB_KINDS_SPINNING))
			snprintf(kh->why, sizeof(kh->why),
				 "needs the contention tracepoints (Linux 5.19 or newer)");
		else if (!kh->works)
			snprintf(kh->why, sizeof(kh->why), "fentry: %s; kprobe: %s",
				 k->fentry_why[0] ? k->fentry_why : "function not in BTF", k->kprobe_why);
		else if (!kh->why[0] && (kind == LB_MUTEX || kind == LB_RWSEM))
			snprintf(kh->why, sizeof(kh->why),
				 "spinning is part of the wait but not shown apart: needs the contention "
				 "tracepoints");
	}
}

static enum hook_family best_family(const struct kernel *k)
{
	if (k->contention_tp)
		return HOOKS_TP;
	return k->fentry ? HOOKS_FENTRY : HOOKS_KPROBE;
}

int hooks__plan(struct hooks *h, const struct kernel *k, enum hook_family want, uint32_t kinds,
		bool no_spin, struct bpf_object *obj, struct err *e)
{
	uint32_t seen = 0;

	memset(h, 0, sizeof(*h));
	h->family = want == HOOKS_AUTO ? best_family(k) : want;
	hooks__none_loaded(obj);
	if (h->family == HOOKS_TP && !k->contention_tp)
		return err_set(e, -EOPNOTSUPP, "this kernel has no lock:contention_begin tracepoint");
	if (h->family == HOOKS_FENTRY && !k->fentry)
		return err_set(e, -EOPNOTSUPP, "fentry cannot be used: %s", k->fentry_why);
	if (h->family == HOOKS_KPROBE && !k->kprobe)
		return err_set(e, -EOPNOTSUPP,
			       "waits cannot be seen: no contention tracepoints; fentry: %s; kprobe: %s",
			       k->fentry_why, k->kprobe_why);
	if (h->family == HOOKS_TP)
		plan_tp(h, k, no_spin, obj);
	else
		plan_slow(h, k, h->family, obj);
	for (int kind = 0; kind < LB_KIND_N; kind++)
		if (h->kind[kind].works)
			seen |= LB_KIND_BIT(kind);
	if (!(seen & kinds))
		return err_set(e, -EOPNOTSUPP,
			       "this kernel has no hook for the lock kinds asked for (see lockblame doctor)");
	return 0;
}

static int add_link(struct bpf_link **links, unsigned int *n, struct bpf_link *l)
{
	if (*n == HOOKS_MAX) {
		bpf_link__destroy(l);
		return -ENOSPC;
	}
	links[(*n)++] = l;
	return 0;
}

static struct bpf_program *wanted_program(struct bpf_object *obj, const char *name)
{
	struct bpf_program *p = name ? bpf_object__find_program_by_name(obj, name) : NULL;

	return p && bpf_program__autoload(p) ? p : NULL;
}

bool hooks__loaded(struct bpf_object *obj, const char *prog)
{
	return wanted_program(obj, prog) != NULL;
}

int hooks__attach_tracing(struct bpf_object *obj, const char *prog, struct bpf_link **links,
			  unsigned int *n, struct err *e)
{
	struct bpf_program *p = wanted_program(obj, prog);
	struct bpf_link *l;

	if (!p)
		return 0;
	l = bpf_program__attach(p);
	if (!l)
		return err_errno(e, -errno, "cannot attach %s", bpf_program__section_name(p));
	return add_link(links, n, l);
}

int hooks__attach_kprobes(struct bpf_object *obj, const char *prog, bool ret, const char *const *funcs,
			  size_t n_funcs, struct bpf_link **links, unsigned int *n, struct err *e)
{
	struct bpf_program *p = wanted_program(obj, prog);
	struct bpf_link *l;

	for (size_t i = 0; p && i < n_funcs && funcs[i]; i++) {
		l = bpf_program__attach_kprobe(p, ret, funcs[i]);
		if (l) {
			if (add_link(links, n, l))
				return err_set(e, -ENOSPC, "too many hooks");
			continue;
		}
		if (errno != ENOENT && errno != EINVAL && errno != EADDRNOTAVAIL)
			return err_errno(e, -errno, "cannot attach a kprobe to %s", funcs[i]);
	}
	return 0;
}

/* Whether this row is served by fentry (its program is loaded) or by a kprobe. */
static int attach_slow(struct bpf_object *obj, const struct kernel *k, bool ends, struct bpf_link **links,
		       unsigned int *n, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(slow_paths) && !r; i++) {
		const struct slow_path *s = &slow_paths[i];

		if (hooks__loaded(obj, s->fentry))
			r = hooks__attach_tracing(obj, ends ? fexit_of(k, s) : s->fentry, links, n, e);
		else
			r = hooks__attach_kprobes(obj, ends ? s->kretprobe : s->kprobe, ends, s->func,
						  ARRAY_SIZE(s->func), links, n, e);
	}
	return r;
}

/* Messages that a first, tried-and-failed kprobe attach would print are not the user's business. */
static int quiet_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return 0;
}

int hooks__attach(struct hooks *h, const struct kernel *k, struct bpf_object *obj, struct err *e)
{
	libbpf_print_fn_t old = libbpf_set_print(quiet_print);
	int r;

	r = hooks__attach_tracing(obj, "on_contention_end", h->ends, &h->n_ends, e);
	if (!r)
		r = attach_slow(obj, k, true, h->ends, &h->n_ends, e);
	if (!r)
		r = releases__attach(h, obj, e);
	if (!r)
		r = hooks__attach_tracing(obj, "on_contention_begin", h->begins, &h->n_begins, e);
	if (!r)
		r = attach_slow(obj, k, false, h->begins, &h->n_begins, e);
	libbpf_set_print(old);
	if (!r && !h->n_begins)
		r = err_set(e, -ENOENT, "none of the lock slow paths could be hooked (see lockblame doctor)");
	if (r) {
		hooks__detach_begins(h);
		hooks__detach_ends(h);
	}
	return r;
}

static void detach(struct bpf_link **links, unsigned int *n)
{
	while (*n)
		bpf_link__destroy(links[--*n]);
}

void hooks__detach_begins(struct hooks *h)
{
	detach(h->begins, &h->n_begins);
}

void hooks__detach_ends(struct hooks *h)
{
	detach(h->ends, &h->n_ends);
}
