# SPDX-License-Identifier: GPL-2.0
# Hangs whose chains are known beforehand, looked at when they are there already.

# hang NAME OPTIONS... -- LOCKBLAME-OPTIONS: fails when this machine cannot make it (skipped then).
hung() {
	name=$1
	shift
	: >"$dir/h.json"
	hang "$@" -- lockblame hung -j -o "$dir/h.json" >"$dir/load" 2>"$dir/err"
	rc=$?
	if [ $rc = 77 ]; then
		skip "$name" "$(head -1 "$dir/err")"
		return 1
	fi
	is "$name: exit status says that something hangs" $rc 3
	is "$name: nothing lost" "$(jl -f "$dir/h.json" first lost record=summary)" \
		'{ "torn": 0, "ended": 0, "unreadable": 0, "disagree": 0 }'
	if [ "$tap_bad" != "${hung_bad:-0}" ]; then
		hung_bad=$tap_bad
		head -c 3000 "$dir/h.json" "$dir/err" | diag
	fi
}
who() { jl -f "$dir/load" first "$1"; }
# of TASK FIELD: a field of its record
of() { jl -f "$dir/h.json" first "$2" record=task "tid=$(who "$1")"; }

# Without VMA locks (before 6.4) a fault holds the mmap_lock itself: another chain than the one below. And 5.10
# inlines the wait for a vfork child.
old=no
case $(uname -r) in 5.10.*) old=yes ;; esac
vma_locks=no
! grep -q ' lock_vma_under_rcu' /proc/kallsyms || vma_locks=yes

# A three-hop chain: a fault in a frozen file system, an unmap behind it, ps behind that.
# By its path: the shell of the guests has a lesser one built in.
mke2fs=/sbin/mke2fs
[ -x /lb/bin/mke2fs ] && mke2fs=/lb/bin/mke2fs
if [ $vma_locks = no ]; then
	skip frozen "this kernel has no VMA locks: another chain"
elif [ -x $mke2fs ] && mkdir -p "$dir/mnt" && dd if=/dev/zero of="$dir/img" bs=64k count=32 2>/dev/null &&
	$mke2fs -q -F -t ext4 "$dir/img" >"$dir/err" 2>&1 && mount -t ext4 -o loop "$dir/img" "$dir/mnt" 2>"$dir/err"; then
	if hung frozen frozen "$dir/mnt"; then
		is "frozen: five tasks hang" "$(jl -f "$dir/h.json" first hung record=summary)" 5
		is "frozen: the fault waits for the frozen file system" "$(of fault waits_for.reason)" frozen-fs
		like "frozen: which is named" "$(of fault waits_for.object)" "$dir/mnt*"
		is "frozen: and so does the writer" "$(of cp waits_for.reason) $(of cp waits_for.object)" \
			"frozen-fs $(of fault waits_for.object)"
		if [ $rt = yes ]; then
			skip "frozen: the unmap waits for the fault" "the frame that takes the VMA lock is inlined there"
		else
			is "frozen: the unmap waits for the fault" "$(of unmap holder.tid)" "$(who fault)"
			is "frozen: one hang, all behind the file system" "$(jl -f "$dir/h.json" first waiting record=hang root.reason=frozen-fs)" 5
		fi
		for ps in ps ps2; do
			is "frozen: $ps waits for the mmap_lock" "$(of $ps waits_for.identity)" "mmap_lock of app/$(who app)"
			is "frozen: $ps is below the unmap" "$(of $ps behind.tid)$(of $ps holder.tid | grep -v "^$(who fault)$")" \
				"$(if [ "$(of $ps behind)" = null ]; then echo "null$(who unmap)"; else who unmap; fi)"
		done
	fi
	umount "$dir/mnt"
else
	skip frozen "$(head -1 "$dir/err") (or mke2fs is missing)"
fi

if [ $old = yes ]; then
	skip vfork "the wait for the child is inlined on 5.10"
elif hung vfork vfork; then
	is "vfork: the parent waits for its child" "$(of parent waits_for.reason)" vfork
	is "vfork: which is known for sure" "$(of parent holder.comm) $(of parent holder.certainty)" "child exact"
fi
if hung stopped stopped; then
	is "stopped: a stopped child is the root" "$(of parent root.reason)" ptrace
fi

mkdir -p "$dir/fuse"
if hung fuse fuse "$dir/fuse"; then
	is "fuse: ls waits for the server" "$(of ls waits_for.reason)" fuse
fi

# A reader has the lock; a writer waits, and readers behind it.
if hung queue queue; then
	is "queue: four wait" "$(jl -f "$dir/h.json" first hung record=summary)" 4
	is "queue: the lock" "$(of writer waits_for.identity)" "i_rwsem of $(who dir)/"
	is "queue: the writer waits for the reader" "$(of writer holder.tid) $(of writer holder.certainty)" "$(who holder) likely"
	is "queue: the reader waits behind the writer" "$(of first_reader behind.tid)" "$(who writer)"
	is "queue: all wait behind the holder" "$(jl -f "$dir/h.json" first waiting record=hang "root.tid=$(who holder)")" 4
	is "queue: places" "$(of writer waits_for.place) $(of first_reader waits_for.place)" "1 2"
fi

# Many tasks want one mutex; each source alone gives the same answer.
if hung pile --tasks 200 pile; then
	is "pile: 200 wait for the holder" "$(jl -f "$dir/h.json" count - record=task hung=true "holder.tid=$(who holder)" holder.certainty=exact)" 200
	is "pile: the last has its place" "$(jl -f "$dir/h.json" max waits_for.place record=task)" 200
	hang --tasks 20 --age 1100 pile -- lockblame hung >"$dir/text"
	is "pile: the text says it in a few lines" "$(grep -c 'and 17 more like this' "$dir/text")" 1
fi
for source in stack blocker blocked_on pi; do
	hang --tasks 2 --age 1100 pile -- lockblame hung -j --sources $source -o "$dir/h.json" >"$dir/load" 2>"$dir/err"
	[ $? = 77 ] && continue
	n=$(jl -f "$dir/h.json" count - record=task hung=true "holder.tid=$(who holder)" holder.certainty=exact)
	if [ "$n" = 0 ]; then
		is "sources: $source alone finds nothing here, and that is counted" "$(jl -f "$dir/h.json" first lost.unreadable record=summary)" 2
	else
		is "sources: $source alone gives the same answer" "$n" 2
	fi
	eval "found_$source=$n"
done
[ -n "$found_stack" ] && num "sources: the stack, or on PREEMPT_RT pi_blocked_on, is always one of them" "$found_stack + $found_pi" ">=" 2
