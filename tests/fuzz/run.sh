#!/bin/bash
# Runs one fuzzer for FUZZ_SECONDS (default 60) on its seeds, then says so in the form of a test.
#   tests/fuzz/run.sh out/build/fuzz/tests/fuzz/fuzz_NAME
# What it learns stays in out/fuzz/NAME/corpus, what it finds in out/fuzz/NAME/.
set -uo pipefail

name=$(basename "$1")
name=${name#fuzz_}
seeds=tests/fuzz/corpus/$name
found=out/fuzz/$name
mkdir -p "$found/corpus"
folders=("$found/corpus")
if [[ -d $seeds ]]; then folders+=("$seeds"); fi

if "$1" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=60 -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0 \
  -artifact_prefix="$found/" "${folders[@]}"; then
  echo "1 passed, 0 failed"
else
  echo "fuzz_$name stopped; what made it stop is in $found/"
  echo "0 passed, 1 failed"
  exit 1
fi
