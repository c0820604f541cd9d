#!/bin/bash
# Tests that every scene of the repository is certified from its output files, which are the same for any number of
# threads. Also certifies boxes that tumble onto each other and plates that cross at high speed, with rows up to seven
# steps apart.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

report() { # name, whether it is fine
  if (($2 == 0)); then
    passed=$((passed + 1))
    echo "ok   $1: $(tail -n 1 "$work/log" | sed 's/^[^:]*: //')"
  else
    failed=$((failed + 1))
    echo "FAIL $1"
    cat "$work/log"
  fi
}

for scene in scenes/*.yaml scenes/tasks/*-scene.yaml; do
  ./sdrs simulate "$scene" -q -o "$work/run" >"$work/log" 2>&1 && ./sdrs certify "$work/run" >>"$work/log" 2>&1
  report "$(basename "$scene" .yaml)" $?
done

# The solver needs moves on these: path.csv must hold some.
certify_moves() { # arguments of certify_scenes.py
  tests/long/certify_scenes.py "$@" >"$work/scene.yaml" &&
    ./sdrs simulate "$work/scene.yaml" -q -o "$work/run" --threads 1 &&
    ./sdrs simulate "$work/scene.yaml" -q -o "$work/two" --threads 2 &&
    ./sdrs simulate "$work/scene.yaml" -q -o "$work/thin" --set simulation.record_every=7 &&
    cmp "$work/run/path.csv" "$work/two/path.csv" && (($(wc -l <"$work/run/path.csv") > 1)) &&
    ./sdrs certify "$work/thin" && ./sdrs certify "$work/run"
}

for arguments in "boxes 16" "boxes 22" "boxes 5" "plates 1 10" "plates 2 10" "plates 1 30" "plates 3 30"; do
  read -ra words <<<"$arguments"
  certify_moves "${words[@]}" >"$work/log" 2>&1
  report "$arguments" $?
done
echo "$passed passed, $failed failed"
((failed == 0))
