#!/usr/bin/env bash
# Installs what the tests need beyond Go. Quick when nothing is missing.
set -euo pipefail

packages=(
	mariadb-server # the tests start private servers; the service is not needed
	chromium       # walks the pages of the console
	fonts-noto-cjk # for those in Chinese
	prometheus     # promtool tests the alert rules; the service is not needed
)

missing=()
for package in ${packages[@]+"${packages[@]}"}; do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
	sudo=
	[ "$(id -u)" = 0 ] || sudo=sudo
	$sudo apt-get update -q
	DEBIAN_FRONTEND=noninteractive $sudo apt-get install -q -y --no-install-recommends "${missing[@]}"
fi

command -v go >/dev/null || { echo "Go is not installed: see https://go.dev/doc/install" >&2; exit 1; }
