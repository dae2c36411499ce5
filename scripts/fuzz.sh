#!/usr/bin/env bash
# Runs every fuzz target for a while. Usage: fuzz.sh [TIME], such as 1m
set -euo pipefail
cd "$(dirname "$0")/.."

grep -rl --include='*_test.go' '^func Fuzz' host pluginapi plugins | sort | while read -r file; do
	sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$file" | while read -r target; do
		echo "$(dirname "$file"): $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "${1:-1m}" "./$(dirname "$file")" </dev/null
	done
done
