// SPDX-License-Identifier: GPL-2.0
#include "out/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

/* The code point at s and its length; -1: no well-formed UTF-8 begins here. */
static int decode(const char *s, uint32_t *cp)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char c = (unsigned char)s[0];
	int len = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

	if ((c >= 0x80 && c < 0xc2) || c > 0xf4)
		return -1;
	*cp = len == 1 ? c : c & (0xffU >> (len + 1));
	for (int i = 1; i < len; i++) {
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return -1;
		*cp = *cp << 6 | ((unsigned char)s[i] & 0x3f);
	}
	if (*cp < least[len] || *cp > 0x10ffff || (*cp >= 0xd800 && *cp < 0xe000))
		return -1;
	return len;
}

int text__char_len(const char *s)
{
	uint32_t cp;

	return decode(s, &cp);
}

bool text__is_utf8(const char *s)
{
	for (int len; *s; s += len) {
		len = text__char_len(s);
		if (len < 0)
			return false;
	}
	return true;
}

/* C0, DEL, C1, and the marks that turn the direction of a line around. */
static bool is_control(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || (cp >= 0x200b && cp <= 0x200f) ||
	       (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069) || cp == 0xfeff;
}

char *text__clean(char *dst, size_t size, const char *src)
{
	size_t at = 0;

	while (*src && at + 1 < size) {
		uint32_t cp;
		int len = decode(src, &cp);

		if (len < 0 || is_control(cp)) {
			dst[at++] = '?';
			src += len < 0 ? 1 : len;
			continue;
		}
		if (at + (size_t)len >= size)
			break;
		memcpy(dst + at, src, (size_t)len);
		at += (size_t)len;
		src += len;
	}
	dst[at] = '\0';
	return dst;
}

/* Columns of the character at s; *len: its bytes. */
static unsigned int columns_at(const char *s, int *len)
{
	uint32_t cp;
	int w;

	*len = decode(s, &cp);
	if (*len < 0) {
		*len = 1;
		return 1;
	}
	if (cp < 0x7f)
		return 1;
	/* in the C locale wcwidth knows only ASCII */
	w = wcwidth((wchar_t)cp);
	return w < 0 ? 1 : (unsigned int)w;
}

unsigned int text__width(const char *s)
{
	unsigned int w = 0;
	int len;

	for (; *s; s += len)
		w += columns_at(s, &len);
	return w;
}

unsigned int text__cut(char *s, unsigned int width)
{
	unsigned int w = 0, keep_w = 0;
	char *keep = s; /* where the mark goes when the rest does not fit */
	int len;

	for (char *p = s; *p; p += len) {
		unsigned int c = columns_at(p, &len);

		if (w + c > width) {
			if (width) {
				keep[0] = '+';
				keep[1] = '\0';
				return keep_w + 1;
			}
			*s = '\0';
			return 0;
		}
		w += c;
		if (w < width) {
			keep = p + len;
			keep_w = w;
		}
	}
	return w;
}

static void pad(struct out *o, unsigned int n)
{
	while (n--)
		out__putc(o, ' ');
}

/* Returns the columns it took. */
static unsigned int one_cell(struct out *o, const struct text_col *col, const char *text,
			     unsigned int room, bool last)
{
	char cell[1024];
	unsigned int w, fill;

	text__clean(cell, sizeof(cell), text && *text ? text : "-");
	w = text__width(cell);
	if (col->align == TEXT_LEFT && room && w > room)
		w = text__cut(cell, room);
	fill = w < room ? room - w : 0;
	if (col->align == TEXT_RIGHT)
		pad(o, fill);
	out__puts(o, cell);
	if (col->align == TEXT_LEFT && !last)
		pad(o, fill);
	return w + fill;
}

/* The columns left for a last column that takes what there is; 0: no limit. A terminal that is too
 * narrow wraps, which is better than a name of three letters. */
static unsigned int what_is_left(unsigned int used, unsigned int width)
{
	if (!width)
		return 0;
	return width > used + 8 ? width - used : 8;
}

void text__row(struct out *o, const struct text_col *cols, const char *const *cells, unsigned int n,
	       unsigned int width)
{
	unsigned int used = 0;

	for (unsigned int i = 0; i < n; i++) {
		bool last = i + 1 == n;
		unsigned int room = cols[i].width;

		if (i) {
			out__putc(o, ' ');
			used++;
		}
		if (last && !room)
			room = what_is_left(used, width);
		used += one_cell(o, &cols[i], cells[i], room, last);
	}
	out__putc(o, '\n');
}

void text__header(struct out *o, const struct text_col *cols, unsigned int n, unsigned int width)
{
	const char *titles[64];

	if (n > 64)
		n = 64;
	for (unsigned int i = 0; i < n; i++)
		titles[i] = cols[i].title;
	text__row(o, cols, titles, n, width);
}
