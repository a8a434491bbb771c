# SPDX-License-Identifier: GPL-2.0
# A known number of tasks wait for one lock for a known time.

waited_for() { jl -f "$dir/w.json" first identity record=wait "kind=$kind" "mode=$mode"; }

# hold WHAT KIND MODE SITE COND [lockblame options]; COND (see jl) picks the lock in question.
# N waiters; return probes of old kernels follow just two at once.
hold() {
	n=5
	case "$*" in *"--hooks kprobe"*) n=2 ;; esac
	what=$1 kind=$2 mode=$3 site=$4 cond=$5
	shift 5
	name="hold $what${*:+ ($*)}"
	lockblame waits -q -j --comm hold-lock "$@" -o "$dir/w.json" -- hold-lock --waiters $n --hold-ms 200 "$what" >"$dir/load" 2>"$dir/err"
	rc=$?
	if grep -q 'no userfaultfd' "$dir/err"; then
		skip "$name" "$(head -1 "$dir/err")"
		return
	fi
	is "$name: exit status" $rc 0
	held=$(jl -f "$dir/load" first held_ns)
	all=$(jl -f "$dir/load" first total_ns)
	is "$name: $n waits" "$(jl -f "$dir/w.json" sum count record=wait "kind=$kind" "mode=$mode" "$cond")" $n
	total=$(jl -f "$dir/w.json" sum total_ns record=wait "kind=$kind" "mode=$mode" "$cond")
	num "$name: each waited at least as long as it was held" "$total" ">=" "$n * $held"
	num "$name: none longer than the whole" "$total" "<=" "$n * $all"
	waited=$(jl -f "$dir/load" first waited_ns)
	num "$name: the sum is at most what the waiters' own clocks say" "$total" "<=" "$waited"
	num "$name: and short of that by 10 % at most" "$total" ">=" "0.9 * $waited"
	case $what in
	inode) is "$name: identity" "$(waited_for)" "i_rwsem of $(jl -f "$dir/load" first dir)/held" ;;
	dir) is "$name: identity" "$(waited_for)" "i_rwsem of $(jl -f "$dir/load" first dir)/" ;;
	esac
	like "$name: site" "$(jl -f "$dir/w.json" first site record=wait "kind=$kind" "mode=$mode" "$cond")" "$site"
	is "$name: recorded + lost + in progress = seen" \
		"$(jl -f "$dir/w.json" first seen record=summary)" \
		"$(jl -f "$dir/w.json" first recorded record=summary | awk -v l="$(jl -f "$dir/w.json" first lost.map_full record=summary)" -v m="$(jl -f "$dir/w.json" first lost.missed record=summary)" -v s="$(jl -f "$dir/w.json" first short record=summary)" -v p="$(jl -f "$dir/w.json" first in_progress record=summary)" '{ print $1 + l + m + s + p }')"
	is "$name: no loss" "$(jl -f "$dir/w.json" first lost record=summary)" \
		'{ "map_full": 0, "missed": 0, "begin": 0, "stack": 0, "split": 0, "ring": 0 }'
}

hold pipe $mutex write '*pipe_write' 'site~pipe_write'
# On PREEMPT_RT a writer waits for the rt-mutex inside the rwsem first.
writer=rwsem
[ $rt = yes ] && writer=rt-mutex
hold inode $writer write '*_write_iter' 'identity~i_rwsem of'
[ $rt = no ] && hold dir rwsem write 'path_openat' 'identity~i_rwsem of'
# The other families of hooks have to count the same.
for hooks in fentry kprobe; do
	if lockblame waits -q -d 10ms --hooks $hooks >/dev/null 2>"$dir/err"; then
		[ $rt = no ] && hold pipe mutex write '*pipe_write' 'site~pipe_write' --hooks $hooks
		[ $rt = no ] && hold inode rwsem write '*_write_iter' 'identity~i_rwsem of' --hooks $hooks
	else
		skip "hold with --hooks $hooks" "$(head -1 "$dir/err")"
	fi
done

# Waiters that are killed have failed. (A killable wait for an rwsem: a directory being listed.)
lockblame waits -q -j --comm hold-lock -o "$dir/w.json" -- hold-lock --waiters 3 --hold-ms 50 kill >"$dir/load" 2>"$dir/err"
if ! grep -q '^hold-lock: ' "$dir/err"; then
	is "killed waiters are counted apart" "$(jl -f "$dir/w.json" sum failed record=wait identity~i_rwsem)" 3
	is "killed waiters are waits too" "$(jl -f "$dir/w.json" sum count record=wait identity~i_rwsem)" 4
else
	skip "killed waiters" "$(head -1 "$dir/err")"
fi
