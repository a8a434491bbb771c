// SPDX-License-Identifier: GPL-2.0
#include "model/kinds.h"

#include <string.h>

#include "util/cleanup.h"

static const char *const kinds[LB_KIND_N] = {
	[LB_RWSEM] = "rwsem",	      [LB_MUTEX] = "mutex",	  [LB_PERCPU_RWSEM] = "percpu-rwsem",
	[LB_SEMAPHORE] = "semaphore", [LB_RT_MUTEX] = "rt-mutex", [LB_RWLOCK] = "rwlock",
	[LB_SPINLOCK] = "spinlock",
};

static const char *const modes[] = {[LB_WRITE] = "write", [LB_READ] = "read"};

static const char *const certainties[] = {
	[LB_UNKNOWN] = "unknown",
	[LB_LIKELY] = "likely",
	[LB_AT_LEAST] = "at_least",
	[LB_EXACT] = "exact",
};

const char *kind_name(unsigned int kind)
{
	return kind < ARRAY_SIZE(kinds) ? kinds[kind] : "?";
}

const char *mode_name(unsigned int mode)
{
	return mode < ARRAY_SIZE(modes) ? modes[mode] : "?";
}

const char *certainty_name(unsigned int c)
{
	return c < ARRAY_SIZE(certainties) ? certainties[c] : "?";
}

int kind_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i], name))
			return (int)i;
	return -1;
}
