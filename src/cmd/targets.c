// SPDX-License-Identifier: GPL-2.0
#include "cmd/targets.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kmem/btf_offsets.h"
#include "kmem/fields.h"
#include "kmem/kmem.h"
#include "names/cgroup.h"
#include "names/ksym.h"
#include "util/parse.h"

static int check_ids(const struct id_list *l, const char *what, struct err *e)
{
	for (unsigned int i = 0; i < l->n; i++)
		if (kill((pid_t)l->id[i], 0) && errno == ESRCH)
			return err_set(e, -EINVAL, "there is no %s %u", what, l->id[i]);
	return 0;
}

static int find_mm(struct kmem *k, pid_t pid, uint64_t *addr, struct err *e)
{
	const struct kmem_task_row *rows;
	size_t n;
	int64_t off = kmem__off(k, KF_MM_MMAP_LOCK);
	int r = kmem__tasks(k, 0, &rows, &n);

	if (r)
		return err_errno(e, r, "--lock mmap_lock:%d: cannot look through the tasks", pid);
	for (size_t i = 0; off >= 0 && i < n; i++) {
		if ((rows[i].tid != pid && rows[i].tgid != pid) || !rows[i].mm)
			continue;
		*addr = rows[i].mm + (uint64_t)off;
		return 0;
	}
	return err_set(e, -EINVAL, "--lock mmap_lock:%d: there is no such process, or it has no memory of its own",
		       pid);
}

/* "mmap_lock:PID". */
static int find_mmap_lock(const char *text, uint64_t *addr, struct err *e)
{
	struct btf_offsets *offsets;
	struct kmem *k;
	uint64_t pid;
	int r;

	if (parse_u64(text, 1, 4194304, &pid))
		return err_set(e, -EINVAL, "--lock: mmap_lock:'%s' is not a PID (1 to 4194304)", text);
	offsets = btf_offsets__new(NULL);
	k = offsets ? kmem__live(offsets, e) : NULL;
	r = k ? find_mm(k, (pid_t)pid, addr, e) : -EIO;
	kmem__free(k);
	btf_offsets__free(offsets);
	return r;
}

static int find_lock(const char *s, uint64_t *addr, struct err *e)
{
	struct ksyms *ks;
	int r;

	if (!strncmp(s, "mmap_lock:", 10))
		return find_mmap_lock(s + 10, addr, e);

	if (!strncmp(s, "0x", 2)) {
		if (parse_u64(s, 1, UINT64_MAX, addr))
			return err_set(e, -EINVAL, "--lock: '%s' is not an address", s);
		return 0;
	}
	ks = ksyms__load(NULL, e);
	if (!ks)
		return -EIO;
	r = ksyms__addr(ks, s, addr);
	if (r == -ENOTUNIQ)
		err_set(e, r, "--lock: several symbols are called '%s'; give the address", s);
	else if (r && ksyms__why(ks))
		err_set(e, r, "--lock: no address for '%s': %s", s, ksyms__why(ks));
	else if (r)
		err_set(e, r, "--lock: the kernel has no symbol '%s'", s);
	ksyms__free(ks);
	return r ? -EINVAL : 0;
}

/* An fd of the cgroup's folder, which is what BPF compares with. */
static int open_cgroup(const char *text, struct err *e)
{
	struct cgroups *cg = cgroups__new(NULL);
	char path[4200];
	unsigned int level;
	uint64_t id;
	int r = cg ? cgroups__find(cg, text, &id, &level, e) : err_set(e, -ENOMEM, "out of memory");

	if (!r) {
		snprintf(path, sizeof(path), "%s%s", cgroups__mount(cg), cgroups__path(cg, id));
		r = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (r < 0)
			r = err_errno(e, -errno, "cannot open the cgroup %s", path);
	}
	cgroups__free(cg);
	return r;
}

int targets__resolve(struct targets *t, const struct lb_opts *o, struct collect_config *cfg,
		     struct err *e)
{
	int r;

	t->cgroup_fd = -1;
	cfg->kinds = o->kinds;
	cfg->min_duration_ns = o->min_duration;
	cfg->pids = o->pids.id;
	cfg->n_pids = o->pids.n;
	cfg->tids = o->tids.id;
	cfg->n_tids = o->tids.n;
	cfg->comm = o->comm;
	cfg->user_stacks = o->user_stacks;
	cfg->all_stacks = o->all_stacks;
	cfg->no_spin = o->no_spin;
	cfg->cgroup_fd = -1;
	if (o->map_entries > 1u << 22)
		return err_set(e, -EINVAL, "--map-entries: at most 4194304");
	cfg->map_entries = (uint32_t)o->map_entries;
	if (o->ring_size > 1u << 30)
		return err_set(e, -EINVAL, "--ring-size: at most 1G");
	cfg->ring_size = (uint32_t)o->ring_size;
	r = hooks_parse(o->hooks, &cfg->hooks, e);
	if (!r)
		r = check_ids(&o->pids, "process", e);
	if (!r)
		r = check_ids(&o->tids, "thread", e);
	if (!r && o->lock)
		r = find_lock(o->lock, &cfg->lock, e);
	if (!r && o->cgroup) {
		t->cgroup_fd = open_cgroup(o->cgroup, e);
		r = t->cgroup_fd < 0 ? -EINVAL : 0;
		cfg->cgroup_fd = t->cgroup_fd;
	}
	return r;
}

void targets__fini(struct targets *t)
{
	if (t->cgroup_fd >= 0)
		close(t->cgroup_fd);
	t->cgroup_fd = -1;
}
