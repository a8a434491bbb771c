# SPDX-License-Identifier: GPL-2.0
# Holds: those that are known beforehand, against the kernel's own events, and the parts of a downgrade.

sum() { jl -f "$dir/h.json" sum "$@"; }
total() { jl -f "$dir/h.json" first "$1" record=summary; }
complete() {
	is "$1: recorded + short + lost + in progress = seen" "$(total seen)" \
		"$(total recorded | awk -v s="$(total short)" -v l="$(total lost.map_full)" -v m="$(total lost.missed)" -v p="$(total in_progress)" '{ print $1 + s + l + m + p }')"
}

# held WHAT KIND MODE: one task holds it for a known time while others want it.
held() {
	name="hold of $1"
	lockblame holds -q -j --kind "$2" --comm hold-lock -o "$dir/h.json" -- hold-lock --waiters 3 --hold-ms 100 "$1" >"$dir/load" 2>"$dir/err"
	rc=$?
	if grep -q 'no userfaultfd' "$dir/err"; then
		skip "$name" "$(head -1 "$dir/err")"
		return
	fi
	is "$name: exit status" $rc 0
	ns=$(jl -f "$dir/load" first held_ns)
	num "$name: as long as it was held" "$(jl -f "$dir/h.json" max max_ns record=hold "kind=$2" "mode=$3")" ">=" "$ns"
	num "$name: others waited for it" "$(sum contended record=hold "kind=$2" "mode=$3")" ">=" 1
	complete "$name"
}
# Why not, for a test that is skipped.
why_not() { [ $rt = yes ] && echo "on PREEMPT_RT it is not told whether others wait" || jl -f "$dir/doctor.json" first why "feature=$1"; }
if works "holds: rwsem" && [ $rt = no ]; then
	held inode rwsem write
	held dir rwsem read
else
	skip "holds of rwsems" "$(why_not "holds: rwsem")"
fi
if works "holds: mutex" && [ $rt = no ]; then
	held pipe mutex write
else
	skip "holds of mutexes" "$(why_not "holds: mutex")"
fi

# mmap_lock of a loop of mmap, touch and munmap: each is held for write twice.
load="mmap-loop --threads 4 --seconds 1"
lock_oracle=/sys/kernel/tracing/instances/lockblame-holds
event=events/mmap_lock/mmap_lock_acquire_returned
counted=no
if works "holds: mmap_lock"; then
	if mkdir -p $lock_oracle 2>/dev/null && echo 'hist:keys=write if comm == "mmap-loop" && success == 1' >$lock_oracle/$event/trigger; then
		counted=yes
	fi
	lockblame holds -q -j --comm mmap-loop -o "$dir/h.json" -- $load >"$dir/load" 2>"$dir/err"
	is "mmap_lock: exit status" $? 0
	pid=$(jl -f "$dir/load" first pid)
	mm="identity=mmap_lock of mmap-loop/$pid"
	num "mmap_lock: two holds for write an operation" "$(sum count record=hold "$mm" mode=write)" ">=" "2 * $(jl -f "$dir/load" first ops)"
	complete "mmap_lock"
	if [ $counted = yes ] && grep -q 'how.*mmap_lock_acquire_returned' "$dir/doctor.json"; then
		is "mmap_lock: as many as the kernel's own events" "$(total seen)" \
			"$(sed -n 's/.*hitcount: *\([0-9]*\).*/\1/p' $lock_oracle/$event/hist | awk '{ n += $1 } END { print n + 0 }')"
	else
		skip "mmap_lock: as many as the kernel's own events" "no mmap_lock tracepoint, or no histogram triggers"
	fi
	[ $counted = no ] || echo '!hist:keys=write' >$lock_oracle/$event/trigger 2>/dev/null
	rmdir $lock_oracle 2>/dev/null
	lockblame holds -q -j --all-stacks --by site --lock "mmap_lock:$$" -d 10ms -o "$dir/h.json" 2>"$dir/err"
	is "mmap_lock of one process: exit status" $? 0
	# What munmap frees it frees under the lock downgraded to read, where the kernel downgrades.
	lockblame holds -q -j --all-stacks --by site --comm mmap-loop -o "$dir/h.json" -- $load >"$dir/load" 2>"$dir/err"
	is "by site, all stacks: the exact time" "$(sum total_ns record=hold)" "$(total hold_ns)"
	lockblame holds -q -j --comm nosuchcommand -d 50ms -o "$dir/n.json" 2>"$dir/err"
	is "nothing held: exit status" $? 0
	is "nothing held: no rows" "$(jl -f "$dir/n.json" count - record=hold)" 0
	if [ $rt = no ]; then
		num "munmap: the part held for read is the longer one" "$(sum total_ns record=hold mode=read 'site~munmap')" ">" "$(sum total_ns record=hold mode=write 'site~munmap')"
	fi
else
	skip "holds of mmap_lock" "$(jl -f "$dir/doctor.json" first why 'feature=holds: mmap_lock')"
fi
