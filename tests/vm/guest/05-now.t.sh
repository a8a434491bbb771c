# SPDX-License-Identifier: GPL-2.0
# A wait that is still going on is seen, with its age, by waits and by trace.
if hold-lock --waiters 1 --hold-ms 1 pipe >/dev/null 2>"$dir/err"; then
	lockblame waits -q -j -i 500ms --comm hold-lock -o "$dir/w.json" -- hold-lock --waiters 3 --hold-ms 2500 pipe >"$dir/load" 2>"$dir/err"
	is "in progress: three waiters while the lock is held" "$(jl -f "$dir/w.json" max waiting_now record=wait)" 3
	num "in progress: they grow old" "$(jl -f "$dir/w.json" max longest_now_ns record=wait)" ">=" 1000000000
	lockblame trace -q -j --comm hold-lock -o "$dir/t.json" -- hold-lock --waiters 3 --hold-ms 2500 pipe >"$dir/load" 2>"$dir/err"
	is "trace: overdue waits get a line while they last" "$(jl -f "$dir/t.json" count - record=event in_progress=true kind=$mutex)" 3
	is "trace: and one when they end" "$(jl -f "$dir/t.json" count - record=event in_progress=false kind=$mutex)" 3
	is "trace: each has its site" "$(jl -f "$dir/t.json" count - record=event in_progress=false site~pipe_write)" 3
	is "trace: the holder is known for sure" \
		"$(jl -f "$dir/t.json" count - record=event in_progress=false owner.certainty=exact "owner.tid=$(jl -f "$dir/load" first holder_tid)")" 3
else
	skip "waits in progress" "$(head -1 "$dir/err")"
fi
