/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_PEEKTYPES_BPF_H
#define LOCKBLAME_PEEKTYPES_BPF_H

/* The peek programs know no kernel structure at build time and must not: without a CO-RE relocation
 * libbpf has no reason to parse the kernel's BTF for them, so that they load in 3 ms. These are the
 * few types that bpf_helpers.h wants. */
typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;
typedef __u16 __sum16;

#include <bpf/bpf_helpers.h>

#include "lockblame/peek.h"

#endif
