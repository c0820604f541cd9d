#!/bin/bash
# A Python wheel that contains the library, the program and all that they need but glibc: sdrs-VERSION-py3-none-manylinux_G_ARCH.whl.
#   scripts/make_wheel.sh [FOLDER]     after `make program library`; FOLDER: out
# ARCH in the environment is that of the build, as in make: what is already built for another processor would be built again.
# The tag names the newest glibc (G) that one of its libraries asks for. Python is /usr/bin/python3 or python3, whichever has build and hatchling.
# License-Expression of its metadata joins the licences of sdrs and of all libraries in it. GLPK makes the whole subject to the GPL.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(realpath -m "${1:-out}")
mkdir -p "$folder"
for python in python3 /usr/bin/python3; do
  if "$python" -c 'import build, hatchling' 2>/dev/null; then break; fi
  python=
done
[[ $python ]] || { echo "no Python with build and hatchling: install python3-build and python3-hatchling" >&2; exit 1; }
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
umask 022
cp -r python "$stage/source"
rm -rf "$stage/source/tests"
bundle=$stage/source/sdrs/_bundle
mkdir -p "$bundle/licenses" "$bundle/gym"

# RPATH and no RUNPATH: it holds for the libraries of the libraries as well.
soname=$(readelf -d out/lib/libsdrs.so | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
make -s SHARED="$bundle/$soname" PROGRAM="$bundle/sdrs" LDFLAGS="-Wl,--disable-new-dtags,-rpath,'\$\$ORIGIN'" "$bundle/$soname" "$bundle/sdrs"
strip --strip-unneeded "$bundle/$soname" "$bundle/sdrs"

# Licence (SPDX) of each Debian package whose library comes along, as it applies to the library.
declare -A licence=(
  [libamd2]=BSD-3-Clause [libcjson1]=MIT [libcolamd2]=BSD-3-Clause [libexpat1]=MIT
  [libglpk40]=GPL-3.0-or-later [libgmp10]='(LGPL-3.0-or-later OR GPL-2.0-or-later)'
  [libgomp1]='GPL-3.0-or-later WITH GCC-exception-3.1' [libltdl7]=LGPL-2.0-or-later [libqhull-r8.0]=Qhull [libsleef3]=BSL-1.0
  [libsuitesparseconfig5]=BSD-3-Clause [libyaml-0-2]=MIT [zlib1g]=Zlib
)
licences=(BSD-3-Clause Bitstream-Vera) # sdrs and the letters of its pictures
while read -r name path; do
  case $name in
    libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | "$soname") continue ;;
  esac
  cp -L "$path" "$bundle/$name"
  real=$(realpath "$path") # /lib is /usr/lib, and compilers for other processors have libraries of the same names
  package=$(dpkg -S "*/$(basename "$(dirname "$real")")/$(basename "$real")" 2>/dev/null | sed -n '1s/:.*//p')
  if [[ ! $package || ! ${licence[$package]:-} ]]; then
    echo "the licence of $name (Debian package '$package') is not known: add it to the table 'licence' of scripts/make_wheel.sh" >&2
    exit 1
  fi
  cp "/usr/share/doc/$package/copyright" "$bundle/licenses/$package"
  licences+=("${licence[$package]}")
  printf '%s: %s, Debian source package %s\n' "$name" "${licence[$package]}" \
    "$(dpkg-query -W -f '${source:Package} ${source:Version}' "$package")" >>"$bundle/licenses/LIBRARIES"
done < <(ldd "$bundle/$soname" "$bundle/sdrs" | sed -n 's/^\s*\(\S*\) => \(\/\S*\) .*/\1 \2/p' | sort -u)
cp LICENSE "$bundle/licenses/sdrs"
cp /usr/share/doc/liblapack-dev/copyright "$bundle/licenses/liblapack" # linked into the library and the program; BSD-3-Clause
cp scenes/gym/*.xml scenes/gym/LICENSE "$bundle/gym/" # sdrs.gym.make
for text in GPL-3 GPL-2 LGPL-3 LGPL-2; do cp "/usr/share/common-licenses/$text" "$bundle/licenses/"; done
cp /usr/share/doc/fonts-dejavu-core/copyright "$bundle/licenses/fonts-dejavu-core"
expression=$(printf '%s\n' "${licences[@]}" | awk '!seen[$0]++ { printf "%s%s", n++ ? " AND " : "", $0 }')
sed -i "s/^license = .*/license = \"$expression\"\nlicense-files = { globs = [\"sdrs\/_bundle\/licenses\/*\"] }/" "$stage/source/pyproject.toml"

glibc=$(objdump -T "$bundle"/*.so* "$bundle/sdrs" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
glibc=${glibc#GLIBC_}
SDRS_WHEEL_TAG="py3-none-manylinux_${glibc//./_}_$(uname -m)"
export SDRS_WHEEL_TAG
"$python" -m build --wheel --no-isolation --skip-dependency-check --outdir "$folder" "$stage/source" >"$stage/log" || { cat "$stage/log" >&2; exit 1; }
chmod 644 "$folder"/sdrs-*-"$SDRS_WHEEL_TAG".whl
echo "$folder/$(basename "$folder"/sdrs-*-"$SDRS_WHEEL_TAG".whl)"
