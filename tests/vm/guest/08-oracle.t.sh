# SPDX-License-Identifier: GPL-2.0
# The number of waits of one lock against the kernel's own count, and their sum against the workload's clock.
. "$T/lib/oracle.sh"

# Waits that the tracepoint shows, or on old kernels all that go into the slow path.
spin_option() { [ $oracle_counts = ends ] && echo --no-spin; }

# counted NAME COMM COND LOAD...: COND picks the rows of the lock that all of it is about.
counted() {
	name=$1 comm=$2 cond=$3
	shift 3
	if ! oracle_begin "$comm"; then
		skip "$name: the kernel's own count" "$oracle_why"
		return
	fi
	lockblame waits -q -j --comm "$comm" $(spin_option) --by lock -o "$dir/w.json" -- "$@" >"$dir/load" 2>"$dir/err"
	rc=$?
	oracle_end
	is "$name: exit status" $rc 0
	pid=$(jl -f "$dir/load" first pid)
	path=$(jl -f "$dir/load" first path)
	lock=$(jl -f "$dir/w.json" first lock record=wait "$(echo "$cond" | sed "s,PID,$pid,;s,PATH,$path,")")
	if [ -z "$lock" ] && [ ! -s "$dir/oracle" ]; then
		skip "$name: the kernel's own count" "nobody had to wait in this run"
		return
	fi
	if [ $rt = yes ]; then
		skip "$name: the kernel's own count" "on PREEMPT_RT the events name the rt-mutex inside the lock"
	elif [ $oracle_counts = slow ] && [ "$(jl -f "$dir/w.json" first kind record=wait "lock=$lock")" != rwsem ]; then
		skip "$name: the kernel's own count" "this kernel has no event to count a mutex by"
	else
		is "$name: as many waits as the kernel counts" "$(jl -f "$dir/w.json" sum count record=wait "lock=$lock")" "$(oracle_count "$lock")"
		is "$name: the kernel's count is complete" "$oracle_dropped" 0
	fi
	num "$name: no more waiting than the workload spent inside" \
		"$(jl -f "$dir/w.json" sum total_ns record=wait "lock=$lock")" "<=" "$(jl -f "$dir/load" first inside_ns)"
}

counted "mmap" mmap-loop "identity=mmap_lock of mmap-loop/PID" mmap-loop --threads 4 --seconds 1
counted "writers of one file" file-ops "identity=i_rwsem of PATH" file-ops --ops 500 --size 262144 write
counted "one directory" file-ops "identity=i_rwsem of PATH/" file-ops --ops 2000 dir
counted "one pipe" file-ops "identity~of pipe:" file-ops --ops 2000 pipe
