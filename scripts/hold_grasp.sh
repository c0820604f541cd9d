#!/bin/bash
# Is what a grasping task has found held? Optimizes the task, then simulates what was found under gravity in six directions,
# and upside down almost without friction.
#   scripts/hold_grasp.sh TASK.yaml [OUT]     TASK: with a link `egg`, as scenes/tasks/grasp.yaml and grasp-free.yaml
# Prints the task's success, its success terms, and rows `gravity,friction,moved_mm,held`: how far the egg's frame came from where
# it was taken in 0.4 s at most; held: less than 5 mm. OUT (default out/hold): where runs go. The program is $SDRS (./sdrs).
set -euo pipefail

SDRS=${SDRS:-./sdrs}
task=$1 out=${2:-out/hold}

"$SDRS" optimize "$task" -q -o "$out/found" >/dev/null 2>&1 || true
sed -n 's/^  \("success": [a-z]*\).*/\1/p; s/^      "name": "\(.*\)",/\1/p; s/^      "value": \(.*\),/  \1/p' "$out/found/summary.json"
echo "gravity,friction,moved_mm,held"

moved() { # gravity, friction
  "$SDRS" simulate "$out/found/best.scene.yaml" --steps 200 --set "simulation.gravity=$1" --set contact.friction="$2" -q -o "$out/run" >/dev/null
  awk -F, -v name="\"$1\",$2" '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == "egg/px") x = i; next }
    NR == 2 { for (k = 0; k < 3; k++) from[k] = $(x + k) }
    { d = 0; for (k = 0; k < 3; k++) d += ($(x + k) - from[k]) ^ 2; if (d > most) most = d }
    END { printf "%s,%.3g,%s\n", name, 1000 * sqrt(most), sqrt(most) < 0.005 ? "held" : "lost" }' "$out/run/trajectory.csv"
}
for g in 9.81,0,0 -9.81,0,0 0,9.81,0 0,-9.81,0 0,0,9.81 0,0,-9.81; do moved "[$g]" 0.8; done
moved "[0,0,9.81]" 0.001
