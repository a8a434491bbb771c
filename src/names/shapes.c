// SPDX-License-Identifier: GPL-2.0
/* The structures that hold locks worth a name. Each is believed only when its own back pointers say
 * that it is what it is taken for. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "kmem/mm.h"
#include "names/identity_impl.h"
#include "util/cleanup.h"

#define FDS_MAX 4096
#define FDS_BATCH 64
#define TASKS_MAX_AGE_NS 500000000u

static void set(struct found *f, enum lb_certainty c, uint64_t a, uint64_t b, uint64_t d)
{
	f->certainty = c;
	f->token[0] = a;
	f->token[1] = b;
	f->token[2] = d;
}

/* Whether the object is the one seen before, whose words are still known. */
static bool has_words(const struct shape_ctx *c, const struct found *f)
{
	return c->former && !c->refresh && !memcmp(c->former, f->token, sizeof(f->token));
}

static bool process_text(struct shape_ctx *c, const char *what, uint64_t mm, struct found *f)
{
	struct kmm m;

	if (kmm__read(c->k, mm, c->hint->tgid, &m))
		return false;
	/* Born after the wait began: this memory was another process's mm then. */
	if (c->hint->seen_ns && m.process.start_ns > c->hint->seen_ns)
		return false;
	f->pid = m.process.tgid;
	set(f, LB_EXACT, (uint64_t)m.process.tgid, m.process.start_ns, 0);
	if (!has_words(c, f))
		snprintf(f->text, sizeof(f->text), "%s of %s/%d", what, m.process.comm,
			 m.process.tgid);
	return true;
}

static bool is_mm(struct shape_ctx *c, uint64_t obj, struct found *f)
{
	char name[192];
	struct kfile exe;
	uint64_t file;

	if (process_text(c, "mmap_lock", obj, f))
		return true;
	/* The process has let go of it, and it is being torn down (or held by a reader of /proc).
	 */
	if (kmm__exiting(c->k, obj, &file) || kfile__read(c->k, file, &exe))
		return false;
	set(f, LB_LIKELY, file, exe.inode.addr, exe.inode.ino);
	if (has_words(c, f))
		return true;
	filename__dentry(c, exe.dentry, &exe.inode, name, sizeof(name));
	snprintf(f->text, sizeof(f->text), "mmap_lock of an exited process (%s)", name);
	return true;
}

static void inode_text(struct shape_ctx *c, const char *what, const struct kinode *inode,
		       struct found *f)
{
	char name[208];

	set(f, LB_EXACT, inode->sb.addr, inode->ino,
	    (uint64_t)inode->generation << 32 | (inode->mode & S_IFMT));
	if (has_words(c, f))
		return;
	filename__inode(c, inode, name, sizeof(name));
	snprintf(f->text, sizeof(f->text), "%s of %s", what, name);
}

static bool is_inode(struct shape_ctx *c, uint64_t obj, struct found *f)
{
	struct kinode inode;

	if (kinode__read(c->k, obj, &inode))
		return false;
	inode_text(c, "i_rwsem", &inode, f);
	return true;
}

static bool is_mapping(struct shape_ctx *c, uint64_t obj, const char *what, struct found *f)
{
	struct kinode inode;

	if (kmapping__inode(c->k, obj, &inode))
		return false;
	inode_text(c, what, &inode, f);
	return true;
}

static bool is_i_mmap(struct shape_ctx *c, uint64_t obj, struct found *f)
{
	return is_mapping(c, obj, "i_mmap_rwsem", f);
}

static bool is_invalidate(struct shape_ctx *c, uint64_t obj, struct found *f)
{
	return is_mapping(c, obj, "invalidate_lock", f);
}

/* A lock of a file system's own inode, around the common one. */
static bool is_fs_inode(struct shape_ctx *c, uint64_t obj, enum kmem_field inner, const char *type,
			const char *what, struct found *f)
{
	int64_t off = kmem__off(c->k, inner);
	struct kinode inode;

	if (off < 0 || kinode__read(c->k, obj + (uint64_t)off, &inode) ||
	    strcmp(inode.sb.type, type))
		return false;
	inode_text(c, what, &inode, f);
	return true;
}

static bool is_ext4_inode(struct shape_ctx *c, uint64_t obj, struct found *f)
{
	return is_fs_inode(c, obj, KF_EXT4_INODE, "ext4", "i_data_sem", f);
}

static bool is_xfs_inode(struct shape_ctx *c, uint64_t obj, struct found *f)
{
	return is_fs_inode(c, obj, KF_XFS_INODE, "xfs", "XFS i_lock", f);
}

static bool is_sb(struct shape_ctx *c, uint64_t obj, const char *what, struct found *f)
{
	char name[208];
	struct ksb sb;
	uint64_t type;

	if (ksb__read(c->k, obj, &sb))
		return false;
	memcpy(&type, sb.type, sizeof(type));
	set(f, LB_EXACT, sb.dev, type, 0);
	if (has_words(c, f))
		return true;
	filename__sb(c, &sb, name, sizeof(name));
	snprintf(f->text, sizeof(f->text), "%s of %s", what, name);
	return true;
}

static bool is_umount(struct shape_ctx *c, uint64_t obj, struct found *f)
{
	return is_sb(c, obj, "s_umount", f);
}

static bool is_rename(struct shape_ctx *c, uint64_t obj, struct found *f)
{
	return is_sb(c, obj, "s_vfs_rename_mutex", f);
}

static bool is_writers(struct shape_ctx *c, uint64_t obj, struct found *f)
{
	return is_sb(c, obj, "s_writers", f);
}

static bool is_anon_vma(struct shape_ctx *c, uint64_t obj, struct found *f)
{
	struct kanon a;

	if (kanon__read(c->k, obj, &a))
		return false;
	/* The words are made each time: the token of the process is not that of the anon_vma. */
	c->refresh = true;
	if (a.several || !process_text(c, "anon_vma", a.mm, f))
		snprintf(f->text, sizeof(f->text), "anon_vma%s",
			 a.several ? " of several processes" : "");
	set(f, LB_EXACT, a.several ? 0 : a.mm, 0, 0);
	return true;
}

/* signal_struct: its list of threads leads to a task, which leads back. */
static bool is_signal(struct shape_ctx *c, uint64_t obj, const char *what, struct found *f)
{
	int64_t head = kmem__off(c->k, KF_SIGNAL_THREADS),
		node = kmem__off(c->k, KF_TASK_THREAD_NODE);
	struct ktask t, leader;
	uint64_t link, back;

	if (head < 0 || node < 0 || kmem__read(c->k, obj + (uint64_t)head, &link, sizeof(link)) ||
	    !kmem_ptr_ok(link) || ktask__read(c->k, link - (uint64_t)node, &t) ||
	    kmem__get(c->k, t.addr, KF_TASK_SIGNAL, &back) || back != obj)
		return false;
	if (c->hint->seen_ns && t.start_ns > c->hint->seen_ns)
		return false;
	if (!ktask__read(c->k, t.leader, &leader))
		t = leader;
	f->pid = t.tgid;
	set(f, LB_EXACT, (uint64_t)t.tgid, t.start_ns, 0);
	snprintf(f->text, sizeof(f->text), "%s of %s/%d", what, t.comm, t.tgid);
	return true;
}

static bool is_exec_update(struct shape_ctx *c, uint64_t obj, struct found *f)
{
	return is_signal(c, obj, "exec_update_lock", f);
}

static bool is_cred_guard(struct shape_ctx *c, uint64_t obj, struct found *f)
{
	return is_signal(c, obj, "cred_guard_mutex", f);
}

static bool is_cgroup_rwsem(struct shape_ctx *c, uint64_t obj, struct found *f)
{
	return is_signal(c, obj, "cgroup_threadgroup_rwsem", f);
}

static bool is_file(struct shape_ctx *c, uint64_t obj, struct found *f)
{
	struct kfile file;
	char name[208];

	if (kfile__read(c->k, obj, &file))
		return false;
	set(f, LB_EXACT, file.dentry, file.inode.addr, file.inode.ino);
	if (has_words(c, f))
		return true;
	filename__dentry(c, file.dentry, &file.inode, name, sizeof(name));
	snprintf(f->text, sizeof(f->text), "f_pos_lock of %s", name);
	return true;
}

static bool is_eventpoll(struct shape_ctx *c, uint64_t obj, struct found *f)
{
	struct kfile file;
	uint64_t at, back;

	if (!kmem_ptr_ok(obj) || kmem__get(c->k, obj, KF_EP_FILE, &at) ||
	    kfile__read(c->k, at, &file) || kmem__get(c->k, at, KF_FILE_PRIVATE, &back) ||
	    back != obj)
		return false;
	set(f, LB_EXACT, at, 0, 0);
	snprintf(f->text, sizeof(f->text), "mutex of an epoll set");
	return true;
}

static bool is_hugetlb_vma(struct shape_ctx *c, uint64_t obj, struct found *f)
{
	struct kfile file;
	uint64_t vma, back, at;
	char name[200];

	if (!kmem_ptr_ok(obj) || kmem__get(c->k, obj, KF_HUGETLB_VMA, &vma) || !kmem_ptr_ok(vma) ||
	    kmem__get(c->k, vma, KF_VMA_PRIVATE, &back) || back != obj ||
	    kmem__get(c->k, vma, KF_VMA_FILE, &at) || kfile__read(c->k, at, &file))
		return false;
	set(f, LB_EXACT, vma, file.inode.addr, file.inode.ino);
	if (has_words(c, f))
		return true;
	filename__dentry(c, file.dentry, &file.inode, name, sizeof(name));
	snprintf(f->text, sizeof(f->text), "hugetlb VMA lock of %s", name);
	return true;
}

static bool pipe_of_inode(struct shape_ctx *c, uint64_t at, uint64_t pipe, struct kinode *inode)
{
	uint64_t back;

	return kmem_ptr_ok(at) && !kmem__get(c->k, at, KF_INODE_PIPE, &back) && back == pipe &&
	       !kinode__read(c->k, at, inode) && (inode->mode & S_IFMT) == S_IFIFO;
}

/* A pipe does not know its inode. A process that waits for its lock has it open: look through its
 * files. */
static bool pipe_of_process(struct shape_ctx *c, uint64_t task, uint64_t pipe, struct kinode *inode)
{
	static const enum kmem_field f[] = {KF_FDT_FD, KF_FDT_MAX};
	uint64_t files, fdt, at, v[2], fds[FDS_BATCH];

	if (kmem__get(c->k, task, KF_TASK_FILES, &files) || !kmem_ptr_ok(files) ||
	    kmem__get(c->k, files, KF_FILES_FDT, &fdt) || !kmem_ptr_ok(fdt) ||
	    kmem__getv(c->k, fdt, f, v, 2))
		return false;
	for (uint64_t fd = 0; fd < v[1] && fd < FDS_MAX; fd += FDS_BATCH) {
		if (kmem__read(c->k, v[0] + fd * 8, fds, sizeof(fds)))
			return false;
		for (int i = 0; i < FDS_BATCH; i++)
			if (kmem_ptr_ok(fds[i]) && !kmem__get(c->k, fds[i], KF_FILE_INODE, &at) &&
			    pipe_of_inode(c, at, pipe, inode))
				return true;
	}
	return false;
}

static bool find_pipe(struct shape_ctx *c, uint64_t pipe, struct kinode *inode)
{
	const struct kmem_task_row *rows;
	size_t n;

	if (c->former)
		return pipe_of_inode(c, c->former[0], pipe, inode);
	if (!c->hint->tgid || !kmem_ptr_ok(pipe) || kmem__tasks(c->k, TASKS_MAX_AGE_NS, &rows, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (rows[i].tid == c->hint->tgid)
			return pipe_of_process(c, rows[i].task, pipe, inode);
	return false;
}

static bool is_pipe(struct shape_ctx *c, uint64_t obj, struct found *f)
{
	struct kinode inode;

	if (!find_pipe(c, obj, &inode))
		return false;
	set(f, LB_EXACT, inode.addr, inode.ino, inode.generation);
	snprintf(f->text, sizeof(f->text), "mutex of pipe:[%llu]", (unsigned long long)inode.ino);
	return true;
}

#define LB_RWSEMS (LB_KIND_BIT(LB_RWSEM) | LB_KIND_BIT(LB_RT_MUTEX))
#define LB_MUTEXES (LB_KIND_BIT(LB_MUTEX) | LB_KIND_BIT(LB_RT_MUTEX))

/* In order of cost and likelihood. */
const struct shape lb_shapes[] = {
	{"mmap_lock", KF_MM_MMAP_LOCK, LB_RWSEMS, is_mm, 1, KF_N},
	{"i_rwsem", KF_INODE_RWSEM, LB_RWSEMS, is_inode, 1, KF_N},
	{"i_mmap_rwsem", KF_MAPPING_I_MMAP_RWSEM, LB_RWSEMS, is_i_mmap, 1, KF_N},
	{"invalidate_lock", KF_MAPPING_INVALIDATE, LB_RWSEMS, is_invalidate, 1, KF_N},
	{"s_umount", KF_SB_UMOUNT, LB_RWSEMS, is_umount, 1, KF_N},
	{"anon_vma", KF_ANON_RWSEM, LB_RWSEMS, is_anon_vma, 1, KF_N},
	{"i_data_sem", KF_EXT4_DATA_SEM, LB_RWSEMS, is_ext4_inode, 1, KF_N},
	{"XFS i_lock", KF_XFS_LOCK, LB_RWSEMS, is_xfs_inode, 1, KF_N},
	{"exec_update_lock", KF_SIGNAL_EXEC_UPDATE, LB_RWSEMS | LB_MUTEXES, is_exec_update, 1,
	 KF_N},
	{"cgroup_threadgroup_rwsem", KF_SIGNAL_CGROUP_RWSEM, LB_RWSEMS, is_cgroup_rwsem, 1, KF_N},
	{"hugetlb VMA lock", KF_HUGETLB_LOCK, LB_RWSEMS, is_hugetlb_vma, 1, KF_N},
	{"cred_guard_mutex", KF_SIGNAL_CRED_GUARD, LB_MUTEXES, is_cred_guard, 1, KF_N},
	{"f_pos_lock", KF_FILE_POS_LOCK, LB_MUTEXES, is_file, 1, KF_N},
	{"s_vfs_rename_mutex", KF_SB_RENAME, LB_MUTEXES, is_rename, 1, KF_N},
	{"epoll mutex", KF_EP_MTX, LB_MUTEXES, is_eventpoll, 1, KF_N},
	{"pipe mutex", KF_PIPE_MUTEX, LB_MUTEXES, is_pipe, 1, KF_N},
	{"s_writers", KF_SB_WRITERS, LB_KIND_BIT(LB_PERCPU_RWSEM), is_writers, 3, KF_PERCPU_SIZE},
};

const unsigned int lb_n_shapes = ARRAY_SIZE(lb_shapes);
