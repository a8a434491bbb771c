// SPDX-License-Identifier: GPL-2.0
/* Checks src/kmem and the lock identities against the running kernel: objects whose addresses this
 * program finds out by walking from its own task, and locks that it holds itself. Prints TAP. Needs
 * root. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

#include "hold.h"
#include "kmem/impl.h"
#include "kmem/inode.h"
#include "kmem/lock.h"
#include "kmem/mm.h"
#include "kmem/mount.h"
#include "kmem/slab.h"
#include "names/identity.h"
#include "names/ksym.h"
#include "probe.h"
#include "util/cleanup.h"

#define k probe_k

static struct identities *ids;
static struct ksyms *ksyms;
static char dir[64];
static unsigned int n_tests, n_bad;

static void ok(bool good, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void ok(bool good, const char *fmt, ...)
{
	va_list ap;

	printf("%s %u - ", good ? "ok" : "not ok", ++n_tests);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	n_bad += !good;
	fflush(stdout);
}

static void skip(const char *what, const char *why)
{
	printf("ok %u - %s # SKIP %s\n", ++n_tests, what, why);
}

static struct identity name(uint64_t addr, enum lb_kind kind, pid_t hint)
{
	struct identity_hint h = {.tgid = hint};
	struct identity id;

	identity__resolve(ids, addr, kind, &h, &id);
	return id;
}

/* The lock at addr must be called what says, and still be so at the second look. */
static void is_named(uint64_t addr, enum lb_kind kind, const char *cls, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static void is_named(uint64_t addr, enum lb_kind kind, const char *cls, const char *fmt, ...)
{
	struct identity id = name(addr, kind, getpid()), again;
	enum identity_state st;
	char want[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(want, sizeof(want), fmt, ap);
	va_end(ap);
	st = identity__check(ids, addr, kind, NULL, &again);
	ok(!strcmp(id.text, want) && !strcmp(id.cls, cls) && st != IDENTITY_GONE &&
		   !strcmp(again.text, want),
	   "%s", want);
	if (strcmp(id.text, want) || strcmp(id.cls, cls) || st != IDENTITY_SAME)
		printf("# got: %s [%s], state %d, then %s\n", id.text, id.cls, (int)st, again.text);
}

static void check_fields(void)
{
	static const enum kmem_field optional[] = {
		KF_MAPPING_INVALIDATE,
		KF_RWSEM_WAIT_LIST,
		KF_RWSEM_FIRST,
		KF_RWSEM_RT,
		KF_RWSEM_RT_READERS,
		KF_RWSEM_RT_MUTEX,
		KF_RWSEM_RT_OWNER,
		KF_RWSEM_COUNT,
		KF_RWSEM_OWNER,
		KF_RWAITER_LIST,
		KF_RWAITER_TASK,
		KF_RWAITER_TYPE,
		KF_RWAITER_HANDOFF,
		KF_MUTEX_OWNER,
		KF_MUTEX_WAIT_LIST,
		KF_MUTEX_FIRST,
		KF_MUTEX_RT,
		KF_MWAITER_LIST,
		KF_MWAITER_TASK,
		KF_SEM_WAIT_LIST,
		KF_SEM_FIRST,
		KF_SEM_LAST_HOLDER,
		KF_HUGETLB_LOCK,
		KF_HUGETLB_VMA,
		KF_EXT4_DATA_SEM,
		KF_EXT4_INODE,
		KF_TASK_BLOCKER,
		KF_TASK_BLOCKED_ON,
		KF_ENUM_PG_SLAB,
		KF_ENUM_PGTY_SLAB,
		KF_PAGE_TYPE,
		KF_SIGNAL_CGROUP_RWSEM,
		KF_FILE_COUNT,
		KF_FILE_REF,
		KF_ENUM_I_CLEAR,
		KF_FUNC_GET_CACHE,
		KF_ENUM_DCACHE_MOUNTED,
		KF_MOUNT_INSTANCE,
		KF_MOUNT_NEXT_FOR_SB,
		KF_XFS_LOCK,
		KF_XFS_INODE,
	};
	unsigned int missing = 0;

	for (int f = 0; f < KF_N; f++) {
		bool may = false;

		if (kmem__has(k, (enum kmem_field)f))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(optional); i++)
			may |= (int)optional[i] == f;
		printf("# absent%s: %s\n", may ? "" : " (wanted)",
		       kmem__field_path((enum kmem_field)f));
		missing += !may;
	}
	ok(!missing, "every field that all kernels have resolves");
}

static void check_mm(void)
{
	const struct kmem_task_row *rows;
	struct identity id;
	uint64_t mm, lock;
	char comm[16];
	size_t n;
	pid_t pid;
	int status;
	FILE *f = fopen("/proc/self/comm", "re");

	if (!f || !fgets(comm, sizeof(comm), f))
		comm[0] = '\0';
	comm[strcspn(comm, "\n")] = '\0';
	if (f)
		fclose(f);
	ok(task_of_self() != 0, "the task pass finds this process");
	n = 0;
	kmem__tasks(k, 0, &rows, &n);
	ok(n > 10, "the task pass finds others too (%zu)", n);
	mm = get(task_of_self(), KF_TASK_MM);
	is_named(at(mm, KF_MM_MMAP_LOCK), LB_RWSEM, "mmap_lock", "mmap_lock of %s/%d", comm,
		 getpid());

	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	lock = at(get(task_of(pid), KF_TASK_MM), KF_MM_MMAP_LOCK);
	is_named(lock, LB_RWSEM, "mmap_lock", "mmap_lock of %s/%d", comm, pid);
	id = name(lock, LB_RWSEM, getpid());
	ok(id.pid == pid, "another process's mmap_lock belongs to that process");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	usleep(50000);
	kmem__tasks(k, 0, &rows, &n);
	ok(identity__check(ids, lock, LB_RWSEM, NULL, &id) != IDENTITY_SAME,
	   "after its end that lock is not taken for the same (%s)", id.text);
	id = name(lock, LB_RWSEM, 0);
	ok(id.pid != pid, "a fresh look does not name the dead process (%s)", id.text);
}

static int make_file(const char *path, int flags)
{
	int fd = open(path, flags | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, "x", 1) != 1)
		printf("# cannot make %s: %s\n", path, strerror(errno));
	return fd;
}

static void check_one_file(int fd, const char *path)
{
	uint64_t inode = inode_of(fd), mapping = get(inode, KF_INODE_MAPPING);

	is_named(at(inode, KF_INODE_RWSEM), LB_RWSEM, "i_rwsem", "i_rwsem of %s", path);
	is_named(at(mapping, KF_MAPPING_I_MMAP_RWSEM), LB_RWSEM, "i_mmap_rwsem",
		 "i_mmap_rwsem of %s", path);
	if (kmem__has(k, KF_MAPPING_INVALIDATE))
		is_named(at(mapping, KF_MAPPING_INVALIDATE), LB_RWSEM, "invalidate_lock",
			 "invalidate_lock of %s", path);
	is_named(at(file_of(fd), KF_FILE_POS_LOCK), LB_MUTEX, "f_pos_lock", "f_pos_lock of %s",
		 path);
}

static void check_ext4(int fd, const char *path)
{
	uint64_t inode = inode_of(fd);
	struct kinode ki;

	if (!kmem__has(k, KF_EXT4_DATA_SEM) || kinode__read(k, inode, &ki) ||
	    strcmp(ki.sb.type, "ext4"))
		return;
	is_named(inode - (uint64_t)kmem__off(k, KF_EXT4_INODE) +
			 (uint64_t)kmem__off(k, KF_EXT4_DATA_SEM),
		 LB_RWSEM, "i_data_sem", "i_data_sem of %s", path);
}

static void check_files(const char *base)
{
	char path[128], moved[128], shown[160];
	struct identity id;
	uint64_t inode, file;
	int fd, dfd;

	snprintf(path, sizeof(path), "%s/plain file", base);
	snprintf(moved, sizeof(moved), "%s/moved", base);
	fd = make_file(path, O_RDWR);
	check_one_file(fd, path);
	check_ext4(fd, path);
	if (!rename(path, moved)) {
		enum identity_state st =
			identity__check(ids, lock_of_inode(fd), LB_RWSEM, NULL, &id);

		snprintf(shown, sizeof(shown), "i_rwsem of %s", moved);
		ok(st == IDENTITY_SAME && !strcmp(id.text, shown), "a moved file is the same: %s",
		   id.text);
	}
	unlink(moved);
	identity__check(ids, lock_of_inode(fd), LB_RWSEM, NULL, &id);
	is_named(lock_of_inode(fd), LB_RWSEM, "i_rwsem", "i_rwsem of %s (deleted)", moved);
	inode = lock_of_inode(fd);
	file = at(file_of(fd), KF_FILE_POS_LOCK);
	name(file, LB_MUTEX, 0);
	close(fd);
	usleep(50000);
	ok(identity__check(ids, inode, LB_RWSEM, NULL, &id) != IDENTITY_SAME &&
		   identity__check(ids, file, LB_MUTEX, NULL, &id) != IDENTITY_SAME,
	   "closed, neither its inode nor its file are still there");
	snprintf(path, sizeof(path), "%s/sub", base);
	mkdir(path, 0700);
	dfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	is_named(lock_of_inode(dfd), LB_RWSEM, "i_rwsem", "i_rwsem of %s/", path);
	close(dfd);
	rmdir(path);
}

static void check_sb(int fd, const char *what)
{
	uint64_t sb = get(inode_of(fd), KF_INODE_SB);

	is_named(at(sb, KF_SB_UMOUNT), LB_RWSEM, "s_umount", "s_umount of %s", what);
	is_named(at(sb, KF_SB_WRITERS) + kmem__size(k, KF_PERCPU_SIZE), LB_PERCPU_RWSEM,
		 "s_writers", "s_writers of %s", what);
	is_named(at(sb, KF_SB_RENAME), LB_MUTEX, "s_vfs_rename_mutex", "s_vfs_rename_mutex of %s",
		 what);
}

/* Every mount of this namespace: where the kernel's memory says that its root is, there it must be.
 */
static void check_all_mounts(void)
{
	unsigned int n = 0, bad = 0, hidden = 0;
	char line[4096], point[1024], path[4096];
	FILE *f = fopen("/proc/self/mountinfo", "re");

	while (f && fgets(line, sizeof(line), f)) {
		struct stat a, b;
		uint64_t dentry;
		int fd, err;

		if (sscanf(line, "%*u %*u %*s %*s %1023s", point) != 1)
			continue;
		fd = open(point, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &a))
			continue;
		dentry = get(file_of(fd), KF_FILE_DENTRY);
		err = kmount__path(k, get(dentry, KF_DENTRY_SB), dentry, path, sizeof(path));
		n++;
		hidden += err == -ENOENT;
		if (err || stat(path, &b) || a.st_dev != b.st_dev || a.st_ino != b.st_ino) {
			printf("# %s: error %d, %s\n", point, err, path);
			bad++;
		}
		close(fd);
	}
	if (f)
		fclose(f);
	ok(n && !bad, "the roots of all %u mounts are found", n);
}

/* One directory bound elsewhere, and a mount over another. */
static void check_binds(const char *tm)
{
	char a[160], b[128], file[192];
	int fd;

	snprintf(a, sizeof(a), "%s/low", tm);
	snprintf(b, sizeof(b), "%s/b", dir);
	mkdir(a, 0700);
	mkdir(b, 0700);
	snprintf(file, sizeof(file), "%s/f", a);
	fd = make_file(file, O_RDWR);
	is_named(lock_of_inode(fd), LB_RWSEM, "i_rwsem", "i_rwsem of %s", file);
	if (mount(a, b, NULL, MS_BIND, NULL)) {
		skip("a bind mount", strerror(errno));
	} else {
		struct identity id;

		identity__check(ids, lock_of_inode(fd), LB_RWSEM, NULL, &id);
		is_named(lock_of_inode(fd), LB_RWSEM, "i_rwsem", "i_rwsem of %s/f", b);
		mount("none", b, "tmpfs", 0, NULL);
		mount("none", a, "tmpfs", 0, NULL);
		identity__check(ids, lock_of_inode(fd), LB_RWSEM, NULL, &id);
		is_named(lock_of_inode(fd), LB_RWSEM, "i_rwsem", "i_rwsem of /low/f on tmpfs");
		check_all_mounts();
		umount2(a, MNT_DETACH);
		umount2(b, MNT_DETACH);
		umount2(b, MNT_DETACH);
	}
	close(fd);
	unlink(file);
	rmdir(b);
}

/* tmpfs and, where they exist, others, each mounted for this. */
static void check_file_systems(void)
{
	char tm[128], ov[128], opts[512], what[160];
	int fd;

	snprintf(tm, sizeof(tm), "%s/tm", dir);
	mkdir(tm, 0700);
	if (mount("none", tm, "tmpfs", 0, NULL)) {
		skip("files of a tmpfs", strerror(errno));
		return;
	}
	check_files(tm);
	fd = open(tm, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(what, sizeof(what), "%s (tmpfs)", tm);
	check_sb(fd, what);
	is_named(lock_of_inode(fd), LB_RWSEM, "i_rwsem", "i_rwsem of %s/", tm);
	close(fd);

	check_binds(tm);

	snprintf(ov, sizeof(ov), "%s/ov", dir);
	mkdir(ov, 0700);
	snprintf(opts, sizeof(opts), "%s/low", tm);
	mkdir(opts, 0700);
	snprintf(opts, sizeof(opts), "%s/up", tm);
	mkdir(opts, 0700);
	snprintf(opts, sizeof(opts), "%s/work", tm);
	mkdir(opts, 0700);
	snprintf(opts, sizeof(opts), "lowerdir=%s/low,upperdir=%s/up,workdir=%s/work", tm, tm, tm);
	if (mount("none", ov, "overlay", 0, opts)) {
		skip("files of an overlay", strerror(errno));
	} else {
		check_files(ov);
		umount2(ov, MNT_DETACH);
	}
	umount2(tm, MNT_DETACH);
}

static void check_nameless(void)
{
	int p[2], s, ep, mem, mem2;
	struct stat st;

	if (pipe2(p, O_CLOEXEC) || fstat(p[0], &st))
		return;
	is_named(at(get(inode_of(p[0]), KF_INODE_PIPE), KF_PIPE_MUTEX), LB_MUTEX, "pipe mutex",
		 "mutex of pipe:[%llu]", (unsigned long long)st.st_ino);
	s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	fstat(s, &st);
	is_named(lock_of_inode(s), LB_RWSEM, "i_rwsem", "i_rwsem of socket:[%llu]",
		 (unsigned long long)st.st_ino);
	ep = epoll_create1(EPOLL_CLOEXEC);
	is_named(at(get(file_of(ep), KF_FILE_PRIVATE), KF_EP_MTX), LB_MUTEX, "epoll mutex",
		 "mutex of an epoll set");
	mem = memfd_create("a memory", MFD_CLOEXEC);
	fstat(mem, &st);
	is_named(at(get(inode_of(mem), KF_INODE_MAPPING), KF_MAPPING_I_MMAP_RWSEM), LB_RWSEM,
		 "i_mmap_rwsem", "i_mmap_rwsem of memfd:a memory (inode %llu)",
		 (unsigned long long)st.st_ino);
	mem2 = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB);
	if (mem2 < 0) {
		skip("a hugetlb memfd", strerror(errno));
	} else {
		fstat(mem2, &st);
		is_named(at(get(inode_of(mem2), KF_INODE_MAPPING), KF_MAPPING_I_MMAP_RWSEM),
			 LB_RWSEM, "i_mmap_rwsem", "i_mmap_rwsem of memfd:huge (inode %llu)",
			 (unsigned long long)st.st_ino);
		close(mem2);
	}
	close(p[0]);
	close(p[1]);
	close(s);
	close(ep);
	close(mem);
}

static void check_vmas(void)
{
	uint64_t vma = find_vma(has_anon), lock;
	struct identity id;
	struct ktask me;
	int status;
	pid_t pid;
	void *p;

	ktask__read(k, task_of_self(), &me);
	ok(vma != 0, "there is a VMA with anonymous memory");
	lock = at(get(get(vma, KF_VMA_ANON), KF_ANON_ROOT), KF_ANON_RWSEM);
	is_named(lock, LB_RWSEM, "anon_vma", "anon_vma of %s/%d", me.comm, me.tgid);
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	identity__check(ids, lock, LB_RWSEM, NULL, &id);
	ok(!strcmp(id.text, "anon_vma of several processes"), "shared with a child it is %s",
	   id.text);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (!kmem__has(k, KF_HUGETLB_LOCK)) {
		skip("a hugetlb VMA lock", "this kernel has none");
		return;
	}
	p = mmap(NULL, 2 << 20, PROT_READ, MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE,
		 -1, 0);
	vma = p == MAP_FAILED ? 0 : find_vma(is_huge);
	if (vma) {
		lock = at(get(vma, KF_VMA_PRIVATE), KF_HUGETLB_LOCK);
		id = name(lock, LB_RWSEM, 0);
		ok(!strncmp(id.text, "hugetlb VMA lock of anon_hugepage", 33), "%s", id.text);
	} else {
		skip("a hugetlb VMA lock", "no hugetlb mapping to be had");
	}
}

static void check_symbols(void)
{
	static const char *const names[] = {"rtnl_mutex", "cgroup_mutex", "pernet_ops_rwsem"};
	uint64_t addr;

	if (!ksyms || !ksyms__has_data(ksyms)) {
		skip("static locks by symbol", "kallsyms has no data symbols here");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!ksyms__addr(ksyms, names[i], &addr))
			is_named(addr, i == 2 ? LB_RWSEM : LB_MUTEX, names[i], "%s", names[i]);
}

static void check_others(void)
{
	uint64_t sig = get(task_of_self(), KF_TASK_SIGNAL), cache;
	struct ktask me;
	struct kslab s;
	int err;

	ktask__read(k, task_of_self(), &me);
	is_named(at(sig, KF_SIGNAL_CRED_GUARD), LB_MUTEX, "cred_guard_mutex",
		 "cred_guard_mutex of %s/%d", me.comm, me.tgid);
	is_named(at(sig, KF_SIGNAL_EXEC_UPDATE), LB_RWSEM, "exec_update_lock",
		 "exec_update_lock of %s/%d", me.comm, me.tgid);
	if (kmem__has(k, KF_SIGNAL_CGROUP_RWSEM))
		is_named(at(sig, KF_SIGNAL_CGROUP_RWSEM), LB_RWSEM, "cgroup_threadgroup_rwsem",
			 "cgroup_threadgroup_rwsem of %s/%d", me.comm, me.tgid);
	err = kslab__read(k, task_of_self() + 64, &s);
	if (err == -EOPNOTSUPP) {
		skip("the slab cache of a task", "this kernel does not tell");
		return;
	}
	ok(!err && !strcmp(s.name, "task_struct") && s.object == task_of_self(),
	   "the slab cache of a task is task_struct (%s, object %s)", s.name,
	   s.object == task_of_self() ? "right" : "wrong");
	cache = s.cache;
	err = kslab__read(k, get(task_of_self(), KF_TASK_MM) + 8, &s);
	ok(!err && s.cache != cache && s.object == get(task_of_self(), KF_TASK_MM),
	   "that of an mm is another (%s)", s.name);
	err = kslab__read(k, inode_of(0) + 8, &s);
	ok(!err && strstr(s.name, "inode") && s.object, "that of an inode is one of inodes (%s)",
	   s.name);
}

/* What a lock must say of its owner and its queue. */
struct want {
	pid_t tid;
	enum lb_mode mode;
};

static void check_lock(const char *what, uint64_t addr, enum lb_kind kind, const struct want *owner,
		       const struct want *queue, size_t n_queue)
{
	struct lock_waiter w[8];
	struct lock_owner o;
	size_t n = 0, good = 0;
	bool more = false, exact = owner->mode == LB_WRITE;
	int err = 0;

	for (int i = 0; i < 200 && n != n_queue; i++) {
		err = kmem__lock_waiters(k, addr, kind, w, ARRAY_SIZE(w), &n, &more);
		usleep(5000);
	}
	for (size_t i = 0; i < n && i < n_queue; i++)
		good += w[i].tid == queue[i].tid && w[i].tgid == getpid() &&
			(!w[i].mode_known || w[i].mode == queue[i].mode);
	ok(!err && n == n_queue && good == n && !more, "%s: the queue is right (%zu waiters)", what,
	   n);
	for (size_t i = 0; good != n_queue && i < n; i++)
		printf("# waiter %d mode %d known %d\n", w[i].tid, w[i].mode, w[i].mode_known);
	err = kmem__lock_owner(k, addr, kind, &o);
	if (kmem__is_rt(k) && !exact)
		ok(!err && o.state == LOCK_HELD && o.mode == LB_READ && o.readers == 1,
		   "%s: held by one reader, whom PREEMPT_RT does not record", what);
	else
		ok(!err && o.state == LOCK_HELD && o.mode == owner->mode && o.tid == owner->tid &&
			   o.tgid == getpid() && o.waiters == (n_queue > 0) &&
			   o.certainty == (exact ? LB_EXACT : LB_LIKELY),
		   "%s: the owner is right", what);
	printf("# owner: err %d state %d mode %d tid %d (want %d) certainty %d readers %u waiters "
	       "%d\n",
	       err, o.state, o.mode, o.tid, owner->tid, o.certainty, o.readers, o.waiters);
}

static void check_rwsem_write(void)
{
	struct waiter w[2];
	struct want owner, queue[2];
	struct hold h;
	char path[128];
	uint64_t lock;
	int fd, err;

	snprintf(path, sizeof(path), "%s/held", dir);
	fd = make_file(path, O_RDWR);
	lock = lock_of_inode(fd);
	err = hold__begin(&h, do_pwrite, &fd);
	if (err) {
		skip("an rwsem held for write", strerror(-err));
		goto out;
	}
	owner = (struct want){h.tid, LB_WRITE};
	check_lock("rwsem, written, nobody waits", lock, LB_RWSEM, &owner, NULL, 0);
	for (int i = 0; i < 2; i++) {
		if (waiter__begin(&w[i], do_pwrite, &fd))
			printf("# waiter %d did not sleep\n", i);
		queue[i] = (struct want){w[i].tid, LB_WRITE};
	}
	check_lock("rwsem, written, two writers wait", lock, LB_RWSEM, &owner, queue, 2);
	is_named(lock, LB_RWSEM, "i_rwsem", "i_rwsem of %s", path);
	if (kmem__is_rt(k))
		is_named(lock + (uint64_t)kmem__off(k, KF_RWSEM_RT_MUTEX), LB_RT_MUTEX, "i_rwsem",
			 "i_rwsem of %s", path);
	hold__end(&h);
	for (int i = 0; i < 2; i++)
		waiter__end(&w[i]);
out:
	close(fd);
	unlink(path);
}

static void check_rwsem_read(void)
{
	struct waiter w[3];
	struct want owner, queue[3];
	struct hold h;
	char path[128], file[160];
	int fd, err;

	snprintf(path, sizeof(path), "%s/dir", dir);
	mkdir(path, 0700);
	snprintf(file, sizeof(file), "%s/f", path);
	close(make_file(file, O_RDWR));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = hold__begin(&h, do_getdents, path);
	if (err) {
		skip("an rwsem held for read", strerror(-err));
		goto out;
	}
	owner = (struct want){h.tid, LB_READ};
	for (int i = 0; i < 3; i++) {
		if (waiter__begin(&w[i], i == 1 ? do_getdents : do_creat, path))
			printf("# waiter %d did not sleep\n", i);
		queue[i] = (struct want){w[i].tid, i == 1 ? LB_READ : LB_WRITE};
	}
	check_lock("rwsem, read, a writer, a reader and a writer wait", lock_of_inode(fd), LB_RWSEM,
		   &owner, queue, 3);
	hold__end(&h);
	for (int i = 0; i < 3; i++)
		waiter__end(&w[i]);
out:
	close(fd);
	unlink(file);
	rmdir(path);
}

static void check_mutexes(void)
{
	struct waiter w;
	struct want owner, queue;
	struct hold h;
	char path[128];
	int fd, p[2], err;

	snprintf(path, sizeof(path), "%s/pos", dir);
	fd = make_file(path, O_RDWR);
	lseek(fd, 0, SEEK_SET);
	err = hold__begin(&h, do_read, &fd);
	if (err) {
		skip("a mutex held", strerror(-err));
		goto out;
	}
	waiter__begin(&w, do_read, &fd);
	owner = (struct want){h.tid, LB_WRITE};
	queue = (struct want){w.tid, LB_WRITE};
	check_lock("mutex of a file position", at(file_of(fd), KF_FILE_POS_LOCK), LB_MUTEX, &owner,
		   &queue, 1);
	hold__end(&h);
	waiter__end(&w);
	if (!pipe2(p, O_CLOEXEC) && !hold__begin(&h, do_write, &p[1])) {
		waiter__begin(&w, do_write, &p[1]);
		owner.tid = h.tid;
		queue.tid = w.tid;
		check_lock("mutex of a pipe", at(get(inode_of(p[0]), KF_INODE_PIPE), KF_PIPE_MUTEX),
			   LB_MUTEX, &owner, &queue, 1);
		hold__end(&h);
		waiter__end(&w);
		close(p[0]);
		close(p[1]);
	}
out:
	close(fd);
	unlink(path);
}

static volatile bool stop;

static void *populate(void *arg)
{
	while (!stop) {
		void *p = mmap(NULL, 8 << 20, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		munmap(p, 8 << 20);
	}
	return NULL;
}

/* A child that maps and unmaps as fast as it can: whatever owner is seen must be one of its tasks.
 */
static void check_mm_owner(void)
{
	unsigned int exact = 0, wrong = 0, held = 0;
	pthread_t t[2];
	uint64_t lock;
	int status;
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < 2; i++)
			pthread_create(&t[i], NULL, populate, NULL);
		pause();
		_exit(0);
	}
	usleep(100000);
	lock = at(get(task_of(pid), KF_TASK_MM), KF_MM_MMAP_LOCK);
	for (int i = 0; i < 20000; i++) {
		struct lock_owner o;

		if (kmem__lock_owner(k, lock, LB_RWSEM, &o) || o.state != LOCK_HELD)
			continue;
		held++;
		exact += o.certainty == LB_EXACT;
		wrong += o.certainty != LB_UNKNOWN && o.tgid != pid;
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	ok(!wrong && held,
	   "owners of a busy mmap_lock: held %u times, exact %u, of another process %u", held,
	   exact, wrong);
}

static uint64_t rnd(void)
{
	static uint64_t s = 88172645463325252ull;

	s ^= s << 13;
	s ^= s >> 7;
	s ^= s << 17;
	return s;
}

/* Whether addr may be a lock after all: at least it lies at the offset of its field in an object of
 * the right slab cache. */
static bool may_be(uint64_t addr, const struct identity *id)
{
	struct kslab s;

	printf("# a random hit? 0x%llx: %s\n", (unsigned long long)addr, id->text);
	if (kslab__read(k, addr, &s) || !s.object)
		return false;
	if (!strcmp(id->cls, "f_pos_lock"))
		return !strcmp(s.name, "filp") &&
		       addr - s.object == (uint64_t)kmem__off(k, KF_FILE_POS_LOCK);
	return strstr(s.name, "inode") || strstr(s.name, "mm_struct") || strstr(s.name, "signal");
}

/* Addresses that are no locks: nothing may crash, and none may be called a field of a structure. */
static void check_random(void)
{
	uint64_t heap = task_of_self() & ~((1ull << 30) - 1);
	unsigned int claims = 0, named = 0;

	for (unsigned int i = 0; i < 3000; i++) {
		uint64_t addr = i % 3 == 0   ? heap + (rnd() & ((1ull << 31) - 1))
				: i % 3 == 1 ? task_of_self() + (rnd() & 0xffff)
					     : rnd();
		struct identity id;

		addr &= i % 7 ? ~7ull : ~0ull;
		identity__resolve(ids, addr, (enum lb_kind)(i % LB_KIND_N), NULL, &id);
		named += id.how == IDENTITY_SLAB;
		claims += id.how == IDENTITY_STRUCTURE && !may_be(addr, &id);
	}
	ok(!claims, "3000 random addresses: no false claim (%u in slab caches)", named);
}

static void run(void)
{
	struct stat st;

	check_fields();
	check_mm();
	check_files(dir);
	check_nameless();
	check_all_mounts();
	check_symbols();
	check_others();
	check_vmas();
	check_file_systems();
	if (!hold__works() || stat(dir, &st)) {
		skip("owners and queues", "no userfaultfd");
	} else {
		check_rwsem_write();
		check_rwsem_read();
		check_mutexes();
	}
	check_mm_owner();
	check_random();
}

int main(void)
{
	struct identity_syms syms;
	struct kmem *live;
	struct err e;
	struct utsname u;

	probe_offsets = btf_offsets__new(NULL);
	live = kmem__live(probe_offsets, &e);
	if (!live) {
		printf("Bail out! %s\n", e.msg);
		return 1;
	}
	k = live;
	ksyms = ksyms__load(NULL, NULL);
	syms = identity_syms__kallsyms(ksyms, k);
	ids = identities__new(k, &syms);
	snprintf(dir, sizeof(dir), "/tmp/kmem-check.XXXXXX");
	mkdir("/tmp", 0777);
	if (!mkdtemp(dir)) {
		printf("Bail out! cannot make %s\n", dir);
		return 1;
	}
	uname(&u);
	printf("# kernel %s\n", u.release);
	run();
	rmdir(dir);
	printf("1..%u\n", n_tests);
	identities__free(ids);
	kmem__free(live);
	ksyms__free(ksyms);
	btf_offsets__free(probe_offsets);
	return n_bad != 0;
}
