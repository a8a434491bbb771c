/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_CMD_TABLE_RUN_H
#define LOCKBLAME_CMD_TABLE_RUN_H

#include <stdbool.h>

#include "cmd/options.h"

/* A command that is one aggregated table, once at the end or each interval: name is the command's, blame
 * says of what. Returns the exit code; errors have been reported. */
int table_run(struct lb_opts *o, const char *name, bool blame);

#endif
