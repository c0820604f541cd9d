#!/bin/bash
# Layout, static analysis, include order, shell scripts; each check counts as one test.
# Prints the findings, then `N passed, N failed`; exits 1 when a check failed. Logs are kept in out/lint/.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

LOGS=out/lint
passed=0 failed=0

check() { # name, command...
  local name=$1 log=$LOGS/$1.log start=$SECONDS
  shift
  if "$@" >"$log" 2>&1; then
    passed=$((passed + 1))
    echo "ok   $name ($((SECONDS - start)) s)"
  else
    failed=$((failed + 1))
    echo "FAIL $name ($((SECONDS - start)) s): $log"
    tail -n 60 "$log"
  fi
}

listed() { find "$@" | sort; }

layout() { listed src tests -name '*.[ch]' | xargs clang-format --dry-run -Werror; }

# The flags of the release build that matter to a reader of the source.
tidy_flags=(-std=c17 -D_GNU_SOURCE -Isrc -Isrc/library -Itests -Iout/build/release)

# What needs a library that may be missing is looked at where it is there.
readable_sources() {
  local -a left_out=()
  for header in mujoco/mujoco.h ccd/ccd.h; do
    echo "#include <$header>" | gcc -E - >/dev/null 2>&1 || left_out+=(-not -path "tests/${header%%/*}/*")
  done
  listed src tests -name '*.c' "${left_out[@]}"
}

# Two files at a time. The count of suppressed warnings in system headers is no finding.
tidy() {
  readable_sources |
    xargs -P 2 -I '{}' clang-tidy --quiet '{}' -- "${tidy_flags[@]}" 2> >(grep -v 'warnings\? generated' >&2)
}

static_analysis() {
  cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr -j 2 --enable=warning,performance,portability \
    --suppress=missingIncludeSystem -D_GNU_SOURCE -Isrc src
}

shell_scripts() { { listed scripts tests -name '*.sh'; echo .ci/run; } | xargs shellcheck; }

rm -rf "$LOGS"
mkdir -p "$LOGS"
check clang-format layout
check include-order python3 scripts/check_layers.py
check comments python3 scripts/check_comments.py
check documents python3 scripts/check_documents.py
check equations python3 scripts/check_equations.py
check elementary-functions python3 scripts/check_elementary.py
if command -v shellcheck >/dev/null; then check shellcheck shell_scripts; fi
check cppcheck static_analysis
check clang-tidy tidy
echo "$passed passed, $failed failed"
((failed == 0))
