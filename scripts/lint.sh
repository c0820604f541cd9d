#!/bin/bash
# Layout, static analysis, include order, shell scripts, types of the Python package; each check counts as one test.
#   scripts/lint.sh [--all]
# clang-format, cppcheck and clang-tidy read the files that changed since the merge base with $LINT_BASE (default origin/main; the
# commit before, when that is this one), and with --all every file: cppcheck those of src, the others those of tests too. cppcheck
# and clang-tidy read a changed header through a source that includes it. clang-analyzer takes 95 % of the time of clang-tidy. It reads
# at most $ANALYZER_FILES changed sources (40); with more, it is left to --all.
# Prints the findings, then `N passed, N failed`; exits 1 when a check failed. Logs are kept in out/lint/.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/support/cpu.sh
. tests/support/cpu.sh
all=0
if [[ ${1:-} == --all ]]; then all=1; fi

LOGS=out/lint
passed=0 failed=0

check() { # name, command...
  local name=$1 log=$LOGS/$1.log
  shift
  if "$@" >"$log" 2>&1; then
    passed=$((passed + 1))
    cpu_spent
    echo "ok   $name ($SPENT cpu s)"
  else
    failed=$((failed + 1))
    cpu_spent
    echo "FAIL $name ($SPENT cpu s)"
    echo "     $log:"
    tail -n 60 "$log"
  fi
}

listed() { find "$@" | sort; }

layout() { files_to_read | xargs -r clang-format --dry-run -Werror; }

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

# Files of these folders (src and tests) that differ from the commit that the change began with.
changed_files() { # folder...
  local base
  base=$(git merge-base HEAD "${LINT_BASE:-origin/main}" 2>/dev/null) || base=
  if [[ -z $base || $base == "$(git rev-parse HEAD)" ]]; then base=$(git rev-parse HEAD~1); fi || return 1
  if (($# == 0)); then set -- src tests; fi
  git diff --name-only --diff-filter=d "$base" -- "$@"
  git ls-files --others --exclude-standard "$@"
}

# The sources that show what is in the changed files.
changed_sources() {
  local file changed
  changed=$(changed_files) || return 1
  for file in $changed; do
    case $file in
      *.c) echo "$file" ;;
      *.h)
        if [[ -e ${file%.h}.c ]]; then
          echo "${file%.h}.c"
        else
          git grep -lE "#include \"(.*/)?${file##*/}\"" -- "${file%/*}/*.c" 'src/*.c' 'tests/*.c' | head -n 1
        fi ;;
    esac
  done | sort -u
}

# Sources and headers.
files_to_read() {
  local changed
  if ! ((all)) && changed=$(changed_files); then
    sed -n '/\.[ch]$/p' <<<"$changed"
  else
    listed src tests -name '*.[ch]'
  fi
}

sources_to_read() {
  local changed
  if ! ((all)) && changed=$(changed_sources); then
    readable_sources | { grep -xF "$changed" || (($? == 1)); } # none of them changed is no fault
  else
    readable_sources
  fi
}

# Two files at a time. The count of suppressed warnings in system headers is no finding.
tidy() { # checks
  sources_to_read |
    xargs -r -P 2 -I '{}' clang-tidy --quiet "--checks=$1" '{}' -- "${tidy_flags[@]}" 2> >(grep -v 'warnings\? generated' >&2)
}

# The checks of .clang-tidy: those of the analyzer alone (1), or the others (0).
tidy_checks() {
  if (($1)); then
    echo "-*,$(sed -n 's/^ *\(-\{0,1\}clang-analyzer-.*\),$/\1/p' .clang-tidy | paste -sd,)"
  else
    echo '-clang-analyzer-*'
  fi
}

analyzer_runs() { ((all || $(sources_to_read | wc -l) <= ${ANALYZER_FILES:-40})); }

static_analysis() {
  sources_to_read | sed -n '/^src\//p' |
    xargs -r cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr -j 2 --enable=warning,performance,portability \
      --suppress=missingIncludeSystem --suppress=ctuuninitvar -D_GNU_SOURCE -Isrc
}

# Types of the Python package are looked at when it changed.
python_changed() {
  local changed
  ((all)) || ! changed=$(changed_files python/sdrs) || [[ $changed ]]
}

shell_scripts() { { listed scripts benchmarks tests -name '*.sh'; echo .ci/run; } | xargs shellcheck; }

rm -rf "$LOGS"
mkdir -p "$LOGS"
cpu_read
check clang-format layout
check include-order python3 scripts/check_layers.py
check comments python3 scripts/check_comments.py
check words python3 scripts/check_words.py
check documents python3 scripts/check_documents.py
check equations python3 scripts/check_equations.py
check elementary-functions python3 scripts/check_elementary.py
if command -v shellcheck >/dev/null; then check shellcheck shell_scripts; fi
echo "     cppcheck and clang-tidy read $(sources_to_read | wc -l) of $(readable_sources | wc -l) files"
check cppcheck static_analysis
check clang-tidy tidy "$(tidy_checks 0)"
if analyzer_runs; then
  check clang-analyzer tidy "$(tidy_checks 1)"
else
  echo "SKIP clang-analyzer: more than ${ANALYZER_FILES:-40} files changed: scripts/lint.sh --all reads them"
fi
if ! python_changed; then
  echo "     types: python/sdrs is unchanged"
elif missing=$(scripts/check_types.sh --fetch); then
  check types scripts/check_types.sh
else
  echo "SKIP $missing"
fi
echo "$passed passed, $failed failed"
((failed == 0))
