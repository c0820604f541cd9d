#!/bin/bash
# Measures benchmarks/results/designs.csv: of every shipped task that designs shapes, what it found: does it succeed, on unseen draws too; is each designed
# part one closed surface and one 3MF file that an independent reader finds whole; what can be made of it (sdrs export --fabrication); and does the
# gradient at the best design agree with differences (gradcheck by vertices of every best scene, one direction; over how many steps). Prints the table.
# Usage: benchmarks/measure_designs.sh [FOLDER [TASK...]]   what has its run in FOLDER already is not run again; without it none is kept; rows of tasks
# that are not named stay
# Takes some four CPU minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

OUT=benchmarks/results/designs.csv
program=${SDRS:-./sdrs}
folder=${1:-$(mktemp -d)}
table=$(mktemp)
trap 'rm -f "$table"; [[ -n ${KEEP:-} ]] || rm -rf "$folder"' EXIT
[[ $# == 0 ]] || KEEP=1 # not removed
wanted=" ${*:2} "

# Pieces that touch along an edge only are grown by 0.05 mm, and the table says so.
part() { # task, link
  local run=$folder/$1 file=$folder/$1/$2
  local -a command=("$program" export "$run" -o "$file.3mf" --link "$2" --fabrication --json --threads 1)
  rm -f "$file.grown"
  if [[ ! -e $file.json ]]; then
    "${command[@]}" >"$file.json" 2>/dev/null || [[ $? == 1 ]]
  fi
  if grep -q '"united": false' "$file.json"; then
    touch "$file.grown"
    "${command[@]}" --grow 0.05 >"$file.json" 2>/dev/null || [[ $? == 1 ]]
  fi
  python3 - "$run" "$1" "$2" <<'P' >>"$table"
import json, os, sys, xml.etree.ElementTree as tree, zipfile
from collections import Counter
run, task, link = sys.argv[1:]
surface, made = json.load(open(f"{run}/{link}.json"))
core = "{http://schemas.microsoft.com/3dmanufacturing/core/2015/02}"
model = tree.fromstring(zipfile.ZipFile(f"{run}/{link}.3mf").read("3D/3dmodel.model"))
meshes = list(model.iter(core + "mesh"))
whole = True # every directed edge once, and its opposite
for mesh in meshes:
    edges = Counter()
    for t in mesh.iter(core + "triangle"):
        v = [int(t.get(k)) for k in ("v1", "v2", "v3")]
        for i in range(3): edges[v[i], v[(i + 1) % 3]] += 1
    whole = whole and all(n == 1 and edges[b, a] == 1 for (a, b), n in edges.items())
s = json.load(open(run + "/summary.json"))
held = " ".join(f"{o['held']}/{o['tried']}" for o in (s.get("validation") or {}).get("objects", []))
errors, steps = [], 1000000
for line in open(run + "/gradcheck.jsonl"):
    answer = json.loads(line)
    steps = min(steps, answer["steps"])
    for r in answer["scenarios"]: errors += [b for b in r["blocks"].values()]
worst = max((b["relative_error"] for b in errors if b["checked"] and b["relative_error"] is not None), default=float("nan"))
verdict = f"{worst:.1e}" + ("" if all(b["checked"] for b in errors) else f" ({sum(not b['checked'] for b in errors)} unchecked)")
mm = lambda x: "" if x is None else format(1e3 * x, ".3g")
yes = lambda x: "yes" if x else "NO"
print(",".join([task, link, str(s.get("success", "")), held, format(s["seconds"]["total"] if isinstance(s["seconds"], dict) and "total" in s["seconds"] else 0, ".0f"),
                yes(surface["united"] and surface["closed"] and surface["manifold"] and surface["oriented"]) + (" grown" if os.path.exists(f"{run}/{link}.grown") else ""), str(surface["components"]),
                yes(whole and len(meshes) == 1), mm(made["wall"]), mm(made["neck"]), mm(surface["thickness"]), format(1e6 * made["overhang"], ".3g"),
                mm(made["clearance"]), verdict, "all" if steps == 1000000 else str(steps)]))
P
}

# A line of JSON: over the whole horizon or, where rounding that the run amplifies hides the differences, over its first 240 or 120 steps.
check_gradient() { # scene
  local steps answer
  for steps in 1000000 240 120; do
    answer=$("$program" gradcheck "$1" --steps "$steps" --wrt vertices --directions 1 --json -q --threads 1 | tr -d '\n') || [[ $? == 1 ]]
    [[ $answer == *'"checked": false'* ]] || break
  done
  echo "{\"steps\": $steps, \"scenarios\": $answer}"
}

design() { # task, links...
  local task=$1 run=$folder/$1 link scene
  shift
  if [[ $wanted != "  " && $wanted != *" $task "* ]]; then # its rows stay
    grep "^$task," "$OUT" >>"$table" || true
    return 0
  fi
  echo "$task" >&2
  [[ -e $run/summary.json ]] || "$program" optimize "scenes/tasks/$task.yaml" -q --threads 1 -o "$run" >/dev/null || [[ $? == 1 ]]
  if [[ ! -e $run/gradcheck.jsonl ]]; then
    for scene in "$run"/best*.scene.yaml; do check_gradient "$scene"; done >"$run/gradcheck.part"
    mv "$run/gradcheck.part" "$run/gradcheck.jsonl"
  fi
  for link in "$@"; do part "$task" "$link"; done
}

echo "task,link,success,held_of_unseen,seconds,watertight,pieces,3mf_whole,wall_mm,neck_mm,thinnest_mm,overhang_mm2,clearance_mm,gradcheck,steps" >"$table"
design single-jaw gripper
design parallel-jaw left
design hand upper0 lower0
design spider lower0 lower1 lower2 lower3
design biped left_foot right_foot
design biped-single left_foot right_foot
design pinch left right

mv "$table" "$OUT"
chmod 644 "$OUT"
cat "$OUT"
