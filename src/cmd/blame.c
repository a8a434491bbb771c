// SPDX-License-Identifier: GPL-2.0
/* lockblame blame: who made them wait. */
#include <errno.h>

#include "cmd/cmd.h"
#include "cmd/table_run.h"
#include "lockblame/abi.h"

int cmd_blame(struct lb_opts *o)
{
	struct err e = {0};

	if (o->kinds & LB_KINDS_SPINNING) {
		err_set(&e, -EINVAL, "blame: --kind: spinlocks and rwlocks tell nobody who holds them: leave "
				     "them out");
		return cmd_fail(EXIT_USAGE, &e);
	}
	return table_run(o, "blame", OF_BLAME);
}
