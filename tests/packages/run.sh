#!/bin/bash
# What is handed to others: the Debian packages, the wheel, the site of the documentation. Each is made from what is built and used where
# it was put. Prints a line a test and `N passed, N failed`; exits 1 when one failed.
set -uo pipefail
# shellcheck source=tests/support/check.sh disable=SC1091
. "$(dirname "$0")/../support/check.sh"


# ---------------------------------------------------------------- the Debian packages

version=$(sed -n 's/^VERSION := //p' Makefile)
places=usr/lib/$(dpkg-architecture -q DEB_HOST_MULTIARCH 2>/dev/null)
make_packages() { scripts/make_deb.sh "$version" "$work/deb"; }

same_again() {
  scripts/make_deb.sh "$version" "$work/again" || return 1
  for file in "$work"/deb/*.deb; do cmp "$file" "$work/again/${file##*/}" || return 1; done
}

# dpkg refuses a file that two packages bring. What the packages need lies in the system, not in this root.
install_packages() {
  mkdir -p "$work"/root/var/lib/dpkg/{updates,info} && : >"$work/root/var/lib/dpkg/status" &&
    dpkg --root="$work/root" --log=/dev/null --force-not-root --force-depends --force-script-chrootless -i "$work"/deb/*.deb &&
    (($(dpkg-query --admindir="$work/root/var/lib/dpkg" -W -f '${Status}\n' | grep -c '^install ok installed') == 4))
}

packages_name_what_they_need() {
  local name
  for name in sdrs libsdrs0.1; do
    dpkg-deb --field "$work"/deb/"${name}"_*.deb Depends | tee "$work/depends"
    grep -q 'libc6.*libyaml' "$work/depends" && ! grep -E 'blas|lapack|assimp|microhttpd' "$work/depends" || return 1
  done
  dpkg-deb --field "$work"/deb/libsdrs-dev_*.deb Depends | grep -x "libsdrs0.1 (= $version)" &&
    dpkg-deb --field "$work"/deb/python3-sdrs_*.deb Depends | grep 'python3-numpy, libsdrs0.1'
}

# The address of the maintainer is none: there is no public one yet.
lintian_finds_nothing() { lintian --allow-root --fail-on error,warning --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$work"/deb/*.deb; }

package_brings() { # files below /usr
  local file
  for file in "$@"; do
    [[ -s $work/root/usr/$file ]] || { echo "$file is not there"; return 1; }
  done
}

program_runs() { (cd "$work" && ./root/usr/bin/sdrs simulate "$ROOT/scenes/slide.yaml" --steps 2 -q -o run && [[ -s run/trajectory.csv ]]); }

library_links() {
  export PKG_CONFIG_SYSROOT_DIR=$work/root PKG_CONFIG_PATH=$work/root/$places/pkgconfig
  [[ $(pkg-config --variable=prefix sdrs) == */usr && $(pkg-config --variable=libdir sdrs) == */"$places" ]] || return 1
  # shellcheck disable=SC2046
  gcc examples/c/throw.c -o "$work/throw" $(pkg-config --cflags --libs sdrs) -Wl,-rpath,"$work/root/$places" &&
    "$work/throw"
}

# The closed form of the throw is that of tests/library/run.sh. Only the installed library and package are seen.
python_throws() {
  mkdir "$work/throw-python" && cp examples/python/throw.py scenes/tasks/throw-scene.yaml "$work/throw-python" || return 1
  (cd "$work/throw-python" && export LD_LIBRARY_PATH=$work/root/$places PYTHONPATH=$work/root/usr/lib/python3/dist-packages && unset SDRS_LIBRARY &&
    /usr/bin/python3 -c 'import sdrs; from sdrs import _robots
assert "/root/usr/" in sdrs.__file__ and "/root/usr/" in open("/proc/self/maps").read()
assert (_robots.FOLDERS[0] / "hopper.xml").exists()' &&
    /usr/bin/python3 throw.py throw-scene.yaml | awk '{ a = 0.3 * 9.81; w = sqrt(2 * 0.5 * a); d = $1 / w - 1; print $1, w; exit !(d < 1e-4 && d > -1e-4) }')
}

if command -v dpkg-shlibdeps >/dev/null; then
  check packages make_packages
  [[ -z ${SDRS_LONG:-} ]] || check packages-same-again same_again
  check packages-install install_packages
  check packages-depends packages_name_what_they_need
  check packages-bring package_brings bin/sdrs include/sdrs.h "${places#usr/}/libsdrs.so.0.1" "${places#usr/}/libsdrs.a" share/man/man1/sdrs.1.gz \
    share/sdrs/schemas/scene.schema.json share/sdrs/schemas/task.schema.json share/sdrs/scripts/sweep.sh \
    share/sdrs/scripts/collect.py share/doc/sdrs/README.md share/doc/sdrs/docs/scene-format.md share/doc/sdrs/CITATION.cff
  check packages-program program_runs
  check packages-library library_links
  if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    check packages-python python_throws
  else
    echo "SKIP packages-python: no python3-numpy"
  fi
  if [[ -z ${SDRS_LONG:-} ]]; then
    echo "SKIP packages-same-again packages-lintian: in the long form (SDRS_LONG=1)"
  elif command -v lintian >/dev/null; then
    check packages-lintian lintian_finds_nothing
  else
    echo "SKIP packages-lintian: no lintian"
  fi
else
  echo "SKIP packages: no dpkg-dev here"
fi

# ---------------------------------------------------------------- the wheel

# Vectors of 256 bits are no part of x86-64 itself.
wheel_runs_on_every_processor() {
  local folder file
  folder=$(in_venv python -c 'import sdrs, os; print(os.path.dirname(sdrs.__file__))')/_bundle
  for file in "$folder/sdrs" "$folder/libsdrs.so.0.1"; do
    objdump -d --no-show-raw-insn "$file" | awk -v file="$file" '/%[yz]mm/ { n++ } END { if (n) print file ": " n " wide vectors"; exit n > 0 }' || return 1
  done
}

make_wheel() { scripts/make_wheel.sh "$work/wheel"; }

# numpy is the system's: nothing is fetched. Nothing of the checkout is seen but what is copied.
install_wheel() {
  "$python" -m venv --system-site-packages "$work/venv" &&
    "$work/venv/bin/pip" install --no-index --no-deps --disable-pip-version-check "$work"/wheel/sdrs-*-manylinux_*.whl &&
    mkdir "$work/user" && cp examples/python/*.py scenes/tasks/throw-scene.yaml scenes/slide.yaml "$work/user"
}

in_venv() { (cd "$work/user" && env -u SDRS_LIBRARY -u PYTHONPATH PATH="$work/venv/bin:/usr/bin:/bin" "$@"); }

# The closed form is that of tests/library/run.sh.
wheel_throws() {
  in_venv python throw.py throw-scene.yaml |
    awk '{ a = 0.3 * 9.81; w = sqrt(2 * 0.5 * a); d = $1 / w - 1; print $1, w; exit !(d < 1e-4 && d > -1e-4) }'
}

wheel_balances() { in_venv python balance.py | awk '{ print; exit !($2 < 0.01 && $2 > -0.01) }'; }

# All that the library needs comes from the package, but glibc.
wheel_is_whole() {
  in_venv python - <<'P'
import os, shutil, numpy
def libraries(): return {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
before = libraries()
import sdrs
assert "/venv/" in sdrs.__file__, sdrs.__file__
mapped = libraries() - before
bundled = {os.path.basename(path) for path in mapped if "/sdrs/_bundle/" in path}
foreign = {path for path in mapped if "/sdrs/_bundle/" not in path and "/lib-dynload/" not in path}
print(sorted(bundled), sorted(foreign))
assert {"libsdrs.so.0.1", "libglpk.so.40"} <= bundled
assert not foreign, foreign
P
}

# The metadata names the licence of every library of the bundle, the GPL of GLPK among them, and the texts are there.
wheel_states_its_licences() {
  in_venv python - <<'P'
import importlib.metadata, os, sdrs
bundle = os.path.join(os.path.dirname(sdrs.__file__), "_bundle")
stated = importlib.metadata.metadata("sdrs")["License-Expression"]
lines = [line.split(": ") for line in open(os.path.join(bundle, "licenses", "LIBRARIES")).read().splitlines()]
licences = {name: rest.split(", Debian source package ")[0] for name, rest in lines}
print(stated, sorted(licences))
assert "GPL-3.0-or-later" in stated.split(" AND ") and licences["libglpk.so.40"] == "GPL-3.0-or-later"
assert set(licences) == {f for f in os.listdir(bundle) if ".so" in f and not f.startswith("libsdrs")}
assert all(licence in stated for licence in licences.values())
assert "GNU GENERAL PUBLIC LICENSE" in open(os.path.join(bundle, "licenses", "GPL-3")).read()
P
}

wheel_runs_the_program() {
  in_venv sdrs simulate slide.yaml --steps 2 -q -o run && [[ -s $work/user/run/trajectory.csv ]] &&
    in_venv python -c 'import sdrs; assert sdrs.Scene("slide.yaml").run(3)._repr_html_().startswith("<iframe")'
}

# Every library and program of the bundle finds its libraries beside it.
wheel_finds_its_libraries() {
  local folder file
  folder=$(in_venv python -c 'import sdrs, os; print(os.path.dirname(sdrs.__file__))')/_bundle
  for file in "$folder/sdrs" "$folder/libsdrs.so.0.1"; do
    ! ldd "$file" | grep ' => ' | grep -vF "$folder" | grep -vE 'lib(c|m)\.so' || return 1
  done
}

for python in python3 /usr/bin/python3; do
  if "$python" -c 'import numpy, build, hatchling, venv, ensurepip' 2>/dev/null; then break; fi
  python=
done
if [[ -z ${SDRS_LONG:-} ]]; then
  echo "SKIP wheel: in the long form (SDRS_LONG=1)"
elif [[ $python ]]; then
  check wheel make_wheel
  check wheel-venv install_wheel
  check wheel-throw wheel_throws
  check wheel-balance wheel_balances
  check wheel-whole wheel_is_whole
  check wheel-licences wheel_states_its_licences
  check wheel-libraries wheel_finds_its_libraries
  check wheel-program wheel_runs_the_program
  if [[ ${ARCH-native} == "" && $(uname -m) == x86_64 ]]; then check wheel-every-processor wheel_runs_on_every_processor; fi
else
  echo "SKIP wheel: Debian's python3-numpy, python3-build, python3-hatchling and python3-venv are not all there"
fi

# ---------------------------------------------------------------- the site

# A page for every page of docs/, one to begin with, and words of them in the index that the search reads.
site_is_whole() {
  local page
  scripts/make_site.py "$work/site" && [[ -s $work/site/index.html ]] || return 1
  for page in docs/*.md docs/derivations/*.md; do
    [[ -s $work/site/${page%.md}.html ]] || { echo "$page has no page"; return 1; }
  done
  python3 - "$work/site/search/search_index.json" <<'P'
import json, sys
pages = json.load(open(sys.argv[1]))["docs"]
for word, where in ("articulated robots in contact", "index.html"), ("sdrs_rollout", "docs/library.html"), ("friction: 0.3", "scenes/slide.yaml.html"):
    assert any(word in page["text"] and page["location"].startswith(where) for page in pages), (word, where)
P
}

if command -v mkdocs >/dev/null; then
  check site site_is_whole
else
  echo "SKIP site: mkdocs is not there"
fi
check_end
