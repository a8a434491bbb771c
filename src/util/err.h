/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_UTIL_ERR_H
#define LOCKBLAME_UTIL_ERR_H

/* How failures travel. Library code never prints: it fills a struct err with one line that says what
 * was tried, on what, why it failed and what to do, and returns a negative errno. The command at the
 * top prints that line once, as "lockblame: MESSAGE". */
struct err {
	char msg[512];
};

/* Sets the message (printf style, one line, no full stop at the end) and returns code, so that a
 * function can end with `return err_set(e, -ENOENT, ...)`. e may be NULL. */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As err_set, with ": " and the text of errno value -code appended. */
int err_errno(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "CONTEXT: " in front of what e already says; returns code. */
int err_wrap(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Exit codes of the program (man lockblame, EXIT STATUS). */
enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_HUNG = 3,
};

#endif
