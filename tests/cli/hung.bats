#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# lockblame hung: exit statuses, formats, mistakes.

load common

setup() {
	cd "$BATS_TEST_TMPDIR"
}

@test "nothing blocked for long: exit 0 and a line that says so" {
	need_tracing
	lb hung --min 300h
	show
	[ "$status" -eq 0 ]
	[[ "$output" == "No task is blocked for 300.0 h or longer ("*" tasks looked at)." ]]
	[ "$stderr" = "" ]
	lb hung -q --min 300h
	[ "$status" -eq 0 ]
	[ "$output" = "" ]
}

@test "JSON Lines: a header and a summary, also when nothing hangs" {
	command -v jq >/dev/null || skip "jq is missing"
	need_tracing
	lb hung -j --min 300h -o out
	show
	[ "$status" -eq 0 ]
	[ "$output" = "" ]
	[ "$(jq -r .record out | tr '\n' ' ')" = "header summary " ]
	tail -n 1 out | jq -e '.hung == 0 and .hangs == 0 and .seen > 1 and (.lost | length) == 4'
}

@test "waiters for a lock: exit 3, the holder is the root" {
	need_tracing
	"${LOCKBLAME%/*}/workload/hold-lock" --waiters 2 --hold-ms 2000 pipe >/dev/null 2>err &
	for _ in $(seq 100); do
		lb hung --min 100ms
		[ "$status" -eq 3 ] && [[ "$output" == *"2 tasks wait behind it"* ]] && break
		[ -s err ] && skip "$(head -1 err)"
	done
	show
	wait
	[ "$status" -eq 3 ]
	[[ "$output" == *"hold-lock/"*"mutex of pipe:["*"2 tasks wait behind it."* ]]
	[[ "$output" == *"waits in a page fault for its userfaultfd handler"* ]]
}

@test "mistakes are told" {
	lb hung --min x
	fails_with 2 "hung: --min: 'x' is not a time above zero (as in 10ms, 1.5s, 2m)"
	lb hung 1
	fails_with 2 "hung: '1' is one word too many"
	lb hung --sources stack,x
	fails_with 2 "hung: --sources: 'x' is none of stack, blocker, blocked_on, pi, writer"
	lb hung -o /nonexistent/x
	fails_like 1 "/nonexistent/x"
}

@test "nobody cannot look, and is told what is missing" {
	lb_nobody hung
	fails_like 1 "CAP_BPF"
}
