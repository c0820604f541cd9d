#!/bin/bash
# Measures docs/results/heading.csv: what designed feet add to a gait, spider and biped, with a drive that holds the heading (20 N m/rad and
# 4 N m s/rad about the vertical, or the slope's normal, from outside, as a boom does: nothing else steers them), from five starts each: the
# seed turns the robot by up to 0.1 rad and its joints by up to 0.02, which the drives' rates keep for seconds. Co-design against control alone, same losses, bounds and iterations. Prints the
# table, and mean and spread of the gain.
# Usage: scripts/measure_heading.sh [FOLDER]   what has its run in FOLDER already is not run again; without it none is kept
# Takes some four CPU minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

OUT=docs/results/heading.csv
folder=${1:-$(mktemp -d)}
table=$(mktemp)
trap 'rm -f "$table"; [[ -n ${KEEP:-} ]] || rm -rf "$folder"' EXIT
[[ $# == 0 ]] || KEEP=1 # not removed
mkdir -p "$folder"

scene() { # file, base: the scene with the drive, meshes by their whole paths
  sed -e "s#\.\./\.\./assets#$PWD/assets#" \
    -e "s#^controllers:#&\n  - {link: $2, type: pd, position_gain: [0, 0, 0, 20], damping_gain: [0, 0, 0, 4], target: [0, 0, 0, 0]}#" \
    -e "s#^initial:#&\n  - {link: $2, coordinates: [0, 0, 0, 0]}#" "scenes/tasks/$1"
}
scene spider-slope-scene.yaml body >"$folder/spider-scene.yaml"
scene biped-scene.yaml trunk | sed 's/free_axes: \[x, y, z, rx\]/free_axes: [x, y, z, rz]/' >"$folder/biped-scene.yaml"

# The spider's task as it is shipped; the biped walks as far as it can towards a point 10 m ahead, by the phases of its gait.
links_spider='upper0, lower0, upper1, lower1, upper2, lower2, upper3, lower3'
links_biped='left_thigh, left_shank, right_thigh, right_shank'
vertices_spider='[{links: [lower0, lower1, lower2, lower3], within: 0.035}]'
vertices_biped='[{links: [left_foot, right_foot], axes: [x], within: 0.1}, {links: [left_foot, right_foot], axes: [y, z], within: 0.025}]'
hinges_spider='upper0, upper1, upper2, upper3' # the biped's hips begin on their targets: three rotations
hinges_biped='left_shank, right_shank'
base_spider=body
base_biped=trunk
point_spider='link: body, target: [9.67, 0, 2.92]'
point_biped='link: trunk, target: [0, 10, 0.744]'

task() { # robot, seed, method
  local links=links_$1 vertices=vertices_$1 hinges=hinges_$1 base=base_$1 point=point_$1 link
  echo "name: $1"
  echo "seed: $2"
  echo "scene: $1-scene.yaml"
  [[ $3 == control ]] || echo "design: {mass: fixed, connect: true, vertices: ${!vertices}}"
  echo "control: [{links: [${!links}], parameters: [phase], within: 0.5}]"
  echo "loss: [{type: point, ${!point}, power: 2}]"
  echo "optimizer: {type: lbfgs, iterations: 100, design_step: 4.0e-3, control_step: 0.1}"
  echo "draws:"
  echo "  every: 0"
  echo "  numbers:"
  for link in ${!hinges//,/}; do echo "    - {link: $link, of: start, low: -0.02, high: 0.02}"; done
  echo "    - {link: ${!base}, of: start, dof: [3], low: -0.1, high: 0.1}"
}

for robot in spider biped; do
  for seed in 1 2 3 4 5; do
    for method in control co-design; do
      name=$robot-$seed-$method
      [[ -e $folder/$name/summary.json ]] && continue
      echo "$name" >&2
      task "$robot" "$seed" "$method" >"$folder/$name.yaml"
      ./sdrs optimize "$folder/$name.yaml" -q --threads 1 -o "$folder/$name" >/dev/null
    done
  done
done

python3 - "$folder" >"$table" <<'P'
import json, math, statistics, sys
folder = sys.argv[1]
def way(robot, seed, method): # what is left of 10 m
    return 10 - math.sqrt(json.load(open(f"{folder}/{robot}-{seed}-{method}/summary.json"))["best_loss"])
print("robot,seed,control_m,co_design_m,gain_percent")
for robot in "spider", "biped":
    gains = []
    for seed in range(1, 6):
        a, b = way(robot, seed, "control"), way(robot, seed, "co-design")
        gains.append(100 * (b / a - 1))
        print(f"{robot},{seed},{a:.3f},{b:.3f},{gains[-1]:.1f}")
    print(f"{robot},mean,,,{statistics.mean(gains):.1f}")
    print(f"{robot},spread,,,{statistics.stdev(gains):.1f}")
P
mv "$table" "$OUT"
chmod 644 "$OUT"
cat "$OUT"
