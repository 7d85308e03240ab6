#!/bin/sh
# Rebuilds echarts.min.js from package.json's pinned versions, in a scratch folder that is removed again, and
# copies the licences beside it. Needs node and npm. Run it after a change of echarts-parts.js or of a version.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$here/package.json" "$here/echarts-parts.js" "$scratch"
cd "$scratch"
npm install --no-audit --no-fund --no-package-lock --loglevel=error
version=$(node -p "require('./node_modules/echarts/package.json').version")
# es2020: what QuickJS and every browser of the last five years read. Licence texts stand in files of their own.
node_modules/.bin/esbuild echarts-parts.js --bundle --minify --format=iife --global-name=echarts --target=es2020 \
  --legal-comments=none --define:process.env.NODE_ENV='"production"' --outfile=echarts.min.js --log-level=warning \
  --banner:js="/* Apache ECharts $version (Apache-2.0) with zrender (BSD-3-Clause) and tslib (0BSD); see echarts.LICENSE, echarts.NOTICE, zrender.LICENSE and d3.LICENSE in iosonde's sources */"
cp echarts.min.js "$here/echarts.min.js"
cp node_modules/echarts/LICENSE "$here/echarts.LICENSE"
cp node_modules/echarts/NOTICE "$here/echarts.NOTICE"
cp node_modules/zrender/LICENSE "$here/zrender.LICENSE"
# Parts of ECharts come from d3; its licence asks to be carried along.
cp node_modules/echarts/licenses/LICENSE-d3 "$here/d3.LICENSE"
wc -c "$here/echarts.min.js"
