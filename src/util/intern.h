/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_UTIL_INTERN_H
#define LOCKBLAME_UTIL_INTERN_H

/* A pool of strings: equal text, equal pointer. */
struct intern;

struct intern *intern__new(void);
void intern__free(struct intern *p);
/* Never NULL: when memory runs out the answer is "?". s NULL gives NULL. */
const char *intern__get(struct intern *p, const char *s);

#endif
