# SPDX-License-Identifier: GPL-2.0
# doctor tells the truth: what it says works is used by the tests that follow.
lockblame doctor >"$dir/doctor" 2>&1; rc=$?
diag <"$dir/doctor"
is "doctor: waits can be traced" $rc 0
is "doctor: rwsem waits are seen" "$(jl -f "$dir/doctor.json" count - "feature=waits: rwsem" state!=not)" 1
# The kernel's tracepoints where it has them, else its slow-path functions; and it says which.
how=$(jl -f "$dir/doctor.json" first how "feature=waits: rwsem")
if [ -d /sys/kernel/tracing/events/lock/contention_begin ]; then
	like "doctor: this kernel's contention tracepoints are used" "$how" "*contention_begin*"
else
	like "doctor: no contention tracepoints here, the slow path is hooked" "$how" "*rwsem_down_*_slowpath*"
fi
is "doctor: every feature that is not there says why" \
	"$(jl -f "$dir/doctor.json" count - record=feature state=not why=null)" 0
