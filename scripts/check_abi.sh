#!/bin/bash
# Does a program that was linked with an older libsdrs run with a newer one of the same soname?
#   scripts/check_abi.sh OLD.so [NEW.so]     NEW: out/lib/libsdrs.so
# By abidiff (Debian: abigail-tools), which sees types where there is debugging information; without it by names alone: each
# of the old must be there. Prints what is missing or has changed; exits 1 when something has.
set -euo pipefail
cd "$(dirname "$0")/.."

old=${1:?usage: scripts/check_abi.sh OLD.so [NEW.so]} new=${2:-out/lib/libsdrs.so}

names() { nm -D --defined-only "$1" | awk '{ print $3 }' | LC_ALL=C sort; }
soname() { readelf -d "$1" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p'; }

if [[ $(soname "$old") != "$(soname "$new")" ]]; then
  echo "check_abi: $(soname "$old") and $(soname "$new") may differ: nobody takes one for the other"
  exit 0
fi
missing=$(LC_ALL=C comm -23 <(names "$old") <(names "$new"))
if [[ -n $missing ]]; then
  printf 'check_abi: no longer there:\n%s\n' "$missing"
  exit 1
fi
if command -v abidiff >/dev/null; then
  # Bits of its exit code: 1 failed, 2 wrong usage, 4 a change, 8 a change that breaks.
  code=0
  abidiff --headers-dir1 src/library --headers-dir2 src/library "$old" "$new" || code=$?
  if ((code & 11)); then
    echo "check_abi: programs linked with $old do not run with $new"
    exit 1
  fi
else
  echo "check_abi: no abidiff: names alone were compared"
fi
echo "check_abi: $(names "$new" | wc -l) names, none is lost"
