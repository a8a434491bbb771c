// SPDX-License-Identifier: GPL-2.0
#include "cmd/options.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <string.h>

#include "cmd/cmd.h"
#include "model/kinds.h"
#include "util/cleanup.h"
#include "util/parse.h"

#define SEC 1000000000ULL

#define TABLES (CMD_BIT(CMD_TOP) | CMD_BIT(CMD_WAITS) | BLAME | HOLDS)
#define TRACERS (TABLES | CMD_BIT(CMD_TRACE))
/* Blame is of all waits: none is too short, and a user stack says nothing of a holder. */
#define WAITERS (TRACERS & ~BLAME)
#define BLAME CMD_BIT(CMD_BLAME)
#define HOLDS CMD_BIT(CMD_HOLDS)
#define WAITS CMD_BIT(CMD_WAITS)
#define TRACE CMD_BIT(CMD_TRACE)
#define TOP CMD_BIT(CMD_TOP)
#define HUNG CMD_BIT(CMD_HUNG)
#define TREES (HUNG | CMD_BIT(CMD_EXPLAIN))
#define DOCTOR CMD_BIT(CMD_DOCTOR)

#define AT(field) offsetof(struct lb_opts, field)

/* clang-format off: a table is read by columns */
const struct lb_option lb_options[] = {
	{"pid", 'p', "PID", "only waits of these processes (comma-separated)", TRACERS, OPT_IDS, AT(pids), 0, false},
	{"tid", 't', "TID", "only waits of these threads (comma-separated)", TRACERS, OPT_IDS, AT(tids), 0, false},
	{"comm", 0, "NAME", "only waits of tasks with this command name", TRACERS, OPT_STRING, AT(comm), 0, false},
	{"cgroup", 'c', "CGROUP", "only waits of tasks in this cgroup (path or id) or below it", TRACERS, OPT_STRING, AT(cgroup), 0, false},
	{"lock", 'l', "LOCK", "only this lock (0xADDRESS, symbol, or mmap_lock:PID)", TRACERS, OPT_STRING, AT(lock), 0, false},
	{"kind", 0, "KINDS", "lock kinds: rwsem,mutex,percpu-rwsem,semaphore,rt-mutex,rwlock,spinlock, or all; without it the first five", TRACERS, OPT_KINDS, AT(kinds), 0, false},
	{"min-duration", 'm', "TIME", "only waits of at least this long (ns us ms s)", WAITERS, OPT_DURATION, AT(min_duration), 0, false},
	{"min", 0, "TIME", "only tasks that have been blocked for so long (1s)", HUNG, OPT_DURATION, AT(min), 0, false},
	{"interval", 'i', "TIME", "time between two tables (1s)", TABLES, OPT_DURATION, AT(interval), 0, false},
	{"duration", 'd', "TIME", "stop after this time", TRACERS, OPT_DURATION, AT(duration), 0, false},
	{"count", 'n', "COUNT", "stop after this many tables (trace: waits)", TRACERS, OPT_COUNT, AT(count), 0, false},
	{"by", 0, "KEY", "one row per: lock, site, process, comm, kind, cgroup or stack (blame: holder, lock, site, process, stack or pair)", TABLES, OPT_STRING, AT(by), 0, false},
	{"sort", 's', "COLUMN", "sort by this column", TABLES, OPT_STRING, AT(sort), 0, false},
	{"reverse", 0, NULL, "smallest first", TABLES, OPT_FLAG, AT(reverse), 0, false},
	{"columns", 0, "LIST", "show these columns (comma-separated; 'help' lists them)", TABLES, OPT_STRING, AT(columns), 0, false},
	{"rows", 'r', "ROWS", "show at most this many rows", TABLES | TREES, OPT_COUNT, AT(rows), 0, false},
	{"stacks", 'k', NULL, "show kernel stacks", TRACERS | TREES, OPT_FLAG, AT(stacks), 0, false},
	{"user-stacks", 'u', NULL, "take and show user stacks too", WAITERS, OPT_FLAG, AT(user_stacks), 0, false},
	{"all-stacks", 0, NULL, "walk the stack of every wait instead of sampling short ones", TRACERS, OPT_FLAG, AT(all_stacks), 0, false},
	{"no-spin", 0, NULL, "do not hook the slow-path functions that show spinning", TRACERS & ~HOLDS, OPT_FLAG, AT(no_spin), 0, false},
	{"timestamps", 'T', NULL, "print the time of each table", TABLES, OPT_FLAG, AT(timestamps), 0, false},
	{"batch", 'b', NULL, "print tables instead of the full-screen view", TOP, OPT_FLAG, AT(batch), 0, false},
	{"json", 'j', NULL, "JSON Lines", TRACERS | TREES | DOCTOR, OPT_FORMAT, AT(format), FORMAT_JSON, false},
	{"csv", 0, NULL, "comma-separated values (RFC 4180)", TRACERS, OPT_FORMAT, AT(format), FORMAT_CSV, false},
	{"folded", 'f', NULL, "folded stacks, for flame graphs", WAITS | BLAME | HOLDS, OPT_FORMAT, AT(format), FORMAT_FOLDED, false},
	{"output", 'o', "FILE", "write there instead of standard output", TRACERS | TREES | DOCTOR, OPT_STRING, AT(output), 0, false},
	{"map-entries", 0, "N", "room for this many (lock, process) pairs in the kernel (16384)", TRACERS, OPT_COUNT, AT(map_entries), 0, false},
	{"ring-size", 0, "SIZE", "buffer for single waits (4M)", TRACERS, OPT_SIZE, AT(ring_size), 0, false},
	{"hooks", 0, "HOOKS", "use only these hooks: tp, fentry or kprobe", TRACERS | DOCTOR, OPT_STRING, AT(hooks), 0, true},
	{"sources", 0, "LIST", "find locks only by: stack, blocker, blocked_on, pi, writer", HUNG, OPT_STRING, AT(sources), 0, true},
	{"verbose", 'v', NULL, "say on standard error which hooks are in use", TRACERS, OPT_FLAG, AT(verbose), 0, false},
	{"quiet", 'q', NULL, "no headers and notes, only data and errors", CMD_ALL, OPT_FLAG, AT(quiet), 0, false},
	{"help", 'h', NULL, "show this help", CMD_ALL, OPT_FLAG, AT(help), 0, false},
	{"version", 'V', NULL, "show the version", CMD_ALL, OPT_FLAG, AT(version), 0, false},
};
/* clang-format on */
const unsigned int lb_n_options = ARRAY_SIZE(lb_options);

int options_parse_kinds(const char *s, uint32_t *mask, struct err *e)
{
	uint32_t m = 0;

	while (*s) {
		size_t len = strcspn(s, ",");
		char word[32];
		int kind;

		if (len >= sizeof(word))
			len = sizeof(word) - 1;
		memcpy(word, s, len);
		word[len] = '\0';
		kind = kind_by_name(word);
		if (!strcmp(word, "all"))
			m |= LB_KINDS_SLEEPING | LB_KINDS_SPINNING;
		else if (kind >= 0)
			m |= LB_KIND_BIT(kind);
		else
			return err_set(e, -EINVAL,
				       "'%s' is no lock kind: rwsem, mutex, percpu-rwsem, semaphore, "
				       "rt-mutex, rwlock, spinlock, all",
				       word);
		s += len;
		s += *s == ',';
	}
	if (!m)
		return err_set(e, -EINVAL, "an empty list of lock kinds");
	*mask |= m;
	return 0;
}

static int add_ids(const struct lb_option *opt, const char *s, struct id_list *l, struct err *e)
{
	do {
		size_t len = strcspn(s, ",");
		bool too_long = len >= 24; /* what is cut off must not be taken for the whole */
		char word[24];
		uint64_t v;

		snprintf(word, sizeof(word), "%.*s", (int)len, s);
		if (too_long || parse_u64(word, 1, 4194304, &v))
			return err_set(e, -EINVAL, "--%s: '%s' is not a %s (1 to 4194304)",
				       opt->name, word, opt->arg);
		if (l->n == OPT_MAX_IDS)
			return err_set(e, -EINVAL, "--%s: more than %d", opt->name, OPT_MAX_IDS);
		l->id[l->n++] = (uint32_t)v;
		s += len;
	} while (*s++ == ',');
	return 0;
}

static int set_number(const struct lb_option *opt, const char *arg, uint64_t *out, struct err *e)
{
	int r;

	switch (opt->type) {
	case OPT_DURATION:
		r = parse_duration(arg, SEC, out);
		if (r || *out == 0)
			return err_set(e, -EINVAL,
				       "--%s: '%s' is not a time above zero (as in 10ms, 1.5s, 2m)",
				       opt->name, arg);
		return 0;
	case OPT_SIZE:
		r = parse_size(arg, out);
		if (r || *out == 0)
			return err_set(e, -EINVAL, "--%s: '%s' is not a size (as in 512k, 4M)",
				       opt->name, arg);
		return 0;
	default:
		r = parse_u64(arg, 1, UINT32_MAX, out);
		if (r)
			return err_set(e, -EINVAL, "--%s: '%s' is not a whole number from 1 up",
				       opt->name, arg);
		return 0;
	}
}

static int set_option(const struct lb_option *opt, char *arg, struct lb_opts *o, struct err *e)
{
	void *field = (char *)o + opt->offset;
	int r;

	switch (opt->type) {
	case OPT_FLAG:
		*(bool *)field = true;
		return 0;
	case OPT_FORMAT:
		if (o->format != FORMAT_TEXT && o->format != opt->value)
			return err_set(e, -EINVAL, "--%s: another output format was asked for already",
				       opt->name);
		o->format = opt->value;
		return 0;
	case OPT_STRING:
		if (!*arg)
			return err_set(e, -EINVAL, "--%s: the argument is empty", opt->name);
		*(const char **)field = arg;
		return 0;
	case OPT_IDS:
		return add_ids(opt, arg, field, e);
	case OPT_KINDS:
		r = options_parse_kinds(arg, field, e);
		return r ? err_wrap(e, r, "--%s", opt->name) : 0;
	default:
		return set_number(opt, arg, field, e);
	}
}

/* getopt's tables for one command. Its own messages are off: ours name the command and the fix. */
struct getopt_tables {
	struct option longs[ARRAY_SIZE(lb_options) + 1];
	char shorts[3 * ARRAY_SIZE(lb_options) + 3];
};

static void build_tables(const struct lb_command *cmd, struct getopt_tables *t)
{
	size_t n = 0, s = 0;

	memset(t, 0, sizeof(*t));
	t->shorts[s++] = ':';
	for (size_t i = 0; i < ARRAY_SIZE(lb_options); i++) {
		const struct lb_option *opt = &lb_options[i];

		if (!(opt->cmds & CMD_BIT(cmd->id)))
			continue;
		t->longs[n++] = (struct option){
			.name = opt->name,
			.has_arg = opt->arg ? required_argument : no_argument,
			.val = 256 + (int)i,
		};
		if (opt->letter) {
			t->shorts[s++] = opt->letter;
			if (opt->arg)
				t->shorts[s++] = ':';
		}
	}
}

static const struct lb_option *by_letter(int c)
{
	for (size_t i = 0; i < ARRAY_SIZE(lb_options); i++)
		if (lb_options[i].letter == c)
			return &lb_options[i];
	return NULL;
}

static int bad_option(const struct lb_command *cmd, int c, const char *word, struct err *e)
{
	if (c == ':')
		return err_set(e, -EINVAL, "%s: option '%s' needs an argument", cmd->name, word);
	if (optopt >= 256)
		return err_set(e, -EINVAL, "%s: option '%s' takes no argument", cmd->name, word);
	if (optopt)
		return err_set(e, -EINVAL, "%s: there is no option -%c (try: lockblame %s --help)",
			       cmd->name, optopt, cmd->name);
	return err_set(e, -EINVAL, "%s: there is no option '%s' (try: lockblame %s --help)",
		       cmd->name, word, cmd->name);
}

static int take_words(const struct lb_command *cmd, struct lb_opts *o, struct err *e)
{
	uint64_t v;

	if (cmd->args == ARGS_NONE && o->n_args)
		return err_set(e, -EINVAL, "%s: '%s' is one word too many", cmd->name, o->args[0]);
	if (cmd->args != ARGS_INTERVAL)
		return 0;
	if (o->n_args > 2)
		return err_set(e, -EINVAL, "%s: '%s' is one word too many (INTERVAL COUNT)",
			       cmd->name, o->args[2]);
	if (o->n_args > 0) {
		if (parse_duration(o->args[0], SEC, &v) || v == 0)
			return err_set(e, -EINVAL, "%s: '%s' is not an interval above zero%s", cmd->name,
				       o->args[0],
				       cmd->takes_command ? " (a command to run comes after --)" : "");
		o->interval = v;
	}
	if (o->n_args > 1) {
		if (parse_u64(o->args[1], 1, UINT32_MAX, &v))
			return err_set(e, -EINVAL, "%s: '%s' is not a count from 1 up", cmd->name,
				       o->args[1]);
		o->count = v;
	}
	return 0;
}

/* Cuts "-- COMMAND ..." off argv, so that getopt never permutes the command's own words. */
static int cut_command(int argc, char **argv, struct lb_opts *o)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--"))
			continue;
		o->run = argv + i + 1;
		return i;
	}
	return argc;
}

int options_parse(const struct lb_command *cmd, int argc, char **argv, struct lb_opts *o,
		  struct err *e)
{
	struct getopt_tables t;
	int c, r;

	build_tables(cmd, &t);
	argc = cut_command(argc, argv, o);
	if (o->run && (!cmd->takes_command || !o->run[0]))
		return err_set(e, -EINVAL,
			       cmd->takes_command ? "%s: no command after --"
						  : "%s: takes no command after --",
			       cmd->name);
	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, t.shorts, t.longs, NULL)) != -1) {
		const struct lb_option *opt;

		if (c == '?' || c == ':')
			return bad_option(cmd, c, argv[optind - 1], e);
		opt = c >= 256 ? &lb_options[c - 256] : by_letter(c);
		r = set_option(opt, optarg, o, e);
		if (r)
			return err_wrap(e, r, "%s", cmd->name);
	}
	o->args = argv + optind;
	o->n_args = argc - optind;
	if (o->help || o->version)
		return 0;
	return take_words(cmd, o, e);
}

void options_help(const struct lb_command *cmd, FILE *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(lb_options); i++) {
		const struct lb_option *opt = &lb_options[i];
		char left[64];

		if (opt->hidden || !(opt->cmds & CMD_BIT(cmd->id)))
			continue;
		snprintf(left, sizeof(left), "%c%c%s --%s%s%s", opt->letter ? '-' : ' ',
			 opt->letter ? opt->letter : ' ', opt->letter ? "," : " ", opt->name,
			 opt->arg ? " " : "", opt->arg ? opt->arg : "");
		fprintf(f, "  %-24s %s\n", left, opt->help);
	}
}
