#!/bin/bash
# The page of `sdrs render -o x.html` without its data, as one file: page.html with style, program and three.js in it.
#   scripts/make_page.sh OUT
# Needs node, npm and, the first time, its registry; packages are kept in out/node/page, exactly as package-lock.json has
# them. Where they cannot be had OUT is left empty, which a line tells: the build goes on without the page.
set -euo pipefail
cd "$(dirname "$0")/.."

OUT=$1
SOURCE=src/page/viewer
PACKAGES=out/node/page

leave_out() {
  echo "page: left out, $1; 'sdrs render -o x.html' will say so ('make page' tries again)" >&2
  mkdir -p "$(dirname "$OUT")"
  : >"$OUT"
  exit 0
}

# The packages of this lock are there when it is its copy that stands beside them.
install_packages() {
  if cmp -s "$SOURCE/package-lock.json" "$PACKAGES/installed"; then return; fi
  command -v npm >/dev/null || leave_out "npm is not installed"
  rm -rf "$PACKAGES"
  mkdir -p "$PACKAGES"
  cp "$SOURCE"/package.json "$SOURCE"/package-lock.json "$PACKAGES"
  (cd "$PACKAGES" && timeout 300 npm ci --ignore-scripts --no-audit --no-fund --fetch-retries 1 >npm.log 2>&1) ||
    leave_out "npm cannot fetch its packages ($PACKAGES/npm.log)"
  cp "$SOURCE/package-lock.json" "$PACKAGES/installed"
}

bundle() { # entry, options
  NODE_PATH=$PACKAGES/node_modules "$PACKAGES/node_modules/.bin/esbuild" "$@" --bundle --minify --charset=utf8 \
    --log-level=warning
}

command -v node >/dev/null || leave_out "node is not installed"
install_packages
mkdir -p "$(dirname "$OUT")"
bundle "$SOURCE/viewer.js" --format=iife --target=es2022 --legal-comments=none --outfile="$OUT.js"
bundle "$SOURCE/viewer.css" --outfile="$OUT.css"
node "$SOURCE/assemble.js" "$SOURCE/page.html" "$OUT.js" "$OUT.css" "$PACKAGES/node_modules/three" "$OUT~"
mv "$OUT~" "$OUT"
rm -f "$OUT.js" "$OUT.css"
