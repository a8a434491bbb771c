// SPDX-License-Identifier: GPL-2.0
#include "hung/pass.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "lockblame/peek.h"
#include "peekhung.skel.h"
#include "util/cleanup.h"

#define PF_KTHREAD 0x00200000u

struct hung_pass {
	struct peekhung_bpf *skel;
	struct bpf_link *link;
	char *buf; /* records as they were read; frames point into it */
	size_t len, cap;
	struct hung_task *rows;
	size_t n;
};

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return 0;
}

/* In the order of struct peek_hung_offsets. */
static const struct {
	enum kmem_field f;
	bool needed;
} fields[] = {
	{KF_TASK_PID, true},	    {KF_TASK_TGID, true},	{KF_TASK_COMM, true},
	{KF_TASK_FLAGS, true},	    {KF_TASK_MM, true},		{KF_TASK_START, true},
	{KF_TASK_STATE, true},	    {KF_TASK_EXIT_STATE, false}, {KF_TASK_ON_CPU, true},
	{KF_TASK_CPU, false},	    {KF_TASK_SP, false},	{KF_TASK_STACK, false},
	{KF_TASK_NVCSW, true},	    {KF_TASK_NIVCSW, true},	{KF_TASK_EXEC_START, true},
	{KF_TASK_LAST_ARRIVAL, false}, {KF_TASK_CFS_RQ, false}, {KF_CFS_RQ_RQ, false},
	{KF_RQ_CLOCK, false},	    {KF_RQ_CLOCK_TASK, false},	{KF_TASK_PARENT, false},
	{KF_TASK_REAL_PARENT, false}, {KF_TASK_VFORK_DONE, false}, {KF_TASK_BLOCKER, false},
	{KF_TASK_BLOCKED_ON, false}, {KF_TASK_PI_BLOCKED_ON, false},
};
_Static_assert(sizeof(struct peek_hung_offsets) == ARRAY_SIZE(fields) * sizeof(__u32), "one field each");

static int load(struct hung_pass *p, struct kmem *k)
{
	__u32 offs[ARRAY_SIZE(fields)];

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		int64_t off = kmem__off(k, fields[i].f);

		if (off < 0 && fields[i].needed)
			return -ENOENT;
		offs[i] = off < 0 ? PEEK_NONE : (__u32)off;
	}
	p->skel = peekhung_bpf__open();
	if (!p->skel)
		return -errno;
	memcpy((void *)(uintptr_t)&p->skel->rodata->offs, offs, sizeof(offs));
	if (peekhung_bpf__load(p->skel))
		return -errno;
	p->link = bpf_program__attach_iter(p->skel->progs.peek_hung, NULL);
	return p->link ? 0 : -errno;
}

static int load_error(int err, struct err *e)
{
	if (err == -ENOENT)
		return err_set(e, -EOPNOTSUPP,
			       "cannot look at the tasks: the kernel's type information (BTF) lacks their fields");
	if (err == -EPERM || err == -EACCES)
		return err_set(e, err, "cannot look at the tasks: CAP_BPF and CAP_PERFMON are needed (or root)");
	return err_errno(e, err, "cannot load the program that looks at the tasks");
}

static int ensure(struct hung_pass **pass, struct kmem *k, struct err *e)
{
	struct hung_pass *p;
	libbpf_print_fn_t old;
	int err;

	if (*pass)
		return 0;
	p = calloc(1, sizeof(*p));
	if (!p)
		return err_errno(e, -ENOMEM, "cannot look at the tasks");
	old = libbpf_set_print(quiet);
	err = load(p, k);
	libbpf_set_print(old);
	if (err) {
		hung_pass__free(p);
		return load_error(err, e);
	}
	*pass = p;
	return 0;
}

static int drain(struct hung_pass *p)
{
	int fd __close_fd = bpf_iter_create(bpf_link__fd(p->link));

	if (fd < 0)
		return -errno;
	p->len = 0;
	for (;;) {
		ssize_t n;

		if (p->cap - p->len < 65536) {
			size_t cap = p->cap ? 2 * p->cap : 1 << 20;
			char *more = realloc(p->buf, cap);

			if (!more)
				return -ENOMEM;
			p->buf = more;
			p->cap = cap;
		}
		n = read(fd, p->buf + p->len, p->cap - p->len);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		p->len += (size_t)n;
	}
}

/* exec_start is a clock without the time in interrupts; what has passed in interrupts since is counted as
 * running here, so that the answer is rather too short. */
static uint64_t idle_ns(const struct peek_hung *r, uint64_t now)
{
	uint64_t last = r->exec_start ? r->exec_start + r->irq_gap : r->last_arrival;

	if (last > now) /* clocks that do not fit */
		last = r->last_arrival;
	return !r->on_cpu && last && now > last ? now - last : 0;
}

static void take(struct hung_task *t, const struct peek_hung *r, const uint64_t *frames, uint64_t now)
{
	*t = (struct hung_task){
		.task = r->task, .mm = r->mm, .start_ns = r->start_ns,
		.sp = r->sp, .stack = r->stack, .switches = r->switches,
		.idle_ns = idle_ns(r, now),
		.parent = r->parent, .real_parent = r->real_parent, .vfork_done = r->vfork_done,
		.blocker = r->blocker, .blocked_on = r->blocked_on, .pi_blocked_on = r->pi_blocked_on,
		.state = r->state, .exit_state = r->exit_state, .flags = r->flags, .cpu = r->cpu,
		.on_cpu = r->on_cpu, .tid = (pid_t)r->tid, .tgid = (pid_t)r->tgid,
		.frames = frames, .n_frames = r->n_frames,
	};
	if (t->on_cpu && r->last_arrival && now > r->last_arrival)
		t->running_ns = now - r->last_arrival;
	memcpy(t->comm, r->comm, sizeof(t->comm));
	t->comm[sizeof(t->comm) - 1] = '\0';
}

static int cmp_addr(const void *a, const void *b)
{
	const struct hung_task *x = a, *y = b;

	return x->task < y->task ? -1 : x->task > y->task;
}

static int parse(struct hung_pass *p)
{
	struct peek_hung r;
	size_t at, n = 0, out = 0;

	for (at = 0; at + sizeof(r) <= p->len; at += sizeof(r) + 8ULL * r.n_frames, n++)
		memcpy(&r, p->buf + at, sizeof(r));
	free(p->rows);
	p->n = 0;
	p->rows = calloc(n + 1, sizeof(*p->rows));
	if (!p->rows)
		return -ENOMEM;
	for (at = 0; out < n; at += sizeof(r) + 8ULL * r.n_frames) {
		memcpy(&r, p->buf + at, sizeof(r));
		if (r.n_frames > PEEK_FRAMES || at + sizeof(r) + 8ULL * r.n_frames > p->len)
			break;
		take(&p->rows[out++], &r, (const uint64_t *)(const void *)(p->buf + at + sizeof(r)),
		     p->skel->bss->hung_now);
	}
	qsort(p->rows, out, sizeof(*p->rows), cmp_addr);
	/* A task can be met twice when its process ends meanwhile. */
	for (size_t i = 0; i < out; i++)
		if (!p->n || p->rows[p->n - 1].task != p->rows[i].task)
			p->rows[p->n++] = p->rows[i];
	return 0;
}

int hung_pass__read(struct hung_pass **pass, struct kmem *k, struct err *e)
{
	int err = ensure(pass, k, e);

	if (err)
		return err;
	err = drain(*pass);
	if (!err)
		err = parse(*pass);
	return err ? err_errno(e, err, "cannot read the list of tasks") : 0;
}

void hung_pass__free(struct hung_pass *p)
{
	if (!p)
		return;
	bpf_link__destroy(p->link);
	peekhung_bpf__destroy(p->skel);
	free(p->rows);
	free(p->buf);
	free(p);
}

const struct hung_task *hung_pass__rows(const struct hung_pass *p, size_t *n)
{
	*n = p->n;
	return p->rows;
}

const struct hung_task *hung_pass__by_addr(const struct hung_pass *p, uint64_t task)
{
	struct hung_task key = {.task = task};

	return bsearch(&key, p->rows, p->n, sizeof(*p->rows), cmp_addr);
}

char hung_task__state(const struct hung_task *t)
{
	uint32_t s = t->state;

	if (t->exit_state)
		return t->exit_state & 0x20 ? 'Z' : 'X';
	if (t->on_cpu || !s)
		return 'R';
	if (s & TASK_RTLOCK_)
		return 'D';
	if (s & TASK_D)
		return s & TASK_NOLOAD_ ? 'I' : 'D';
	if (s & TASK_TRACED_)
		return 't';
	if (s & TASK_STOPPED_)
		return 'T';
	if (s & TASK_PARKED_)
		return 'P';
	if (s & TASK_FROZEN_)
		return 'D';
	return s & TASK_S ? 'S' : 'R';
}
