// SPDX-License-Identifier: GPL-2.0
/* The command table, and the way from argv to a command. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "util/cleanup.h"

const struct lb_command lb_commands[] = {
	{CMD_TOP, "top", "Show live which locks are waited for, full screen", ARGS_INTERVAL, true, cmd_top},
	{CMD_WAITS, "waits", "Show which locks were waited for, by whom, how long, from where", ARGS_INTERVAL, true, cmd_waits},
	{CMD_BLAME, "blame", "Show who made others wait, for which lock, how long, from where", ARGS_INTERVAL, true, cmd_blame},
	{CMD_HOLDS, "holds", "Show who held which lock, how long, contended or not", ARGS_INTERVAL, true, cmd_holds},
	{CMD_TRACE, "trace", "Print one line a wait, as it ends", ARGS_NONE, true, cmd_trace},
	{CMD_HUNG, "hung", "Show who is blocked now, on what, and who is at the root of it", ARGS_NONE, false, cmd_hung},
	{CMD_EXPLAIN, "explain", "Explain the hung-task warnings of a kernel log", ARGS_FILES, false, cmd_explain},
	{CMD_DOCTOR, "doctor", "Tell what works on this kernel, by which hook, and why not", ARGS_NONE, false, cmd_doctor},
	{CMD_HELP, "help", "List the commands, or show one command's options", ARGS_FILES, false, cmd_help},
};
const unsigned int lb_n_commands = ARRAY_SIZE(lb_commands);

static int run(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "help";
	const struct lb_command *cmd;
	struct lb_opts o = {0};
	struct err e;

	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		puts("lockblame " LB_VERSION);
		return EXIT_OK;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		return cmd_help(&o);
	cmd = cmd_find(name);
	if (!cmd) {
		err_set(&e, 0, "there is no command '%s' (try: lockblame help)", name);
		return cmd_fail(EXIT_USAGE, &e);
	}
	if (argc > 1 && options_parse(cmd, argc - 1, argv + 1, &o, &e))
		return cmd_fail(EXIT_USAGE, &e);
	if (o.version) {
		puts("lockblame " LB_VERSION);
		return EXIT_OK;
	}
	if (o.help)
		return cmd_help(&(struct lb_opts){.args = &argv[1], .n_args = 1});
	return cmd->run(&o);
}

int main(int argc, char **argv)
{
	return cmd_end(run(argc, argv));
}
