#!/bin/bash
# Builds and tests: `make check`, or all that there is with --all (`make check-all`).
#   scripts/check.sh [--all]
# `make check` builds one program and library, those of the flavour check, and the scripts of tests use them; `make check-all` uses the release.
# Ends with the processor time by step and `N passed, N failed`; exits 1 when one failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

MAKE=${MAKE:-make}
TEST_JOBS=${TEST_JOBS:-2}
BUILDS=out/builds.cpu # lines `STEP SECONDS`
TIMEFORMAT='%U %S'
all=0
if [[ ${1:-} == --all ]]; then all=1; fi

# build NAME ARGUMENT...: a make of its own, whose time is counted
build() {
  local name=$1 code spent
  shift
  { time "$MAKE" --no-print-directory "$@" 2>&19; } 19>&2 2>out/build.time # 3 and 4 are those of make's own jobs
  code=$?
  spent=$(awk 'END { print $1 + $2 }' out/build.time)
  echo "build-$name $spent" >>"$BUILDS"
  return $code
}

# The tests of a flavour in FOLDER...
programs() { # flavour, folder...
  local flavour=$1 folder source
  for folder in "${@:2}"; do
    for source in "$folder"/test_*.c; do
      if [[ -e $source ]]; then echo "out/build/$flavour/${source%.c}"; fi
    done
  done
}

# Folders of the unit tests that the flavour `readers` is built for.
reader_folders() {
  sed -n 's/^READERS := //p' Makefile | tr ' ' '\n' | sed 's|^|tests/unit/|'
}

mkdir -p out
rm -f "$BUILDS"
if ((all)); then
  export SDRS_LONG=1
  scripts/deps.sh long || exit 1
else
  scripts/deps.sh check || exit 1
fi
scripts/make_page.sh --fetch
if ((all)); then
  build release FLAVOUR=release WERROR=1 program library || exit 1
  build check FLAVOUR=check program unit-tests other-tests || exit 1
else
  # Programs of long tests are built, not run: a renamed function must not break them unnoticed.
  build check FLAVOUR=check program library unit-tests other-tests long-tests || exit 1
  # For the scripts of tests, and the makes that they start.
  export FLAVOUR=check SDRS=$PWD/out/build/check/sdrs LIB=out/build/check/lib
  export SDRS_LIBRARY=$PWD/$LIB/libsdrs.so
  build readers FLAVOUR=readers reader-tests fuzzers || exit 1
fi

tests=(
  tests/cli/run.sh tests/documents/run.sh "scripts/update_golden.sh --check" scripts/check_bits.sh tests/library/run.sh
  tests/python/run.sh tests/door/*.sh tests/mujoco/run.sh tests/mpi/run.sh
  tests/gltf/run.sh tests/variables/run.sh tests/page/run.sh tests/view/run.sh tests/rigid_ipc/run.sh tests/ccd/run.sh
  tests/meshes/run.sh tests/physics/run.sh
)
mapfile -t readers < <(reader_folders)
folders=(tests/gradient tests/property tests/determinism)
for folder in tests/unit/*; do # the readers' tests run sanitized alone, but for --all
  if ((all)) || [[ " ${readers[*]} " != *" $folder "* ]]; then folders+=("$folder"); fi
done
mapfile -t -O "${#tests[@]}" tests < <(programs check "${folders[@]}")
keep=()
if ((all)); then
  limit=7200 slow=0
  build check FLAVOUR=check long-tests || exit 1
  build asan FLAVOUR=asan program unit-tests other-tests || exit 1
  build tsan FLAVOUR=tsan unit-tests other-tests || exit 1
  build fuzz FLAVOUR=fuzz fuzzers || exit 1
  mapfile -t -O "${#tests[@]}" tests < <(
    printf '%s\n' tests/packages/run.sh tests/mujoco/current.sh tests/long/*.sh
    programs check tests/long
    programs asan tests/gradient tests/property tests/determinism tests/unit/*
    programs tsan tests/gradient tests/property tests/determinism tests/unit/*
    for fuzzer in tests/fuzz/fuzz_*.c; do echo "tests/fuzz/run.sh out/build/fuzz/${fuzzer%.c}"; done
    echo "scripts/lint.sh --all"
  )
else
  limit=1800 slow=20 keep=(-k)
  mapfile -t -O "${#tests[@]}" tests < <(
    programs readers "${readers[@]}"
    for fuzzer in tests/fuzz/fuzz_*.c; do # their files alone; this flavour does not sanitize src/decompose
      [[ $fuzzer == */fuzz_decompose.c ]] || echo "tests/fuzz/run.sh out/build/readers/${fuzzer%.c}"
    done
  )
fi
exec tests/run.sh "${keep[@]}" -j "$TEST_JOBS" -t "$limit" -s "$slow" -b "$BUILDS" "${tests[@]}"
