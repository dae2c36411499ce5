#!/usr/bin/env bash
# Makes Go code of the protocol of plugins. Usage: protoc.sh OUTPUT_DIR
#
# Needs protoc (Debian: protobuf-compiler). The generators are built at the
# versions of tools.mod.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1

command -v protoc >/dev/null || { echo "protoc is missing: apt-get install protobuf-compiler" >&2; exit 1; }
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
for tool in protoc-gen-go protoc-gen-go-grpc; do
	ln -s "$(go tool -modfile=tools.mod -n "$tool")" "$tools/$tool"
done
PATH="$tools:$PATH" protoc -I pluginapi/proto \
	--go_out="$out" --go_opt=paths=source_relative \
	--go-grpc_out="$out" --go-grpc_opt=paths=source_relative \
	ax/plugin/v1/plugin.proto
