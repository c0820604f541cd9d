#!/usr/bin/env python3
"""Writes benchmarks/results/queries.csv and growth-sweep.csv: what queries cost, and whether every growth answer is proved.

  benchmarks/measure_queries.py [speed] [sweep]    default: both. Prints the tables.

speed: `sdrs bench query` five times, the median of each number beside what was asked and what is published (us).
sweep: tests/long/test_growth_sweep, a million poses of each pair of smooth shapes, alpha from 1e-3 to 1e3, half of them
along paths; it stops at the first answer that is not proved. Build it first:
  make FLAVOUR=release out/build/release/tests/long/test_growth_sweep
The program is $SDRS (default ./sdrs).
"""
import csv
import io
import os
import re
import statistics
import subprocess
import sys

SDRS = os.environ.get("SDRS", "./sdrs")
SWEEP = "out/build/release/tests/long/test_growth_sweep"
TIMES = ("cold", "warm", "derivatives")
# us: asked, and published or measured before; derivatives on top of a query
ASKED = {
    "growth,smooth_polytope,smooth_polytope": ((3, 1.2, 0.2), (4.73, 2.13, 0.4)),
    "growth,superellipsoid,superellipsoid": ((5, 1.2, None), (19.39, 1.84, None)),
    "growth,ellipsoid,ellipsoid": ((1.5, 0.8, None), (2.58, 1.33, None)),
    "growth,smooth_polytope,ellipsoid": ((2.5, 1.2, None), (3.98, 1.85, None)),
    "manifold,superquadrics_310,superquadrics_310": ((None, 600, 1200), (None, None, None)),  # asked: nothing culled
    "manifold_culled,superquadrics_310,superquadrics_310": ((None, 300, 600), (None, None, None)),
    # the gradient of the mean distance by both poses (1 x 12): asked are twice the 600, the 300
    "manifold_mean,superquadrics_310,superquadrics_310": ((None, 600, 1200), (None, None, None)),
    "manifold_mean_culled,superquadrics_310,superquadrics_310": ((None, 300, 600), (None, None, None)),
    "witness,points,points": ((10, 10, 5), (29, 29, 21)),
}


def write(name, header, lines):
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(lines)
    with open(f"benchmarks/results/{name}.csv", "w", encoding="ascii") as file:
        file.write(table.getvalue())
    print(table.getvalue(), end="")


def speed():
    """One row for each pair and kind of time."""
    found = {}
    for _ in range(5):
        text = subprocess.run([SDRS, "bench", "query"], check=True, capture_output=True, text=True).stdout
        for line in list(csv.reader(text.splitlines()))[1:]:
            found.setdefault(",".join(line[:3]), []).append([float(v) / 1000 if v else None for v in line[3:]])
    lines = []
    for pair, values in found.items():
        asked, published = ASKED.get(pair, ((None,) * 3, (None,) * 3))
        for k, kind in enumerate(TIMES):
            if values[0][k] is None:
                continue
            us = statistics.median(v[k] for v in values)
            met = "" if asked[k] is None else "yes" if us <= asked[k] else "no"
            lines.append([*pair.split(","), kind, f"{us:.2f}", asked[k] or "", met, published[k] or ""])
    write("queries", ["method", "shape_a", "shape_b", "time", "us", "asked", "met", "published"], lines)


def sweep():
    """One row for each pair."""
    run = subprocess.run([SWEEP], capture_output=True, text=True, check=False)
    lines = []
    for match in re.finditer(r"seed (\d+): (\w+) and (\w+): (\d+) of (\d+) by", run.stdout):
        seed, a, b, bracketed, poses = match.groups()
        lines.append([a, b, seed, poses, poses, bracketed])
    write("growth-sweep", ["shape_a", "shape_b", "seed", "poses", "proved", "by_bracketing"], lines)
    if run.returncode != 0:
        sys.exit("not every answer is proved:\n" + run.stdout[-500:] + run.stderr[-500:])


if __name__ == "__main__":
    for name in sys.argv[1:] or ["speed", "sweep"]:
        {"speed": speed, "sweep": sweep}[name]()
