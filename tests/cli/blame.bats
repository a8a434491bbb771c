#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# lockblame blame: mistakes, and what comes out while something really waits. Figures are only compared
# with each other.

load common

WORKLOADS=${WORKLOADS:-$BATS_TEST_DIRNAME/../../build/workload}

setup() {
	cd "$BATS_TEST_TMPDIR"
}

@test "keys of blame are not those of waits" {
	lb blame --by cgroup
	fails_with 2 "--by: 'cgroup' is not holder, lock, site, process, stack or pair"
	lb waits --by holder
	fails_with 2 "--by: 'holder' is not lock, site, process, comm, kind, cgroup or stack"
}

@test "what has no holder is refused" {
	lb blame --kind spinlock
	fails_with 2 "blame: --kind: spinlocks and rwlocks tell nobody who holds them: leave them out"
	lb blame --kind rwsem,rwlock
	[ "$status" -eq 2 ]
}

@test "blame is of all waits: there is no --min-duration, and no user stack" {
	lb blame -m 1ms
	[ "$status" -eq 2 ]
	lb blame -u
	[ "$status" -eq 2 ]
}

@test "columns of blame" {
	lb blame --columns help
	show
	[ "$status" -eq 0 ]
	[[ "$output" == *holder.comm* ]]
	lb blame --columns total
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"there is no column 'total'"* ]]
	lb blame -f --by holder
	fails_with 2 "--folded prints stacks: it does not go with --by holder"
}

@test "every key adds up, and both sides agree" {
	need_tracing
	for key in holder lock process site; do
		lb blame -j --all-stacks --by "$key" -- "$WORKLOADS/mmap-loop" --threads 4 --seconds 1
		echo "$key: $status $stderr"
		[ "$status" -eq 0 ]
		grep -v '"workload"' <<<"$output" | jq -s -e '(map(select(.record == "blame"))) as $b |
			(map(select(.record == "summary"))[0]) as $s |
			($b | length) > 0 and all($b[]; has("holder") and has("certainty")) and
			([$b[].blame_ns] | add) == $s.blame_ns + $s.unknown_ns and
			($s.lost.missed > 0 or $s.waiting_ns > 0 or $s.wait_ns == $s.blame_ns + $s.unknown_ns - $s.twice_ns)'
	done
}

@test "who blocked whom: text, JSON, folded, CSV" {
	need_tracing
	lb blame -k -r 3 -- "$WORKLOADS/mmap-loop" --threads 4 --seconds 1
	show
	[[ "$output" == *"WAITER SITE"*"HOLDER SITE"* ]]
	[[ "$output" == *$'\n          --\n'* ]]
	[[ "$stderr" == *" = blame "* ]]
	lb blame -f -q -o f -- "$WORKLOADS/mmap-loop" --threads 4 --seconds 1
	[ "$status" -eq 0 ]
	[ -s f ]
	! grep -vE '^[^ ]+;--;[^ ]+ [0-9]+$' f
	lb blame --csv -q -o c --by pair --columns blame,waitersite,site -- "$WORKLOADS/mmap-loop" --threads 4 --seconds 1
	[ "$status" -eq 0 ]
	grep -qE '^[0-9]+,' c
}

@test "an empty table says why" {
	need_tracing
	lb blame -d 0.1 --comm nosuchcommand
	show
	[ "$status" -eq 0 ]
	[[ "$output" == "no rows: nothing that passes the filters waited for a lock in "* ]]
}
