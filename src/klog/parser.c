// SPDX-License-Identifier: GPL-2.0
/* From lines to tasks. A report is gathered in the parser and handed to the log when the next one begins;
 * lines that belong to none are passed over, so that other CPUs may print in between. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "klog/forms.h"
#include "klog/impl.h"
#include "util/cleanup.h"

#define IDLE_MAX 300   /* lines without anything known, after which only marked lines are looked at */
#define STALL_LINES 120 /* so far behind its headline may a stall's stack be */
#define JOINS_MAX 4
#define N_STALLED 16

/* What is being gathered. */
struct report {
	bool open;
	bool header; /* "INFO: task" was seen, its "task:" line was not */
	unsigned int from;
	pid_t pid, tgid;
	char comm[FORM_COMM];
	char state;
	int cpu, seconds;
	bool io_wait;
	double time;
	char when[40];
	int caller, caller_cpu;
	char work[160];
	struct form_frame frames[KLOG_MAX_FRAMES];
	unsigned int n;
	bool trace, traced; /* inside of the stack; the words "Call Trace" were there */
	bool irq;	    /* frames of an interrupt: not the task's */
};

struct klog_parser {
	struct klog *k;
	struct report r;
	struct klog_line line; /* of the text below: what was in front of it */
	char text[KLOG_LINE_MAX + 1]; /* a line with what a mail program wrapped joined to it again */
	bool pending;
	int joins;
	int idle; /* < 0: not active */
	pid_t owner_wanted; /* its stack comes next */
	pid_t stalled[N_STALLED];
	int stalled_cpu[N_STALLED];
	int n_stalled, n_stalled_cpu, stall_left;
	bool self_stall;
	struct klog_task *holder; /* whose lockdep list is being read */
	unsigned int snapshot;
	double last_time; /* of the last header */
};

struct klog_parser *klog_parser__new(struct klog *k)
{
	struct klog_parser *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->k = k;
	p->idle = -1;
	p->last_time = -1;
	p->snapshot = 1;
	return p;
}

bool klog_parser__active(const struct klog_parser *p)
{
	return p->idle >= 0;
}

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* --- handing a report to the log --- */

static void add_seconds(struct klog_task *t, int seconds)
{
	if (t->n_seconds == KLOG_MAX_TIMES)
		t->n_seconds--;
	t->seconds[t->n_seconds++] = seconds;
}

static void put_times(struct klog_parser *p, struct klog_task *t)
{
	const struct report *r = &p->r;

	t->warnings++;
	add_seconds(t, r->seconds);
	t->io_wait |= r->io_wait;
	if (r->time >= 0) {
		if (t->first < 0)
			t->first = r->time;
		t->last = r->time;
	}
	if (r->when[0]) {
		t->when_last = intern__get(p->k->pool, r->when);
		if (!t->when_first)
			t->when_first = t->when_last;
	}
}

static void put_frames(struct klog_parser *p, struct klog_task *t)
{
	const struct report *r = &p->r;

	t->n_frames = t->n_sure = 0;
	for (unsigned int i = 0; i < r->n; i++) {
		t->frames[i] = intern__get(p->k->pool, r->frames[i].name);
		t->sure[i] = r->frames[i].sure;
		t->n_sure += r->frames[i].sure;
	}
	t->n_frames = r->n;
}

/* A stack of a hung task stays unless a later warning has a whole one; what else printed it counts less. */
static bool better(const struct report *r, const struct klog_task *t)
{
	if (!r->n)
		return false;
	if (!t->n_frames)
		return true;
	if ((t->from & KLOG_HUNG) && !(r->from & KLOG_HUNG))
		return false;
	return r->n >= t->n_frames || r->n > 6;
}

static void commit(struct klog_parser *p)
{
	struct report *r = &p->r;
	struct klog_task *t;

	if (!r->open)
		return;
	r->open = false;
	if (!r->pid && !(r->from & KLOG_HUNG))
		return;
	if (!r->pid)
		p->k->stats.headless++;
	t = klog_task(p->k, r->pid);
	if (!t)
		return;
	if (!t->comm[0] || (r->from & KLOG_HUNG))
		t->comm = r->comm[0] ? intern__get(p->k->pool, r->comm) : t->comm;
	if (r->from & KLOG_HUNG)
		put_times(p, t);
	if (r->state && (!t->state || better(r, t)))
		t->state = r->state;
	if (better(r, t))
		put_frames(p, t);
	if (r->cpu >= 0)
		t->cpu = r->cpu;
	if (r->tgid)
		t->tgid = r->tgid;
	if (r->work[0])
		t->work = intern__get(p->k->pool, r->work);
	t->from |= r->from;
}

static struct report *begin(struct klog_parser *p, unsigned int from)
{
	struct report *r = &p->r;

	commit(p);
	memset(r, 0, offsetof(struct report, frames));
	r->n = 0;
	r->trace = r->traced = r->irq = false;
	r->open = true;
	r->from = from;
	r->cpu = -1;
	r->seconds = -1;
	r->time = p->line.time;
	memcpy(r->when, p->line.when, sizeof(r->when));
	r->caller = p->line.caller;
	r->caller_cpu = p->line.caller_cpu;
	p->holder = NULL;
	return r;
}

/* --- lines --- */

/* Times that jump back: another boot whose beginning is not in the file, or lines out of order. */
static void watch_time(struct klog_parser *p)
{
	double t = p->line.time;

	if (t < 0)
		return;
	if (p->last_time - t > 60) {
		commit(p);
		p->k->boot++;
		p->k->stats.backwards = true;
	}
	p->last_time = t;
}

static bool on_header(struct klog_parser *p, const char *text)
{
	struct form_header h;
	struct report *r;

	if (!form_header(text, &h))
		return false;
	commit(p);
	watch_time(p);
	r = begin(p, KLOG_HUNG);
	r->header = true;
	r->pid = h.pid;
	r->seconds = h.seconds;
	r->io_wait = h.io_wait;
	memcpy(r->comm, h.comm, sizeof(r->comm));
	p->owner_wanted = 0;
	return true;
}

static bool on_owner(struct klog_parser *p, const char *text)
{
	struct form_owner o;
	struct klog_task *t;

	if (!form_owner(text, &o))
		return false;
	commit(p);
	p->r.header = p->r.trace = false;
	t = klog_task(p->k, o.waiter);
	if (!t)
		return true;
	t->owner = (struct klog_owner){.kind = o.kind, .pid = o.pid, .comm = intern__get(p->k->pool, o.comm),
				       .mode = o.mode, .owner_mode = o.owner_mode, .last = o.last};
	p->owner_wanted = o.pid;
	return true;
}

static bool is_stalled(const struct klog_parser *p, pid_t pid, int cpu)
{
	if (p->stall_left <= 0)
		return false;
	for (int i = 0; i < p->n_stalled; i++)
		if (p->stalled[i] == pid)
			return true;
	for (int i = 0; i < p->n_stalled_cpu; i++)
		if (cpu >= 0 && p->stalled_cpu[i] == cpu)
			return true;
	return false;
}

static bool on_task(struct klog_parser *p, const char *text)
{
	struct report *r = &p->r;
	struct form_task t;
	pid_t expected = r->open && r->header ? r->pid : 0;

	if (!form_task(text, expected, &t))
		return false;
	if (!(r->open && r->header && (!r->pid || !t.pid || r->pid == t.pid))) {
		unsigned int from = t.pid && t.pid == p->owner_wanted ? KLOG_OWNER : KLOG_SHOWN;

		r = begin(p, from);
		if (is_stalled(p, t.pid, -1))
			r->from |= KLOG_STALL;
	}
	r->header = false;
	if (!r->pid)
		r->pid = t.pid;
	if (!r->comm[0] || r->comm[0] == '$')
		memcpy(r->comm, t.comm, sizeof(r->comm));
	r->state = t.state;
	r->tgid = t.tgid;
	r->trace = true;
	return true;
}

static bool on_cpu(struct klog_parser *p, const char *text)
{
	struct report *r;
	struct form_cpu c;

	if (!form_cpu(text, &c))
		return false;
	r = begin(p, KLOG_RUNNING);
	if (is_stalled(p, c.pid, c.cpu) || (p->self_stall && p->stall_left > 0)) {
		r->from |= KLOG_STALL;
		p->self_stall = false;
	}
	r->pid = c.pid;
	r->cpu = c.cpu;
	r->state = 'R';
	memcpy(r->comm, c.comm, sizeof(r->comm));
	return true;
}

/* "Tasks blocked on level-0 rcu_node (CPUs 0-11): P4779/1:b..l P23". */
static void stalled_tasks(struct klog_parser *p, const char *text)
{
	while ((text = strstr(text, " P"))) {
		text += 2;
		if (isdigit((unsigned char)*text) && p->n_stalled < N_STALLED)
			p->stalled[p->n_stalled++] = (pid_t)strtoul(text, NULL, 10);
	}
}

static bool on_stall(struct klog_parser *p, const char *text)
{
	const char *t = starts(text, "rcu: ") ? text + 5 + strspn(text + 5, " ") : text;
	size_t digits = strspn(t, "0123456789");

	if (strstr(text, "stall") && strstr(text, "rcu") && (strstr(text, "detected"))) {
		p->n_stalled = p->n_stalled_cpu = 0;
		p->stall_left = STALL_LINES;
		p->self_stall = strstr(text, "self-detected") != NULL;
		if (strchr(text, '{'))
			stalled_tasks(p, text); /* all on one line, until 4.x */
		return true;
	}
	if (p->stall_left <= 0)
		return false;
	if (strstr(text, "blocked on level-")) {
		stalled_tasks(p, text);
		return true;
	}
	if (digits && t[digits] == '-' && strchr("!.oO", t[digits + 1]) && strchr(t, ':') &&
	    p->n_stalled_cpu < N_STALLED) {
		p->stalled_cpu[p->n_stalled_cpu++] = atoi(t);
		return true;
	}
	return false;
}

/* "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [comm:123]": its stack follows with a CPU: line. */
static bool on_lockup(const char *text)
{
	return strstr(text, "soft lockup - CPU") || starts(text, "NMI backtrace for cpu");
}

static void add_frame(struct report *r, const char *name, bool sure)
{
	struct form_frame *f;

	if (r->n >= KLOG_MAX_FRAMES)
		return;
	f = &r->frames[r->n++];
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->sure = sure;
}

static bool other_printer(const struct klog_parser *p)
{
	const struct report *r = &p->r;

	return (r->caller >= 0 && p->line.caller >= 0 && r->caller != p->line.caller) ||
	       (r->caller_cpu >= 0 && p->line.caller_cpu >= 0 && r->caller_cpu != p->line.caller_cpu);
}

static bool on_frame(struct klog_parser *p, const char *text)
{
	struct report *r = &p->r;
	struct form_frame f;

	if (!r->open || !r->trace || other_printer(p) || !form_frame(text, r->traced, &f))
		return false;
	if (r->irq)
		return true;
	if (f.from[0] && !r->n)
		add_frame(r, f.from, true);
	add_frame(r, f.name, f.sure);
	return true;
}

/* The function that a running task was in stands before its stack. */
static bool on_ip(struct klog_parser *p, const char *text)
{
	struct report *r = &p->r;
	struct form_frame f;
	const char *at;

	if (!r->open || other_printer(p))
		return false;
	if (starts(text, "RIP: 0010:") || starts(text, "RIP: 0018:"))
		at = text + 10;
	else if (starts(text, "pc : "))
		at = text + 5;
	else if (starts(text, "RIP:"))
		return r->trace = false, true;
	else
		return false;
	if ((r->from & KLOG_RUNNING) && !r->n && form_frame(at, false, &f))
		add_frame(r, f.name, true);
	return true;
}

static bool on_stack_words(struct klog_parser *p, const char *text)
{
	struct report *r = &p->r;

	if (starts(text, "Call Trace:") || starts(text, "Call trace:") || starts(text, "Backtrace:")) {
		if (r->open && !other_printer(p))
			r->trace = r->traced = true;
	} else if (starts(text, "<IRQ>") || starts(text, "<NMI>") || starts(text, "<#") || starts(text, "<SOFTIRQ>")) {
		r->irq = true;
	} else if (starts(text, "</IRQ>") || starts(text, "</NMI>") || starts(text, "</#") || starts(text, "</SOFTIRQ>")) {
		r->irq = false;
	} else if (starts(text, "</TASK>")) {
		if (!other_printer(p))
			r->trace = false;
	} else if (starts(text, "Workqueue: ")) {
		if (r->open && !other_printer(p))
			snprintf(r->work, sizeof(r->work), "%s", text + 11);
	} else {
		return starts(text, "<TASK>") || starts(text, "Stack :");
	}
	return true;
}

static void forget_held(struct klog_task *t)
{
	free(t->held);
	t->held = NULL;
	t->n_held = 0;
}

static bool on_holds(struct klog_parser *p, const char *text)
{
	struct form_holds h;
	struct klog_task *t;

	if (starts(text, "Showing all locks held")) {
		commit(p);
		p->snapshot++;
		return true;
	}
	if (!form_holds(text, &h))
		return false;
	commit(p);
	p->holder = t = klog_task(p->k, h.pid);
	if (!t)
		return true;
	if (!t->comm[0])
		t->comm = intern__get(p->k->pool, h.comm);
	t->from |= KLOG_LOCKDEP;
	t->n_held_said = h.n;
	t->snapshot = p->snapshot;
	forget_held(t);
	return true;
}

/* Inlined callers make several lines of one entry: the last one names the function that is no helper. */
static bool on_held(struct klog_parser *p, const char *text)
{
	struct form_held h;
	struct klog_task *t = p->holder;
	struct klog_held *more, *same;

	if (!form_held(text, &h))
		return false;
	if (!t)
		return true;
	same = t->n_held ? &t->held[t->n_held - 1] : NULL;
	if (same && atoi(text + 1) + 1 == (int)t->n_held && same->addr == h.addr) {
		same->at = intern__get(p->k->pool, h.at);
		return true;
	}
	if (t->n_held >= 64)
		return true;
	more = realloc(t->held, (t->n_held + 1) * sizeof(*more));
	if (!more)
		return true;
	t->held = more;
	t->held[t->n_held++] = (struct klog_held){h.addr, intern__get(p->k->pool, h.name), intern__get(p->k->pool, h.at)};
	return true;
}

static void release(struct klog_parser *p, const char *from)
{
	char word[80];
	size_t n = strcspn(from, " ");

	if (!isdigit((unsigned char)*from) || n >= sizeof(word))
		return;
	snprintf(word, sizeof(word), "%.*s", (int)n, from);
	klog_set_release(p->k, word);
}

/* "Tainted: G        W  O  5.10.0 #1": the release is the first word that begins with a digit. */
static bool on_taint(struct klog_parser *p, const char *text)
{
	if (starts(text, "Not tainted "))
		text += 12;
	else if (starts(text, "Tainted: "))
		text += 9;
	else
		return false;
	while (*text && !isdigit((unsigned char)*text)) {
		text += strcspn(text, " ");
		text += strspn(text, " ");
	}
	release(p, text);
	return true;
}

static bool on_boot(struct klog_parser *p, const char *text)
{
	if (!starts(text, "Linux version "))
		return false;
	commit(p);
	if (p->k->n && p->k->tasks[p->k->n - 1]->boot == p->k->boot)
		p->k->boot++;
	p->last_time = -1;
	release(p, text + 14);
	return true;
}

static bool on_note(struct klog_parser *p, const char *text)
{
	const char *n;

	if (starts(text, "Future hung task reports are suppressed")) {
		p->k->stats.suppressed = true;
		return true;
	}
	if (starts(text, "\"echo 0 >")) {
		/* The header in front of it was cut off. */
		if (!(p->r.open && p->r.header) && strstr(text, "hung_task"))
			begin(p, KLOG_HUNG)->header = true;
		return true;
	}
	n = strstr(text, " messages dropped");
	if (!n)
		n = strstr(text, " callbacks suppressed");
	if (!n)
		return false;
	while (n > text && isdigit((unsigned char)n[-1]))
		n--;
	p->k->stats.dropped += strtoull(n, NULL, 10);
	return true;
}

static bool known(struct klog_parser *p, const char *text)
{
	return on_frame(p, text) || on_held(p, text) || on_header(p, text) || on_owner(p, text) ||
	       on_stack_words(p, text) || on_ip(p, text) || on_task(p, text) || on_holds(p, text) ||
	       on_cpu(p, text) || on_stall(p, text) || on_taint(p, text) || on_boot(p, text) ||
	       on_note(p, text) || on_lockup(text);
}

static void flush(struct klog_parser *p)
{
	if (!p->pending)
		return;
	p->pending = false;
	if (p->stall_left > 0)
		p->stall_left--;
	if (known(p, p->text))
		p->idle = 0;
	else if (p->idle >= 0 && ++p->idle > IDLE_MAX)
		p->idle = -1;
}

/* A mail program or a bug tracker broke the line before: what follows has no prefix where lines have one,
 * or what came before cannot be all. */
static bool continues(const struct klog_parser *p, const struct klog_line *l)
{
	bool open = form_incomplete(p->text);

	if (!p->pending || !p->text[0] || klog_line__empty(l) || l->json || p->joins >= JOINS_MAX ||
	    strstr(l->text, "INFO: task ") || starts(l->text, "task:") || l->text[0] == '#')
		return false;
	if (l->prefixed)
		return open && p->line.prefixed && l->time == p->line.time && !form_begins(l->text);
	if (p->line.prefixed)
		return open || !form_begins(l->text);
	return open;
}

static void join(struct klog_parser *p, const struct klog_line *l)
{
	size_t at = strlen(p->text);

	snprintf(p->text + at, sizeof(p->text) - at, " %s", l->text);
	p->joins++;
}

static void piece(struct klog_parser *p, char *raw, size_t len, const struct klog_line *outer)
{
	struct klog_line l;

	klog_line__parse(raw, len, &l);
	if (outer && !l.prefixed) {
		char *text = l.text;

		l = *outer;
		l.text = text;
	}
	if (continues(p, &l)) {
		join(p, &l);
	} else {
		flush(p);
		p->line = l;
		snprintf(p->text, sizeof(p->text), "%s", l.text);
		p->pending = true;
		p->joins = 0;
	}
	/* When nothing is going on the reader leaves lines out: nothing may wait for the next one. */
	if (p->idle < 0 && !form_incomplete(p->text))
		flush(p);
	else if (p->idle < 0)
		p->idle = 0;
}

/* rsyslog writes a line's end inside of a message as #012. */
void klog_parser__line(struct klog_parser *p, char *line, size_t len)
{
	struct klog_line outer;
	char *next = memmem(line, len, "#012", 4);

	piece(p, line, next ? (size_t)(next - line) : len, NULL);
	if (!next)
		return;
	outer = p->line;
	while (next) {
		char *start = next + 4;

		len -= (size_t)(start - line);
		line = start;
		next = memmem(line, len, "#012", 4);
		piece(p, line, next ? (size_t)(next - line) : len, &outer);
	}
}

void klog_parser__end(struct klog_parser *p)
{
	flush(p);
	commit(p);
}
