#!/usr/bin/env python3
"""Book stacking under the law long_range (LRI, table 2): twenty planks that lean out as far as they can less 0.1 %.

Usage: scripts/book_stacking.py [COEFFICIENT...]     default: 1e-5 1e-6 1e-7 1e-8 1e-10; the program is $SDRS (./sdrs)
For each coefficient writes a scene and its run below out/books/ and prints a row: least and largest
margin between neighbours and that below the top plank [m], by how much the force on the top plank misses its weight [N], by how
much the top plank has come down or aside [m], and whether the stack stands. The planks
begin level, and so the stack tips at 1e-6 and 1e-7, where the paper's stands: its margins are not those of the table yet.
"""

import csv
import math
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SDRS = os.environ.get("SDRS", "./sdrs")
OUT = ROOT / "out/books"
PLANKS, LENGTH, HEIGHT, MASS, GRAVITY = 20, 2.0, 0.2, 0.16, 9.81
SECONDS, DT = 4.0, 0.02
FALLEN = 0.1  # m, of the top plank


def scene(mu):
    """Plank k from the top, with about the margin that k planks press it to."""
    lines, x, z = [], 0.0, 0.0
    for k in range(PLANKS, 0, -1):
        gap = math.sqrt(6 * mu / (k * MASS * GRAVITY))
        z += gap + (0.5 if k == PLANKS else 1.0) * HEIGHT
        lines.append(f"  - {{name: plank{k}, shape: plank, mass: {MASS}, position: [{x:.7f}, 0, {z:.9f}]}}")
        if k > 1:
            x += LENGTH / (2 * (k - 1)) - 0.001 * LENGTH
    return f"""name: books
simulation: {{dt: {DT}, duration: {SECONDS}, record_every: 10}}
contact: {{model: long_range, stiffness: {mu}, friction: 0.5, listed_range: 0.1}}
shapes:
  plank: {{type: box, size: [{LENGTH}, 0.4, {HEIGHT}]}}
  ground: {{type: half_space}}
links:
  - {{name: ground, fixed: true, shape: ground}}
""" + "\n".join(lines) + "\n"


def measure(mu):
    OUT.mkdir(parents=True, exist_ok=True)
    path, run = OUT / f"{mu:g}.yaml", OUT / f"{mu:g}"
    path.write_text(scene(mu))
    subprocess.run([SDRS, "simulate", path, "-q", "-o", run, "--threads", "1"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    rows = list(csv.DictReader(open(run / "trajectory.csv")))
    first, last = rows[0], rows[-1]
    moved = math.dist(*([float(r[f"plank1/p{a}"]) for a in "xyz"] for r in (first, last)))
    contacts = [r for r in csv.DictReader(open(run / "contacts.csv")) if r["time"] == last["time"]]
    gaps, lift = {}, 0.0
    for r in contacts:
        names = {r["a"], r["b"]}
        if "plank1" in names:
            lift += float(r["fz"]) * (1 if r["b"] == "plank1" else -1)
        for k in range(1, PLANKS):
            if names == {f"plank{k}", f"plank{k + 1}"}:
                gaps[k] = float(r["gap"])
    margins = [gaps[k] for k in gaps] or [math.nan]
    return [f"{mu:g}", f"{min(margins):.3g}", f"{max(margins):.3g}", f"{gaps.get(1, math.nan):.3g}",
            f"{abs(lift - MASS * GRAVITY):.2g}", f"{moved:.2g}", "yes" if moved < FALLEN else "no"]


if __name__ == "__main__":
    print("coefficient,least_margin,largest_margin,top_margin,force_error,top_moved,stands")
    for word in sys.argv[1:] or ["1e-5", "1e-6", "1e-7", "1e-8", "1e-10"]:
        print(",".join(measure(float(word))), flush=True)
