#!/bin/bash
# Tests that the meshes in assets/ equal the output of scripts/make_assets.py.
cd "$(dirname "$0")/../.." || exit 1
if scripts/make_assets.py --check; then
  echo "1 passed, 0 failed"
else
  echo "0 passed, 1 failed"
  exit 1
fi
