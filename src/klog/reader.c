// SPDX-License-Identifier: GPL-2.0
#include "klog/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK (256 * 1024)
#define BLOCK 64 /* bytes looked at together by the filter */

struct klog_reader {
	int fd;
	const char *mem;
	size_t mem_len;
	bool eof;
	bool in_long; /* the rest of a line that is too long is being dropped */
	size_t at, end;
	struct klog_read_stats stats;
	char line[KLOG_LINE_MAX + 1];
	char buf[CHUNK + BLOCK + 1]; /* at least BLOCK + 1 bytes behind the end can be read */
};

struct klog_reader *klog_reader__new(int fd)
{
	struct klog_reader *r = calloc(1, sizeof(*r));

	if (r)
		r->fd = fd;
	return r;
}

struct klog_reader *klog_reader__new_mem(const void *data, size_t len)
{
	struct klog_reader *r = klog_reader__new(-1);

	if (r) {
		r->mem = data;
		r->mem_len = len;
	}
	return r;
}

void klog_reader__free(struct klog_reader *r)
{
	free(r);
}

const struct klog_read_stats *klog_reader__stats(const struct klog_reader *r)
{
	return &r->stats;
}

static ssize_t get(struct klog_reader *r, char *to, size_t size)
{
	ssize_t n;

	if (r->fd < 0) {
		n = (ssize_t)(r->mem_len < size ? r->mem_len : size);
		if (n)
			memcpy(to, r->mem, (size_t)n);
		r->mem += n;
		r->mem_len -= (size_t)n;
		return n;
	}
	do
		n = read(r->fd, to, size);
	while (n < 0 && errno == EINTR);
	return n;
}

/* Moves the rest to the front and reads on. A file that cannot be read is an error, its end is none. */
static int refill(struct klog_reader *r, struct err *e)
{
	ssize_t n;

	if (r->at) {
		memmove(r->buf, r->buf + r->at, r->end - r->at);
		r->end -= r->at;
		r->at = 0;
	}
	n = get(r, r->buf + r->end, CHUNK - r->end);
	if (n < 0)
		return err_errno(e, -errno, "cannot read the log");
	if (!n)
		r->eof = true;
	r->stats.bytes += (uint64_t)n;
	r->end += (size_t)n;
	memset(r->buf + r->end, '\n', BLOCK + 1);
	return 0;
}

/* Bytes at which a mark may begin: "lock", "task", "ktra" (backtrace), "stal", "x ve" (Linux version),
 * "tate" (Show State), "losed" is none. Written so that compilers make vector code of it. */
static bool any_mark(const char *s)
{
	unsigned char hit = 0;

	for (int i = 0; i < BLOCK; i++) {
		unsigned char k = (s[i] == 'o') & (s[i + 1] == 'c') & (s[i + 2] == 'k');
		unsigned char a = (s[i] == 't') & (s[i + 1] == 'a') & ((s[i + 2] == 's') | (s[i + 2] == 'l'));
		unsigned char v = (s[i] == 'x') & (s[i + 1] == ' ') & (s[i + 2] == 'v');

		hit |= k | a | v;
	}
	return hit;
}

static bool has_mark(const char *s, size_t len)
{
	static const char *const marks[] = {"lock", "task", "stall", "x version"};

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (memmem(s, len, marks[i], strlen(marks[i])))
			return true;
	return false;
}

/* Skips to the beginning of the next line that has a mark, or to the beginning of the last line in the
 * buffer, which may go on. */
static void skip(struct klog_reader *r)
{
	size_t from = r->at;

	while (from < r->end) {
		const char *nl, *start;

		if (!any_mark(r->buf + from)) {
			from += BLOCK;
			continue;
		}
		/* the lines that this block touches, looked at one by one */
		start = memrchr(r->buf + r->at, '\n', from - r->at);
		start = start ? start + 1 : r->buf + r->at;
		do {
			nl = memchr(start, '\n', (size_t)(r->buf + r->end - start));
			if (!nl || has_mark(start, (size_t)(nl - start))) {
				r->at = (size_t)(start - r->buf);
				return;
			}
			start = nl + 1;
		} while (start < r->buf + from + BLOCK && start < r->buf + r->end);
		r->at = (size_t)(start - r->buf);
		from = r->at;
	}
	if (from > r->at) {
		const char *last = memrchr(r->buf + r->at, '\n', r->end - r->at);

		if (last)
			r->at = (size_t)(last + 1 - r->buf);
	}
}

static int hand_out(struct klog_reader *r, size_t len, char **line, size_t *out_len)
{
	size_t keep = len < KLOG_LINE_MAX ? len : KLOG_LINE_MAX;

	if (len > keep)
		r->stats.cut++;
	memcpy(r->line, r->buf + r->at, keep);
	while (keep && r->line[keep - 1] == '\r')
		keep--;
	r->line[keep] = '\0';
	if (memchr(r->line, '\0', keep))
		r->stats.nul++;
	*line = r->line;
	*out_len = keep;
	r->at += len;
	return 1;
}

/* Drops what is left of a line that was too long. False: there is more of it to come. */
static bool drop_rest(struct klog_reader *r)
{
	const char *nl = memchr(r->buf + r->at, '\n', r->end - r->at);

	r->at = nl ? (size_t)(nl + 1 - r->buf) : r->end;
	r->in_long = !nl && !r->eof;
	return !r->in_long;
}

int klog_reader__next(struct klog_reader *r, bool interesting, char **line, size_t *len, struct err *e)
{
	int err;

	for (;;) {
		const char *nl;

		if (r->in_long && !drop_rest(r)) {
			err = refill(r, e);
			if (err)
				return err;
			continue;
		}
		if (interesting)
			skip(r);
		nl = memchr(r->buf + r->at, '\n', r->end - r->at);
		if (nl) {
			err = hand_out(r, (size_t)(nl - r->buf) - r->at, line, len);
			r->at++;
			return err;
		}
		if (r->end - r->at >= CHUNK) { /* a full buffer without an end of line */
			r->in_long = true;
			return hand_out(r, r->end - r->at, line, len);
		}
		if (r->eof)
			return r->at < r->end ? hand_out(r, r->end - r->at, line, len) : 0;
		err = refill(r, e);
		if (err)
			return err;
	}
}
