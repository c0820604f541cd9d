#!/bin/bash
# Tests of the command line, one folder a case:
#   cmd           bash; runs in an empty folder that holds the case's other files and those of shared/, `sdrs` on PATH
#   exit          expected exit code (default 0)
#   stdout.exact  expected standard output (default: nothing), or stdout.glob: a shell pattern for all of it
#   stderr.glob   shell pattern for all of standard error (default: nothing)
#   long          empty: the case runs when SDRS_LONG is set (`make check-all`) or it is named
# In cmd, $ROOT is the project's folder. Usage: tests/cli/run.sh [CASE...]; the program is $SDRS (default ./sdrs).
# Prints one line a case and `N passed, N failed`; exits 1 when one failed.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/support/cpu.sh
. tests/support/cpu.sh

ROOT=$PWD
SDRS=$(realpath "${SDRS:-./sdrs}")
LIMIT=720 # seconds until a case that hangs is ended
export ROOT
if [[ ! -x $SDRS ]]; then
  echo "tests/cli/run.sh: no program at $SDRS: run make first"
  exit 1
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$SDRS" "$work/bin/sdrs"
if [[ -x /usr/bin/python3 ]]; then ln -s /usr/bin/python3 "$work/bin/python3"; fi # Debian's, as in tests/run.sh

# The same surroundings for every case.
export PATH=$work/bin:$PATH LC_ALL=C TERM=dumb
export XDG_CACHE_HOME=$work/cache
unset NO_COLOR OMP_NUM_THREADS SDRS_CACHE

# matches TEXT PATTERN: does the shell pattern cover the whole text?
matches() {
  # shellcheck disable=SC2053
  [[ $1 == $2 ]]
}

differences() { # case folder, folder of what came out, exit code; prints what is wrong
  local expected=0
  [[ -e $1/exit ]] && expected=$(<"$1/exit")
  [[ $3 == "$expected" ]] || echo "exit code $3, expected $expected"
  if [[ -e $1/stdout.glob ]]; then
    matches "$(<"$2/stdout")" "$(<"$1/stdout.glob")" || printf 'standard output does not match:\n%s\n' "$(<"$2/stdout")"
  elif [[ -e $1/stdout.exact ]]; then
    diff "$1/stdout.exact" "$2/stdout" >"$2/diff" || printf 'standard output (< expected, > got):\n%s\n' "$(<"$2/diff")"
  elif [[ -s $2/stdout ]]; then
    printf 'standard output should be empty:\n%s\n' "$(head -c 2000 "$2/stdout")"
  fi
  if [[ -e $1/stderr.glob ]]; then
    matches "$(<"$2/stderr")" "$(<"$1/stderr.glob")" || printf 'standard error does not match:\n%s\n' "$(<"$2/stderr")"
  elif [[ -s $2/stderr ]]; then
    printf 'standard error should be empty:\n%s\n' "$(head -c 2000 "$2/stderr")"
  fi
}

run_case() { # case folder; prints what is wrong
  local place=$work/run
  rm -rf "$place" "$work/result"
  mkdir -p "$place" "$work/result"
  cp -r tests/cli/shared/. "$1"/. "$place"
  (cd "$place" && timeout -k 5 "$LIMIT" bash ./cmd </dev/null >"$work/result/stdout" 2>"$work/result/stderr")
  differences "$1" "$work/result" $?
}

if (($# > 0)); then
  cases=("${@/#/tests/cli/}")
else
  cases=(tests/cli/*/)
  if [[ -z ${SDRS_LONG:-} ]]; then
    for folder in "${!cases[@]}"; do
      if [[ -e ${cases[folder]}/long ]]; then unset "cases[folder]"; fi
    done
  fi
fi

passed=0 failed=0
cpu_read
for folder in "${cases[@]}"; do
  folder=${folder%/}
  [[ $folder == tests/cli/shared ]] && continue
  if [[ ! -e $folder/cmd ]]; then
    problem="no file cmd"
  else
    problem=$(run_case "$folder")
  fi
  if [[ -z $problem ]]; then
    passed=$((passed + 1))
    cpu_spent
    echo "ok   ${folder#tests/cli/} ($SPENT cpu s)"
  else
    failed=$((failed + 1))
    cpu_spent
    echo "FAIL ${folder#tests/cli/} ($SPENT cpu s)"
    printf "     %s\n" "${problem//$'\n'/$'\n     '}"
  fi
done
echo "$passed passed, $failed failed"
((failed == 0))
