#!/bin/bash
# Pages of `sdrs render -o x.html` in a headless Chromium: node tests/page/page.mjs has what is looked at. Skipped where
# node, Chromium or the npm package puppeteer-core is missing, or where the build has no page. Pictures are left in
# out/page/. The program is $SDRS (./sdrs), the browser $CHROMIUM.
set -euo pipefail
cd "$(dirname "$0")/../.."

SDRS=$(realpath "${SDRS:-./sdrs}")
PACKAGES=$PWD/out/node/page-tests
skip() {
  echo "SKIP pages in a browser: $1"
  echo "0 passed, 0 failed"
  exit 0
}

find_browser() {
  local name
  for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
    if [[ -n $name ]] && command -v "$name"; then return; fi
  done
}

install_packages() {
  if cmp -s tests/page/package-lock.json "$PACKAGES/installed"; then return; fi
  command -v npm >/dev/null || skip "npm is not installed"
  rm -rf "$PACKAGES"
  mkdir -p "$PACKAGES"
  cp tests/page/package.json tests/page/package-lock.json "$PACKAGES"
  (cd "$PACKAGES" && timeout 120 npm ci --ignore-scripts --no-audit --no-fund --fetch-retries 1 >npm.log 2>&1) ||
    skip "npm cannot fetch its packages"
  cp tests/page/package-lock.json "$PACKAGES/installed"
}

"$SDRS" --version | grep -q '^page *three.js' || skip "this build has no page"
command -v node >/dev/null || skip "node is not installed"
browser=$(find_browser)
[[ -n $browser ]] || skip "Chromium is not installed"
install_packages

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A scene whose names, and whose place in summary.json, would end an element or begin one, were they written as they are.
mkdir "$work/x<"
scene="$work/x</script><img src=x onerror=window.broken=1>.yaml"
cat >"$scene" <<'YAML'
name: "<script>window.broken = 1<!-- <img src=x onerror='window.broken = 1'> \" ' &"
simulation: {steps: 20, integrator: first_order}
shapes: {g: {type: half_space}, b: {type: box, size: [0.2, 0.2, 0.2]}}
links:
  - {name: ground, fixed: true, shape: g}
  - {name: "<b> & <!-- x", shape: b, mass: 1, position: [0, 0, 0.11]}
YAML
"$SDRS" simulate "$scene" -q -o "$work/names" >/dev/null
"$SDRS" simulate scenes/spider.yaml -q --steps 500 -o "$work/spider" >/dev/null
"$SDRS" optimize scenes/tasks/pinch.yaml -q --iterations 30 -o "$work/pinch" >/dev/null
"$SDRS" simulate scenes/rack-gripper.yaml -q --steps 120 --set 'simulation.output=[velocities, forces, contact_points, closures, pressure]' -o "$work/machine" >/dev/null
runs=(names spider machine pinch)
if [[ -n ${SDRS_LONG:-} ]]; then # page.mjs opens these pages in its long form
  "$SDRS" simulate scenes/stack.yaml -q --steps 50 -o "$work/stack" >/dev/null
  "$SDRS" optimize scenes/tasks/throw.yaml -q --iterations 3 -o "$work/throw" >/dev/null
  "$SDRS" render scenes/stack.yaml -q -o "$work/still.html" >/dev/null
  runs+=(stack throw)
fi
for run in "${runs[@]}"; do
  "$SDRS" render "$work/$run" -q -o "$work/$run.html" >/dev/null
done

mkdir -p out/page
look() { # FILE.mjs [PROGRAM]: what it says is kept for the sum
  local code=0
  node "tests/page/$1" "$browser" "$PACKAGES" "$work" out/page "${@:2}" >"$work/said" || code=$?
  sed '$d' "$work/said"
  tail -n 1 "$work/said" >>"$work/counts"
  if ((code != 0)); then bad=1; fi
}
bad=0
look page.mjs
if "$SDRS" simulate scenes/slide.yaml --steps 1 -q --view --no-stay -o "$work/look" >/dev/null 2>&1; then
  look live.mjs "$SDRS"
fi
awk '{ passed += $1; failed += $3 } END { print passed " passed, " failed + 0 " failed" }' "$work/counts"
exit "$bad"
