#!/bin/bash
# Machines of one or two links against closed forms, one case for each thing that scenes of machines promise: drives and their limits, feedback
# and delay, passive joints, couplings, screws, closures of every kind under a hundred times the weight, materials, terrain, prescribed bodies.
# The program is $SDRS (default ./sdrs). Prints one line a case with how far it was off, and `N passed, N failed`; exits 1 when one failed.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

exec python3 -B tests/long/machine_clauses.py "${SDRS:-./sdrs}" "$@"
