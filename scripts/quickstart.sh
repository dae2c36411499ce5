#!/usr/bin/env bash
# Does the quick start of the README in a fresh clone of the commit at hand: make
# run, then a look at what ran. Fails if nothing runs within a minute.
set -euo pipefail
cd "$(dirname "$0")/.."

clone=$(mktemp -d)
host=
finish() {
	[ -z "$host" ] || kill "$host" 2>/dev/null || true
	[ -z "$host" ] || wait "$host" 2>/dev/null || true
	rm -rf "$clone"
}
trap finish EXIT

git clone -q . "$clone"
cd "$clone"
export AX_ADDR=http://127.0.0.1:8090
config=config.example.yaml
if (exec 3<>/dev/tcp/127.0.0.1/8090) 2>/dev/null; then
	echo "port 8090 is taken, using another one"
	port=$((20000 + RANDOM % 10000))
	AX_ADDR=http://127.0.0.1:$port
	config=config.yaml
	sed "s/8090/$port/" config.example.yaml >$config
fi
make build
bin/ax serve --config $config 2>serve.log &
host=$!
for _ in $(seq 60); do
	sleep 1
	if bin/ax instances --status SUCCESS 2>/dev/null | grep -q disk-space; then
		bin/ax tasks
		bin/ax instances
		bin/ax run disk-space --wait
		kill "$host"
		wait "$host" # it exits with 0
		host=
		exit 0
	fi
done
cat serve.log
exit 1
