#!/bin/bash
# A search for trouble (trouble.py): random scenes of every solid, joint, limit, drive and integrator, over all scales.
# TROUBLE_SEEDS (1000) of them from TROUBLE_FIRST (1) on, by the program $SDRS (default ./sdrs). What fails is kept small
# in out/trouble. TROUBLE_MACHINES=1: the same scenes with what machines are made of (trouble_machines.py). Prints one line a finding and `N passed, N failed`; exits 1 when one failed.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

exec python3 -B tests/long/trouble.py "${SDRS:-./sdrs}" --from "${TROUBLE_FIRST:-1}" --count "${TROUBLE_SEEDS:-1000}" ${TROUBLE_MACHINES:+--machines}
