#!/bin/bash
# Tests that 64-bit ARM gives the same bits (scripts/check_arm64.sh): hulls, meshes, round bodies, joints, contact,
# friction and an optimization.
cd "$(dirname "$0")/../.." && exec env -u SDRS_LONG scripts/check_arm64.sh slide bounce spider chains tumble balls mesh tasks/reach tasks/grasp-free
