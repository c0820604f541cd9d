#!/bin/bash
# Measures benchmarks/results/machines.csv: `sdrs gradcheck` of all blocks of the scenes of machines, each over a stretch in which what it shows
# happens: a motor at its limit, friction that holds and slips, a foot that sticks, a closure before and after it breaks. Where differences
# cannot resolve the scene as it is shipped, the change that lets them is in the row: a drive of 100 kN/m leaves the masses no part
# in the motion, friction as sharp as 0.1 mm/s leaves a difference no room. About ten minutes, most of them the biped. Prints the rows that are not checked to 1e-6.
set -euo pipefail
cd "$(dirname "$0")/.."

OUT=benchmarks/results/machines.csv
table=$(mktemp)
source benchmarks/gradcheck_rows.sh
trap 'rm -rf "$report" "$table"' EXIT

row() { # what it shows, scene, options...
  local shows=$1
  shift
  measure "$@" --bound 1e-6 | sed "s|^[^,]*/rope,|rope,|; s|^|$shows,|"
}

{
  echo "shows,file,block,numbers,gradient_norm,relative_error,resolution,order,verdict"
  row "closed loop" scenes/four-bar.yaml --steps 60
  row "closed loop under 100 times the weight; drive of 0.1 N m s" scenes/slider-crank.yaml --steps 60 --set controllers.crank.damping_gain=0.1 --set loads.piston.force.0=-3924
  row "coupled joints" scenes/differential.yaml --steps 60
  row "fingers that grip; motor at its limit" scenes/rack-gripper.yaml --steps 50
  row "push off the centre" scenes/push.yaml --steps 150
  row "motors into their limits" scenes/motor.yaml --steps 400
  row "dry friction that holds and slides" scenes/springs.yaml --steps 100
  row "rubber sticks; wet and steel slide" scenes/foot.yaml --steps 50
  row "boxes on a belt; smoothing 0.1 m/s" scenes/belt.yaml --steps 60 --set contact.smoothing=1e-2
  row "feedback" scenes/balance.yaml --steps 60
  row "six legs; 100 times the weight" scenes/stewart.yaml --steps 20 --set "loads=[{link: plate, force: [3000, 2000, -8000], torque: [20, 30, 10]}]"
  row "biped in rubber shoes on a height field" scenes/biped-terrain.yaml --steps 20
  row "before it breaks" tests/scenes/strangers/rope.yaml --steps 15
  row "after it broke" tests/scenes/strangers/rope.yaml --steps 45
} >"$table"
cp "$table" "$OUT"
awk -F, 'NR > 1 && $9 != "passed"' "$OUT"
