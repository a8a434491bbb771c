// SPDX-License-Identifier: GPL-2.0
#include "collect/kernel.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/parse.h"

#define FENTRY_TRIAL "rwsem_down_read_slowpath"
#define FENTRY_TRIAL_RT "down_read" /* PREEMPT_RT has no such slow path */

static bool has_cap(unsigned int cap)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {0};

	if (syscall(SYS_capget, &h, d))
		return true; /* cannot tell: let the load decide */
	return d[cap / 32].effective & (1u << (cap % 32));
}

const char *kernel__missing_caps(void)
{
	bool bpf = has_cap(39 /* CAP_BPF */), perfmon = has_cap(38 /* CAP_PERFMON */);

	/* Before the two were split off, CAP_SYS_ADMIN was both; it still is. */
	if (has_cap(21 /* CAP_SYS_ADMIN */) || (bpf && perfmon))
		return NULL;
	if (bpf)
		return "CAP_PERFMON";
	return perfmon ? "CAP_BPF" : "CAP_BPF and CAP_PERFMON";
}

int kernel__func_args(const struct kernel *k, const char *func)
{
	int id = btf__find_by_name_kind(k->btf, func, BTF_KIND_FUNC);
	const struct btf_type *t;

	if (id < 0)
		return -ENOENT;
	t = btf__type_by_id(k->btf, btf__type_by_id(k->btf, (__u32)id)->type);
	return t ? btf_vlen(t) : -ENOENT;
}

/* Loads the smallest fentry program there is; nothing is attached. Its fd, or -errno. */
static int load_trial(__u32 btf_id)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FENTRY,
		    .attach_btf_id = btf_id);
	int fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "lb_trial", "GPL", insns, ARRAY_SIZE(insns), &opts);

	return fd < 0 ? -errno : fd;
}

bool kernel__can_fentry(const struct kernel *k, const char *func)
{
	int id = k->fentry ? btf__find_by_name_kind(k->btf, func, BTF_KIND_FUNC) : -1;
	int fd = id < 0 ? -1 : load_trial((__u32)id);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int kernel__tp_args(const struct kernel *k, const char *tp)
{
	const struct btf_type *t;
	char type[64];
	int id;

	snprintf(type, sizeof(type), "btf_trace_%s", tp);
	id = btf__find_by_name_kind(k->btf, type, BTF_KIND_TYPEDEF);
	if (id < 0)
		return -ENOENT;
	t = btf__type_by_id(k->btf, btf__type_by_id(k->btf, (__u32)id)->type); /* a pointer */
	t = t && btf_is_ptr(t) ? btf__type_by_id(k->btf, t->type) : NULL;
	/* the first argument is the program's own */
	return t && btf_is_func_proto(t) ? btf_vlen(t) - 1 : -ENOENT;
}

static void try_fentry(struct kernel *k)
{
	int id = btf__find_by_name_kind(k->btf, FENTRY_TRIAL, BTF_KIND_FUNC);
	int fd, link;

	if (id < 0 && k->rt)
		id = btf__find_by_name_kind(k->btf, FENTRY_TRIAL_RT, BTF_KIND_FUNC);
	if (id < 0) {
		snprintf(k->fentry_why, sizeof(k->fentry_why), "BTF does not have " FENTRY_TRIAL);
		return;
	}
	fd = load_trial((__u32)id);
	if (fd < 0) {
		snprintf(k->fentry_why, sizeof(k->fentry_why), "the kernel refuses to load one: %s",
			 strerror(-fd));
		return;
	}
	/* Some kernels load it and refuse the trampoline. */
	link = bpf_raw_tracepoint_open(NULL, fd);
	if (link < 0)
		snprintf(k->fentry_why, sizeof(k->fentry_why), "the kernel refuses to attach one: %s",
			 strerror(errno));
	else
		close(link);
	k->fentry = link >= 0;
	close(fd);
}

static void try_kprobe(struct kernel *k)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	char buf[16] = "";
	__close_file FILE *f = fopen("/sys/bus/event_source/devices/kprobe/type", "re");
	uint64_t type;
	int fd;

	if (!f) {
		snprintf(k->kprobe_why, sizeof(k->kprobe_why), "the kernel is built without kprobes");
		return;
	}
	if (!fgets(buf, sizeof(buf), f))
		return;
	buf[strcspn(buf, "\n")] = '\0';
	if (parse_u64(buf, 0, UINT32_MAX, &type))
		return;
	attr.type = (__u32)type;
	attr.config1 = (uintptr_t)FENTRY_TRIAL;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		snprintf(k->kprobe_why, sizeof(k->kprobe_why), "perf_event_open: %s%s", strerror(errno),
			 errno == EACCES || errno == EPERM ? " (needs CAP_SYS_ADMIN or a lower "
							     "perf_event_paranoid)"
							   : "");
		return;
	}
	close(fd);
	k->kprobe = true;
}

static bool has_member(const struct kernel *k, const char *name, const char *member)
{
	int id = btf__find_by_name_kind(k->btf, name, BTF_KIND_STRUCT);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(k->btf, (__u32)id);

	for (int i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(k->btf, btf_members(t)[i].name_off), member))
			return true;
	return false;
}

int kernel__probe(struct kernel *k, struct err *e)
{
	const char *caps = kernel__missing_caps();

	memset(k, 0, sizeof(*k));
	if (caps)
		return err_set(e, -EPERM,
			       "cannot load tracing programs: this process lacks %s (run as root)", caps);
	k->btf = btf__load_vmlinux_btf();
	if (!k->btf) {
		int r = -errno;

		return err_errno(e, r,
				 "cannot read /sys/kernel/btf/vmlinux (the kernel needs "
				 "CONFIG_DEBUG_INFO_BTF)");
	}
	k->contention_tp = kernel__tp_args(k, "contention_begin") >= 0;
	k->rt = !has_member(k, "rw_semaphore", "count");
	/* The helper came to all tracing programs one release after the task storage itself;
	 * contention_begin is younger than both. */
	k->task_storage = k->contention_tp;
	try_fentry(k);
	try_kprobe(k);
	return 0;
}

void kernel__fini(struct kernel *k)
{
	btf__free(k->btf);
	k->btf = NULL;
}
