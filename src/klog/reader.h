/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_KLOG_READER_H
#define LOCKBLAME_KLOG_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/* Longest line that is kept; the rest of a longer one is dropped and counted. */
#define KLOG_LINE_MAX 8192

/* Lines of a file, a pipe or a buffer, in memory that does not grow. Most lines of most logs say nothing
 * about hangs: as long as the caller asks for interesting ones, those without any of a few marks are
 * passed over at the speed of memory. */
struct klog_reader;

struct klog_read_stats {
	uint64_t bytes;
	uint64_t cut;	  /* lines longer than KLOG_LINE_MAX */
	uint64_t nul;	  /* lines with bytes 0 in them: no text */
};

/* The fd stays the caller's. NULL: out of memory. */
struct klog_reader *klog_reader__new(int fd);
/* Reads what is in memory; it must stay there. */
struct klog_reader *klog_reader__new_mem(const void *data, size_t len);
void klog_reader__free(struct klog_reader *r);

/* The next line without its end, NUL-terminated; it may be written to and is valid until the next call.
 * interesting: lines without a mark may be left out. 1: a line, 0: the end, -errno. */
int klog_reader__next(struct klog_reader *r, bool interesting, char **line, size_t *len, struct err *e);

const struct klog_read_stats *klog_reader__stats(const struct klog_reader *r);

#endif
