#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Without the privileges that tracing takes: one line, exit 1, no data.

load common

@test "nobody cannot trace, and is told what is missing" {
	for args in "waits -d 0.1" "waits -j -d 0.1" "waits --csv -d 0.1" "trace -d 0.1"; do
		lb_nobody $args
		fails_like 1 "CAP_BPF"
		[[ "$stderr" == *"(run as root)" ]]
	done
}

@test "nobody gets help and the version" {
	lb_nobody help
	show
	[ "$status" -eq 0 ]
	lb_nobody waits --help
	[ "$status" -eq 0 ]
	lb_nobody --version
	[ "$status" -eq 0 ]
}

@test "a mistake is told before a missing privilege" {
	lb_nobody waits -d x
	fails_like 2 "'x' is not a time above zero"
	lb_nobody waits --columns nosuch
	fails_like 2 "there is no column 'nosuch'"
}

@test "doctor tells nobody why waits cannot be traced, and exits 1" {
	lb_nobody doctor
	show
	[ "$status" -eq 1 ]
	[ "$stderr" = "" ]
	[[ "$output" == *"CAP_BPF"* ]]
	[[ "$output" == *"kernel symbols         not"* ]]
	lb_nobody doctor -j
	[ "$status" -eq 1 ]
	[ "$stderr" = "" ]
}

@test "an output file is not left behind by a run that cannot start" {
	dir=$(mktemp -d)
	chmod 777 "$dir"
	lb_nobody waits -d 0.1 -o "$dir/out"
	fails_like 1 "CAP_BPF"
	left=$(ls "$dir")
	rm -rf "$dir"
	[ -z "$left" ] || [ -z "$(cat "$dir/out" 2>/dev/null)" ]
}
