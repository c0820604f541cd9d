#!/bin/bash
# Scenes in sdrs and, exported, in MuJoCo; skipped where the library (Debian: libmujoco-dev) is not installed.
#   tests/mujoco/run.sh [RESULTS.csv]     docs/results/mujoco.csv is made so
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
"${CC:-gcc}" -std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror tests/mujoco/mujoco_run.c -o "$work/mujoco_run" -lmujoco -lm
python3 tests/mujoco/compare.py "$SDRS" "$work/mujoco_run" "$work" "$@"
