#!/usr/bin/env bash
# Makes faults happen to real applications and servers, and checks what they did.
#
#   lab/run.sh (all|trials|soak|P1|P2|J12|...)... [--provider=file|postgresql|mariadb|redis] [--minutes=1] [--seed=7] [--short]
#         [--parallel=2]
#   lab/run.sh baselines [P2|...]... [--minutes=0.5] [--seed=7] [--short] [--parallel=2]
#   lab/run.sh mutants [SPLIT|...]... [--minutes=0.25] [--seed=7]
#
# A name is that of a fault. Those in Scenario.java are made to happen to worker processes at random times, on every provider
# that they fit or on the given ones, for --minutes each (--short: ten seconds); those in Trial.java are shown by tests of the
# library; some are both. "all" plays all scenarios but the soak, then all trials, and writes both tables into
# docs/reliability.md; "trials" plays all trials and writes theirs; "soak" plays random faults of all kinds, and writes its
# table if it has played all four providers. The exit value is 0 if everything was passed, or skipped for want of a tool; with
# MUTEX_LAB_STRICT=true nothing may be skipped. "baselines" plays faults with Mutex and with other libraries, side by side, and
# writes the table of them. "mutants" puts faults into copies of the library (Mutant.java) and says what finds them, and writes
# the table of all; the exit value is 0 if each is found. --parallel runs are under way at a time, by default as many as there
# are processors.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ $# -eq 0 ]]; then
	sed -n '2,17s/^# \{0,1\}//p' "$0" >&2
	exit 2
fi

modules=lab main=io.mutex.lab.Laboratory classes='lab/target/lab.jar:lab/target/lib/*' versions=()
if [[ $1 == baselines ]]; then
	modules=lab,lab/baselines main=io.mutex.lab.baselines.Baselines
	classes='lab/baselines/target/lab-baselines.jar:lab/baselines/target/lib/*'
	# where the versions of the other libraries fit together
	versions=(-Dspring-boot.version=4.1.2 -Dnetty.version=4.2.18.Final)
fi

if [[ $1 == mutants ]]; then
	main=io.mutex.lab.Mutants
fi

export MAVEN_OPTS="${MAVEN_OPTS:--Xmx1g -XX:+UseSerialGC}"
./mvnw -q -ntp -Plab "${versions[@]}" -DskipTests -pl "$modules" -am package \
	org.apache.maven.plugins:maven-dependency-plugin:3.9.0:build-classpath -Dmdep.outputFile=target/test.classpath

java=${JAVA_HOME:+$JAVA_HOME/bin/}java
library=$PWD/mutex-spring-boot-autoconfigure/target
tests=$library/test-classes:$library/classes:$(<"$library/test.classpath")
# shellcheck disable=SC2086
exec "$java" -Xmx2g -XX:+UseSerialGC ${JAVA_OPTS:-} -Dlab.test.classpath="$tests" -cp "$classes" \
	"$main" "$@"
