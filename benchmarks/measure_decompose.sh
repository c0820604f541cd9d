#!/bin/bash
# Measures benchmarks/results/decompose.csv: `sdrs decompose` of meshes with 16 and 32 hulls, judged by another program.
#   benchmarks/measure_decompose.sh MEASURE MESH.obj[:x|y|z]... >benchmarks/results/decompose.csv
# The program is $SDRS (default ./sdrs). MEASURE is a command, such as "python3 measure.py", that is called with
# MESH.obj HULLS.obj [--mirror x|y|z] and prints JSON (volume_ratio, missed_volume_rel, protrusion, mirror, hulls,
# connection); a letter after a mesh is the mirror plane to look at.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)

if (($# < 2)); then
  sed -n '2,7s/^# \?//p' "$0" >&2
  exit 2
fi
read -ra measure <<<"$1"
sdrs=${SDRS:-$ROOT/sdrs}
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "mesh,max_hulls,hulls,max_vertices,volume_ratio,missed_volume,protrusion,pieces,mirror,mirror_overlap,cpu_s"
for mesh in "$@"; do
  plane=
  if [[ $mesh == *:[xyz] ]]; then
    plane=${mesh: -1}
    mesh=${mesh%:?}
  fi
  for hulls in 16 32; do
    TIMEFORMAT='%U'
    { time "$sdrs" decompose "$mesh" --max-hulls "$hulls" --threads 1 -o "$work/out" -q >/dev/null; } 2>"$work/cpu"
    "${measure[@]}" "$mesh" "$work/out/hulls.obj" ${plane:+--mirror "$plane"} >"$work/measured.json"
    python3 - "$work/measured.json" "$(basename "$mesh" .obj)" "$hulls" "$(tail -1 "$work/cpu")" "$plane" <<'PYTHON'
import json
import sys

measured, mesh, most, cpu, plane = sys.argv[1:]
m = json.load(open(measured))
mirror = "%.6f" % m["mirror"]["union_iou"] if plane else ""
print(mesh, most, m["hulls"]["count"], m["hulls"]["max_vertices"], "%.4f" % m["volume_ratio"],
      "%.1e" % m["missed_volume_rel"], "%.1e" % m["protrusion"]["max_rel"],
      m["connection"]["components"]["contact"], plane, mirror, cpu, sep=",")
PYTHON
  done
done
