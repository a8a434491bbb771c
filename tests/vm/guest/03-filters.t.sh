# SPDX-License-Identifier: GPL-2.0
# Filters let through what they name, and nothing else.
filtered() {
	want=$1
	shift
	lockblame waits -q -j "$@" -o "$dir/w.json" -- hold-lock --waiters 2 --hold-ms 50 pipe >"$dir/load" 2>"$dir/err" ||
		{ not_ok "filter $*" "$(head -3 "$dir/err")"; return; }
	is "filter $*" "$(jl -f "$dir/w.json" sum count record=wait site~pipe_write)" "$want"
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
	if works "cgroup filter"; then
		mkdir -p "$(jl -f "$dir/doctor.json" first how "feature=cgroup filter")/lbtest"
		filtered 0 -c /lbtest
		filtered 2 -c /
		rmdir "$(jl -f "$dir/doctor.json" first how "feature=cgroup filter")/lbtest"
	else
		skip "cgroup filter" "$(jl -f "$dir/doctor.json" first why "feature=cgroup filter")"
	fi
	# the address as lockblame itself gave it
else
	skip "filters" "$(head -1 "$dir/err")"
fi
