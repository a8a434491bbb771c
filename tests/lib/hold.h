/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_TESTS_HOLD_H
#define LOCKBLAME_TESTS_HOLD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A way to hold a kernel lock for as long as a test likes, without a kernel module: a system call
 * that copies from or to user memory under the lock is given a page that userfaultfd keeps from
 * appearing. The thread sleeps in the page fault, with the lock held, until hold__end(). */
struct hold {
	pthread_t thread;
	pid_t tid;
	int uffd;
	char *page;
	long page_size;
	long (*call)(void *arg, char *page);
	void *arg;
	bool started;
};

/* Whether this kernel allows it (CONFIG_USERFAULTFD, and faults from kernel mode). */
bool hold__works(void);

/* Starts a thread that does call(arg, page) and waits until it sleeps in the fault. 0 or -errno. */
int hold__begin(struct hold *h, long (*call)(void *arg, char *page), void *arg);
void hold__end(struct hold *h);

/* A thread that does call(arg, NULL), presumably to wait for a lock. */
struct waiter {
	pthread_t thread;
	pid_t tid;
	long (*call)(void *arg, char *page);
	void *arg;
};

/* Returns when the thread is asleep. 0 or -errno (-ETIMEDOUT: it did not go to sleep). */
int waiter__begin(struct waiter *w, long (*call)(void *arg, char *page), void *arg);
void waiter__end(struct waiter *w);

#endif
