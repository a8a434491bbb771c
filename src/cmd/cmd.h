/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_CMD_CMD_H
#define LOCKBLAME_CMD_CMD_H

#include "cmd/options.h"

enum lb_cmd_id {
	CMD_TOP,
	CMD_TRACE,
	CMD_WAITS,
	CMD_BLAME,
	CMD_HOLDS,
	CMD_HUNG,
	CMD_EXPLAIN,
	CMD_DOCTOR,
	CMD_HELP,
	CMD_N,
};

#define CMD_BIT(id) (1u << (id))
#define CMD_ALL ((1u << CMD_N) - 1)

/* What the words without dashes are. */
enum lb_args {
	ARGS_NONE,
	ARGS_INTERVAL, /* [INTERVAL [COUNT]] */
	ARGS_FILES,    /* any number */
};

/* One row per command, in the order of the help text. run returns an EXIT_ code; it has printed its
 * own error line by then (cmd_fail). */
struct lb_command {
	enum lb_cmd_id id;
	const char *name;
	const char *summary;
	enum lb_args args;
	bool takes_command; /* accepts -- COMMAND */
	int (*run)(struct lb_opts *o);
};

extern const struct lb_command lb_commands[];
extern const unsigned int lb_n_commands;

const struct lb_command *cmd_find(const char *name);

/* Prints "lockblame: MESSAGE" on stderr and returns code: the only place that reports errors. */
int cmd_fail(int code, const struct err *e);

/* At the very end: what printf left (help, lists of columns) goes out; a full disk is a failure, a
 * reader that has gone is none. Returns the exit code. */
int cmd_end(int code);

int cmd_top(struct lb_opts *o);
int cmd_trace(struct lb_opts *o);
int cmd_waits(struct lb_opts *o);
int cmd_blame(struct lb_opts *o);
int cmd_holds(struct lb_opts *o);
int cmd_hung(struct lb_opts *o);
int cmd_explain(struct lb_opts *o);
int cmd_doctor(struct lb_opts *o);
int cmd_help(struct lb_opts *o);

#endif
