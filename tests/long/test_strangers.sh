#!/bin/bash
# Scenes that strangers brought (tests/scenes/strangers): each runs to its end, is certified twice (by simulate, step by
# step, and by certify, from its files), and gives the number that its closed form asks for (strangers.py).
# The program is $SDRS (default ./sdrs). Prints one line a case and `N passed, N failed`; exits 1 when one failed.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

exec python3 -B tests/long/strangers.py "${SDRS:-./sdrs}" "$@"
