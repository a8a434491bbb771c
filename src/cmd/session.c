// SPDX-License-Identifier: GPL-2.0
#include "cmd/session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/child.h"
#include "cmd/namer.h"
#include "cmd/targets.h"
#include "model/kinds.h"
#include "util/clock.h"
#include "util/cleanup.h"

#define TUNE_NS 500000000ULL
/* Even when nobody asks for intervals the tables are read now and then, so that they never fill up. */
#define UPKEEP_NS 1000000000ULL

static int set_timer(int fd, uint64_t ns)
{
	const struct timespec t = {(time_t)(ns / 1000000000ULL), (long)(ns % 1000000000ULL)};
	const struct itimerspec it = {.it_interval = t, .it_value = t};

	return timerfd_settime(fd, 0, &it, NULL) ? -errno : 0;
}

void session__set_interval(struct session *s, uint64_t ns)
{
	set_timer(s->timer_fd, ns);
}

static int watch(struct session *s, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int open_loop(struct session *s, struct err *e)
{
	sigset_t set;
	int r = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	s->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	s->tune_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->epoll_fd < 0 || s->signal_fd < 0 || s->timer_fd < 0 || s->tune_fd < 0)
		return err_errno(e, -errno, "cannot set up the event loop");
	r = watch(s, s->signal_fd);
	if (!r)
		r = watch(s, s->timer_fd);
	if (!r)
		r = watch(s, s->tune_fd);
	if (!r && collect__event_fd(s->collect) >= 0)
		r = watch(s, collect__event_fd(s->collect));
	return r ? err_errno(e, r, "cannot set up the event loop") : 0;
}

/* --verbose: by which hooks the wanted kinds are seen, and what is missing. */
static void tell_hooks(struct session *s, uint32_t kinds)
{
	const struct hooks *h = collect__hooks(s->collect);

	for (int k = 0; k < LB_KIND_N; k++) {
		const struct kind_hooks *kh = &h->kind[k];

		if ((kinds ? kinds : LB_KINDS_SLEEPING) & LB_KIND_BIT(k))
			fprintf(stderr, "lockblame: %s: %s%s%s\n", kind_name((unsigned int)k),
				kh->works ? kh->how : "not seen", kh->why[0] ? "; " : "", kh->why);
	}
}

int session__open(struct session *s, struct lb_opts *o, struct collect_config *cfg, struct err *e)
{
	struct targets t;
	int r;

	memset(s, 0, sizeof(*s));
	s->opts = o;
	s->epoll_fd = s->signal_fd = s->timer_fd = s->tune_fd = s->child_go_fd = -1;
	s->exit_status = -1;
	r = targets__resolve(&t, o, cfg, e);
	if (!r)
		r = collect__open(cfg, &s->collect, e);
	targets__fini(&t);
	if (!r) {
		s->namer = namer__new(s->collect, e);
		r = s->namer ? 0 : -EIO;
	}
	if (!r)
		r = open_loop(s, e);
	if (!r && o->verbose)
		tell_hooks(s, o->kinds);
	if (!r && o->run)
		r = child__start(o->run, &s->child_pid, &s->child_go_fd, e);
	if (r)
		session__close(s);
	return r;
}

void session__close(struct session *s)
{
	int *fds[] = {&s->epoll_fd, &s->signal_fd, &s->timer_fd, &s->tune_fd, &s->child_go_fd};

	child__end(s->child_pid);
	namer__free(s->namer);
	collect__free(s->collect);
	snapshot__fini(&s->prev);
	snapshot__fini(&s->delta);
	snapshot__fini(&s->total);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (*fds[i] >= 0)
			close(*fds[i]);
	memset(s, 0, sizeof(*s));
	s->epoll_fd = s->signal_fd = s->timer_fd = s->tune_fd = s->child_go_fd = -1;
}

int session__read(struct session *s, struct err *e)
{
	struct snapshot cur, delta;
	uint64_t since = s->prev.when_ns ? s->prev.when_ns : s->start_ns;
	int r = collect__read(s->collect, &cur, e);

	if (r)
		return r;
	r = snapshot__delta(&cur, s->prev.when_ns ? &s->prev : NULL, &delta);
	if (!r)
		r = snapshot__add(&s->total, &delta);
	if (r) {
		snapshot__fini(&cur);
		return err_set(e, r, "out of memory");
	}
	s->delta_seconds = (double)(cur.when_ns - since) / 1e9;
	s->total_seconds = (double)(cur.when_ns - s->start_ns) / 1e9;
	snapshot__fini(&s->prev);
	s->prev = cur;
	snapshot__fini(&s->delta);
	s->delta = delta;
	namer__refresh(s->namer);
	return 0;
}

struct event_call {
	struct session *s;
	const struct session_ops *ops;
	struct err *e;
};

static int on_event(void *ctx, const struct lb_event *ev)
{
	struct event_call *c = ctx;
	int r = c->ops->event ? c->ops->event(c->s, c->ops->ctx, ev, c->e) : 0;

	if (r == 1) {
		c->s->end = true;
		return -ECANCELED;
	}
	return r;
}

static int drain(struct session *s, const struct session_ops *ops, struct err *e)
{
	struct event_call c = {s, ops, e};
	int r = collect__drain(s->collect, on_event, &c);

	return r == -ECANCELED ? 0 : r;
}

static int tick(struct session *s, const struct session_ops *ops, struct err *e)
{
	int r;

	if (ops->lazy && !s->stopped && !collect__filling_up(s->collect))
		return 0;
	r = session__read(s, e);
	if (!r && ops->tick)
		r = ops->tick(s, ops->ctx, e);
	s->ticks++;
	if (r == 1 || (ops->tick_counts && s->opts->count && s->ticks >= s->opts->count))
		s->end = true;
	return r < 0 ? r : 0;
}

static int on_signal(struct session *s, const struct session_ops *ops, struct err *e)
{
	struct signalfd_siginfo si;
	int r = 0;

	while (!r && read(s->signal_fd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_signo == SIGCHLD) {
			if (s->child_pid && child__reap(&s->child_pid, &s->exit_status))
				s->end = true;
		} else if (si.ssi_signo == SIGWINCH) {
			r = ops->key ? ops->key(s, ops->ctx, e) : 0;
			if (r == 1)
				s->end = true;
			r = r < 0 ? r : 0;
		} else {
			s->end = true;
		}
	}
	return r;
}

static void clear_timer(int fd)
{
	uint64_t n;

	if (read(fd, &n, sizeof(n)) < 0)
		return; /* raced with a change of interval */
}

static int dispatch(struct session *s, const struct session_ops *ops, int fd, struct err *e)
{
	int r = 0;

	if (fd == s->signal_fd)
		return on_signal(s, ops, e);
	if (fd == s->tune_fd) {
		clear_timer(fd);
		collect__tune(s->collect);
		return 0;
	}
	if (fd == s->timer_fd) {
		clear_timer(fd);
		return tick(s, ops, e);
	}
	if (fd == STDIN_FILENO && ops->key) {
		r = ops->key(s, ops->ctx, e);
		if (r == 1)
			s->end = true;
		return r < 0 ? r : 0;
	}
	return drain(s, ops, e);
}

static int wait_ms(const struct session *s)
{
	uint64_t now;

	if (!s->deadline_ns)
		return -1;
	now = clock_ns();
	return now >= s->deadline_ns ? 0 : (int)((s->deadline_ns - now) / 1000000ULL) + 1;
}

static int loop(struct session *s, const struct session_ops *ops, struct err *e)
{
	struct epoll_event ev[8];
	int r = 0;

	while (!s->end && !r) {
		int n = epoll_wait(s->epoll_fd, ev, ARRAY_SIZE(ev), wait_ms(s));

		if (n < 0 && errno != EINTR)
			return err_errno(e, -errno, "epoll_wait");
		for (int i = 0; i < n && !r && !s->end; i++)
			r = dispatch(s, ops, ev[i].data.fd, e);
		if (s->deadline_ns && clock_ns() >= s->deadline_ns)
			s->end = true;
	}
	return r;
}

/* Once no wait can begin any more, what began and did not end, and is not waiting either, has lost its
 * end: its hook was missed (return probes are, when many tasks wait at once), or the task died waiting.
 * Some of it BPF has noticed itself. */
static void count_missed(struct session *s)
{
	struct lb_stats *st = &s->total.stats;
	uint64_t known = st->recorded + st->short_waits + st->lost_map + s->total.n_now;

	st->lost_end = st->seen > known ? st->seen - known : 0;
}

int session__run(struct session *s, const struct session_ops *ops, struct err *e)
{
	uint64_t interval = s->opts->interval ? s->opts->interval : ops->default_interval_ns;
	int r;

	namer__warm_up(s->namer);
	s->start_ns = clock_ns();
	set_timer(s->timer_fd, interval ? interval : UPKEEP_NS);
	set_timer(s->tune_fd, TUNE_NS);
	if (s->opts->duration)
		s->deadline_ns = s->start_ns + s->opts->duration;
	if (ops->key && isatty(STDIN_FILENO))
		watch(s, STDIN_FILENO);
	if (s->child_go_fd >= 0)
		child__go(&s->child_go_fd);
	r = loop(s, ops, e);
	if (r)
		return r;
	/* A last look, unless the loop has just had one because of -n. */
	collect__stop(s->collect);
	s->stopped = true;
	if (!(ops->tick_counts && s->opts->count && s->ticks >= s->opts->count)) {
		r = drain(s, ops, e);
		if (!r)
			r = tick(s, ops, e);
	} else {
		r = session__read(s, e);
	}
	count_missed(s);
	return r;
}
