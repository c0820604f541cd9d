#!/bin/bash
# Tests the studies of docs/batch.md: the page's commands reproduce its tables, which agree with closed forms.
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
if ! command -v gnuplot >/dev/null; then
  echo "SKIP plots: gnuplot is missing"
  commands=$(grep -v 'sdrs plot' <<<"$commands")
fi
root=$PWD
mkdir -p "$work/out" "$work/benchmarks/results" "$work/docs/pictures"
ln -s "$PWD"/{scripts,scenes,assets} "$work/"
ln -s "$(realpath "${SDRS:-./sdrs}")" "$work/sdrs"
cd "$work" || exit 1
count=0
while IFS= read -r line; do
  count=$((count + 1))
  bash -c "$line" </dev/null >log 2>&1 || judge "$line" "$(tail -n 5 log)"
done <<<"$commands"
judge "the page's commands are found" "$( ((count >= 40)) || echo "$count commands")"

# The shipped tables, byte for byte but for columns of seconds. Roundings are those of a compiler and a processor: the
# program that made the tables is named beside them.
without_seconds() {
  python3 -c 'import csv, sys
rows = list(csv.reader(open(sys.argv[1])))
keep = [k for k, name in enumerate(rows[0]) if not name.startswith("seconds")]
csv.writer(sys.stdout).writerows([row[k] for k in keep] for row in rows)' "$1"
}
if cmp -s benchmarks/results/batch-program.txt "$root/benchmarks/results/batch-program.txt"; then
  for table in "$root"/benchmarks/results/batch-*.csv; do
    name=${table##*/}
    judge "$name is the shipped one" "$(diff <(without_seconds "$table") <(without_seconds "benchmarks/results/$name") | head -n 4)"
  done
else
  echo "SKIP tables byte for byte: another program made the shipped ones"
  diff "$root/benchmarks/results/batch-program.txt" benchmarks/results/batch-program.txt
fi
if command -v gnuplot >/dev/null; then
  for picture in "$root"/docs/pictures/batch-*.png; do
    name=docs/pictures/${picture##*/}
    judge "$name is drawn" "$([[ $(head -c 4 "$name" 2>/dev/null | tail -c 3) == PNG ]] || echo "no PNG")"
  done
fi

# Prints what is wrong with a table: python3 with `rows`, `number(row, column)`, `bad(text)`.
check() { # table, python
  python3 - "$work/benchmarks/results/batch-$1.csv" <<END
import csv, math, sys
rows = list(csv.DictReader(open(sys.argv[1])))
number = lambda row, column: float(row[column])
bad = print
if not rows or any(value == "" for row in rows for value in row.values()):
    bad("empty cells")
$2
END
}

# Contact forces end at a gap of s over the ground, so the box, as high as it is long, pitches by less than s over its
# length, and its centre is off by less than s / 2.
judge "slide stops where friction says" "$(check slide '
if len(rows) != 30:
    bad(len(rows), "rows")
for row in rows:
    way = 1 / (2 * number(row, "contact.friction") * 9.81)
    if not abs(number(row, "trajectory.csv:box/px") - way) < number(row, "contact.barrier_distance") / 2:
        bad(row, way)
')"
# The same pitch on the way to 0.5 m, at a support of 2 mm: 1 mm; the way goes with the square of the speed.
judge "throw finds the speed of the closed form" "$(check throw-steps '
for row in rows:
    speed = math.sqrt(2 * 0.3 * 9.81 * 0.5)
    if not abs(number(row, "design.csv:best") / speed - 1) < 1e-3 / 0.5 / 2:
        bad(row, speed)
if len(rows) != 12:
    bad(len(rows), "rows")
')"
# 96 to 768 vertices: four lower legs have them all, and of those spread evenly all nine links.
judge "the meshes have their vertices" "$(check spider-vertices '
if [int(row["model.hull_vertices"]) for row in rows] != [5 * 96 + 4 * n for n in (96, 192, 384, 768)]:
    bad(rows)
')$(check spider-even '
if [int(row["model.hull_vertices"]) for row in rows] != [9 * n for n in (96, 192, 384, 768)]:
    bad(rows)
')"
# Where the mass sits is a matter of turning alone: a base that cannot turn goes the same way within the differences
# that the paper finds (SDRS V-I).
check_mass() { # table, column, the paper's difference
  check "$1" "
a, b = (number(row, '$2') for row in rows if row['name'].endswith('not turning'))
if not abs(a - b) < $3 * max(abs(a), abs(b)):
    bad(a, b)
"
}
judge "a spider that cannot turn goes the same way" \
  "$(for name in spider-mass spider-mass-ends spider-mass-even; do check_mass $name trajectory.csv:body/cx 0.0019; done)"
judge "and so does a biped" "$(check_mass biped-mass trajectory.csv:trunk/cy 0.0123)"

echo "$passed passed, $failed failed"
((failed == 0))
