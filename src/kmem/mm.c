// SPDX-License-Identifier: GPL-2.0
#include "kmem/mm.h"

#include <errno.h>
#include <string.h>

#include "kmem/inode.h"
#include "util/cleanup.h"

#define TASKS_MAX_AGE_NS 500000000u
#define ANON_VMAS_MAX 32

static int task_with_mm(struct kmem *k, uint64_t task, uint64_t mm, struct ktask *out)
{
	struct ktask leader;
	int err = ktask__read(k, task, out);

	if (err)
		return err;
	if (out->mm != mm)
		return -ESRCH;
	/* The process is known by its leader's name; a leader that has exited has no mm. */
	if (out->leader != task && !ktask__read(k, out->leader, &leader) && leader.mm == mm)
		*out = leader;
	return 0;
}

static int by_owner(struct kmem *k, uint64_t mm, struct ktask *out)
{
	uint64_t owner;
	int err = kmem__get(k, mm, KF_MM_OWNER, &owner);

	return err ? err : task_with_mm(k, owner, mm, out);
}

static int by_pass(struct kmem *k, uint64_t mm, pid_t hint_tgid, struct ktask *out)
{
	const struct kmem_task_row *rows, *best = NULL;
	size_t n;

	if (kmem__tasks(k, TASKS_MAX_AGE_NS, &rows, &n))
		return -ESRCH;
	for (size_t i = 0; i < n; i++) {
		if (rows[i].mm != mm)
			continue;
		if (!best || rows[i].tgid == hint_tgid)
			best = &rows[i];
		if (best->tgid == hint_tgid || !hint_tgid)
			break;
	}
	return best ? task_with_mm(k, best->task, mm, out) : -ESRCH;
}

/* A pass over all tasks is worth it only for what looks like an mm: references, and a top-level
 * page table, which fills a page. */
static bool is_plausible(struct kmem *k, uint64_t mm)
{
	static const enum kmem_field f[] = {KF_MM_COUNT, KF_MM_PGD};
	uint64_t v[ARRAY_SIZE(f)];
	int err = kmem__getv(k, mm, f, v, ARRAY_SIZE(f));

	if (err)
		return err == -ENOENT;
	return v[0] && v[0] <= INT32_MAX && kmem_ptr_ok(v[1]) && !(v[1] & 4095);
}

int kmm__read(struct kmem *k, uint64_t addr, pid_t hint_tgid, struct kmm *out)
{
	memset(out, 0, sizeof(*out));
	if (!kmem_ptr_ok(addr))
		return -ESRCH;
	out->addr = addr;
	if (!by_owner(k, addr, &out->process))
		return 0;
	if (!is_plausible(k, addr))
		return -ESRCH;
	return by_pass(k, addr, hint_tgid, &out->process) ? -ESRCH : 0;
}

int kmm__exiting(struct kmem *k, uint64_t addr, uint64_t *file)
{
	struct kfile kf;

	if (!kmem_ptr_ok(addr) || !kmem__has(k, KF_MM_COUNT) || !is_plausible(k, addr) ||
	    kmem__get(k, addr, KF_MM_EXE_FILE, file))
		return -ESRCH;
	return kfile__read(k, *file, &kf) ? -ESRCH : 0;
}

/* The VMA of the anon_vma_chain whose tree node is rb, if all its links agree. */
static int avc_vma_mm(struct kmem *k, uint64_t rb, uint64_t anon, uint64_t *mm)
{
	static const enum kmem_field f[] = {KF_AVC_VMA, KF_AVC_ANON};
	int64_t off = kmem__off(k, KF_AVC_RB);
	uint64_t v[ARRAY_SIZE(f)];

	if (off < 0 || !kmem_ptr_ok(rb) || kmem__getv(k, rb - (uint64_t)off, f, v, ARRAY_SIZE(f)))
		return -EFAULT;
	if (v[1] != anon || !kmem_ptr_ok(v[0]) || kmem__get(k, v[0], KF_VMA_MM, mm))
		return -ESRCH;
	return kmem_ptr_ok(*mm) ? 0 : -ESRCH;
}

static void push(uint64_t *stack, size_t *n, uint64_t rb)
{
	if (rb && *n < ANON_VMAS_MAX)
		stack[(*n)++] = rb;
}

/* A bounded walk over the tree. Nodes that have changed under us are skipped: what is claimed rests
 * on those whose links agree. */
static void walk_tree(struct kmem *k, uint64_t root, struct kanon *out)
{
	static const enum kmem_field f[] = {KF_RB_LEFT, KF_RB_RIGHT};
	uint64_t stack[ANON_VMAS_MAX], child[2], mm;
	size_t n = 0, seen = 0;

	push(stack, &n, root);
	while (n && seen < ANON_VMAS_MAX) {
		uint64_t rb = stack[--n];

		seen++;
		if (!avc_vma_mm(k, rb, out->addr, &mm)) {
			if (out->mm && out->mm != mm)
				out->several = true;
			else
				out->mm = mm;
		}
		if (kmem_ptr_ok(rb) && !kmem__getv(k, rb, f, child, 2)) {
			push(stack, &n, child[1]);
			push(stack, &n, child[0]);
		}
	}
	out->several |= n > 0;
}

int kanon__read(struct kmem *k, uint64_t addr, struct kanon *out)
{
	static const enum kmem_field f[] = {KF_ANON_ROOT, KF_ANON_PARENT, KF_ANON_TREE,
					    KF_ANON_REFCOUNT};
	uint64_t v[ARRAY_SIZE(f)];

	memset(out, 0, sizeof(*out));
	out->addr = addr;
	if (!kmem_ptr_ok(addr) || kmem__getv(k, addr, f, v, ARRAY_SIZE(f)))
		return -ESRCH;
	/* Only the root's lock is ever taken. */
	if (v[0] != addr || v[1] != addr || !v[3])
		return -ESRCH;
	walk_tree(k, v[2], out);
	return out->mm ? 0 : -ESRCH;
}
