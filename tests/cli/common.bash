# SPDX-License-Identifier: GPL-2.0
# What the command-line tests share: `load common`, then `lb ARGS...` runs the program.
bats_require_minimum_version 1.5.0

LOCKBLAME=${LOCKBLAME:-$BATS_TEST_DIRNAME/../../build/lockblame}

# Runs the program; afterwards $status, $output (standard output) and $stderr. Nothing here may take
# more than 20 seconds.
lb() {
	run --separate-stderr timeout 20 "$LOCKBLAME" "$@"
}

show() {
	echo "status $status"
	echo "stdout: $output"
	echo "stderr: $stderr"
}

# The program failed with this status and exactly this line, and no data.
fails_with() {
	show
	[ "$status" -eq "$1" ]
	[ "$output" = "" ]
	[ "$stderr" = "lockblame: $2" ]
}

# The same, for a line that depends on the machine: it must match this pattern.
fails_like() {
	show
	[ "$status" -eq "$1" ]
	[ "$output" = "" ]
	[[ "$stderr" == "lockblame: "* && "$stderr" != *$'\n'* ]]
	[[ "$stderr" == *$2* ]]
}

has_command() {
	"$LOCKBLAME" help | grep -q "^  $1 "
}

need_command() {
	has_command "$1" || skip "there is no $1 yet"
}

need_root() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}

# Whoever runs this may trace here.
need_tracing() {
	need_root
	"$LOCKBLAME" doctor >/dev/null || skip "waits cannot be traced on this kernel: lockblame doctor"
}

# Runs the program as nobody, who may not be able to reach the build folder.
lb_nobody() {
	local dir

	need_root
	command -v setpriv >/dev/null || skip "setpriv is missing"
	dir=$(mktemp -d)
	chmod 755 "$dir"
	cp "$LOCKBLAME" "$dir/lockblame"
	run --separate-stderr timeout 20 setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$dir/lockblame" "$@"
	rm -rf "$dir"
}
