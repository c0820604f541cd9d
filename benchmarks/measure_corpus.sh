#!/bin/bash
# Measures benchmarks/results/corpus.csv: every fixture of ../shared/data/rigid_ipc converted (scripts/rigid_ipc.py), run for at
# most 20 s of simulated time with one thread, certified from its files, and judged by numbers (benchmarks/judge_corpus.py).
#   benchmarks/measure_corpus.sh [FIXTURE...]    fixtures by their path without .json: their rows are printed; without any,
#                                             all of them: the table is written
# Every fixture is run with its own time step; those of FINER a second time with steps in so many parts.
# LIMIT (default 900) is the wall time in seconds that a run may take; the program is $SDRS (default ./sdrs). Scenes and runs
# are kept in out/corpus/.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

COLLECTION=../shared/data/rigid_ipc
SDRS=${SDRS:-./sdrs}
LIMIT=${LIMIT:-900}
LONGEST=20 # s of simulated time
OUT=out/corpus
TABLE=benchmarks/results/corpus.csv
declare -A FINER=(
  [friction/card-house/card-house-2-levels]=4
  [friction/card-house/card-house-3-levels-falling-blocks]=4
  [friction/turntable/turntable-mu=0.5]=10
)

if [[ ! -d $COLLECTION ]]; then
  echo "benchmarks/measure_corpus.sh: no $COLLECTION"
  exit 1
fi

duration_of() { sed -n 's/^simulation:.*duration: \([0-9.e+-]*\).*/\1/p' "$1"; }

simulate() { # scene, run folder, substeps; the processor's time goes to <run>.time, messages to <run>.said
  local -a shorter=(--set "simulation.substeps=$3")
  if awk -v own="$(duration_of "$1")" -v longest="$LONGEST" 'BEGIN { exit !(own + 0 > longest + 0) }'; then shorter+=(--set "simulation.duration=$LONGEST"); fi
  local TIMEFORMAT='%U %S'
  { time timeout -k 60 -s INT "$LIMIT" "$SDRS" simulate "$1" -q --threads 1 "${shorter[@]}" -o "$2" >/dev/null 2>"$2.said"; } 2>"$2.time"
}

measure() { # fixture; prints its row, or rows
  measure_in "$1" 1
  if [[ -n ${FINER[$1]:-} ]]; then measure_in "$1" "${FINER[$1]}"; fi
}

measure_in() { # fixture, substeps
  local name=$1 run=$OUT/${1//\//-} reason code certified=
  if ! reason=$(python3 -B scripts/rigid_ipc.py "$COLLECTION/fixtures/$name.json" --meshes "$COLLECTION/meshes" -o "$run.yaml" 2>&1); then
    python3 -B benchmarks/judge_corpus.py --refused "$name" "${reason##*cannot be converted: }"
    return
  fi
  rm -rf "$run"
  "$SDRS" validate "$run.yaml" -q >/dev/null 2>&1 # hulls of concave meshes are kept from here on and do not count
  simulate "$run.yaml" "$run" "$2"
  code=$?
  if ((code == 0)); then
    timeout "$LIMIT" "$SDRS" certify "$run" >"$run.certified" 2>&1
    certified=$?
  fi
  python3 -B benchmarks/judge_corpus.py "$name" "$run" "$code" "$certified" "$(awk '{ print $1 + $2 }' "$run.time")"
}

mkdir -p "$OUT"
if (($# > 0)); then
  for name in "$@"; do measure "$name"; done
  exit
fi
{
  python3 -B benchmarks/judge_corpus.py --header
  find "$COLLECTION/fixtures" -name '*.json' | sed "s#^$COLLECTION/fixtures/##; s#\.json\$##" | sort | while read -r name; do
    echo "$name" >&2
    measure "$name" </dev/null
  done
} >"$OUT/table.csv"
mv "$OUT/table.csv" "$TABLE"
awk -F, 'NR > 1 && ($6 != 0 || $7 != "yes" || $12 != "yes")' "$TABLE"
