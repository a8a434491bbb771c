// SPDX-License-Identifier: GPL-2.0
#include "collect/source.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/cleanup.h"

static struct bpf_map *map_of(const struct bpf_object *obj, const char *name)
{
	return bpf_object__find_map_by_name(obj, name);
}

int source__map_fd(const struct bpf_object *obj, const char *map)
{
	const struct bpf_map *m = map_of(obj, map);

	return m ? bpf_map__fd(m) : -1;
}

static uint32_t ring_bytes(uint32_t want)
{
	uint32_t size = (uint32_t)sysconf(_SC_PAGESIZE);

	while (size < want && size < (1u << 30))
		size <<= 1;
	return size;
}

void source__set_sizes(struct bpf_object *obj, const struct collect_config *cfg)
{
	static const char *const by_entries[] = {
		"waits", "split", "accounts", "blames", "holder_split", "pairs",
	};

	for (size_t i = 0; i < ARRAY_SIZE(by_entries) && cfg->map_entries; i++)
		if (map_of(obj, by_entries[i]))
			bpf_map__set_max_entries(map_of(obj, by_entries[i]), cfg->map_entries);
	if (!cfg->split)
		bpf_map__set_max_entries(map_of(obj, "split"), 1);
	if (!cfg->events)
		bpf_map__set_max_entries(map_of(obj, "events"), ring_bytes(1));
	else if (cfg->ring_size)
		bpf_map__set_max_entries(map_of(obj, "events"), ring_bytes(cfg->ring_size));
}

static int fill_ids(struct bpf_map *map, const uint32_t *ids, unsigned int n)
{
	const uint8_t one = 1;

	for (unsigned int i = 0; i < n; i++)
		if (bpf_map__update_elem(map, &ids[i], sizeof(ids[i]), &one, sizeof(one), BPF_ANY))
			return -errno;
	return 0;
}

int source__fill_filters(struct bpf_object *obj, const struct collect_config *cfg, struct err *e)
{
	const uint32_t zero = 0;
	int r;

	r = fill_ids(map_of(obj, "only_pids"), cfg->pids, cfg->n_pids);
	if (!r)
		r = fill_ids(map_of(obj, "only_tids"), cfg->tids, cfg->n_tids);
	if (r)
		return err_errno(e, r, "cannot set the process filter");
	if (cfg->cgroup_fd >= 0 &&
	    bpf_map__update_elem(map_of(obj, "only_cgroup"), &zero, sizeof(zero), &cfg->cgroup_fd,
				 sizeof(cfg->cgroup_fd), BPF_ANY))
		return err_errno(e, -errno, "cannot set the cgroup filter (is it a cgroup v2?)");
	return 0;
}

int source__open(struct source *s, struct bpf_object *obj, int32_t tag, struct err *e)
{
	int fds[SET_N];

	s->obj = obj;
	s->tag = tag;
	s->stacks_fd = source__map_fd(obj, "stacks");
	for (int i = 0; i < SET_N; i++)
		fds[i] = source__map_fd(obj, snapshot__set((enum snapshot_set)i)->map);
	s->tables = tables__new(fds, source__map_fd(obj, "stats"), bpf_map__max_entries(map_of(obj, "waits")));
	return s->tables ? 0 : err_set(e, -ENOMEM, "out of memory");
}

void source__fini(struct source *s)
{
	tables__free(s->tables);
	s->tables = NULL;
}

/* Puts b's rows behind a's. Live rows stay in front of those that have just left the kernel. */
static int join(struct cells *a, const struct cells *b, size_t size)
{
	char *p = malloc((a->n + b->n) * size + 1);
	const char *old = a->p ? a->p : "", *add = b->p ? b->p : "";

	if (!p)
		return -ENOMEM;
	memcpy(p, old, a->live * size);
	memcpy(p + a->live * size, add, b->live * size);
	memcpy(p + (a->live + b->live) * size, old + a->live * size, (a->n - a->live) * size);
	memcpy(p + (a->n + b->live) * size, add + b->live * size, (b->n - b->live) * size);
	free(a->p);
	a->p = p;
	a->n += b->n;
	a->live += b->live;
	return 0;
}

static void add_counters(struct lb_stats *a, const struct lb_stats *b)
{
	uint64_t *x = (uint64_t *)a;
	const uint64_t *y = (const uint64_t *)b;

	for (size_t i = 0; i < sizeof(*a) / sizeof(*x); i++)
		x[i] += y[i];
}

static void tag_stack(int32_t *id, int32_t tag)
{
	if (*id >= 0)
		*id += tag;
}

/* Blame's stacks come from the first source only, whose tag is 0. */
static void tag_stacks(struct snapshot *s, int32_t tag)
{
	struct split_cell *c = s->cells[SET_SPLITS].p;

	for (size_t i = 0; i < s->cells[SET_SPLITS].n; i++) {
		tag_stack(&c[i].key.kstack, tag);
		tag_stack(&c[i].key.ustack, tag);
	}
}

int source__read(struct source *s, struct snapshot *snap, struct err *e)
{
	struct snapshot own = {0};
	int r = tables__read(s->tables, &own, e);

	tag_stacks(&own, s->tag);
	for (int i = 0; i < SET_N && !r; i++) {
		r = join(&snap->cells[i], &own.cells[i], snapshot__set((enum snapshot_set)i)->size);
		if (r)
			err_set(e, r, "out of memory");
	}
	add_counters(&snap->stats, &own.stats);
	snapshot__fini(&own);
	return r;
}
