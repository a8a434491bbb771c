/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_OUT_OUT_H
#define LOCKBLAME_OUT_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "util/err.h"

/* Where a command's data goes: standard output or the file of -o. Writing never fails on the spot:
 * the first error is kept, everything after it is dropped, and out__error or out__close tells. So a
 * command writes, flushes at the end of each line or interval, and stops when out__error() is not 0.
 *
 * Opening one sets SIGPIPE to ignored; a child that is to run a command must set it back to
 * SIG_DFL. */
struct out;

/* path NULL or "-": standard output. NULL with one line in *e when the file cannot be created. */
struct out *out__open(const char *path, struct err *e);

/* Keeps everything in memory (tests, and columns that are measured first). */
struct out *out__memory(void);
/* What has been written so far to such a one; NUL-terminated, owned by out. */
const char *out__text(const struct out *o);

void out__write(struct out *o, const void *data, size_t len);
void out__puts(struct out *o, const char *s);
void out__putc(struct out *o, char c);
void out__printf(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Makes the stream fail from outside (a record that could not be built); the first error counts. */
void out__fail(struct out *o, int error);

/* Hands what is buffered to the kernel; with nothing buffered, looks whether the reader of a pipe has
 * gone, so call it once an interval even then. Returns out__error(). */
int out__flush(struct out *o);

/* 0, or -errno of the first write that failed. -EPIPE: the reader has gone, which is a quiet end and
 * not a failure. */
int out__error(const struct out *o);

/* Terminal width in columns, or 0 when this is no terminal: no limit. */
unsigned int out__width(const struct out *o);
bool out__is_tty(const struct out *o);

/* Flushes, closes and frees. Returns 0, also after -EPIPE, or -errno with one line in *e ("cannot
 * write FILE: No space left on device"). o may be NULL. */
int out__close(struct out *o, struct err *e);

#endif
