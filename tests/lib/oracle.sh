# SPDX-License-Identifier: GPL-2.0
# The kernel's own count of waits by lock, to compare lockblame's with: a histogram trigger on
# lock:contention_end, or, where there is no such event, kprobe events of the rwsem slow paths. A kernel
# without histogram triggers writes the events to its trace buffer, and they are counted there. It lives in a
# trace instance of its own, so that nobody else's tracing is touched.
oracle_top=/sys/kernel/tracing
oracle_dir=$oracle_top/instances/lockblame-oracle

# oracle_begin COMM: 0, or 1 with the reason in $oracle_why. $oracle_counts is what it counts:
# "ends" (all kinds; waits that slept or were about to) or "slow" (rwsem slow paths, spinning included).
oracle_begin() {
	oracle_trig="hist:keys=lock_addr.hex:size=8192 if comm == \"$1\""
	oracle_events="lock/contention_end"
	oracle_counts=ends
	oracle_by=
	oracle_why="no trace instances"
	mkdir -p "$oracle_dir" 2>/dev/null || return 1
	if [ ! -d "$oracle_dir/events/lock/contention_end" ]; then
		oracle_counts=slow
		oracle_events="lbtest/rd lbtest/wr"
		oracle_why="neither lock:contention_end nor kprobe events"
		{ echo 'p:lbtest/rd rwsem_down_read_slowpath lock_addr=%di:x64' >>"$oracle_top/kprobe_events" &&
			echo 'p:lbtest/wr rwsem_down_write_slowpath lock_addr=%di:x64' >>"$oracle_top/kprobe_events"; } 2>/dev/null ||
			{ oracle_end; return 1; }
	fi
	oracle_by=hist
	for oracle_e in $oracle_events; do
		echo "$oracle_trig" >"$oracle_dir/events/$oracle_e/trigger" 2>/dev/null || oracle_by=trace
	done
	[ $oracle_by = hist ] || oracle_by_trace "$1" || { oracle_why="no trace buffer"; oracle_end; return 1; }
}

oracle_by_trace() {
	echo 8192 >"$oracle_dir/buffer_size_kb"
	# Addresses as they are: contention_end prints its lock with %p.
	[ ! -f "$oracle_dir/options/hash-ptr" ] || echo 0 >"$oracle_dir/options/hash-ptr"
	for oracle_e in $oracle_events; do
		echo "comm == \"$1\"" >"$oracle_dir/events/$oracle_e/filter" &&
			echo 1 >"$oracle_dir/events/$oracle_e/enable" || return 1
	done
}

# Leaves "ADDRESS COUNT" lines in $dir/oracle, and how many events got lost in $oracle_dropped.
oracle_end() {
	oracle_dropped=0
	: >"$dir/oracle"
	for oracle_e in $oracle_events; do
		oracle_f=$oracle_dir/events/$oracle_e
		[ -d "$oracle_f" ] || continue
		if [ -f "$oracle_f/hist" ]; then
			cat "$oracle_f/hist" >"$dir/hist"
			sed -n 's/.*lock_addr: *\([0-9a-fx]*\) .*hitcount: *\([0-9]*\).*/\1 \2/p' "$dir/hist" >>"$dir/oracle"
			oracle_dropped=$((oracle_dropped + $(sed -n 's/.*Dropped: *//p' "$dir/hist" | awk '{ n += $1 } END { print n + 0 }')))
			echo "!$oracle_trig" >"$oracle_f/trigger" 2>/dev/null
		else
			echo 0 >"$oracle_f/enable"
		fi
	done
	if [ "$oracle_by" = trace ]; then
		sed -n 's/.*lock_addr=\(0x[0-9a-f]*\).*/\1 1/p; s/.*contention_end: \([0-9a-fx]*\) .*/\1 1/p' \
			"$oracle_dir/trace" >>"$dir/oracle"
		oracle_dropped=$(cat "$oracle_dir"/per_cpu/cpu*/stats | awk '/overrun:|dropped events:/ { n += $NF } END { print n + 0 }')
	fi
	rmdir "$oracle_dir"
	[ $oracle_counts = slow ] || return 0
	echo '-:lbtest/rd' >>"$oracle_top/kprobe_events" 2>/dev/null
	echo '-:lbtest/wr' >>"$oracle_top/kprobe_events" 2>/dev/null
	return 0
}

# oracle_count ADDRESS: waits of the kernel's own count for this lock (0x... as lockblame prints it).
oracle_count() {
	awk -v want="${1#0x}" '{ sub(/^0x/, "", $1) } $1 == want { n += $2 } END { print n + 0 }' "$dir/oracle"
}
