#!/bin/bash
# Linkages of planes and of space - a pantograph, Jansen's leg, an excavator's arm, a universal joint, Bennett's and Sarrus' linkages, a delta
# robot, a ring that flies, a parallelogram that swings through where it is flat - each as a tree with closures and of free bodies alone, against
# closed forms, with every integrator, and with their gradients. The program is $SDRS (default ./sdrs). Prints one line a linkage and
# `N passed, N failed`; exits 1 when one failed.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

exec python3 -B tests/long/linkages.py "${SDRS:-./sdrs}" "$@"
