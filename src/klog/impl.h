/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_KLOG_IMPL_H
#define LOCKBLAME_KLOG_IMPL_H

/* Shared by the files of this folder only. */
#include "klog/log.h"
#include "util/intern.h"

struct klog {
	struct klog_task **tasks;
	size_t n, cap;
	void *by_pid; /* tsearch tree */
	struct intern *pool;
	const char **releases; /* of each boot */
	int n_releases;
	int boot;
	struct klog_stats stats;
};

/* The task of the boot that is being read, new or old; pid 0 makes a new one. NULL: out of memory, or too
 * many (counted). */
struct klog_task *klog_task(struct klog *k, pid_t pid);
void klog_set_release(struct klog *k, const char *release);

struct klog_parser;

/* free() frees it. */
struct klog_parser *klog_parser__new(struct klog *k);
/* Whether it is in the middle of something, so that all lines are wanted. */
bool klog_parser__active(const struct klog_parser *p);
void klog_parser__line(struct klog_parser *p, char *line, size_t len);
void klog_parser__end(struct klog_parser *p);

#endif
