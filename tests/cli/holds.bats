#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# lockblame holds: mistakes, and holds of one process's mmap_lock. Figures are only compared with each other.

load common

WORKLOADS=${WORKLOADS:-$BATS_TEST_DIRNAME/../../build/workload}

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# The first column of an empty doctor line would match too: the state is the word.
need_holds() {
	need_tracing
	"$LOCKBLAME" doctor -j | grep '"holds: mmap_lock"' | grep -q works || skip "holds cannot be followed here"
}

@test "kinds that cannot be followed are refused" {
	lb holds --kind semaphore
	fails_with 2 "holds: --kind: only rwsem and mutex can be followed"
	lb holds --kind all
	[ "$status" -eq 2 ]
}

@test "--lock mmap_lock:PID wants a process with memory" {
	lb holds --lock mmap_lock:x
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"mmap_lock:'x' is not a PID"* ]]
	need_tracing
	lb holds --lock mmap_lock:4194304
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"there is no such process"* ]]
}

@test "columns of holds" {
	lb holds --columns help
	[ "$status" -eq 0 ]
	[[ "$output" == *holds_per_s* ]]
	lb holds --columns spin
	[ "$status" -eq 2 ]
}

@test "every exact key adds up" {
	need_holds
	for key in lock process comm kind cgroup; do
		lb holds -j --comm mmap-loop --by "$key" -- "$WORKLOADS/mmap-loop" --threads 4 --seconds 1
		echo "$key: $status $stderr"
		[ "$status" -eq 0 ]
		grep -v '"workload"' <<<"$output" | jq -s -e '(map(select(.record == "hold"))) as $h |
			(map(select(.record == "summary"))[0]) as $s | ($h | length) > 0 and
			(($s.recorded - ([$h[].count] | add)) as $late | $late >= 0 and $late <= 8)'
	done
}

@test "one process's lock, with a threshold, as text and CSV" {
	need_holds
	"$WORKLOADS/mmap-loop" --threads 2 --seconds 600 </dev/null >/dev/null 2>&1 3>&- 4>&- &
	load=$!
	lb holds -d 0.5 --lock "mmap_lock:$load"
	show
	[[ "$output" == *" mmap_lock of mmap-loop/$load" ]] || bad=1
	[ "$(grep -vc "mmap_lock of mmap-loop/$load\|^ HOLDS" <<<"$output")" -eq 0 ] || bad=1
	lb holds --csv -q -d 0.3 --lock "mmap_lock:$load" -m 1h
	[ "$output" = "" ] || bad=1
	[ "$status" -eq 0 ] || bad=1
	kill "$load"
	[ -z "$bad" ]
}
