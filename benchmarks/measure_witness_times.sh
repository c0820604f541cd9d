#!/bin/bash
# Prints benchmarks/results/witness-times.csv: what a step of bringing points together costs, and its parts.
#   make && benchmarks/measure_witness_times.sh >benchmarks/results/witness-times.csv
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gcc -std=c17 -D_GNU_SOURCE -O3 -march=native -Wno-psabi -fopenmp -Isrc benchmarks/witness_times.c \
  "${BUILD:-out/build/release}/libsdrs.a" -o "$work/times" -lyaml -lcjson -lexpat -lz -lzip -lqhull_r -lglpk -lamd \
  -lsleef -lm
"$work/times"
