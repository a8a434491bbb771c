/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_NAMES_USYM_H
#define LOCKBLAME_NAMES_USYM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Names for addresses in user processes, from symbol tables (local ones only: nothing is fetched
 * from the network, and no line tables are read). Caches are bounded. */
struct usyms;

#define USYM_BUF 512

/* NULL: out of memory. */
struct usyms *usyms__new(void);
void usyms__free(struct usyms *us);

/* Reads the process's mappings now, so that its stacks can still be named by module once it has
 * exited. Cheap when that was done before. Returns 0 or -errno; usyms__name does it by itself. */
int usyms__capture(struct usyms *us, pid_t pid);

/* "func+0x1a", or "[libc.so.6]+0x2a4f0" (offset in the file) when there is no symbol, or "0x…" when
 * not even the file is known. Returns buf. */
char *usyms__name(struct usyms *us, pid_t pid, uint64_t addr, char *buf, size_t size);

/* Why this process's addresses have no names, as a sentence without full stop, or NULL. */
const char *usyms__why(struct usyms *us, pid_t pid);

/* Forgets a process, for instance when an exec was seen. Without it an exec, or another process with
 * the same pid, is noticed within a second. */
void usyms__forget(struct usyms *us, pid_t pid);

#endif
