#!/bin/bash
# The same numbers as on other processors, over longer runs (scripts/check_bits.sh).
cd "$(dirname "$0")/../.." && exec scripts/check_bits.sh --long
