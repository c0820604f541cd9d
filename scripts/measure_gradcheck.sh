#!/bin/bash
# Measures docs/results/gradcheck.csv: `sdrs gradcheck` of every shipped scene (first 60 steps) and task (whole horizon,
# with its losses), three directions a block, and of the tasks of docs/manipulation.md. Takes about half an hour, most of it for the pile,
# whose vertices are left out, and for ant-push. With the word `manipulation` only the rows of the latter are measured, the
# others stay. Prints the rows that are not checked to the bound of 1e-6.
set -euo pipefail
cd "$(dirname "$0")/.."

OUT=docs/results/gradcheck.csv
table=$(mktemp)
source scripts/gradcheck_rows.sh
trap 'rm -f "$report" "$table"' EXIT

# From their start, where the gradient by the control is often too small to be resolved; then where it is not: a window of a receding
# horizon that pushes, steps of an arm near its aim, a shot that hits, an ant with some gait. Meshes of scripts/prepare_meshes.py.
manipulation() {
  local tasks=scenes/tasks
  for task in billiards push gather sort; do measure "$tasks/$task.yaml"; done
  DIRECTIONS=1
  for task in ant-push gather-bunny franka-push; do measure "$tasks/$task.yaml"; done
  LABEL=/pushes
  measure "$tasks/push.yaml" --window 3
  LABEL=
}

if [[ ${1:-} == manipulation ]]; then
  {
    grep -vE '^tasks/(billiards|push|gather|sort|ant-push|gather-bunny|franka-push)[,/]' "$OUT"
    manipulation
  } >"$table"
else
  {
    echo "file,block,numbers,gradient_norm,relative_error,resolution,order,verdict"
    for scene in scenes/*.yaml scenes/tasks/*-scene.yaml; do
      if [[ $scene == scenes/pile.yaml ]]; then
        measure "$scene" --steps 60 --wrt state,attachments,mass,contact
      else
        measure "$scene" --steps 60
      fi
    done
    for task in throw reach spider biped-single pinch; do measure "scenes/tasks/$task.yaml"; done
    manipulation
  } >"$table"
fi
cp "$table" "$OUT"
awk -F, 'NR > 1 && $8 != "passed"' "$OUT"
