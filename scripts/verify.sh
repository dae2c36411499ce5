#!/usr/bin/env bash
# Makes the generated files anew in another folder and compares.
set -euo pipefail
cd "$(dirname "$0")/.."

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
scripts/protoc.sh "$fresh"
status=0
while IFS= read -r -d '' file; do
	# The line that names the version of protoc differs from system to system.
	diff -u -I '^//.*protoc  *v' "pluginapi/proto/${file#"$fresh"/}" "$file" || status=1
done < <(find "$fresh" -name '*.go' -print0)
[ $status = 0 ] || echo "generated files are stale: run make generate" >&2
exit $status
