// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "cmd/cmd.h"

static const char *words_of(const struct lb_command *c)
{
	if (c->id == CMD_HELP)
		return " [COMMAND]";
	switch (c->args) {
	case ARGS_INTERVAL:
		return " [INTERVAL [COUNT]]";
	case ARGS_FILES:
		return " [FILE...]";
	default:
		return "";
	}
}

static int one_command(const struct lb_command *c)
{
	printf("Usage: lockblame %s [options]%s%s\n\n%s.\n\n", c->name, words_of(c),
	       c->takes_command ? " [-- COMMAND [ARG...]]" : "", c->summary);
	options_help(c, stdout);
	printf("\nMore: man lockblame-%s\n", c->name);
	return EXIT_OK;
}

/* `lockblame help` lists the commands; `lockblame help COMMAND` is `lockblame COMMAND --help`. */
int cmd_help(struct lb_opts *o)
{
	struct err e;

	if (o->n_args > 1) {
		err_set(&e, 0, "help: '%s' is one word too many", o->args[1]);
		return cmd_fail(EXIT_USAGE, &e);
	}
	if (o->n_args) {
		const struct lb_command *c = cmd_find(o->args[0]);

		if (!c) {
			err_set(&e, 0, "there is no command '%s' (try: lockblame help)", o->args[0]);
			return cmd_fail(EXIT_USAGE, &e);
		}
		return one_command(c);
	}
	printf("Usage: lockblame COMMAND [options]\n\n"
	       "Tells who made whom wait on which kernel lock, and for how long.\n\n");
	for (unsigned int i = 0; i < lb_n_commands; i++)
		printf("  %-9s %s\n", lb_commands[i].name, lb_commands[i].summary);
	printf("\nlockblame COMMAND --help lists a command's options; man lockblame tells the rest.\n");
	return EXIT_OK;
}
