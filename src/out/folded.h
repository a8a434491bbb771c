/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_OUT_FOLDED_H
#define LOCKBLAME_OUT_FOLDED_H

#include <stdint.h>

#include "out/out.h"

/* One line of a folded stack, root first: comm, user frames, kernel frames (with _[k] behind them),
 * then, when leaf is not NULL, one frame more (the lock), and the time in whole microseconds. Frames
 * are given innermost first, as stacks are taken; offsets ("+0x1a") are dropped. comm, user and leaf
 * may be NULL. ';', blanks and control characters in names are replaced. */
struct folded {
	const char *comm;
	const char *const *user;
	unsigned int n_user;
	const char *const *kernel;
	unsigned int n_kernel;
	const char *leaf;
	/* Another stack below this one, up to its own root, and a frame "--" between the two: whose doing
	 * it was. NULL: none. */
	const struct folded *below;
	uint64_t ns;
};

void folded__line(struct out *o, const struct folded *f);

#endif
