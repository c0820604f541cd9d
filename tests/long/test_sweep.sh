#!/bin/bash
# Tests that a killed and resumed sweep gives the table of an uninterrupted one, except for timings. The sweep is killed
# three times. Tests simulations, and designs that resume from checkpoints.
cd "$(dirname "$0")/../.." || exit 1
SDRS=${SDRS:-./sdrs}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

judge() { # name, what is wrong ("" = nothing)
  if [[ -z $2 ]]; then
    passed=$((passed + 1))
    echo "ok   $1"
  else
    failed=$((failed + 1))
    printf 'FAIL %s\n%s\n' "$1" "$2"
  fi
}

rows_ended() { find "$1" -name summary.json 2>/dev/null | wc -l; }

# SIGKILL for everything of the sweep, rows too (GNU parallel gives each a process group of its own): by its session.
kill_session() { # its leader
  local -a members
  mapfile -t members < <(ps -o pid= -s "$1")
  kill -KILL "${members[@]}" 2>/dev/null
  wait "$1" 2>/dev/null
}

# Start the sweep, kill it when it has ended so many rows more, three times; then let it end.
broken_sweep() { # folder, rows before each death, sweep's other arguments...
  local folder=$1 share=$2 death before leader
  shift 2
  for death in 1 2 3; do
    before=$(rows_ended "$folder")
    setsid scripts/sweep.sh -q -j 2 -o "$folder" "$@" >/dev/null 2>>"$work/errors" &
    leader=$!
    while kill -0 "$leader" 2>/dev/null && (($(rows_ended "$folder") < before + share)); do sleep 0.02; done
    kill_session "$leader"
    if (($(rows_ended "$folder") >= rows)); then echo "death $death came after the last row"; fi
  done
  scripts/sweep.sh -q -j 2 -o "$folder" "$@" >/dev/null || echo "the last call ends with exit code $?"
}

compare_tables() { # broken, whole
  local name
  for name in "$1" "$2"; do scripts/collect.py --no-timings "$name" >"$name.csv" || echo "$name: rows are not done"; done
  cmp "$1.csv" "$2.csv" || diff "$1.csv" "$2.csv" | head
}

check_sweep() { # name, rows, rows before each death, sweep's other arguments...
  local name=$1 share=$3 problem
  rows=$2
  shift 3
  scripts/sweep.sh -q -j 1 -o "$work/$name-whole" "$@" >/dev/null || problem="the unbroken sweep fails"
  problem+=$(broken_sweep "$work/$name-broken" "$share" "$@")
  problem+=$(compare_tables "$work/$name-broken" "$work/$name-whole")
  if (($(wc -l <"$work/$name-whole.csv") != rows + 1)); then problem+="the table has not $rows rows"; fi
  judge "$name: killed three times" "$problem"
}

cat >"$work/slide.yaml" <<END
contact.friction: [$(seq -s , 0.05 0.05 1)]
links.box.mass: [$(seq -s , 1 10)]
END
check_sweep simulate 200 40 "$work/slide.yaml" -- "$SDRS" simulate scenes/slide.yaml --steps 100

# Designs of a few dozen iterations with a checkpoint after each, so that every death leaves some on their way.
cat >"$work/spider.yaml" <<END
optimizer.control_step: [0.3, 0.2, 0.1, 0.05]
scene.contact.friction: [0.6, 0.75, 0.9]
END
check_sweep optimize 12 2 "$work/spider.yaml" -- "$SDRS" optimize scenes/tasks/spider-control.yaml --iterations 25 \
  --set optimizer.save_every=1
judge "designs went on from checkpoints" \
  "$(grep -qs 'goes on after iteration [1-9]' "$work"/optimize-broken/*/log || echo "all of them began anew")"

echo "$passed passed, $failed failed"
((failed == 0))
