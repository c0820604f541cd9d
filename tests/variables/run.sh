#!/bin/bash
# Every kind of variable recovers the truth from synthetic data, in sdrs identify and in sdrs optimize (variables.py).
# Usage: tests/variables/run.sh [CASE...]; the program is $SDRS (default ./sdrs).
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
python3 -B tests/variables/variables.py "$(realpath "${SDRS:-./sdrs}")" "$work" "$@"
