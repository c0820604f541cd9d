#!/bin/bash
# Tests that rendering needs only the program and its libraries. In a root directory with these only, without
# environment, /proc, /dev and /tmp, the pictures have the same bytes. Skipped without permission to change the root.
cd "$(dirname "$0")/../.." || exit 1
SDRS=${SDRS:-./sdrs}
root=$(mktemp -d) || exit 1
trap 'rm -rf "$root"' EXIT
passed=0 failed=0

judge() { # name, what is wrong ("" = nothing)
  if [[ -z $2 ]]; then
    passed=$((passed + 1))
    echo "ok   $1"
  else
    failed=$((failed + 1))
    printf 'FAIL %s\n%s\n' "$1" "$2"
  fi
}

if ! chroot / true 2>/dev/null; then
  echo "SKIP pictures in an empty root: only root may change the root directory"
  echo "0 passed, 0 failed"
  exit 0
fi

cp "$SDRS" "$root/sdrs"
mapfile -t libraries < <(ldd "$SDRS" | grep -o '/[^ ]*')
for library in "${libraries[@]}"; do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done
cp tests/cli/shared/rest.yaml "$root/rest.yaml"

chroot=$(command -v chroot)
# shellcheck disable=SC2069 # errors to the caller, the rest to a file
inside() { env -i "$chroot" "$root" /sdrs "$@" 2>&1 >"$root/said"; } # its errors

judge "a scene's picture" "$(inside render rest.yaml -o scene.png --size 320x240 -q)"
judge "a run" "$(inside simulate rest.yaml -o run -q)"
judge "a run's picture with marks" "$(inside render run -o run.png --size 320x240 --show contacts,forces,planes,path -q)"
judge "frames" "$(inside render run -o frames/ --size 64x48 -q)"
judge "a model" "$(inside render run -o run.glb -q)"
start=$(head -c 8 "$root/scene.png" | od -An -tx1)
judge "it is a PNG" "$([[ $start == " 89 50 4e 47 0d 0a 1a 0a" ]] || echo "begins with$start")"
"$SDRS" render "$root/rest.yaml" -o "$root/here.png" --size 320x240 -q >/dev/null
judge "it has the bytes of one made here" "$(cmp "$root/scene.png" "$root/here.png" 2>&1)"
message=$(inside render run -o run.mp4 --size 64x48 -q)
judge "a film says what is missing" "$([[ $message == *ffmpeg* ]] || echo "$message")"

echo "$passed passed, $failed failed"
exit $((failed > 0))
