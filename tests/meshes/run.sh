#!/bin/bash
# The tasks of meshes that are not shipped: made from ../shared/data, read, and begun as hulls; SKIP where the meshes are missing.
set -uo pipefail
# shellcheck source=tests/support/check.sh disable=SC1091
. "$(dirname "$0")/../support/check.sh"

SDRS=${SDRS:-./sdrs}
export SDRS
scripts/prepare_meshes.py >/dev/null 2>&1
if [[ $? == 77 ]]; then
  echo "SKIP tasks of meshes: no ../shared/data"
  echo "0 passed, 0 failed"
  exit 0
fi
check "coarse bunny" grep -c "^f " out/meshes/bunny-280.obj
check "tasks are read" "$SDRS" validate -q scenes/tasks/gather-bunny.yaml scenes/tasks/franka-push.yaml
check "a window as hulls" "$SDRS" optimize scenes/tasks/gather-bunny.yaml -q -o "$work/gather" --set steps=8 \
  --set receding.iterations=1 --set scene.shapes.bunny.pieces=hulls
[[ -n ${SDRS_LONG:-} ]] || check_end || exit 1
[[ -n ${SDRS_LONG:-} ]] || exit 0
# Three scanned objects, held by one design of the fingers in at least 18 of 20 unseen poses each.
check "hand" "$SDRS" optimize tests/meshes/hand.yaml -q -o "$work/hand"
check "hand holds all" python3 - "$work/hand/summary.json" <<'PYTHON'
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    summary = json.load(file)
objects = summary["validation"]["objects"]
print(summary["success"], objects)
sys.exit(not (summary["success"] and len(objects) == 3 and all(o["tried"] == 20 and o["held"] >= 18 for o in objects)))
PYTHON
check_end
