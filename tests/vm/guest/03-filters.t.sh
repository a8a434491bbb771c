# SPDX-License-Identifier: GPL-2.0
# Filters let through what they name, and nothing else.
filtered() {
	want=$1
	shift
	lockblame waits -q -j "$@" -o "$dir/w.json" -- hold-lock --waiters 2 --hold-ms 50 pipe >"$dir/load" 2>"$dir/err" ||
		{ not_ok "filter $*" "$(head -3 "$dir/err")"; return; }
	# Other tasks may have to wait for pipes of their own: the workload's is the row with the most waits.
	how=max
	[ "$want" != 0 ] || how=sum
	is "filter $*" "$(jl -f "$dir/w.json" $how count record=wait site~pipe_write)" "$want"
}
# A workload that is there before tracing begins, by its process and by a thread of it.
filter_pid() {
	for f in p:2:"process" t:0:"the first thread, which does not wait"; do
		rm -f "$dir/go" "$dir/load"
		hold-lock --after "$dir/go" --waiters 2 --hold-ms 50 pipe >"$dir/load" &
		pid=$!
		f_want=${f#*:}
		lockblame waits -q -j "-${f%%:*}" $pid -o "$dir/w.json" -- sh -c \
			"touch $dir/go; for i in \$(seq 300); do [ -s $dir/load ] && break; sleep 0.1; done" 2>"$dir/err"
		wait $pid
		is "filter -${f%%:*} PID of ${f##*:}" "$(jl -f "$dir/w.json" sum count record=wait site~pipe_write)" "${f_want%%:*}"
	done
}

# The lock's address as lockblame itself gave it: a directory that two runs have in common.
filter_lock() {
	mkdir -p "$dir/used"
	if [ $rt = yes ]; then
		skip "filter -l ADDRESS" "on PREEMPT_RT who wants an rwsem may wait for the rt-mutex inside it, at another address"
		return
	fi
	load="hold-lock --waiters 2 --hold-ms 50 --use $dir/used dir"
	lockblame waits -q -j --comm hold-lock -o "$dir/w.json" -- $load >"$dir/load" 2>"$dir/err"
	lock=$(jl -f "$dir/w.json" first lock record=wait)
	want=$(jl -f "$dir/w.json" sum count record=wait "lock=$lock")
	num "filter -l: there are waits" "$want" ">" 0
	lockblame waits -q -j -l "$lock" -o "$dir/w.json" -- $load >"$dir/load" 2>"$dir/err"
	is "filter -l ADDRESS" "$(jl -f "$dir/w.json" sum count record=wait)" "$want"
	is "filter -l ADDRESS: nothing else" "$(jl -f "$dir/w.json" count - record=wait "lock!=$lock")" 0
}

filter_cgroup() {
	if ! works "cgroup filter"; then
		skip "cgroup filter" "$(jl -f "$dir/doctor.json" first why "feature=cgroup filter")"
		return
	fi
	cg=$(jl -f "$dir/doctor.json" first how "feature=cgroup filter")/lbtest
	mkdir -p "$cg"
	filtered 0 -c /lbtest
	filtered 2 -c /
	if (echo 0 >"$cg/cgroup.procs") 2>/dev/null; then
		inside="echo 0 >$cg/cgroup.procs; exec hold-lock --waiters 2 --hold-ms 50 pipe"
		lockblame waits -q -j -c /lbtest -o "$dir/w.json" -- sh -c "$inside" >"$dir/load" 2>"$dir/err"
		is "filter -c: waits inside the cgroup" "$(jl -f "$dir/w.json" sum count record=wait site~pipe_write)" 2
	else
		skip "filter -c: waits inside the cgroup" "no process can be put into $cg"
	fi
	rmdir "$cg" || not_ok "the test's cgroup could not be removed"
}

if hold-lock --waiters 1 --hold-ms 1 pipe >/dev/null 2>"$dir/err"; then
	filtered 2 --comm hold-lock
	filtered 0 --comm somebody
	filtered 0 -p 1
	filtered 0 -t 1
	filtered 2 --kind $mutex
	filtered 0 --kind percpu-rwsem
	filtered 2 -m 20ms
	filtered 0 -m 5s
	filtered 0 -l 0xffff800000001000
	filtered 2 --all-stacks
	filtered 2 --no-spin
	filter_pid
	filter_lock
	filter_cgroup
else
	skip "filters" "$(head -1 "$dir/err")"
fi
