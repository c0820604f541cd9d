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

# read_file FILE: sets TEXT to it up to a zero byte; fails when there is one. No process is started: each takes 10 ms.
read_file() { ! IFS= read -rd '' TEXT <"$1"; }

# matches FILE PATTERN_FILE: does the shell pattern cover the whole text? Newlines at the end of both are left out.
matches() {
  local text pattern
  read_file "$1"
  text=${TEXT%"${TEXT##*[!$'\n']}"}
  read_file "$2"
  pattern=${TEXT%"${TEXT##*[!$'\n']}"}
  # shellcheck disable=SC2053
  [[ $text == $pattern ]]
}

same() { # file, file; one with a zero byte is the same as none
  local text
  read_file "$1" || return 1
  text=$TEXT
  read_file "$2" && [[ $text == "$TEXT" ]]
}

add() { problem+=${problem:+$'\n'}$1; }

differences() { # case folder, path of what came out without its ending, exit code; adds what is wrong to problem
  local expected=0
  if [[ -e $1/exit ]]; then read -r expected <"$1/exit"; fi
  [[ $3 == "$expected" ]] || add "exit code $3, expected $expected"
  if [[ -e $1/stdout.glob ]]; then
    matches "$2.stdout" "$1/stdout.glob" || add $'standard output does not match:\n'"$(<"$2.stdout")"
  elif [[ -e $1/stdout.exact ]]; then
    same "$1/stdout.exact" "$2.stdout" || diff "$1/stdout.exact" "$2.stdout" >"$2.diff" || add $'standard output (< expected, > got):\n'"$(<"$2.diff")"
  elif [[ -s $2.stdout ]]; then
    add $'standard output should be empty:\n'"$(head -c 2000 "$2.stdout")"
  fi
  if [[ -e $1/stderr.glob ]]; then
    matches "$2.stderr" "$1/stderr.glob" || add $'standard error does not match:\n'"$(<"$2.stderr")"
  elif [[ -s $2.stderr ]]; then
    add $'standard error should be empty:\n'"$(head -c 2000 "$2.stderr")"
  fi
}

run_case() { # case folder; adds what is wrong to problem
  local place=$work/cases/${1##*/} result=$work/results/${1##*/} code=0
  (cd "$place" && exec timeout -k 5 "$LIMIT" bash ./cmd </dev/null >"$result.stdout" 2>"$result.stderr") || code=$?
  differences "$1" "$result" "$code"
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

# One process makes the folders of all cases.
mkdir "$work/cases" "$work/results"
printf '%s\n' "${cases[@]}" | /usr/bin/env python3 -ES -c '
import os, shutil, sys
for case in map(str.rstrip, sys.stdin):
    place = os.path.join(sys.argv[1], os.path.basename(case.rstrip("/")))
    if os.path.isdir(case):
        shutil.copytree("tests/cli/shared", place, symlinks=True, dirs_exist_ok=True)
        shutil.copytree(case, place, symlinks=True, dirs_exist_ok=True)
' "$work/cases" || exit 1

passed=0 failed=0
cpu_read
for folder in "${cases[@]}"; do
  folder=${folder%/}
  [[ $folder == tests/cli/shared ]] && continue
  if [[ ! -e $folder/cmd ]]; then
    problem="no file cmd"
  else
    problem=
    run_case "$folder"
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
