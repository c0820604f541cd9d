#!/bin/bash
# A Debian package of what `make install` installs: sdrs_VERSION_ARCH.deb.
#   scripts/make_deb.sh VERSION [FOLDER]     after `make program library`; FOLDER: out
# Depends are those of the program's and the library's own libraries, by dpkg-shlibdeps where it is installed.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$1 folder=${2:-out}
architecture=$(dpkg --print-architecture)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
root=$stage/root
# An installed tree has modes of its own, whatever the maker's umask.
umask 022
make -s -o program -o library install DESTDIR="$root" PREFIX=/usr
find "$root" -type d -exec chmod 755 {} +

depends='libc6'
if command -v dpkg-shlibdeps >/dev/null; then
  mkdir "$stage/debian"
  printf 'Source: sdrs\n\nPackage: sdrs\nArchitecture: any\n' >"$stage/debian/control"
  depends=$(cd "$stage" && dpkg-shlibdeps -O "$root/usr/bin/sdrs" "$root"/usr/lib/libsdrs.so.*.* 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
fi
mkdir "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<CONTROL
Package: sdrs
Version: $version
Architecture: $architecture
Maintainer: the sdrs authors <sdrs@localhost>
Section: science
Priority: optional
Installed-Size: $(du -sk "$root/usr" | cut -f 1)
Depends: $depends
Recommends: libassimp5, libmicrohttpd12
Suggests: gnuplot-nox, ffmpeg, parallel, python3
Description: simulator and optimizer of contact-rich robots with exact gradients
 Write a scene of links, joints, controllers and meshes, or import a robot in
 URDF or MJCF; simulate it so that no two bodies ever intersect; write a
 task and get a design. Program, library, manual pages, scripts for sweeps,
 schemas of the file formats and documentation.
CONTROL
package=$folder/sdrs_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
echo "$package"
