#!/bin/bash
# Scenes in sdrs and, exported, in MuJoCo: runs as MJCF, poses as URDF; skipped where the library (Debian: libmujoco-dev) is not installed.
#   tests/mujoco/run.sh [RESULTS.csv]     benchmarks/results/mujoco.csv is made so
# The program is $SDRS (default ./sdrs).
set -euo pipefail
cd "$(dirname "$0")/../.."

SDRS=$(realpath "${SDRS:-./sdrs}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! echo '#include <mujoco/mujoco.h>' | "${CC:-gcc}" -E - >/dev/null 2>&1; then
  echo "SKIP comparison with MuJoCo: mujoco/mujoco.h is not installed (Debian: apt-get install libmujoco-dev)"
  echo "0 passed, 0 failed"
  exit 0
fi
for program in mujoco_run urdf_poses push_differences; do
  "${CC:-gcc}" -std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror "tests/mujoco/$program.c" -o "$work/$program" -lmujoco -lm
done
# Each ends with `N passed, N failed`, which are added up.
passed=0 failed=0
add_up() { # log, exit code
  local good bad
  read -r good _ bad _ < <(tail -n 1 "$1" | grep -E '^[0-9]+ passed, [0-9]+ failed$' || echo "0 passed, 1 failed")
  if (($2 != 0 && bad == 0)); then bad=1; fi
  cat "$1"
  passed=$((passed + good)) failed=$((failed + bad))
}
code=0
# Runs of scenes and designs take a minute and more: in the long form, or where the table is asked for.
if [[ -n ${SDRS_LONG:-} ]] || (($# > 0)); then
  python3 tests/mujoco/compare.py "$SDRS" "$work/mujoco_run" "$work" "$@" >"$work/scenes.log" || code=$?
  add_up "$work/scenes.log" "$code"
fi
code=0
python3 tests/mujoco/urdf.py "$SDRS" "$work/urdf_poses" "$work" >"$work/urdf.log" || code=$?
add_up "$work/urdf.log" "$code"
code=0
python3 tests/mujoco/mjcf.py "$SDRS" "$work/urdf_poses" "$work" >"$work/mjcf.log" || code=$?
add_up "$work/mjcf.log" "$code"
code=0
python3 tests/mujoco/pairs.py "$SDRS" "$work/mujoco_run" "$work" >"$work/pairs.log" || code=$?
add_up "$work/pairs.log" "$code"
code=0
python3 tests/mujoco/gym.py "$SDRS" "$work/mujoco_run" "$work" >"$work/gym.log" || code=$?
add_up "$work/gym.log" "$code"
code=0
python3 tests/mujoco/attributes.py "$SDRS" "$work" >"$work/attributes.log" || code=$?
add_up "$work/attributes.log" "$code"
code=0
"$SDRS" export scenes/tasks/push-scene.yaml -q -o "$work/push.xml" >"$work/export.log" && "$work/push_differences" "$work/push.xml" >"$work/push.log" || code=$?
add_up "$work/push.log" "$code"
code=0
if [[ -n ${SDRS_LONG:-} ]] || (($# > 0)); then
  python3 tests/mujoco/designs.py "$SDRS" "$work/mujoco_run" "$work" single-jaw spider spider-held biped biped-held >"$work/designs.log" || code=$?
  add_up "$work/designs.log" "$code"
fi
echo "$passed passed, $failed failed"
((failed == 0))
