#!/bin/bash
# Synthetic truth: an arm of seven joints and a pushed box. Data is made by the program with other numbers: without noise every
# base parameter comes out within 0.1 %; with noise of the task's size intervals hold most of the truth; with data of half the time
# step and of the other integrator the error that is left is the models' difference. The run that is killed goes on to the same files.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
SDRS=$(realpath "${SDRS:-./sdrs}")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
SDRS=$SDRS work=$work python3 tests/long/identify_synthetic.py "$@" || exit 1
echo "test_identify_synthetic: passed"
