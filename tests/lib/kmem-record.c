// SPDX-License-Identifier: GPL-2.0
/* Records memory images for the unit tests: kmem-record DIR. Each holds one scene, with what a
 *walker must find in it as comments:
 *
 *	# self PID
 *	# name ADDRESS KIND CLASS<tab>TEXT	an identity
 *	# owner ADDRESS KIND STATE MODE TID CERTAINTY READERS WAITERS
 *	# queue ADDRESS KIND TID/MODE/KNOWN ...
 *
 * and one file "mountinfo" with the mounts that were used. Needs root; run it on a quiet machine.
*/
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "hold.h"
#include "kmem/image.h"
#include "kmem/inode.h"
#include "kmem/lock.h"
#include "names/identity.h"
#include "probe.h"
#include "util/cleanup.h"

#define BASE "/tmp/kmem-record"

static struct kmem *live;
static struct identities *ids;
static char notes[16384];
static const char *out_dir;

static void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *fmt, ...)
{
	size_t at_end = strlen(notes);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(notes + at_end, sizeof(notes) - at_end, fmt, ap);
	va_end(ap);
}

static void begin(void)
{
	notes[0] = '\0';
	note("recorded by tests/lib/kmem-record\n# self %d", getpid());
	probe_k = kmem_record__new(live);
	ids = identities__new(probe_k, NULL);
}

static int finish(const char *scene)
{
	char path[512];
	struct err e;
	int err;

	snprintf(path, sizeof(path), "%s/%s.kmem", out_dir, scene);
	err = kmem_image__save(kmem_record__image(probe_k), path, notes, &e);
	if (err)
		fprintf(stderr, "%s\n", e.msg);
	identities__free(ids);
	kmem__free(probe_k);
	return err;
}

static void name(uint64_t addr, enum lb_kind kind)
{
	struct identity_hint h = {.tgid = getpid()};
	struct identity id;

	identity__resolve(ids, addr, kind, &h, &id);
	note("\n# name 0x%" PRIx64 " %d %s\t%s", addr, (int)kind, id.cls, id.text);
}

static void state(uint64_t addr, enum lb_kind kind)
{
	struct lock_waiter w[8];
	struct lock_owner o;
	bool more;
	size_t n;

	if (!kmem__lock_owner(probe_k, addr, kind, &o))
		note("\n# owner 0x%" PRIx64 " %d %d %d %d %d %u %d", addr, (int)kind, (int)o.state,
		     (int)o.mode, o.tid, (int)o.certainty, o.readers, o.waiters);
	if (kmem__lock_waiters(probe_k, addr, kind, w, ARRAY_SIZE(w), &n, &more))
		return;
	note("\n# queue 0x%" PRIx64 " %d", addr, (int)kind);
	for (size_t i = 0; i < n; i++)
		note(" %d/%d/%d", w[i].tid, (int)w[i].mode, w[i].mode_known);
}

static int make(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, "x", 1) != 1)
		perror(path);
	return fd;
}

static void name_file(int fd)
{
	uint64_t inode = inode_of(fd), mapping = get(inode, KF_INODE_MAPPING);

	name(at(inode, KF_INODE_RWSEM), LB_RWSEM);
	name(at(mapping, KF_MAPPING_I_MMAP_RWSEM), LB_RWSEM);
	if (kmem__has(probe_k, KF_MAPPING_INVALIDATE))
		name(at(mapping, KF_MAPPING_INVALIDATE), LB_RWSEM);
	name(at(file_of(fd), KF_FILE_POS_LOCK), LB_MUTEX);
}

static int record_objects(void)
{
	int file = make(BASE "/a file"), gone = make(BASE "/gone"), p[2], status;
	int dir = open(BASE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int mem = memfd_create("memory", MFD_CLOEXEC);
	int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint64_t self, sb, vma;
	pid_t pid;

	begin();
	unlink(BASE "/gone");
	self = task_of(getpid());
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	name(at(get(self, KF_TASK_MM), KF_MM_MMAP_LOCK), LB_RWSEM);
	name(at(get(task_of(pid), KF_TASK_MM), KF_MM_MMAP_LOCK), LB_RWSEM);
	name(at(get(self, KF_TASK_SIGNAL), KF_SIGNAL_CRED_GUARD), LB_MUTEX);
	name_file(file);
	name_file(gone);
	name(lock_of_inode(dir), LB_RWSEM);
	name(lock_of_inode(sock), LB_RWSEM);
	name(at(get(inode_of(mem), KF_INODE_MAPPING), KF_MAPPING_I_MMAP_RWSEM), LB_RWSEM);
	if (!pipe2(p, O_CLOEXEC))
		name(at(get(inode_of(p[0]), KF_INODE_PIPE), KF_PIPE_MUTEX), LB_MUTEX);
	sb = get(inode_of(dir), KF_INODE_SB);
	name(at(sb, KF_SB_UMOUNT), LB_RWSEM);
	name(at(sb, KF_SB_WRITERS) + kmem__size(probe_k, KF_PERCPU_SIZE), LB_PERCPU_RWSEM);
	vma = find_vma(has_anon);
	name(at(get(get(vma, KF_VMA_ANON), KF_ANON_ROOT), KF_ANON_RWSEM), LB_RWSEM);
	name(self + 64, LB_SPINLOCK);
	name(self & ~0xfffffffull, LB_RWSEM);
	state(lock_of_inode(file), LB_RWSEM);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return finish("objects");
}

static int record_lock(const char *scene, uint64_t addr, enum lb_kind kind, void *arg,
		       long (*hold)(void *, char *), long (*const *wait)(void *, char *), int n)
{
	struct waiter w[4];
	struct hold h;
	int err = hold__begin(&h, hold, arg);

	if (err) {
		fprintf(stderr, "%s: %s\n", scene, strerror(-err));
		return err;
	}
	for (int i = 0; i < n; i++)
		waiter__begin(&w[i], wait[i], arg);
	usleep(100000);
	begin();
	name(addr, kind);
	state(addr, kind);
	if (kmem__is_rt(probe_k) && kind == LB_RWSEM)
		name(addr + (uint64_t)kmem__off(probe_k, KF_RWSEM_RT_MUTEX), LB_RT_MUTEX);
	err = finish(scene);
	hold__end(&h);
	for (int i = 0; i < n; i++)
		waiter__end(&w[i]);
	return err;
}

static int record_locks(void)
{
	static char sub[] = BASE "/dir";
	long (*const writers[])(void *, char *) = {do_pwrite, do_pwrite};
	long (*const mixed[])(void *, char *) = {do_creat, do_getdents, do_creat};
	long (*const readers[])(void *, char *) = {do_read};
	int fd = make(BASE "/held"), dfd, err;

	probe_k = live;
	mkdir(sub, 0700);
	close(make(BASE "/dir/f"));
	dfd = open(sub, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	lseek(fd, 0, SEEK_SET);
	err = record_lock("rwsem-write", lock_of_inode(fd), LB_RWSEM, &fd, do_pwrite, writers, 2);
	probe_k = live;
	err |= record_lock("rwsem-read", lock_of_inode(dfd), LB_RWSEM, sub, do_getdents, mixed, 3);
	probe_k = live;
	err |= record_lock("mutex", at(file_of(fd), KF_FILE_POS_LOCK), LB_MUTEX, &fd, do_read,
			   readers, 1);
	return err;
}

/* Only the mount that was made for this. */
static void save_mounts(void)
{
	char path[512], line[1024];
	FILE *in = fopen("/proc/self/mountinfo", "re"), *out;

	snprintf(path, sizeof(path), "%s/mountinfo", out_dir);
	out = fopen(path, "we");
	while (in && out && fgets(line, sizeof(line), in))
		if (strstr(line, " " BASE " "))
			fputs(line, out);
	if (in)
		fclose(in);
	if (out)
		fclose(out);
}

int main(int argc, char **argv)
{
	struct err e;
	int err;

	if (argc != 2) {
		fprintf(stderr, "usage: kmem-record DIR\n");
		return 2;
	}
	out_dir = argv[1];
	probe_offsets = btf_offsets__new(NULL);
	live = kmem__live(probe_offsets, &e);
	if (!live) {
		fprintf(stderr, "%s\n", e.msg);
		return 1;
	}
	probe_k = live;
	mkdir("/tmp", 0777);
	mkdir(BASE, 0700);
	task_of_self();
	if (mount("none", BASE, "tmpfs", 0, NULL)) {
		perror(BASE);
		return 1;
	}
	save_mounts();
	err = record_objects() | record_locks();
	umount2(BASE, MNT_DETACH);
	rmdir(BASE);
	kmem__free(live);
	btf_offsets__free(probe_offsets);
	return err != 0;
}
