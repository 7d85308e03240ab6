#!/usr/bin/env bash
# Reports in a real, headless Chromium: no error on the console, no request that leaves the file, nothing wider than the
# window, charts that answer to mouse and keys, and axe-core's rules of accessibility; at 390, 768, 1280 and 1920 pixels, in
# light, dark and on paper. With a folder, screenshots are left there:  run.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm ci --silent --no-audit --no-fund --omit-lockfile-registry-resolved >/dev/null 2>&1 || echo "skipped: axe-core could not be installed"
# Of the whole workspace, since alone it has other features and is built from its dependencies on once more.
cargo build --quiet --workspace --example fixture_report
target=${CARGO_TARGET_DIR:-$(cd ../../../.. && pwd)/target}
"$target/debug/examples/fixture_report" "$folder" 38
exec_with=()
if [ $# -gt 0 ]; then
    mkdir -p "$1"
    exec_with=(--shots "$1")
fi
node browser.mjs "${exec_with[@]}" "$folder"/*.html
