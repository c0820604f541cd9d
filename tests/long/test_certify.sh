#!/bin/bash
# Every shipped scene, run to its end, is certified from its files alone; pendulums have no pair that could meet.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
for scene in scenes/*.yaml scenes/tasks/*-scene.yaml; do
  name=$(basename "$scene" .yaml)
  if ./sdrs simulate "$scene" -q -o "$work/run" >"$work/log" 2>&1 && ./sdrs certify "$work/run" >>"$work/log" 2>&1; then
    passed=$((passed + 1))
    echo "ok   $name: $(tail -n 1 "$work/log" | sed 's/^[^:]*: //')"
  else
    failed=$((failed + 1))
    echo "FAIL $name"
    cat "$work/log"
  fi
done
echo "$passed passed, $failed failed"
((failed == 0))
