# shellcheck shell=bash
# For scripts of tests that print a line a test: sourced at the top, from anywhere. The checkout is the working folder then, and $ROOT;
# $work is an empty folder that goes when the script ends. `check NAME COMMAND...` passes when the command does; `check_end` closes.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

# shellcheck disable=SC2034 # for whoever sources this
ROOT=$PWD
# shellcheck source=tests/support/cpu.sh
. tests/support/cpu.sh
cpu_read
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

check() { # name, command...
  if "${@:2}" >"$work/log" 2>&1; then
    passed=$((passed + 1))
    cpu_spent
    echo "ok   $1 ($SPENT cpu s)"
  else
    failed=$((failed + 1))
    cpu_spent
    echo "FAIL $1 ($SPENT cpu s)"
    sed 's/^/     /' "$work/log" | tail -n 40
  fi
}

# The last line, and the script's exit code.
check_end() {
  echo "$passed passed, $failed failed"
  ((failed == 0))
}
