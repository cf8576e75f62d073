#!/usr/bin/env bash
# Plays the worker that was paused for longer than its lease: it wakes up, writes, and its commit is refused.
#
#   sample-app/paused-worker.sh [jdbc|redis]
#
# jdbc keeps locks and accounts in one PostgreSQL; redis keeps the locks in Redis, and a guard beside the accounts in
# PostgreSQL. Ends with 0 only if the late write was made and refused, and the balance is right.
set -euo pipefail

profile=${1:-jdbc}
case $profile in
	jdbc | redis) ;;
	*)
		echo "usage: $0 [jdbc|redis]" >&2
		exit 2
		;;
esac

# shellcheck source=instances.sh
source "$(dirname "${BASH_SOURCE[0]}")/instances.sh"
prepare "$profile"
# A short lease makes a short story, and the report has no part in it.
arguments+=("--mutex.fenced.lease=3s" "--sample.report.cron=0 0 0 1 1 *")

port() {
	sed -n 's/.*Tomcat started on port \([0-9]*\).*/\1/p' "$work/$1.log"
}
story() {
	echo "$(date +%T.%3N)  $*"
}
field() {
	sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" <<<"$2"
}
state() {
	sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status"
}
wrong() {
	story "WRONG: $*"
	tail -n 20 "$work/A.log" >&2
	exit 1
}

start A
a=$instance_pid
await "$work/A.log" 180 'Started SampleApplication'
start B
b=$instance_pid
await "$work/B.log" 180 'Started SampleApplication'
of_a=http://localhost:$(port A)
of_b=http://localhost:$(port B)
story "worker A (pid $a) and worker B (pid $b) are up, with locks in $profile and leases of 3 s"

opened=$(curl -s -X POST "$of_b/accounts/42?amount=100")
[[ $(field balance "$opened") == 100 ]] || wrong "account 42 was not opened: $opened"
story "B opens account 42:  $opened"

curl -s -w '\n%{http_code}\n' -X POST "$of_a/accounts/42?amount=10&work=3s" >"$work/answer" &
request=$!
await "$work/A.log" 20 'reads the balance 100'
kill -STOP "$a"
for ((attempt = 0; attempt < 100; attempt++)); do
	[[ $(state "$a") != T ]] || break
	sleep 0.02
done
[[ $(state "$a") == T ]] || wrong "A was not stopped"
token_a=$(sed -n 's/.*reads the balance 100 under token \([0-9]*\).*/\1/p' "$work/A.log")
! grep -q 'writes the balance' "$work/A.log" || wrong "A was stopped too late, try again"
story "A is to add 10. It reads the balance 100 under token $token_a and is stopped:  kill -STOP $a"
lock=$(curl -s "$of_b/actuator/locks/account:42")
story "the lock is A's still, as B sees it:  token $(field token "$lock") of pid $(field pid "$lock")"

booked=
for ((attempt = 0; attempt < 10; attempt++)); do
	booked=$(curl -s -X POST "$of_b/accounts/42?amount=50")
	token_b=$(field token "$booked")
	[[ -z $token_b ]] || break
done
[[ -n $token_b ]] || wrong "B did not get the account: $booked"
((token_b > token_a)) || wrong "B has token $token_b, not higher than $token_a"
[[ $(state "$a") == T ]] || wrong "A did not stand still meanwhile"
story "when A's lease is over, B takes over with the higher token $token_b and adds 50:  $booked"

kill -CONT "$a"
story "A wakes up and goes on where it was:  kill -CONT $a"
await "$work/A.log" 20 'writes the balance'
wait "$request"
story "A writes the balance 110, and its commit is answered with $(tail -n 1 "$work/answer"):  $(head -n 1 "$work/answer")"
sed -n 's/^[^ ]* \(.*refused.*\)$/\1/p' "$work/A.log" | head -n 1 | while read -r line; do story "A logs:  $line"; done

balance=$(curl -s "$of_b/accounts/42")
story "the account in the end:  $balance"
[[ $(tail -n 1 "$work/answer") == 409 ]] || wrong "nothing was refused"
[[ $(field balance "$balance") == 150 ]] || wrong "a stale write was accepted, the balance is not 150"
after=$(curl -s -X POST "$of_a/accounts/42?amount=1")
[[ $(field balance "$after") == 151 ]] || wrong "A cannot work on: $after"
story "A asks again and gets a token of its own:  $after"
story "GOOD: one late write, refused; the balance is right"
