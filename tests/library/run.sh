#!/bin/bash
# The library as its users have it: installed to a folder of its own, seen through pkg-config. Builds and runs examples/,
# and the examples of docs/library.md; compares numbers and messages with the command line's, and its ABI with
# tests/library/abi. Prints a line a test and `N passed, N failed`; exits 1 when one failed.
set -uo pipefail
# shellcheck source=tests/support/check.sh disable=SC1091
. "$(dirname "$0")/../support/check.sh"

# FLAVOUR: the build of both, for the make that installs.
LIB=${LIB:-out/lib} SDRS=${SDRS:-./sdrs}

# What `make install` puts there, without building anything again.
install_there() {
  make --no-print-directory install-library DESTDIR="$work/root" PREFIX=/usr MAKELEVEL=1 >/dev/null &&
    [[ -e $work/root/usr/include/sdrs.h && -L $work/root/usr/lib/libsdrs.so.0.1 ]]
}

export PKG_CONFIG_PATH=$work/root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$work/root
STRICT=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)

build() { # compiler with its standard, source, program
  # shellcheck disable=SC2046,SC2086
  $1 "${STRICT[@]}" "$2" -o "$3" $(pkg-config --cflags --libs sdrs) -Wl,-rpath,"$work/root/usr/lib"
}

build_static() { # the archive by its name, and all that it stands on
  # shellcheck disable=SC2046
  gcc "${STRICT[@]}" examples/c/throw.c -o "$work/throw-static" $(pkg-config --cflags sdrs) \
    "$work/root/usr/lib/libsdrs.a" $(sed -n 's/^Libs.private: //p' "$PKG_CONFIG_PATH/sdrs.pc")
}

build_exporting() { # its malloc is to be everybody's
  # shellcheck disable=SC2046
  gcc -std=gnu11 -Wall -Wextra -Werror -rdynamic tests/library/short_of_memory.c -o "$1" $(pkg-config --cflags --libs sdrs) \
    -Wl,-rpath,"$work/root/usr/lib"
}

# x = v^2 / (2 mu g) - v dt / 2 = 0.5 m, solved for v. The contact's smoothing lets it differ by 1e-4.
throws() { # command...
  local speed
  speed=$("$@") || return 1
  awk -v v="$speed" 'BEGIN { a = 0.3 * 9.81; w = sqrt(2 * 0.5 * a)
                             print "found", v, "closed form", w; d = v / w - 1; exit !(d < 1e-4 && d > -1e-4) }'
}

thirty_lines() { [[ $(wc -l <"$1") -le 30 ]]; }

abi_is_that() { scripts/check_abi.py --library "$LIB/libsdrs.so"; }

# A change of the header that breaks programs is found: an edit by sed, and what the difference names.
abi_change_is_found() { # sed command, pattern
  sed "$1" src/library/sdrs.h >"$work/changed.h"
  ! cmp -s src/library/sdrs.h "$work/changed.h" &&
    ! scripts/check_abi.py --library "$LIB/libsdrs.so" --header "$work/changed.h" >"$work/changes" && grep -q -- "$2" "$work/changes"
}

archive_hides() { [[ -z $(nm -g --defined-only "$LIB/libsdrs.a" | awk 'NF == 3 && $3 !~ /^sdrs_/ { print $3 }') ]]; }

# 0.MINOR before 1.0, else MAJOR, of the Makefile's version.
soname_is_versioned() {
  local version
  version=$(sed -n 's/^VERSION := //p' Makefile)
  case $version in 0.*) version=${version%.*} ;; *) version=${version%%.*} ;; esac
  readelf -d "$LIB/libsdrs.so" | grep -qF "[libsdrs.so.$version]"
}

# trajectory.csv number by number, bit for bit: both read back and written with 17 digits.
same_numbers() { # scene, steps
  "$SDRS" simulate "$1" --steps "$2" -o "$work/run" -q >/dev/null &&
    "$work/rows" "$1" "$2" >"$work/rows.csv" &&
    tail -n +2 "$work/run/trajectory.csv" |
    python3 -c 'import sys
for line in sys.stdin: print(",".join("%.17g" % float(number) for number in line.split(",")))' | diff -q - "$work/rows.csv"
}

same_message() { # file that is refused
  "$SDRS" simulate "$1" -o "$work/none" -q 2>"$work/told"
  "$work/rows" "$1" 1 2>"$work/words"
  diff "$work/told" "$work/words"
}

# Answers and refusals, byte for byte.
same_answers() { # file of questions
  local code=0
  "$SDRS" query -q "$1" >"$work/answers" 2>"$work/told" || code=$?
  "$work/ask" "$1" >"$work/same-answers" 2>"$work/words"
  [[ $? == "$code" ]] && diff "$work/answers" "$work/same-answers" && diff "$work/told" "$work/words"
}

check install install_there
check abi abi_is_that
check abi-member abi_change_is_found 's/^  size_t rows, columns, stride;/  size_t columns, rows, stride;/' 'size_t columns'
check abi-type abi_change_is_found 's/^  double dt;/  float dt;/' 'float dt'
check abi-value abi_change_is_found 's/^  SDRS_SOLVER,.*/  SDRS_NEW, SDRS_SOLVER,/' 'SDRS_SOLVER 4'
check abi-argument abi_change_is_found 's/sdrs_step(sdrs\* object, int steps)/sdrs_step(sdrs* object, long steps)/' 'long steps'
check archive archive_hides
check soname soname_is_versioned
check c-30-lines thirty_lines examples/c/throw.c
check c++-30-lines thirty_lines examples/cpp/throw.cpp
check build-c build "gcc -std=c99" examples/c/throw.c "$work/throw-c"
check throw-c throws "$work/throw-c"
check build-c++ build "g++ -std=c++11" examples/cpp/throw.cpp "$work/throw-c++"
check throw-c++ throws "$work/throw-c++"
check build-static build_static
check throw-static throws "$work/throw-static"
if command -v clang++ >/dev/null; then
  check build-clang build "clang -std=c11" examples/c/throw.c "$work/throw-clang"
  check build-clang++ build "clang++ -std=c++17" examples/cpp/throw.cpp "$work/throw-clang++"
else
  echo "SKIP clang: not there"
fi

check build-rows build "gcc -std=c11" tests/library/rows.c "$work/rows"
check same-slide same_numbers scenes/slide.yaml 50
check same-spider same_numbers scenes/spider.yaml 60
check same-tumble same_numbers scenes/tumble.yaml 20
printf 'simulation: {dt: -1, integrator: first_order}\nlinks:\n  - {name: box, mas: 1}\n' >"$work/wrong.yaml"
check same-message same_message "$work/wrong.yaml"
check same-message-no-file same_message "$work/missing.yaml"
check build-slopes build "gcc -std=c11" tests/library/slopes.c "$work/slopes"
check same-gradients tests/library/gradients.py "$SDRS" "$work/slopes"
check build-ask build "gcc -std=c11" tests/library/ask.c "$work/ask"
for questions in tests/cli/query-{growth,distance,witness,manifold,touch,bad-input,bad-shapes}/*.json*; do
  check "same-answers-$(basename "$(dirname "$questions")")-$(basename "$questions")" same_answers "$questions"
done
printf '{"a": [[0,0,0],[1,0,0],[0,1,0],[0,0,-1]], "b": [[0,0,0.01],[1,0,1]], "support": 0.02}\n[{"law": "ipc"' >"$work/torn.json"
head -n 1 "$work/torn.json" >"$work/pair.json"
check same-answers-pair same_answers "$work/pair.json"
check same-answers-torn same_answers "$work/torn.json"
check examples-of-the-page tests/library/page.sh "$ROOT" "$work"
check build-host build "gcc -std=gnu11 -pthread" tests/library/host.c "$work/host"
check host-signals-and-random-numbers "$work/host"
check build-limited build "gcc -std=gnu11" tests/library/limited.c "$work/limited"
check few-threads "$work/limited"
check build-short-of-memory build_exporting "$work/short-of-memory"
# Two steps of a box that lands, with every allocation in turn in the long form, else all of the first 40 and fewer and fewer of
# the later ones, which the same calls make step after step; a task, with one in ten.
cat >"$work/lands.yaml" <<'END'
simulation: {dt: 0.01, steps: 2, integrator: first_order}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: box, mass: 1, position: [0, 0, 0.1009], shape: {type: box, size: [0.2, 0.2, 0.2]}}
END
sed "s/^steps: .*/steps: 5/; s|^scene: |scene: $ROOT/scenes/tasks/|" scenes/tasks/throw.yaml >"$work/throw.yaml"
apart=(40)
if [[ -n ${SDRS_LONG:-} ]]; then apart=(); fi
check memory-scene "$work/short-of-memory" "$work/lands.yaml" "${apart[@]}"
check memory-task "$work/short-of-memory" "$work/throw.yaml" 10
check_end
