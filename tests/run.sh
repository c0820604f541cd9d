#!/bin/bash
# Runs tests and counts them, one count per case.
#   tests/run.sh [-k] [-j JOBS] [-t SECONDS] [-s SLOW] [-b BUILDS] TEST...
# A TEST is a cmocka program, or a script with its arguments in one word. A script ends with `N passed, N failed`, or
# counts as one test by its exit code. A crash, a timeout or a sanitizer's report is a failure of its own. SECONDS (default
# 1800) end what hangs: many times what a test takes, so that a busy machine fails none. (A limit of processor time would
# do it better, but under one Linux tells processor time in ticks of 1 ms and more, and `bench` measures with it.)
# Processor time is counted: a script prints `(N cpu s)` after each of its cases, or is one case. With -s a case
# above SLOW seconds fails unless tests/slow lists it. BUILDS is a file of lines `STEP SECONDS` that are added to the sums.
# With -k a program that has passed is not run again while its binary and all files outside src/ are the same: its result
# is that in out/build/passed/. (An archive member that changed without being linked leaves the binary the same.)
# Each log is kept in out/tests/. Prints the logs of failures, the slowest cases, the processor time by step, then
# `N passed, N failed`; exits 1 when one failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

LOGS=out/tests
SHOWN_LINES=80
export TIMEFORMAT='%U %S'

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

# The step that a test belongs to: a flavour's unit tests, another folder of tests, a script.
step_of() { # test
  local name=${1%% *}
  case $name in
    out/build/check/tests/*) name=${name#out/build/check/tests/} && echo "${name%%/*}" ;;
    out/build/*) name=${name#out/build/} && echo "${name%%/*}" ;;
    tests/*) name=${name#tests/} && echo "${name%%/*}" ;;
    *) name=${name##*/} && echo "${name%.sh}" ;;
  esac
}

# Lines `SECONDS CASE`: the cases that a script tells with their time, else the test as a whole.
cases_of() { # test, log, processor time
  local name=${1#out/build/} found
  found=$(sed -nE "s#^(ok  |FAIL) (.*) \\(([0-9.]+) cpu s\\)\$#\\3 $(step_of "$1")/\\2#p" "$2")
  echo "${found:-$3 $name}"
}

# Hash of what a program can read: all files outside src/. C sources are compiled into the programs. Empty without git.
inputs() {
  git rev-parse --git-dir >/dev/null 2>&1 || return
  { echo "${SDRS_LONG:-}"; git ls-files -z -co --exclude-standard -- . ':!src' ':!*.[ch]' | xargs -0 sha256sum 2>/dev/null; } | sha256sum
}

run_one() {
  local -a command
  read -ra command <<<"$1"
  local name=${1#out/build/} code seconds passed failed skipped
  name=${name//[^A-Za-z0-9_.=-]/_}
  local log=$LOGS/$name.log
  local start=$EPOCHREALTIME spent kept=out/build/passed/$name key=
  if [[ -n ${INPUTS:-} && ${command[0]} != *.sh ]]; then
    key="$(sha256sum <"${command[0]}") $INPUTS"
    if [[ $(cat "$kept.key" 2>/dev/null) == "$key" ]]; then
      cp "$kept.log" "$kept.count" "$LOGS"
      echo "0 $(step_of "$1")" >"$LOGS/$name.cpu"
      : >"$LOGS/$name.cases"
      echo "kept $1"
      return
    fi
  fi
  if [[ ${command[0]} == *.sh ]]; then
    { time timeout -k 10 "$TIMEOUT" "${command[@]}" </dev/null >"$log" 2>&1; } 2>"$LOGS/$name.cpu"
    code=$?
    count_script "$log" $code
  else
    # One thread for BLAS, as in the program itself.
    { time OPENBLAS_NUM_THREADS=1 timeout -k 10 "$TIMEOUT" "${command[@]}" </dev/null >"$log" 2>&1; } 2>"$LOGS/$name.cpu"
    code=$?
    count_cmocka "$log" $code
  fi
  spent=$(tail -n 1 "$LOGS/$name.cpu" | awk '{ print $1 + $2 }') # before it bash tells of a program that a signal ended
  echo "$passed $failed $skipped $log" >"$LOGS/$name.count"
  echo "$spent $(step_of "$1")" >"$LOGS/$name.cpu"
  cases_of "$1" "$log" "$spent" >"$LOGS/$name.cases"
  if [[ -n $key ]] && ((failed + skipped == 0)); then
    mkdir -p out/build/passed
    cp "$log" "$LOGS/$name.count" out/build/passed && echo "$key" >"$kept.key"
  fi
  seconds=$(awk "BEGIN { print $EPOCHREALTIME - $start }")
  printf '%-4s %4d passed %3d failed %6.1f s %6.1f cpu s  %s%s\n' "$( ((failed)) && echo FAIL || echo ok)" "$passed" \
    "$failed" "$seconds" "$spent" "$1" "$(exit_reason $code "${seconds%.*}")"
}

if [[ ${1:-} == --one ]]; then
  run_one "$2"
  exit 0
fi

jobs=2 TIMEOUT=1800 slow=0 builds=/dev/null INPUTS=
while getopts kj:t:s:b: option; do
  case $option in
    k) INPUTS=$(inputs) ;;
    j) jobs=$OPTARG ;;
    t) TIMEOUT=$OPTARG ;;
    s) slow=$OPTARG ;;
    b) builds=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))

export TIMEOUT INPUTS
export SDRS_CACHE=off # nothing is left in a home
export OMP_WAIT_POLICY=passive # threads that wait for others take no processor time
# The Python that scripts/deps.sh equips comes first: a version manager's wrapper takes half a second a start.
if [[ -x /usr/bin/python3 ]]; then
  mkdir -p out/bin
  ln -sfn /usr/bin/python3 out/bin/python3
  export PATH=$PWD/out/bin:$PATH
fi
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
# Cases that take longer than they may: tests/slow has lines `CASE SECONDS`, CASE the first word of its name.
while read -r seconds limit name; do
  failed=$((failed + 1))
  echo "FAIL $name took $seconds s of processor time, more than $limit: make it shorter, move it to the long tests, or list it in tests/slow"
done < <(cat "$LOGS"/*.cases | awk -v slow="$slow" '
  FILENAME == "tests/slow" { if ($1 !~ /^#/ && NF) allowed[$1] = $2; next }
  { seconds = $1; sub(/^[^ ]* /, ""); name = $1; sub(/:$/, "", name); limit = name in allowed ? allowed[name] : slow }
  slow > 0 && seconds > limit { print seconds, limit, $0 }' tests/slow -)
echo "slowest, processor time [s]:"
cat "$LOGS"/*.cases | sort -rn | head -n 10 | awk '{ seconds = $1; sub(/^[^ ]* /, ""); printf "%8.1f  %s\n", seconds, $0 }'
if ((skipped > 0)); then echo "$skipped skipped: grep -rl SKIP $LOGS"; fi
cat "$LOGS"/*.cpu | awk '
  { seconds = FILENAME == "-" ? $1 : $2; step = FILENAME == "-" ? $2 : $1 }
  { if (!(step in sum)) order[n++] = step; sum[step] += seconds; total += seconds }
  END {
    printf "cpu: %.0f s (", total
    for (i = 0; i < n; i++) printf "%s%s %.0f", i ? ", " : "", order[i], sum[order[i]]
    print ")"
  }' "$builds" -
echo "$passed passed, $failed failed"
((failed == 0))
