// SPDX-License-Identifier: GPL-2.0
/* Kernel stacks in words. The kernel leaves its scheduling functions out of the stacks that it hands out,
 * and counts the slow paths of its sleeping locks among them: just what tells who waits for a lock. Their
 * return addresses are found on the stack itself, below the first frame that the kernel tells. */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hung/impl.h"
#include "names/ksym.h"
#include "util/cleanup.h"

#define SCHED_MAX 16	/* such frames */
#define WORDS_MAX 160	/* so far up from the stack pointer they are looked for */

/* The name of a return address. */
struct hung_name {
	uint64_t addr;
	const char *text;
};

static int cmp_name(const void *a, const void *b)
{
	const struct hung_name *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static const char *frame_name(struct hung_look *l, uint64_t addr)
{
	struct hung_name key = {.addr = addr}, *n;
	void *found = tfind(&key, &l->names, cmp_name);
	char buf[KSYM_BUF];

	if (found)
		return (*(struct hung_name **)found)->text;
	if (l->ks)
		ksyms__format(l->ks, addr, buf, sizeof(buf));
	else
		snprintf(buf, sizeof(buf), "0x%016llx", (unsigned long long)addr);
	key.text = chain__str(l->chain, buf);
	n = malloc(sizeof(*n));
	if (n) {
		*n = key;
		if (!tsearch(n, &l->names, cmp_name))
			free(n);
	}
	return key.text;
}

static bool sched_text(struct hung_look *l)
{
	if (!l->sched_asked && l->ks) {
		if (ksyms__addr(l->ks, "__sched_text_start", &l->sched_start) ||
		    ksyms__addr(l->ks, "__sched_text_end", &l->sched_end))
			l->sched_start = l->sched_end = 0;
		l->sched_asked = true;
	}
	return l->sched_end > l->sched_start;
}

static size_t sched_frames(struct hung_look *l, const struct hung_task *t, uint64_t *out, size_t max)
{
	size_t n = 0;

	if (!sched_text(l) || !t->n_frames)
		return 0;
	for (size_t i = 0; i < l->stack->n && i < WORDS_MAX && n < max; i++) {
		uint64_t w = l->stack->word[i];

		if (w == t->frames[0])
			return n;
		if (w > l->sched_start && w < l->sched_end)
			out[n++] = w;
	}
	return n == max ? n : 0;
}

/* What lies between __schedule and the last schedule() was left there by earlier calls: nothing comes
 * between these two. Returns how many of the n are left. */
static int drop_stale(const char **f, int n)
{
	int last = 0;

	for (int i = 1; i < n; i++)
		if (!strncmp(f[i], "schedule+", 9) || !strncmp(f[i], "schedule_preempt_disabled+", 26))
			last = i;
	if (last > 1)
		memmove(f + 1, f + last, (size_t)(n - last) * sizeof(*f));
	return last > 1 ? n - last + 1 : n;
}

const char **hung_frames(struct hung_look *l, const struct hung_task *t, int *n)
{
	uint64_t sched[SCHED_MAX];
	size_t n_sched = sched_frames(l, t, sched, SCHED_MAX), all = n_sched + t->n_frames;
	const char **f = all ? hung_look__alloc(l, all * sizeof(*f)) : NULL;

	*n = 0;
	for (size_t i = 0; f && i < n_sched; i++)
		f[(*n)++] = frame_name(l, sched[i]);
	*n = drop_stale(f, *n);
	for (size_t i = 0; f && i < t->n_frames; i++)
		f[(*n)++] = frame_name(l, t->frames[i]);
	return f;
}

void hung_frames__fini(struct hung_look *l)
{
	tdestroy(l->names, free);
	l->names = NULL;
}
