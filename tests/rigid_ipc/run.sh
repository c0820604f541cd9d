#!/bin/bash
# scripts/rigid_ipc.py: small fixtures of its own, one for each rule and each refusal (check.py), and, where SDRS_LONG is
# set, every fixture of ../shared/data/rigid_ipc, converted and validated. The program is $SDRS (default ./sdrs).
# Prints one line a case and `N passed, N failed`; exits 1 when one failed.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

exec python3 -B tests/rigid_ipc/check.py "${SDRS:-./sdrs}" ../shared/data/rigid_ipc "$@"
