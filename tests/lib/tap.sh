# SPDX-License-Identifier: GPL-2.0
# A small TAP producer for POSIX shells, sourced by the guest tests.
tap_n=0
tap_bad=0
ok() { tap_n=$((tap_n + 1)); echo "ok $tap_n - $1"; }
not_ok() { tap_n=$((tap_n + 1)); tap_bad=$((tap_bad + 1)); echo "not ok $tap_n - $1"; shift; for l; do echo "# $l"; done; }
skip() { tap_n=$((tap_n + 1)); echo "ok $tap_n - $1 # SKIP $2"; }
diag() { sed 's/^/# /'; }
# is NAME GOT WANTED
is() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "got: $2" "wanted: $3"; fi; }
# like NAME GOT PATTERN (shell pattern)
like() { case $2 in $3) ok "$1" ;; *) not_ok "$1" "got: $2" "wanted like: $3" ;; esac; }
# cmp NAME A OP B   numbers of any size
num() {
	if awk "BEGIN { exit !($2 $3 $4) }"; then ok "$1"; else not_ok "$1" "not true: $2 $3 $4"; fi
}
tap_done() { echo "1..$tap_n"; [ "$tap_bad" -eq 0 ]; }
