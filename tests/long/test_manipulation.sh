#!/bin/bash
# The shipped tasks of manipulation reach their regions from their trivial starts, and what was executed is proved again from its
# files; with a law that is felt near the surface only, nothing begins (docs/manipulation.md). The program is $SDRS (./sdrs).
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

SDRS=${SDRS:-./sdrs}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
judge() { # name, command...
  if "${@:2}" >"$work/log" 2>&1; then
    passed=$((passed + 1))
    echo "ok   $1"
  else
    failed=$((failed + 1))
    echo "FAIL $1"
    cat "$work/log"
  fi
}
succeeds() { # task, yes or no, option...
  local wanted=true
  [[ $2 == yes ]] || wanted=false
  rm -rf "$work/run"
  "$SDRS" optimize "scenes/tasks/$1.yaml" -q -o "$work/run" "${@:3}" || return 1
  grep -q "^  \"success\": $wanted" "$work/run/summary.json"
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
for task in push push-centred gather sort billiards ant-push; do
  [[ -e scenes/tasks/$task.yaml ]] || continue
  judge "$task" succeeds "$task" yes
  judge "$task is proved" is_proved
  judge "$task under separating_plane" succeeds "$task" no --set "scene.contact={friction: 0.3}"
done
echo "$passed passed, $failed failed"
((failed == 0))
