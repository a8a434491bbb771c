#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# lockblame top in a terminal, on a real kernel, with a workload whose lock is known.

load tmux

# Nothing of bats must be kept open by what outlives a test.
in_background() {
	"$@" </dev/null >/dev/null 2>&1 3>&- 4>&- &
}

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	in_background "$WORKLOADS/mmap-loop" --threads 3 --seconds 600
	echo $! >"$BATS_FILE_TMPDIR/workload"
}

teardown_file() {
	if [ -e "$BATS_FILE_TMPDIR/workload" ]; then
		kill "$(cat "$BATS_FILE_TMPDIR/workload")"
	fi
}

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	load=$(cat "$BATS_FILE_TMPDIR/workload")
}

teardown() {
	stop_shell
	[ ! -e "$BATS_TEST_TMPDIR/holder" ] || kill "$(cat "$BATS_TEST_TMPDIR/holder")" 2>/dev/null || true
}

start_top() {
	start_shell
	type_line "$LOCKBLAME top -i 500ms $*; echo rc=\$?"
	see "mmap_lock of mmap-loop/$load"
}

@test "shows the lock, who holds it and what was lost, in 80x24" {
	start_top
	see '^lockblame top [0-9:]+  every 500 ms  by \[lock\] site process kind'
	see 'waits seen, none lost; (tp|fentry|kprobe) hooks'
	see 'NOW LONGEST WAITS/S  BLK/S MODE  OWNER +LOCK'
	see '^>. .* write .* mmap_lock of mmap-loop/[0-9]+'
	see 'h help .* q quit'
	[ "$(screen | awk '{ if (length > m) m = length } END { print m }')" -le 80 ]
}

@test "the selection follows its row when the order turns round" {
	start_top
	press /
	press -l "mmap-loop/$load"
	press Enter
	see "filter \"mmap-loop/$load\": 2 "
	press End
	see '^>.*mmap_lock of'
	row=$(screen | grep '^>' | grep -Eo 'read|write')
	press r
	see 'sort: auto reversed'
	until_true eval '[ "$(screen | grep -n mmap_lock.of | head -1 | cut -d: -f2 | cut -c1)" = ">" ]'
	[ "$(screen | grep '^>' | grep -Eo 'read|write')" = "$row" ]
}

@test "filters by text; says when the filter hides everything" {
	start_top
	press /
	see '^Filter: *$'
	press -l 'no-such-name'
	see 'no rows: the filter "no-such-name" hides all'
	press Escape
	see '^>.*mmap_lock of mmap-loop'
	press F4
	press -l 'MMAP-LOOP'
	press Enter
	see 'filter "MMAP-LOOP": [1-9]'
	press Escape
	gone 'filter "'
}

@test "sorts by a column chosen with keys or from the menu" {
	start_top
	press '>'
	see 'sort: NOW'
	see 'vNOW'
	press r
	see 'sort: NOW reversed'
	see '\^NOW'
	press '<'
	see 'sort: auto'
	press F6
	see '^> auto'
	press Down
	see '^> WAITS '
	press Enter
	see 'sort: WAITS'
}

@test "Tab goes round the views" {
	start_top
	for v in site process kind lock; do
		press Tab
		see "\\[$v\\]"
		see '^>'
	done
	press BTab
	see '\[kind\]'
	see '^>.* rwsem '
}

@test "Enter opens a lock: waiters, stacks, histogram, figures; q goes back" {
	start_top
	press t
	see 'SINCE START'
	press Enter
	see '^mmap_lock of mmap-loop/'
	see '^rwsem, waits for '
	see 'Waiting now: '
	see '^ *[0-9.]+ %  .*stacks? walked'
	press End
	see 'Figures'
	see 'WAITS/S +[0-9]'
	press PPage
	see '#####'
	press q
	see '^>.*mmap_lock of mmap-loop'
}

@test "help tells the keys" {
	start_top
	for k in h '?' F1; do
		press "$k"
		see '^Keys'
		see 'Enter +open the row'
		press End
		see 'LOCK +what the lock protects'
		press q
		see '^>.*mmap_lock'
	done
}

@test "pauses, changes the interval, refuses a bad one" {
	start_top
	press Space
	see 'PAUSED'
	press Z
	gone 'PAUSED'
	press +
	see 'every 1.00 s'
	press -
	see 'every 500 ms'
	press d
	see '^Interval: 500 ms'
	press C-u
	press -l '0'
	press Enter
	see 'a time from 100ms to 1h'
	press C-u
	press -l '0.2'
	press Enter
	see 'every 200 ms'
}

@test "follows the size of the terminal, down to two lines" {
	start_top
	mux resize-window -t t -x 160 -y 40
	see 'P50 +P99 +MAX +MODE +OWNER +SITE +LOCK'
	mux resize-window -t t -x 30 -y 6
	see '^lockblame top [0-9:]+  every*\+'
	mux resize-window -t t -x 12 -y 2
	see '^lockblame t\+'
	mux resize-window -t t -x 80 -y 24
	see 'NOW LONGEST WAITS/S  BLK/S MODE  OWNER +LOCK'
	see 'q quit'
}

@test "marks a wait that has lasted, also without colour" {
	hold=$WORKLOADS/hold-lock
	[ -x "$hold" ] || skip "no hold-lock workload"
	start_shell
	type_line "NO_COLOR=1 $LOCKBLAME top -i 500ms"
	see 'mmap_lock of mmap-loop/'
	in_background "$hold" --waiters 5 --hold-ms 60000 inode
	echo $! >"$BATS_TEST_TMPDIR/holder"
	see '^.! +5 .*hold-lock'
	run mux capture-pane -p -e -t t
	[[ $output != *$'\e[31m'* ]]
	press Home
	see '^>! .*hold-lock'
	press Enter
	see 'Waiting now: 5'
	see '^! .*hold-lock/[0-9]+'
}

@test "every way out gives the terminal back" {
	start_shell
	before=$(tty_modes)
	for how in q F10 C-c TERM SEGV ABRT QUIT; do
		type_line "clear; $LOCKBLAME top -i 500ms; echo rc=\$?"
		see '^> .*mmap_lock of'
		[ "$(mux display-message -p -t t '#{alternate_on}')" = 1 ]
		case $how in
		q | F10 | C-c) press "$how" ;;
		*) kill "-$how" "$(tool_pid)" ;;
		esac
		case $how in
		SEGV | ABRT | QUIT) see 'rc=1[0-9][0-9]' ;;
		*) see 'rc=0' ;;
		esac
		terminal_is_restored "$before"
	done
}

@test "works in a locale without UTF-8" {
	start_shell
	type_line "LC_ALL=C $LOCKBLAME top -i 500ms; echo rc=\$?"
	see '^>.*mmap_lock of mmap-loop/'
	press q
	see 'rc=0'
}

@test "a terminal that can't do it, or none, gets tables and is told why" {
	start_shell
	type_line "TERM=dumb $LOCKBLAME top -i 300ms -n 1; echo rc=\$?"
	see 'no full screen: TERM is dumb'
	see 'rc=0'
	has 'mmap_lock of mmap-loop/'
	run "$LOCKBLAME" top -i 300ms -n 1
	[ "$status" -eq 0 ]
	[[ $output == *"standard output is no terminal"* ]]
	[[ $output == *"mmap_lock of mmap-loop/"* ]]
}

@test "-n ends the full screen after that many intervals" {
	start_shell
	type_line "$LOCKBLAME top -i 300ms -n 2; echo rc=\$?"
	see 'rc=0'
	see 'waits seen, none lost'
}

@test "batch mode prints one table an interval" {
	run "$LOCKBLAME" top -b -n 2 -i 300ms
	[ "$status" -eq 0 ]
	[ "$(grep -c 'NOW LONGEST WAITS/S' <<<"$output")" -eq 2 ]
	grep -Eq '^20[0-9-]+ [0-9:]+$' <<<"$output"
	grep -Eq 'write .*mmap_lock of mmap-loop/[0-9]+' <<<"$output"
	run "$LOCKBLAME" top -b -n 1 -i 300ms -r 1 -j
	[ "$status" -eq 0 ]
	[ "$(grep -c '"record":"wait"' <<<"$output")" -eq 1 ]
	[[ $output == *'"command":"top"'* ]]
	[[ $output == *'"record":"summary"'* ]]
}

@test "a reader that leaves is a quiet end" {
	run bash -c "set -o pipefail; $LOCKBLAME top -b -q -i 200ms | head -2; echo \${PIPESTATUS[0]}"
	[ "${lines[-1]}" = 0 ]
	[[ $output != *rror* ]]
}

@test "usage errors are one line and exit 2" {
	for o in '-s nothing' '--by nothing' '-i 0' '-n 0' '--columns now,nothing'; do
		# shellcheck disable=SC2086
		run "$LOCKBLAME" top $o
		[ "$status" -eq 2 ]
		[ "${#lines[@]}" -eq 1 ]
	done
}
