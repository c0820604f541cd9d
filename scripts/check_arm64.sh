#!/bin/bash
# Are results on 64-bit ARM those of x86-64, to the bit? Builds sdrs with Debian's cross compiler against arm64 packages unpacked in
# out/arm64, and runs it under qemu-user beside the native program: scripts/check_bits.sh compares all numbers of the run folders.
#   scripts/check_arm64.sh [NAME...]   NAME: a scene or task (slide, tasks/pinch); default: those of scripts/check_bits.sh
#   scripts/check_arm64.sh --build     only build, to out/build/arm64/sdrs
# The native program is $SDRS (default ./sdrs, which is built). Prints one line a run and `N passed, N failed`; exits 1 when one failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

ROOT=$PWD/out/arm64
PROGRAM=out/build/arm64/sdrs
EMULATED=out/build/arm64/sdrs-qemu
PACKAGES=(libc6-dev libgomp1 libyaml-dev libcjson-dev libexpat1-dev zlib1g-dev libassimp-dev libqhull-dev
  libsuitesparse-dev libsleef-dev libglpk-dev liblapacke-dev liblapack-dev libblas-dev libstb-dev libmicrohttpd-dev)

# The packages and what they need, unpacked: apt with lists and a state of its own, so that the machine's stay as they are.
fetch_root() {
  local package
  mkdir -p "$ROOT" "$apt"/{lists/partial,cache/archives/partial,state}
  : >"$apt/status"
  cat >"$apt/conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "root";
Dir::State "$apt/state";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
END
  export APT_CONFIG=$apt/conf
  if ! apt-get -qq update || ! apt-get -qq -y --download-only --no-install-recommends install "${PACKAGES[@]}" >"$apt/log" 2>&1; then
    cat "$apt/log"
    return 1
  fi
  unset APT_CONFIG
  for package in "$apt"/cache/archives/*.deb; do dpkg-deb -x "$package" "$ROOT" || return 1; done
}

# Debian's arm64 builds of Qhull, GLPK, LAPACK and BLAS use fused operations. Fetches the source packages of this machine's versions to
# out/arm64-apt/sources, compiles them without, and puts them in the place of Debian's.
build_unfused() {
  local release lib=$ROOT/usr/lib/aarch64-linux-gnu file member map=$apt/map
  local -a members compile=(aarch64-linux-gnu-gcc --sysroot="$ROOT" -O2 -fPIC -ffp-contract=off -w)
  # shellcheck disable=SC1091
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mkdir -p "$apt"/{source-lists/partial,sources,lapack}
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $release main" >"$apt/sources.list"
  cat >"$apt/source-conf" <<END
APT::Sandbox::User "root";
Dir::State::lists "$apt/source-lists";
Dir::Cache "$apt/cache";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "-";
END
  (cd "$apt/sources" && export APT_CONFIG=$apt/source-conf && apt-get -qq update && apt-get -qq source qhull glpk lapack >"$apt/log" 2>&1) ||
    { cat "$apt/log"; return 1; }

  "${compile[@]}" -shared -Wl,-soname,libqhull_r.so.8.0 "$apt"/sources/qhull-*/src/libqhull_r/*.c -lm -o "$lib/libqhull_r.so.8.0" || return 1
  (
    cd "$apt"/sources/glpk-*/src || exit 1
    "${compile[@]}" -DTLS=__thread -DHAVE_SYS_TIME_H -DHAVE_GETTIMEOFDAY -I. -I{api,bflib,draft,env,intopt,minisat,misc,mpl,npp,proxy,simplex} \
      -I"$ROOT/usr/include/suitesparse" -shared -Wl,-soname,libglpk.so.40 {api,bflib,draft,env,intopt,minisat,misc,mpl,npp,proxy,simplex}/*.c \
      -lamd -lcolamd -lz -lm -o "$lib/libglpk.so.40"
  ) || return 1

  # Of LAPACK and BLAS only the members that src/linalg/dense.c needs.
  aarch64-linux-gnu-gcc -D_GNU_SOURCE --sysroot="$ROOT" -Isrc -c src/linalg/dense.c -o "$apt/dense.o" || return 1
  aarch64-linux-gnu-gcc --sysroot="$ROOT" -r -nostdlib "$apt/dense.o" -l:liblapacke.a -l:lapack/liblapack.a -l:blas/libblas.a -Wl,-Map="$map" \
    -o "$apt/linked.o" || return 1
  for member in la_constants la_xisnan $(grep -oE 'lib(lapack|blas)\.a\([^)]*\)' "$map" | sed 's/.*(\(.*\)\.o)/\1/' | sort -u); do
    for file in "$apt"/sources/lapack-*/{SRC,BLAS/SRC,INSTALL}/"$member".{f,f90,F90}; do
      if [[ -e $file ]]; then
        aarch64-linux-gnu-gfortran -O2 -frecursive -fPIC -ffp-contract=off -J "$apt/lapack" -c "$file" -o "$apt/lapack/$member.o" || return 1
        break
      fi
    done
    [[ -e $apt/lapack/$member.o ]] || { echo "check_arm64.sh: no source of LAPACK's $member"; return 1; }
  done
  for file in "$lib/lapack/liblapack.a" "$lib/blas/libblas.a"; do
    mapfile -t members < <(cd "$apt/lapack" && aarch64-linux-gnu-ar t "$file" | xargs ls -d 2>/dev/null)
    (cd "$apt/lapack" && aarch64-linux-gnu-ar r "$file" "${members[@]}") || return 1
  done
}

scripts/deps.sh arm64 || exit 1
if [[ ! -e $ROOT/complete ]]; then
  apt=$PWD/out/arm64-apt
  rm -rf "${ROOT:?}" "$apt"
  fetch_root || { echo "check_arm64.sh: no arm64 packages"; exit 1; }
  build_unfused || { echo "check_arm64.sh: no libraries without fused operations"; exit 1; }
  rm -rf "$apt"
  touch "$ROOT/complete"
fi
"${MAKE:-make}" --no-print-directory FLAVOUR=arm64 program || exit 1
if [[ ${1:-} == --build ]]; then exit 0; fi
if [[ ! ${SDRS:-} ]]; then "${MAKE:-make}" --no-print-directory FLAVOUR=release program || exit 1; fi

# Baseline arm64 has fused operations, which must not be used. libgcc's products and quotients of complex numbers have some.
fused=$(aarch64-linux-gnu-objdump -d --no-show-raw-insn "$PROGRAM" | awk '
  /^[0-9a-f]+ </ { own = $2 !~ /__(mul|div)dc3/ }
  own && /[[:space:]](fn?m(add|sub)|fml[as])[[:space:]]/ { count++ }
  END { print count + 0 }')
if ((fused > 0)); then
  echo "FAIL $fused fused operations in $PROGRAM"
  exit 1
fi
cat >"$EMULATED" <<END
#!/bin/sh
exec qemu-aarch64-static -L $ROOT $PROGRAM "\$@"
END
chmod +x "$EMULATED"
SDRS_OTHER=$EMULATED exec scripts/check_bits.sh "$@"
