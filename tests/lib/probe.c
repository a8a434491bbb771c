// SPDX-License-Identifier: GPL-2.0
#include "probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kmem/task.h"

struct kmem *probe_k;
struct btf_offsets *probe_offsets;

#define k probe_k

uint64_t task_of(pid_t tid)
{
	const struct kmem_task_row *rows;
	size_t n;

	if (kmem__tasks(k, 0, &rows, &n))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (rows[i].tid == tid)
			return rows[i].task;
	return 0;
}

uint64_t get(uint64_t obj, enum kmem_field f)
{
	uint64_t v;

	return kmem__get(k, obj, f, &v) ? 0 : v;
}

uint64_t at(uint64_t obj, enum kmem_field f)
{
	return obj + (uint64_t)kmem__off(k, f);
}

uint64_t task_of_self(void)
{
	static uint64_t task;

	if (!task)
		task = task_of(getpid());
	return task;
}

uint64_t file_of(int fd)
{
	uint64_t fdt = get(get(task_of_self(), KF_TASK_FILES), KF_FILES_FDT), file;

	return kmem__read(k, get(fdt, KF_FDT_FD) + 8 * (uint64_t)fd, &file, 8) ? 0 : file;
}

uint64_t inode_of(int fd)
{
	return get(file_of(fd), KF_FILE_INODE);
}

uint64_t lock_of_inode(int fd)
{
	return at(inode_of(fd), KF_INODE_RWSEM);
}

/* A VMA of mm that want() accepts: through the list of 5.10, or by looking at every word of the
 * maple tree's nodes (256 bytes, the low byte of a pointer to one is a tag). */
static uint64_t vma_in_node(uint64_t word, uint64_t mm, bool (*want)(uint64_t vma), int depth)
{
	uint64_t words[32], found = 0;

	if (kmem_ptr_ok(word) && get(word, KF_VMA_MM) == mm)
		return want(word) ? word : 0;
	if (depth > 4 || !(word >> 63) || kmem__read(k, word & ~255ull, words, sizeof(words)))
		return 0;
	for (int i = 1; i < 32 && !found; i++)
		if (words[i] >> 63 && (words[i] & ~255ull) != (word & ~255ull))
			found = vma_in_node(words[i], mm, want, depth + 1);
	return found;
}

uint64_t find_vma(bool (*want)(uint64_t vma))
{
	uint64_t mm = get(task_of_self(), KF_TASK_MM), vma = 0, root, next;
	struct btf_field f;

	if (!btf_offsets__find(probe_offsets, "mm_struct.mm_mt.ma_root", &f)) {
		if (!kmem__read(k, mm + f.off, &root, 8))
			vma = vma_in_node(root, mm, want, 0);
	} else if (!btf_offsets__find(probe_offsets, "mm_struct.mmap", &f) &&
		   !kmem__read(k, mm + f.off, &next, 8) &&
		   !btf_offsets__find(probe_offsets, "vm_area_struct.vm_next", &f)) {
		while (next && !want(next) && !kmem__read(k, next + f.off, &next, 8))
			;
		vma = next;
	}
	return vma;
}

bool has_anon(uint64_t vma)
{
	return get(vma, KF_VMA_ANON) != 0;
}

bool is_huge(uint64_t vma)
{
	return get(get(vma, KF_VMA_PRIVATE), KF_HUGETLB_VMA) == vma;
}

long do_pwrite(void *arg, char *page)
{
	return pwrite(*(int *)arg, page ? page : "y", 1, 0);
}

long do_read(void *arg, char *page)
{
	char c;

	return read(*(int *)arg, page ? page : &c, 1);
}

long do_write(void *arg, char *page)
{
	return write(*(int *)arg, page ? page : "z", 1);
}

long do_getdents(void *arg, char *page)
{
	char buf[4096];
	int fd = open(arg, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long ret = syscall(SYS_getdents64, fd, page ? page : buf, sizeof(buf));

	close(fd);
	return ret;
}

long do_creat(void *arg, char *page)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/new%ld", (char *)arg, syscall(SYS_gettid));
	close(open(path, O_CREAT | O_EXCL | O_CLOEXEC | O_WRONLY, 0600));
	unlink(path);
	return 0;
}
