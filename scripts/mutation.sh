#!/bin/bash
# How many seeded one-line faults in src do the tests find? Each fault is put into a copy of the checkout, the check flavour is
# built, and tests run until one fails. A fault that does not compile, or leaves the object as it was, is drawn anew.
#   scripts/mutation.sh [--long] [FAULTS [SEED]]   defaults 60, 1; --long: faults that the short check misses run in the long form too
# Writes out/mutation/faults.csv (number, kind, file, line, found by) and prints the rates. A test that fails without the fault as
# well finds nothing. Tests that start other programs (MuJoCo, browsers, mpirun) and sanitized ones are left out.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

long=0
if [[ ${1:-} == --long ]]; then long=1 && shift; fi
FAULTS=${1:-60} SEED=${2:-1}
ROOT=$PWD RESULTS=$PWD/out/mutation
COPY=$RESULTS/checkout
LIMIT=600 # seconds until a test that hangs is ended, which finds the fault
export SDRS_CACHE=off OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive FLAVOUR=check SDRS=out/build/check/sdrs
if [[ -x out/bin/python3 ]]; then export PATH=$PWD/out/bin:$PATH; fi # as in tests/run.sh

make -s FLAVOUR=check program unit-tests other-tests || exit 1
rm -rf "$RESULTS"
mkdir -p "$COPY/out/build"
cp -a .git Makefile assets docs examples python scenes scripts src tests README.md CONTRIBUTING.md LICENSE CITATION.cff mkdocs.yml "$COPY"
cp -a out/build/check out/build/libraries "$COPY/out/build"
cd "$COPY" || exit 1

# Writes the file with a fault drawn among all statements of src, and prints KIND,FILE,LINE.
plant() { # seed
  python3 - "$1" <<'P'
import pathlib
import random
import re
import sys

KINDS = {
    "sign": (r"(?<=[\w)\]]) ([+-]) (?=[\w(])", lambda m: " - " if m[1] == "+" else " + "),
    "index": (r"\[(\w+)\]", lambda m: f"[{m[1]} + 1]" if not m[1].isdigit() else f"[{int(m[1]) ^ 1}]"),
    "bound": (r" (<=?|>=?) ", lambda m: f" {m[1][0]} " if m[1].endswith("=") else f" {m[1]}= "),
    "missing term": (r" [+-] [\w.]+(?:\[\w+\])?(?: \* [\w.]+(?:\[\w+\])?)*(?=;)", lambda m: ""),
}
draw = random.Random(int(sys.argv[1]))
kind = draw.choice(list(KINDS))
pattern, change = KINDS[kind]
# Neither directives, comments, strings, assertions nor declarations of arrays.
skipped = re.compile(r"\s*(//|/\*|\*|#|assert|(static |const |enum )*(double|int|size_t|char|bool|Vec3|Mat3) \w+\[)")
places = []
for path in sorted(pathlib.Path("src").glob("*/*.c")):
    for k, line in enumerate(path.read_text().split("\n")):
        if line.startswith("  ") and '"' not in line and not skipped.match(line):
            places += [(path, k, m) for m in re.finditer(pattern, line)]
path, k, m = draw.choice(places)
lines = path.read_text().split("\n")
lines[k] = lines[k][:m.start()] + change(m) + lines[k][m.end():]
path.write_text("\n".join(lines))
print(f"{kind},{path},{k + 1}")
P
}

# Tests, one a line, those of the fault's folder first, then as they take longer.
tests_of() { # folder of the fault
  local source test
  {
    for source in tests/unit/*/test_*.c tests/property/test_*.c tests/determinism/test_*.c tests/gradient/test_*.c; do
      test=out/build/check/${source%.c}
      local log=${test#out/build/} spent=1
      log=$ROOT/out/tests/${log//[^A-Za-z0-9_.=-]/_}.cpu
      if [[ -e $log ]]; then spent=$(cut -d ' ' -f 1 "$log"); fi
      if [[ $source == "tests/unit/$1/"* ]]; then spent=0; fi
      echo "$spent $test"
    done | sort -n -s -k 1,1 | cut -d ' ' -f 2
    echo "tests/physics/run.sh"
    echo "tests/variables/run.sh"
    echo "scripts/update_golden.sh --check"
    for test in tests/cli/*/cmd; do
      test=${test%/cmd}
      if [[ -z ${SDRS_LONG:-} && -e $test/long ]]; then continue; fi
      echo "tests/cli/run.sh ${test##*/}"
    done
  }
}

passes() { # checkout, test; as it is called there
  # shellcheck disable=SC2086
  (cd "$1" && timeout "$LIMIT" $2 </dev/null >"$RESULTS/log" 2>&1)
}

# Prints the first test that fails here, and not in the checkout without the fault.
first_failure() { # folder
  local test
  while read -r test; do
    if passes . "$test" || ! passes "$ROOT" "$test"; then continue; fi
    test=${test#out/build/check/tests/} && echo "${test// /:}"
    return
  done < <(tests_of "$1")
}

echo "number,kind,file,line,short,long" >"$RESULTS/faults.csv"
number=0 found=0 found_long=0 draw=0
while ((number < FAULTS)); do
  draw=$((draw + 1))
  fault=$(plant $((1000 * SEED + draw))) || exit 1
  file=${fault#*,} file=${file%,*}
  object=out/build/check/${file%.c}.o
  before=$(sha256sum <"$object")
  if make -s FLAVOUR=check "$object" >"$RESULTS/build" 2>&1 && [[ $(sha256sum <"$object") != "$before" ]] &&
    make -s FLAVOUR=check program unit-tests other-tests >"$RESULTS/build" 2>&1; then
    number=$((number + 1))
    folder=${file#src/} folder=${folder%%/*}
    short=$(unset SDRS_LONG && first_failure "$folder") more=$short
    if [[ -z $short ]] && ((long)); then more=$(export SDRS_LONG=1 && first_failure "$folder"); fi
    if [[ -n $short ]]; then found=$((found + 1)); fi
    if [[ -n $more ]]; then found_long=$((found_long + 1)); fi
    echo "$number,$fault,$short,$more" | tee -a "$RESULTS/faults.csv"
  fi
  cp "$ROOT/$file" "$file"
  make -s FLAVOUR=check "$object" || exit 1
done
echo "short check: $found of $number found"
if ((long)); then echo "long check: $found_long of $number found"; fi
