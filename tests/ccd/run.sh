#!/bin/bash
# Distance and depth of hulls in sdrs and in libccd; skipped where the library (Debian: libccd-dev) is not installed.
# The library of sdrs is that of the build in $BUILD (default out/build/check).
set -euo pipefail
cd "$(dirname "$0")/../.."

BUILD=${BUILD:-out/build/check}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! echo '#include <ccd/ccd.h>' | gcc -E - >/dev/null 2>&1; then
  echo "SKIP comparison with libccd: ccd/ccd.h is not installed (Debian: apt-get install libccd-dev)"
  echo "0 passed, 0 failed"
  exit 0
fi
gcc -std=c17 -D_GNU_SOURCE -O3 -fopenmp -Isrc tests/ccd/peers.c "$BUILD/libsdrs.a" -o "$work/peers" -lccd -lyaml -lcjson -lexpat \
  -lz -lzip -lqhull_r -lglpk -lamd -lsleef -lm
"$work/peers"
