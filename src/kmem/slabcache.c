// SPDX-License-Identifier: GPL-2.0
#include "kmem/slabcache.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdlib.h>

#include "peekslab.skel.h"

struct slabcache {
	struct peekslab_bpf *skel;
	bool failed;
};

struct slabcache *slabcache__new(void)
{
	return calloc(1, sizeof(struct slabcache));
}

void slabcache__free(struct slabcache *s)
{
	if (!s)
		return;
	peekslab_bpf__destroy(s->skel);
	free(s);
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return 0;
}

static bool ensure(struct slabcache *s)
{
	libbpf_print_fn_t old;

	if (s->skel || s->failed)
		return !s->failed;
	s->failed = true;
	old = libbpf_set_print(quiet);
	s->skel = peekslab_bpf__open_and_load();
	libbpf_set_print(old);
	s->failed = !s->skel || !s->skel->bss;
	return !s->failed;
}

int slabcache__of(struct slabcache *s, uint64_t addr, uint64_t *cache)
{
	__u64 args[2] = {addr, 0};
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = sizeof(args));

	if (!ensure(s))
		return 0;
	if (bpf_prog_test_run_opts(bpf_program__fd(s->skel->progs.peek_slab), &o))
		return 0;
	*cache = s->skel->bss->slab_cache;
	return 1;
}
