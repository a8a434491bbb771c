// SPDX-License-Identifier: GPL-2.0
#include "support.h"

#include <ctype.h>
#include <errno.h>

#include "cmd/cmd.h"
#include "lockblame/abi.h"
#include "util/cleanup.h"

/* src/main.c, which holds the real table, is not in the library. */
static int nothing(struct lb_opts *o)
{
	return EXIT_OK;
}

const struct lb_command lb_commands[] = {
	{CMD_TOP, "top", "Top", ARGS_INTERVAL, false, nothing},
	{CMD_TRACE, "trace", "Trace", ARGS_NONE, true, nothing},
	{CMD_WAITS, "waits", "Waits", ARGS_INTERVAL, true, nothing},
	{CMD_BLAME, "blame", "Blame", ARGS_INTERVAL, true, nothing},
	{CMD_HOLDS, "holds", "Holds", ARGS_INTERVAL, true, nothing},
	{CMD_HELP, "help", "Help", ARGS_FILES, false, nothing},
	{CMD_DOCTOR, "doctor", "Doctor", ARGS_NONE, false, nothing},
	{CMD_HELP, "help", "Help", ARGS_FILES, false, nothing},
};
const unsigned int lb_n_commands = ARRAY_SIZE(lb_commands);

static char words[512];
static char *argv[64];

/* Parses a command line, words separated by one blank, first the command; "''" is an empty word. */
static int parse(const char *line, struct lb_opts *o, struct err *e)
{
	const struct lb_command *cmd;
	char *save = NULL;
	int argc = 0;

	memset(o, 0, sizeof(*o));
	memset(e, 0, sizeof(*e));
	snprintf(words, sizeof(words), "%s", line);
	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = strcmp(w, "''") ? w : w + 2;
	argv[argc] = NULL;
	cmd = cmd_find(argv[0]);
	assert_non_null(cmd);
	return options_parse(cmd, argc, argv, o, e);
}

static const char *sample_of(enum opt_type type)
{
	switch (type) {
	case OPT_DURATION:
		return "10ms";
	case OPT_SIZE:
		return "4k";
	case OPT_COUNT:
	case OPT_IDS:
		return "7";
	case OPT_KINDS:
		return "mutex";
	default:
		return "word";
	}
}

static bool is_set(const struct lb_option *opt, const struct lb_opts *o)
{
	static const struct lb_opts none;
	size_t size = opt->type == OPT_FLAG ? sizeof(bool) : sizeof(uint32_t);

	return memcmp((const char *)o + opt->offset, (const char *)&none + opt->offset, size);
}

/* getopt takes the beginning of a long name for the whole, when that is unique in the command. */
static bool is_abbreviation(const char *name, const struct lb_command *cmd)
{
	for (unsigned int i = 0; i < lb_n_options; i++)
		if (lb_options[i].cmds & CMD_BIT(cmd->id) &&
		    !strncmp(lb_options[i].name, name, strlen(name)))
			return true;
	return false;
}

/* Every row, in every command that has it, long and short; and refused by the others. */
static void every_option_parses(void **state)
{
	struct lb_opts o;
	struct err e;

	for (unsigned int i = 0; i < lb_n_options; i++) {
		const struct lb_option *opt = &lb_options[i];

		for (unsigned int c = 0; c < lb_n_commands; c++) {
			const char *arg = opt->arg ? sample_of(opt->type) : "";
			char line[128];
			int r;

			snprintf(line, sizeof(line), "%s --%s %s", lb_commands[c].name, opt->name, arg);
			r = parse(line, &o, &e);
			if (!(opt->cmds & CMD_BIT(lb_commands[c].id))) {
				if (!r && !is_abbreviation(opt->name, &lb_commands[c]))
					fail_msg("%s: is taken", line);
				continue;
			}
			if (r || !is_set(opt, &o))
				fail_msg("%s: %d %s", line, r, e.msg);
			if (!opt->letter)
				continue;
			snprintf(line, sizeof(line), "%s -%c %s", lb_commands[c].name, opt->letter, arg);
			if (parse(line, &o, &e) || !is_set(opt, &o))
				fail_msg("%s: %s", line, e.msg);
		}
	}
}

static void rows_are_consistent(void **state)
{
	for (unsigned int i = 0; i < lb_n_options; i++) {
		const struct lb_option *a = &lb_options[i];
		bool takes = a->type != OPT_FLAG && a->type != OPT_FORMAT;

		assert_true(takes == (a->arg != NULL));
		assert_true(a->cmds != 0);
		assert_true(a->help[0] && a->help[strlen(a->help) - 1] != '.');
		assert_null(strchr(a->help, '\n'));
		for (unsigned int j = 0; j < i; j++) {
			const struct lb_option *b = &lb_options[j];

			assert_true(strcmp(a->name, b->name));
			/* one letter means one thing in the whole program */
			assert_true(!a->letter || a->letter != b->letter);
		}
	}
}

static void mistakes_are_one_exact_line(void **state)
{
	static const struct {
		const char *line, *message;
	} t[] = {
		{"waits --wrong", "waits: there is no option '--wrong' (try: lockblame waits --help)"},
		{"waits -Z", "waits: there is no option -Z (try: lockblame waits --help)"},
		{"waits -jZ", "waits: there is no option -Z (try: lockblame waits --help)"},
		{"waits --summary", "waits: there is no option '--summary' (try: lockblame waits --help)"},
		{"waits -a", "waits: there is no option -a (try: lockblame waits --help)"},
		{"waits -1", "waits: there is no option -1 (try: lockblame waits --help)"},
		{"waits --pid", "waits: option '--pid' needs an argument"},
		{"waits -p", "waits: option '-p' needs an argument"},
		{"waits --json=x", "waits: option '--json=x' takes no argument"},
		{"waits -p x", "waits: --pid: 'x' is not a PID (1 to 4194304)"},
		{"waits -p 0", "waits: --pid: '0' is not a PID (1 to 4194304)"},
		{"waits -p -5", "waits: --pid: '-5' is not a PID (1 to 4194304)"},
		{"waits -p 1,,2", "waits: --pid: '' is not a PID (1 to 4194304)"},
		{"waits -p 1,", "waits: --pid: '' is not a PID (1 to 4194304)"},
		{"waits -p 4194305", "waits: --pid: '4194305' is not a PID (1 to 4194304)"},
		{"waits -t ''", "waits: --tid: '' is not a TID (1 to 4194304)"},
		{"waits -p 000000000000001234", NULL},
		{"waits -p 000000000000000000000000000001234",
		 "waits: --pid: '00000000000000000000000' is not a PID (1 to 4194304)"},
		{"waits -d 0", "waits: --duration: '0' is not a time above zero (as in 10ms, 1.5s, 2m)"},
		{"waits -d -1s", "waits: --duration: '-1s' is not a time above zero (as in 10ms, 1.5s, 2m)"},
		{"waits -d 10", NULL},
		{"waits -d 10x", "waits: --duration: '10x' is not a time above zero (as in 10ms, 1.5s, 2m)"},
		{"waits -i ''", "waits: --interval: '' is not a time above zero (as in 10ms, 1.5s, 2m)"},
		{"waits -m 0.1ns",
		 "waits: --min-duration: '0.1ns' is not a time above zero (as in 10ms, 1.5s, 2m)"},
		{"waits -n 0", "waits: --count: '0' is not a whole number from 1 up"},
		{"waits -n 1.5", "waits: --count: '1.5' is not a whole number from 1 up"},
		{"waits -n 4294967296", "waits: --count: '4294967296' is not a whole number from 1 up"},
		{"waits --ring-size 4MB", "waits: --ring-size: '4MB' is not a size (as in 512k, 4M)"},
		{"waits --ring-size 0", "waits: --ring-size: '0' is not a size (as in 512k, 4M)"},
		{"waits -o ''", "waits: --output: the argument is empty"},
		{"waits -j --csv", "waits: --csv: another output format was asked for already"},
		{"waits -j -j", NULL},
		{"waits --kind rwsem,futex",
		 "waits: --kind: 'futex' is no lock kind: rwsem, mutex, percpu-rwsem, semaphore, rt-mutex, "
		 "rwlock, spinlock, all"},
		{"waits --kind ''", "waits: --kind: an empty list of lock kinds"},
		{"waits 0", "waits: '0' is not an interval above zero (a command to run comes after --)"},
		{"waits sleep 5", "waits: 'sleep' is not an interval above zero (a command to run comes after --)"},
		{"top x", "top: 'x' is not an interval above zero"},
		{"waits 1 0", "waits: '0' is not a count from 1 up"},
		{"waits 1 x", "waits: 'x' is not a count from 1 up"},
		{"waits 1 2 3", "waits: '3' is one word too many (INTERVAL COUNT)"},
		{"trace 1", "trace: '1' is one word too many"},
		{"doctor now", "doctor: 'now' is one word too many"},
		{"waits --", "waits: no command after --"},
		{"top -- true", "top: takes no command after --"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct lb_opts o;
		struct err e;
		int r = parse(t[i].line, &o, &e);

		if (r != (t[i].message ? -EINVAL : 0) || strcmp(e.msg, t[i].message ? t[i].message : ""))
			fail_msg("%s: %d \"%s\"", t[i].line, r, e.msg);
	}
}

static void stores_values(void **state)
{
	struct lb_opts o;
	struct err e;

	assert_int_equal(parse("waits -p 1,22 -p 333 -t 4 --comm x -c /a -l rtnl_mutex -m 10ms "
			       "-i 2s -d 1m -n 5 --by site -s max --columns a,b -r 9 -k -T -f -o out "
			       "--map-entries 100 --ring-size 1M",
			       &o, &e),
			 0);
	assert_int_equal(o.pids.n, 3);
	assert_int_equal(o.pids.id[2], 333);
	assert_int_equal(o.tids.n, 1);
	assert_string_equal(o.comm, "x");
	assert_string_equal(o.cgroup, "/a");
	assert_string_equal(o.lock, "rtnl_mutex");
	assert_int_equal(o.min_duration, 10000000);
	assert_int_equal(o.interval, 2000000000);
	assert_int_equal(o.duration, 60000000000);
	assert_int_equal(o.count, 5);
	assert_string_equal(o.by, "site");
	assert_string_equal(o.sort, "max");
	assert_string_equal(o.columns, "a,b");
	assert_int_equal(o.rows, 9);
	assert_true(o.stacks && o.timestamps && !o.user_stacks && !o.verbose);
	assert_int_equal(o.format, FORMAT_FOLDED);
	assert_string_equal(o.output, "out");
	assert_int_equal(o.map_entries, 100);
	assert_int_equal(o.ring_size, 1 << 20);
	assert_null(o.run);
	assert_int_equal(o.n_args, 0);
}

static void takes_words(void **state)
{
	struct lb_opts o;
	struct err e;

	assert_int_equal(parse("waits 0.5 3 -j", &o, &e), 0);
	assert_int_equal(o.interval, 500000000);
	assert_int_equal(o.count, 3);
	assert_int_equal(o.format, FORMAT_JSON);
	assert_int_equal(parse("help a b", &o, &e), 0);
	assert_int_equal(o.n_args, 2);
	assert_string_equal(o.args[1], "b");
}

/* The command's own options stay its own. */
static void keeps_the_command_apart(void **state)
{
	struct lb_opts o;
	struct err e;

	assert_int_equal(parse("waits -k 1 -- sleep -j --wrong -- 5", &o, &e), 0);
	assert_true(o.stacks);
	assert_int_equal(o.format, FORMAT_TEXT);
	assert_int_equal(o.interval, 1000000000);
	assert_string_equal(o.run[0], "sleep");
	assert_string_equal(o.run[1], "-j");
	assert_string_equal(o.run[3], "--");
	assert_string_equal(o.run[4], "5");
	assert_null(o.run[5]);
}

static void too_many_ids(void **state)
{
	char line[400] = "waits -p 1";
	struct lb_opts o;
	struct err e;

	for (int i = 1; i < OPT_MAX_IDS; i++)
		strcat(line, ",1");
	assert_int_equal(parse(line, &o, &e), 0);
	assert_int_equal(o.pids.n, OPT_MAX_IDS);
	strcat(line, ",1");
	assert_int_equal(parse(line, &o, &e), -EINVAL);
	assert_string_equal(e.msg, "waits: --pid: more than 64");
}

static void parses_kinds(void **state)
{
	uint32_t mask = 0;
	struct err e;

	assert_int_equal(options_parse_kinds("rwsem,mutex", &mask, &e), 0);
	assert_int_equal(mask, LB_KIND_BIT(LB_RWSEM) | LB_KIND_BIT(LB_MUTEX));
	mask = 0;
	assert_int_equal(options_parse_kinds("all", &mask, &e), 0);
	assert_int_equal(mask, LB_KINDS_SLEEPING | LB_KINDS_SPINNING);
	assert_int_equal(options_parse_kinds("rwsem,,mutex", &mask, &e), -EINVAL);
	assert_int_equal(options_parse_kinds("RWSEM", &mask, &e), -EINVAL);
	assert_int_equal(
		options_parse_kinds("a-name-that-is-longer-than-any-kind-could-ever-be", &mask, &e),
		-EINVAL);
}

static void help_lists_what_parses(void **state)
{
	for (unsigned int c = 0; c < lb_n_commands; c++) {
		char *text = NULL;
		size_t len;
		FILE *f = open_memstream(&text, &len);

		options_help(&lb_commands[c], f);
		fclose(f);
		for (unsigned int i = 0; i < lb_n_options; i++) {
			bool shown, has = lb_options[i].cmds & CMD_BIT(lb_commands[c].id);
			char word[64];

			snprintf(word, sizeof(word), " --%s ", lb_options[i].name);
			shown = strstr(text, word);
			if (shown != (has && !lb_options[i].hidden))
				fail_msg("%s --help and --%s", lb_commands[c].name, lb_options[i].name);
		}
		free(text);
	}
}

static void finds_commands(void **state)
{
	assert_string_equal(cmd_find("waits")->name, "waits");
	assert_null(cmd_find("wait"));
	assert_null(cmd_find(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_option_parses),
		cmocka_unit_test(rows_are_consistent),
		cmocka_unit_test(mistakes_are_one_exact_line),
		cmocka_unit_test(stores_values),
		cmocka_unit_test(takes_words),
		cmocka_unit_test(keeps_the_command_apart),
		cmocka_unit_test(too_many_ids),
		cmocka_unit_test(parses_kinds),
		cmocka_unit_test(help_lists_what_parses),
		cmocka_unit_test(finds_commands),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
