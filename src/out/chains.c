// SPDX-License-Identifier: GPL-2.0
#include "out/chains.h"

#include <stdio.h>
#include <string.h>

#include "model/kinds.h"
#include "out/json.h"
#include "out/text.h"
#include "util/cleanup.h"

#define INDENT_MAX 12 /* deeper tasks are told by their number only */

struct printer {
	struct out *o;
	const struct chain *c;
	size_t alike, rows;
	bool stacks;
};

static void ordinal(unsigned int n, char *buf, size_t size)
{
	const char *end = n % 100 / 10 == 1 ? "th" : n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";

	snprintf(buf, size, "%u%s", n, end);
}

static void clean_puts(struct out *o, const char *s)
{
	char buf[1400];

	out__puts(o, text__clean(buf, sizeof(buf), s));
}

static void place(struct out *o, const struct chain_task *t)
{
	char nth[16];

	if (!t->wait.place)
		return;
	ordinal(t->wait.place, nth, sizeof(nth));
	out__printf(o, ", %s", nth);
	if (t->wait.queue)
		out__printf(o, " of %u", t->wait.queue);
	out__puts(o, " in the queue");
}

static void holder_note(struct printer *p, const struct chain_task *t)
{
	char name[128];

	if (t->behind && t->holder.task) {
		chain__name(t->holder.task, name, sizeof(name));
		out__puts(p->o, t->holder.certainty == LB_EXACT ? "; held by " : "; probably held by ");
		clean_puts(p->o, name);
	} else if (t->holder.task && t->holder.certainty != LB_EXACT) {
		out__printf(p->o, "; the holder is likely%s%s", t->holder.basis ? ": " : "",
			    t->holder.basis ? t->holder.basis : "");
	}
	if (t->n_candidates) {
		out__puts(p->o, "; may hold it too:");
		for (unsigned int i = 0; i < t->n_candidates && i < 4; i++) {
			out__putc(p->o, ' ');
			clean_puts(p->o, chain__name(t->candidates[i], name, sizeof(name)));
		}
		if (t->n_candidates > 4)
			out__printf(p->o, " and %u more", t->n_candidates - 4);
	}
	if (t->wait.doubt)
		out__printf(p->o, "; %s", t->wait.doubt);
}

static void task_line(struct printer *p, const struct chain_task *t, unsigned int depth)
{
	char name[256], does[512], d[32] = "-";
	unsigned int indent = 2 * (depth < INDENT_MAX ? depth : INDENT_MAX);

	chain__name(t, does, sizeof(does));
	snprintf(name, sizeof(name), "%*s", (int)indent, "");
	text__clean(name + indent, sizeof(name) - indent, does);
	if (t->blocked_ns && !t->on_cpu)
		chain__duration(t->blocked_ns, d, sizeof(d));
	chain__does(t, does, sizeof(does));
	out__printf(p->o, "  %-26s %c %8s  ", name, t->thing ? '-' : t->state ? t->state : '?', d);
	clean_puts(p->o, does);
	place(p->o, t);
	if (t->site && !t->on_cpu && (t->wait.kind || t->wait.reason)) {
		out__puts(p->o, ", in ");
		clean_puts(p->o, t->site);
	}
	holder_note(p, t);
	out__putc(p->o, '\n');
}

static void subtree(struct printer *p, const struct chain_task *t, unsigned int depth);

static void more_line(struct printer *p, unsigned int n, unsigned int depth, const char *what)
{
	unsigned int indent = 2 * (depth < INDENT_MAX ? depth : INDENT_MAX);

	out__printf(p->o, "  %*sand %u more %s\n", (int)indent, "", n, what);
}

/* How many of the brothers before t wait like it. */
static size_t alike_before(const struct chain_task *first, const struct chain_task *t, size_t enough)
{
	size_t n = 0;

	for (; first != t && n < enough; first = first->next)
		n += chain__alike(first, t);
	return n;
}

static unsigned int alike_from(const struct chain_task *t)
{
	unsigned int n = 0;

	for (const struct chain_task *b = t; b; b = b->next)
		n += chain__alike(b, t);
	return n;
}

static bool is_shown(const struct chain_task *t)
{
	return t->hung || t->waiting;
}

static void children(struct printer *p, const struct chain_task *t, unsigned int depth)
{
	const struct chain_task *first = t->first_child;
	unsigned int left = 0, n;
	size_t rows = 0;

	for (const struct chain_task *k = first; k; k = k->next) {
		size_t before;

		if (!is_shown(k))
			continue;
		before = alike_before(first, k, p->alike + 1);
		if (before > p->alike)
			continue; /* counted by the line that stands for it */
		if (rows >= p->rows) {
			left += 1 + k->waiting;
			continue;
		}
		if (before == p->alike) {
			n = alike_from(k);
			if (n > 1) {
				more_line(p, n, depth, "like this");
				rows++;
				continue;
			}
		}
		subtree(p, k, depth);
		rows++;
	}
	if (left)
		more_line(p, left, depth, "(--json lists all)");
}

static void subtree(struct printer *p, const struct chain_task *t, unsigned int depth)
{
	task_line(p, t, depth);
	children(p, t, depth + 1);
}

static void stack_of(struct printer *p, const struct chain_task *t)
{
	char name[128];

	if (!t->n_stack)
		return;
	out__puts(p->o, "\n  stack of ");
	clean_puts(p->o, chain__name(t, name, sizeof(name)));
	out__puts(p->o, t->on_cpu ? " (running: no stack can be taken)\n" : "\n");
	for (int i = 0; i < t->n_stack; i++)
		out__printf(p->o, "      %s\n", t->stack[i]);
}

static void stacks(struct printer *p, const struct chain_task *t)
{
	size_t rows = 0;

	if (!t->thing)
		stack_of(p, t);
	for (const struct chain_task *k = t->first_child; k && rows < p->rows; k = k->next) {
		if (!is_shown(k) || alike_before(t->first_child, k, 1))
			continue; /* one of those that wait alike is enough */
		stacks(p, k);
		rows++;
	}
}

static void cycle(struct printer *p, const struct chain_task *root, void (*f)(struct printer *, const struct chain_task *))
{
	const struct chain_task *t = root;

	do {
		f(p, t);
		t = t->up;
	} while (t != root);
}

static void member(struct printer *p, const struct chain_task *t)
{
	subtree(p, t, 0);
}

static void hang(struct printer *p, const struct chain_hang *h)
{
	char s[2048];
	const char *advice = chain__advice(h);

	clean_puts(p->o, chain__sentence(p->c, h, s, sizeof(s)));
	out__puts(p->o, ".\n");
	if (advice)
		out__printf(p->o, "  %s\n", advice);
	out__printf(p->o, "\n  %-26s %s %8s  %s\n", "TASK", "S", "NOT RUN", "WHAT IT DOES");
	if (h->cycle)
		cycle(p, h->root, member);
	else
		subtree(p, h->root, 0);
	if (!p->stacks)
		return;
	if (h->cycle)
		cycle(p, h->root, stacks);
	else
		stacks(p, h->root);
}

/* Lone tasks that wait alike are one hang to a reader: for a root this is what alike means. */
static bool alone(const struct chain_hang *h)
{
	return !h->cycle && !h->root->first_child && !h->root->thing;
}

static size_t lone_before(const struct chain_hang *h, size_t i, size_t enough)
{
	size_t n = 0;

	for (size_t k = 0; k < i && n < enough; k++)
		n += alone(&h[k]) && chain__alike(h[k].root, h[i].root);
	return n;
}

void chains__text(struct out *o, const struct chain *c, const struct chains_view *v)
{
	struct printer p = {o, c, v->max_alike ? v->max_alike : 3, v->max_rows ? v->max_rows : 40, v->stacks};
	const struct chain_hang *h;
	unsigned int same, rest = 0;
	size_t n, shown = 0;

	h = chain__hangs(c, &n);
	for (size_t i = 0; i < n; i++) {
		size_t before = alone(&h[i]) ? lone_before(h, i, p.alike + 1) : 0;

		if (before > p.alike)
			continue;
		if (shown >= p.rows) {
			rest++;
			continue;
		}
		same = 0;
		for (size_t k = i; before == p.alike && k < n; k++)
			same += alone(&h[k]) && chain__alike(h[k].root, h[i].root);
		if (shown++)
			out__putc(o, '\n');
		if (same > 1)
			out__printf(o, "And %u more like this.\n", same);
		else
			hang(&p, &h[i]);
	}
	if (rest)
		out__printf(o, "\nAnd %u more hangs (--json lists all).\n", rest);
}

static struct json_object *task_ref(const struct chain_task *t)
{
	struct json_object *obj;

	if (!t)
		return NULL;
	obj = json_object_new_object();
	json__str(obj, "comm", t->thing ? NULL : t->comm);
	if (t->tid) {
		json__i64(obj, "pid", t->pid ? t->pid : t->tid);
		json__i64(obj, "tid", t->tid);
	}
	return obj;
}

static struct json_object *root_ref(const struct chain_task *t)
{
	struct json_object *obj = task_ref(t);
	char does[512], state[2] = {t->state ? t->state : '?', 0};

	json__str(obj, "reason", t->wait.reason ? t->wait.reason->key : t->on_cpu ? "running" : t->wait.kind ? "lock" : "unknown");
	json__str(obj, "does", chain__does(t, does, sizeof(does)));
	json__str(obj, "object", t->wait.object);
	if (!t->thing) {
		json__str(obj, "state", state);
		json__u64(obj, "blocked_ns", t->blocked_ns);
	}
	return obj;
}

static struct json_object *holder_ref(const struct chain_holder *h)
{
	struct json_object *obj = task_ref(h->task);

	if (!obj)
		return NULL;
	json__str(obj, "certainty", certainty_name(h->certainty));
	json__str(obj, "mode", h->mode_known ? mode_name(h->mode) : NULL);
	json__str(obj, "basis", h->basis);
	return obj;
}

static struct json_object *wait_obj(const struct chain_task *t)
{
	const struct chain_wait *w = &t->wait;
	struct json_object *obj;

	if (!w->kind && !w->reason)
		return NULL;
	obj = json_object_new_object();
	json__str(obj, "kind", w->kind ? w->kind : w->reason->kind);
	json__str(obj, "mode", w->kind && w->mode_known ? mode_name(w->mode) : NULL);
	json__str(obj, "identity", w->identity);
	if (w->lock)
		json__hex(obj, "lock", w->lock);
	json__str(obj, "reason", w->reason ? w->reason->key : NULL);
	json__str(obj, "object", w->object);
	if (w->place)
		json__u64(obj, "place", w->place);
	if (w->queue)
		json__u64(obj, "queue", w->queue);
	json__str(obj, "sources", w->sources);
	if (w->doubt)
		json__str(obj, "doubt", w->doubt);
	return obj;
}

static void task_record(struct out *o, const struct chain_task *t)
{
	struct json_object *rec = json__record("task"), *list;
	char state[2] = {t->state ? t->state : '?', 0};

	json__str(rec, "comm", t->comm);
	json__i64(rec, "pid", t->pid ? t->pid : t->tid);
	json__i64(rec, "tid", t->tid);
	json__str(rec, "state", state);
	json__bool(rec, "hung", t->hung);
	json__u64(rec, "blocked_ns", t->blocked_ns);
	json__add(rec, "waits_for", wait_obj(t));
	json__add(rec, "holder", holder_ref(&t->holder));
	if (!t->holder.task)
		json__str(rec, "holder_unknown", t->wait.kind ? t->holder.basis : NULL);
	json__add(rec, "behind", task_ref(t->behind));
	list = json__add(rec, "candidates", json_object_new_array());
	for (unsigned int i = 0; i < t->n_candidates; i++)
		json_object_array_add(list, task_ref(t->candidates[i]));
	json__add(rec, "root", t->root && t->root != t ? root_ref(t->root) : NULL);
	json__u64(rec, "depth", t->depth);
	json__u64(rec, "waiting", t->waiting);
	json__bool(rec, "cycle", t->in_cycle);
	json__str(rec, "site", t->site);
	list = json__add(rec, "stack", json_object_new_array());
	for (int i = 0; i < t->n_stack; i++)
		json__push_str(list, t->stack[i]);
	json__write(o, rec);
}

static void hang_record(struct out *o, const struct chain *c, const struct chain_hang *h)
{
	struct json_object *rec = json__record("hang"), *edges;
	const struct chain_task *t = h->root;
	char s[2048];

	json__add(rec, "root", root_ref(h->root));
	json__u64(rec, "waiting", h->waiting);
	json__bool(rec, "cycle", h->cycle);
	json__str(rec, "certainty", certainty_name(h->certainty));
	json__u64(rec, "longest_ns", h->longest_ns);
	json__str(rec, "sentence", chain__sentence(c, h, s, sizeof(s)));
	json__str(rec, "advice", chain__advice(h));
	if (h->cycle) {
		edges = json__add(rec, "edges", json_object_new_array());
		do {
			struct json_object *e = json_object_new_object();

			json__add(e, "waiter", task_ref(t));
			json__add(e, "waits_for", wait_obj(t));
			json__add(e, "holder", holder_ref(&t->holder));
			json_object_array_add(edges, e);
			t = t->up;
		} while (t != h->root);
	}
	json__write(o, rec);
}

/* A task that is neither hung nor in the way of one that is, is no part of any hang. */
static bool belongs(const struct chain_task *t)
{
	return t->hung || t->waiting || t->in_cycle;
}

void chains__json(struct out *o, const struct chain *c)
{
	const struct chain_hang *h;
	size_t n;

	h = chain__hangs(c, &n);
	for (size_t i = 0; i < n; i++)
		hang_record(o, c, &h[i]);
	for (size_t i = 0; i < chain__n_tasks(c); i++)
		if (belongs(chain__at(c, i)))
			task_record(o, chain__at(c, i));
}

void chains__summary(struct json_object *obj, struct chain *c)
{
	const struct chain_loss *l = chain__loss(c);
	struct json_object *lost = json_object_new_object();
	size_t n;

	chain__hangs(c, &n);
	json__u64(obj, "hung", chain__n_hung(c));
	json__u64(obj, "hangs", n);
	json__u64(lost, "torn", l->torn);
	json__u64(lost, "ended", l->ended);
	json__u64(lost, "unreadable", l->unreadable);
	json__u64(lost, "disagree", l->disagree);
	json__add(obj, "lost", lost);
}
