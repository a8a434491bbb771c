# SPDX-License-Identifier: GPL-2.0
# Blame: what was waited is what was charged, and the holder that is known beforehand is the one that is
# charged.

sum() { jl -f "$dir/b.json" sum blame_ns record=blame "$@"; }
total() { jl -f "$dir/b.json" first "$1" record=summary; }

# conserved NAME: both sides of $dir/b.json agree to the nanosecond, unless ends were missed.
conserved() {
	if [ "$(total lost.missed)" != 0 ]; then
		skip "$1: waits = blame + unknown" "$(total lost.missed) ends were missed by return probes"
		return
	fi
	is "$1: waits = blame + unknown" \
		"$(total blame_ns | awk -v u="$(total unknown_ns)" -v t="$(total twice_ns)" '{ printf "%.0f", $1 + u - t }')" \
		"$(total wait_ns | awk -v u="$(total waiting_ns)" '{ printf "%.0f", $1 + u }')"
	is "$1: the rows add up to it" "$(sum)" "$(total blame_ns | awk -v u="$(total unknown_ns)" '{ printf "%.0f", $1 + u }')"
}

# held WHAT COND [options]: N tasks wait for one whose thread is known.
held() {
	what=$1 cond=$2
	shift 2
	n=4
	case "$*" in *"--hooks kprobe"*) n=2 ;; esac
	name="blame $what${*:+ ($*)}"
	lockblame blame -q -j --comm hold-lock "$@" -o "$dir/b.json" -- hold-lock --waiters $n --hold-ms 100 "$what" >"$dir/load" 2>"$dir/err"
	rc=$?
	if grep -q 'no userfaultfd' "$dir/err"; then
		skip "$name" "$(head -1 "$dir/err")"
		return
	fi
	is "$name: exit status" $rc 0
	conserved "$name"
	ns=$(jl -f "$dir/load" first held_ns)
	tid=$(jl -f "$dir/load" first holder_tid)
	num "$name: the holder is charged for all of its hold, once a waiter" "$(sum "holder.tid=$tid" "$cond" certainty!=unknown)" ">=" "$n * $ns"
	num "$name: and nobody else for as much" "$(sum "$cond" "holder.tid!=$tid")" "<" "0.5 * $n * $ns"
}

mutex_cond='site~pipe_write'
held pipe "kind=$mutex"
if [ $rt = no ]; then
	held inode 'identity~i_rwsem of'
	held dir 'identity~i_rwsem of'
	held pipe "kind=$mutex" --no-spin
	held inode 'identity~i_rwsem of' --no-spin
fi
for hooks in fentry kprobe; do
	if [ $rt = no ] && lockblame blame -q -d 10ms --hooks $hooks >/dev/null 2>"$dir/err"; then
		held pipe "kind=$mutex" --hooks $hooks
		held inode 'identity~i_rwsem of' --hooks $hooks
		held dir 'identity~i_rwsem of' --hooks $hooks
	else
		skip "blame with --hooks $hooks" "$(head -1 "$dir/err")"
	fi
done

# Waiters that give up: what they waited is still somebody's.
lockblame blame -q -j --comm hold-lock -o "$dir/b.json" -- hold-lock --waiters 3 --hold-ms 50 kill >"$dir/load" 2>"$dir/err"
if ! grep -q '^hold-lock: ' "$dir/err" && [ $rt = no ]; then
	conserved "given up"
	num "given up: nothing is lost" "$(sum)" ">=" "3 * $(jl -f "$dir/load" first held_ns)"
else
	skip "given up" "$(head -1 "$dir/err")"
fi

# A busy mm: stealers, downgrades, readers, spinners. Conservation by every key, and the holders are the
# workload's.
load="mmap-loop --threads 4 --readers 1 --seconds 1"
for opts in "" "--no-spin" "--hooks fentry"; do
	name="busy mm${opts:+ ($opts)}"
	lockblame blame -q -j $opts -o "$dir/b.json" -- $load >"$dir/load" 2>"$dir/err" || {
		skip "$name" "$(head -1 "$dir/err")"
		continue
	}
	conserved "$name"
	pid=$(jl -f "$dir/load" first pid)
	mm="identity=mmap_lock of mmap-loop/$pid"
	num "$name: mmap_lock was waited for" "$(sum "$mm")" ">" 0
	# In a slow guest the lock is long on its way from one task to the next; that is nobody's.
	[ $rt = yes ] || num "$name: all that was held is charged" "$(sum "$mm" certainty=unknown reason!=handover)" "<=" "0.05 * $(sum "$mm")"
	is "$name: only its own threads and the reader hold it" \
		"$(jl -f "$dir/b.json" count - record=blame "$mm" holder.comm!=mmap-loop holder.comm!=cmdline-reader certainty!=unknown)" 0
done
# Downgrades: the part under the write lock and the part under the read lock are told apart.
lockblame blame -q -j -o "$dir/b.json" -- $load >"$dir/load" 2>"$dir/err"
mm="identity=mmap_lock of mmap-loop/$(jl -f "$dir/load" first pid)"
if [ $rt = no ] && grep -q vms_ /proc/kallsyms; then
	num "busy mm: holds for read are charged apart" "$(sum "$mm" mode=read)" ">" 0
fi
lockblame blame -q -j --by process -o "$dir/b.json" -- $load >"$dir/load" 2>"$dir/err"
conserved "by process"
is "by process: the process's row" "$(jl -f "$dir/b.json" first holder.pid record=blame holder.comm=mmap-loop)" "$(jl -f "$dir/load" first pid)"
lockblame blame -q -j --by lock -o "$dir/b.json" -- $load >"$dir/load" 2>"$dir/err"
conserved "by lock"
lockblame blame -q -j --all-stacks --by site -o "$dir/b.json" -- $load >"$dir/load" 2>"$dir/err"
conserved "by site, all stacks"
if [ $rt = no ] && [ "$(sum certainty=exact)" != 0 ]; then
	like "by site: the unmapping site" "$(jl -f "$dir/b.json" first site record=blame certainty=exact "identity=mmap_lock of mmap-loop/$(jl -f "$dir/load" first pid)")" "*m[um][na][mp]*"
fi
lockblame blame -q -j -k --all-stacks -o "$dir/b.json" -- $load >"$dir/load" 2>"$dir/err"
is "pairs: the time waited" "$(sum)" "$(total wait_ns)"

# With a filter only waits of that process are charged; who else wakes them up is none of it.
lockblame blame -q -j --comm cmdline-reader -o "$dir/b.json" -- $load >"$dir/load" 2>"$dir/err"
conserved "filtered"
