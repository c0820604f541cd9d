#!/bin/bash
# Tests every scene and task of the repository with each key removed, and each value replaced by nothing, a list or a
# map. Runs under the address and undefined-behaviour sanitizers. `make check` tests a sample.
set -euo pipefail
cd "$(dirname "$0")/../.."
make -s FLAVOUR=asan out/build/asan/tests/unit/scene/test_schema_mutation
SDRS_MUTATIONS=all out/build/asan/tests/unit/scene/test_schema_mutation
echo "1 passed, 0 failed"
