#!/bin/bash
# Tests user scenes (tests/scenes/strangers). Each runs to its end, is certified by simulate and by certify, and agrees
# with its closed form (strangers.py). The program is $SDRS (./sdrs). Prints one line per case and `N passed, N failed`;
# exits 1 if a case failed.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

exec python3 -B tests/long/strangers.py "${SDRS:-./sdrs}" "$@"
