#!/usr/bin/env bash
# Makes faults happen to real applications and servers, and checks what they did.
#
#   lab/run.sh (all|soak|P1|P2|...)... [--provider=file|postgresql|mariadb|redis] [--minutes=1] [--seed=7] [--short]
#
# The scenarios are in Scenario.java. "all" plays each on every provider that it fits and writes its table into docs/reliability.md; --short
# gives each ten seconds. The exit value is 0 if every scenario was passed, or skipped for want of a tool; with
# MUTEX_LAB_STRICT=true none may be skipped.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ $# -eq 0 ]]; then
	sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
	exit 2
fi

export MAVEN_OPTS="${MAVEN_OPTS:--Xmx1g -XX:+UseSerialGC}"
./mvnw -q -ntp -Plab -DskipTests -pl lab -am package

java=${JAVA_HOME:+$JAVA_HOME/bin/}java
# shellcheck disable=SC2086
exec "$java" -Xmx512m -XX:+UseSerialGC ${JAVA_OPTS:-} -cp 'lab/target/lab.jar:lab/target/lib/*' io.mutex.lab.Laboratory "$@"
