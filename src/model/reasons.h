/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_MODEL_REASONS_H
#define LOCKBLAME_MODEL_REASONS_H

#include <stdbool.h>
#include <stddef.h>

#include "lockblame/abi.h"

/* Why a task does not go on, told from the functions on its kernel stack: one table for the live view
 * (hung) and for the kernel's log (explain). To teach it something, add rows in reasons.c. */
struct reason {
	const char *key;  /* stable, for JSON and tests: "frozen-fs" */
	const char *kind; /* of waits_for: "io", "lock" or "other" */
	/* Goes behind a task's name: "waits for a frozen file system[ {}]". {} is the object (a path, a
	 * device, a task); without one the part in brackets is left out. */
	const char *words;
	const char *advice; /* what to look at or do, as a sentence; NULL: nothing to say */
};

/* The reason that the frames show (innermost first; offsets, compiler suffixes and modules in the names
 * are ignored), NULL when none does. A reason of a certain function wins over a general one (schedule in
 * a wait for a completion), then the innermost frame wins. at (may be NULL) gets the index of the frame. */
const struct reason *reason__of_frames(const char *const *frames, int n, int *at);

/* By key; NULL when there is none. */
const struct reason *reason__by_key(const char *key);

/* The whole table, for tests and documentation. */
const struct reason *reason__table(unsigned int *n);

/* The lock that a task is in the slow path of, told from its frames: kind_name() ("rwsem"), the mode where
 * the frames tell. False: it waits for no lock (then reason__of_frames is asked). */
struct reason_lock {
	const char *kind;
	enum lb_mode mode;
	bool mode_known;
	int at; /* the frame */
};
bool reason__lock_of_frames(const char *const *frames, int n, struct reason_lock *out);

/* The words with the object filled in (NULL: not known). Returns buf. */
char *reason__words(const struct reason *r, const char *object, char *buf, size_t size);

#endif
