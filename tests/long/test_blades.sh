#!/bin/bash
# Wheels of blades that turn up to 6 rad a step and meet chips (blades.py), under separating_plane: all run to their end and are certified.
# BLADES_SEEDS (100) of them by the program $SDRS (default ./sdrs). Prints `N passed, N failed`; exits 1 when one failed.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

exec python3 -B tests/long/blades.py "${SDRS:-./sdrs}" --count "${BLADES_SEEDS:-100}" --seconds 600
