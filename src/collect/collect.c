// SPDX-License-Identifier: GPL-2.0
#include "collect/collect.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "collect/holds.h"
#include "collect/releases.h"
#include "collect/source.h"
#include "collect/tables.h"
#include "spin.skel.h"
#include "util/clock.h"
#include "util/cleanup.h"
#include "wait.skel.h"

/* Stack walks a second that are worth their cost (5 to 15 us each): one wait in eight, so that walks cost
 * no more than the rest; few enough never matter, and many never help (0.4 % of one CPU). And the limits
 * between which the threshold moves. */
#define WALK_ONE_IN 8
#define WALKS_MIN 50
#define WALKS_MAX 200
#define THRESHOLD_MIN 10000ULL
#define THRESHOLD_MAX 100000000ULL

struct collect {
	struct kernel kernel;
	struct hooks hooks;
	struct wait_bpf *skel;
	struct spin_bpf *spin; /* NULL unless spinning kinds are wanted */
	struct source sources[2];
	unsigned int n_sources;
	struct bpf_link *spin_end, *spin_begin;
	struct ring_buffer *ring;
	int iter_fd;
	bool all_stacks, holds;
	uint64_t tuned_at;
	struct lb_stats tuned; /* the counters then */
	uint64_t read_recorded; /* waits recorded up to the last read */
	uint32_t map_entries;
	collect_event_fn fn;
	void *fn_ctx;
	collect_born_fn born_fn;
	void *born_ctx;
};

/* Both objects have the same constants (filter.bpf.h, account.bpf.h) at different places. */
#define SET_COMMON(ro, cfg)                                                                        \
	do {                                                                                       \
		(ro)->only_lock = (cfg)->lock;                                                     \
		(ro)->filter_pids = (cfg)->n_pids > 0;                                             \
		(ro)->filter_tids = (cfg)->n_tids > 0;                                             \
		(ro)->only_pid = (cfg)->n_pids == 1 ? (cfg)->pids[0] : 0;                          \
		(ro)->only_tid = (cfg)->n_tids == 1 ? (cfg)->tids[0] : 0;                          \
		(ro)->filter_cgroup = (cfg)->cgroup_fd >= 0;                                       \
		(ro)->filter_comm = (cfg)->comm != NULL;                                           \
		if ((cfg)->comm)                                                                   \
			strncpy((ro)->only_comm, (cfg)->comm, LB_COMM_LEN - 1);                    \
		(ro)->min_duration_ns = (cfg)->min_duration_ns;                                    \
		(ro)->all_stacks = (cfg)->all_stacks;                                              \
		(ro)->want_user_stack = (cfg)->user_stacks;                                        \
		(ro)->want_events = (cfg)->events;                                                 \
		(ro)->want_split = (cfg)->split;                                                   \
		(ro)->want_cgroup = (cfg)->cgroup;                                                 \
	} while (0)

static void set_constants(struct collect *c, const struct collect_config *cfg, uint32_t kinds)
{
	struct wait_bpf__rodata *ro = c->skel->rodata;

	SET_COMMON(ro, cfg);
	ro->want_kinds = kinds & LB_KINDS_SLEEPING;
	ro->use_task_storage = c->kernel.task_storage;
	ro->want_owner = cfg->owner;
	/* Only one of the two places for open waits exists in the kernel. */
	bpf_map__set_autocreate(c->skel->maps.task_storage, c->kernel.task_storage && !cfg->holds);
	bpf_map__set_autocreate(c->skel->maps.task_hash, !c->kernel.task_storage && !cfg->holds);
	bpf_map__set_autocreate(c->skel->maps.held_storage, c->kernel.task_storage && cfg->holds);
	bpf_map__set_autocreate(c->skel->maps.held_hash, !c->kernel.task_storage && cfg->holds);
	ro->want_blame = cfg->blame;
	ro->want_holder_split = cfg->holder_split;
	ro->want_pairs = cfg->pairs;
	bpf_map__set_autocreate(c->skel->maps.accounts, cfg->blame);
	bpf_map__set_autocreate(c->skel->maps.blames, cfg->blame);
	bpf_map__set_autocreate(c->skel->maps.holder_split, cfg->blame);
	bpf_map__set_autocreate(c->skel->maps.pairs, cfg->blame);
}

/* What depends on the hooks that were chosen. */
static void set_hook_constants(struct collect *c, const struct collect_config *cfg)
{
	struct wait_bpf__rodata *ro = c->skel->rodata;

	ro->stack_at_begin = c->hooks.uses_kprobes;
	ro->released_kinds = c->hooks.released;
	ro->released_by_tp = c->hooks.released_by_tp;
	ro->tell_passed_by = cfg->blame && c->hooks.wakes_by_waiters &&
			     (cfg->n_pids || cfg->n_tids || cfg->comm || cfg->cgroup_fd >= 0);
}

static int open_spin(struct collect *c, const struct collect_config *cfg, uint32_t kinds, struct err *e)
{
	if (cfg->holds || !(kinds & LB_KINDS_SPINNING) || c->hooks.family != HOOKS_TP)
		return 0;
	c->spin = spin_bpf__open();
	if (!c->spin)
		return err_errno(e, -errno, "cannot open the spinlock programs");
	SET_COMMON(c->spin->rodata, cfg);
	c->spin->rodata->want_kinds = kinds & LB_KINDS_SPINNING;
	bpf_map__set_autocreate(c->spin->maps.task_storage, false);
	bpf_map__set_autocreate(c->spin->maps.task_hash, false);
	source__set_sizes(c->spin->obj, cfg);
	return 0;
}

/* libbpf reports through a callback; we keep quiet and turn the errno into a sentence. */
__attribute__((format(printf, 2, 0))) static int quiet_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (getenv("LOCKBLAME_DEBUG"))
		return vfprintf(stderr, fmt, ap);
	return 0;
}

static int load(struct collect *c, struct err *e)
{
	int r = wait_bpf__load(c->skel);

	if (!r && c->spin)
		r = spin_bpf__load(c->spin);
	if (r == -EPERM || r == -EACCES)
		return err_errno(e, r,
				 "the kernel refused to load the tracing programs (lockdown, or too "
				 "little locked memory: try ulimit -l unlimited)");
	if (!r)
		return 0;
	err_errno(e, r, "cannot load the tracing programs (LOCKBLAME_DEBUG=1 shows the details)");
	return -EIO; /* never the user's mistake, which -EINVAL would say */
}

static void tag(int32_t *id, int32_t t)
{
	if (*id >= 0)
		*id += t;
}

static int on_event(void *ctx, void *data, size_t size)
{
	struct source *src = ctx;
	struct lb_event ev;

	if (size < sizeof(ev))
		return 0;
	memcpy(&ev, data, sizeof(ev));
	tag(&ev.kstack, src->tag);
	tag(&ev.ustack, src->tag);
	return src->owner->fn(src->owner->fn_ctx, &ev);
}

static int on_born(void *ctx, void *data, size_t size)
{
	const struct collect *c = ctx;
	struct lb_born b;

	if (size < sizeof(b) || !c->born_fn)
		return 0;
	memcpy(&b, data, sizeof(b));
	c->born_fn(c->born_ctx, &b);
	return 0;
}

static int add_ring(struct collect *c, int fd, ring_buffer_sample_fn fn, void *ctx)
{
	if (c->ring)
		return ring_buffer__add(c->ring, fd, fn, ctx);
	c->ring = ring_buffer__new(fd, fn, ctx, NULL);
	return c->ring ? 0 : -errno;
}

/* After the load: filters, tables and rings of one object. */
static int add_source(struct collect *c, const struct collect_config *cfg, struct bpf_object *obj,
		      int32_t t, struct err *e)
{
	struct source *s = &c->sources[c->n_sources];
	int r = source__fill_filters(obj, cfg, e);

	if (r)
		return r;
	s->owner = c;
	c->n_sources++;
	r = source__open(s, obj, t, e);
	if (r)
		return r;
	r = add_ring(c, source__map_fd(obj, "born"), on_born, c);
	if (!r && cfg->events)
		r = add_ring(c, source__map_fd(obj, "events"), on_event, s);
	return r ? err_errno(e, r, "cannot map the event buffer") : 0;
}

static int open_iter(struct collect *c, struct err *e)
{
	struct bpf_program *p = c->holds ? c->skel->progs.holds_in_progress : c->skel->progs.waits_in_progress;
	int fd = bpf_link_create(bpf_program__fd(p), 0, BPF_TRACE_ITER, NULL);

	if (fd < 0)
		return err_errno(e, -errno, "cannot list the waits in progress (bpf task iterator)");
	c->iter_fd = fd;
	return 0;
}

/* Ends before begins, as for the sleeping kinds. */
static int attach_spin(struct collect *c, struct err *e)
{
	if (!c->spin)
		return 0;
	c->spin_end = bpf_program__attach(c->spin->progs.on_spin_end);
	c->spin_begin = c->spin_end ? bpf_program__attach(c->spin->progs.on_spin_begin) : NULL;
	return c->spin_begin ? 0 : err_errno(e, -errno, "cannot attach the spinlock programs");
}

static int open_objects(struct collect *c, const struct collect_config *cfg, uint32_t kinds,
			struct err *e)
{
	int r;

	libbpf_set_print(quiet_print);
	c->skel = wait_bpf__open();
	if (!c->skel)
		return err_errno(e, -errno, "cannot open the tracing programs");
	set_constants(c, cfg, kinds);
	source__set_sizes(c->skel->obj, cfg);
	if (cfg->holds)
		r = holds__plan(&c->hooks, &c->kernel, cfg->hooks, cfg->kinds, c->skel->obj, e);
	else
		r = hooks__plan(&c->hooks, &c->kernel, cfg->hooks, kinds, cfg->no_spin, c->skel->obj, e);
	hooks__load(c->skel->obj, cfg->holds ? "holds_in_progress" : "waits_in_progress");
	if (!r && cfg->blame)
		releases__plan(&c->hooks, &c->kernel, cfg->no_spin, c->skel->obj);
	if (!r)
		r = open_spin(c, cfg, kinds, e);
	set_hook_constants(c, cfg);
	return r ? r : load(c, e);
}

static int open_all(struct collect *c, const struct collect_config *cfg, struct err *e)
{
	uint32_t kinds = cfg->kinds ? cfg->kinds : LB_KINDS_SLEEPING;
	int r;

	r = kernel__probe(&c->kernel, e);
	if (!r)
		r = open_objects(c, cfg, kinds, e);
	if (!r)
		r = add_source(c, cfg, c->skel->obj, 0, e);
	if (!r && c->spin)
		r = add_source(c, cfg, c->spin->obj, SOURCE_TAG_SPIN, e);
	if (!r)
		r = open_iter(c, e);
	if (!r)
		r = cfg->holds ? holds__attach(&c->hooks, c->skel->obj, e)
			       : hooks__attach(&c->hooks, &c->kernel, c->skel->obj, e);
	return r ? r : attach_spin(c, e);
}

int collect__open(const struct collect_config *cfg, struct collect **out, struct err *e)
{
	struct collect *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return err_set(e, -ENOMEM, "out of memory");
	c->iter_fd = -1;
	c->all_stacks = cfg->all_stacks;
	c->holds = cfg->holds;
	c->map_entries = cfg->map_entries ? cfg->map_entries : 16384;
	r = open_all(c, cfg, e);
	if (r) {
		collect__free(c);
		return r;
	}
	c->tuned_at = clock_ns();
	*out = c;
	return 0;
}

void collect__stop(struct collect *c)
{
	bpf_link__destroy(c->spin_begin);
	c->spin_begin = NULL;
	hooks__detach_begins(&c->hooks);
}

void collect__free(struct collect *c)
{
	if (!c)
		return;
	collect__stop(c);
	bpf_link__destroy(c->spin_end);
	hooks__detach_ends(&c->hooks);
	ring_buffer__free(c->ring);
	for (unsigned int i = 0; i < c->n_sources; i++)
		source__fini(&c->sources[i]);
	spin_bpf__destroy(c->spin);
	if (c->iter_fd >= 0)
		close(c->iter_fd);
	wait_bpf__destroy(c->skel);
	kernel__fini(&c->kernel);
	free(c);
}

/* The counters of all objects, now. */
static void read_stats(struct collect *c, struct lb_stats *st)
{
	memset(st, 0, sizeof(*st));
	for (unsigned int i = 0; i < c->n_sources; i++)
		tables__add_stats(c->sources[i].tables, st);
}

/* Whether any wait is in progress. The counters of the CPUs are not read at one moment: a wait that began
 * and ended in between can hide another one, until the next read. */
static bool any_open(struct collect *c)
{
	struct lb_stats st;

	read_stats(c, &st);
	return st.seen != st.recorded + st.short_waits + st.lost_map + st.lost_end;
}

int collect__read(struct collect *c, struct snapshot *s, struct err *e)
{
	int r = 0;

	memset(s, 0, sizeof(*s));
	s->when_ns = clock_ns();
	for (unsigned int i = 0; i < c->n_sources && !r; i++)
		r = source__read(&c->sources[i], s, e);
	/* A look at every task is dearer than all else here. */
	if (!r && any_open(c))
		r = tables__read_now(c->iter_fd, s, e);
	if (r)
		snapshot__fini(s);
	else
		c->read_recorded = s->stats.recorded;
	return r;
}

int collect__stack(struct collect *c, int32_t id, uint64_t *frames, unsigned int max)
{
	const struct source *src = &c->sources[0];
	uint64_t buf[LB_STACK_DEPTH] = {0};
	unsigned int n = 0;

	if (id < 0)
		return -ENOENT;
	if (id >= SOURCE_TAG_SPIN) {
		src = &c->sources[c->n_sources - 1];
		id -= SOURCE_TAG_SPIN;
	}
	if (bpf_map_lookup_elem(src->stacks_fd, &id, buf))
		return -errno;
	while (n < LB_STACK_DEPTH && n < max && buf[n]) {
		frames[n] = buf[n];
		n++;
	}
	return (int)n;
}

int collect__event_fd(struct collect *c)
{
	return c->ring ? ring_buffer__epoll_fd(c->ring) : -1;
}

int collect__drain(struct collect *c, collect_event_fn fn, void *ctx)
{
	int r;

	if (!c->ring)
		return 0;
	c->fn = fn;
	c->fn_ctx = ctx;
	r = ring_buffer__consume(c->ring);
	return r < 0 ? r : 0;
}

/* How much of the walks per second that a rate of waits is worth is used: 1 is just right. */
static double walk_load(double walks, double waits)
{
	double budget = waits / WALK_ONE_IN;

	if (budget < WALKS_MIN)
		budget = WALKS_MIN;
	return walks / (budget > WALKS_MAX ? WALKS_MAX : budget);
}

void collect__set_born(struct collect *c, collect_born_fn fn, void *ctx)
{
	c->born_fn = fn;
	c->born_ctx = ctx;
}

/* A wait makes at most one row of each table. */
bool collect__filling_up(struct collect *c)
{
	struct lb_stats st;

	read_stats(c, &st);
	return st.recorded - c->read_recorded > c->map_entries / 2;
}

void collect__tune(struct collect *c)
{
	uint64_t now = clock_ns(), t = c->skel->data->walk_threshold_ns;
	struct lb_stats st;
	double load, s;

	if (c->all_stacks || now - c->tuned_at < 100000000ULL)
		return;
	read_stats(c, &st);
	s = (double)(now - c->tuned_at) / 1e9;
	/* releases that are charged outnumber the waits, and may walk too */
	load = walk_load((double)(st.walked - c->tuned.walked) / s,
			 (double)(st.recorded + st.charges - c->tuned.recorded - c->tuned.charges) / s);
	c->tuned_at = now;
	c->tuned = st;
	/* The expected number of walks is inversely proportional to the threshold. Up at once, down
	 * slowly: a burst must not pay for the calm before it. */
	if (load > 1)
		t = (uint64_t)((double)t * (load > 8 ? 8 : load));
	else if (load < 0.5)
		t -= t / (load < 0.25 ? 2 : 4);
	if (t < THRESHOLD_MIN)
		t = THRESHOLD_MIN;
	if (t > THRESHOLD_MAX)
		t = THRESHOLD_MAX;
	c->skel->data->walk_threshold_ns = t;
	if (c->spin)
		c->spin->data->walk_threshold_ns = t;
}

uint64_t collect__walk_threshold(const struct collect *c)
{
	return c->all_stacks ? 0 : c->skel->data->walk_threshold_ns;
}

const struct hooks *collect__hooks(const struct collect *c)
{
	return &c->hooks;
}

const struct kernel *collect__kernel(const struct collect *c)
{
	return &c->kernel;
}
