#!/usr/bin/env bash
# Measures Mutex beside its peers on real servers, and writes docs/performance.md with its picture.
#
#   benchmarks/run.sh [--short|--full] [experiment]...
#
# --short (the default) takes about ten minutes on two processors, --full takes hours. With the names of experiments (see
# Benchmarks.java) only these are measured, and the report goes to benchmarks/target/. Quiet the machine before.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

scale=short
experiments=()
for argument in "$@"; do
	case $argument in
		--short | --full | --smoke) scale=${argument#--} ;;
		-*)
			echo "usage: $0 [--short|--full] [experiment]..." >&2
			exit 2
			;;
		*) experiments+=("$argument") ;;
	esac
done
report=docs
if [[ $scale == smoke || ${#experiments[@]} -gt 0 ]]; then
	report=benchmarks/target
fi

export MAVEN_OPTS="${MAVEN_OPTS:--Xmx1g -XX:+UseSerialGC}"
./mvnw -q -ntp -Pbenchmarks -Dspring-boot.version=4.1.2 -DskipTests -pl benchmarks -am package

java=${JAVA_HOME:+$JAVA_HOME/bin/}java
"$java" -Xmx1g -XX:+UseSerialGC -cp 'benchmarks/target/benchmarks.jar:benchmarks/target/lib/*' \
	io.mutex.benchmarks.Benchmarks "$scale" "$report" "${experiments[@]}"
echo
echo "$report/performance.md"
