#!/bin/bash
# Real tosses: the fitted scene follows those that it has not seen better than the unfitted one, and the cube's edges come out within
# 1.5 mm of 104.8 mm from a cube of 130 mm. The data is not part of the repository: $SDRS_TOSSES, or ../shared/data/tosses.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
SDRS=$(realpath "${SDRS:-./sdrs}")
TOSSES=${SDRS_TOSSES:-../shared/data/tosses}
if [[ ! -e $TOSSES/cube ]]; then
  echo "SKIP test_identify: no measured tosses in $TOSSES (scenes/identify/cube.yaml says where they come from)"
  exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
for task in cube cube-shape elbow; do
  "$SDRS" identify "scenes/identify/$task.yaml" --data "$TOSSES/${task%-shape}/*.csv" -q -o "$work/$task" >/dev/null || failed=1
  python3 - "$task" "$work/$task/identify.json" <<'P' || failed=1
import itertools
import json
import math
import sys

fit = json.load(open(sys.argv[2]))
v = fit["validation"]
print(sys.argv[1], {k: v[k] for k in ("position", "unfitted_position", "rotation", "unfitted_rotation")})
assert v["position"] < v["unfitted_position"] and v["rotation"] < v["unfitted_rotation"]
corners = {}
for p in fit["parameters"]:
    name = p["name"].split("/")
    if name[0] == "cube" and len(name) == 4:
        corners.setdefault(name[2], []).append(p["value"])
edges = [
    1000 * math.dist(a, b)
    for a, b in itertools.combinations(corners.values(), 2)
    if sum((x > 0) != (y > 0) for x, y in zip(a, b)) == 1
]
if sys.argv[1] == "cube-shape":
    print("edges [mm]", [round(e, 2) for e in edges])
    assert len(edges) == 12 and all(abs(e - 104.8) < 1.5 for e in edges)
P
done
((failed == 0)) && echo "test_identify: passed"
exit $failed
