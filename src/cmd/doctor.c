// SPDX-License-Identifier: GPL-2.0
/* lockblame doctor: what works on this kernel, by which hook, and if not, why not. It tries things: the
 * collector is loaded and attached for a moment, memory is read, symbols are looked up. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "cmd/cmd.h"
#include "cmd/namer.h"
#include "collect/collect.h"
#include "collect/holds.h"
#include "kmem/kmem.h"
#include "model/kinds.h"
#include "names/cgroup.h"
#include "names/ksym.h"
#include "out/json.h"
#include "out/out.h"
#include "util/cleanup.h"

enum state { WORKS, PARTLY, NOT };

static const char *const state_names[] = {"works", "partly", "not"};

struct doctor {
	struct out *out;
	bool json;
	bool waits; /* the verdict */
};

static void feature(struct doctor *d, const char *name, enum state s, const char *how, const char *why)
{
	struct json_object *rec;

	if (d->json) {
		rec = json__record("feature");
		json__str(rec, "feature", name);
		json__str(rec, "state", state_names[s]);
		json__str(rec, "how", how && *how ? how : NULL);
		json__str(rec, "why", why && *why ? why : NULL);
		json__write(d->out, rec);
		return;
	}
	out__printf(d->out, "%-22s %-7s %s\n", name, state_names[s], how && *how ? how : "-");
	if (why && *why)
		out__printf(d->out, "%-22s         %s\n", "", why);
}

static void kinds(struct doctor *d, const struct hooks *h)
{
	char name[48];

	for (int k = 0; k < LB_KIND_N; k++) {
		const struct kind_hooks *kh = &h->kind[k];

		snprintf(name, sizeof(name), "waits: %s", kind_name((unsigned int)k));
		feature(d, name, !kh->works ? NOT : kh->why[0] ? PARTLY : WORKS, kh->how, kh->why);
		if (kh->works && (LB_KIND_BIT(k) & LB_KINDS_SLEEPING))
			d->waits = true;
	}
}

static const char *skip_empty(const char *s)
{
	return s[0] ? s : NULL;
}

/* How it is seen who lets a lock go. Without that, holders are known by the owner word of the lock. */
static void blame(struct doctor *d, const struct hooks *h)
{
	char name[48];

	for (int k = 0; k < LB_KIND_N; k++) {
		const struct kind_hooks *kh = &h->kind[k];
		bool keeps_owner = k != LB_SEMAPHORE && k != LB_PERCPU_RWSEM;
		const char *how = kh->release[0] ? kh->release : keeps_owner ? "owner word" : NULL;

		if (!(LB_KIND_BIT(k) & LB_KINDS_SLEEPING))
			continue;
		snprintf(name, sizeof(name), "blame: %s", kind_name((unsigned int)k));
		feature(d, name, !how || !kh->works ? NOT : kh->release_why[0] ? PARTLY : WORKS, how,
			skip_empty(kh->release_why));
	}
}

static void one_hold(struct doctor *d, const struct kernel *k, const char *what, bool mmap_lock,
		     enum lb_kind kind)
{
	char buf[128];
	const char *why, *how = holds__how(k, mmap_lock, kind, &why, buf, sizeof(buf));

	feature(d, what, how ? WORKS : NOT, how, why);
}

static void holds(struct doctor *d, const struct kernel *k)
{
	one_hold(d, k, "holds: mmap_lock", true, LB_RWSEM);
	one_hold(d, k, "holds: rwsem", false, LB_RWSEM);
	one_hold(d, k, "holds: mutex", false, LB_MUTEX);
}

static void no_waits(struct doctor *d, const char *why)
{
	char name[48];

	for (int k = 0; k < LB_KIND_N; k++) {
		snprintf(name, sizeof(name), "waits: %s", kind_name((unsigned int)k));
		feature(d, name, NOT, NULL, why);
	}
}

/* Loads and attaches for real: a plan that the kernel refuses would be a lie. */
static void waits(struct doctor *d, struct lb_opts *o, struct collect **c)
{
	struct collect_config cfg = {
		.kinds = LB_KINDS_SLEEPING | LB_KINDS_SPINNING,
		.split = true,
		.events = true,
		.owner = true,
		.blame = true,
		.holder_split = true,
		.pairs = true,
		.cgroup_fd = -1,
	};
	struct snapshot snap;
	struct err e = {0};

	if (hooks_parse(o->hooks, &cfg.hooks, &e) || collect__open(&cfg, c, &e)) {
		no_waits(d, e.msg);
		feature(d, "waits in progress", NOT, NULL, "waits cannot be traced");
		return;
	}
	kinds(d, collect__hooks(*c));
	blame(d, collect__hooks(*c));
	holds(d, collect__kernel(*c));
	if (collect__read(*c, &snap, &e)) {
		feature(d, "waits in progress", NOT, NULL, e.msg);
		return;
	}
	snapshot__fini(&snap);
	feature(d, "waits in progress", WORKS,
		collect__kernel(*c)->task_storage ? "task iterator, task storage"
						  : "task iterator, hash by thread",
		NULL);
}

static void names(struct doctor *d, struct collect *c)
{
	struct err e = {0};
	struct namer *n = namer__new(c, &e);
	struct ksyms *ks = n ? namer__ksyms(n) : NULL;
	const struct kmem_task_row *rows;
	size_t n_rows;
	int r;

	if (!n) {
		feature(d, "kernel symbols", NOT, NULL, e.msg);
		return;
	}
	if (ksyms__hidden(ks))
		feature(d, "kernel symbols", NOT, NULL, ksyms__why(ks));
	else
		feature(d, "kernel symbols", WORKS, "/proc/kallsyms", NULL);
	if (ksyms__hidden(ks) || !ksyms__has_data(ks))
		feature(d, "names of static locks", NOT, NULL, ksyms__why(ks));
	else
		feature(d, "names of static locks", WORKS, "/proc/kallsyms", NULL);
	if (!namer__kmem(n)) {
		feature(d, "lock identity", NOT, NULL, namer__why(n));
		feature(d, "lock owners", NOT, NULL, namer__why(n));
	} else {
		r = kmem__tasks(namer__kmem(n), 0, &rows, &n_rows);
		feature(d, "lock identity", r ? PARTLY : WORKS, "kernel memory read by bpf test_run, BTF offsets",
			r ? "no task iterator: the mmap_lock of a process that does not wait itself has "
			    "no name"
			  : NULL);
		feature(d, "lock owners", PARTLY, "owner words of rwsem, mutex and rt-mutex",
			"a lock held by readers names only its latest reader (likely); other kinds keep "
			"no owner");
	}
	namer__free(n);
}

static void cgroup_filter(struct doctor *d)
{
	struct cgroups *cg = cgroups__new(NULL);
	const char *mount = cg ? cgroups__mount(cg) : NULL;

	feature(d, "cgroup filter", mount ? WORKS : NOT, mount ? mount : NULL,
		mount ? NULL : "no cgroup v2 is mounted (mount -t cgroup2 none /sys/fs/cgroup)");
	cgroups__free(cg);
}

static void header(struct doctor *d)
{
	struct utsname u;

	if (d->json) {
		json__header(d->out, "doctor");
		return;
	}
	uname(&u);
	out__printf(d->out, "lockblame %s on Linux %s %s\n\n%-22s %-7s %s\n", LB_VERSION, u.release,
		    u.machine, "FEATURE", "STATE", "HOW, AND WHAT IS MISSING");
}

static void verdict(struct doctor *d)
{
	struct json_object *rec;

	if (d->json) {
		rec = json__record("summary");
		json__bool(rec, "waits", d->waits);
		json__write(d->out, rec);
		return;
	}
	out__printf(d->out, "\n%s\n",
		    d->waits ? "Waits can be traced here." : "Waits cannot be traced here.");
}

int cmd_doctor(struct lb_opts *o)
{
	struct doctor d = {.json = o->format == FORMAT_JSON};
	struct collect *c = NULL;
	struct err e = {0};

	d.out = out__open(o->output, &e);
	if (!d.out)
		return cmd_fail(EXIT_FAILED, &e);
	header(&d);
	waits(&d, o, &c);
	names(&d, c);
	cgroup_filter(&d);
	verdict(&d);
	collect__free(c);
	if (out__close(d.out, &e))
		return cmd_fail(EXIT_FAILED, &e);
	return d.waits ? EXIT_OK : EXIT_FAILED;
}
