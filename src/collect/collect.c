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

#include "collect/tables.h"
#include "util/cleanup.h"
#include "wait.skel.h"

/* Stack walks a second that are worth their cost (5 to 15 us each: below 0.4 % of one CPU), and the
 * limits between which the threshold moves. */
#define WALKS_PER_SEC 200
#define THRESHOLD_MIN 10000ULL
#define THRESHOLD_MAX 100000000ULL

struct collect {
	struct kernel kernel;
	struct hooks hooks;
	struct wait_bpf *skel;
	struct ring_buffer *ring;
	struct tables *tables;
	int iter_fd;
	bool all_stacks;
	uint64_t tuned_at;
	uint64_t tuned_walks;
	collect_event_fn fn;
	void *fn_ctx;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static void set_constants(struct collect *c, const struct collect_config *cfg)
{
	struct wait_bpf__rodata *ro = c->skel->rodata;

	ro->use_task_storage = c->kernel.task_storage;
	ro->read_slowpath_has_count = kernel__func_args(&c->kernel, "rwsem_down_read_slowpath") == 3;
	ro->want_kinds = cfg->kinds ? cfg->kinds : LB_KINDS_SLEEPING;
	ro->only_lock = cfg->lock;
	ro->filter_pids = cfg->n_pids > 0;
	ro->filter_tids = cfg->n_tids > 0;
	ro->filter_cgroup = cfg->cgroup_fd >= 0;
	if (cfg->comm) {
		ro->filter_comm = true;
		strncpy((char *)(uintptr_t)ro->only_comm, cfg->comm, LB_COMM_LEN - 1);
	}
	ro->min_duration_ns = cfg->min_duration_ns;
	ro->all_stacks = cfg->all_stacks;
	ro->want_user_stack = cfg->user_stacks;
	ro->want_events = cfg->events;
	ro->want_split = cfg->split;
	ro->want_cgroup = cfg->cgroup;
	ro->want_owner = cfg->owner;
}

static uint32_t ring_bytes(uint32_t want)
{
	uint32_t size = (uint32_t)sysconf(_SC_PAGESIZE);

	while (size < want && size < (1u << 30))
		size <<= 1;
	return size;
}

static void set_sizes(struct collect *c, const struct collect_config *cfg)
{
	struct wait_bpf *s = c->skel;

	if (cfg->map_entries) {
		bpf_map__set_max_entries(s->maps.waits, cfg->map_entries);
		bpf_map__set_max_entries(s->maps.split, cfg->map_entries);
	}
	if (!cfg->split)
		bpf_map__set_max_entries(s->maps.split, 1);
	if (!cfg->events)
		bpf_map__set_max_entries(s->maps.events, ring_bytes(1));
	else if (cfg->ring_size)
		bpf_map__set_max_entries(s->maps.events, ring_bytes(cfg->ring_size));
	/* Only one of the two places for open waits exists in the kernel. */
	bpf_map__set_autocreate(s->maps.task_storage, c->kernel.task_storage);
	bpf_map__set_autocreate(s->maps.task_hash, !c->kernel.task_storage);
}

static int fill_ids(struct bpf_map *map, const uint32_t *ids, unsigned int n)
{
	const uint8_t one = 1;

	for (unsigned int i = 0; i < n; i++)
		if (bpf_map__update_elem(map, &ids[i], sizeof(ids[i]), &one, sizeof(one), BPF_ANY))
			return -errno;
	return 0;
}

static int fill_filters(struct collect *c, const struct collect_config *cfg, struct err *e)
{
	const uint32_t zero = 0;
	int r;

	r = fill_ids(c->skel->maps.only_pids, cfg->pids, cfg->n_pids);
	if (!r)
		r = fill_ids(c->skel->maps.only_tids, cfg->tids, cfg->n_tids);
	if (r)
		return err_errno(e, r, "cannot set the process filter");
	if (cfg->cgroup_fd >= 0 &&
	    bpf_map__update_elem(c->skel->maps.only_cgroup, &zero, sizeof(zero), &cfg->cgroup_fd,
				 sizeof(cfg->cgroup_fd), BPF_ANY))
		return err_errno(e, -errno, "cannot set the cgroup filter (is it a cgroup v2?)");
	return 0;
}

/* libbpf reports through a callback; we keep quiet and turn the errno into a sentence. */
static int quiet_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (getenv("LOCKBLAME_DEBUG"))
		return vfprintf(stderr, fmt, ap);
	return 0;
}

static int load(struct collect *c, struct err *e)
{
	int r;

	libbpf_set_print(quiet_print);
	r = wait_bpf__load(c->skel);
	if (r == -EPERM || r == -EACCES)
		return err_errno(e, r,
				 "the kernel refused to load the tracing programs (lockdown, or too "
				 "little locked memory: try ulimit -l unlimited)");
	if (r)
		return err_errno(e, r,
				 "cannot load the tracing programs (LOCKBLAME_DEBUG=1 shows the details)");
	return 0;
}

static int on_event(void *ctx, void *data, size_t size)
{
	struct collect *c = ctx;

	return size < sizeof(struct lb_event) ? 0 : c->fn(c->fn_ctx, data);
}

static int open_iter(struct collect *c, struct err *e)
{
	struct bpf_program *p = c->skel->progs.waits_in_progress;
	int fd = bpf_link_create(bpf_program__fd(p), 0, BPF_TRACE_ITER, NULL);

	if (fd < 0)
		return err_errno(e, -errno, "cannot list the waits in progress (bpf task iterator)");
	c->iter_fd = fd;
	return 0;
}

static int open_all(struct collect *c, const struct collect_config *cfg, struct err *e)
{
	uint32_t kinds = cfg->kinds ? cfg->kinds : LB_KINDS_SLEEPING;
	int r;

	r = kernel__probe(&c->kernel, e);
	if (r)
		return r;
	libbpf_set_print(quiet_print);
	c->skel = wait_bpf__open();
	if (!c->skel)
		return err_errno(e, -errno, "cannot open the tracing programs");
	set_constants(c, cfg);
	set_sizes(c, cfg);
	r = hooks__plan(&c->hooks, &c->kernel, cfg->hooks, kinds, cfg->no_spin, c->skel->obj, e);
	if (!r)
		r = load(c, e);
	if (!r)
		r = fill_filters(c, cfg, e);
	if (r)
		return r;
	c->tables = tables__new(bpf_map__fd(c->skel->maps.waits), bpf_map__fd(c->skel->maps.split),
				bpf_map__fd(c->skel->maps.stats),
				bpf_map__max_entries(c->skel->maps.waits));
	if (!c->tables)
		return err_set(e, -ENOMEM, "out of memory");
	if (cfg->events) {
		c->ring = ring_buffer__new(bpf_map__fd(c->skel->maps.events), on_event, c, NULL);
		if (!c->ring)
			return err_errno(e, -errno, "cannot map the event buffer");
	}
	r = open_iter(c, e);
	if (r)
		return r;
	return hooks__attach(&c->hooks, &c->kernel, c->skel->obj, e);
}

int collect__open(const struct collect_config *cfg, struct collect **out, struct err *e)
{
	struct collect *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return err_set(e, -ENOMEM, "out of memory");
	c->iter_fd = -1;
	c->all_stacks = cfg->all_stacks;
	r = open_all(c, cfg, e);
	if (r) {
		collect__free(c);
		return r;
	}
	c->tuned_at = now_ns();
	*out = c;
	return 0;
}

void collect__stop(struct collect *c)
{
	c->skel->bss->stopping = true;
	hooks__detach_begins(&c->hooks);
}

void collect__free(struct collect *c)
{
	if (!c)
		return;
	hooks__detach_begins(&c->hooks);
	hooks__detach_ends(&c->hooks);
	ring_buffer__free(c->ring);
	tables__free(c->tables);
	if (c->iter_fd >= 0)
		close(c->iter_fd);
	wait_bpf__destroy(c->skel);
	kernel__fini(&c->kernel);
	free(c);
}

int collect__read(struct collect *c, struct snapshot *s, struct err *e)
{
	int r;

	memset(s, 0, sizeof(*s));
	s->when_ns = now_ns();
	r = tables__read(c->tables, s, e);
	if (!r)
		r = tables__read_now(c->iter_fd, s, e);
	if (r)
		snapshot__fini(s);
	return r;
}

int collect__stack(struct collect *c, int32_t id, uint64_t *frames, unsigned int max)
{
	uint64_t buf[LB_STACK_DEPTH] = {0};
	unsigned int n = 0;

	if (id < 0)
		return -ENOENT;
	if (bpf_map__lookup_elem(c->skel->maps.stacks, &id, sizeof(id), buf, sizeof(buf), 0))
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

void collect__tune(struct collect *c)
{
	uint64_t now = now_ns(), walks, t = c->skel->data->walk_threshold_ns;
	double per_sec;

	if (c->all_stacks || now - c->tuned_at < 100000000ULL)
		return;
	walks = tables__walks(c->tables);
	per_sec = (double)(walks - c->tuned_walks) * 1e9 / (double)(now - c->tuned_at);
	c->tuned_at = now;
	c->tuned_walks = walks;
	/* The expected number of walks is inversely proportional to the threshold. Up at once, down
	 * slowly: a burst must not pay for the calm before it. */
	if (per_sec > WALKS_PER_SEC)
		t = (uint64_t)((double)t * (per_sec / WALKS_PER_SEC > 8 ? 8 : per_sec / WALKS_PER_SEC));
	else if (per_sec < WALKS_PER_SEC / 2)
		t -= t / 4;
	if (t < THRESHOLD_MIN)
		t = THRESHOLD_MIN;
	if (t > THRESHOLD_MAX)
		t = THRESHOLD_MAX;
	c->skel->data->walk_threshold_ns = t;
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
