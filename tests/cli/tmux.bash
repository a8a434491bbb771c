# SPDX-License-Identifier: GPL-2.0
# Helpers for tests of the full-screen view: a terminal of known size in a tmux server of our own.

LOCKBLAME=${LOCKBLAME:-$BATS_TEST_DIRNAME/../../build/lockblame}
WORKLOADS=$(dirname "$LOCKBLAME")/workload
PATIENCE=${PATIENCE:-20} # seconds until an event that does not come is a failure

mux() {
	tmux -L "lockblame-test-$BATS_SUITE_TEST_NUMBER-$$" -f /dev/null "$@"
}

# start_shell [COLUMNS [LINES]]: a shell at a known prompt.
start_shell() {
	mux new-session -d -s t -x "${1:-80}" -y "${2:-24}" "env PS1='ready> ' LC_ALL=C.UTF-8 sh"
	see 'ready>'
	type_line 'ulimit -c 0; clear' # some tests make it crash
}

# type_line TEXT: types a command line.
type_line() {
	mux send-keys -t t -l "$1"
	mux send-keys -t t Enter
}

press() {
	mux send-keys -t t "$@"
}

screen() {
	mux capture-pane -p -t t
}

# until_true COMMAND...: polls; fails when it does not come true in time.
until_true() {
	local end=$((SECONDS + PATIENCE))

	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

has() {
	screen | grep -Eq -- "$1"
}

hasnt() {
	! has "$1"
}

# see REGEX: waits until the screen shows it. gone REGEX: until it does not.
see() {
	until_true has "$1" && return
	echo "the screen never showed: $1"
	screen
	return 1
}

gone() {
	until_true hasnt "$1" && return
	echo "the screen went on showing: $1"
	screen
	return 1
}

stop_shell() {
	mux kill-server 2>/dev/null || true
}

# Pid of the lockblame in the terminal.
tool_pid() {
	local shell

	shell=$(mux display-message -p -t t '#{pane_pid}')
	pgrep -P "$shell" -x lockblame
}

# The terminal is as it was: main screen, cursor shown, the modes that `stty` told in $1.
terminal_is_restored() {
	see "^ready> *$|rc=[0-9]+"
	[ "$(mux display-message -p -t t '#{alternate_on} #{cursor_flag}')" = "0 1" ]
	type_line 'clear; stty -g | md5sum | sed s/^/modes=/'
	see "^modes=$1"
}

tty_modes() {
	type_line 'stty -g | md5sum | sed s/^/modes=/'
	see '^modes=[0-9a-f]'
	screen | sed -n 's/^modes=\([0-9a-f]*\).*/\1/p'
}
