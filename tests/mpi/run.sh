#!/bin/bash
# sdrs optimize and identify over the processes of mpirun: the same bits as one process, an orderly end on a signal, and a
# checkpoint that survives the death of a process.
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/support/cpu.sh
. tests/support/cpu.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
TASK=scenes/tasks/throw-four.yaml
SDRS=out/build/${FLAVOUR:-release}/sdrs-mpi

if ! command -v mpirun >/dev/null || ! command -v mpicc >/dev/null; then
  echo "SKIP tests/mpi: no OpenMPI here (scripts/deps.sh mpi)"
  echo "0 passed, 0 failed"
  exit 0
fi
# Neither the flags of a make above nor its ./sdrs.
if ! env -u MAKEFLAGS -u MAKELEVEL make -s -j2 MPI=1 PROGRAM="$SDRS" program; then
  echo "0 passed, 1 failed"
  exit 1
fi

# A container's root may, and more processes than processors must.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpi() { mpirun --oversubscribe -n "$@"; }

cpu_read
judge() { # name, what is wrong ("" = nothing)
  cpu_spent
  if [[ -z $2 ]]; then
    passed=$((passed + 1))
    echo "ok   $1 ($SPENT cpu s)"
  else
    failed=$((failed + 1))
    printf 'FAIL %s (%s cpu s)\n%s\n' "$1" "$SPENT" "$2"
  fi
}

# The log of iterations without its time.
convergence() {
  python3 - "$1/convergence.csv" <<'END'
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    del row["seconds"]
    print(*row.values(), sep=",")
END
}

differences() { # two run folders
  diff <(convergence "$1") <(convergence "$2") | head -n 5
  cmp "$1/design.csv" "$2/design.csv"
}

"$SDRS" optimize $TASK -q -o "$work/alone" >/dev/null
for processes in 6 ${SDRS_LONG:+2 4}; do # 6: more than scenarios
  said=$(mpi "$processes" "$SDRS" optimize $TASK -q -o "$work/$processes") || said+=" exit code $?"
  [[ $said == "$work/$processes" ]] && said=
  judge "$processes processes" "$said$(differences "$work/alone" "$work/$processes" 2>&1)"
done

# The best throw by its closed form (scenes/tasks/throw-four.yaml); creep and the lagged friction are below 1 mm/s.
judge "the best throw" "$(
  python3 - "$work/6/design.csv" <<'END'
import csv, math, sys
found = [float(row["best"]) for row in csv.DictReader(open(sys.argv[1]))]
mark, g = math.hypot(0.5, 0.2), 9.81
loss = lambda v: sum((v * v / (2 * m * g) - mark) ** 2 for m in (0.24, 0.28, 0.32, 0.36))
best = min((k * 1e-5 for k in range(100000, 300000)), key=loss)
expected = [best * 0.5 / mark, best * 0.2 / mark]
if max(abs(a - b) for a, b in zip(found, expected)) > 1e-3:
    print("found", found, "expected", expected)
END
)"

# Discrete choices: all processes go through the candidates together.
if [[ -n ${SDRS_LONG:-} ]]; then
  "$SDRS" optimize scenes/tasks/choose.yaml -q -o "$work/choose" >/dev/null
  said=$(mpi 2 "$SDRS" optimize scenes/tasks/choose.yaml -q -o "$work/choose2") || said+=" exit code $?"
  [[ $said == "$work/choose2" ]] && said=
  judge "discrete choices" "$said$(cmp "$work/choose/choices.csv" "$work/choose2/choices.csv" 2>&1)$(differences "$work/choose" "$work/choose2" 2>&1)"
fi

# Several starts, by gradients and by samples: all processes go through them together. With 8 of them the best is not the first.
for type in ${SDRS_LONG:+lbfgs cma_es}; do
  starts=("$SDRS" optimize tests/cli/optimize-multistart/wave.task.yaml -q --set multistart=8 --set "optimizer.type=$type")
  "${starts[@]}" -o "$work/starts.$type" >/dev/null
  for processes in $([[ $type == lbfgs ]] && echo 3 || echo 2) ${SDRS_LONG:+4}; do
    said=$(mpi "$processes" "${starts[@]}" -o "$work/starts.$type.$processes") || said+=" exit code $?"
    [[ $said == "$work/starts.$type.$processes" ]] && said=
    problem=$(grep -q '"starts": 8' "$work/starts.$type.$processes/summary.json" || echo "not 8 starts")
    judge "8 starts, $type, $processes processes" "$said$problem$(differences "$work/starts.$type" "$work/starts.$type.$processes" 2>&1)"
  done
done

# A long way, so that there is time to die on it: small steps, a checkpoint after each.
steps=$([[ -n ${SDRS_LONG:-} ]] && echo 50 || echo 20)
long=("$SDRS" optimize "$TASK" --set "optimizer={type: adam, iterations: $steps, control_step: 0.01, save_every: 1}")
"${long[@]}" -q -o "$work/long" >/dev/null

iterations() { if [[ -e $1/convergence.csv ]]; then wc -l <"$1/convergence.csv"; else echo 0; fi; }

# Start with three processes in the background; `launcher` is mpirun's number.
start_and_wait() { # folder, lines of convergence.csv to wait for, options...
  mpirun --oversubscribe -n 3 "${long[@]}" -q -o "$1" "${@:3}" >"$work/said" 2>&1 &
  launcher=$!
  while kill -0 "$launcher" 2>/dev/null && (($(iterations "$1") < $2)); do sleep 0.02; done
}

for victim in ${SDRS_LONG:+last first}; do
  start_and_wait "$work/$victim" 10
  mapfile -t ranks < <(pgrep -P "$launcher")
  if [[ $victim == first ]]; then kill -KILL "${ranks[0]}"; else kill -KILL "${ranks[-1]}"; fi
  wait "$launcher"
  code=$?
  problem=$( ((code != 0)) || echo "mpirun ends with 0")
  [[ ${#ranks[@]} == 3 ]] || problem+="${#ranks[@]} processes"
  (($(iterations "$work/$victim") < steps + 2)) || problem+="it was killed after the end"
  mpi 3 "${long[@]}" -q -o "$work/$victim" --resume >/dev/null || problem+="cannot go on: exit code $?"
  judge "the $victim process dies" "$problem$(differences "$work/long" "$work/$victim" 2>&1)"
done

start_and_wait "$work/asked" 4
kill -USR1 "$launcher"
wait "$launcher"
code=$?
problem=$([[ $code == 130 ]] || echo "exit code $code"; grep -qs '"exit_code": 130' "$work/asked/summary.json" || echo "no summary")
mpi 2 "${long[@]}" -q -o "$work/asked" --resume >/dev/null || problem+="cannot go on: exit code $?"
judge "SIGUSR1, then on with two processes" "$problem$(differences "$work/long" "$work/asked" 2>&1)"

# One message, not one of each process, and nobody waits for ever.
said=$(timeout 60 mpirun --oversubscribe -n 3 "$SDRS" optimize $TASK -q -o "$work/bad" --set optimizer.type=none 2>&1)
code=$?
problem=$( ((code == 3)) || echo "exit code $code")
judge "bad input" "$problem$([[ $(grep -c 'error: optimizer' <<<"$said") == 1 ]] || echo "$said")"

# ---- identify

fit=("$SDRS" identify scenes/identify/arm.yaml -q)
fits_differ() { # two run folders; summary.json has times
  local file
  for file in identify.json fitted.scene.yaml residuals.csv errors.csv overlay/trajectory.csv; do cmp "$1/$file" "$2/$file"; done
}

"${fit[@]}" -o "$work/fit" >/dev/null 2>&1 || judge "identify alone" "exit code $?"
for processes in 5 ${SDRS_LONG:+2}; do # 5: more than runs
  said=$(mpi "$processes" "${fit[@]}" -o "$work/fit$processes" 2>/dev/null) || said+=" exit code $?"
  [[ $said == "$work/fit$processes" ]] && said=
  judge "identify: $processes processes" "$said$(fits_differ "$work/fit" "$work/fit$processes" 2>&1)"
done

if [[ -n ${SDRS_LONG:-} ]]; then
  mpirun --oversubscribe -n 3 "${fit[@]}" -o "$work/died" >"$work/said" 2>&1 &
  launcher=$!
  while kill -0 "$launcher" 2>/dev/null && [[ ! -e $work/died/checkpoint ]]; do sleep 0.02; done
  mapfile -t ranks < <(pgrep -P "$launcher")
  kill -KILL "${ranks[1]}" || echo "no process to kill: $(<"$work/said")"
  wait "$launcher"
  code=$?
  problem=$( ((code != 0)) || echo "mpirun ends with 0")
  [[ ! -e $work/died/identify.json ]] || problem+="it was killed after the end"
  mpi 2 "${fit[@]}" -o "$work/died" --resume >/dev/null 2>&1 || problem+="cannot go on: exit code $?"
  judge "identify: a process dies, on with two" "$problem$(fits_differ "$work/fit" "$work/died" 2>&1)"
fi

echo "$passed passed, $failed failed"
((failed == 0))
