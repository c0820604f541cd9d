#!/bin/bash
# Debian packages of what `make install` installs and of the Python package:
#   sdrs           program, manual pages, completions, scripts, schemas, documentation
#   libsdrs0.1     libsdrs.so.0.1, named after its soname
#   libsdrs-dev    header, libsdrs.so, libsdrs.a, sdrs.pc
#   python3-sdrs   the Python package, for every processor
#
#   scripts/make_deb.sh VERSION [FOLDER]     after `make program library`; FOLDER: out
# dpkg-shlibdeps (package dpkg-dev) writes the libraries that the program and the library need. Two runs give the same bytes.
# Prints the names of the four files.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$1 folder=${2:-out}
command -v dpkg-shlibdeps >/dev/null || { echo "no dpkg-shlibdeps: install dpkg-dev" >&2; exit 1; }
architecture=$(dpkg --print-architecture)
places=/usr/lib/$(dpkg-architecture -q DEB_HOST_MULTIARCH)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
# An installed tree has modes of its own, whatever the maker's umask.
umask 022
make -s -o program -o library install DESTDIR="$stage/all" PREFIX=/usr LIBDIR="$places"
soname=$(readelf -d out/lib/libsdrs.so | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
library=lib${soname#lib}
library=${library/.so./}

move() { # package, files below the root
  local file
  for file in "${@:2}"; do
    mkdir -p "$stage/$1$(dirname "$file")"
    mv "$stage/all$file" "$stage/$1$file"
  done
}
move "$library" "$places/$soname" "$places/libsdrs.so.$version"
move libsdrs-dev /usr/include/sdrs.h "$places/libsdrs.so" "$places/libsdrs.a" "$places/pkgconfig/sdrs.pc"
mv "$stage/all" "$stage/sdrs"
gzip -9n "$stage"/sdrs/usr/share/man/man*/*
chmod 644 "$stage/$library$places/libsdrs.so.$version"
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$stage/sdrs/usr/bin/sdrs" "$stage/$library$places/libsdrs.so.$version"
strip --strip-debug --enable-deterministic-archives "$stage/libsdrs-dev$places/libsdrs.a"
modules=$stage/python3-sdrs/usr/lib/python3/dist-packages
mkdir -p "$modules/sdrs/_bundle/gym"
cp python/sdrs/*.py python/sdrs/py.typed "$modules/sdrs/"
cp scenes/gym/*.xml "$modules/sdrs/_bundle/gym/" # sdrs.gym.make
mkdir "$modules/sdrs-$version.dist-info"
printf 'Metadata-Version: 2.1\nName: sdrs\nVersion: %s\nRequires-Dist: numpy>=1.20\n' "$version" >"$modules/sdrs-$version.dist-info/METADATA"
echo "debian" >"$modules/sdrs-$version.dist-info/INSTALLER"

mkdir "$stage/debian"
printf 'Source: sdrs\n\nPackage: sdrs\nArchitecture: any\n' >"$stage/debian/control"
needs() { (cd "$stage" && dpkg-shlibdeps -O "$@" 2>/dev/null) | sed -n 's/^shlibs:Depends=//p'; }

# LAPACK and LAPACKE are linked into the program and both forms of the library.
lapack_licence() { # package
  local source=/usr/share/doc/liblapack-dev/copyright
  printf '\nFiles: %s\nCopyright: 1992-2022 The University of Tennessee\n 2000-2022 The University of California Berkeley\n' \
    "$([[ $1 == sdrs ]] && echo 'usr/bin/*' || echo 'usr/lib/*')"
  printf ' 2006-2022 The University of Colorado Denver\n 2010-2022 Intel Corp\n'
  printf 'License: BSD-3-clause-lapack and BSD-3-clause-intel\nComment: the functions of LAPACK and LAPACKE in it\n'
  printf '\nLicense: BSD-3-clause-lapack\n%s\n' "$(sed -n '/^License: BSD-3-clause$/{n;/^ /,$p}' "$source" | sed -n '/^ /p')"
  printf '\nLicense: BSD-3-clause-intel\n%s\n' "$(sed -n '/^License: BSD-3-clause-intel/,/^$/p' "$source" | sed -n '/^ /p')"
}

package() { # name, architecture, section, depends, further fields and description
  local root=$stage/$1 share=$stage/$1/usr/share/doc/$1
  mkdir -p "$root/DEBIAN" "$share"
  {
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: sdrs\n\n'
    printf 'Files: *\nCopyright: 2026 the sdrs authors\nLicense: BSD-3-Clause\n'
    sed '1,/^Copyright/d; s/^$/./; s/^ */ /' LICENSE
    if [[ $1 == sdrs ]]; then
      printf '\nFiles: usr/bin/sdrs\nCopyright: 2003 Bitstream, Inc.\nLicense: Bitstream-Vera\nComment: the letters of DejaVu Sans in pictures\n'
      sed -n '/^License: bitstream-vera/,/^$/p' /usr/share/doc/fonts-dejavu-core/copyright | sed '1d; /^$/d'
    fi
    if [[ $2 != all ]]; then lapack_licence "$1"; fi
  } >"$share/copyright"
  printf 'sdrs (%s) stable; urgency=medium\n\n  * Changes: CHANGELOG.md of the source.\n\n -- the sdrs authors <sdrs@localhost>  %s\n' "$version" \
    "$(LC_ALL=C TZ=UTC date -d "@$SOURCE_DATE_EPOCH" '+%a, %d %b %Y %H:%M:%S +0000')" | gzip -9n >"$share/changelog.gz"
  printf 'Package: %s\nSource: sdrs\nVersion: %s\nArchitecture: %s\nMaintainer: the sdrs authors <sdrs@localhost>\nSection: %s\nPriority: optional\n' \
    "$1" "$version" "$2" "$3" >"$root/DEBIAN/control"
  printf 'Installed-Size: %s\nDepends: %s\n%s\n' "$(du -sk --apparent-size "$root/usr" | cut -f 1)" "$4" "$5" >>"$root/DEBIAN/control"
  (cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
  find "$root" -type d -exec chmod 755 {} +
  dpkg-deb --root-owner-group --build "$root" "$folder/$1_${version}_$2.deb" >/dev/null
  echo "$folder/$1_${version}_$2.deb"
}

about=' Robots whose shape and control are designed together: scenes of links,
 joints, controllers and meshes, or robots in URDF or MJCF, are simulated so
 that no two bodies intersect, and optimized by the gradient of whole runs.'
mkdir -p "$folder"
package sdrs "$architecture" science "$(needs "$stage/sdrs/usr/bin/sdrs")" "Recommends: libassimp5, libmicrohttpd12
Suggests: gnuplot-nox, ffmpeg, parallel, python3
Description: simulator and optimizer of robots in contact
$about
 .
 This package has the program, its documentation, scripts for sweeps and the
 schemas of its formats."
mkdir -p "$stage/$library/DEBIAN"
printf 'libsdrs %s %s\n' "${soname#libsdrs.so.}" "$library (>= $version)" >"$stage/$library/DEBIAN/shlibs"
echo 'activate-noawait ldconfig' >"$stage/$library/DEBIAN/triggers"
package "$library" "$architecture" libs "$(needs "$stage/$library$places/libsdrs.so.$version")" "Multi-Arch: same
Recommends: libassimp5
Description: simulator and optimizer of robots in contact (library)
$about
 .
 This package has the shared library."
package libsdrs-dev "$architecture" libdevel "$library (= $version)" "Multi-Arch: same
Description: simulator and optimizer of robots in contact (development)
$about
 .
 This package has the header, the static library and the file of pkg-config."
package python3-sdrs all python "python3 (>= 3.9), python3-numpy, $library (>= $version)" "Recommends: sdrs
Description: simulator and optimizer of robots in contact (Python)
$about
 .
 This package has the Python package sdrs, with functions for PyTorch and JAX
 and environments for Gymnasium."
