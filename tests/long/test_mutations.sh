#!/bin/bash
# Every key of every shipped scene and task taken out, and every value replaced by nothing, a list and a map, one at a
# time, under the address and undefined-behaviour sanitizers. `make check` tries a sample of these.
set -euo pipefail
cd "$(dirname "$0")/../.."
make -s FLAVOUR=asan out/build/asan/tests/unit/scene/test_schema_mutation
SDRS_MUTATIONS=all out/build/asan/tests/unit/scene/test_schema_mutation
echo "1 passed, 0 failed"
