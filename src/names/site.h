/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_NAMES_SITE_H
#define LOCKBLAME_NAMES_SITE_H

#include <stdbool.h>
#include <stddef.h>

/* The site of a stack: the first frame that is not the locking code itself. Locking code is told by
 * the names of functions, from one table, so that the same answer comes out whichever hook took the
 * stack, and however the compiler inlined.
 *
 * Names may carry an offset ("down_read+0x1a"), compiler suffixes (".isra.0", ".constprop.0",
 * ".part.0", ".cold", ".llvm.123") and a module (" [ext4]"): all are ignored here. */

/* func is part of taking or releasing a lock, of sleeping or spinning for one, of a lock's wrapper
 * (mmap_read_lock, inode_lock), or of the tracing that looks at it. */
bool site__is_lock_code(const char *func);

/* The index of the site in frames (innermost first). A frame without a name ("0x…", or NULL) is a
 * site as any other, except above the innermost locking code, where it is a probe's trampoline. -1:
 * every frame is locking code, or n is 0. */
int site__of(const char *const *frames, int n);

/* How many innermost frames are the tracing that took the stack, and no part of what was traced. */
int site__tracing_frames(const char *const *frames, int n);

/* name without offset, module and compiler suffixes, for grouping and display. Returns buf. */
char *site__base(const char *name, char *buf, size_t size);

#endif
