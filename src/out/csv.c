// SPDX-License-Identifier: GPL-2.0
#include "out/csv.h"

#include <string.h>

void csv__field(struct out *o, unsigned int column, const char *value)
{
	if (column)
		out__putc(o, ',');
	if (!value)
		return;
	if (!strpbrk(value, ",\"\r\n")) {
		out__puts(o, value);
		return;
	}
	out__putc(o, '"');
	for (; *value; value++) {
		if (*value == '"')
			out__putc(o, '"');
		out__putc(o, *value);
	}
	out__putc(o, '"');
}

void csv__end(struct out *o)
{
	out__puts(o, "\r\n");
}

void csv__row(struct out *o, const char *const *cells, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		csv__field(o, i, cells[i]);
	csv__end(o);
}
