#!/bin/bash
# Measures benchmarks/results/superquadrics.csv: `sdrs decompose --primitives superquadric --max 18` of meshes.
#   benchmarks/measure_superquadrics.sh MESH.obj... >benchmarks/results/superquadrics.csv
# The program is $SDRS (default ./sdrs). Lengths are of the diagonal of the mesh's box; cpu_s: user seconds, one thread.
# Beside it as many covering hulls as superquadrics at most: mesh_over_hulls is the mesh's volume over the sum of theirs, an
# intersection over union where they do not overlap, less where they do.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/.." && pwd)
sdrs=${SDRS:-$ROOT/sdrs}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "mesh,superquadrics,intersection_over_union,mesh_to_union_mean,mesh_to_union_largest,union_to_mesh_mean,union_to_mesh_largest,cpu_s,hulls,mesh_over_hulls"
for mesh in "$@"; do
  TIMEFORMAT='%U'
  { time "$sdrs" decompose "$mesh" --primitives superquadric --max 18 --threads 1 --no-picture -o "$work/out" -q >/dev/null; } 2>"$work/cpu"
  count=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["superquadrics"])' "$work/out/report.json")
  "$sdrs" decompose "$mesh" --max-hulls "$count" --threads 1 --no-picture -o "$work/hulls" -q >/dev/null
  python3 - "$work/out/report.json" "$work/hulls/report.json" "$(basename "$mesh" .obj)" "$(tail -1 "$work/cpu")" <<'PYTHON'
import json
import sys

report, hulls, mesh, cpu = sys.argv[1:]
r, h = json.load(open(report)), json.load(open(hulls))
gaps = [r[gap][key] for gap in ("mesh_to_union", "union_to_mesh") for key in ("mean_of_diagonal", "largest_of_diagonal")]
print(mesh, r["superquadrics"], "%.3f" % r["intersection_over_union"], *("%.4f" % g for g in gaps), cpu, h["hulls"],
      "%.3f" % (h["mesh_volume"] / h["hull_volume"]), sep=",")
PYTHON
done
