// SPDX-License-Identifier: GPL-2.0
#include "out/out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "util/cleanup.h"

#define BUFFER (32 * 1024)

struct out {
	int fd; /* -1: memory */
	int error;
	bool ours; /* fd is to be closed */
	char *name;
	char *buf;
	size_t len, cap;
};

static struct out *out_new(int fd, const char *name)
{
	struct out *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->fd = fd;
	o->name = strdup(name);
	o->cap = BUFFER;
	o->buf = malloc(o->cap + 1);
	if (!o->name || !o->buf) {
		free(o->name);
		free(o->buf);
		free(o);
		return NULL;
	}
	o->buf[0] = '\0';
	return o;
}

struct out *out__open(const char *path, struct err *e)
{
	bool to_stdout = !path || !strcmp(path, "-");
	__close_fd int fd = -1;
	struct out *o;

	if (!to_stdout) {
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		if (fd < 0) {
			err_errno(e, -errno, "cannot write %s", path);
			return NULL;
		}
	}
	o = out_new(to_stdout ? STDOUT_FILENO : fd, to_stdout ? "standard output" : path);
	if (!o) {
		err_errno(e, -ENOMEM, "cannot write %s", to_stdout ? "standard output" : path);
		return NULL;
	}
	o->ours = !to_stdout;
	(void)take_fd(fd);
	signal(SIGPIPE, SIG_IGN);
	return o;
}

struct out *out__memory(void)
{
	return out_new(-1, "memory");
}

const char *out__text(const struct out *o)
{
	o->buf[o->len] = '\0';
	return o->buf;
}

static void write_all(struct out *o, const char *data, size_t len)
{
	while (len && !o->error) {
		ssize_t n = write(o->fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			o->error = n < 0 ? -errno : -EIO;
			return;
		}
		data += n;
		len -= (size_t)n;
	}
}

static void grow(struct out *o, size_t want)
{
	size_t cap = o->cap;
	char *bigger;

	while (cap < want)
		cap *= 2;
	bigger = realloc(o->buf, cap + 1);
	if (!bigger) {
		o->error = -ENOMEM;
		return;
	}
	o->buf = bigger;
	o->cap = cap;
}

void out__write(struct out *o, const void *data, size_t len)
{
	if (o->error)
		return;
	if (o->fd < 0 && o->len + len > o->cap)
		grow(o, o->len + len);
	else if (o->len + len > o->cap)
		out__flush(o);
	if (o->error)
		return;
	if (len > o->cap) {
		write_all(o, data, len);
		return;
	}
	memcpy(o->buf + o->len, data, len);
	o->len += len;
}

void out__puts(struct out *o, const char *s)
{
	out__write(o, s, strlen(s));
}

void out__putc(struct out *o, char c)
{
	out__write(o, &c, 1);
}

void out__printf(struct out *o, const char *fmt, ...)
{
	char small[512];
	__free_ptr char *big = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	if (n < (int)sizeof(small)) {
		out__write(o, small, n > 0 ? (size_t)n : 0);
		return;
	}
	va_start(ap, fmt);
	n = vasprintf(&big, fmt, ap);
	va_end(ap);
	if (n < 0) {
		big = NULL;
		out__fail(o, -ENOMEM);
		return;
	}
	out__write(o, big, (size_t)n);
}

/* A reader that has gone is noticed by writing, or by asking: a run that has nothing to write yet
 * should end all the same. */
static void check_reader(struct out *o)
{
	struct pollfd p = {.fd = o->fd};

	if (!o->error && poll(&p, 1, 0) > 0 && p.revents & POLLERR)
		o->error = -EPIPE;
}

int out__flush(struct out *o)
{
	if (o->fd < 0)
		return o->error;
	if (!o->len)
		check_reader(o);
	write_all(o, o->buf, o->len);
	o->len = 0;
	return o->error;
}

int out__error(const struct out *o)
{
	return o->error;
}

void out__fail(struct out *o, int error)
{
	if (!o->error)
		o->error = error;
}

bool out__is_tty(const struct out *o)
{
	return o->fd >= 0 && isatty(o->fd);
}

unsigned int out__width(const struct out *o)
{
	struct winsize ws;

	if (!out__is_tty(o) || ioctl(o->fd, TIOCGWINSZ, &ws))
		return 0;
	return ws.ws_col;
}

int out__close(struct out *o, struct err *e)
{
	int r;

	if (!o)
		return 0;
	r = out__flush(o);
	/* a full disk may show only here (NFS) */
	if (o->ours && close(o->fd) && !r)
		r = -errno;
	if (r == -EPIPE)
		r = 0;
	if (r)
		err_errno(e, r, "cannot write %s", o->name);
	free(o->name);
	free(o->buf);
	free(o);
	return r;
}
