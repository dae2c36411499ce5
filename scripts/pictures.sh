#!/usr/bin/env bash
# Makes the pictures in docs/img anew: of messages, from what the notifiers really
# send, and of the console. Needs a browser and fonts, which CI does not.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v chromium >/dev/null || {
	echo "chromium is missing: apt-get install chromium fonts-dejavu-core fonts-noto-cjk fonts-noto-color-emoji" >&2
	exit 1
}
UPDATE=1 go test -count=1 -run '^TestStoryOfPictures$' ./host/internal/alert
UPDATE=1 go test -count=1 -run '^TestPictures$' ./docs

shots=$(mktemp -d)
trap 'rm -rf "$shots"' EXIT
AX_SCREENSHOTS=$shots go test -count=1 -run '^TestWalk$' ./host/internal/console
mkdir -p docs/img/console
while read -r shot picture; do
	cp "$shots/$shot.png" "docs/img/console/$picture.png"
done <<'END'
overview-en-light-1280 overview.en
overview-zh-light-1280 overview.zh
task-en-light-1280 task.en
calendar-en-dark-1280 calendar.en
run-zh-light-1280 run.zh
tasks-zh-dark-390 tasks-phone.zh
END
