#!/bin/bash
# Runs tests and counts them, one count per case.
#   tests/run.sh [-j JOBS] [-t SECONDS] TEST...
# A TEST is a cmocka program, or a script with its arguments in one word. A script ends with `N passed, N failed`, or
# counts as one test by its exit code. A crash, a timeout or a sanitizer's report is a failure of its own. SECONDS (default
# 1800) end what hangs: many times what a test takes, so that a busy machine fails none. (A limit of processor time would
# do it better, but under one Linux tells processor time in ticks of 1 ms and more, and `bench` measures with it.)
# Each log is kept in out/tests/. Prints the logs of failures, then `N passed, N failed`; exits 1 when one failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

LOGS=out/tests
SHOWN_LINES=80

# count LOG PATTERN: sum of the numbers in what matches PATTERN (Perl, the number after \K)
count() { grep -aoP "$2" "$1" | awk '{ sum += $1 } END { print sum + 0 }'; }

# cmocka's own summary; without one (the program died) the cases that had ended.
count_cmocka() { # log, exit code; sets passed, failed, skipped
  passed=$(count "$1" '\[  PASSED  \] \K[0-9]+(?= test)')
  failed=$(count "$1" '\[  FAILED  \] \K[0-9]+(?= test)')
  skipped=$(count "$1" '\[  SKIPPED \] \K[0-9]+(?= test)')
  if ! grep -aq '\[==========\] [0-9]* test(s) run' "$1"; then
    passed=$(grep -ac '\[       OK \]' "$1")
    failed=1
  fi
  if (($2 != 0 && failed == 0)); then failed=1; fi
  if ((passed + failed + skipped == 0)); then failed=1; fi # it ran nothing
}

count_script() { # log, exit code
  local line
  line=$(grep -aoE '^[0-9]+ passed, [0-9]+ failed' "$1" | tail -n 1)
  passed=$(($2 == 0)) failed=$(($2 != 0)) skipped=0
  if [[ -n $line ]]; then
    read -r passed _ failed _ <<<"$line"
    if (($2 != 0 && failed == 0)); then failed=1; fi
    skipped=$(grep -acE '^(SKIP|skip)' "$1")
  fi
}

exit_reason() { # exit code, whole seconds it took
  if (($1 == 0)); then return; fi
  if (($2 >= TIMEOUT)); then
    echo ", stopped after $TIMEOUT s"
  elif (($1 > 128)); then
    echo ", signal $(kill -l "$(($1 - 128))")"
  else
    echo ", exit $1"
  fi
}

run_one() {
  local -a command
  read -ra command <<<"$1"
  local name=${1#out/build/} code seconds passed failed skipped
  name=${name//[^A-Za-z0-9_.=-]/_}
  local log=$LOGS/$name.log
  local start=$EPOCHREALTIME
  if [[ ${command[0]} == *.sh ]]; then
    timeout -k 10 "$TIMEOUT" "${command[@]}" </dev/null >"$log" 2>&1
    code=$?
    count_script "$log" $code
  else
    # One thread for BLAS, as in the program itself.
    OPENBLAS_NUM_THREADS=1 timeout -k 10 "$TIMEOUT" "${command[@]}" </dev/null >"$log" 2>&1
    code=$?
    count_cmocka "$log" $code
  fi
  echo "$passed $failed $skipped $log" >"$LOGS/$name.count"
  seconds=$(awk "BEGIN { print $EPOCHREALTIME - $start }")
  printf '%-4s %4d passed %3d failed %6.1f s  %s%s\n' "$( ((failed)) && echo FAIL || echo ok)" "$passed" "$failed" \
    "$seconds" "$1" "$(exit_reason $code "${seconds%.*}")"
}

if [[ ${1:-} == --one ]]; then
  run_one "$2"
  exit 0
fi

jobs=2 TIMEOUT=1800
while getopts j:t: option; do
  case $option in
    j) jobs=$OPTARG ;;
    t) TIMEOUT=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))

export TIMEOUT
export SDRS_CACHE=off # nothing is left in a home
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=0:ignore_noninstrumented_modules=1}

rm -rf "$LOGS"
mkdir -p "$LOGS"
if (($# > 0)); then
  printf '%s\0' "$@" | xargs -0 -n 1 -P "$jobs" tests/run.sh --one
fi

passed=0 failed=0 skipped=0
for counts in "$LOGS"/*.count; do
  [[ -e $counts ]] || break
  read -r p f s log <"$counts"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  if ((f > 0)); then
    printf '\n---- %s (last %d lines)\n' "$log" "$SHOWN_LINES"
    tail -n "$SHOWN_LINES" "$log" | tr -d '\000'
  fi
done
# A test that left no count was itself killed.
lost=$(($# - $(find "$LOGS" -name '*.count' | wc -l)))
if ((lost > 0)); then failed=$((failed + lost)); echo "$lost tests left no result"; fi
if ((skipped > 0)); then echo "$skipped skipped: grep -rl SKIP $LOGS"; fi
echo "$passed passed, $failed failed"
((failed == 0))
