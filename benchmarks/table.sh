# shellcheck shell=bash disable=SC2034
# Sourced by the scripts that measure a table of benchmarks/results row by row: `program` is the one to measure ($SDRS, else ./sdrs), `folder` where runs go
# (the argument, else one of its own that is removed at the end), `table` a file for the rows; publish puts it in its place, benchmarks/results/$1.
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
program=${SDRS:-./sdrs}
folder=${1:-$(mktemp -d)}
table=$(mktemp)
scratch=("$table")
if [[ $# == 0 ]]; then scratch+=("$folder"); fi
trap 'rm -rf "${scratch[@]}"' EXIT
mkdir -p "$folder"

publish() { # file
  cp "$table" "benchmarks/results/$1"
  cat "$table"
}
