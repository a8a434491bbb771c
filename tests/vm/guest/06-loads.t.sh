# SPDX-License-Identifier: GPL-2.0
# Workloads whose locks have telling names.
lockblame waits -q -j --by process -o "$dir/w.json" -- fork-ps --mib 64 --forks 10 >"$dir/load" 2>"$dir/err"
is "fork-ps: exit status" $? 0
pid=$(jl -f "$dir/load" first pid)
ps=$(jl -f "$dir/w.json" first identity record=wait comm=ps)
if [ -n "$ps" ]; then
	is "fork-ps: ps waits for its victim's mmap_lock" "$ps" "mmap_lock of fork-ps/$pid"
else
	skip "fork-ps: ps" "it never had to wait in this run"
fi
lockblame waits -q -j -o "$dir/w.json" -- exec-storm --procs 4 --execs 25 >"$dir/load" 2>"$dir/err"
is "exec-storm: exit status" $? 0
if [ "$(jl -f "$dir/w.json" count - record=wait class=i_mmap_rwsem)" -gt 0 ]; then
	num "exec-storm: the i_mmap lock by the program's file" \
		"$(jl -f "$dir/w.json" count - record=wait 'identity~exec-storm')" ">" 0
else
	skip "exec-storm: i_mmap_rwsem" "nobody had to wait for it in this run"
fi
lockblame top -b -n 2 -i 300ms -q >"$dir/top" 2>"$dir/err" -- mmap-loop --threads 4 --seconds 3
is "top -b: exit status" $? 0
diag <"$dir/err"
lockblame waits -d 300ms --kind spinlock,rwlock >"$dir/spin" 2>"$dir/err"; rc=$?
if works "waits: spinlock"; then
	is "spinlocks: exit status" $rc 0
else
	is "spinlocks: refused with a reason" $rc 1
fi
