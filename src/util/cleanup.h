/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_UTIL_CLEANUP_H
#define LOCKBLAME_UTIL_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Scope-bound ownership. A variable marked with one of these is released on every way out of the
 * block; give it away with take_ptr() / take_fd(). */
static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define __free_ptr __attribute__((cleanup(cleanup_free)))
#define __close_fd __attribute__((cleanup(cleanup_close)))
#define __close_file __attribute__((cleanup(cleanup_fclose)))

#define take_ptr(p)                                                                                \
	({                                                                                         \
		__auto_type taken_ = (p);                                                          \
		(p) = NULL;                                                                        \
		taken_;                                                                            \
	})
#define take_fd(fd)                                                                                \
	({                                                                                         \
		int taken_ = (fd);                                                                 \
		(fd) = -1;                                                                         \
		taken_;                                                                            \
	})

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
