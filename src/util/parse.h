/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_UTIL_PARSE_H
#define LOCKBLAME_UTIL_PARSE_H

#include <stdint.h>

/* The only place where user text becomes numbers. Every function takes the whole string (trailing
 * text is an error), returns 0 or -EINVAL / -ERANGE, and leaves *out untouched on failure. */

/* Unsigned decimal, or hexadecimal after 0x, between min and max inclusive. */
int parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out);

/* Duration in nanoseconds: a decimal number, a fraction allowed, with a unit ns us ms s m h. A bare
 * number is taken in units of bare_unit ns (1000000000 for seconds); bare_unit 0 insists on a unit.
 * Negative durations and those over 2^62 ns are errors. */
int parse_duration(const char *s, uint64_t bare_unit, uint64_t *out);

/* A size: a number with optional k, M, G (powers of 1024). */
int parse_size(const char *s, uint64_t *out);

#endif
