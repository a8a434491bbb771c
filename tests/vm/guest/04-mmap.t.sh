# SPDX-License-Identifier: GPL-2.0
# Threads that map and unmap: the lock by its process's name, the sites, and the count against the
# kernel's own events.
load="mmap-loop --threads 4 --seconds 2 --readers 1"
lockblame waits -q -j --by lock -o "$dir/w.json" -- $load >"$dir/load" 2>"$dir/err"
is "mmap: exit status" $? 0
pid=$(jl -f "$dir/load" first pid)
num "mmap: waits were seen" "$(jl -f "$dir/w.json" sum count record=wait "identity=mmap_lock of mmap-loop/$pid")" ">" 0
total=$(jl -f "$dir/w.json" sum total_ns record=wait "identity=mmap_lock of mmap-loop/$pid" mode=write)
num "mmap: the writers waited no longer than they were inside" "$total" "<=" "$(jl -f "$dir/load" first inside_ns)"
like "mmap: site of the writers" "$(jl -f "$dir/w.json" first site record=wait mode=write "identity=mmap_lock of mmap-loop/$pid")" "*m[um][na][mp]*"

lockblame waits -q -j --by process -o "$dir/p.json" -- $load >"$dir/load" 2>"$dir/err"
pid=$(jl -f "$dir/load" first pid)
reader=$(jl -f "$dir/p.json" first identity record=wait comm=cmdline-reader)
if [ -n "$reader" ]; then
	is "mmap: a reader of /proc/PID/cmdline waits for the other process's lock" "$reader" "mmap_lock of mmap-loop/$pid"
else
	skip "mmap: a reader of /proc/PID/cmdline" "the reader never had to wait in this run"
fi

# Sampled and complete splits agree: within five standard errors, and 5 % for the noise of two runs' ends.
lockblame waits -q -j --by site -o "$dir/s.json" -- $load >"$dir/load" 2>"$dir/err"
est=$(jl -f "$dir/s.json" sum total_ns record=wait)
exact=$(jl -f "$dir/s.json" first wait_ns record=summary)
err=$(jl -f "$dir/s.json" sum error_ns record=wait)
num "mmap: sampled time by site adds up to the exact time" "($est > $exact ? $est - $exact : $exact - $est)" "<=" "5 * $err + 0.01 * $exact"
lockblame waits -q -j --all-stacks --by site -o "$dir/a.json" -- $load >"$dir/load" 2>"$dir/err"
is "mmap: with --all-stacks time by site is the exact time" \
	"$(jl -f "$dir/a.json" sum total_ns record=wait)" "$(jl -f "$dir/a.json" first wait_ns record=summary)"
is "mmap: with --all-stacks nothing is sampled" "$(jl -f "$dir/a.json" count - record=wait sampled=true)" 0

# Spin time: where the slow path is hooked it is a number, and part of the total.
lockblame waits -q -j --comm mmap-loop --kind rwsem -o "$dir/w.json" -- mmap-loop --threads 4 --seconds 1 >"$dir/load" 2>"$dir/err"
if [ $rt = no ] && spin_shown rwsem; then
	is "mmap: spin time is known" "$(jl -f "$dir/w.json" count - record=wait spin_ns=null)" 0
	num "mmap: spin time is part of the total" "$(jl -f "$dir/w.json" sum spin_ns record=wait)" "<=" "$(jl -f "$dir/w.json" sum total_ns record=wait)"
else
	is "mmap: spin time that is not known is null" "$(jl -f "$dir/w.json" count - record=wait spin_ns!=null)" 0
fi
