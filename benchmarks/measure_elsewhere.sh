#!/bin/bash
# Measures benchmarks/results/elsewhere.csv and mujoco-*.csv, and draws docs/pictures/mujoco-*.png: designs of single-jaw, spider and biped with their
# controls in MuJoCo (Debian: libmujoco-dev), over its time steps and contact settings (tests/mujoco/designs.py says which). Needs ./sdrs and gnuplot.
# Then benchmarks/results/search.csv and search-*.csv, with diagrams: the first and the best design of each under controllers found without gradients in
# MuJoCo (tests/mujoco/search.py); needs make's out/build/release/libsdrs.a, for its CMA-ES.
# Usage: benchmarks/measure_elsewhere.sh [FOLDER]   what has its run in FOLDER already is not optimized again; without it none is kept
# Takes some five CPU minutes, most of them for biped-robust and the three before it, and some sixteen minutes for the searches.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! echo '#include <mujoco/mujoco.h>' | "${CC:-gcc}" -E - >/dev/null 2>&1; then
  echo "SKIP measure_elsewhere: mujoco/mujoco.h is not installed (Debian: apt-get install libmujoco-dev)"
  exit 0
fi
folder=${1:-$(mktemp -d)}
[[ $# != 0 ]] || trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder"
${CC:-gcc} -std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror tests/mujoco/mujoco_run.c -o "$folder/mujoco_run" -lmujoco -lm
python3 tests/mujoco/designs.py "${SDRS:-./sdrs}" "$folder/mujoco_run" "$folder" -o benchmarks/results single-jaw spider spider-held spider-gaits spider-heading biped-single biped-held biped biped-robust

read -ra libraries < <(sed -n 's/^LDLIBS := //p' Makefile)
${CC:-gcc} -std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -Isrc -fopenmp tests/mujoco/mujoco_search.c -o "$folder/mujoco_search" \
  out/build/release/libsdrs.a -lmujoco "${libraries[@]}"
python3 tests/mujoco/search.py "${SDRS:-./sdrs}" "$folder/mujoco_search" "$folder" -o benchmarks/results \
  single-jaw=3x80 biped-held=5x150 spider=5x150 biped-held-free=5x150 spider-free=5x150 spider-held=5x150 spider-held-free=10x150 spider-gaits=5x150 spider-gaits-free=20x150 \
  spider-heading=4x300@201 spider-heading-free=5x600@201
