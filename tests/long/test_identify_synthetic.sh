#!/bin/bash
# Synthetic truth: an arm of seven joints and a pushed box. Data is made by the program with other numbers: without noise every
# base parameter comes out within 0.1 %; with noise of the task's size intervals hold most of the truth; with data of half the time
# step, of the other integrator and of MuJoCo the error that is left is the models' difference. The run that is killed goes on to the same files.
#   tests/long/test_identify_synthetic.sh [RESULTS.csv]     benchmarks/results/model-difference.csv is made so, from the other programs' data alone
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
SDRS=$(realpath "${SDRS:-./sdrs}")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
if echo '#include <mujoco/mujoco.h>' | "${CC:-gcc}" -E - >/dev/null 2>&1; then # Debian: libmujoco-dev
  # shellcheck disable=SC2086 # CC may be several words
  ${CC:-gcc} -std=c17 -D_GNU_SOURCE -O2 tests/mujoco/mujoco_run.c -o "$work/mujoco_run" -lmujoco -lm || exit 1
  export MUJOCO_RUN=$work/mujoco_run
fi
SDRS=$SDRS work=$work python3 tests/long/identify_synthetic.py "$@" || exit 1
echo "test_identify_synthetic: passed"
