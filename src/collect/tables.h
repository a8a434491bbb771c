/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_COLLECT_TABLES_H
#define LOCKBLAME_COLLECT_TABLES_H

#include <stdint.h>

#include "model/snapshot.h"
#include "util/err.h"

/* Reads the kernel's tables, by batches where the kernel can, and keeps them from filling up. */
struct tables;

/* fds: the map of each snapshot_set, -1 for those that are not there. They stay the caller's. NULL: out of
 * memory. */
struct tables *tables__new(const int fds[SET_N], int stats_fd, uint32_t max_entries);
void tables__free(struct tables *t);

/* Appends rows and counters to the zeroed *s. 0 or -errno. */
int tables__read(struct tables *t, struct snapshot *s, struct err *e);

/* Fills s->now from a task iterator link. */
int tables__read_now(int iter_link_fd, struct snapshot *s, struct err *e);

/* Adds the counters alone to *sum. 0 or -errno. */
int tables__add_stats(struct tables *t, struct lb_stats *sum);

#endif
