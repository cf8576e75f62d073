#!/usr/bin/env bash
# Runs two instances of the sample on one store and shows who ran each firing, and why the other did not.
#
#   sample-app/run-two.sh [file|jdbc|redis] [--kill]
#
# With --kill, the instance that runs is killed (kill -9) in the middle of the third firing; the other one goes on.
set -euo pipefail

profile=file
kill_one=false
for argument in "$@"; do
	case $argument in
		file | jdbc | redis) profile=$argument ;;
		--kill) kill_one=true ;;
		*)
			echo "usage: $0 [file|jdbc|redis] [--kill]" >&2
			exit 2
			;;
	esac
done
firings=6

# shellcheck source=instances.sh
source "$(dirname "${BASH_SOURCE[0]}")/instances.sh"
prepare "$profile"

start one
one=$instance_pid
start two
two=$instance_pid
await "$work/one.log" 180 'Started SampleApplication'
await "$work/two.log" 180 'Started SampleApplication'

# The first firing that both can see: every 10 seconds, as application.yml says.
first=$((($(date +%s) / 10 + 1) * 10))
echo "Both instances are up (pids $one and $two); watching $firings firings from $(date -d "@$first" +%T)"

executions=0
twice=0
missing=0
killed=
for ((n = 0; n < firings; n++)); do
	tick=$((first + 10 * n))
	prefix=$(date -d "@$tick" +%H:%M:%S)
	prefix=${prefix%?}
	if $kill_one && ((n == 2)); then
		until grep -q "^$prefix.* daily-report: begins" "$work"/*.log || (($(date +%s) > tick + 8)); do sleep 0.1; done
		sleep 1
		if grep -q "^$prefix.* daily-report: begins" "$work/one.log"; then killed=one; else killed=two; fi
		kill -9 "${!killed}"
		wait "${!killed}" 2>/dev/null || true
	fi
	while (($(date +%s) < tick + 8)); do sleep 0.2; done
	ran=()
	line=
	for instance in one two; do
		if grep -q "^$prefix.* daily-report: begins" "$work/$instance.log"; then
			ran+=("$instance")
			line+=" $instance ran it"
			grep -q "^$prefix.* daily-report: sent" "$work/$instance.log" || line+=" and was killed"
			line+=";"
		else
			reason=$(sed -n "s/^$prefix.* key=daily-report.* \(skipped: .*\)$/\1/p" "$work/$instance.log" | tail -n 1)
			[[ -z $reason ]] || line+=" $instance $reason;"
		fi
	done
	executions=$((executions + ${#ran[@]}))
	((${#ran[@]} <= 1)) || twice=$((twice + 1))
	((${#ran[@]} >= 1)) || missing=$((missing + 1))
	echo "firing $((n + 1)) at ${prefix}0:$line"
	if [[ -n $killed ]] && ((n == 2)); then
		echo "         $killed was killed with -9 in the middle of its run"
	fi
done

echo "$firings firings, $executions executions, $twice twice, $missing missing"
if [[ -z $killed ]]; then
	((executions == firings && twice == 0 && missing == 0))
else
	# The lease of 10 s ends beside the next firing; a file lock ends with its process.
	limit=$([[ $profile == file ]] && echo 0 || echo 1)
	((twice == 0 && missing <= limit)) && [[ ${ran[*]} != "$killed" && ${#ran[@]} -eq 1 ]]
fi
