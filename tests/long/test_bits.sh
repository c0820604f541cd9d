#!/bin/bash
# Tests that other processors give the same bits over long runs (scripts/check_bits.sh).
cd "$(dirname "$0")/../.." && exec scripts/check_bits.sh --long
