// SPDX-License-Identifier: GPL-2.0
/* What stands in front of the kernel's text. No list of whole formats: the parts come in any combination
 * (a quoted mail with a syslog with the printk time in it), so parts are taken off as long as one fits. */
#include "klog/line.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *blanks(const char *p)
{
	return p + strspn(p, " \t");
}

static const char *digits(const char *p)
{
	return p + strspn(p, "0123456789");
}

/* Removes ANSI sequences, carriage returns and control characters (a tab becomes a blank). */
static void clean(char *s)
{
	char *to = s;

	for (const char *p = s; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == 0x1b && p[1] == '[') {
			const char *end = p + 2 + strspn(p + 2, "0123456789;?");

			if (!*end)
				break;
			p = end;
			continue;
		}
		if (c == '\t')
			*to++ = ' ';
		else if (c >= ' ' && c != 0x7f)
			*to++ = (char)c;
	}
	while (to > s && to[-1] == ' ')
		to--;
	*to = '\0';
}

static void set_when(struct klog_line *l, const char *from, size_t len)
{
	while (len && from[len - 1] == ' ')
		len--;
	if (len && len < sizeof(l->when) && !l->when[0])
		snprintf(l->when, sizeof(l->when), "%.*s", (int)len, from);
}

/* "[  123.456789]", "[  240.]", "[  +0.000015]", "[Sat Jun  1 17:40:26 2019]", "[Dec 5 12:42]",
 * "[  T55]", "[    C2]", "[  123.456789,3]", "[pid:123,cpu0,...]" is left alone. NULL: not one. */
static const char *bracket(const char *p, struct klog_line *l)
{
	const char *q = blanks(p + 1), *close, *num;

	close = strchr(q, ']');
	if (*p != '[' || !close || close - p > 36)
		return NULL;
	if ((*q == 'T' || *q == 'C') && isdigit((unsigned char)q[1])) {
		if (*blanks(digits(q + 1)) != ']')
			return NULL;
		*(*q == 'T' ? &l->caller : &l->caller_cpu) = (int)strtoul(q + 1, NULL, 10);
		return close + 1;
	}
	num = *q == '+' ? q + 1 : q;
	if (isdigit((unsigned char)*num) && *digits(num) == '.') {
		const char *end = digits(digits(num) + 1);

		if (*blanks(end) != ']' && *end != ',' && *end != '@')
			return NULL;
		if (*q != '+')
			l->time = strtod(num, NULL);
		return close + 1;
	}
	/* a date: letters first, a colon of the time of day later */
	if (isupper((unsigned char)*q) && islower((unsigned char)q[1]) && memchr(q, ':', (size_t)(close - q)) &&
	    memchr(q, ' ', (size_t)(close - q)) && !memmem(q, (size_t)(close - q), "+0x", 3)) {
		set_when(l, q, (size_t)(close - q));
		return close + 1;
	}
	return NULL;
}

/* "<4>", "<4>[...": a level; "3,1234,5678,-;text": a record of /dev/kmsg. */
static const char *level(const char *p, struct klog_line *l)
{
	const char *q, *us;

	if (*p == '<') {
		q = digits(p + 1);
		return q > p + 1 && q - p <= 4 && *q == '>' ? q + 1 : NULL;
	}
	q = digits(p);
	if (q == p || *q != ',')
		return NULL;
	us = digits(q + 1);
	if (us == q + 1 || *us != ',' || !isdigit((unsigned char)us[1]))
		return NULL;
	q = strchr(us, ';');
	if (!q || q - p > 96)
		return NULL;
	l->time = strtod(us + 1, NULL) / 1e6;
	return q + 1;
}

static bool is_clock(const char *p)
{
	return isdigit((unsigned char)p[0]) && isdigit((unsigned char)p[1]) && p[2] == ':' &&
	       isdigit((unsigned char)p[3]) && isdigit((unsigned char)p[4]);
}

/* "2026-01-31T12:00:00.123456+01:00", also with a blank or commas (dmesg --time-format iso, docker). */
static const char *iso_date(const char *p, struct klog_line *l)
{
	const char *q = p;

	if (!isdigit((unsigned char)*p) || digits(p) != p + 4 || p[4] != '-' || digits(p + 5) != p + 7 ||
	    p[7] != '-' || digits(p + 8) != p + 10)
		return NULL;
	q = p + 10;
	if ((*q != 'T' && *q != ' ') || !is_clock(q + 1))
		return NULL;
	q++;
	q += strspn(q, "0123456789:.,");
	if (*q == 'Z')
		q++;
	else if ((*q == '+' || *q == '-') && isdigit((unsigned char)q[1]))
		q = q + 1 + strspn(q + 1, "0123456789:");
	set_when(l, p, (size_t)(q - p));
	return q;
}

/* "Mar  5 03:41:22 " of syslog and journalctl; months may be in any language and case. */
static const char *short_date(const char *p, struct klog_line *l)
{
	const char *q = p, *day;

	if (!isalpha((unsigned char)*p) && (unsigned char)*p < 0x80)
		return NULL;
	while (*q && *q != ' ' && q - p < 12)
		q++;
	day = blanks(q);
	if (day == q || digits(day) == day || digits(day) > day + 2)
		return NULL;
	q = blanks(digits(day));
	if (!is_clock(q))
		return NULL;
	q += strspn(q, "0123456789:.,");
	set_when(l, p, (size_t)(q - p));
	return q;
}

/* "kern  :err   : " of dmesg -x */
static const char *facility(const char *p)
{
	const char *q = p;

	while (islower((unsigned char)*q) || isdigit((unsigned char)*q))
		q++;
	if (q == p || q - p > 8)
		return NULL;
	q = blanks(q);
	if (*q++ != ':')
		return NULL;
	for (p = q; islower((unsigned char)*q);)
		q++;
	if (q == p || q - p > 7)
		return NULL;
	q = blanks(q);
	return *q == ':' && q[1] == ' ' ? q + 1 : NULL;
}

/* "host kernel: ", "kernel[123]: ", "host kernel - - - " after a date, at most a few words on. */
static const char *program(const char *p)
{
	const char *k = strstr(p, "kernel"), *q;

	if (!k || k - p > 90 || (k > p && k[-1] != ' ' && k[-1] != '|'))
		return NULL;
	for (q = p; q < k; q++)
		if (*q == '[' || *q == '+')
			return NULL;
	q = k + 6;
	if (*q == '[')
		q = digits(q + 1) + (*digits(q + 1) == ']');
	if (*q == ':')
		return q + 1;
	if (*q == ' ' && q[1] == '-') { /* RFC 5424 */
		q += strspn(q, " -");
		return q;
	}
	return NULL;
}

/* "003: " after the time: the CPU, on kernels with the RT patches of old. "web_1  | " of docker compose. */
static const char *odd(const char *p, const struct klog_line *l)
{
	const char *q;

	if (l->time >= 0 && digits(p) == p + 3 && p[3] == ':' && p[4] == ' ')
		return p + 4;
	q = p;
	while (isalnum((unsigned char)*q) || *q == '_' || *q == '-' || *q == '.')
		q++;
	if (q > p && q - p < 40 && *blanks(q) == '|' && blanks(q)[1] == ' ')
		return blanks(q) + 1;
	return NULL;
}

static const char *quote(const char *p)
{
	return (*p == '>' || *p == '|') && p[1] && strchr(" >|[<\t", p[1]) ? p + 1 : NULL;
}

static const char *strip(const char *p, struct klog_line *l)
{
	const char *q;

	for (int i = 0; i < 16; i++) {
		p = blanks(p);
		q = quote(p);
		if (q) {
			p = q;
			continue;
		}
		q = bracket(p, l);
		if (!q)
			q = level(p, l);
		if (!q)
			q = iso_date(p, l);
		if (!q)
			q = short_date(p, l);
		if (!q)
			q = facility(p);
		if (!q && (l->when[0] || !strncmp(p, "kernel:", 7)))
			q = program(p);
		if (!q)
			q = odd(p, l);
		if (!q)
			break;
		l->prefixed = true;
		p = q;
	}
	return blanks(p);
}

/* --- journalctl -o json --- */

static int hex4(const char *p)
{
	int v = 0;

	for (int i = 0; i < 4; i++) {
		if (!isxdigit((unsigned char)p[i]))
			return -1;
		v = 16 * v + (isdigit((unsigned char)p[i]) ? p[i] - '0' : (p[i] | 0x20) - 'a' + 10);
	}
	return v;
}

static char *put_utf8(char *to, int c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 0x3f));
	} else {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	}
	return to;
}

/* A string behind its opening quote, unescaped in place; it ends where it ends. */
static void unescape(char *s)
{
	char *to = s;

	for (const char *p = s; *p && *p != '"'; p++) {
		if (*p != '\\') {
			*to++ = *p;
			continue;
		}
		p++;
		if (!*p)
			break;
		if (*p == 'u' && hex4(p + 1) >= 0) {
			int c = hex4(p + 1);

			to = put_utf8(to, c ? c : ' ');
			p += 4;
		} else {
			*to++ = *p == 't' || *p == 'n' || *p == 'r' ? ' ' : *p;
		}
	}
	*to = '\0';
}

/* journalctl writes a message that is no UTF-8 as a list of bytes. */
static void byte_list(char *s)
{
	const char *p = s;
	char *to = s;

	while (*p && *p != ']') {
		unsigned long v;

		p += strspn(p, ", ");
		if (!isdigit((unsigned char)*p))
			break;
		v = strtoul(p, NULL, 10);
		p = digits(p);
		*to++ = v && v < 256 ? (char)v : ' ';
	}
	*to = '\0';
}

static const char *json_member(const char *s, const char *name)
{
	const char *p = s;
	size_t len = strlen(name);

	while ((p = strstr(p, name))) {
		if (p > s && p[-1] == '"' && p[len] == '"') {
			p = blanks(p + len + 1);
			if (*p == ':')
				return blanks(p + 1);
		}
		p += len;
	}
	return NULL;
}

static char *from_json(char *s, struct klog_line *l)
{
	const char *t = json_member(s, "_SOURCE_MONOTONIC_TIMESTAMP");
	const char *m = json_member(s, "MESSAGE");
	char *text;

	if (!m || (*m != '"' && *m != '['))
		return s;
	if (t && *t == '"')
		l->time = strtod(t + 1, NULL) / 1e6;
	l->json = l->prefixed = true;
	text = s + (m + 1 - s);
	if (*m == '"')
		unescape(text);
	else
		byte_list(text);
	clean(text);
	return text;
}

/* Mail programs make blanks that do not break out of blanks. Two bytes become two blanks. */
static void plain_blanks(char *raw, size_t len)
{
	for (char *p = raw; (p = memmem(p, len - (size_t)(p - raw), "\xc2\xa0", 2));)
		p[0] = p[1] = ' ';
}

void klog_line__parse(char *raw, size_t len, struct klog_line *out)
{
	char *p = raw;

	plain_blanks(raw, len);
	memset(out, 0, sizeof(*out));
	out->time = -1;
	out->caller = out->caller_cpu = -1;
	for (size_t i = 0; i < len; i++)
		if (!raw[i])
			raw[i] = ' ';
	raw[len] = '\0';
	clean(raw);
	if (*p == '{')
		p = from_json(raw, out);
	out->text = p + (strip(p, out) - p);
}
