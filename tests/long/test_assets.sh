#!/bin/bash
# The meshes in assets/ are what scripts/make_assets.py writes.
cd "$(dirname "$0")/../.." || exit 1
if scripts/make_assets.py --check; then
  echo "1 passed, 0 failed"
else
  echo "0 passed, 1 failed"
  exit 1
fi
