#!/usr/bin/env bash
# Looks at an invented run's report in a real Chromium, without a network: charts, sorting, keyboard, dark, narrow,
# paper, without scripts, and axe-core's rules. Says "skipped: .." and ends well where something that it needs is
# missing. With SCREENSHOTS=FOLDER it leaves pictures of every size and scheme there, for people to look at.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../../.."

skip() { echo "skipped: browser: $1"; exit 0; }

command -v node >/dev/null || skip "node is not installed"
command -v npm >/dev/null || skip "npm is not installed"
browser=""
for name in chromium chromium-browser google-chrome; do
    browser=$(command -v "$name") && break
done
[ -n "$browser" ] || skip "no Chromium is installed"

work="${CARGO_TARGET_DIR:-target}/browser"
mkdir -p "$work"
work=$(cd "$work" && pwd)
cp "$here/package.json" "$here/check.mjs" "$work"
if ! (cd "$work" && npm install --no-audit --no-fund --no-package-lock --loglevel=error >/dev/null 2>"$work/npm.log"); then
    tail -n 3 "$work/npm.log"
    skip "npm could not install axe-core and playwright-core"
fi
mkdir -p "$work/nine" "$work/many"
cargo run --quiet -p iosonde-report --example fixture_report "$work/nine"
# 38 rounds of 27 points and a canary, and the filling: 1,065 trials.
cargo run --quiet -p iosonde-report --example fixture_report "$work/many" 38
cd "$work"
CHROMIUM="$browser" node check.mjs "$work/nine/fixture.html" "$work/many/fixture.html"
