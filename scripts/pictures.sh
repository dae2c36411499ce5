#!/usr/bin/env bash
# Makes the pictures of messages in docs/img anew, from what the notifiers
# really send. Needs a browser and fonts, which CI does not.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v chromium >/dev/null || {
	echo "chromium is missing: apt-get install chromium fonts-dejavu-core fonts-noto-cjk fonts-noto-color-emoji" >&2
	exit 1
}
UPDATE=1 go test -count=1 -run '^TestPictures$' ./docs
