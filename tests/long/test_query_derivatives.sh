#!/bin/bash
# Compares every derivative of queries with differences: all pairs of shapes, overlapping, in contact and apart.
cd "$(dirname "$0")/../.." || exit 1
out=$(SDRS=${SDRS:-./sdrs} python3 benchmarks/measure_query_derivatives.py --check)
if [[ $? == 0 && $out == *", 0 wrong, 0 without derivatives" ]]; then
  echo "ok   $out"
  echo "1 passed, 0 failed"
else
  echo "FAIL $out"
  echo "0 passed, 1 failed"
  exit 1
fi
