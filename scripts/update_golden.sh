#!/bin/bash
# Stored short runs of every shipped scene, in tests/golden/<scene>/; those of tasks are called tasks/<scene>, of sdrs identify identify/<scene>.
#   scripts/update_golden.sh [SCENE...]           run and store anew: look at the difference before keeping it
#   scripts/update_golden.sh --check [SCENE...]   run and compare with what is stored
# Every byte must be equal, with 1 thread, and with 3 threads as libraries behave on an old processor; with SDRS_LONG set, with 1, 2, 3 and 8 threads
# (check_bits.sh --long runs scenes as on other processors). Where it differs, by how much is told as `sdrs compare` does.
# A scene may state its own run in tests/golden/<scene>/settings: shell lines STEPS=, EVERY=, SET=(...), and
# ABS=, REL= where it is compared within |a - b| <= ABS + REL max(|a|, |b|) (m, rad, J) instead.
# The program is $SDRS (default ./sdrs). Prints one line a scene and `N passed, N failed`; exits 1 when one failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/support/cpu.sh
. tests/support/cpu.sh

SDRS=${SDRS:-./sdrs}
RUNS=out/golden
GOLDEN=tests/golden
FILES=(trajectory.csv joints.csv solver.csv)
THREADS=(3)
OLD=() # what makes the C library and an OpenBLAS in the process behave as on an old processor
if [[ -n ${SDRS_LONG:-} ]]; then
  THREADS=(2 3 8)
else
  mapfile -t OLD < <(scripts/check_bits.sh --oldest)
fi
# How a step was solved (iterations, trials) is no result where numbers are compared within a tolerance.
SOLVER_COLUMNS=step,time,kinetic,potential,total,smallest_gap
export SDRS_CACHE=off         # every number of threads finds the hulls of its own meshes
export OMP_WAIT_POLICY=passive # more threads than processors must not spin

if [[ ! -x $SDRS ]]; then
  echo "update_golden.sh: no program at $SDRS: run make first"
  exit 1
fi

run_scene() { # scene, threads, setting...
  env "${@:3}" "$SDRS" simulate "scenes/$1.yaml" -q -o "$RUNS/$1/threads-$2" --threads "$2" --steps "$STEPS" \
    --set simulation.record_every="$EVERY" --set simulation.tolerance="$TOLERANCE" "${SET[@]}" >/dev/null
}

compare_stored() { # scene
  local file columns
  for file in "${FILES[@]}"; do
    if [[ -z $ABS ]] && cmp -s "$GOLDEN/$1/$file" "$RUNS/$1/threads-1/$file"; then continue; fi
    columns='*'
    [[ -n $ABS && $file == solver.csv ]] && columns=$SOLVER_COLUMNS
    "$SDRS" compare "$GOLDEN/$1/$file" "$RUNS/$1/threads-1/$file" --abs "${ABS:-0}" --rel "$REL" --columns "$columns" \
      >"$RUNS/$1/difference" 2>&1 || { echo "$file:"; cat "$RUNS/$1/difference"; continue; }
    [[ -n $ABS ]] || echo "$file: the same numbers in other bytes"
  done
}

compare_threads() { # scene
  local threads
  for threads in "${THREADS[@]}"; do
    run_scene "$1" "$threads" "${OLD[@]}" || { echo "fails with $threads threads ${OLD[*]}"; continue; }
    # One process compares all tables of the run. summary.json contains times.
    diff -rq -x states -x summary.json "$RUNS/$1/threads-1" "$RUNS/$1/threads-$threads" ||
      echo "not the same with 1 and $threads threads ${OLD[*]}"
  done
}

check_scene() { # scene; prints what is wrong
  STEPS=50 EVERY=25 ABS='' REL=0 TOLERANCE=1e-7 SET=()
  # shellcheck disable=SC1090
  [[ -e $GOLDEN/$1/settings ]] && source "$GOLDEN/$1/settings"
  rm -rf "${RUNS:?}/$1"
  run_scene "$1" 1 2>&1 || { echo "simulate failed"; return; }
  if ((check)); then
    compare_stored "$1"
  else
    mkdir -p "$GOLDEN/$1" && for file in "${FILES[@]}"; do cp "$RUNS/$1/threads-1/$file" "$GOLDEN/$1/$file"; done
  fi
  compare_threads "$1"
}

check=0
if [[ ${1:-} == --check ]]; then
  check=1
  shift
fi
scenes=("$@")
if (($# == 0)); then
  for file in scenes/*.yaml scenes/tasks/*-scene.yaml scenes/identify/*-scene.yaml; do
    file=${file#scenes/}
    scenes+=("${file%.yaml}")
  done
fi

mkdir -p "$RUNS/tasks" "$RUNS/identify"
passed=0 failed=0
cpu_read
for scene in "${scenes[@]}"; do
  problem=$(check_scene "$scene")
  if [[ -z $problem ]]; then
    passed=$((passed + 1))
    cpu_spent
    echo "ok   $scene ($SPENT cpu s)"
  else
    failed=$((failed + 1))
    cpu_spent
    echo "FAIL $scene ($SPENT cpu s)"
    printf '     %s\n' "${problem//$'\n'/$'\n     '}"
  fi
done
# A stored run without its scene tests nothing.
for folder in "$GOLDEN"/*/ "$GOLDEN"/tasks/*/ "$GOLDEN"/identify/*/; do
  name=${folder#"$GOLDEN"/}
  name=${name%/}
  [[ $name == tasks || $name == identify ]] && continue
  if ((check)) && (($# == 0)) && [[ -d $folder && ! -e scenes/$name.yaml ]]; then
    failed=$((failed + 1))
    echo "FAIL $name: $folder has no scene"
  fi
done
echo "$passed passed, $failed failed"
((failed == 0))
