#!/bin/bash
# The Python package: its unit tests and the examples of docs/python.md (its wheel: tests/packages/run.sh). By the first
# Python that has numpy: $PYTHON, python3, /usr/bin/python3. Prints a line a test and `N passed, N failed`.
set -uo pipefail
# shellcheck source=tests/support/check.sh disable=SC1091
. "$(dirname "$0")/../support/check.sh"

for python in "${PYTHON:-python3}" /usr/bin/python3; do
  if "$python" -c 'import numpy' 2>/dev/null; then break; fi
  python=
done
if [[ -z $python ]]; then
  echo "SKIP python: no Python with numpy (Debian: python3-numpy)"
  echo "0 passed, 0 failed"
  exit 0
fi
export PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1

# The counts that unittest prints; a test file that needs what is not there skips itself as a whole.
unit_tests() { # file
  local log=$work/$1.log code=0 ran skipped broken
  (cd python/tests && exec "$python" -m unittest discover -v -s . -p "$1.py") >"$log" 2>&1 || code=$?
  ran=$(sed -n 's/^Ran \([0-9]*\) tests\{0,1\} in.*/\1/p' "$log")
  skipped=$(grep -ac '\.\.\. skipped' "$log")
  broken=$(grep -acE '^(ERROR|FAIL): ' "$log")
  if ((code != 0 && broken == 0)) && ! grep -q 'NO TESTS RAN' "$log"; then broken=1; fi
  grep -a '\.\.\. skipped' "$log" | sed "s/.*skipped ['\"]\(.*\)['\"]$/SKIP $1: \1/"
  grep -a '^test_.* takes its place' "$log"
  passed=$((passed + ${ran:-0} - skipped - broken > 0 ? passed + ${ran:-0} - skipped - broken : passed))
  failed=$((failed + broken))
  if ((broken)); then
    echo "FAIL $1"
    sed 's/^/     /' "$log" | tail -n 60
  else
    echo "ok   $1: $((${ran:-0} - skipped)) tests"
  fi
}

for file in python/tests/test_*.py; do unit_tests "$(basename "$file" .py)"; done
check examples-of-the-page "$python" tests/python/page.py
check_end
