#!/bin/bash
# The shipped scenes of machines, sentence by sentence of what their headers promise: kinematics and motion against closed forms and against
# equations of motion that are integrated here, energy and its order for every integrator, a hundred times the weight on closed loops, a pole
# held from starts that its task has not seen, and the gradient of every block through what the scene shows.
# The program is $SDRS (default ./sdrs). Prints one line a scene with how far it was off, and `N passed, N failed`; exits 1 when one failed.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

exec python3 -B tests/long/machine_scenes.py "${SDRS:-./sdrs}" "$@"
