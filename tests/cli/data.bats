#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What comes out while something really waits: every key, column, format and filter, on one workload
# whose lock is known. As root, on a kernel where waits can be traced. Figures are only compared with
# each other, never with a clock.

load common

WORKLOADS=${WORKLOADS:-$BATS_TEST_DIRNAME/../../build/workload}

setup_file() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	# a command name that nobody else on this machine runs
	cp "$WORKLOADS/mmap-loop" "$BATS_FILE_TMPDIR/loop-$$"
	"$BATS_FILE_TMPDIR/loop-$$" --threads 4 --seconds 600 </dev/null >/dev/null 2>&1 3>&- 4>&- &
	echo "loop-$$" >"$BATS_FILE_TMPDIR/comm"
	echo $! >"$BATS_FILE_TMPDIR/load"
}

teardown_file() {
	[ ! -e "$BATS_FILE_TMPDIR/load" ] || kill "$(cat "$BATS_FILE_TMPDIR/load")"
}

setup() {
	need_tracing
	cd "$BATS_TEST_TMPDIR"
	load=$(cat "$BATS_FILE_TMPDIR/load")
	comm=$(cat "$BATS_FILE_TMPDIR/comm")
}

need_jq() {
	command -v jq >/dev/null || skip "jq is missing"
}

@test "the lock is named after its process" {
	lb waits -d 0.5 -p "$load"
	show
	[ "$status" -eq 0 ]
	[[ "$output" == *" mmap_lock of $comm/$load"* ]]
	[[ "$output" == *" rwsem "* ]]
}

# The rows ($w) against the summary ($s).
ROWS='(map(select(.record == "wait"))) as $w | (map(select(.record == "summary"))[0]) as $s |'

# The tables and the counters of the kernel are not read at one moment: a wait that ends between the
# two reads at the very end is in the summary only. There can be no more of those than threads.
ADD_UP='(($s.recorded - ([$w[].count] | add)) as $late | $late >= 0 and $late <= 5 and
	($late > 0 or ([$w[].total_ns] | add) == $s.wait_ns))'

@test "every exact key gives rows that add up to the summary" {
	need_jq
	for key in lock process comm kind cgroup; do
		lb waits -j -d 0.5 -p "$load" --by "$key"
		echo "$key: $status $stderr"
		[ "$status" -eq 0 ]
		jq -s -e "$ROWS"' ($w | length) > 0 and '"$ADD_UP"' and
			all($w[]; (.sampled | not) and .total_ns >= .max_ns and .count >= .failed)' \
			<<<"$output"
	done
}

@test "with --all-stacks the split by site and stack is exact too" {
	need_jq
	for key in site stack; do
		lb waits -j -d 0.5 -p "$load" --all-stacks --by "$key"
		echo "$key: $status $stderr"
		[ "$status" -eq 0 ]
		jq -s -e "$ROWS"' ($w | length) > 0 and all($w[]; .sampled | not) and
			(([$s.lost[]] | add) > 0 or '"$ADD_UP"')' <<<"$output"
	done
}

@test "a sampled split by site says so, and its times are near the exact sum" {
	need_jq
	lb waits -j -d 2 -p "$load" --by site
	echo "$status $stderr"
	[ "$status" -eq 0 ]
	jq -s -e "$ROWS"' ($w | length) > 0 and
		(([$w[].total_ns] | add) - $s.wait_ns | fabs) <=
			([6 * ([$w[].error_ns | . * .] | add | sqrt), 0.05 * $s.wait_ns] | max)' \
		<<<"$output"
}

@test "one row a key and mode" {
	need_jq
	for key in site comm kind; do
		lb waits -j -d 0.5 --by "$key" -p "$load"
		[ "$status" -eq 0 ]
		jq -s -e --arg key "$key" '[.[] | select(.record == "wait") | [.[$key], .mode]] |
			length > 0 and length == (unique | length)' <<<"$output"
	done
}

@test "every column can be shown and sorted by, in text and CSV" {
	for column in $("$LOCKBLAME" waits --columns help | awk '{ print $1 }'); do
		lb waits -q -d 0.15 -p "$load" --columns "$column,identity" -s "$column"
		echo "$column: $status $stderr"
		[ "$status" -eq 0 ]
		[ "$stderr" = "" ]
		lb waits -q -d 0.15 -p "$load" --csv --columns "$column"
		[ "$status" -eq 0 ]
		[ "$stderr" = "" ]
	done
}

@test "rows are sorted, and turned around by --reverse" {
	lb waits --csv -d 0.5 --by site --columns total,site -s total
	show
	tail -n +2 <<<"$output" | cut -d, -f1 | grep -E '^[0-9]+$' | sort -c -n -r
	lb waits --csv -d 0.5 --by site --columns total,site -s total --reverse
	tail -n +2 <<<"$output" | cut -d, -f1 | grep -E '^[0-9]+$' | sort -c -n
}

@test "CSV: as many fields in every record as in the header" {
	for args in "waits -d 0.5" "waits -d 0.5 --by stack" "trace -d 0.3 -n 200"; do
		lb $args --csv -o out
		[ "$status" -eq 0 ]
		[ "$(wc -l <out)" -gt 1 ]
		# fields without quotes do; identities hold no comma here
		awk -F, '/"/ { next } NR == 1 { n = NF } NF != n { exit 1 }' out
		[ "$(tr -cd '\r' <out | wc -c)" -eq "$(wc -l <out)" ]
	done
}

@test "JSON: the members that scripts rely on, addresses and names as strings" {
	need_jq
	lb waits -j -k -d 0.5 -p "$load"
	[ "$status" -eq 0 ]
	jq -s -e --arg who "mmap_lock of $comm/$load" '
		[.[] | select(.record == "wait" and .identity == $who)] | length > 0 and all(
			(.lock | test("^0x[0-9a-f]+$")) and .kind == "rwsem" and
			(.mode == "read" or .mode == "write") and (.site | type == "string") and
			([.count, .failed, .total_ns, .max_ns, .p50_ns, .p99_ns, .waiting_now] |
				all(type == "number" and . >= 0 and . == floor)))' <<<"$output"
	lb trace -j -k -d 0.3 -p "$load" -n 50
	[ "$status" -eq 0 ]
	jq -s -e '[.[] | select(.record != "header" and .record != "summary")] | length > 0 and
		length <= 50 and all(.wait_ns >= 0 and .kind == "rwsem" and (.stack | length) > 0)' \
		<<<"$output"
}

@test "folded stacks: root first, kernel frames marked, whole numbers" {
	lb waits -f -d 0.5 -p "$load"
	show
	[ "$status" -eq 0 ]
	[ -n "$output" ]
	! grep -v -E "^$comm(;[^; ]+)* [0-9]+\$" <<<"$output"
	grep -q -E ';(rwsem_down_(read|write)_slowpath|down_(read|write)[a-z_]*|rwbase[a-z_]*|__down_[a-z_]*)_\[k\];' <<<"$output"
}

@test "filters keep others out" {
	need_jq
	threads=$(ls "/proc/$load/task" | paste -s -d,)
	for filter in "-p $load" "--comm $comm" "-t $threads"; do
		lb waits -j -d 0.4 --by process $filter
		echo "$filter: $status $stderr"
		[ "$status" -eq 0 ]
		jq -s -e --argjson pid "$load" '[.[] | select(.record == "wait")] |
			length == 1 and .[0].pid == $pid' <<<"$output"
	done
	lb waits -j -d 0.4 -p $$
	[ "$status" -eq 0 ]
	jq -s -e '[.[] | select(.record == "wait")] | length == 0' <<<"$output"
	lb waits -j -d 0.4 --kind mutex -p "$load"
	jq -s -e 'all(.record != "wait" or .kind == "mutex")' <<<"$output"
}

@test "--min-duration keeps short waits out" {
	need_jq
	lb waits -j -d 0.5 -p "$load" -m 1ms
	[ "$status" -eq 0 ]
	jq -s -e 'all(.record != "wait" or .count == 0 or .max_ns >= 1000000) and
		([.[] | select(.record == "wait") | .total_ns - 1000000 * .count] | all(. >= 0))' \
		<<<"$output"
	lb trace -j -d 0.5 -p "$load" -m 1ms
	jq -s -e 'all(.record == "header" or .record == "summary" or .wait_ns >= 1000000)' <<<"$output"
	lb waits -j -d 0.3 -p "$load" -m 1h
	[ "$status" -eq 0 ]
	jq -s -e 'all(.record != "wait" or .count == 0)' <<<"$output"
}

@test "a lock by its address" {
	need_jq
	lock=$("$LOCKBLAME" waits -j -q -d 0.4 -p "$load" | jq -r -s \
		"[.[] | select(.identity == \"mmap_lock of $comm/$load\")][0].lock")
	echo "lock $lock"
	[[ "$lock" == 0x* ]]
	lb waits -j -d 0.4 -l "$lock"
	[ "$status" -eq 0 ]
	jq -s -e --arg lock "$lock" '[.[] | select(.record == "wait")] |
		length > 0 and all(.lock == $lock)' <<<"$output"
}

@test "-n ends trace after so many waits" {
	lb trace --csv -d 10 -n 5 -p "$load"
	show
	[ "$status" -eq 0 ]
	[ "$(tail -n +2 <<<"$output" | wc -l)" -eq 5 ]
}

@test "a table each interval, with the time when asked" {
	lb waits -T -q -p "$load" 0.2 3
	show
	[ "$status" -eq 0 ]
	[ "$(grep -c "mmap_lock of $comm/$load" <<<"$output")" -ge 3 ]
	[ "$(grep -cE '[0-9]{2}:[0-9]{2}:[0-9]{2}' <<<"$output")" -ge 3 ]
}

@test "-r limits the rows" {
	lb waits --csv -q -d 0.4 -r 1 --by site --columns site
	show
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 1 ]
}

@test "kernel and user stacks have names" {
	lb waits -k -u -d 0.5 -p "$load"
	show
	[ "$status" -eq 0 ]
	[[ "$output" == *"+0x"* ]]
	grep -q -E '^ +[a-z_0-9]+\+0x[0-9a-f]+ \(user\)$' <<<"$output"
	# never a frame of the program's own tracing in the site column
	! grep -q -E ' (bpf_|__bpf_|__traceiter_|ftrace_)' <<<"$(grep mmap_lock <<<"$output")"
}

@test "a traced command's lock has its name, although it has exited" {
	lb waits -q -- "$WORKLOADS/mmap-loop" --threads 4 --seconds 1
	show
	[ "$status" -eq 0 ]
	[[ "$output" == *"mmap_lock of mmap-loop/"* ]]
}

@test "only what was waited for while tracing: quiet filters say that there are no rows" {
	lb waits -d 0.2 --comm nosuchcommand
	show
	[ "$status" -eq 0 ]
	[[ "$output" == "no rows: nothing that passes the filters waited for a lock in "* ]]
}
