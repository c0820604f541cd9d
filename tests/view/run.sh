#!/bin/bash
# The live view, `sdrs simulate --view` and `sdrs optimize --view`, asked by a small client over the loopback:
# tests/view/view.py has what is looked at. Skipped where libmicrohttpd is missing or the build has no page. The program
# is $SDRS (./sdrs).
set -euo pipefail
cd "$(dirname "$0")/../.."

SDRS=$(realpath "${SDRS:-./sdrs}")
skip() {
  echo "SKIP the live view: $1"
  echo "0 passed, 0 failed"
  exit 0
}

command -v python3 >/dev/null || skip "python3 is not installed"
"$SDRS" --version | grep -q '^page *three.js' || skip "this build has no page"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$SDRS" simulate scenes/slide.yaml --steps 1 -q --view --no-stay -o "$work/look" >/dev/null 2>"$work/problem" ||
  skip "$(<"$work/problem")"
python3 tests/view/view.py "$SDRS" "$work"
