// SPDX-License-Identifier: GPL-2.0
/* What lockblame costs, as ratios within one run. Usage: bench [--quick] LOCKBLAME WORKLOAD.
 * Prints a table; whether a target is met is told, not asserted: exit 0 whenever it could measure. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/types.h>

#include "plain.skel.h"
#include "proc.h"
#include "progs.h"

#define ROUNDS_MAX 32

struct bench {
	const char *self, *lockblame, *workload;
	const char *seconds;   /* of one run of the workload */
	unsigned int pairs;    /* throughput */
	unsigned int rounds;   /* BPF time */
	unsigned int starts;   /* start-up */
	unsigned int idle_s;
	bool quick;
};

struct series {
	double v[ROUNDS_MAX];
	unsigned int n;
};

static void add(struct series *s, double v)
{
	if (s->n < ROUNDS_MAX)
		s->v[s->n++] = v;
}

static int cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(struct series *s, double q)
{
	double at = q * (s->n - 1), frac;
	unsigned int i = (unsigned int)at;

	if (!s->n)
		return NAN;
	qsort(s->v, s->n, sizeof(*s->v), cmp);
	frac = at - i;
	return i + 1 < s->n ? s->v[i] * (1 - frac) + s->v[i + 1] * frac : s->v[i];
}

static void row(const char *what, struct series *s, const char *unit, double target, bool at_least)
{
	double m = quantile(s, 0.5);
	bool met = at_least ? m >= target : m <= target;

	if (!s->n) {
		printf("%-44s %5s %-7.4g %10s\n", what, at_least ? ">=" : "<=", target, "-");
		return;
	}
	printf("%-44s %5s %-7.4g %8.4g %-5s %-4s (%.4g to %.4g, n=%u)\n", what, at_least ? ">=" : "<=",
	       target, m, unit, met ? "yes" : "NO", s->v[0], s->v[s->n - 1], s->n);
}

static void note(const char *what, struct series *s, const char *unit)
{
	double m = quantile(s, 0.5);

	if (s->n)
		printf("%-44s %5s %-7s %8.4g %-5s %-4s (%.4g to %.4g, n=%u)\n", what, "", "", m, unit, "",
		       s->v[0], s->v[s->n - 1], s->n);
	else
		printf("%-44s %5s %-7s %8s\n", what, "", "", "-");
}

/* Operations a second of the workload, alone or as the command of argv's program. */
static double throughput(const struct bench *b, const char *const *before)
{
	const char *argv[24] = {NULL};
	struct proc p;
	unsigned int n = 0;

	while (before && before[n]) {
		argv[n] = before[n];
		n++;
	}
	argv[n++] = b->workload;
	argv[n++] = "--threads";
	argv[n++] = "4";
	argv[n++] = "--seconds";
	argv[n] = b->seconds;
	return proc__run(&p, argv) ? -1 : proc__number(&p, "ops_per_s");
}

/* perf has to be built with its BPF part for this. */
static bool perf_works(void)
{
	static const char *const argv[] = {"/bin/sh", "-c",
					   "perf lock contention -a -b -q -- true >/dev/null 2>&1", NULL};
	struct proc p;

	return !proc__start(&p, argv) && !proc__wait(&p);
}

static struct plain_bpf *plain_attach(void)
{
	struct plain_bpf *s = plain_bpf__open_and_load();

	if (s && !plain_bpf__attach(s))
		return s;
	plain_bpf__destroy(s);
	return NULL;
}

static int bench_throughput(const struct bench *b)
{
	const char *const with[] = {b->lockblame, "waits", "-q", "--", NULL};
	const char *const perf[] = {"/usr/bin/env", "perf", "lock", "contention", "-a", "-b", "--", NULL};
	const char *const blame[] = {b->lockblame, "blame", "-q", "--", NULL};
	struct series lb = {0}, bl = {0}, pl = {0}, pf = {0}, base = {0};
	bool has_perf = perf_works();
	struct plain_bpf *plain;

	for (unsigned int i = 0; i < b->pairs; i++) {
		double alone = 0, traced, blamed;

		/* A B, then B A: what drifts slowly hits both alike. */
		if (!(i & 1))
			alone = throughput(b, NULL);
		traced = throughput(b, with);
		if (i & 1)
			alone = throughput(b, NULL);
		blamed = throughput(b, blame);
		if (alone <= 0 || traced <= 0 || blamed <= 0)
			return -EIO;
		add(&bl, blamed / alone);
		add(&base, alone);
		add(&lb, traced / alone);
		if (i % 4)
			continue;
		plain = plain_attach();
		if (plain)
			add(&pl, throughput(b, NULL) / alone);
		plain_bpf__destroy(plain);
		if (has_perf)
			add(&pf, throughput(b, perf) / alone);
	}
	row("throughput, lockblame waits / alone", &lb, "", 0.98, true);
	row("throughput, lockblame blame / alone", &bl, "", 0.97, true);
	note("  the plain program / alone", &pl, "");
	note("  perf lock contention -b / alone", &pf, "");
	note("  alone", &base, "ops/s");
	return 0;
}

/* One way to run lockblame whose BPF time is compared with the plain program's. */
struct mode {
	const char *name, *opt, *arg;
	const char *command; /* NULL: waits */
	double target; /* 0: none */
	bool rejects; /* no wait is seen: the plain program's count stands for them */
	struct series ratio, own_ns, plain_ns, empty_ns, waits;
};

static int wait_for_end(struct proc *p, struct progs *progs)
{
	int r = progs__find(progs, p->pid, 2000);

	/* Once more when all hooks must be there: the first look may come between two of them. */
	usleep(300000);
	if (!r)
		r = progs__find(progs, p->pid, 0);
	if (r)
		fprintf(stderr, "bench: cannot find lockblame's programs: %s\n", strerror(-r));
	return proc__wait(p) ?: r;
}

/* Both at once: the same waits, the same noise. Which was attached first, and so runs first at each
 * event, changes from round to round. */
static int run_both(const struct bench *b, struct mode *m, bool plain_first, struct plain_bpf **plain,
		    struct proc *p, struct progs *progs)
{
	const char *command = m->command ? m->command : "waits";
	const char *argv[] = {b->lockblame, command, "-j", "-q", m->opt, m->arg, "--", b->workload,
			      "--threads", "4", "--seconds", b->seconds, NULL};
	const char *no_arg[] = {b->lockblame, command, "-j", "-q", m->opt, "--", b->workload,
				"--threads", "4", "--seconds", b->seconds, NULL};
	int r;

	if (plain_first)
		*plain = plain_attach();
	r = proc__start(p, m->arg ? argv : no_arg);
	if (r)
		return r;
	if (!plain_first) {
		progs__find(progs, p->pid, 2000);
		*plain = plain_attach();
	}
	r = wait_for_end(p, progs);
	return *plain ? r : -EIO;
}

static int one_round(const struct bench *b, struct mode *m, bool plain_first)
{
	uint64_t ns, runs, plain_ns, plain_runs, empty_ns, empty_runs;
	struct plain_bpf *plain = NULL;
	struct progs progs = {0};
	struct proc p;
	double waits;
	int r = run_both(b, m, plain_first, &plain, &p, &progs);

	if (!r) {
		progs__total(&progs, &ns, &runs);
		progs__one(bpf_program__fd(plain->progs.plain), &plain_ns, &plain_runs);
		progs__one(bpf_program__fd(plain->progs.empty), &empty_ns, &empty_runs);
		waits = m->rejects ? (double)plain->bss->sleeping : proc__number(&p, "seen");
		if (waits > 0 && plain_runs && empty_runs) {
			add(&m->own_ns, (double)ns / waits);
			add(&m->plain_ns, (double)plain_ns / (double)plain_runs);
			add(&m->ratio, ((double)ns / waits) / ((double)plain_ns / (double)plain_runs));
			add(&m->empty_ns, (double)empty_ns / (double)empty_runs);
			add(&m->waits, waits);
		} else {
			fprintf(stderr, "bench: %s: no waits\n", m->name);
		}
	}
	progs__close(&progs);
	plain_bpf__destroy(plain);
	return r;
}

static int bench_bpf_time(const struct bench *b)
{
	static char pid[16];
	struct mode modes[] = {
		{.name = "default", .opt = "--by=lock", .target = 0.35},
		{.name = "--all-stacks", .opt = "--all-stacks", .target = 1.1},
		{.name = "blame", .command = "blame", .opt = "--by=holder"},
		{.name = "--pid of another", .opt = "--pid", .arg = pid, .target = 0.1, .rejects = true},
		{.name = "--min-duration 10s", .opt = "-m", .arg = "10s", .target = 0.1, .rejects = true},
	};
	int stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME), r = 0;
	char what[64];

	if (stats_fd < 0) {
		fprintf(stderr, "bench: cannot enable the kernel's BPF statistics: %s\n", strerror(errno));
		return -errno;
	}
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	for (unsigned int i = 0; i < b->rounds && !r; i++)
		for (size_t m = 0; m < sizeof(modes) / sizeof(*modes) && !r; m++)
			r = one_round(b, &modes[m], !(i & 1));
	close(stats_fd);
	for (size_t m = 0; m < sizeof(modes) / sizeof(*modes) && !r; m++) {
		snprintf(what, sizeof(what), "BPF time a wait / plain, %s", modes[m].name);
		if (modes[m].target > 0)
			row(what, &modes[m].ratio, "", modes[m].target, false);
		else
			note(what, &modes[m].ratio, "");
		note("  lockblame, all programs, a wait", &modes[m].own_ns, "ns");
		note("  plain program, a run", &modes[m].plain_ns, "ns");
		note("  an empty program, a run", &modes[m].empty_ns, "ns");
		note("  waits in a run", &modes[m].waits, "");
	}
	return r;
}

static int bench_start(const struct bench *b)
{
	const char *const argv[] = {b->lockblame, "waits", "-q", "--", b->self, "--stamp", NULL};
	struct series ms = {0};
	struct proc p;

	for (unsigned int i = 0; i < b->starts; i++) {
		if (proc__run(&p, argv))
			return -EIO;
		add(&ms, (proc__number(&p, "stamp") - (double)p.start_ns) / 1e6);
	}
	row("from exec to attached", &ms, "ms", 150, false);
	return 0;
}

/* After work, and with the names of all that was seen: its largest. */
static int bench_memory(const struct bench *b)
{
	const char *const argv[] = {b->lockblame, "waits", "-q", "--", b->workload, "--threads", "4",
				    "--seconds", "1", NULL};
	struct series mb = {0};
	struct proc p;

	for (unsigned int i = 0; i < (b->quick ? 1u : 3u); i++) {
		if (proc__run(&p, argv))
			return -EIO;
		add(&mb, (double)p.max_rss_kb / 1024);
	}
	row("resident memory, largest", &mb, "MB", 30, false);
	return 0;
}

static int bench_idle(const struct bench *b)
{
	const char *const argv[] = {b->lockblame, "waits", "-q", NULL};
	struct series percent = {0};
	struct progs progs = {0};
	int64_t before, after;
	struct proc p;
	int r = proc__start(&p, argv);

	if (r)
		return r;
	r = progs__find(&progs, p.pid, 2000);
	progs__close(&progs);
	sleep(1); /* the start is not idling */
	before = proc__cpu_ns(p.pid);
	sleep(b->idle_s);
	after = proc__cpu_ns(p.pid);
	kill(p.pid, SIGINT);
	r = proc__wait(&p) ?: r;
	if (r || before < 0 || after < 0)
		return r ? r : -EIO;
	add(&percent, (double)(after - before) / ((double)b->idle_s * 1e7));
	row("CPU while nothing is asked of it", &percent, "%", 0.1, false);
	return 0;
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level, (void)fmt, (void)ap;
	return 0;
}

static int run(const struct bench *b)
{
	int r;

	printf("%-44s %-13s %8s       %s\n", "", "target", "measured", "met");
	r = bench_start(b);
	r = bench_memory(b) ?: r;
	r = bench_idle(b) ?: r;
	fflush(stdout);
	r = bench_bpf_time(b) ?: r;
	fflush(stdout);
	return bench_throughput(b) ?: r;
}

int main(int argc, char **argv)
{
	struct bench full = {.self = argv[0], .seconds = "2", .pairs = 20, .rounds = 8, .starts = 10,
			     .idle_s = 10};
	struct bench quick = {.self = argv[0], .seconds = "1", .pairs = 2, .rounds = 2, .starts = 3,
			      .idle_s = 3, .quick = true};
	bool want_quick = argc > 1 && !strcmp(argv[1], "--quick");
	struct bench *b = want_quick ? &quick : &full;

	if (argc == 2 && !strcmp(argv[1], "--stamp"))
		return printf("{\"stamp\":%llu}\n", (unsigned long long)now_ns()) < 0;
	if (argc != 3 + want_quick) {
		fprintf(stderr, "usage: bench [--quick] LOCKBLAME WORKLOAD\n");
		return 2;
	}
	b->lockblame = argv[1 + want_quick];
	b->workload = argv[2 + want_quick];
	libbpf_set_print(quiet);
	return run(b) ? 1 : 0;
}
