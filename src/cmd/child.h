/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_CMD_CHILD_H
#define LOCKBLAME_CMD_CHILD_H

#include <stdbool.h>

#include "util/err.h"

/* The command after --. It is started at once, but waits before its first instruction until
 * child__go, so that tracing misses none of it. */

/* 0 with *pid and *go_fd set; -errno with a message when it cannot be started (not found, not
 * executable: found out before anything runs). */
int child__start(char **argv, int *pid, int *go_fd, struct err *e);
void child__go(int *go_fd);

/* Collects it if it has ended: true, *pid is 0 then and *status its exit status (128 + signal). */
bool child__reap(int *pid, int *status);

/* Ends it if it still runs (SIGTERM) and collects it. pid 0: nothing to do. */
void child__end(int pid);

#endif
