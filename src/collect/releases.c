// SPDX-License-Identifier: GPL-2.0
#include "collect/releases.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/cleanup.h"

/* One function that runs when a lock is let go. Some are compiled under a name with a suffix, which only
 * a kprobe finds. */
struct release {
	uint32_t kinds;
	const char *func[4];
	const char *fentry, *kprobe;
	bool rt; /* of PREEMPT_RT kernels; the others of those without */
	bool by_waiters;
};

static const struct release releases[] = {
	{LB_KIND_BIT(LB_RWSEM), {"rwsem_mark_wake"}, "fe_mark_wake", "kp_mark_wake", false, true},
	{LB_KIND_BIT(LB_MUTEX),
	 {"__mutex_unlock_slowpath", "__mutex_unlock_slowpath.constprop.0", "__mutex_unlock_slowpath.isra.0"},
	 NULL, "kp_unlock", false, false},
	{LB_KIND_BIT(LB_PERCPU_RWSEM), {"percpu_up_write"}, "fe_percpu_up", "kp_unlock", false, false},
	{LB_KIND_BIT(LB_SEMAPHORE), {"up"}, "fe_up", "kp_up", false, false},
	{LB_KIND_BIT(LB_RT_MUTEX) | LB_KIND_BIT(LB_MUTEX) | LB_KIND_BIT(LB_RWSEM),
	 {"mark_wakeup_next_waiter"}, NULL, "kp_rt_unlock", true, false},
	{LB_KIND_BIT(LB_PERCPU_RWSEM), {"percpu_up_write"}, "fe_percpu_up", "kp_unlock", true, false},
	{LB_KIND_BIT(LB_SEMAPHORE), {"up"}, "fe_up", "kp_up", true, false},
};

#define TP_KINDS (LB_KINDS_SLEEPING & ~LB_KIND_BIT(LB_RWSEM))

static void say(struct hooks *h, uint32_t kinds, const char *how, const char *what)
{
	for (int k = 0; k < LB_KIND_N; k++)
		if (kinds & LB_KIND_BIT(k))
			snprintf(h->kind[k].release, sizeof(h->kind[k].release), "%s%s", how, what);
}

/* Why the waits themselves cannot be seen by other hooks is said there (hooks.c). */
static void why_not(struct hooks *h, const struct kernel *k)
{
	for (int kind = 0; kind < LB_KIND_N; kind++) {
		struct kind_hooks *kh = &h->kind[kind];

		if ((h->released & LB_KIND_BIT(kind)) || !(LB_KINDS_SLEEPING & LB_KIND_BIT(kind)))
			continue;
		snprintf(kh->release_why, sizeof(kh->release_why),
			 "%s are not seen: no lock:contended_release, and %s%s",
			 kh->release[0] ? "releases of other rwsems" : "releases",
			 k->fentry || k->kprobe ? "with these hooks no function to trace"
						: "neither fentry nor kprobes can be used here",
			 kind == LB_SEMAPHORE || kind == LB_PERCPU_RWSEM
				 ? ""
				 : "; holders are read from the lock's owner word: likely");
	}
}

/* mmap_lock alone, by its own tracepoints. */
static void plan_mmap_lock(struct hooks *h, const struct kernel *k, struct bpf_object *obj)
{
	int args = kernel__tp_args(k, "mmap_lock_released");

	if (args < 2 || k->rt)
		return;
	hooks__load(obj, args == 2 ? "on_mmap_released" : "on_mmap_released3");
	hooks__load(obj, args == 2 ? "on_mmap_acquired" : "on_mmap_acquired4");
	say(h, LB_KIND_BIT(LB_RWSEM), "of mmap_lock: ", "raw_tp mmap_lock_released, _acquire_returned");
}

/* Functions are hooked in the way that slow paths are, and not at all when only tracepoints are wanted. */
static void plan_function(struct hooks *h, const struct kernel *k, const struct release *r,
			  bool slow_path_seen, struct bpf_object *obj)
{
	if (r->rt != k->rt || !(r->kinds & ~h->released) || (r->by_waiters && !slow_path_seen))
		return;
	if (h->family != HOOKS_KPROBE && r->fentry && kernel__can_fentry(k, r->func[0])) {
		hooks__load(obj, r->fentry);
		say(h, r->kinds & ~h->released, "fentry ", r->func[0]);
	} else if (k->kprobe) {
		hooks__load(obj, r->kprobe);
		h->release_probes |= 1u << (r - releases);
		say(h, r->kinds & ~h->released, "kprobe ", r->func[0]);
	} else {
		return;
	}
	h->released |= r->kinds;
	h->wakes_by_waiters |= r->by_waiters;
}

void releases__plan(struct hooks *h, const struct kernel *k, bool no_spin, struct bpf_object *obj)
{
	bool tp = kernel__tp_args(k, "contended_release") == 1 && h->family == HOOKS_TP;
	bool slow_path_seen = h->family != HOOKS_TP || h->kind[LB_RWSEM].spin;

	if (tp) {
		hooks__load(obj, "on_contended_release");
		h->released = h->released_by_tp = TP_KINDS;
		say(h, TP_KINDS, "tp_btf ", "contended_release");
	}
	for (size_t i = 0; i < ARRAY_SIZE(releases) && !no_spin; i++)
		plan_function(h, k, &releases[i], slow_path_seen, obj);
	if (tp && !(h->released & LB_KIND_BIT(LB_RWSEM))) {
		h->released = h->released_by_tp = LB_KINDS_SLEEPING;
		say(h, LB_KIND_BIT(LB_RWSEM), "tp_btf ", "contended_release");
		snprintf(h->kind[LB_RWSEM].release_why, sizeof(h->kind[LB_RWSEM].release_why),
			 "a downgrade is told as a release, and every reader that leaves");
	}
	if (!(h->released & LB_KIND_BIT(LB_RWSEM)))
		plan_mmap_lock(h, k, obj);
	why_not(h, k);
}

/* A function that is not there after all (inlined, or under another name). */
static void take_back(struct hooks *h, const struct release *r)
{
	h->released &= ~r->kinds;
	for (int k = 0; k < LB_KIND_N; k++)
		if (r->kinds & LB_KIND_BIT(k)) {
			snprintf(h->kind[k].release_why, sizeof(h->kind[k].release_why),
				 "releases are not seen: this kernel has no %s to probe", r->func[0]);
			h->kind[k].release[0] = '\0';
		}
}

static const char *const tp_programs[] = {
	"on_contended_release", "on_mmap_released", "on_mmap_released3", "on_mmap_acquired", "on_mmap_acquired4",
};

int releases__attach(struct hooks *h, struct bpf_object *obj, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tp_programs) && !r; i++)
		r = hooks__attach_tracing(obj, tp_programs[i], h->ends, &h->n_ends, e);
	for (size_t i = 0; i < ARRAY_SIZE(releases) && !r; i++) {
		const struct release *rel = &releases[i];
		unsigned int before = h->n_ends;

		if (!(h->release_probes & 1u << i))
			continue;
		r = hooks__attach_kprobes(obj, rel->kprobe, false, rel->func, ARRAY_SIZE(rel->func),
					  h->ends, &h->n_ends, e);
		if (!r && h->n_ends == before)
			take_back(h, rel);
	}
	if (!r)
		r = hooks__attach_tracing(obj, "fe_mark_wake", h->ends, &h->n_ends, e);
	if (!r)
		r = hooks__attach_tracing(obj, "fe_percpu_up", h->ends, &h->n_ends, e);
	if (!r)
		r = hooks__attach_tracing(obj, "fe_up", h->ends, &h->n_ends, e);
	return r;
}
