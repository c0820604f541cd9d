#!/bin/bash
# Ordinary motion against known answers, with defaults and as the guide recommends: rows.py is the table.
# The program is $SDRS (default ./sdrs). Ends with `N passed, N failed`.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

SDRS=$(realpath "${SDRS:-./sdrs}")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
python3 -B tests/physics/battery.py "$SDRS" "$work"
