# SPDX-License-Identifier: GPL-2.0
# The memory walkers and identities against objects whose addresses the checker knows itself.
if command -v kmem-check >/dev/null; then
	kmem-check >"$dir/kmem" 2>&1
	while IFS= read -r line; do
		case $line in
		"ok "*"# SKIP "*) line=${line#*- }; skip "kmem: ${line%% # SKIP*}" "${line##*# SKIP }" ;;
		"ok "*) ok "kmem: ${line#*- }" ;;
		"not ok "*) not_ok "kmem: ${line#*- }" ;;
		"#"*) echo "$line" ;;
		esac
	done <"$dir/kmem"
else
	skip "kmem" "kmem-check is not in this image"
fi
