/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_MODEL_KINDS_H
#define LOCKBLAME_MODEL_KINDS_H

#include "lockblame/abi.h"

/* The words for kinds, modes and certainty that every output uses. Out-of-range values give "?". */
const char *kind_name(unsigned int kind);	/* "rwsem", "mutex", ... */
const char *mode_name(unsigned int mode);	/* "write", "read" */
const char *certainty_name(unsigned int c);	/* "unknown", "likely", "at_least", "exact" */

/* The kind called name, or -1. */
int kind_by_name(const char *name);

#endif
