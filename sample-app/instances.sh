# Builds the sample and starts its stores and instances, for the scripts beside it. What they have started ends with them.

cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
pids=()
cleanup() {
	if ((${#pids[@]} > 0)); then
		kill "${pids[@]}" 2>/dev/null || true
		# One that stands still does not end otherwise.
		kill -CONT "${pids[@]}" 2>/dev/null || true
	fi
	wait 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT

# Waits up to $2 seconds for a line that matches $3 in file $1.
await() {
	local deadline=$((SECONDS + $2))
	until grep -q -- "$3" "$1" 2>/dev/null; do
		if ((SECONDS > deadline)); then
			echo "no '$3' in time:" >&2
			tail -n 40 "$1" >&2
			exit 1
		fi
		sleep 0.2
	done
}

# Builds the jar and starts the store of profile $1.
prepare() {
	echo "Building the sample ..."
	./mvnw -q -B -ntp -pl sample-app -am package -DskipTests
	jar=$(ls sample-app/target/sample-app-*.jar | grep -v -e sources -e javadoc -e original | head -n 1)
	arguments=("--spring.profiles.active=$1" "--mutex.file.directory=$work/locks" "--server.port=0"
		"--spring.main.banner-mode=off" "--logging.pattern.console=%d{HH:mm:ss.SSS} %logger{0} %msg%n")
	if [[ $1 == file ]]; then
		arguments+=("--spring.datasource.url=jdbc:h2:file:$work/sample;AUTO_SERVER=TRUE;USER=sa")
		return
	fi
	echo "Starting the $1 store ..."
	./mvnw -q -B -ntp -pl sample-app -am spring-boot:test-run \
		-Dspring-boot.run.profiles="$1" -Dspring-boot.run.arguments=--store-only \
		>"$work/store.log" 2>&1 &
	pids+=($!)
	await "$work/store.log" 180 '^STORE '
	read -r -a store < <(sed -n 's/^STORE //p' "$work/store.log")
	arguments+=("${store[@]}")
}

# Starts the instance $1, with more arguments of its own, and leaves its pid in instance_pid.
start() {
	java -Xmx256m -jar "$jar" "${arguments[@]}" "--mutex.instance-id=$1" "${@:2}" >"$work/$1.log" 2>&1 &
	instance_pid=$!
	pids+=("$instance_pid")
}
