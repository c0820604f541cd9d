#!/bin/bash
# The Shadow hand takes a ball: tests/real/shadow-grasp.yaml reaches its region. Skipped without the data. The program is $SDRS (./sdrs).
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
if "$SDRS" optimize tests/real/shadow-grasp.yaml -q -o "$work/run" >/dev/null && grep -q '^  "success": true' "$work/run/summary.json"; then
  echo "1 passed, 0 failed"
else
  tail -n 1 "$work/run/convergence.csv"
  echo "0 passed, 1 failed"
  exit 1
fi
