// SPDX-License-Identifier: GPL-2.0
/* lockblame holds: who held which lock, how long. */
#include <errno.h>

#include "cmd/cmd.h"
#include "cmd/table_run.h"
#include "lockblame/abi.h"

int cmd_holds(struct lb_opts *o)
{
	const uint32_t can = LB_KIND_BIT(LB_RWSEM) | LB_KIND_BIT(LB_MUTEX);
	struct err e = {0};

	if (o->kinds & ~can) {
		err_set(&e, -EINVAL, "holds: --kind: only rwsem and mutex can be followed");
		return cmd_fail(EXIT_USAGE, &e);
	}
	return table_run(o, "holds", OF_HOLDS);
}
