// SPDX-License-Identifier: GPL-2.0
/* The tasks of a log: kept once for each boot and pid, whatever number of reports there is. */
#include "klog/log.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "klog/impl.h"
#include "util/cleanup.h"

struct klog *klog__new(void)
{
	struct klog *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->pool = intern__new();
	if (k->pool)
		return k;
	free(k);
	return NULL;
}

static void keep(void *p)
{
}

void klog__free(struct klog *k)
{
	if (!k)
		return;
	tdestroy(k->by_pid, keep);
	for (size_t i = 0; i < k->n; i++) {
		free(k->tasks[i]->held);
		free(k->tasks[i]);
	}
	free(k->tasks);
	free(k->releases);
	intern__free(k->pool);
	free(k);
}

static int cmp(const void *a, const void *b)
{
	const struct klog_task *x = a, *y = b;

	if (x->boot != y->boot)
		return x->boot < y->boot ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

struct klog_task *klog__find(const struct klog *k, int boot, pid_t pid)
{
	struct klog_task key = {.boot = boot, .pid = pid};
	void *found = pid ? tfind(&key, &k->by_pid, cmp) : NULL;

	return found ? *(struct klog_task **)found : NULL;
}

struct klog_task *klog_task(struct klog *k, pid_t pid)
{
	struct klog_task *t = klog__find(k, k->boot, pid);

	if (t)
		return t;
	if (k->n == KLOG_MAX_TASKS) {
		k->stats.too_many++;
		return NULL;
	}
	if (k->n == k->cap) {
		size_t cap = k->cap ? 2 * k->cap : 64;
		struct klog_task **more = realloc(k->tasks, cap * sizeof(*more));

		if (!more)
			return NULL;
		k->tasks = more;
		k->cap = cap;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->boot = k->boot;
	t->pid = pid;
	t->cpu = -1;
	t->n_held_said = -1;
	t->first = t->last = -1;
	t->comm = "";
	if (pid && !tsearch(t, &k->by_pid, cmp)) {
		free(t);
		return NULL;
	}
	k->tasks[k->n++] = t;
	return t;
}

size_t klog__n_tasks(const struct klog *k)
{
	return k->n;
}

struct klog_task *klog__at(const struct klog *k, size_t i)
{
	return k->tasks[i];
}

int klog__n_boots(const struct klog *k)
{
	return k->boot + 1;
}

const char *klog__release(const struct klog *k, int boot)
{
	return boot < k->n_releases ? k->releases[boot] : NULL;
}

void klog_set_release(struct klog *k, const char *release)
{
	if (k->boot >= k->n_releases) {
		const char **more = realloc(k->releases, sizeof(*more) * (size_t)(k->boot + 1));

		if (!more)
			return;
		while (k->n_releases <= k->boot)
			more[k->n_releases++] = NULL;
		k->releases = more;
	}
	if (!k->releases[k->boot])
		k->releases[k->boot] = intern__get(k->pool, release);
}

const struct klog_stats *klog__stats(const struct klog *k)
{
	return &k->stats;
}

static int read_all(struct klog *k, struct klog_reader *r, struct err *e)
{
	__free_ptr struct klog_parser *p = klog_parser__new(k);
	const struct klog_read_stats *s;
	char *line;
	size_t len;
	int ret = -ENOMEM;

	if (r && p) {
		while ((ret = klog_reader__next(r, !klog_parser__active(p), &line, &len, e)) > 0)
			klog_parser__line(p, line, len);
		klog_parser__end(p);
		s = klog_reader__stats(r);
		k->stats.bytes += s->bytes;
		k->stats.cut += s->cut;
		k->stats.nul += s->nul;
	} else {
		err_set(e, ret, "out of memory");
	}
	klog_reader__free(r);
	return ret;
}

int klog__read(struct klog *k, int fd, struct err *e)
{
	return read_all(k, klog_reader__new(fd), e);
}

int klog__read_mem(struct klog *k, const void *data, size_t len, struct err *e)
{
	return read_all(k, klog_reader__new_mem(data, len), e);
}
