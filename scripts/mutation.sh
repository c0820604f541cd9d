#!/bin/bash
# How many seeded one-line faults in src do the tests find? Each fault is put into a copy of the checkout, one file is compiled,
# the programs are linked, and tests run until one fails. A fault that does not compile, or leaves the object as it was, is drawn anew.
#   scripts/mutation.sh [--long] [FAULTS [SEED]]   defaults 60, 1; --long: what the short check misses runs in the long form too
# Writes out/mutation/faults.csv (number, kind, file, line, found by) and prints the rates. Needs `make check` to have passed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

long=0
if [[ ${1:-} == --long ]]; then long=1 && shift; fi
FAULTS=${1:-60} SEED=${2:-1}
RESULTS=$PWD/out/mutation
COPY=$RESULTS/checkout
export SDRS_CACHE=off

rm -rf "$RESULTS"
mkdir -p "$COPY/out"
cp -a .git Makefile assets docs examples python scenes scripts src tests README.md LICENSE CITATION.cff mkdocs.yml sdrs "$COPY"
cp -a out/build out/lib "$COPY/out"
if [[ -d out/node ]]; then ln -s "$PWD/out/node" "$COPY/out/node"; fi
cd "$COPY" || exit 1

# Prints KIND LINE, and writes the file with the fault; fails when nothing in the file can be changed.
plant() { # file, seed
  python3 - "$@" <<'P'
import random
import re
import sys

KINDS = {
    "sign": (r"(?<=[\w)\]]) ([+-]) (?=[\w(])", lambda m: " - " if m[1] == "+" else " + "),
    "index": (r"\[(\w+)\]", lambda m: f"[{m[1]} + 1]" if not m[1].isdigit() else f"[{int(m[1]) ^ 1}]"),
    "bound": (r" (<=?|>=?) ", lambda m: f" {m[1][0]} " if m[1].endswith("=") else f" {m[1]}= "),
    "missing term": (r" [+-] [\w.]+(?:\[\w+\])?(?: \* [\w.]+(?:\[\w+\])?)*(?=;)", lambda m: ""),
}
path, seed = sys.argv[1:]
draw = random.Random(seed)
lines = open(path, encoding="utf-8").read().split("\n")
kind = draw.choice(list(KINDS))
pattern, change = KINDS[kind]
# Statements of functions: neither directives, comments, strings nor declarations of arrays.
places = [(k, m) for k, line in enumerate(lines) if line.startswith("  ") and '"' not in line
          and not re.match(r"\s*(//|/\*|\*|#|assert|(static |const |enum )*(double|int|size_t|char|bool|Vec3|Mat3) \w+\[)", line)
          for m in re.finditer(pattern, line)]
if not places:
    sys.exit(1)
k, m = draw.choice(places)
lines[k] = lines[k][:m.start()] + change(m) + lines[k][m.end():]
open(path, "w", encoding="utf-8").write("\n".join(lines))
print(f"{kind},{k + 1}")
P
}

# The tests in the order of their cost: unit tests of the folder first.
tests_of() { # folder of the fault
  local source
  for source in "tests/unit/$1"/test_*.c tests/unit/*/test_*.c tests/property/test_*.c tests/determinism/test_*.c tests/gradient/test_*.c; do
    [[ -e $source ]] && echo "out/build/check/${source%.c}"
  done | awk '!seen[$0]++'
  echo "tests/cli/run.sh"
  echo "scripts/update_golden.sh --check"
}

# Prints the first test that fails.
first_failure() { # folder
  local test
  export SDRS=out/build/check/sdrs
  while read -r test; do
    # shellcheck disable=SC2086
    if ! OPENBLAS_NUM_THREADS=1 timeout 300 $test </dev/null >"$RESULTS/log" 2>&1; then
      echo "${test#out/build/check/tests/}"
      return
    fi
  done < <(tests_of "$1")
}

echo "number,kind,file,line,short,long" >"$RESULTS/faults.csv"
mapfile -t sources < <(find src -mindepth 2 -name '*.c' | sort)
number=0 found=0 found_long=0 draw=0
while ((number < FAULTS)); do
  draw=$((draw + 1))
  file=${sources[$(awk -v seed="$SEED.$draw" -v n="${#sources[@]}" 'BEGIN { srand(seed * 1000); print int(rand() * n) }')]}
  cp "$file" "$RESULTS/kept"
  object=out/build/check/${file%.c}.o
  before=$(sha256sum <"$object")
  what=$(plant "$file" "$SEED/$draw") || continue
  if make -s FLAVOUR=check "$object" >"$RESULTS/build" 2>&1 && [[ $(sha256sum <"$object") != "$before" ]] &&
    make -s FLAVOUR=check program unit-tests other-tests >"$RESULTS/build" 2>&1; then
    number=$((number + 1))
    folder=${file#src/} folder=${folder%%/*}
    short=$(unset SDRS_LONG && first_failure "$folder") more=$short
    if [[ -z $short ]] && ((long)); then more=$(export SDRS_LONG=1 && first_failure "$folder"); fi
    if [[ -n $short ]]; then found=$((found + 1)); fi
    if [[ -n $more ]]; then found_long=$((found_long + 1)); fi
    echo "$number,${what%,*},$file,${what#*,},$short,$more" | tee -a "$RESULTS/faults.csv"
  fi
  cp "$RESULTS/kept" "$file"
done
echo "short check: $found of $number found"
if ((long)); then echo "long check: $found_long of $number found"; fi
