#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# Formats, and what happens when the output goes away. As root, on a kernel where waits can be traced.

load common

setup() {
	need_tracing
	cd "$BATS_TEST_TMPDIR"
}

# Every line is a JSON object with a record name; the first is the header.
is_json_lines() {
	jq -e -s 'length > 0 and all(type == "object" and (.record | type == "string"))' "$1"
	[ "$(head -n 1 "$1" | jq -r .record)" = header ]
}

@test "JSON Lines: a header, then records, then the summary" {
	command -v jq >/dev/null || skip "jq is missing"
	for command in waits trace; do
		lb $command -j -d 0.2 -o out
		show
		[ "$status" -eq 0 ]
		[ "$output" = "" ]
		is_json_lines out
		[ "$(head -n 1 out | jq -r '.tool + " " + .command')" = "lockblame $command" ]
		head -n 1 out | jq -e '.schema == 1 and (.boot_id | length) == 36 and
			(.start | test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$")) and
			.kernel == "'"$(uname -r)"'"'
		[ "$(tail -n 1 out | jq -r .record)" = summary ]
		tail -n 1 out | jq -e '(.recorded + .short + .in_progress) as $known |
			$known <= .seen and (([.lost[]] | add) > 0 or $known == .seen)'
	done
}

@test "CSV: one header line, then as many fields everywhere, lines end in CR LF" {
	for command in waits trace; do
		lb $command --csv -d 0.2 -o out
		show
		[ "$status" -eq 0 ]
		[ "$(head -n 1 out | tail -c 2 | od -An -tx1)" = " 0d 0a" ]
		[ "$(grep -c '^count,\|^time,' out)" -eq 1 ]
	done
}

@test "data goes to standard output, notes to standard error" {
	lb waits --csv -d 0.1
	show
	[ "$status" -eq 0 ]
	[[ "$output" == count,* ]]
	[[ "$stderr" == "lockblame: "*" waits seen"* ]]
	lb waits --csv -d 0.1 -q
	[ "$stderr" = "" ]
	[ "$status" -eq 0 ]
}

@test "-o FILE replaces the file" {
	echo "old and long, much longer than what comes, so that a rest would be seen" >out
	seq 1000 >>out
	lb waits --csv -d 0.1 -o out
	show
	[ "$status" -eq 0 ]
	[ "$output" = "" ]
	[[ "$(head -n 1 out)" == count,* ]]
	! grep -q '^1000$' out
}

@test "-o FILE in a folder that is not there fails before anything is traced" {
	lb waits -d 10 -o /proc/nonexistent/out
	fails_with 1 "cannot write /proc/nonexistent/out: No such file or directory"
}

@test "a full disk is one line and exit 1" {
	mkdir full
	mount -t tmpfs -o size=4k tmpfs full || skip "cannot mount a tmpfs"
	head -c 4096 /dev/zero >full/filler || true
	SECONDS=0
	lb waits -j -q -i 0.1 -d 15 -o full/out
	took=$SECONDS
	umount full
	show
	[ "$status" -eq 1 ]
	[ "$output" = "" ]
	[ "$stderr" = "lockblame: cannot write full/out: No space left on device" ]
	# it does not go on for nothing
	[ "$took" -lt 10 ]
}

@test "a full disk on standard output is told too" {
	run --separate-stderr bash -c "timeout 20 '$LOCKBLAME' waits -j -q -d 0.1 >/dev/full"
	fails_with 1 "cannot write standard output: No space left on device"
}

@test "a closed pipe is a quiet end" {
	for args in "waits -q 0.1" "waits -q -j -i 0.1" "waits -q --csv 0.1"; do
		SECONDS=0
		run --separate-stderr bash -c \
			"timeout 20 '$LOCKBLAME' $args | true; exit \${PIPESTATUS[0]}"
		show
		[ "$status" -eq 0 ]
		[ "$stderr" = "" ]
		[ "$SECONDS" -lt 10 ]
	done
}

@test "a command that runs keeps its own output and SIGPIPE" {
	lb waits -q -o out -- sh -c 'echo from the command'
	show
	[ "$status" -eq 0 ]
	[ "$output" = "from the command" ]
	# yes must die of SIGPIPE, silently
	lb waits -q -o out -- sh -c 'yes | head -n 1'
	show
	[ "$status" -eq 0 ]
	[ "$output" = "y" ]
	[ "$stderr" = "" ]
}
