#!/bin/bash
# The shipped tasks of manipulation reach their regions from their trivial starts, and what was executed is proved again from its
# files; with a law that is felt near the surface only, nothing begins (docs/manipulation.md). The program is $SDRS (./sdrs).
# Usage: tests/long/test_manipulation.sh [TASK...]    all of them (7 minutes of processor time), or these
set -uo pipefail
# shellcheck source=tests/support/check.sh disable=SC1091
. "$(dirname "$0")/../support/check.sh"

SDRS=${SDRS:-./sdrs}
export OMP_WAIT_POLICY=passive # beside other work two threads that spin take five times the processor time
succeeds() { # task, yes or no, option...
  local wanted=true
  [[ $2 == yes ]] || wanted=false
  rm -rf "$work/run"
  "$SDRS" optimize "scenes/tasks/$1.yaml" -q -o "$work/run" "${@:3}" || return 1
  grep -q "^  \"success\": $wanted" "$work/run/summary.json"
}
# The task's contact without what is felt from afar.
locally() { # task
  if [[ $1 == franka-push ]]; then
    echo "{friction: 0.3, exclude: [[robot, ground], [robot, robot]]}"
  else
    echo "{friction: 0.3}"
  fi
}
# What was found, run and proved: a receding horizon leaves the run itself.
is_proved() {
  local run=$work/run
  if [[ ! -e $run/windows.csv ]]; then
    run=$work/again
    rm -rf "$run"
    "$SDRS" simulate "$work/run/best.scene.yaml" -q -o "$run" || return 1
  fi
  "$SDRS" certify -q "$run"
}
tasks=(push push-centred billiards ant-push gather sort)
# Of meshes that are not shipped.
if scripts/prepare_meshes.py >/dev/null 2>&1; then
  tasks+=(franka-push gather-bunny)
else
  echo "SKIP tasks of meshes: no ../shared/data"
fi
[[ $# == 0 ]] || tasks=("$@")
for task in "${tasks[@]}"; do
  check "$task" succeeds "$task" yes
  check "$task is proved" is_proved
  check "$task under separating_plane" succeeds "$task" no --set "scene.contact=$(locally "$task")" --set schedule=null
done
check_end
