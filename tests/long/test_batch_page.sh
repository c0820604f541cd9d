#!/bin/bash
# The studies of docs/batch.md: its commands run as they are written (but for the folders), and their tables obey the
# closed forms and bounds that the page tells.
cd "$(dirname "$0")/../.." || exit 1
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

# The page's commands on this machine. Those of a cluster have tests of their own.
commands=$(grep -E '^    (scripts/(sweep|collect)|\./sdrs )' docs/batch.md | grep -v -e --slurm -e out/sweeps/study | sed 's/^ *//')
mkdir -p "$work/out" "$work/docs/results"
ln -s "$PWD"/{scripts,scenes,assets} "$work/"
ln -s "$(realpath "${SDRS:-./sdrs}")" "$work/sdrs"
cd "$work" || exit 1
count=0
while IFS= read -r line; do
  count=$((count + 1))
  bash -c "$line" </dev/null >log 2>&1 || judge "$line" "$(tail -n 5 log)"
done <<<"$commands"
judge "the page's commands are found" "$( ((count >= 14)) || echo "$count commands")"

# Prints what is wrong with a table: python3 with `rows`, `number(row, column)`, `bad(text)`.
check() { # table, python
  python3 - "$work/docs/results/batch-$1.csv" <<END
import csv, math, sys
rows = list(csv.DictReader(open(sys.argv[1])))
number = lambda row, column: float(row[column])
bad = print
if not rows or any(value == "" for row in rows for value in row.values()):
    bad("empty cells")
$2
END
}

judge "slide stops where friction says" "$(check slide '
if len(rows) != 30:
    bad(len(rows), "rows")
for row in rows:
    support = number(row, "contact.support")
    way = 1 / (2 * number(row, "contact.friction") * 9.81) - 0.5e-3
    # 0.1 mm up to the support that a box of this size gets by itself, 0.6 mm up to four times that.
    if not abs(number(row, "trajectory.csv:box/px") - way) < (1e-4 if support <= 1e-3 else 6e-4):
        bad(row, way)
')"
judge "throw finds the speed of the closed form" "$(check throw-steps '
for row in rows:
    a, b = 1 / (2 * 0.3 * 9.81), number(row, "scene.simulation.dt") / 2
    speed = (b + math.sqrt(b * b + 2 * a)) / (2 * a)
    if not abs(number(row, "design.csv:best") / speed - 1) < 1e-4:
        bad(row, speed)
if len(rows) != 12:
    bad(len(rows), "rows")
')"
judge "spiders of 96 to 768 vertices a leg go equally far" "$(check spider-vertices '
ways = [number(row, "trajectory.csv:body/cx") for row in rows]
vertices = [int(row["model.hull_vertices"]) for row in rows]
if vertices != [480 + 4 * n for n in (96, 192, 384, 768)]:
    bad(vertices)
if not max(ways) < 1.04 * min(ways):
    bad(ways)
')"
judge "and learn to walk equally far" "$(check spider-vertices-control '
left = [math.sqrt(number(row, "best_loss")) for row in rows]
if not max(left) < 1.04 * min(left):
    bad(left)
for row in rows:
    if not number(row, "best_loss") < 0.6 * number(row, "initial_loss"):
        bad(row)
')"
judge "where the mass sits matters little to the spider" "$(check spider-mass '
a, b = (number(row, "trajectory.csv:body/cx") for row in rows)
if not abs(a - b) < 0.02 * abs(a):
    bad(a, b)
')"
judge "and not much to the biped" "$(check biped-mass '
a, b = (number(row, "trajectory.csv:trunk/cy") for row in rows)
if not abs(a - b) < 0.05 * abs(a):
    bad(a, b)
')"

echo "$passed passed, $failed failed"
((failed == 0))
