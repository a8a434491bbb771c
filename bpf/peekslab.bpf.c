// SPDX-License-Identifier: GPL-2.0
/* Asks the kernel which slab cache an address belongs to (6.13+). Run with BPF_PROG_TEST_RUN. */
#include "peektypes.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct args {
	__u64 arg[2];
};

/* A complete type, or libbpf finds the prototype different from the kernel's. */
struct kmem_cache {
};

extern struct kmem_cache *bpf_get_kmem_cache(__u64 addr) __ksym;

__u64 slab_cache;

/* arg[0]: the address. */
SEC("raw_tp")
int peek_slab(struct args *ctx)
{
	slab_cache = (__u64)bpf_get_kmem_cache(ctx->arg[0]);
	return 0;
}
