#!/bin/bash
# Tests sdrs decompose, built with the sanitizers, on invalid meshes: each gives a right result or a clear refusal.
cd "$(dirname "$0")/../.." || exit 1
data=../shared/data/nasty
if [[ ! -d $data ]]; then
  echo "SKIP: no $data"
  echo "0 passed, 0 failed"
  exit 0
fi
SDRS=${SDRS:-out/build/asan/sdrs}
if [[ ! -x $SDRS ]]; then
  echo "no program at $SDRS: make FLAVOUR=asan program"
  exit 1
fi
export SDRS
python3 tests/long/nasty_meshes.py "$data"
