#!/bin/bash
# Tests that a killed and resumed optimization ends with the same files, byte for byte except for timings. It is killed
# 20 times at random moments. Usage: tests/long/kill_resume.sh [SEED]; the program is $SDRS (./sdrs).
set -euo pipefail
cd "$(dirname "$0")/../.."

KILLS=20
SDRS=$(realpath "${SDRS:-./sdrs}")
seed=${1:-$((SRANDOM % 100000))}
RANDOM=$seed
echo "seed $seed"

work=$(mktemp -d)
finish() {
  local code=$?
  rm -rf "$work"
  if ((code == 0)); then echo "1 passed, 0 failed"; else echo "0 passed, 1 failed"; fi
}
trap finish EXIT
cp tests/cli/shared/push.task.yaml "$work"
cd "$work"
arguments=(push.task.yaml -q --iterations 1500 --set optimizer.type=adam --set optimizer.save_every=1)

now() { date +%s%N; }

begin=$(now)
"$SDRS" optimize "${arguments[@]}" -o whole >/dev/null
length=$((($(now) - begin) / 1000)) # microseconds
echo "unbroken: $((length / 1000)) ms"

kills=0 early=0
while ((kills < KILLS)); do
  resume=()
  [[ -e parts/checkpoint ]] && resume=(--resume)
  "$SDRS" optimize "${arguments[@]}" -o parts "${resume[@]}" >/dev/null &
  # on average a fortieth of the run, so that 20 of them leave something to do; 15 bits of chance
  wait_us=$((length * RANDOM / 20 / 32768))
  sleep "$(printf '%d.%06d' $((wait_us / 1000000)) $((wait_us % 1000000)))"
  if ! kill -KILL $! 2>/dev/null; then
    echo "the run was over before the kill number $((kills + 1))"
    exit 1
  fi
  wait $! 2>/dev/null || true
  kills=$((kills + 1))
  [[ -e parts/checkpoint ]] || early=$((early + 1))
done
reached=$(tail -n 1 parts/convergence.csv | cut -d, -f 1)
echo "$KILLS kills, $early before the first checkpoint; the log reaches iteration $reached"
"$SDRS" optimize "${arguments[@]}" -o parts --resume >/dev/null

diff <(cd whole && find . | sort) <(cd parts && find . | sort)
python3 - <<'P'
import csv, json, pathlib

def plain(path):
    """The file without what tells of time."""
    if path.name == "convergence.csv":
        rows = list(csv.reader(path.read_text().splitlines()))
        at = rows[0].index("seconds")
        return [row[:at] + row[at + 1:] for row in rows]
    if path.name == "summary.json":
        summary = json.loads(path.read_text())
        del summary["seconds"]
        return summary
    if path.name == "checkpoint":
        arrays, name = {}, None
        for line in path.read_text().splitlines()[2:]:
            if " " in line:
                name = line
                arrays[name] = []
            elif line != "end":
                arrays[name].append(line)
        for name, numbers in arrays.items():
            if name.startswith("doubles losses"): del numbers[2]  # the last is the time
            if name.startswith("doubles rows"): del numbers[6::8]  # the seventh of eight
        return arrays
    return path.read_bytes()

whole, count, different = pathlib.Path("whole"), 0, []
for path in sorted(whole.rglob("*")):
    if path.is_file():
        count += 1
        other = pathlib.Path("parts") / path.relative_to(whole)
        if plain(path) != plain(other): different.append(str(other))
print(count, "files compared;", len(different), "different", *different[:5])
raise SystemExit(bool(different))
P
