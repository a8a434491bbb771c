// SPDX-License-Identifier: GPL-2.0
#include "kmem/task.h"

#include <errno.h>
#include <string.h>

#include "util/cleanup.h"

#define PID_LIMIT 4194304 /* PID_MAX_LIMIT of 64-bit kernels */

/* task->thread_pid is cleared when the task is reaped, and pid->tasks[PIDTYPE_PID] leads back. */
static bool is_hashed(struct kmem *k, uint64_t task)
{
	int64_t links = kmem__off(k, KF_TASK_PID_LINKS), tasks = kmem__off(k, KF_PID_TASKS);
	uint64_t pid, first;

	if (links < 0 || tasks < 0)
		return false;
	if (kmem__get(k, task, KF_TASK_THREAD_PID, &pid) || !kmem_ptr_ok(pid))
		return false;
	if (kmem__read(k, pid + (uint64_t)tasks, &first, sizeof(first)))
		return false;
	return first == task + (uint64_t)links;
}

static int read_fields(struct kmem *k, uint64_t addr, struct ktask *out)
{
	static const enum kmem_field f[] = {KF_TASK_PID,   KF_TASK_TGID,  KF_TASK_MM,
					    KF_TASK_FLAGS, KF_TASK_START, KF_TASK_LEADER};
	int64_t comm = kmem__off(k, KF_TASK_COMM);
	uint64_t v[ARRAY_SIZE(f)];
	int err = kmem__getv(k, addr, f, v, ARRAY_SIZE(f));

	if (!err && comm >= 0)
		err = kmem__read(k, addr + (uint64_t)comm, out->comm, sizeof(out->comm));
	if (err)
		return err;
	if (!v[0] || v[0] > PID_LIMIT || !v[1] || v[1] > PID_LIMIT)
		return -ESRCH;
	out->comm[sizeof(out->comm) - 1] = '\0';
	out->addr = addr;
	out->tid = (pid_t)v[0];
	out->tgid = (pid_t)v[1];
	out->flags = (uint32_t)v[3];
	out->mm = out->flags & KTASK_PF_KTHREAD ? 0 : v[2];
	out->start_ns = v[4];
	out->leader = v[5];
	return 0;
}

int ktask__read(struct kmem *k, uint64_t addr, struct ktask *out)
{
	int err;

	memset(out, 0, sizeof(*out));
	if (!kmem_ptr_ok(addr))
		return -EFAULT;
	err = read_fields(k, addr, out);
	if (err)
		return err;
	return is_hashed(k, addr) ? 0 : -ESRCH;
}
