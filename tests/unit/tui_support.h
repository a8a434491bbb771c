/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TESTS_UNIT_TUI_SUPPORT_H
#define TESTS_UNIT_TUI_SUPPORT_H

#include "support.h"

#include "model/table.h"
#include "tui/key.h"
#include "tui/screen.h"

#define SECOND 1000000000ULL

/* Names for tests: lock 1 is "lock-1", stack 7 has site "site_7", and raw frames that of their
 * first. */
static inline const char *name_n(const char *what, uint64_t n)
{
	static char pool[64][32];
	static int used;
	char buf[32];

	snprintf(buf, sizeof(buf), "%s%llu", what, (unsigned long long)n);
	for (int i = 0; i < used; i++)
		if (!strcmp(pool[i], buf))
			return pool[i];
	assert_true(used < 64);
	memcpy(pool[used], buf, sizeof(buf));
	return pool[used++];
}

static inline const char *t_site(void *ctx, int32_t id)
{
	return id < 0 ? NULL : name_n("site_", (uint64_t)id);
}

static inline const char *t_site_of(void *ctx, const uint64_t *f, unsigned int n)
{
	return n ? name_n("site_", f[0]) : NULL;
}

static inline const char *t_identity(void *ctx, uint64_t lock, unsigned int kind, uint32_t tgid)
{
	return name_n("lock-", lock);
}

static inline const char *t_class(void *ctx, uint64_t lock, unsigned int kind, uint32_t tgid)
{
	return "class";
}

static inline uint64_t t_lock_of(void *ctx, uint64_t lock, unsigned int kind, uint32_t tgid)
{
	return lock;
}

static const struct table_names test_names = {
	.site = t_site,
	.site_of = t_site_of,
	.identity = t_identity,
	.first_name = t_identity,
	.lock_class = t_class,
	.lock_of = t_lock_of,
};

/* A table by lock of these rows, given to the screen. */
static inline void show(struct screen *s, const struct row *rows, size_t n)
{
	struct table t = {.by = screen__view(s)->by, .seconds = 1, .n_rows = n};

	t.rows = calloc(n + 1, sizeof(*rows));
	assert_non_null(t.rows);
	if (n)
		memcpy(t.rows, rows, n * sizeof(*rows));
	screen__set_table(s, &t);
}

static inline void keys(struct screen *s, const char *text)
{
	for (; *text; text++)
		screen__key(s, (unsigned char)*text);
}

static inline const char *find_line(const struct lines *l, const char *text)
{
	for (size_t i = 0; i < l->n; i++)
		if (strstr(l->line[i].text, text))
			return l->line[i].text;
	return NULL;
}

#endif
