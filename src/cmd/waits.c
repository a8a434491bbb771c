// SPDX-License-Identifier: GPL-2.0
/* lockblame waits: who waited for which lock. */
#include "cmd/cmd.h"
#include "cmd/table_run.h"

int cmd_waits(struct lb_opts *o)
{
	return table_run(o, "waits", OF_WAITS);
}
