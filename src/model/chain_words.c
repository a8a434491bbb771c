// SPDX-License-Identifier: GPL-2.0
/* The chain in plain sentences. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/chain.h"
#include "model/kinds.h"
#include "util/cleanup.h"

struct text {
	char *buf;
	size_t size, at;
};

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (t->at >= t->size)
		return;
	va_start(ap, fmt);
	n = vsnprintf(t->buf + t->at, t->size - t->at, fmt, ap);
	va_end(ap);
	t->at += n > 0 ? (size_t)n : 0;
}

char *chain__duration(uint64_t ns, char *buf, size_t size)
{
	/* Rounded down: it is said as "at least". */
	uint64_t tenths = ns / 100000000ULL, s = tenths / 10;

	if (tenths < 100)
		snprintf(buf, size, "%llu.%llu s", (unsigned long long)s, (unsigned long long)(tenths % 10));
	else if (s < 600)
		snprintf(buf, size, "%llu s", (unsigned long long)s);
	else if (s < 7200)
		snprintf(buf, size, "%llu min", (unsigned long long)(s / 60));
	else
		snprintf(buf, size, "%llu.%llu h", (unsigned long long)(s / 3600),
			 (unsigned long long)(s % 3600 / 360));
	return buf;
}

/* What several tasks wait for that is no task: the words behind "waits for". */
static void thing_name(const struct chain_task *t, char *buf, size_t size)
{
	char words[512];

	chain__does(t, words, sizeof(words));
	snprintf(buf, size, "%.*s", (int)size - 1, strncmp(words, "waits for ", 10) ? words : words + 10);
}

char *chain__name(const struct chain_task *t, char *buf, size_t size)
{
	if (t->thing)
		thing_name(t, buf, size);
	else if (!t->tid)
		snprintf(buf, size, "%s", t->comm[0] ? t->comm : "a task");
	else if (t->pid && t->pid != t->tid)
		snprintf(buf, size, "%s/%d (thread of %d)", t->comm, (int)t->tid, (int)t->pid);
	else
		snprintf(buf, size, "%s/%d", t->comm, (int)t->tid);
	return buf;
}

static const char *lock_words(const struct chain_wait *w, char *buf, size_t size)
{
	if (w->identity)
		snprintf(buf, size, "%s", w->identity);
	else if (w->lock)
		snprintf(buf, size, "the %s 0x%llx", w->kind, (unsigned long long)w->lock);
	else
		snprintf(buf, size, "a %s", w->kind);
	return buf;
}

/* Reading or writing says something of the kinds that can do both. */
static bool shows_mode(const struct chain_wait *w)
{
	return w->mode_known && (!strcmp(w->kind, "rwsem") || !strcmp(w->kind, "percpu-rwsem") ||
				 !strcmp(w->kind, "rwlock"));
}

static void lock_does(const struct chain_task *t, struct text *o)
{
	const struct chain_wait *w = &t->wait;
	char lock[320];

	add(o, "waits for %s", lock_words(w, lock, sizeof(lock)));
	if (w->identity)
		add(o, " (%s)", w->kind);
	if (shows_mode(w))
		add(o, " to %s", mode_name(w->mode));
	if (!t->holder.task && !t->behind)
		add(o, ", whose holder is not known%s%s", t->holder.basis ? ": " : "",
		    t->holder.basis ? t->holder.basis : "");
}

static void on_cpu(const struct chain_task *t, struct text *o)
{
	char d[32];

	add(o, "is running");
	if (t->cpu >= 0)
		add(o, " on CPU %d", t->cpu);
	if (t->running_ns)
		add(o, ", for %s", chain__duration(t->running_ns, d, sizeof(d)));
	if (t->site)
		add(o, ", in %s", t->site);
}

char *chain__does(const struct chain_task *t, char *buf, size_t size)
{
	struct text o = {buf, size, 0};

	*buf = '\0';
	if (t->wait.reason && strcmp(t->wait.reason->kind, "lock"))
		return reason__words(t->wait.reason, t->wait.object, buf, size);
	if (t->wait.kind)
		lock_does(t, &o);
	else if (t->on_cpu)
		on_cpu(t, &o);
	else if (t->state == 'R')
		add(&o, "is ready to run, but on no CPU");
	else if (t->state == 'Z' || t->state == 'X')
		add(&o, "has exited");
	else if (t->site)
		add(&o, "sleeps in %s", t->site);
	else if (t->state == 'D')
		add(&o, "sleeps without interruption, nobody can tell where");
	else
		add(&o, "does something that is not known");
	return buf;
}

static void behind(struct text *o, unsigned int n)
{
	if (!n)
		add(o, "; nobody waits behind it");
	else
		add(o, "; %u task%s behind it", n, n == 1 ? " waits" : "s wait");
}

/* The first child that waits for a lock of its parent's. */
static const struct chain_task *lock_child(const struct chain_task *root)
{
	for (const struct chain_task *t = root->first_child; t; t = t->next)
		if (t->wait.kind && t->holder.task == root)
			return t;
	return NULL;
}

/* Other locks of the same task that are waited for. */
static unsigned int other_locks(const struct chain_task *root, const struct chain_task *first)
{
	uint64_t seen[8] = {first->wait.lock};
	unsigned int n = 1, i;

	for (const struct chain_task *t = root->first_child; t; t = t->next) {
		if (!t->wait.kind || t->holder.task != root || !t->wait.lock)
			continue;
		for (i = 0; i < n && seen[i] != t->wait.lock; i++)
			;
		if (i == n && n < ARRAY_SIZE(seen))
			seen[n++] = t->wait.lock;
	}
	return n - 1;
}

static void holds(struct text *o, const struct chain_task *root, const struct chain_task *child)
{
	const struct chain_holder *h = &child->holder;
	char lock[320], d[32];
	unsigned int more = other_locks(root, child);

	lock_words(&child->wait, lock, sizeof(lock));
	if (h->certainty != LB_EXACT)
		add(o, " probably holds %s", lock);
	else if (root->blocked_ns && !root->on_cpu)
		add(o, " has held %s", lock);
	else
		add(o, " holds %s", lock);
	if (h->mode_known && shows_mode(&child->wait))
		add(o, " for %s", mode_name(h->mode));
	if (more)
		add(o, " and %u more lock%s", more, more == 1 ? "" : "s");
	/* It has not run since, so it had the lock before that. */
	if (h->certainty == LB_EXACT && root->blocked_ns && !root->on_cpu)
		add(o, ", at least %s", chain__duration(root->blocked_ns, d, sizeof(d)));
}

static void root_sentence(const struct chain_hang *h, struct text *o)
{
	const struct chain_task *root = h->root, *child = lock_child(root);
	char name[128], does[512], d[32];

	add(o, "%s", chain__name(root, name, sizeof(name)));
	chain__does(root, does, sizeof(does));
	if (child) {
		holds(o, root, child);
		add(o, "; it %s", does);
		if (h->certainty != LB_EXACT && child->holder.certainty == LB_EXACT)
			add(o, " (a holder further down is a guess)");
	} else {
		if (root->blocked_ns && !root->on_cpu)
			add(o, " has not run for %s: it", chain__duration(root->blocked_ns, d, sizeof(d)));
		add(o, " %s", does);
	}
	behind(o, h->waiting);
}

static void thing_sentence(const struct chain_hang *h, struct text *o)
{
	unsigned int direct = 0;
	char name[512];

	for (const struct chain_task *t = h->root->first_child; t; t = t->next)
		direct += t->hung;
	add(o, "%u tasks wait for %s", direct, chain__name(h->root, name, sizeof(name)));
	if (h->waiting > direct)
		add(o, "; %u more wait%s behind them", h->waiting - direct, h->waiting - direct == 1 ? "s" : "");
}

#define CYCLE_SHOWN 6

static bool edge_is_sure(const struct chain_task *t)
{
	return t->behind || t->holder.certainty == LB_EXACT;
}

static void cycle_sentence(const struct chain_hang *h, struct text *o)
{
	const struct chain_task *t = h->root;
	char name[128], other[128], does[512];
	unsigned int n = 0, members = 0;

	add(o, "%s of %u task%s", h->certainty == LB_EXACT ? "deadlock" : "probably a deadlock", h->cycle_len,
	    h->cycle_len == 1 ? "" : "s");
	do {
		members += t->hung;
		if (n++ < CYCLE_SHOWN) {
			chain__name(t, name, sizeof(name));
			chain__name(t->up, other, sizeof(other));
			chain__does(t, does, sizeof(does));
			add(o, "%s%s %s%s%s", n == 1 ? ": " : "; ", name, does,
			    !t->wait.kind ? ", that is " : edge_is_sure(t) ? ", held by " : ", probably held by ",
			    t->up == t ? "itself" : other);
		}
		t = t->up;
	} while (t != h->root);
	if (n > CYCLE_SHOWN)
		add(o, "; and so on");
	if (h->waiting > members)
		add(o, "; %u more task%s behind them", h->waiting - members,
		    h->waiting - members == 1 ? " waits" : "s wait");
}

char *chain__sentence(const struct chain *c, const struct chain_hang *h, char *buf, size_t size)
{
	struct text o = {buf, size, 0};

	*buf = '\0';
	if (h->cycle)
		cycle_sentence(h, &o);
	else if (h->root->thing)
		thing_sentence(h, &o);
	else
		root_sentence(h, &o);
	return buf;
}

const char *chain__advice(const struct chain_hang *h)
{
	if (h->cycle)
		return "No member can go on by itself: one that waits killably can be killed, else only a reboot helps.";
	return h->root->wait.reason ? h->root->wait.reason->advice : NULL;
}
