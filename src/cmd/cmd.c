// SPDX-License-Identifier: GPL-2.0
#include "cmd/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const struct lb_command *cmd_find(const char *name)
{
	for (unsigned int i = 0; i < lb_n_commands; i++)
		if (!strcmp(lb_commands[i].name, name))
			return &lb_commands[i];
	return NULL;
}

int cmd_fail(int code, const struct err *e)
{
	fflush(stdout);
	fprintf(stderr, "lockblame: %s\n", e->msg);
	return code;
}

int cmd_end(int code)
{
	struct err e;

	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	if (errno == EPIPE)
		return code;
	err_errno(&e, errno ? errno : EIO, "cannot write standard output");
	fprintf(stderr, "lockblame: %s\n", e.msg);
	return code ? code : EXIT_FAILED;
}
