// SPDX-License-Identifier: GPL-2.0
#include "tui/lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/text.h"
#include "util/cleanup.h"

static bool make_room(struct lines *l)
{
	size_t room = l->room ? l->room * 2 : 64;
	struct line *p;

	if (l->n < l->room)
		return true;
	p = realloc(l->line, room * sizeof(*p));
	if (!p)
		return false;
	l->line = p;
	l->room = room;
	return true;
}

static void add_text(struct lines *l, unsigned int style, const char *text)
{
	size_t size = strlen(text) + 1;
	char *clean = malloc(size);

	if (!clean || !make_room(l)) {
		free(clean);
		l->failed = true;
		return;
	}
	text__clean(clean, size, text);
	l->line[l->n++] = (struct line){clean, style};
}

void lines__add(struct lines *l, unsigned int style, const char *fmt, ...)
{
	__free_ptr char *text = NULL;
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (r < 0) {
		text = NULL;
		l->failed = true;
		return;
	}
	add_text(l, style, text);
}

/* Bytes of s that fit into width columns, up to a blank where there is one. */
static size_t fitting(const char *s, unsigned int width)
{
	size_t at = 0, blank = 0;
	unsigned int w = 0;

	while (s[at]) {
		int len = text__char_len(s + at);

		w++;
		if (w > width)
			return blank ? blank : at ? at : 1;
		if (s[at] == ' ')
			blank = at;
		at += len > 0 ? (size_t)len : 1;
	}
	return at;
}

void lines__wrap(struct lines *l, unsigned int style, unsigned int width, unsigned int indent,
		 unsigned int max, const char *text)
{
	unsigned int pad = 0;

	while (*text && max--) {
		unsigned int room = width > pad + 8 ? width - pad : 8;
		size_t n = fitting(text, room);

		if (!max && text[n]) {
			__free_ptr char *rest = strdup(text);

			if (rest)
				text__cut(rest, room);
			lines__add(l, style, "%*s%s", (int)pad, "", rest ? rest : text);
			return;
		}
		lines__add(l, style, "%*s%.*s", (int)pad, "", (int)n, text);
		text += n;
		while (*text == ' ')
			text++;
		pad = indent;
	}
}

void lines__clear(struct lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->line[i].text);
	l->n = 0;
	l->failed = false;
}

void lines__fini(struct lines *l)
{
	lines__clear(l);
	free(l->line);
	memset(l, 0, sizeof(*l));
}
