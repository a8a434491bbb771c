/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_COLLECT_SOURCE_H
#define LOCKBLAME_COLLECT_SOURCE_H

#include <stdint.h>

#include "collect/collect.h"
#include "collect/tables.h"

struct bpf_object;
struct ring_buffer;

/* One loaded BPF object that accounts for waits (bpf/account.bpf.h), seen through its maps. There are
 * up to two: sleeping kinds, and spinning kinds with maps of their own. Their stack ids are told apart
 * by a tag. */
struct source {
	struct bpf_object *obj;
	struct tables *tables;
	int stacks_fd;
	int32_t tag; /* added to its stack ids */
	struct collect *owner;
};

#define SOURCE_TAG_SPIN (1 << 24)

/* Before the load: filters and sizes. The constants of account.bpf.h and filter.bpf.h are set by name
 * in the skeletons' sections. */
void source__set_sizes(struct bpf_object *obj, const struct collect_config *cfg);
/* After the load: the filters that are maps. */
int source__fill_filters(struct bpf_object *obj, const struct collect_config *cfg, struct err *e);
/* Opens the tables. 0 or -errno; source__fini in any case. */
int source__open(struct source *s, struct bpf_object *obj, int32_t tag, struct err *e);
void source__fini(struct source *s);
/* Appends what the tables hold to *snap. */
int source__read(struct source *s, struct snapshot *snap, struct err *e);
int source__map_fd(const struct bpf_object *obj, const char *map);

#endif
