// SPDX-License-Identifier: GPL-2.0
#include "out/folded.h"

#include <string.h>

/* ';' ends a frame, a blank the stack. An offset is a plus sign before a number; operators of C++
 * keep theirs. */
static void put_frame(struct out *o, const char *name, bool first)
{
	const char *offset = strstr(name, "+0x");
	size_t len = offset && name[0] != '[' && offset != name ? (size_t)(offset - name)
								  : strlen(name);

	if (!first)
		out__putc(o, ';');
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c == ';')
			out__putc(o, ':');
		else if (c <= ' ' || c == 0x7f)
			out__putc(o, '_');
		else
			out__putc(o, (char)c);
	}
}

/* Returns whether nothing has been printed yet. */
static bool put_stack(struct out *o, const struct folded *f, bool first)
{
	if (f->comm) {
		put_frame(o, f->comm, first);
		first = false;
	}
	for (unsigned int i = f->n_user; i > 0; i--, first = false)
		put_frame(o, f->user[i - 1], first);
	for (unsigned int i = f->n_kernel; i > 0; i--, first = false) {
		put_frame(o, f->kernel[i - 1], first);
		out__puts(o, "_[k]");
	}
	return first;
}

void folded__line(struct out *o, const struct folded *f)
{
	bool first = true;

	if (f->below) {
		first = put_stack(o, f->below, first);
		put_frame(o, "--", first);
		first = false;
	}
	first = put_stack(o, f, first);
	if (f->leaf)
		put_frame(o, f->leaf, first);
	out__printf(o, " %llu\n", (unsigned long long)((f->ns + 500) / 1000));
}
