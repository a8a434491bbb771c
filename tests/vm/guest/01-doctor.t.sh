# SPDX-License-Identifier: GPL-2.0
# doctor tells the truth: what it says works is used by the tests that follow.
lockblame doctor >"$dir/doctor" 2>&1; rc=$?
diag <"$dir/doctor"
is "doctor: waits can be traced" $rc 0
is "doctor: rwsem waits are seen" "$(jl -f "$dir/doctor.json" count - "feature=waits: rwsem" state!=not)" 1
is "doctor: every feature that is not there says why" \
	"$(jl -f "$dir/doctor.json" count - record=feature state=not why=null)" 0
