/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_KLOG_LINE_H
#define LOCKBLAME_KLOG_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* One line of a kernel log without what the console, syslog, journalctl, a container, a mail program or
 * somebody's editor put in front of it. */
struct klog_line {
	char *text;	 /* what the kernel printed, without blanks in front and behind */
	double time;	 /* seconds since boot, from "[  123.456789]"; < 0: not in the line */
	char when[40];	 /* wall clock as it is written, "" when there is none */
	int caller;	 /* "[  T123]": thread id; -1: not in the line */
	int caller_cpu;	 /* "[    C0]": CPU; -1 */
	bool prefixed;	 /* something other than quotes and blanks was in front */
	bool json;	 /* was a record of journalctl -o json */
};

/* Takes the line apart in place (raw[len] is a NUL that may be written to). ANSI colours and other control
 * characters go, a text in JSON is unescaped. Bytes that are no UTF-8 stay. */
void klog_line__parse(char *raw, size_t len, struct klog_line *out);

/* Whether the text is blank. */
static inline bool klog_line__empty(const struct klog_line *l)
{
	return !*l->text;
}

#endif
