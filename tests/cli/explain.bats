#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# lockblame explain: needs no privileges.

load common

setup() {
	cd "$BATS_TEST_TMPDIR"
}

log() {
	cat <<-'EOF'
	[ 1234.500000] INFO: task writer:812 blocked for more than 120 seconds.
	[ 1234.500010] task:writer          state:D stack:0     pid:812   tgid:812   ppid:1      flags:0x00004002
	[ 1234.500020] Call Trace:
	[ 1234.500030]  __schedule+0x3ef/0xa30
	[ 1234.500040]  schedule+0x5d/0xe0
	[ 1234.500050]  schedule_preempt_disabled+0x14/0x30
	[ 1234.500060]  __mutex_lock.constprop.0+0x3b4/0x700
	[ 1234.500070]  pipe_write+0x41/0x590
	[ 1234.500080] INFO: task writer:812 is blocked on a mutex likely owned by task keeper:811.
	EOF
}

@test "a hang: the verdict first, exit status 3" {
	log >log
	lb explain log
	show
	[ "$status" -eq 3 ]
	[[ "${lines[0]}" == *"keeper/811"* ]]
	[[ "$output" == *"writer/812"* ]]
	[[ "$output" == *"1 hung task in 1 hang."* ]]
	run -3 bash -c "'$LOCKBLAME' explain - <log"
	run -3 bash -c "'$LOCKBLAME' explain <log"
}

@test "JSON" {
	command -v jq >/dev/null || skip "jq is missing"
	log >log
	lb explain -j log
	[ "$status" -eq 3 ]
	jq -s -e '(map(select(.record == "task" and .tid == 812))[0]) as $t | $t.waits_for.kind == "mutex" and
		$t.holder.tid == 811 and $t.holder.certainty == "likely"' <<<"$output"
}

@test "no hang, no file" {
	echo "[    0.000000] Linux version 6.1.0" >log
	lb explain log
	[ "$status" -eq 0 ]
	[[ "$output" == "No hung task in "* ]]
	lb explain nosuchfile
	fails_with 1 "cannot open nosuchfile: No such file or directory"
}
