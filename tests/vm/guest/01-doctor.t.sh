# SPDX-License-Identifier: GPL-2.0
# doctor tells the truth: what it says works is used by the tests that follow.
lockblame doctor >"$dir/doctor" 2>&1; rc=$?
diag <"$dir/doctor"
is "doctor: waits can be traced" $rc 0
lockblame doctor -j >"$dir/doctor.json"
works() { [ "$(jl -f "$dir/doctor.json" first state "feature=$1")" != not ]; }
spin_shown() { [ "$(jl -f "$dir/doctor.json" first state "feature=waits: $1")" = works ]; }
is "doctor: rwsem waits are seen" "$(jl -f "$dir/doctor.json" count - "feature=waits: rwsem" state!=not)" 1
is "doctor: every feature that is not there says why" \
	"$(jl -f "$dir/doctor.json" count - record=feature state=not why=null)" 0
rt=no
grep -q PREEMPT_RT /proc/version && rt=yes
# What a mutex is called here: on PREEMPT_RT it is an rt-mutex.
mutex=mutex
[ $rt = yes ] && mutex=rt-mutex
