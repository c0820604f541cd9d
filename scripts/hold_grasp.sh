#!/bin/bash
# Is what a grasping task has found held? Optimizes the task, squeezes with springs (scripts/squeeze_grasp.py) and simulates under
# gravity in six directions, and upside down almost without friction.
#   scripts/hold_grasp.sh TASK.yaml [OUT] [OBJECT]     TASK: fingers on hinges and slides with controllers, and one free link
# Prints the task's success, its success terms, `fingers,cone,sum_of_forces_N,sum_of_torques_Nm` of the squeeze, and rows
# `gravity,friction,moved_mm,held`: how far the object's frame came from where it was taken in 0.4 s at most; held: less than 5 mm.
# OUT (default out/hold): where runs go. OBJECT: default the free link. $TORQUES=1: the scene's own controllers instead of springs.
# The program is $SDRS (./sdrs).
set -euo pipefail

SDRS=${SDRS:-./sdrs}
task=$1 out=${2:-out/hold}
here=$(dirname "$0")

"$SDRS" optimize "$task" -q -o "$out/found" >/dev/null 2>&1 || true
sed -n 's/^  \("success": [a-z]*\).*/\1/p; s/^      "name": "\(.*\)",/\1/p; s/^      "value": \(.*\),/  \1/p' "$out/found/summary.json"
found=$out/found/best.scene.yaml
object=${3:-$(awk '/^  - name: / { name = $3 } /^    joint: {type: free/ { print name; exit }' "$found")}
held=$found
if [ -z "${TORQUES:-}" ]; then
  "$SDRS" simulate "$found" --steps 20 --set simulation.gravity="[0,0,0]" --set contact.friction=0 \
    --set simulation.output="[contact_points]" -q -o "$out/first" >/dev/null
  echo "fingers,cone,sum_of_forces_N,sum_of_torques_Nm"
  held=$out/held.scene.yaml
  python3 "$here/squeeze_grasp.py" "$found" "$out/first" "$object" "$held"
fi
echo "gravity,friction,moved_mm,held"

moved() { # gravity, friction
  "$SDRS" simulate "$held" --steps 200 --set "simulation.gravity=$1" --set contact.friction="$2" -q -o "$out/run" >/dev/null
  awk -F, -v name="\"$1\",$2" -v column="$object/px" '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) x = i; next }
    NR == 2 { for (k = 0; k < 3; k++) from[k] = $(x + k) }
    { d = 0; for (k = 0; k < 3; k++) d += ($(x + k) - from[k]) ^ 2; if (d > most) most = d }
    END { printf "%s,%.3g,%s\n", name, 1000 * sqrt(most), sqrt(most) < 0.005 ? "held" : "lost" }' "$out/run/trajectory.csv"
}
for g in 9.81,0,0 -9.81,0,0 0,9.81,0 0,-9.81,0 0,0,9.81 0,0,-9.81; do moved "[$g]" 0.8; done
moved "[0,0,9.81]" 0.001
