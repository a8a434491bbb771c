// SPDX-License-Identifier: GPL-2.0
#include "util/parse.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"

int parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	unsigned long long v;
	char *end;
	int base = 10;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		if (!isxdigit((unsigned char)s[2]))
			return -EINVAL;
	} else if (!isdigit((unsigned char)s[0])) {
		return -EINVAL;
	}
	errno = 0;
	v = strtoull(s, &end, base);
	if (*end)
		return -EINVAL;
	if (errno || v < min || v > max)
		return -ERANGE;
	*out = v;
	return 0;
}

/* A plain decimal with an optional fraction; strtod alone would let through signs, hexadecimal
 * floats, "inf" and "nan". */
static int parse_decimal(const char *s, double *v, const char **unit)
{
	size_t digits = strspn(s, "0123456789.");
	char *end;

	if (!isdigit((unsigned char)s[0]))
		return -EINVAL;
	*v = strtod(s, &end);
	if (end != s + digits)
		return -EINVAL;
	*unit = end;
	return 0;
}

int parse_duration(const char *s, uint64_t bare_unit, uint64_t *out)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9},
	};
	double v, scale = 0;
	const char *unit;
	int r;

	r = parse_decimal(s, &v, &unit);
	if (r)
		return r;
	if (!*unit)
		scale = (double)bare_unit;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(unit, units[i].name))
			scale = units[i].ns;
	if (scale == 0)
		return -EINVAL;
	v *= scale;
	if (v > (double)(1ULL << 62))
		return -ERANGE;
	*out = (uint64_t)llround(v);
	return 0;
}

int parse_size(const char *s, uint64_t *out)
{
	double v, scale;
	const char *unit;
	int r;

	r = parse_decimal(s, &v, &unit);
	if (r)
		return r;
	switch (*unit) {
	case '\0':
		scale = 1;
		break;
	case 'k':
	case 'K':
		scale = 1024;
		break;
	case 'M':
		scale = 1024 * 1024;
		break;
	case 'G':
		scale = 1024.0 * 1024 * 1024;
		break;
	default:
		return -EINVAL;
	}
	if (*unit && unit[1])
		return -EINVAL;
	v *= scale;
	if (v > (double)(1ULL << 62))
		return -ERANGE;
	*out = (uint64_t)v;
	return 0;
}
