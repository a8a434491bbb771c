#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# How runs begin, end and fail. As root, on a kernel where waits can be traced.

load common

setup() {
	need_tracing
	cd "$BATS_TEST_TMPDIR"
}

@test "processes, threads, cgroups and locks that are not there" {
	lb waits -p 4194000 -d 5
	fails_with 2 "there is no process 4194000"
	lb waits -t 4194000 -d 5
	fails_with 2 "there is no thread 4194000"
	lb waits -c /no/such/cgroup -d 5
	fails_like 2 "'/no/such/cgroup'"
	lb waits -l no_such_lock_symbol -d 5
	fails_like 2 "'no_such_lock_symbol'"
}

@test "columns, keys and hooks that are not there" {
	lb waits --columns nosuch -d 5
	fails_with 2 "there is no column 'nosuch' (--columns help lists them)"
	lb waits -s tota -d 5
	fails_with 2 "there is no column 'tota' (near it: total)"
	lb waits --by nosuch -d 5
	fails_like 2 "--by: 'nosuch' is not"
	lb waits --hooks nosuch -d 5
	fails_like 2 "--hooks: 'nosuch' is not"
}

@test "sizes that no kernel gives" {
	lb waits --map-entries 4294967295 -d 5
	fails_like 2 "--map-entries: at most"
	lb waits --ring-size 100G -d 5
	fails_like 2 "--ring-size: at most"
}

@test "the smallest sizes work" {
	lb waits -q --map-entries 1 --ring-size 1 -d 0.2
	show
	[ "$status" -eq 0 ]
	[ "$stderr" = "" ]
}

@test "a command that cannot be run" {
	lb waits -- /proc/nonexistent/command
	fails_with 1 "cannot run /proc/nonexistent/command: No such file or directory"
	touch not_executable
	lb waits -- ./not_executable
	fails_with 1 "cannot run ./not_executable: Permission denied"
}

@test "tracing ends with the command" {
	SECONDS=0
	lb waits -q -- sleep 0.3
	show
	[ "$status" -eq 0 ]
	[ "$SECONDS" -lt 10 ]
}

@test "a command's words are its own" {
	lb waits -q -- sh -c 'echo "$1 $2 $3"' sh -j --wrong --
	show
	[ "$status" -eq 0 ]
	[[ "$output" == "-j --wrong --"* ]]
}

@test "INTERVAL COUNT and -d end a run" {
	SECONDS=0
	lb waits --csv 0.1 3
	[ "$status" -eq 0 ]
	lb waits -d 300ms
	[ "$status" -eq 0 ]
	lb trace -d 300ms
	[ "$status" -eq 0 ]
	[ "$SECONDS" -lt 15 ]
}

# Runs the program, sends it a signal after some seconds, and gives its exit status; 99 when it does
# not end within ten. A shell without job control starts background commands with SIGINT ignored,
# which no terminal does.
interrupted() {
	local signal=$1 delay=$2 pid
	shift 2
	env --default-signal=INT "$LOCKBLAME" "$@" >out 2>err &
	pid=$!
	# Until the program runs, the shell's child ignores SIGINT.
	for _ in $(seq 500); do
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" = lockblame ] && break
		sleep 0.01
	done
	sleep "$delay"
	kill -s "$signal" "$pid"
	for _ in $(seq 100); do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	kill -KILL "$pid" 2>/dev/null && return 99
	wait "$pid"
}

@test "Ctrl-C and SIGTERM print the summary and exit 0" {
	for signal in INT TERM; do
		for args in "waits" "waits 100" "waits -j" "trace" "trace -j"; do
			run interrupted "$signal" 1 $args
			echo "$args: $status $(cat err)"
			[ "$status" -eq 0 ]
			if [[ "$args" == *-j ]]; then
				[ "$(tail -n 1 out | cut -c 1-20)" = '{"record":"summary",' ]
			else
				grep -q "^lockblame: [0-9.kM]* waits\? seen" err
			fi
		done
	done
}

@test "Ctrl-C at any moment of the start is a clean end" {
	for delay in 0 0.01 0.02 0.04 0.06 0.08 0.1 0.15; do
		run interrupted INT "$delay" waits -q
		echo "after $delay s: $status $(cat err)"
		# 130: the signal came before anything was set up
		[ "$status" -eq 0 ] || [ "$status" -eq 130 ]
		[ ! -s err ]
	done
}

@test "doctor: text and JSON say the same, exit 0 where waits can be traced" {
	lb doctor
	show
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == "lockblame "*" on Linux $(uname -r) "* ]]
	[[ "$output" == *"waits: rwsem"* ]]
	[ "$stderr" = "" ]
	rows=$(grep -cE '^[a-z][a-z_ :-]+ (works|partly|not) ' <<<"$output")
	command -v jq >/dev/null || skip "jq is missing"
	lb doctor -j
	[ "$status" -eq 0 ]
	[ "$(jq -s '[.[] | select(.record == "feature")] | length' <<<"$output")" -eq "$rows" ]
}
