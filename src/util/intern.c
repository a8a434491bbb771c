// SPDX-License-Identifier: GPL-2.0
#include "util/intern.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

struct intern {
	void *root; /* tsearch tree of strings */
};

static int cmp(const void *a, const void *b)
{
	return strcmp(a, b);
}

struct intern *intern__new(void)
{
	return calloc(1, sizeof(struct intern));
}

void intern__free(struct intern *p)
{
	if (!p)
		return;
	tdestroy(p->root, free);
	free(p);
}

const char *intern__get(struct intern *p, const char *s)
{
	void *found;
	char *dup;

	if (!s)
		return NULL;
	found = tfind(s, &p->root, cmp);
	if (found)
		return *(char **)found;
	dup = strdup(s);
	if (!dup || !tsearch(dup, &p->root, cmp)) {
		free(dup);
		return "?";
	}
	return dup;
}
