// SPDX-License-Identifier: GPL-2.0
#include "collect/tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/cleanup.h"

/* One hash of the kernel. */
struct table {
	int fd;
	size_t key_size, val_size;
	uint32_t max_entries; /* 0: rows are never taken out */
	char *last; /* the rows of the last read, to see which are idle */
	size_t n_last;
};

struct tables {
	struct table sets[SET_N];
	int stats_fd, n_cpus;
	struct lb_stats *per_cpu;
};

static size_t row_size(const struct table *t)
{
	return t->key_size + t->val_size;
}

struct tables *tables__new(const int fds[SET_N], int stats_fd, uint32_t max_entries)
{
	struct tables *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	for (int i = 0; i < SET_N; i++) {
		const struct snapshot_set_info *info = snapshot__set((enum snapshot_set)i);

		t->sets[i] = (struct table){.fd = fds[i],
					    .key_size = info->key_size,
					    .val_size = info->size - info->key_size,
					    .max_entries = info->gauge ? 0 : max_entries};
	}
	t->stats_fd = stats_fd;
	t->n_cpus = libbpf_num_possible_cpus();
	t->per_cpu = t->n_cpus > 0 ? calloc((size_t)t->n_cpus, sizeof(*t->per_cpu)) : NULL;
	if (!t->per_cpu) {
		free(t);
		return NULL;
	}
	return t;
}

void tables__free(struct tables *t)
{
	if (!t)
		return;
	for (int i = 0; i < SET_N; i++)
		free(t->sets[i].last);
	free(t->per_cpu);
	free(t);
}

/* Growing array of rows. */
struct rows {
	char *p;
	size_t n, cap;
};

static char *rows_more(struct rows *r, size_t row, size_t n)
{
	if (r->n + n > r->cap) {
		size_t cap = (r->n + n) * 2;
		char *p = realloc(r->p, cap * row);

		if (!p)
			return NULL;
		r->p = p;
		r->cap = cap;
	}
	return r->p + r->n * row;
}

static int add_row(struct table *t, struct rows *r, const void *key, const void *val)
{
	char *p = rows_more(r, row_size(t), 1);

	if (!p)
		return -ENOMEM;
	memcpy(p, key, t->key_size);
	memcpy(p + t->key_size, val, t->val_size);
	r->n++;
	return 0;
}

/* Key by key, for kernels without batches. A row deleted under us only ends the walk early, and nobody
 * but us deletes. */
static int read_singly(struct table *t, struct rows *r)
{
	char key[64], next[64], val[512];
	void *prev = NULL;
	int ret;

	while (!bpf_map_get_next_key(t->fd, prev, next)) {
		memcpy(key, next, t->key_size);
		prev = key;
		if (bpf_map_lookup_elem(t->fd, key, val))
			continue;
		ret = add_row(t, r, key, val);
		if (ret)
			return ret;
	}
	return 0;
}

#define BATCH 512

static int read_batches(struct table *t, struct rows *r)
{
	__free_ptr char *keys = malloc(BATCH * t->key_size);
	__free_ptr char *vals = malloc(BATCH * t->val_size);
	LIBBPF_OPTS(bpf_map_batch_opts, opts);
	char cursor[64];
	bool first = true, end = false;
	uint32_t n, room = BATCH;

	if (!keys || !vals)
		return -ENOMEM;
	while (!end) {
		n = room;
		if (bpf_map_lookup_batch(t->fd, first ? NULL : cursor, cursor, keys, vals, &n, &opts)) {
			/* A bucket that holds more than the buffer: read on singly. */
			if (errno != ENOENT)
				return -errno;
			end = true;
		}
		first = false;
		for (uint32_t i = 0; i < n; i++)
			if (add_row(t, r, keys + i * t->key_size, vals + i * t->val_size))
				return -ENOMEM;
	}
	return 0;
}

/* qsort has no context argument; nobody sorts two tables at once. */
static size_t cmp_size;

static int cmp_rows(const void *a, const void *b)
{
	return memcmp(a, b, cmp_size);
}

static void swap_rows(char *a, char *b, size_t row)
{
	char tmp[512];

	memcpy(tmp, a, row);
	memcpy(a, b, row);
	memcpy(b, tmp, row);
}

/* Takes the row at p out of the kernel and puts its last value there. Read and deleted in one step where
 * the kernel can, so that no update falls between. */
static bool take_out(struct table *t, char *p)
{
	char val[512];

	if (bpf_map_lookup_and_delete_elem(t->fd, p, val) &&
	    (bpf_map_lookup_elem(t->fd, p, val) || bpf_map_delete_elem(t->fd, p)))
		return false;
	memcpy(p + t->key_size, val, t->val_size);
	return true;
}

/* When three quarters of the table are in use, idle rows (unchanged since the last read) leave the
 * kernel. They move to the end of r: what is left of it stays live. Returns how many are live. */
static size_t make_room(struct table *t, struct rows *r)
{
	size_t row = row_size(t), live = r->n;

	if (!t->max_entries || r->n < (size_t)t->max_entries * 3 / 4 || !t->last)
		return live;
	cmp_size = t->key_size;
	qsort(t->last, t->n_last, row, cmp_rows);
	for (size_t i = 0; i < live;) {
		char *p = r->p + i * row;
		char *old = bsearch(p, t->last, t->n_last, row, cmp_rows);

		if (!old || memcmp(old, p, row) || !take_out(t, p)) {
			i++;
			continue;
		}
		live--;
		if (i != live)
			swap_rows(p, r->p + live * row, row);
	}
	return live;
}

/* The rows that stay live are remembered, to see at the next read which were idle. */
static int remember(struct table *t, const struct rows *r, size_t live)
{
	size_t row = row_size(t);
	char *p = realloc(t->last, live * row + 1);

	if (!p)
		return -ENOMEM;
	if (live)
		memcpy(p, r->p, live * row);
	t->last = p;
	t->n_last = live;
	return 0;
}

static int read_table(struct table *t, struct rows *r, size_t *live)
{
	int ret = read_batches(t, r);

	if (ret && ret != -ENOMEM) {
		r->n = 0;
		ret = read_singly(t, r);
	}
	if (ret)
		return ret;
	*live = make_room(t, r);
	return remember(t, r, *live);
}

int tables__add_stats(struct tables *t, struct lb_stats *sum)
{
	const uint32_t zero = 0;
	uint64_t *out = (uint64_t *)sum;

	if (bpf_map_lookup_elem(t->stats_fd, &zero, t->per_cpu))
		return -errno;
	for (int cpu = 0; cpu < t->n_cpus; cpu++) {
		const uint64_t *in = (const uint64_t *)&t->per_cpu[cpu];

		for (size_t i = 0; i < sizeof(*sum) / sizeof(*out); i++)
			out[i] += in[i];
	}
	return 0;
}

int tables__read(struct tables *t, struct snapshot *s, struct err *e)
{
	int r = 0;

	for (int i = 0; i < SET_N && !r; i++) {
		struct rows rows = {0};

		if (t->sets[i].fd < 0)
			continue;
		r = read_table(&t->sets[i], &rows, &s->cells[i].live);
		s->cells[i].p = rows.p;
		s->cells[i].n = rows.n;
	}
	if (!r)
		r = tables__add_stats(t, &s->stats);
	return r ? err_errno(e, r, "cannot read the kernel's tables") : 0;
}

int tables__read_now(int iter_link_fd, struct snapshot *s, struct err *e)
{
	struct rows rows = {0};
	__close_fd int fd = bpf_iter_create(iter_link_fd);
	size_t used = 0;
	ssize_t n;

	if (fd < 0)
		return err_errno(e, -errno, "cannot read the waits in progress");
	/* Records can be cut between two reads; count bytes, not records. */
	for (;;) {
		char *p = rows_more(&rows, 1, 65536);

		if (!p) {
			free(rows.p);
			return err_set(e, -ENOMEM, "out of memory");
		}
		n = read(fd, p, 65536);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0)
			break;
		rows.n += (size_t)n;
	}
	used = rows.n / sizeof(struct lb_now);
	s->now = (struct lb_now *)(void *)rows.p;
	s->n_now = used;
	return 0;
}
