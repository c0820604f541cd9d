#!/bin/bash
# Writes benchmarks/results/peers.csv: what the distance of two hulls costs in sdrs, FCL and libccd, the same pairs in one run.
#   benchmarks/measure_peers.sh        needs `scripts/deps.sh peers` and `make`; says SKIP without them
set -euo pipefail
cd "$(dirname "$0")/.."

BUILD=${BUILD:-out/build/release}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for header in ccd/ccd.h fcl/fcl.h; do
  if [ ! -e "/usr/include/$header" ]; then
    echo "SKIP: $header is not installed (scripts/deps.sh peers)"
    exit 0
  fi
done
g++ -std=c++17 -O3 -march=native -I/usr/include/eigen3 -c tests/ccd/fcl.cpp -o "$work/fcl.o"
gcc -std=c17 -D_GNU_SOURCE -O3 -march=native -Wall -Wextra -Wno-psabi -fopenmp -Isrc -c tests/ccd/times.c -o "$work/times.o"
g++ -fopenmp "$work/times.o" "$work/fcl.o" "$BUILD/libsdrs.a" -o "$work/times" -lfcl -lccd -lyaml -lcjson -lexpat -lz -lzip \
  -lqhull_r -lglpk -lamd -lsleef -lm
"$work/times" >benchmarks/results/peers.csv
cat benchmarks/results/peers.csv
