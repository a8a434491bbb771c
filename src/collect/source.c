// SPDX-License-Identifier: GPL-2.0
#include "collect/source.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct bpf_map *map_of(const struct bpf_object *obj, const char *name)
{
	return bpf_object__find_map_by_name(obj, name);
}

int source__map_fd(const struct bpf_object *obj, const char *map)
{
	return bpf_map__fd(map_of(obj, map));
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
	if (cfg->map_entries) {
		bpf_map__set_max_entries(map_of(obj, "waits"), cfg->map_entries);
		bpf_map__set_max_entries(map_of(obj, "split"), cfg->map_entries);
	}
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
	s->obj = obj;
	s->tag = tag;
	s->stacks_fd = source__map_fd(obj, "stacks");
	s->tables = tables__new(source__map_fd(obj, "waits"), source__map_fd(obj, "split"),
				source__map_fd(obj, "stats"),
				bpf_map__max_entries(map_of(obj, "waits")));
	return s->tables ? 0 : err_set(e, -ENOMEM, "out of memory");
}

void source__fini(struct source *s)
{
	tables__free(s->tables);
	s->tables = NULL;
}

/* Puts b's rows behind a's. Live rows stay in front of those that have just left the kernel. */
static int join(void **a, size_t *n, size_t *live, const void *b, size_t bn, size_t blive, size_t size)
{
	char *p = malloc((*n + bn) * size + 1);
	const char *old = *a, *add = b;

	if (!p)
		return -ENOMEM;
	memcpy(p, old ? old : "", *live * size);
	memcpy(p + *live * size, add ? add : "", blive * size);
	memcpy(p + (*live + blive) * size, old ? old + *live * size : "", (*n - *live) * size);
	memcpy(p + (*n + blive) * size, add ? add + blive * size : "", (bn - blive) * size);
	free(*a);
	*a = p;
	*n += bn;
	*live += blive;
	return 0;
}

static void add_counters(struct lb_stats *a, const struct lb_stats *b)
{
	uint64_t *x = (uint64_t *)a;
	const uint64_t *y = (const uint64_t *)b;

	for (size_t i = 0; i < sizeof(*a) / sizeof(*x); i++)
		x[i] += y[i];
}

int source__read(struct source *s, struct snapshot *snap, struct err *e)
{
	struct snapshot own = {0};
	int r = tables__read(s->tables, &own, e);

	for (size_t i = 0; i < own.n_splits; i++) {
		if (own.splits[i].key.kstack >= 0)
			own.splits[i].key.kstack += s->tag;
		if (own.splits[i].key.ustack >= 0)
			own.splits[i].key.ustack += s->tag;
	}
	if (!r)
		r = join((void **)&snap->waits, &snap->n_waits, &snap->n_waits_live, own.waits, own.n_waits,
			 own.n_waits_live, sizeof(*own.waits));
	if (!r)
		r = join((void **)&snap->splits, &snap->n_splits, &snap->n_splits_live, own.splits,
			 own.n_splits, own.n_splits_live, sizeof(*own.splits));
	if (r == -ENOMEM)
		err_set(e, r, "out of memory");
	add_counters(&snap->stats, &own.stats);
	snapshot__fini(&own);
	return r;
}
