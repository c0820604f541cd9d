#!/bin/bash
# The measured tosses fitted in MuJoCo without gradients beside sdrs identify (tests/mujoco/tosses.py): 4 minutes. The library is Debian's
# (libmujoco-dev); the data is not part of the repository: $SDRS_TOSSES, or ../shared/data/tosses.
#   tests/long/test_mujoco_tosses.sh [cube] [elbow] [RESULTS.csv]     benchmarks/results/tosses.csv is made so
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
SDRS=$(realpath "${SDRS:-./sdrs}")
TOSSES=${SDRS_TOSSES:-../shared/data/tosses}
if [[ ! -e $TOSSES/cube ]]; then
  echo "SKIP test_mujoco_tosses: no measured tosses in $TOSSES (scenes/identify/cube.yaml says where they come from)"
  exit 0
fi
if ! echo '#include <mujoco/mujoco.h>' | "${CC:-gcc}" -E - >/dev/null 2>&1; then
  echo "SKIP test_mujoco_tosses: mujoco/mujoco.h is not installed (Debian: apt-get install libmujoco-dev)"
  exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2086 # CC may be several words
${CC:-gcc} -std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror tests/mujoco/mujoco_tosses.c -o "$work/mujoco_tosses" -lmujoco -lm || exit 1
python3 tests/mujoco/tosses.py "$SDRS" "$work/mujoco_tosses" "$work" "$TOSSES" "$@"
