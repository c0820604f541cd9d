#!/bin/bash
# Tests that a killed and resumed receding-horizon run ends with the same files, byte for byte except for timings. The
# run is killed 10 times, once at a random moment of each tenth of its windows. Usage: tests/long/kill_receding.sh
# [SEED]; the program is $SDRS (./sdrs).
set -euo pipefail
cd "$(dirname "$0")/../.."

KILLS=10
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
cp tests/cli/optimize-receding/cart.yaml tests/cli/optimize-receding/cart.task.yaml "$work"
cd "$work"
arguments=(cart.task.yaml -q --iterations 40 --set optimizer.type=adam --set optimizer.save_every=4 --set receding.apply=1 --set steps=80 --set 'loss.0.target=[0.9,0,0.1]')

now() { date +%s%N; }

begin=$(now)
"$SDRS" optimize "${arguments[@]}" -o whole >/dev/null
length=$((($(now) - begin) / 1000)) # microseconds
echo "unbroken: $((length / 1000)) ms"

last_window() { # of those in the log; -1: none
  local last
  last=$(tail -n 1 "$1/windows.csv" 2>/dev/null | cut -d, -f 1)
  if [[ $last =~ ^[0-9]+$ ]]; then echo "$last"; else echo -1; fi
}
windows=$(($(last_window whole) + 1))

reached=()
for ((kill = 0; kill < KILLS; kill++)); do
  resume=()
  [[ -e parts/checkpoint ]] && resume=(--resume)
  "$SDRS" optimize "${arguments[@]}" -o parts "${resume[@]}" >/dev/null &
  # A window of this tenth, the last one left out, and then some time within a window; 15 bits of chance.
  wanted=$(((windows - 1) * (kill * 32768 + RANDOM) / (KILLS * 32768) - 1))
  while (($(last_window parts) < wanted)) && kill -0 $! 2>/dev/null; do sleep 0.002; done
  wait_us=$((length * RANDOM / windows / 32768))
  sleep "$(printf '%d.%06d' $((wait_us / 1000000)) $((wait_us % 1000000)))"
  if ! kill -KILL $! 2>/dev/null; then
    echo "the run was over before the kill number $((kill + 1))"
    exit 1
  fi
  wait $! 2>/dev/null || true
  reached+=("$(last_window parts)")
done
echo "$KILLS kills, of $windows windows these were the last in the log: ${reached[*]}"
if ((reached[KILLS - 1] * 2 < windows)); then
  echo "no kill was in the second half"
  exit 1
fi
"$SDRS" optimize "${arguments[@]}" -o parts --resume >/dev/null

diff <(cd whole && find . | sort) <(cd parts && find . | sort)
python3 - <<'P'
import csv, json, pathlib

def plain(path):
    """The file without what tells of time."""
    if path.name in ("convergence.csv", "windows.csv"):
        rows = list(csv.reader(path.read_text().splitlines()))
        at = rows[0].index("seconds")
        return [row[:at] + row[at + 1:] for row in rows]
    if path.name == "summary.json":
        summary = json.loads(path.read_text())
        for name in "wall_time", "real_time_factor", "peak_memory_bytes": del summary[name]
        summary["inputs"] = [entry["sha256"] for entry in summary["inputs"]]
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
            if name.startswith("doubles receding/rows"): del numbers[5::6]  # the last of six
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
