#!/bin/bash
# Measures benchmarks/results/heading.csv: what designed feet add to a gait, spider and biped, with a drive that holds the heading (20 N m/rad and
# 4 N m s/rad about the vertical, or the slope's normal, from outside, as a boom does: nothing else steers them), from five starts each: the
# seed turns the robot by up to 0.1 rad and its joints by up to 0.02, which the drives' rates keep for seconds. Co-design against control alone, same losses, bounds and iterations. Prints the
# table, and mean and spread of the gain.
# Then benchmarks/results/heading-feet.csv: the feet that scenes/tasks/spider-heading.yaml finds and those that it begins with, in its walk from five such starts, with
# the phases of the gait found anew for each.
# Then benchmarks/results/heading-mass.csv: SDRS V-I with the biped of scenes/studies/biped-walk.yaml that turns about the vertical: the gait that was
# found, run once with the mass of each link at its vertices and once spread over its volume, without such a drive and with it, of several sizes.
# Usage: benchmarks/measure_heading.sh [FOLDER]   what has its run in FOLDER already is not run again; without it none is kept
# Takes some six CPU minutes.
# program, folder, table come from benchmarks/table.sh
# shellcheck disable=SC1091,SC2154
set -euo pipefail
. "$(dirname "$0")/table.sh" "$@"

scene() { # file, base, N m/rad: the scene with the drive, meshes by their whole paths
  sed -e "s#\.\./\.\./assets#$PWD/assets#" \
    -e "s#^controllers:#&\n  - {link: $2, type: pd, position_gain: [0, 0, 0, $3], damping_gain: [0, 0, 0, $(($3 / 5))], target: [0, 0, 0, 0]}#" \
    -e "s#^initial:#&\n  - {link: $2, coordinates: [0, 0, 0, 0]}#" "scenes/tasks/$1"
}
scene spider-slope-scene.yaml body 20 >"$folder/spider-scene.yaml"
scene biped-scene.yaml trunk 20 | sed 's/free_axes: \[x, y, z, rx\]/free_axes: [x, y, z, rz]/' >"$folder/biped-scene.yaml"

# The spider's task as it is shipped; the biped walks as far as it can towards a point 10 m ahead, by the phases of its gait.
declare -A links=([spider]='upper0, lower0, upper1, lower1, upper2, lower2, upper3, lower3' [biped]='left_thigh, left_shank, right_thigh, right_shank')
declare -A vertices=([spider]='[{links: [lower0, lower1, lower2, lower3], within: 0.035}]'
  [biped]='[{links: [left_foot, right_foot], axes: [x], within: 0.1}, {links: [left_foot, right_foot], axes: [y, z], within: 0.025}]')
declare -A hinges=([spider]='upper0, upper1, upper2, upper3' [biped]='left_shank, right_shank') # the biped's hips begin on their targets: three rotations
declare -A base=([spider]=body [biped]=trunk)
declare -A point=([spider]='link: body, target: [9.67, 0, 2.92]' [biped]='link: trunk, target: [0, 10, 0.744]')

task() { # robot, seed, method
  local link
  echo "name: $1"
  echo "seed: $2"
  echo "scene: $1-scene.yaml"
  [[ $3 == control ]] || echo "design: {mass: fixed, connect: true, vertices: ${vertices[$1]}}"
  echo "control: [{links: [${links[$1]}], parameters: [phase], within: 0.5}]"
  echo "loss: [{type: point, ${point[$1]}, power: 2}]"
  echo "optimizer: {type: lbfgs, iterations: 100, design_step: 4.0e-3, control_step: 0.1}"
  echo "draws:"
  echo "  every: 0"
  echo "  numbers:"
  for link in ${hinges[$1]//,/}; do echo "    - {link: $link, of: start, low: -0.02, high: 0.02}"; done
  echo "    - {link: ${base[$1]}, of: start, dof: [3], low: -0.1, high: 0.1}"
}

for robot in spider biped; do
  for seed in 1 2 3 4 5; do
    for method in control co-design; do
      name=$robot-$seed-$method
      [[ -e $folder/$name/summary.json ]] && continue
      echo "$name" >&2
      task "$robot" "$seed" "$method" >"$folder/$name.yaml"
      "$program" optimize "$folder/$name.yaml" -q --threads 1 -o "$folder/$name" >/dev/null
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
publish heading.csv

# ---------------------------------------------------------------- feet found once

feet=$folder/spider-heading
[[ -e $feet/summary.json ]] || "$program" optimize scenes/tasks/spider-heading.yaml -q --threads 1 -o "$feet" >/dev/null
# Both with the gait of the start.
for which in initial best; do
  {
    sed '/^controllers:/,$d' "$feet/$which.scene.yaml"
    sed -n '/^controllers:/,$p' "$feet/initial.scene.yaml" | sed "s#^initial:#&\n  - {link: body, coordinates: [0, 0, 0, 0]}#"
  } >"$folder/feet-$which-scene.yaml"
done
for seed in 1 2 3 4 5; do
  for which in initial best; do
    name=feet-$seed-$which
    [[ -e $folder/$name/summary.json ]] && continue
    task spider "$seed" control | sed "s#^scene: .*#scene: feet-$which-scene.yaml#" >"$folder/$name.yaml"
    "$program" optimize "$folder/$name.yaml" -q --threads 1 -o "$folder/$name" >/dev/null
  done
done
python3 - "$folder" >"$table" <<'P'
import json, math, statistics, sys
folder = sys.argv[1]
def way(seed, which):
    return 10 - math.sqrt(json.load(open(f"{folder}/feet-{seed}-{which}/summary.json"))["best_loss"])
print("seed,first_feet_m,found_feet_m,gain_percent")
gains = []
for seed in range(1, 6):
    a, b = way(seed, "initial"), way(seed, "best")
    gains.append(100 * (b / a - 1))
    print(f"{seed},{a:.3f},{b:.3f},{gains[-1]:.1f}")
print(f"mean,,,{statistics.mean(gains):.1f}")
print(f"spread,,,{statistics.stdev(gains):.1f}")
P
publish heading-feet.csv

# ---------------------------------------------------------------- where the mass is

walk() { # N m/rad
  local name=$folder/walk-$1 model link masses
  scene biped-scene.yaml trunk "$1" | sed 's/free_axes: \[x, y, z, rx\]/free_axes: [x, y, z, rz]/' >"$name-scene.yaml"
  [[ $1 != 0 ]] || sed -i '/link: trunk, type: pd/d' "$name-scene.yaml"
  sed "s#^scene: .*#scene: walk-$1-scene.yaml#" scenes/studies/biped-walk.yaml >"$name.yaml"
  [[ -e $name/summary.json ]] || "$program" optimize "$name.yaml" -q --threads 1 -o "$name" >/dev/null
  for model in vertices uniform; do
    masses=()
    for link in trunk left_thigh left_shank left_foot right_thigh right_shank right_foot; do masses+=(--set "links.$link.mass_model=$model"); done
    "$program" simulate "$name/best.scene.yaml" -q --threads 1 -o "$name-$model" "${masses[@]}" >/dev/null
  done
  python3 - "$name" "$1" <<'P'
import csv, sys
name, drive = sys.argv[1:]
def end(model, file, column): return float(list(csv.DictReader(open(f"{name}-{model}/{file}.csv")))[-1][column])
a, b = (end(model, "trajectory", "trunk/cy") for model in ("vertices", "uniform"))
turn = [end(model, "joints", "trunk/rz") for model in ("vertices", "uniform")]
print(f"{drive},{a:.3f},{b:.3f},{100 * abs(a - b) / max(abs(a), abs(b)):.3f},{turn[0]:.3f},{turn[1]:.3f}")
P
}

{
  echo "drive_N_m_rad,at_vertices_m,in_the_volume_m,difference_percent,turned_at_vertices_rad,turned_in_the_volume_rad"
  for drive in 0 5 20 100; do walk "$drive"; done
} >"$table"
publish heading-mass.csv
