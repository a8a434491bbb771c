/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_CMD_TABLE_RUN_H
#define LOCKBLAME_CMD_TABLE_RUN_H

#include "cmd/options.h"
#include "model/table.h"

/* A command that is one aggregated table, once at the end or each interval: name is the command's, of
 * says what of. Returns the exit code; errors have been reported. */
int table_run(struct lb_opts *o, const char *name, enum table_of of);

#endif
