// SPDX-License-Identifier: GPL-2.0
#include "out/units.h"

#include <stdio.h>

#include "util/cleanup.h"

/* v in three significant digits, with a decimal point where it belongs; v is below 999.5. */
static int three_digits(char *buf, double v)
{
	return snprintf(buf, UNITS_BUF, "%.*f", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v);
}

char *units__ns(char *buf, uint64_t ns)
{
	static const struct {
		double ns, top; /* use this unit while the value in it rounds to less than top */
		const char *name;
	} units[] = {
		{1e3, 999.5, "us"}, {1e6, 999.5, "ms"}, {1e9, 999.5, "s"}, {60e9, 99.95, "m"},
		{3600e9, 999.5, "h"},
	};
	double v = (double)ns;
	int n;

	if (ns < 1000) {
		snprintf(buf, UNITS_BUF, "%u ns", (unsigned int)ns);
		return buf;
	}
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (v / units[i].ns >= units[i].top)
			continue;
		n = three_digits(buf, v / units[i].ns);
		snprintf(buf + n, UNITS_BUF - (size_t)n, " %s", units[i].name);
		return buf;
	}
	snprintf(buf, UNITS_BUF, "%.0f h", v / 3600e9);
	return buf;
}

static char *scaled(char *buf, uint64_t value, double step, const char *letters)
{
	double v = (double)value / step;
	int n;

	while (v >= 999.5 && letters[1]) {
		v /= step;
		letters++;
	}
	n = v < 999.5 ? three_digits(buf, v) : snprintf(buf, UNITS_BUF, "%.0f", v);
	snprintf(buf + n, UNITS_BUF - (size_t)n, "%c", *letters);
	return buf;
}

char *units__count(char *buf, uint64_t n)
{
	if (n >= 10000)
		return scaled(buf, n, 1000, "kMGTPE");
	snprintf(buf, UNITS_BUF, "%u", (unsigned int)n);
	return buf;
}

char *units__bytes(char *buf, uint64_t n)
{
	if (n >= 1024)
		return scaled(buf, n, 1024, "KMGTPE");
	snprintf(buf, UNITS_BUF, "%u", (unsigned int)n);
	return buf;
}

char *units__percent(char *buf, uint64_t part, uint64_t whole)
{
	double v = whole ? 100.0 * (double)part / (double)whole : 0;

	if (!whole)
		snprintf(buf, UNITS_BUF, "-");
	else
		snprintf(buf, UNITS_BUF, "%.*f", v < 99.95 ? 1 : 0, v);
	return buf;
}
