#!/bin/bash
# benchmarks/results/optimizers.csv: measured runs fitted by Levenberg and Marquardt's method and by each optimizer of sdrs optimize, with
# what each needs: simulated runs and windows, processor seconds, half the sum of squares reached.
#   benchmarks/measure_optimizers.sh [RESULTS.csv]
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
SDRS=$(realpath "${SDRS:-./sdrs}")
out=${1:-benchmarks/results/optimizers.csv}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
echo "problem,method,iterations,simulated,seconds,cost,stop" >"$out"
for problem in pendulum pushed; do
  for type in levenberg_marquardt lbfgs adam step_bounded gradient cma_es; do
    : >"$work/time"
    TIMEFORMAT=%U
    { time "$SDRS" identify "scenes/identify/$problem.yaml" -q --threads 1 -o "$work/fit" --set scene.simulation.dt="$([[ $problem == pendulum ]] && echo 0.005 || echo 0.004)" \
      --set optimizer.type=$type --set optimizer.iterations=300 --set optimizer.design_step=0.05 --set optimizer.control_step=0.05 >/dev/null 2>&1; } 2>"$work/time"
    python3 - "$problem" "$type" "$work" >>"$out" <<'P' || exit 1
import json
import sys

problem, method, work = sys.argv[1:]
fit = json.load(open(f"{work}/fit/identify.json"))
seconds = float(open(f"{work}/time").read().split()[-1])
print(f"{problem},{method},{fit['iterations']},{fit['simulated']},{seconds:.2f},{fit['cost']:.6g},{fit['stop']}")
P
  done
done
