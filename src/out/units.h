/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_OUT_UNITS_H
#define LOCKBLAME_OUT_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* Numbers for people, in three significant digits. buf needs UNITS_BUF bytes; it is returned. */
#define UNITS_BUF 24

/* "  0 ns" "999 ns" "1.23 us" "12.3 ms" "123 ms" "1.23 s" "999 s", then "16.7 m" and "27.8 h": at most
 * 7 characters up to 999 hours. */
char *units__ns(char *buf, uint64_t ns);

/* "0" "9999" "12.3k" "1.23M" "123G": at most 5 characters. */
char *units__count(char *buf, uint64_t n);

/* "512" "4.00K" "1.50M" "2.00G" (powers of 1024). */
char *units__bytes(char *buf, uint64_t n);

/* "12.3" / "100" per cent of part in whole, "-" when whole is 0. */
char *units__percent(char *buf, uint64_t part, uint64_t whole);

#endif
