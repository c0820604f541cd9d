#!/bin/bash
# Are results on 64-bit ARM those of x86-64, to the bit? Builds sdrs with Debian's cross compiler against arm64 packages unpacked in
# out/arm64, and runs it under qemu-user beside the native program: scripts/check_bits.sh compares all numbers of the run folders.
#   scripts/check_arm64.sh [NAME...]   NAME: a scene or task (slide, tasks/pinch); default: those of scripts/check_bits.sh
#   scripts/check_arm64.sh --build     only build, to out/build/arm64/sdrs
# The native program is $SDRS (default ./sdrs). Prints one line a run and `N passed, N failed`; exits 1 when one failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

ROOT=out/arm64
PROGRAM=out/build/arm64/sdrs
EMULATED=out/build/arm64/sdrs-qemu
PACKAGES=(libc6-dev libgomp1 libyaml-dev libcjson-dev libexpat1-dev zlib1g-dev libzip-dev libassimp-dev libqhull-dev
  libsuitesparse-dev libsleef-dev libglpk-dev libstb-dev libmicrohttpd-dev)

# The packages and what they need, unpacked: apt with lists and a state of its own, so that the machine's stay as they are.
fetch_root() {
  local apt=$PWD/out/arm64-apt package
  rm -rf "${ROOT:?}" "$apt"
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
  rm -rf "$apt"
  touch "$ROOT/complete"
}

scripts/deps.sh arm64 || exit 1
if [[ ! -e $ROOT/complete ]] && ! fetch_root; then
  echo "check_arm64.sh: no arm64 packages"
  exit 1
fi
"${MAKE:-make}" --no-print-directory FLAVOUR=arm64 program || exit 1
if [[ ${1:-} == --build ]]; then exit 0; fi

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
