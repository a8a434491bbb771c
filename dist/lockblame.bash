# SPDX-License-Identifier: GPL-2.0
# bash completion for lockblame. tests/check-man compares it with the option table.
_lockblame() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd=${COMP_WORDS[1]}
	local commands='top waits trace hung doctor help'
	local common='--quiet --help --version'
	local filter='--pid --tid --comm --cgroup --lock --kind --min-duration'
	local collect='--stacks --user-stacks --all-stacks --no-spin --map-entries --ring-size --verbose'
	local table='--interval --duration --count --by --sort --reverse --columns --rows --timestamps --json --csv --output'
	local w

	if [ "$COMP_CWORD" -eq 1 ]; then
		COMPREPLY=($(compgen -W "$commands --help --version" -- "$cur"))
		return
	fi
	# After -- comes a command to run.
	for w in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		[ "$w" = -- ] && { COMPREPLY=($(compgen -c -f -- "$cur")); return; }
	done
	case $prev in
	--by) COMPREPLY=($(compgen -W 'lock site process comm kind cgroup stack' -- "$cur")); return ;;
	--kind) COMPREPLY=($(compgen -W 'rwsem mutex percpu-rwsem semaphore rt-mutex rwlock spinlock all' -- "$cur")); return ;;
	--sort | -s | --columns) COMPREPLY=($(compgen -W "$(lockblame waits --columns help 2>/dev/null | cut -d' ' -f1)" -- "$cur")); return ;;
	--output | -o | --cgroup | -c) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--pid | -p | --tid | -t) COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$cur")); return ;;
	esac
	case $cmd in
	top) COMPREPLY=($(compgen -W "$common $filter $collect $table --batch" -- "$cur")) ;;
	waits) COMPREPLY=($(compgen -W "$common $filter $collect $table --folded" -- "$cur")) ;;
	trace) COMPREPLY=($(compgen -W "$common $filter $collect --duration --count --json --csv --output" -- "$cur")) ;;
	hung) COMPREPLY=($(compgen -W "$common --min --rows --stacks --json --output" -- "$cur")) ;;
	doctor) COMPREPLY=($(compgen -W "$common --json --output" -- "$cur")) ;;
	help) COMPREPLY=($(compgen -W "$commands" -- "$cur")) ;;
	esac
}
complete -F _lockblame lockblame
