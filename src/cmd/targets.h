/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_CMD_TARGETS_H
#define LOCKBLAME_CMD_TARGETS_H

#include "cmd/options.h"
#include "collect/collect.h"

/* The filters of the command line, checked against the system and put into a collector's
 * configuration. Holds what the configuration points to until the collector is open. */
struct targets {
	int cgroup_fd;
};

/* -EINVAL with a message when a process, thread, cgroup or symbol does not exist. */
int targets__resolve(struct targets *t, const struct lb_opts *o, struct collect_config *cfg,
		     struct err *e);
void targets__fini(struct targets *t);

#endif
