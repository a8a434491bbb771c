// SPDX-License-Identifier: GPL-2.0
#include "names/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/cleanup.h"

#define MAX_DEFAULT 8192
#define NS_PER_TICK 10000000u /* USER_HZ is 100 on every architecture that has BPF */

struct entry {
	struct entry *next;	     /* in the bucket: same hash */
	struct entry *newer, *older; /* by last use */
	struct task_name name;
	uint32_t epoch; /* of the last look into /proc */
};

struct tasks {
	char *proc;
	unsigned int n, max, n_buckets;
	uint32_t epoch;
	struct entry **buckets;
	struct entry *newest, *oldest;
};

struct tasks *tasks__new(const char *proc, unsigned int max)
{
	struct tasks *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->max = max ? max : MAX_DEFAULT;
	for (t->n_buckets = 16; t->n_buckets < t->max;)
		t->n_buckets *= 2;
	t->epoch = 1;
	t->proc = strdup(proc ? proc : "/proc");
	t->buckets = calloc(t->n_buckets, sizeof(*t->buckets));
	if (t->proc && t->buckets)
		return t;
	tasks__free(t);
	return NULL;
}

void tasks__free(struct tasks *t)
{
	if (!t)
		return;
	while (t->newest) {
		struct entry *e = t->newest;

		t->newest = e->older;
		free(e);
	}
	free(t->buckets);
	free(t->proc);
	free(t);
}

void tasks__tick(struct tasks *t)
{
	t->epoch++;
}

static struct entry **bucket(struct tasks *t, pid_t tid)
{
	return &t->buckets[((uint32_t)tid * 2654435761u) & (t->n_buckets - 1)];
}

static void unlink_use(struct tasks *t, struct entry *e)
{
	*(e->newer ? &e->newer->older : &t->newest) = e->older;
	*(e->older ? &e->older->newer : &t->oldest) = e->newer;
}

static void touch(struct tasks *t, struct entry *e, bool linked)
{
	if (linked)
		unlink_use(t, e);
	e->newer = NULL;
	e->older = t->newest;
	*(t->newest ? &t->newest->newer : &t->oldest) = e;
	t->newest = e;
}

static void drop_oldest(struct tasks *t)
{
	struct entry *e = t->oldest, **at = bucket(t, e->name.tid);

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	unlink_use(t, e);
	free(e);
	t->n--;
}

static struct entry *find(struct tasks *t, pid_t tid, uint64_t ticks)
{
	struct entry *e = *bucket(t, tid);

	while (e && (e->name.tid != tid || e->name.start_ticks != ticks))
		e = e->next;
	return e;
}

/* Of the tasks with this tid, the one that started last. */
static struct entry *find_latest(struct tasks *t, pid_t tid)
{
	struct entry *best = NULL;

	for (struct entry *e = *bucket(t, tid); e; e = e->next)
		if (e->name.tid == tid && (!best || e->name.start_ticks > best->name.start_ticks))
			best = e;
	return best;
}

static struct entry *add(struct tasks *t, const struct task_name *name)
{
	struct entry *e = find(t, name->tid, name->start_ticks), **at;

	if (!e) {
		while (t->n >= t->max)
			drop_oldest(t);
		e = calloc(1, sizeof(*e));
		if (!e)
			return NULL;
		at = bucket(t, name->tid);
		e->next = *at;
		*at = e;
		t->n++;
		touch(t, e, false);
	} else {
		touch(t, e, true);
	}
	e->name = *name;
	return e;
}

static int read_proc(const struct tasks *t, pid_t tid, const char *what, char *buf, size_t size)
{
	char path[256];
	int fd __close_fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%d/%s", t->proc, tid, what);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	return n ? 0 : -ESRCH;
}

/* "1234 (comm) S 1 ..."; the comm may hold anything, blanks and brackets too, so the last bracket
 * counts. The start time is field 22. */
static int parse_stat(char *buf, struct task_name *name)
{
	char *open = strchr(buf, '('), *close = strrchr(buf, ')'), *p;
	size_t len;

	if (!open || !close || close < open)
		return -EINVAL;
	len = (size_t)(close - open - 1);
	if (len >= sizeof(name->comm))
		len = sizeof(name->comm) - 1;
	memcpy(name->comm, open + 1, len);
	name->comm[len] = '\0';
	p = close + 1;
	for (int field = 3; field <= 22; field++) {
		p = strchr(p, ' ');
		if (!p)
			return -EINVAL;
		p++;
	}
	return sscanf(p, "%" SCNu64, &name->start_ticks) == 1 ? 0 : -EINVAL;
}

static int look(const struct tasks *t, pid_t tid, struct task_name *name)
{
	char buf[2048];
	const char *tgid;
	int err = read_proc(t, tid, "stat", buf, sizeof(buf));

	memset(name, 0, sizeof(*name));
	name->tid = tid;
	name->alive = true;
	if (!err)
		err = parse_stat(buf, name);
	if (!err)
		err = read_proc(t, tid, "status", buf, sizeof(buf));
	if (err)
		return err;
	tgid = strstr(buf, "\nTgid:");
	return tgid && sscanf(tgid, "\nTgid: %d", &name->tgid) == 1 ? 0 : -EINVAL;
}

/* The kernel rounds down, and so may the time namespace's offset: one tick apart is the same task.
 */
static bool same_start(uint64_t ticks, uint64_t start_ns)
{
	uint64_t want = start_ns / NS_PER_TICK;

	return ticks <= want + 1 && want <= ticks + 1;
}

static struct entry *find_started(struct tasks *t, pid_t tid, uint64_t start_ns)
{
	struct entry *e = *bucket(t, tid);

	while (e && (e->name.tid != tid || !same_start(e->name.start_ticks, start_ns)))
		e = e->next;
	return e;
}

/* Brings what is known of the tid up to date, once an epoch. */
static void refresh(struct tasks *t, pid_t tid)
{
	struct entry *e = find_latest(t, tid);
	struct task_name now;
	int err;

	if (e && e->epoch == t->epoch)
		return;
	err = look(t, tid, &now);
	for (struct entry *i = *bucket(t, tid); i; i = i->next) {
		if (i->name.tid != tid)
			continue;
		i->name.alive = false;
		i->epoch = t->epoch;
	}
	if (err)
		return;
	e = add(t, &now);
	if (e)
		e->epoch = t->epoch;
}

int tasks__get(struct tasks *t, pid_t tid, uint64_t start_ns, struct task_name *out)
{
	struct entry *e;

	refresh(t, tid);
	e = start_ns ? find_started(t, tid, start_ns) : find_latest(t, tid);
	if (!e)
		return -ESRCH;
	touch(t, e, true);
	*out = e->name;
	return 0;
}

void tasks__learn(struct tasks *t, pid_t tid, pid_t tgid, uint64_t start_ns, const char *comm)
{
	struct task_name name = {.tid = tid, .tgid = tgid, .start_ticks = start_ns / NS_PER_TICK};
	const struct entry *e = find_started(t, tid, start_ns);

	if (e) {
		name.start_ticks = e->name.start_ticks;
		name.alive = e->name.alive;
	}
	snprintf(name.comm, sizeof(name.comm), "%s", comm);
	add(t, &name);
}
