#!/bin/bash
# Installs what sdrs needs on Debian, and only what is missing; says nothing when nothing is.
#   scripts/deps.sh build           to build it
#   scripts/deps.sh check           to build, test and lint it
#   scripts/deps.sh page            for `make page`
#   scripts/deps.sh sweep           to run many (scripts/sweep.sh)
#   scripts/deps.sh mpi             to build with `make MPI=1`
#   scripts/deps.sh long            for the long tests too
#   scripts/deps.sh arm64           to build for 64-bit ARM and run that here (scripts/check_arm64.sh)
#   scripts/deps.sh peers           to measure distances beside FCL and libccd (benchmarks/measure_peers.sh)
#   scripts/deps.sh --look build    only look: name what is missing and exit 1
set -euo pipefail

# What brings it    what shows that it is there: a command, a header, a library or a file
BUILD_NEEDS='
gcc                 command gcc
libc6-dev           header  stdio.h
make                command make
pkg-config          command pkg-config
libyaml-dev         header  yaml.h
libcjson-dev        header  cjson/cJSON.h
libexpat1-dev       header  expat.h
zlib1g-dev          header  zlib.h
libassimp-dev       header  assimp/cimport.h
libqhull-dev        header  libqhull_r/libqhull_r.h
libsuitesparse-dev  header  suitesparse/amd.h
libsleef-dev        header  sleef.h
libglpk-dev         header  glpk.h
liblapacke-dev      header  lapacke.h
liblapack-dev       library lapack/liblapack.a
libblas-dev         library blas/libblas.a
libstb-dev          header  stb/stb_easy_font.h
fonts-dejavu-core   file    /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
'
# What --view serves its page by; the build goes on without.
BUILD_OPTIONAL='
libmicrohttpd-dev   header  microhttpd.h
'
# What the page is bundled with (scripts/make_page.sh). The commands may well come from elsewhere than Debian: a package is
# taken only for one that is missing.
PAGE_NEEDS='
nodejs              command node
npm                 command npm
'
CHECK_NEEDS='
libopenblas-dev     library libopenblas.so
libzip-dev          header  zip.h
libcmocka-dev       header  cmocka.h
g++                 command g++
clang-format        command clang-format
clang-tidy          command clang-tidy
cppcheck            command cppcheck
clang               command clang
libclang-rt-dev     runtime libclang_rt.fuzzer
'
SWEEP_NEEDS='
parallel            command parallel
python3             command python3
'
SITE_NEEDS='
mkdocs              command mkdocs
'
MPI_NEEDS='
openmpi-bin         command mpirun
libopenmpi-dev      command mpicc
'
PEERS_NEEDS='
g++                 command g++
libccd-dev          header  ccd/ccd.h
libfcl-dev          header  fcl/fcl.h
'
ARM64_NEEDS='
gcc-aarch64-linux-gnu      command aarch64-linux-gnu-gcc
gfortran-aarch64-linux-gnu command aarch64-linux-gnu-gfortran
qemu-user-static           command qemu-aarch64-static
dpkg-dev                   command dpkg-source
'
SLURM_NEEDS='
slurm-wlm           command slurmctld
munge               command munged
'

# What some tests use and skip where it is missing: nothing fails when it cannot be installed.
CHECK_OPTIONAL='
libmujoco-dev       header  mujoco/mujoco.h
libccd-dev          header  ccd/ccd.h
openmpi-bin         command mpirun
libopenmpi-dev      command mpicc
gnuplot-nox         command gnuplot
chromium            command chromium
abigail-tools       command abidiff
python3-numpy       file    /usr/lib/python3/dist-packages/numpy
python3-build       file    /usr/lib/python3/dist-packages/build
python3-hatchling   file    /usr/lib/python3/dist-packages/hatchling
python3-venv        file    /usr/lib/python3.*/ensurepip
mkdocs              command mkdocs
python3-torch       file    /usr/lib/python3/dist-packages/torch
'

usage() {
  sed -n '3,11s/^#   //p' "$0" >&2
  exit 2
}

# there FOLDER... NAME: is NAME in one of the folders?
there() {
  local name=${!#} folder
  for folder in "${@:1:$#-1}"; do
    if [[ -e $folder/$name ]]; then return 0; fi
  done
  return 1
}

present() { # kind, name
  local -a headers libraries
  IFS=: read -ra headers <<<"${CPATH:-}:${C_INCLUDE_PATH:-}"
  IFS=: read -ra libraries <<<"${LIBRARY_PATH:-}"
  case $1 in
    command) command -v "$2" >/dev/null ;;
    header) there "${headers[@]}" /usr/local/include /usr/include /usr/include/*-linux-gnu* "$2" ;;
    library) there "${libraries[@]}" /usr/local/lib /usr/lib /usr/lib/*-linux-gnu* /usr/lib64 "$2" ;;
    file) compgen -G "$2" >/dev/null ;;
    runtime) # compilers know where their own run-time libraries are
      compgen -G "$(clang -print-runtime-dir 2>/dev/null || echo /nowhere)/$2*" >/dev/null ||
        compgen -G "$(clang -print-resource-dir 2>/dev/null || echo /nowhere)/lib/*/$2*" >/dev/null ;;
  esac
}

find_missing() { # needs; sets `missing`
  local package kind name
  missing=()
  while read -r package kind name; do
    if [[ -n $package ]] && ! present "$kind" "$name"; then missing+=("$package"); fi
  done <<<"$1"
}

install_packages() { # prints why it could not
  local -a as_root=()
  if ((EUID != 0)); then as_root=(sudo -n); fi
  local log
  log=$(mktemp)
  echo "deps.sh: installing ${missing[*]}" >&2
  # A second apt may hold the lock for a while.
  if "${as_root[@]}" apt-get -qq update >"$log" 2>&1 &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 \
      install --no-install-recommends "${missing[@]}" </dev/null >>"$log" 2>&1; then
    rm -f "$log"
    return
  fi
  cat "$log" >&2
  rm -f "$log"
  echo "deps.sh: could not install: ${missing[*]}" >&2
  return 1
}

can_install() {
  command -v apt-get >/dev/null || return 1
  ((EUID == 0)) || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }
}

# Each by itself, so that one that is not there keeps no other away.
install_optional() { # needs
  local package
  find_missing "$1"
  for package in "${missing[@]}"; do
    missing=("$package")
    if ! can_install || ! install_packages; then
      echo "deps.sh: without $package; what needs it is left out, its tests are skipped" >&2
    fi
  done
}

look_only=false
if [[ ${1:-} == --look ]]; then
  look_only=true
  shift
fi
optional=
case ${1:-} in
  build) needs=$BUILD_NEEDS optional=$BUILD_OPTIONAL ;;
  page) needs=$BUILD_NEEDS optional=$PAGE_NEEDS ;;
  check) needs=$BUILD_NEEDS$CHECK_NEEDS$SWEEP_NEEDS optional=$BUILD_OPTIONAL$PAGE_NEEDS$CHECK_OPTIONAL ;;
  sweep) needs=$SWEEP_NEEDS ;;
  site) needs=$SITE_NEEDS ;;
  peers) needs=$BUILD_NEEDS$PEERS_NEEDS optional=$BUILD_OPTIONAL ;;
  mpi) needs=$BUILD_NEEDS$MPI_NEEDS optional=$BUILD_OPTIONAL ;;
  arm64) needs=$BUILD_NEEDS$ARM64_NEEDS ;;
  long) needs=$BUILD_NEEDS$CHECK_NEEDS$SWEEP_NEEDS$MPI_NEEDS$SLURM_NEEDS optional=$BUILD_OPTIONAL$PAGE_NEEDS$CHECK_OPTIONAL ;;
  *) usage ;;
esac

find_missing "$needs"
if $look_only && ((${#missing[@]} > 0)); then
  echo "Missing: ${missing[*]}. Run: scripts/deps.sh $1" >&2
  exit 1
fi
if $look_only; then exit 0; fi

if ((${#missing[@]} > 0)); then
  if ! can_install; then
    echo "Missing packages, and no right to install them (neither root nor sudo). Please install:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  install_packages || exit 1
  find_missing "$needs"
  if ((${#missing[@]} > 0)); then
    echo "deps.sh: error: still missing after the installation: ${missing[*]}" >&2
    exit 1
  fi
fi
install_optional "$optional"
