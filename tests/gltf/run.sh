#!/bin/bash
# Every shipped scene as glTF, with a short run behind it, and both designs of every shipped task after an iteration,
# as they stand and as two runs, through the Khronos validator (npm: gltf-validator); skipped
# where node or npm is missing or the package cannot be fetched. It is kept in out/node/. The program is $SDRS (./sdrs).
set -euo pipefail
cd "$(dirname "$0")/../.."

SDRS=$(realpath "${SDRS:-./sdrs}")
VERSION=2.0.0-dev.3.10
MODULES=$PWD/out/node/node_modules
skip() {
  echo "SKIP validation of glTF files: $1"
  echo "0 passed, 0 failed"
  exit 0
}

command -v node >/dev/null || skip "node is not installed"
if [[ ! -d $MODULES/gltf-validator ]]; then
  command -v npm >/dev/null || skip "npm is not installed"
  mkdir -p out/node
  timeout 120 npm install --prefix out/node --silent --no-audit --no-fund "gltf-validator@$VERSION" >/dev/null 2>&1 ||
    skip "npm cannot fetch gltf-validator@$VERSION"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
scenes=(scenes/*.yaml scenes/tasks/*-scene.yaml)
step=7 # the short form takes every seventh scene
if [[ -n ${SDRS_LONG:-} ]]; then step=1; fi
for ((k = 0; k < ${#scenes[@]}; k += step)); do
  scene=${scenes[k]}
  name=$(basename "$scene" .yaml)
  "$SDRS" simulate "$scene" -q --steps 20 -o "$work/$name" >/dev/null
  "$SDRS" render "$work/$name" -q -o "$work/$name.glb" >/dev/null
done
for task in scenes/tasks/*.yaml; do
  [[ $task == *-scene.yaml ]] && continue
  # The short form takes a task that designs vertices and one that designs a motion.
  [[ -n ${SDRS_LONG:-} || $task == */pinch.yaml || $task == */throw.yaml ]] || continue
  grep -q out/meshes "$task" && continue # made of meshes that are not shipped
  grep -q '^plan:' "$task" && continue # a path, no run
  grep -q '^choices:' "$task" && continue # every candidate begins with another scene, in a folder of its own
  name=task-$(basename "$task" .yaml)
  "$SDRS" optimize "$task" -q --iterations 1 -o "$work/$name" >/dev/null
  "$SDRS" render "$work/$name" -q -o "$work/$name.glb" >/dev/null
  for which in initial best; do
    "$SDRS" simulate "$work/$name/$which.scene.yaml" -q --steps 20 -o "$work/$name-$which" >/dev/null
  done
  "$SDRS" render "$work/$name-initial" "$work/$name-best" -q -o "$work/$name-runs.glb" >/dev/null
done
"$SDRS" render scenes/stack.yaml -q -o "$work/still.glb" >/dev/null
NODE_PATH=$MODULES node tests/gltf/validate.js "$work"/*.glb
