// SPDX-License-Identifier: GPL-2.0
/* The running kernel as a struct kmem. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/types.h>
#include <string.h>
#include <sys/resource.h>

#include "kmem/impl.h"
#include "kmem/slabcache.h"
#include "lockblame/peek.h"
#include "peek.skel.h"
#include "peektasks.skel.h"
#include "util/cleanup.h"

_Static_assert(PEEK_BULK == KMEM_READ_MAX, "one limit");

struct kmem_live {
	struct kmem k;
	struct btf_offsets *offsets;
	struct peek_bpf *peek;
	int batch_fd, large_fd;
	uint64_t lowest; /* where the kernel's half begins */
	struct peektasks_bpf *tasks;
	struct bpf_link *tasks_link;
	int tasks_failed;
	struct slabcache *slab;
	uint64_t (*addr_of)(void *ctx, const char *name);
	void *addr_of_ctx;
};

static struct kmem_live *live(struct kmem *k)
{
	return (struct kmem_live *)k;
}

static int run(int fd, uint64_t a, uint64_t b)
{
	__u64 args[2] = {a, b};
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = sizeof(args));

	return bpf_prog_test_run_opts(fd, &o);
}

static void read_large(struct kmem_live *l, struct kmem_req *r)
{
	l->k.stats.runs++;
	if (run(l->large_fd, r->addr, r->len) || l->peek->bss->peek_bulk_err)
		r->err = -EFAULT;
	else
		memcpy(r->buf, l->peek->bss->peek_bulk, r->len);
}

static void flush_batch(struct kmem_live *l, struct kmem_req **batch, size_t n)
{
	int err;

	if (!n)
		return;
	l->k.stats.runs++;
	err = run(l->batch_fd, n, 0);
	for (size_t i = 0; i < n; i++) {
		if (err || l->peek->bss->peek_req[i].err)
			batch[i]->err = -EFAULT;
		else
			memcpy(batch[i]->buf, l->peek->bss->peek_slot[i], batch[i]->len);
	}
}

static void live_readv(struct kmem *k, struct kmem_req *reqs, size_t n)
{
	struct kmem_live *l = live(k);
	struct kmem_req *batch[PEEK_BATCH];
	size_t have = 0;

	for (size_t i = 0; i < n; i++) {
		if (!reqs[i].err && reqs[i].addr < l->lowest)
			reqs[i].err = -EFAULT;
		if (reqs[i].err)
			continue;
		if (reqs[i].len > PEEK_SLOT) {
			read_large(l, &reqs[i]);
			continue;
		}
		l->peek->bss->peek_req[have].addr = reqs[i].addr;
		l->peek->bss->peek_req[have].len = reqs[i].len;
		batch[have++] = &reqs[i];
		if (have == PEEK_BATCH) {
			flush_batch(l, batch, have);
			have = 0;
		}
	}
	flush_batch(l, batch, have);
}

/* All of them at the first question (1 ms), so that the BTF need not be kept. */
static int live_field(struct kmem *k, enum kmem_field f, struct btf_field *out)
{
	struct kmem_live *l = live(k);

	for (int i = 0; i < KF_N; i++) {
		int err = btf_offsets__find(l->offsets, kmem__field_path((enum kmem_field)i),
					    &k->fields[i].at);

		k->fields[i].state = err ? FIELD_ABSENT : FIELD_PRESENT;
	}
	btf_offsets__release(l->offsets);
	*out = k->fields[f].at;
	return k->fields[f].state == FIELD_PRESENT ? 0 : -ENOENT;
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return 0;
}

static int load_tasks(struct kmem_live *l)
{
	const struct {
		enum kmem_field f;
		size_t at;
	} want[] = {
		{KF_TASK_PID, offsetof(struct peek_task_offsets, pid)},
		{KF_TASK_TGID, offsetof(struct peek_task_offsets, tgid)},
		{KF_TASK_MM, offsetof(struct peek_task_offsets, mm)},
		{KF_TASK_FLAGS, offsetof(struct peek_task_offsets, flags)},
		{KF_TASK_START, offsetof(struct peek_task_offsets, start_time)},
		{KF_TASK_COMM, offsetof(struct peek_task_offsets, comm)},
	};
	struct peek_task_offsets offs;

	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		int64_t off = kmem__off(&l->k, want[i].f);

		if (off < 0)
			return -EOPNOTSUPP;
		memcpy((char *)&offs + want[i].at, &(__u32){(__u32)off}, sizeof(__u32));
	}
	l->tasks = peektasks_bpf__open();
	if (!l->tasks)
		return -EOPNOTSUPP;
	memcpy((void *)(uintptr_t)&l->tasks->rodata->offs, &offs, sizeof(offs));
	if (peektasks_bpf__load(l->tasks))
		return -EOPNOTSUPP;
	l->tasks_link = bpf_program__attach_iter(l->tasks->progs.peek_tasks, NULL);
	return l->tasks_link ? 0 : -EOPNOTSUPP;
}

static int ensure_tasks(struct kmem_live *l)
{
	libbpf_print_fn_t old;

	if (l->tasks_link || l->tasks_failed)
		return l->tasks_failed;
	old = libbpf_set_print(quiet);
	l->tasks_failed = load_tasks(l);
	libbpf_set_print(old);
	return l->tasks_failed;
}

static int add_task(struct kmem_tasks *t, const struct peek_task *r)
{
	struct kmem_task_row *row = kmem_tasks__add(t);

	if (!row)
		return -ENOMEM;
	row->task = r->task;
	row->mm = r->mm;
	row->tid = (pid_t)r->tid;
	row->tgid = (pid_t)r->tgid;
	row->start_ns = r->start_ns;
	memcpy(row->comm, r->comm, sizeof(row->comm));
	row->comm[sizeof(row->comm) - 1] = '\0';
	return 0;
}

static int live_tasks(struct kmem *k, struct kmem_tasks *t)
{
	struct peek_task buf[256];
	int fd __close_fd = -1;
	size_t have = 0;
	int err = ensure_tasks(live(k));

	if (err)
		return err;
	fd = bpf_iter_create(bpf_link__fd(live(k)->tasks_link));
	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t n = read(fd, (char *)buf + have, sizeof(buf) - have);
		size_t done;

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		have += (size_t)n;
		for (done = 0; done < have / sizeof(buf[0]); done++) {
			err = add_task(t, &buf[done]);
			if (err)
				return err;
		}
		have -= done * sizeof(buf[0]);
		memmove(buf, buf + done, have);
	}
}

static uint64_t live_symbol(struct kmem *k, const char *name)
{
	struct kmem_live *l = live(k);

	if (!strcmp(name, KMEM_SELF))
		return l->peek->bss->peek_current;
	return l->addr_of ? l->addr_of(l->addr_of_ctx, name) : 0;
}

static int live_slab_cache(struct kmem *k, uint64_t addr, uint64_t *cache)
{
	struct kmem_live *l = live(k);

	if (!l->slab && kmem__has(k, KF_FUNC_GET_CACHE))
		l->slab = slabcache__new();
	return l->slab ? slabcache__of(l->slab, addr, cache) : 0;
}

static void live_free(struct kmem *k)
{
	struct kmem_live *l = live(k);

	bpf_link__destroy(l->tasks_link);
	peektasks_bpf__destroy(l->tasks);
	peek_bpf__destroy(l->peek);
	slabcache__free(l->slab);
	kmem__fini(k);
	free(l);
}

static const struct kmem_ops live_ops = {
	.readv = live_readv,
	.field = live_field,
	.tasks = live_tasks,
	.symbol = live_symbol,
	.slab_cache = live_slab_cache,
	.free = live_free,
};

void kmem__set_symbols(struct kmem *k, uint64_t (*addr_of)(void *ctx, const char *name), void *ctx)
{
	if (k->ops != &live_ops)
		return;
	live(k)->addr_of = addr_of;
	live(k)->addr_of_ctx = ctx;
}

/* libbpf raises RLIMIT_MEMLOCK by itself on kernels that count BPF memory against it (before 5.11)
 * and ignores a refusal; the load then fails with EPERM, like a missing capability does. */
static int load_error(int err, struct err *e)
{
	struct rlimit rl;

	if (err == -EPERM && !geteuid() && !getrlimit(RLIMIT_MEMLOCK, &rl) &&
	    rl.rlim_cur != RLIM_INFINITY)
		return err_set(
			e, err,
			"cannot load the program that reads kernel memory: refused; CAP_BPF and "
			"CAP_PERFMON are needed, and before Linux 5.11 a larger limit of locked "
			"memory (ulimit -l unlimited; it is %llu KiB)",
			(unsigned long long)rl.rlim_cur / 1024);
	if (err == -EPERM)
		return err_set(e, err,
			       "cannot load the program that reads kernel memory: CAP_BPF and "
			       "CAP_PERFMON are needed (or root)");
	return err_errno(e, err, "cannot load the program that reads kernel memory");
}

/* A read of an address between the halves is refused, but older kernels warn about it in the log.
 * On x86-64 the halves depend on how many levels the page tables have, which a known address tells:
 * with five of them the direct map lies below what four can reach. */
static uint64_t lowest_kernel_address(uint64_t task)
{
#ifdef __x86_64__
	return task >= 0xffff800000000000ull ? 0xffff800000000000ull : 0xff00000000000000ull;
#else
	return 1ull << 63;
#endif
}

static int load_peek(struct kmem_live *l)
{
	int err;

	l->peek = peek_bpf__open_and_load();
	if (!l->peek)
		return errno ? -errno : -EINVAL;
	if (!l->peek->bss)
		return -EOPNOTSUPP;
	l->batch_fd = bpf_program__fd(l->peek->progs.peek_batch);
	l->large_fd = bpf_program__fd(l->peek->progs.peek_large);
	/* BPF_PROG_TEST_RUN of raw tracepoints came with 5.10. */
	err = run(l->batch_fd, 0, 0);
	if (!err)
		l->lowest = lowest_kernel_address(l->peek->bss->peek_current);
	return err;
}

struct kmem *kmem__live(struct btf_offsets *offsets, struct err *e)
{
	struct kmem_live *l = calloc(1, sizeof(*l));
	libbpf_print_fn_t old;
	int err;

	if (!l) {
		err_errno(e, -ENOMEM, "cannot read kernel memory");
		return NULL;
	}
	kmem__init(&l->k, &live_ops);
	l->offsets = offsets;
	old = libbpf_set_print(quiet);
	err = load_peek(l);
	libbpf_set_print(old);
	if (!err)
		return &l->k;
	load_error(err, e);
	live_free(&l->k);
	return NULL;
}
