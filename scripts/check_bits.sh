#!/bin/bash
# Are results the same to the bit on every x86-64 processor? Runs the first steps of every shipped scene and the first
# iterations of every task, of identify too, as libraries behave on other processors, and compares all numbers of the run folders:
#   LD_PRELOAD=.../libopenblas.so.0     an OpenBLAS in the process, whose functions must not take the place of LAPACK's in
#                                       the program; OPENBLAS_CORETYPE=...: the kernels that it takes there
#   GLIBC_TUNABLES=glibc.cpu.hwcaps=... the code that the C library takes there
#   scripts/check_bits.sh [--long] [NAME...]   NAME: a scene or task (slide, tasks/pinch, identify/arm); default: all
#   scripts/check_bits.sh --oldest             print the setting of the oldest processor, a variable a line
# --long: all settings, more steps and iterations, scenes too (update_golden.sh --check runs them as on the oldest processor); else two settings. Another program to compare with (built for another processor): $SDRS_OTHER.
# The program is $SDRS (default ./sdrs). Prints one line a run and `N passed, N failed`; exits 1 when one failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/support/cpu.sh
. tests/support/cpu.sh

SDRS=${SDRS:-./sdrs}
RUNS=out/bits
OPENBLAS=$(ldconfig -p | awk '$1 == "libopenblas.so.0" { print $NF; exit }')
SETTINGS=(
  ""
  ${OPENBLAS:+"LD_PRELOAD=$OPENBLAS OPENBLAS_CORETYPE=Haswell"}
  ${OPENBLAS:+"LD_PRELOAD=$OPENBLAS OPENBLAS_CORETYPE=Zen"}
  "GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-AVX2"
  "${OPENBLAS:+LD_PRELOAD=$OPENBLAS OPENBLAS_CORETYPE=Prescott }GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4,-AVX,-AVX2,-AVX512F,-SSE4_1,-SSE4_2"
)
# Without --long: as here, and as on the oldest of them, where both libraries take other code.
SHORT_SETTINGS=("" "${SETTINGS[-1]}")
STEPS=12 ITERATIONS=1
# With --long only: those whose iteration takes a second and more, and those whose like another task shows. Their scenes are run in any case.
LONG_ONLY=' tasks/single-jaw tasks/billiards tasks/choose tasks/spider tasks/grasp-free tasks/reach tasks/biped-single tasks/push tasks/follow tasks/fin tasks/spider-heading tasks/biped tasks/parallel-jaw tasks/gather tasks/hand tasks/sort tasks/push-centred tasks/ant-push '
export SDRS_CACHE=off # hulls are found anew each time
if [[ ${1:-} == --oldest ]]; then
  tr ' ' '\n' <<<"${SETTINGS[-1]}"
  exit
fi
unset LD_PRELOAD OPENBLAS_CORETYPE GLIBC_TUNABLES
if [[ ! $OPENBLAS ]]; then echo "SKIP runs beside OpenBLAS: no libopenblas.so.0 here"; fi

if [[ ! -x $SDRS ]]; then
  echo "check_bits.sh: no program at $SDRS: run make first"
  exit 1
fi
if [[ ${1:-} == --long ]]; then
  shift
  STEPS=150 ITERATIONS=5 LONG_ONLY=''
elif [[ -z ${SDRS_LONG:-} ]]; then
  SETTINGS=("${SHORT_SETTINGS[@]}")
else
  LONG_ONLY=''
fi

# run_in FOLDER NAME PROGRAM SETTING...
run_in() {
  local folder=$1 name=$2 program=$3
  shift 3
  if [[ $name == identify/* ]]; then # what the data cannot tell is no fault
    env "$@" "$program" identify "scenes/$name.yaml" -q -o "$folder" --threads 1 --iterations "$ITERATIONS" 2>/dev/null
  elif [[ $name == tasks/* && $name != *-scene ]]; then
    env "$@" "$program" optimize "scenes/$name.yaml" -q -o "$folder" --threads 1 --iterations "$ITERATIONS"
  else
    env "$@" "$program" simulate "scenes/$name.yaml" -q -o "$folder" --threads 1 --steps "$STEPS"
  fi
}

# Everything but what tells times, the machine or the commit of the program.
digest_of() { # folder
  (
    cd "$1" || exit 1
    find . -type f ! -name summary.json ! -name '*.png' ! -name checkpoint ! -name convergence.csv ! -name windows.csv ! -name identify.json | LC_ALL=C sort | xargs sha256sum
    find . -name identify.json | while read -r file; do sed '/^ *"commit":/d' "$file" | sha256sum; done
    find . \( -name convergence.csv -o -name windows.csv \) | LC_ALL=C sort | while read -r table; do without_seconds "$table" | sha256sum; done
  ) | sha256sum
}

# The columns of a table but the one named `seconds`.
without_seconds() { # file
  awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "seconds") skip = i } skip { $skip = "" } { print }' "$1"
}

check_run() { # name; prints what is wrong
  local name=$1 setting wanted="" got folder=$RUNS/$1
  local -a words
  rm -rf "${folder:?}"
  for setting in "${SETTINGS[@]}" ${SDRS_OTHER:+other}; do
    rm -rf "${folder:?}"
    read -ra words <<<"$setting"
    if [[ $setting == other ]]; then
      run_in "$folder" "$name" "$SDRS_OTHER" >/dev/null || { echo "fails with $SDRS_OTHER"; continue; }
    else
      run_in "$folder" "$name" "$SDRS" "${words[@]}" >/dev/null || { echo "fails with ${setting:-no setting}"; continue; }
    fi
    got=$(digest_of "$folder")
    if [[ -z $wanted ]]; then wanted=$got; fi
    if [[ $got != "$wanted" ]]; then echo "other numbers with $setting"; fi
  done
}

names=("$@")
if (($# == 0)); then
  for file in scenes/*.yaml scenes/tasks/*.yaml; do
    grep -q out/meshes "$file" && continue # made of meshes that are not shipped
    name=${file#scenes/} name=${name%.yaml}
    if [[ $LONG_ONLY && ($name != tasks/* || $name == *-scene || $LONG_ONLY == *" $name "*) ]]; then continue; fi
    names+=("$name")
  done
  names+=(identify/arm identify/pendulum identify/pushed) # those whose data are shipped
fi
mkdir -p "$RUNS/tasks" "$RUNS/identify"
passed=0 failed=0
cpu_read
# A program built where processors have fused operations must not use them.
fused=$(objdump -d --no-show-raw-insn "$SDRS" | grep -cE '[[:space:]]vfn?m(add|sub)')
if ((fused == 0)); then
  passed=1
  echo "ok   no fused operations"
else
  failed=1
  echo "FAIL $fused fused operations in $SDRS: built with other flags than the Makefile's?"
fi
for name in "${names[@]}"; do
  problem=$(check_run "$name" 2>&1)
  if [[ -z $problem ]]; then
    passed=$((passed + 1))
    cpu_spent
    echo "ok   $name ($SPENT cpu s)"
  else
    failed=$((failed + 1))
    cpu_spent
    echo "FAIL $name ($SPENT cpu s)"
    printf '     %s\n' "${problem//$'\n'/$'\n     '}"
  fi
done
echo "$passed passed, $failed failed"
((failed == 0))
