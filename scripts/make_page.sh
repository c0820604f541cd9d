#!/bin/bash
# The page of `sdrs render -o x.html` without its data, as one file: page.html with style, program and three.js in it.
#   scripts/make_page.sh OUT        from packages that are there; where there are none OUT is left empty, which a line tells
#   scripts/make_page.sh --fetch    have npm fetch them: exactly those of package-lock.json (three.js and the bundler esbuild,
#                                   35 MB) from its registry into out/node/page, without running scripts of theirs
set -euo pipefail
cd "$(dirname "$0")/.."

OUT=${1:?}
SOURCE=src/page/viewer
PACKAGES=out/node/page

leave_out() {
  echo "page: left out, $1; 'sdrs render -o x.html' and '--view' will say so" >&2
  if [[ $OUT != --fetch ]]; then
    mkdir -p "$(dirname "$OUT")"
    : >"$OUT"
  fi
  exit 0
}

# The packages of this lock are there when it is its copy that stands beside them.
have_packages() { cmp -s "$SOURCE/package-lock.json" "$PACKAGES/installed"; }

fetch_packages() {
  command -v npm >/dev/null || leave_out "npm is not installed (scripts/deps.sh page)"
  echo "page: npm fetches three.js and esbuild into $PACKAGES (35 MB, once)" >&2
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

if [[ $OUT == --fetch ]]; then
  have_packages || fetch_packages
  exit 0
fi
have_packages || leave_out "nobody has asked for it: 'make page' has npm fetch three.js and puts it in"
command -v node >/dev/null || leave_out "node is not installed (scripts/deps.sh page)"
mkdir -p "$(dirname "$OUT")"
bundle "$SOURCE/viewer.js" --format=iife --target=es2022 --legal-comments=none --outfile="$OUT.js"
bundle "$SOURCE/viewer.css" --outfile="$OUT.css"
node "$SOURCE/assemble.js" "$SOURCE/page.html" "$OUT.js" "$OUT.css" "$PACKAGES/node_modules/three" "$OUT~"
mv "$OUT~" "$OUT"
rm -f "$OUT.js" "$OUT.css"
