/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_NAMES_KSYM_H
#define LOCKBLAME_NAMES_KSYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/* Kernel symbols, from /proc/kallsyms.
 *
 * The rule is hexadecimal rather than a wrong name: kallsyms gives no sizes, so a symbol is believed
 * only up to the next symbol, the end of its section, or, at the end of a module, the end of its
 * page. The file is read at the first question, not by ksyms__load: formatting it costs the kernel
 * some 50 ms. Every function may therefore take that long once. */
struct ksyms;

/* name and module live as long as the struct ksyms, and equal names are equal pointers. module is
 * NULL for the kernel itself, "bpf" for JITed programs and trampolines. */
struct ksym {
	const char *name;
	uint64_t offset;
	const char *module;
};

/* Enough for every name that the kernel allows (512 since 6.1) with its offset. */
#define KSYM_BUF 544

/* path NULL: /proc/kallsyms, with /proc/modules to notice modules that come and go. NULL only when
 * out of memory or when the file cannot be opened. */
struct ksyms *ksyms__load(const char *path, struct err *e);
struct ksyms *ksyms__load_from(const char *kallsyms, const char *modules, struct err *e);
void ksyms__free(struct ksyms *ks);

/* The function that addr lies in. False: not known. */
bool ksyms__find(struct ksyms *ks, uint64_t addr, struct ksym *out);

/* The same for a return address (every frame of a stack but an innermost one that is the probed
 * instruction itself): a call that never returns may be the last instruction of its function, so
 * that the address is already the start of the next one. */
bool ksyms__find_return(struct ksyms *ks, uint64_t addr, struct ksym *out);

/* The static variable that addr lies in; never true without ksyms__has_data(). */
bool ksyms__find_data(struct ksyms *ks, uint64_t addr, struct ksym *out);

/* "name+0x1a" (a return address, as in stacks), "name" for data at offset 0, "name+0x8" for data
 * inside; 0x… of 16 digits when not known. Returns buf. */
char *ksyms__format(struct ksyms *ks, uint64_t addr, char *buf, size_t size);
char *ksyms__format_data(struct ksyms *ks, uint64_t addr, char *buf, size_t size);

/* The address of the symbol with exactly this name (suffix included), code or data. -ENOENT: there
 * is none; -ENOTUNIQ: several (the first is stored); -EACCES: addresses are hidden. */
int ksyms__addr(struct ksyms *ks, const char *name, uint64_t *addr);

/* The functions called base, or base with compiler suffixes ("rwsem_wake.isra.0"), without .cold
 * parts: up to max full names are stored, base itself first. Returns how many. Works when addresses
 * are hidden too. */
int ksyms__variants(struct ksyms *ks, const char *base, const char **names, int max);

/* All addresses read as zero (no CAP_SYSLOG, kptr_restrict), or the file could not be read: every
 * lookup by address fails. */
bool ksyms__hidden(struct ksyms *ks);

/* The kernel lists its variables too (CONFIG_KALLSYMS_ALL). */
bool ksyms__has_data(struct ksyms *ks);

/* Why some names are missing, as a sentence without full stop, or NULL when none should be. */
const char *ksyms__why(struct ksyms *ks);

/* Reads the symbols again if modules have come or gone: cheap when not (one read of /proc/modules).
 * Call it once an interval; an unknown address does it by itself. Names given out stay valid. */
void ksyms__refresh(struct ksyms *ks);

#endif
