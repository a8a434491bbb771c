/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKBLAME_KMEM_FIELDS_H
#define LOCKBLAME_KMEM_FIELDS_H

/* Every kernel field that the walkers (and the probes of their tests) read, by BTF path (syntax in
 * btf_offsets.h). This is the whole kernel surface of src/kmem. Alternatives are ordered newest first;
 * a field that no alternative names is absent (-ENOENT) and the walker that wanted it does without. */
#define KMEM_FIELDS(F)                                                                             \
	F(TASK_PID, "task_struct.pid")                                                             \
	F(TASK_TGID, "task_struct.tgid")                                                           \
	F(TASK_COMM, "task_struct.comm")                                                           \
	F(TASK_MM, "task_struct.mm")                                                               \
	F(TASK_FLAGS, "task_struct.flags")                                                         \
	F(TASK_LEADER, "task_struct.group_leader")                                                 \
	F(TASK_THREAD_PID, "task_struct.thread_pid")                                               \
	F(TASK_PID_LINKS, "task_struct.pid_links")                                                 \
	F(TASK_START, "task_struct.start_time")                                                    \
	F(TASK_FILES, "task_struct.files")                                                         \
	F(TASK_SIGNAL, "task_struct.signal")                                                       \
	F(TASK_NSPROXY, "task_struct.nsproxy")                                                     \
	F(TASK_FS, "task_struct.fs")                                                               \
	F(TASK_STATE, "task_struct.__state|task_struct.state")                                     \
	F(TASK_EXIT_STATE, "task_struct.exit_state")                                               \
	F(TASK_ON_CPU, "task_struct.on_cpu")                                                       \
	F(TASK_CPU, "task_struct.thread_info.cpu|task_struct.cpu")                                 \
	F(TASK_SP, "task_struct.thread.sp|task_struct.thread.cpu_context.sp")                      \
	F(TASK_STACK, "task_struct.stack")                                                         \
	F(TASK_NVCSW, "task_struct.nvcsw")                                                         \
	F(TASK_NIVCSW, "task_struct.nivcsw")                                                       \
	F(TASK_EXEC_START, "task_struct.se.exec_start")                                            \
	F(TASK_LAST_ARRIVAL, "task_struct.sched_info.last_arrival")                                \
	F(TASK_CFS_RQ, "task_struct.se.cfs_rq")                                                    \
	F(CFS_RQ_RQ, "cfs_rq.rq")                                                                  \
	F(RQ_CLOCK, "rq.clock")                                                                    \
	F(RQ_CLOCK_TASK, "rq.clock_task")                                                          \
	F(TASK_PARENT, "task_struct.parent")                                                       \
	F(TASK_REAL_PARENT, "task_struct.real_parent")                                             \
	F(TASK_VFORK_DONE, "task_struct.vfork_done")                                               \
	F(TASK_BLOCKER, "task_struct.blocker")                                                     \
	F(TASK_BLOCKED_ON, "task_struct.blocked_on")                                               \
	F(TASK_PI_BLOCKED_ON, "task_struct.pi_blocked_on")                                         \
	F(NSPROXY_MNT, "nsproxy.mnt_ns")                                                           \
	F(FS_ROOT_MNT, "fs_struct.root.mnt")                                                       \
	F(FS_ROOT_DENTRY, "fs_struct.root.dentry")                                                 \
	F(PID_TASKS, "pid.tasks")                                                                  \
	F(SIGNAL_THREADS, "signal_struct.thread_head")                                             \
	F(SIGNAL_EXEC_UPDATE, "signal_struct.exec_update_lock|signal_struct.exec_update_mutex")    \
	F(SIGNAL_CRED_GUARD, "signal_struct.cred_guard_mutex")                                     \
	F(SIGNAL_CGROUP_RWSEM, "signal_struct.cgroup_threadgroup_rwsem")                           \
	F(TASK_THREAD_NODE, "task_struct.thread_node")                                             \
	F(MM_MMAP_LOCK, "mm_struct.mmap_lock|mm_struct.mmap_sem")                                  \
	F(MM_OWNER, "mm_struct.owner")                                                             \
	F(MM_COUNT, "mm_struct.mm_count")                                                          \
	F(MM_PGD, "mm_struct.pgd")                                                                 \
	F(MM_EXE_FILE, "mm_struct.exe_file")                                                       \
	F(FILE_INODE, "file.f_inode")                                                              \
	F(FILE_MAPPING, "file.f_mapping")                                                          \
	F(FILE_DENTRY, "file.f_path.dentry")                                                       \
	F(FILE_PRIVATE, "file.private_data")                                                       \
	F(FILE_COUNT, "file.f_count")                                                              \
	F(FILE_REF, "file.f_ref")                                                                  \
	F(FILE_POS_LOCK, "file.f_pos_lock")                                                        \
	F(FILES_FDT, "files_struct.fdt")                                                           \
	F(FDT_FD, "fdtable.fd")                                                                    \
	F(FDT_MAX, "fdtable.max_fds")                                                              \
	F(VMA_MM, "vm_area_struct.vm_mm")                                                          \
	F(VMA_ANON, "vm_area_struct.anon_vma")                                                     \
	F(VMA_PRIVATE, "vm_area_struct.vm_private_data")                                           \
	F(VMA_FILE, "vm_area_struct.vm_file")                                                      \
	F(ANON_ROOT, "anon_vma.root")                                                              \
	F(ANON_PARENT, "anon_vma.parent")                                                          \
	F(ANON_REFCOUNT, "anon_vma.refcount")                                                      \
	F(ANON_RWSEM, "anon_vma.rwsem")                                                            \
	F(ANON_TREE, "anon_vma.rb_root.rb_root.rb_node")                                           \
	F(AVC_VMA, "anon_vma_chain.vma")                                                           \
	F(AVC_ANON, "anon_vma_chain.anon_vma")                                                     \
	F(AVC_RB, "anon_vma_chain.rb")                                                             \
	F(RB_LEFT, "rb_node.rb_left")                                                              \
	F(RB_RIGHT, "rb_node.rb_right")                                                            \
	F(LIST_NEXT, "list_head.next")                                                             \
	F(LIST_PREV, "list_head.prev")                                                             \
	F(MAPPING_HOST, "address_space.host")                                                      \
	F(MAPPING_I_MMAP_RWSEM, "address_space.i_mmap_rwsem")                                      \
	F(MAPPING_INVALIDATE, "address_space.invalidate_lock")                                     \
	F(INODE_RWSEM, "inode.i_rwsem")                                                            \
	F(INODE_DATA, "inode.i_data")                                                              \
	F(INODE_MAPPING, "inode.i_mapping")                                                        \
	F(INODE_SB, "inode.i_sb")                                                                  \
	F(INODE_INO, "inode.i_ino")                                                                \
	F(INODE_MODE, "inode.i_mode")                                                              \
	F(INODE_RDEV, "inode.i_rdev")                                                              \
	F(INODE_GENERATION, "inode.i_generation")                                                  \
	F(INODE_DENTRY, "inode.i_dentry.first")                                                    \
	F(INODE_PIPE, "inode.i_pipe")                                                              \
	F(INODE_STATE, "inode.i_state")                                                            \
	F(ENUM_I_CLEAR, "enum I_CLEAR")                                                            \
	F(DENTRY_ALIAS, "dentry.d_u.d_alias|dentry.d_alias")                                       \
	F(DENTRY_INODE, "dentry.d_inode")                                                          \
	F(DENTRY_PARENT, "dentry.d_parent")                                                        \
	F(DENTRY_NAME, "dentry.d_name.name|dentry.__d_name.name")                                  \
	F(DENTRY_NAME_LEN, "dentry.d_name.len|dentry.__d_name.len")                                \
	F(DENTRY_HASH_PPREV, "dentry.d_hash.pprev")                                                \
	F(DENTRY_FLAGS, "dentry.d_flags")                                                          \
	F(DENTRY_SB, "dentry.d_sb")                                                                \
	F(DENTRY_ALIAS_NEXT, "hlist_node.next")                                                    \
	F(SB_DEV, "super_block.s_dev")                                                             \
	F(SB_LIST, "super_block.s_list")                                                           \
	F(SB_COUNT, "super_block.s_count|super_block.s_passive")                                   \
	F(SB_TYPE, "super_block.s_type")                                                           \
	F(SB_ROOT, "super_block.s_root")                                                           \
	F(SB_ID, "super_block.s_id")                                                               \
	F(SB_FLAGS, "super_block.s_flags")                                                         \
	F(SB_UMOUNT, "super_block.s_umount")                                                       \
	F(SB_RENAME, "super_block.s_vfs_rename_mutex")                                             \
	F(SB_WRITERS, "super_block.s_writers.rw_sem")                                              \
	F(SB_FROZEN, "super_block.s_writers.frozen")                                               \
	F(SB_MOUNTS, "super_block.s_mounts")                                                       \
	F(MOUNT_VFS, "mount.mnt")                                                                  \
	F(MOUNT_ROOT, "mount.mnt.mnt_root")                                                        \
	F(MOUNT_SB, "mount.mnt.mnt_sb")                                                            \
	F(MOUNT_PARENT, "mount.mnt_parent")                                                        \
	F(MOUNT_POINT, "mount.mnt_mountpoint")                                                     \
	F(MOUNT_NS, "mount.mnt_ns")                                                                \
	F(MOUNT_CHILDREN, "mount.mnt_mounts")                                                      \
	F(MOUNT_CHILD, "mount.mnt_child")                                                          \
	F(MOUNT_INSTANCE, "mount.mnt_instance")                                                    \
	F(MOUNT_NEXT_FOR_SB, "mount.mnt_next_for_sb")                                              \
	F(ENUM_DCACHE_MOUNTED, "enum DCACHE_MOUNTED")                                              \
	F(FSTYPE_NAME, "file_system_type.name")                                                    \
	F(RWSEM_COUNT, "rw_semaphore.count")                                                       \
	F(RWSEM_OWNER, "rw_semaphore.owner")                                                       \
	F(RWSEM_WAIT_LIST, "rw_semaphore.wait_list")                                               \
	F(RWSEM_FIRST, "rw_semaphore.first_waiter")                                                \
	F(RWSEM_RT, "rw_semaphore.rwbase")                                                         \
	F(RWSEM_RT_READERS, "rw_semaphore.rwbase.readers")                                         \
	F(RWSEM_RT_MUTEX, "rw_semaphore.rwbase.rtmutex")                                           \
	F(RWSEM_RT_OWNER, "rw_semaphore.rwbase.rtmutex.owner")                                     \
	F(RWAITER_LIST, "rwsem_waiter.list")                                                       \
	F(RWAITER_TASK, "rwsem_waiter.task")                                                       \
	F(RWAITER_TYPE, "rwsem_waiter.type")                                                       \
	F(RWAITER_HANDOFF, "rwsem_waiter.handoff_set")                                             \
	F(MUTEX_OWNER, "mutex.owner")                                                              \
	F(MUTEX_WAIT_LIST, "mutex.wait_list")                                                      \
	F(MUTEX_FIRST, "mutex.first_waiter")                                                       \
	F(MUTEX_RT, "mutex.rtmutex")                                                               \
	F(MWAITER_LIST, "mutex_waiter.list")                                                       \
	F(MWAITER_TASK, "mutex_waiter.task")                                                       \
	F(SEM_COUNT, "semaphore.count")                                                            \
	F(SEM_WAIT_LIST, "semaphore.wait_list")                                                    \
	F(SEM_FIRST, "semaphore.first_waiter")                                                     \
	F(SEM_LAST_HOLDER, "semaphore.last_holder")                                                \
	F(SWAITER_LIST, "semaphore_waiter.list")                                                   \
	F(SWAITER_TASK, "semaphore_waiter.task")                                                   \
	F(PERCPU_WRITER, "percpu_rw_semaphore.writer.task")                                        \
	F(PERCPU_BLOCK, "percpu_rw_semaphore.block")                                               \
	F(PERCPU_WAITERS, "percpu_rw_semaphore.waiters.head")                                      \
	F(PERCPU_SIZE, "sizeof percpu_rw_semaphore")                                               \
	F(RTM_OWNER, "rt_mutex_base.owner|rt_mutex.owner")                                         \
	F(RTM_TREE, "rt_mutex_base.waiters.rb_root.rb_node|rt_mutex.waiters.rb_root.rb_node")      \
	F(RTW_TREE, "rt_mutex_waiter.tree.entry|rt_mutex_waiter.tree_entry")                       \
	F(RTW_TASK, "rt_mutex_waiter.task")                                                        \
	F(RTW_LOCK, "rt_mutex_waiter.lock")                                                        \
	F(WQE_PRIVATE, "wait_queue_entry.private")                                                 \
	F(WQE_ENTRY, "wait_queue_entry.entry")                                                     \
	F(WQE_FLAGS, "wait_queue_entry.flags")                                                     \
	F(PIPE_MUTEX, "pipe_inode_info.mutex")                                                     \
	F(EP_MTX, "eventpoll.mtx")                                                                 \
	F(EP_FILE, "eventpoll.file")                                                               \
	F(HUGETLB_LOCK, "hugetlb_vma_lock.rw_sema")                                                \
	F(HUGETLB_VMA, "hugetlb_vma_lock.vma")                                                     \
	F(EXT4_DATA_SEM, "ext4:ext4_inode_info.i_data_sem")                                        \
	F(EXT4_INODE, "ext4:ext4_inode_info.vfs_inode")                                            \
	F(XFS_LOCK, "xfs:xfs_inode.i_lock")                                                        \
	F(XFS_INODE, "xfs:xfs_inode.i_vnode")                                                      \
	F(PAGE_SIZE_OF, "sizeof page")                                                             \
	F(PAGE_FLAGS, "page.flags")                                                                \
	F(PAGE_TYPE, "page.page_type")                                                             \
	F(PAGE_HEAD, "page.compound_head|page.compound_info")                                      \
	F(SLAB_CACHE, "slab.slab_cache|page.slab_cache")                                           \
	F(SLAB_FREELIST, "slab.freelist|page.freelist")                                            \
	F(CACHE_NAME, "kmem_cache.name")                                                           \
	F(CACHE_SIZE, "kmem_cache.size")                                                           \
	F(CACHE_OBJECT_SIZE, "kmem_cache.object_size")                                             \
	F(CACHE_RED_LEFT, "kmem_cache.red_left_pad")                                               \
	F(CACHE_OO, "kmem_cache.oo.x")                                                             \
	F(CACHE_MIN, "kmem_cache.min.x")                                                           \
	F(CACHE_NODE, "kmem_cache.node|kmem_cache.per_node.node")                                  \
	F(CACHE_LIST, "kmem_cache.list")                                                           \
	F(NODE_PARTIAL, "kmem_cache_node.partial.next")                                            \
	F(SLAB_LIST, "slab.slab_list|page.slab_list")                                              \
	F(FUNC_GET_CACHE, "func bpf_get_kmem_cache")                                               \
	F(ENUM_PG_SLAB, "enum PG_slab")                                                            \
	F(ENUM_PGTY_SLAB, "enum PGTY_slab")

#define KMEM_FIELD_ENUM(id, path) KF_##id,
enum kmem_field {
	KMEM_FIELDS(KMEM_FIELD_ENUM) KF_N
};
#undef KMEM_FIELD_ENUM

#endif
