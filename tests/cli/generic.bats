#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# What every command has in common: help, version, mistakes. Needs no privileges.

load common

@test "without a command the help is shown" {
	lb
	show
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "Usage: lockblame COMMAND [options]" ]
	[ "$stderr" = "" ]
}

@test "help, --help and -h are the same" {
	lb help
	want=$output
	lb --help
	[ "$status" -eq 0 ]
	[ "$output" = "$want" ]
	lb -h
	[ "$output" = "$want" ]
}

@test "help lists every command in one line of at most 80 columns" {
	lb help
	show
	for command in waits trace doctor help; do
		[[ "$output" == *$'\n'"  $command "* ]]
	done
	while IFS= read -r line; do
		[ "${#line}" -le 100 ]
	done <<<"$output"
}

@test "help COMMAND is COMMAND --help, and COMMAND -h" {
	for command in $("$LOCKBLAME" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
		lb help "$command"
		show
		[ "$status" -eq 0 ]
		[[ "${lines[0]}" == "Usage: lockblame $command"* ]]
		want=$output
		lb "$command" --help
		[ "$status" -eq 0 ]
		[ "$output" = "$want" ]
		lb "$command" -h
		[ "$output" = "$want" ]
	done
}

@test "help wins over other words" {
	lb waits --help nonsense
	show
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == "Usage: lockblame waits"* ]]
}

@test "help of a command that is not there" {
	lb help nosuch
	fails_with 2 "there is no command 'nosuch' (try: lockblame help)"
}

@test "help takes one command" {
	lb help waits trace
	fails_with 2 "help: 'trace' is one word too many"
}

@test "the version" {
	lb --version
	show
	[ "$status" -eq 0 ]
	[[ "$output" =~ ^lockblame\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	want=$output
	lb -V
	[ "$output" = "$want" ]
	lb waits --version
	[ "$status" -eq 0 ]
	[ "$output" = "$want" ]
	lb doctor -V
	[ "$output" = "$want" ]
}

@test "a command that is not there" {
	lb nosuch
	fails_with 2 "there is no command 'nosuch' (try: lockblame help)"
	lb ""
	fails_with 2 "there is no command '' (try: lockblame help)"
	lb -j
	fails_with 2 "there is no command '-j' (try: lockblame help)"
}

@test "an option that is not there" {
	lb waits --nosuch
	fails_with 2 "waits: there is no option '--nosuch' (try: lockblame waits --help)"
	lb waits -Z
	fails_with 2 "waits: there is no option -Z (try: lockblame waits --help)"
	lb waits -1
	fails_with 2 "waits: there is no option -1 (try: lockblame waits --help)"
}

@test "an option of another command" {
	lb doctor --pid 1
	fails_with 2 "doctor: there is no option '--pid' (try: lockblame doctor --help)"
}

@test "an option without its argument, or with one too many" {
	lb waits --pid
	fails_with 2 "waits: option '--pid' needs an argument"
	lb waits -d
	fails_with 2 "waits: option '-d' needs an argument"
	lb waits --json=yes
	fails_with 2 "waits: option '--json=yes' takes no argument"
}

@test "times that are none" {
	for bad in 0 0s -1s 1x 1sec .5 "1 s" "" inf nan 0x10 1e3 99999999999999999h; do
		for option in -d -i -m; do
			lb waits "$option" "$bad"
			fails_like 2 "'$bad' is not a time above zero (as in 10ms, 1.5s, 2m)"
		done
	done
}

@test "an interval that is none" {
	for bad in 0 x 0ms 1y; do
		lb waits "$bad"
		fails_with 2 "waits: '$bad' is not an interval above zero (a command to run comes after --)"
	done
	lb waits 1 0
	fails_with 2 "waits: '0' is not a count from 1 up"
	lb waits 1 2 3
	fails_with 2 "waits: '3' is one word too many (INTERVAL COUNT)"
}

@test "counts, sizes and ids that are none" {
	for bad in 0 -1 1.5 x "" 99999999999; do
		lb waits -n "$bad"
		fails_with 2 "waits: --count: '$bad' is not a whole number from 1 up"
	done
	lb waits --ring-size 4MB
	fails_with 2 "waits: --ring-size: '4MB' is not a size (as in 512k, 4M)"
	lb waits -p 1,x
	fails_with 2 "waits: --pid: 'x' is not a PID (1 to 4194304)"
}

@test "a lock kind that is none" {
	lb waits --kind rwsem,futex
	fails_like 2 "--kind: 'futex' is no lock kind: rwsem, mutex,"
}

@test "two formats at once" {
	lb waits -j --csv
	fails_with 2 "waits: --csv: another output format was asked for already"
}

@test "words that belong nowhere" {
	lb doctor now
	fails_with 2 "doctor: 'now' is one word too many"
	lb trace 1
	fails_with 2 "trace: '1' is one word too many"
}

@test "no command after --" {
	lb waits --
	fails_with 2 "waits: no command after --"
	lb doctor -- true
	fails_with 2 "doctor: takes no command after --"
}

@test "standard output that cannot be written is a failure" {
	[ -w /dev/full ] || skip "no /dev/full"
	for args in "help" "waits --help" "--version" "waits --columns help"; do
		run --separate-stderr bash -c "'$LOCKBLAME' $args >/dev/full"
		echo "$args"
		show
		[ "$status" -eq 1 ]
		[ "$stderr" = "lockblame: cannot write standard output: No space left on device" ]
	done
}
