# SPDX-License-Identifier: GPL-2.0
# bash completion for lockblame. tests/check-man compares it with the option table.
_lockblame() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd=${COMP_WORDS[1]}
	local commands='top waits blame holds trace hung explain doctor help'
	local common='--quiet --help --version'
	local filter='--pid --tid --comm --cgroup --lock --kind'
	local waiter='--min-duration --user-stacks --no-spin'
	local collect='--stacks --all-stacks --map-entries --ring-size --verbose'
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
	--by) w='lock site process comm kind cgroup stack'
		[ "$cmd" = blame ] && w='holder lock site process stack pair'
		COMPREPLY=($(compgen -W "$w" -- "$cur")); return ;;
	--kind) COMPREPLY=($(compgen -W 'rwsem mutex percpu-rwsem semaphore rt-mutex rwlock spinlock all' -- "$cur")); return ;;
	--sort | -s | --columns) COMPREPLY=($(compgen -W "$(lockblame "$cmd" --columns help 2>/dev/null | cut -d' ' -f1)" -- "$cur")); return ;;
	--output | -o | --cgroup | -c) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	--pid | -p | --tid | -t) COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$cur")); return ;;
	esac
	case $cmd in
	top) COMPREPLY=($(compgen -W "$common $filter $waiter $collect $table --batch" -- "$cur")) ;;
	waits) COMPREPLY=($(compgen -W "$common $filter $waiter $collect $table --folded" -- "$cur")) ;;
	blame) COMPREPLY=($(compgen -W "$common $filter $collect $table --no-spin --folded" -- "$cur")) ;;
	holds) COMPREPLY=($(compgen -W "$common $filter $collect $table --min-duration --user-stacks --folded" -- "$cur")) ;;
	trace) COMPREPLY=($(compgen -W "$common $filter $waiter $collect --duration --count --json --csv --output" -- "$cur")) ;;
	hung) COMPREPLY=($(compgen -W "$common --min --rows --stacks --json --output" -- "$cur")) ;;
	explain) COMPREPLY=($(compgen -f -W "$common --rows --stacks --json --output" -- "$cur")) ;;
	doctor) COMPREPLY=($(compgen -W "$common --json --output" -- "$cur")) ;;
	help) COMPREPLY=($(compgen -W "$commands" -- "$cur")) ;;
	esac
}
complete -F _lockblame lockblame
