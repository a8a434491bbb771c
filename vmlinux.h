/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

/* The whole kernel surface that the BPF programs lean on. Only the members that are used are named:
 * preserve_access_index makes libbpf look up their real offsets in the running kernel's BTF. Building
 * therefore needs no kernel headers and no BTF of the build machine. A type of another kernel version
 * is written as NAME___what_changed; compat.bpf.h chooses between them. */

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u8 u8;
typedef __u16 u16;
typedef __s32 s32;
typedef __u32 u32;
typedef __s64 s64;
typedef __u64 u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
enum { false = 0, true = 1 };

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_STACK_TRACE = 7,
	BPF_MAP_TYPE_CGROUP_ARRAY = 8,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1,
	BPF_F_USER_STACK = 256,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	s64 counter;
} atomic64_t;

typedef atomic64_t atomic_long_t;

struct rw_semaphore {
	atomic_long_t count;
	atomic_long_t owner;
};

struct mm_struct {
	struct rw_semaphore mmap_lock;
};

struct task_struct {
	int pid;
	int tgid;
	struct mm_struct *mm;
	void *bpf_storage;
	char comm[16];
};

struct mutex {
	atomic_long_t owner;
};

struct rt_mutex_base {
	struct task_struct *owner;
};

/* PREEMPT_RT: an rw_semaphore is a reader count and an rt_mutex. */
struct rwbase_rt {
	struct rt_mutex_base rtmutex;
};

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

/* The registers a kprobe finds its arguments and result in (bpf_tracing.h names them). */
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
} __attribute__((preserve_access_index));
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	u64 regs[31], sp, pc, pstate;
} __attribute__((preserve_access_index));
struct pt_regs {
	struct user_pt_regs user_regs;
} __attribute__((preserve_access_index));
#endif

#endif
