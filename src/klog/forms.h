/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_KLOG_FORMS_H
#define LOCKBLAME_KLOG_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The single lines that kernels print about tasks. Each function says whether the text is of its form and
 * fills in what it found; text is changed by none. Kernels: 2.6.32 to 7.1. */

#define FORM_COMM 64

/* "INFO: task COMM:PID blocked for more than N seconds." (also "in I/O wait"). Parts may be missing. */
struct form_header {
	char comm[FORM_COMM];
	pid_t pid;   /* 0: not readable */
	int seconds; /* -1: not in the text */
	bool io_wait;
};
bool form_header(const char *text, struct form_header *h);

/* "INFO: task A:1 is blocked on a mutex likely owned by task B:2." and its relatives. */
struct form_owner {
	pid_t waiter;
	const char *kind; /* as kind_name() */
	char mode, owner_mode;
	char comm[FORM_COMM];
	pid_t pid; /* 0: not found */
	bool last;
};
bool form_owner(const char *text, struct form_owner *o);

/* "task:COMM state:D stack:0 pid:1 ..." and, on older kernels, "COMM  D ffff... 0 123 2 0x0000". */
struct form_task {
	char comm[FORM_COMM];
	char state;
	pid_t pid, tgid;
};
bool form_task(const char *text, pid_t expected, struct form_task *t);

/* "CPU: 1 UID: 0 PID: 23 Comm: x Not tainted". */
struct form_cpu {
	int cpu;
	pid_t pid;
	char comm[FORM_COMM];
};
bool form_cpu(const char *text, struct form_cpu *c);

/* A frame of a stack, "? func+0x1/0x2 [module]" in the ways of all architectures. from gets the callee
 * that 32-bit ARM prints too, "" elsewhere. bare: names without offset are frames as well. */
struct form_frame {
	char name[128]; /* "func+0x1/0x2" */
	char from[128];
	bool sure;
};
bool form_frame(const char *text, bool bare, struct form_frame *f);

/* "2 locks held by COMM/PID:", "no locks held by". */
struct form_holds {
	int n;
	char comm[FORM_COMM];
	pid_t pid;
};
bool form_holds(const char *text, struct form_holds *h);

/* " #0: ffff... (name){....}, at: func+0x1/0x2". */
struct form_held {
	uint64_t addr;
	char name[128];
	char at[128];
};
bool form_held(const char *text, struct form_held *h);

/* Whether the text cannot be all: a mail program wrapped the line, or the console cut it in two. */
bool form_incomplete(const char *text);

/* Whether a text begins something of its own, so that it continues nothing. */
bool form_begins(const char *text);

#endif
