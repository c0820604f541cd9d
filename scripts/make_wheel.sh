#!/bin/bash
# A Python wheel that contains the library, the program and all that they need but glibc: sdrs-VERSION-py3-none-manylinux_G_ARCH.whl.
#   scripts/make_wheel.sh [FOLDER]     after `make program library`; FOLDER: out
# The tag names the newest glibc (G) that one of its libraries asks for. Python is /usr/bin/python3 or python3, whichever has build and hatchling.
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

while read -r name path; do
  case $name in
    libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | "$soname") continue ;;
  esac
  cp -L "$path" "$bundle/$name"
  if package=$(dpkg -S "*/$(basename "$(realpath "$path")")" 2>/dev/null | head -n 1) && [[ $package ]]; then
    cp "/usr/share/doc/${package%%:*}/copyright" "$bundle/licenses/${package%%:*}"
  else
    echo "$name: no package of Debian, its licence is not in the wheel" >&2
  fi
done < <(ldd "$bundle/$soname" "$bundle/sdrs" | sed -n 's/^\s*\(\S*\) => \(\/\S*\) .*/\1 \2/p' | sort -u)
cp LICENSE "$bundle/licenses/sdrs"
cp scenes/gym/*.xml scenes/gym/LICENSE "$bundle/gym/" # sdrs.gym.make
cp /usr/share/common-licenses/GPL-3 "$bundle/licenses/" 2>/dev/null || true
cp /usr/share/doc/fonts-dejavu-core/copyright "$bundle/licenses/fonts-dejavu-core" 2>/dev/null || true

glibc=$(objdump -T "$bundle"/*.so* "$bundle/sdrs" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
glibc=${glibc#GLIBC_}
SDRS_WHEEL_TAG="py3-none-manylinux_${glibc//./_}_$(uname -m)"
export SDRS_WHEEL_TAG
"$python" -m build --wheel --no-isolation --skip-dependency-check --outdir "$folder" "$stage/source" >"$stage/log" || { cat "$stage/log" >&2; exit 1; }
chmod 644 "$folder"/sdrs-*-"$SDRS_WHEEL_TAG".whl
echo "$folder/$(basename "$folder"/sdrs-*-"$SDRS_WHEEL_TAG".whl)"
