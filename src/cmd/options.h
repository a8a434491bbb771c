/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_CMD_OPTIONS_H
#define LOCKBLAME_CMD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "util/err.h"

struct lb_command;

enum lb_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_FOLDED };

#define OPT_MAX_IDS 64

struct id_list {
	uint32_t id[OPT_MAX_IDS];
	unsigned int n;
};

/* What a command line said. Strings point into argv. Zero means "not given" everywhere; commands
 * apply their own defaults. Durations are in ns. */
struct lb_opts {
	/* which waits */
	struct id_list pids, tids;
	const char *comm;
	const char *cgroup;  /* path, or a number: a cgroup id */
	const char *lock;    /* 0xADDRESS or symbol */
	uint32_t kinds;	     /* bit (1 << enum lb_kind), include/lockblame/abi.h */
	uint64_t min_duration;
	/* when */
	uint64_t interval;
	uint64_t count;
	uint64_t duration;
	/* how it is shown */
	enum lb_format format;
	const char *by;
	const char *sort;
	const char *columns;
	uint64_t rows;
	const char *output;
	uint64_t min;	     /* blocked for so long */
	bool timestamps;
	bool stacks;
	bool user_stacks;
	bool batch;
	bool reverse;
	/* how it is collected */
	bool all_stacks;
	bool no_spin;
	uint64_t map_entries;
	uint64_t ring_size;
	const char *hooks;   /* hidden: auto, tp, fentry, kprobe */
	const char *sources; /* hidden: where locks are found, see hung/find.h */
	/* everywhere */
	bool verbose;
	bool quiet;
	bool help;
	bool version;
	/* what was left: the words before "--", and the command after it (NULL-terminated, or NULL) */
	char **args;
	int n_args;
	char **run;
};

enum opt_type {
	OPT_FLAG,     /* bool */
	OPT_FORMAT,   /* enum lb_format; the row's value is stored */
	OPT_STRING,   /* const char * */
	OPT_DURATION, /* uint64_t ns, a bare number is seconds, > 0 */
	OPT_COUNT,    /* uint64_t, >= 1 */
	OPT_SIZE,     /* uint64_t bytes */
	OPT_IDS,      /* struct id_list, comma-separated, may be given again */
	OPT_KINDS,    /* uint32_t mask, comma-separated names */
};

/* One row per option: parsing, --help, completion and the test of the man pages all read it. */
struct lb_option {
	const char *name;  /* long name, without dashes */
	char letter;	   /* 0: none */
	const char *arg;   /* placeholder, NULL: takes no argument */
	const char *help;  /* one line, no full stop */
	unsigned int cmds; /* bit (1 << enum lb_cmd_id) */
	enum opt_type type;
	unsigned short offset; /* in struct lb_opts */
	unsigned short value;  /* OPT_FORMAT */
	bool hidden;
};

extern const struct lb_option lb_options[];
extern const unsigned int lb_n_options;

/* Parses the words after the command's name into *o (argv[0] is the command's name). Returns 0, or
 * -EINVAL with one exact line in *e: unknown option, missing or bad argument, an option that this
 * command does not take. */
int options_parse(const struct lb_command *cmd, int argc, char **argv, struct lb_opts *o,
		  struct err *e);

/* Prints the option part of a command's --help. */
void options_help(const struct lb_command *cmd, FILE *f);

/* Parses a comma-separated list of lock kinds ("rwsem,mutex", "all") into a mask. */
int options_parse_kinds(const char *s, uint32_t *mask, struct err *e);

#endif
