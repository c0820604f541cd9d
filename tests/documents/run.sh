#!/bin/bash
# The commands that README.md and docs/ show, run in their order, long ones made shorter (still shorter without SDRS_LONG), and the scenes and tasks that stand there in full.
# tests/documents/examples.py says what is left out and why. The program is $SDRS (default ./sdrs). Ends with `N passed, N failed`.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

SDRS=$(realpath "${SDRS:-./sdrs}")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
for name in assets docs scenes scripts tests examples python Makefile; do ln -s "$PWD/$name" "$work/$name"; done
ln -s "$SDRS" "$work/sdrs"
mkdir -p "$work/bin" && ln -s "$SDRS" "$work/bin/sdrs"
PATH=$work/bin:$PATH exec python3 -B tests/documents/examples.py "$PWD" "$work"
