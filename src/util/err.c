// SPDX-License-Identifier: GPL-2.0
#include "util/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return code;
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	return code;
}

int err_errno(struct err *e, int code, const char *fmt, ...)
{
	size_t len;
	va_list ap;

	if (!e)
		return code;
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	len = strlen(e->msg);
	snprintf(e->msg + len, sizeof(e->msg) - len, ": %s", strerror(code < 0 ? -code : code));
	return code;
}

int err_wrap(struct err *e, int code, const char *fmt, ...)
{
	char inner[sizeof(e->msg)];
	size_t len;
	va_list ap;

	if (!e)
		return code;
	memcpy(inner, e->msg, sizeof(inner));
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	len = strlen(e->msg);
	snprintf(e->msg + len, sizeof(e->msg) - len, ": %s", inner);
	return code;
}
