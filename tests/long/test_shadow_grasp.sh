#!/bin/bash
# The Shadow hand takes a ball: tests/real/shadow-grasp.yaml reaches its region, and shadow-grasp-end.yaml from there all three points. Skipped without the
# data. The program is $SDRS (./sdrs). Two minutes of one processor.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

SDRS=${SDRS:-./sdrs}
if [[ ! -e ../shared/data/shadow ]]; then
  echo "SKIP the Shadow hand: ../shared/data is not there"
  echo "0 passed, 0 failed"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

run() { # task, folder
  if "$SDRS" optimize "$1" -q -o "$work/$2" >/dev/null && grep -q '^  "success": true' "$work/$2/summary.json"; then
    echo "ok   $2"
    passed=$((passed + 1))
  else
    echo "FAIL $2"
    tail -n 1 "$work/$2/convergence.csv"
    failed=$((failed + 1))
  fi
}

run tests/real/shadow-grasp.yaml region
sed 's|^scene: .*|scene: region/best.scene.yaml|' tests/real/shadow-grasp-end.yaml >"$work/end.yaml"
run "$work/end.yaml" end
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
