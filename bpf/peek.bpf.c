// SPDX-License-Identifier: GPL-2.0
/* Reads kernel memory for user space. Neither program is attached anywhere: user space runs them
 * with BPF_PROG_TEST_RUN and finds what they read in the memory-mapped .bss. */
#include "peektypes.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct args {
	__u64 arg[2];
};

struct peek_req peek_req[PEEK_BATCH];
unsigned char peek_slot[PEEK_BATCH][PEEK_SLOT];
unsigned char peek_bulk[PEEK_BULK];
int peek_bulk_err;
__u64 peek_current; /* the caller's task_struct */

/* arg[0]: how many of peek_req[] to serve; 0 asks for peek_current. */
SEC("raw_tp")
int peek_batch(struct args *ctx)
{
	__u64 n = ctx->arg[0];

	if (!n)
		peek_current = bpf_get_current_task();
	for (__u32 i = 0; i < PEEK_BATCH; i++) {
		struct peek_req *r = &peek_req[i];
		__u64 len;

		if (i >= n)
			break;
		len = r->len;
		r->err = -7; /* E2BIG */
		if (len > PEEK_SLOT)
			continue;
		r->err = bpf_probe_read_kernel(peek_slot[i], len, (void *)r->addr);
	}
	return 0;
}

/* arg[0]: address, arg[1]: length. */
SEC("raw_tp")
int peek_large(struct args *ctx)
{
	__u64 len = ctx->arg[1];

	peek_bulk_err = -7;
	if (len > PEEK_BULK)
		return 0;
	peek_bulk_err = bpf_probe_read_kernel(peek_bulk, len, (void *)ctx->arg[0]);
	return 0;
}
