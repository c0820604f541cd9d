#!/bin/bash
# The current MuJoCo (3.3.8, npm: mujoco-js) beside this program: what `sdrs export` writes loads there, a thousand bodies too, and stays
# finite; models with <replicate>, <attach>, cables and dampratio, which Debian's 2.2.2 does not know, have the same centres and dampings in both.
# Skipped where node or npm is missing or the package cannot be fetched; it is kept in out/node/. The program is $SDRS (./sdrs).
set -euo pipefail
cd "$(dirname "$0")/../.."

SDRS=$(realpath "${SDRS:-./sdrs}")
VERSION=0.0.7
MODULES=$PWD/out/node/node_modules
skip() {
  echo "SKIP the current MuJoCo: $1"
  echo "0 passed, 0 failed"
  exit 0
}

command -v node >/dev/null || skip "node is not installed"
if [[ ! -d $MODULES/mujoco-js ]]; then
  command -v npm >/dev/null || skip "npm is not installed"
  mkdir -p out/node
  timeout 120 npm install --prefix out/node --silent --no-audit --no-fund --ignore-scripts "mujoco-js@$VERSION" >/dev/null 2>&1 ||
    skip "npm cannot fetch mujoco-js@$VERSION"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/files"
cat >"$work/thousand.yaml" <<'S'
shapes: {box: {type: box, size: [0.1, 0.1, 0.1]}, ground: {type: half_space}}
links:
  - {name: ground, fixed: true, shape: ground}
  - {name: "box{i}{j}{k}", shape: box, mass: 1, position: ["{0.2*i}", "{0.2*j}", "{0.06+0.2*k}"], repeat: {count: [10, 10, 10]}}
S
"$SDRS" export "$work/thousand.yaml" -q -o "$work/files/thousand.xml" >/dev/null
exported=(thousand)
for scene in slide wall spider pile differential four-bar springs; do
  "$SDRS" export "scenes/$scene.yaml" -q -o "$work/files/$scene.xml" >/dev/null 2>&1
  exported+=("$scene")
done
models=(replicas attached ratios cables)
cp tests/mujoco/current/*.xml "$work/files"
for model in "${models[@]}"; do
  "$SDRS" import "$work/files/$model.xml" -q --keep-fixed -o "$work/$model.yaml" >/dev/null
  "$SDRS" simulate "$work/$model.yaml" -q --steps 1 -o "$work/$model" >/dev/null
done
MODULES=$MODULES node tests/mujoco/current.mjs "$work/files" "${exported[@]/%/.xml}" "${models[@]/%/.xml}" >"$work/found.json"
python3 tests/mujoco/current.py "$work" "${exported[*]}" "${models[*]}"
