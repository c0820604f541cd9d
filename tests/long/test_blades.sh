#!/bin/bash
# Tests wheels of thin blades that rotate by up to 6 rad per step and collide with chips (blades.py), under
# separating_plane. All scenes run to their end and are certified. BLADES_SEEDS: number of scenes (100). SDRS: the
# program (./sdrs). Prints `N passed, N failed`; exits 1 if a scene failed.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

exec python3 -B tests/long/blades.py "${SDRS:-./sdrs}" --count "${BLADES_SEEDS:-100}" --seconds 600
