#!/usr/bin/env python3
"""Book stacking under the law long_range (LRI, table 2): twenty planks that lean out as far as they can, less a little.

    benchmarks/book_stacking.py table              # benchmarks/results/books.csv: equilibria, runs, margins, forces on the top plank
    benchmarks/book_stacking.py readings           # benchmarks/results/books-readings.csv: other readings of the paper's stack, in closed form
    benchmarks/book_stacking.py scene MU SHIFT     # the scene, in its equilibrium (docs/derivations/law-long_range.md, "Boxes that lean out")

MU: the coefficient [J]; SHIFT: by how much less each plank leans out, as a part of its length (the paper: 0.001). The
program is $SDRS (./sdrs). The table takes 90 s. Needs nothing but Python 3.
"""

import csv
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SDRS = os.environ.get("SDRS", "./sdrs")
PLANKS, LENGTH, WIDTH, HEIGHT, MASS, GRAVITY = 20, 2.0, 0.4, 0.2, 0.16, 9.81
SECONDS, DT = 10.0, 0.02
FALLEN = 0.1  # m, of the top plank
CORNERS = 0.75  # two corners of a face that share 3 with six others
STIFFEST = 1e-10  # J; from here equilibria are followed
COEFFICIENTS = (1e-5, 1e-6, 1e-7, 1e-8, 1e-10)
PAPER = {1e-5: (1.82e-2, 6.38e-3), 1e-6: (5.67e-3, 6.40e-4), 1e-7: (1.47e-3, 6.42e-5), 1e-8: (4.12e-4, 6.42e-6), 1e-10: (3.13e-5, 6.42e-8)}



# ---------------------------------------------------------------- equilibria (law-long_range.md)


def overhangs(shift):
    """Of plank k from the top over the next one."""
    return [0.0] + [LENGTH / (2 * k) - shift * LENGTH for k in range(1, PLANKS)] + [0.0]


def ends(force, at, mu, length):
    """Clearances of the left and the right end of a face that carries a force at this place of it; None: beside it."""
    left, right = force * (0.5 - at / LENGTH), force * (0.5 + at / LENGTH)
    if not (left > 0 and right > 0):
        return None
    return [math.sqrt(CORNERS * mu * length / part) for part in (left, right)]


def interface(force, lower_at, upper_at, mu, ground):
    """Clearances of the ends of the lower and the upper face, and the length of the plane's normal; None: none."""
    length = 1.0
    for _ in range(60):
        lower = [math.sqrt(3 * mu * length / force)] * 2 if ground else ends(force, lower_at, mu, length)
        upper = ends(force, upper_at, mu, length)
        if not lower or not upper:
            return None
        terms = sum(CORNERS / c for c in upper) + (3 / lower[0] if ground else sum(CORNERS / c for c in lower))
        before, length = length, 1 - math.sqrt(12 * length / terms)
        if abs(length - before) < 1e-15:
            return lower, upper, length
    return None


def place(tilts, gaps, offsets):
    """Centres and tilts of the planks, from the ground up; [k]: plank k from the top."""
    x, z, tilt = [0.0] * (PLANKS + 2), [0.0] * (PLANKS + 2), [0.0] * (PLANKS + 2)
    z[PLANKS + 1] = -HEIGHT / 2
    for k in range(PLANKS, 0, -1):
        below, up = tilt[k + 1], HEIGHT / 2 + gaps[k]
        tilt[k] = below + tilts[k]
        x[k] = x[k + 1] + offsets[k] * math.cos(below) + up * math.sin(below) + HEIGHT / 2 * math.sin(tilt[k])
        z[k] = z[k + 1] - offsets[k] * math.sin(below) + up * math.cos(below) + HEIGHT / 2 * math.cos(tilt[k])
    return x, z, tilt


def equilibrium(mu, shift, tilts=None):
    """Poses and margins, found by going a fifth of the way to what the loads say, time and again; None: there is none."""
    offsets = overhangs(shift)
    tilts, gaps, margins = list(tilts or [0.0] * (PLANKS + 1)), [0.0] * (PLANKS + 1), [0.0] * (PLANKS + 1)
    for _ in range(3000):
        x, z, tilt = place(tilts, gaps, offsets)
        worst = 0.0
        for k in range(1, PLANKS + 1):
            middle, ground = sum(x[1 : k + 1]) / k, k == PLANKS
            along = lambda plank, side: (middle - x[plank] - side * HEIGHT / 2 * math.sin(tilt[plank])) / math.cos(tilt[plank])
            found = interface(k * MASS * GRAVITY, along(k + 1, 1), along(k, -1), mu, ground)
            if not found:
                return None
            (left, right), (upper_left, upper_right), length = found
            low, high = (left - right) / LENGTH / length, (upper_left - upper_right) / LENGTH / length
            worst = max(worst, abs(low + high - tilts[k]))
            tilts[k] += 0.2 * (low + high - tilts[k])
            gaps[k] = ((left + right + upper_left + upper_right) / 2 / length) - low * offsets[k]
            margins[k] = right / length + (upper_left + upper_right) / 2 / length - high * (LENGTH / 2 - offsets[k])
        if worst < 1e-13:
            return {"x": x, "z": z, "tilt": tilt, "tilts": tilts, "margins": margins[1:PLANKS]}
    return None


def follow(shift, mu):
    """The equilibrium of mu, or that of the largest coefficient below it that has one, followed from the stiffest;
    and that coefficient. None, 0: not even that."""
    at, step = STIFFEST, 1.5
    stands = equilibrium(at, shift)
    while stands and step > 1.002 and at < mu:
        to = min(mu, at * step)
        more = equilibrium(to, shift, [t * math.sqrt(to / at) for t in stands["tilts"]])
        if more:
            at, stands = to, more
        else:
            step = math.sqrt(step)
    return stands, at if stands else 0.0


# ---------------------------------------------------------------- the scene


def scene(mu, shift):
    """In its equilibrium; without one, in that of the largest coefficient that has one."""
    stands, _ = follow(shift, mu)
    lines = [
        f"  - {{name: plank{k}, shape: plank, mass: {MASS}, mass_model: vertices, position: [{stands['x'][k]:.9f}, 0, {stands['z'][k]:.9f}], "
        f"rotation_vector: [0, {stands['tilt'][k]:.9f}, 0]}}"
        for k in range(PLANKS, 0, -1)
    ]
    return f"""name: book-stacking
simulation: {{dt: {DT}, duration: {SECONDS}, record_every: 10}}
contact: {{model: long_range, stiffness: {mu:.1e}, friction: 0.5, listed_range: 0.1}}
shapes:
  plank: {{type: box, size: [{LENGTH}, {WIDTH}, {HEIGHT}]}}
  ground: {{type: half_space}}
links:
  - {{name: ground, fixed: true, shape: ground}}
""" + "\n".join(lines) + "\n"


def measure(run):
    """Of a run's end: margins between neighbours (k = 1 ... 19), by how much the force between the two uppermost planks
    differs from the weight of the top one, and the time when that was FALLEN from its start ("": it was not)."""
    rows = list(csv.DictReader(open(run / "trajectory.csv")))
    top = lambda row: [float(row[f"plank1/p{axis}"]) for axis in "xyz"]
    fallen = next((row["time"] for row in rows if math.dist(top(rows[0]), top(row)) > FALLEN), "")
    margins, error = {}, math.nan
    for row in csv.DictReader(open(run / "contacts.csv")):
        names = {row["a"], row["b"]}
        for k in range(1, PLANKS):
            if row["time"] == rows[-1]["time"] and names == {f"plank{k}", f"plank{k + 1}"}:
                margins[k] = float(row["gap"])
                error = abs(abs(float(row["fz"])) - MASS * GRAVITY) if k == 1 else error
    return margins, error, fallen


def simulate(mu, shift, folder):
    path, run = pathlib.Path(folder) / "books.yaml", pathlib.Path(folder) / "run"
    path.write_text(scene(mu, shift))
    subprocess.run([SDRS, "simulate", path, "-q", "-o", run, "--threads", "1"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return measure(run)


# ---------------------------------------------------------------- planks of twelve triangles, lying level


def triangles_of_box():
    corner = lambda k: [(-1) ** (k + 1) * LENGTH / 2, (-1) ** (k // 2 + 1) * WIDTH / 2, (-1) ** (k // 4 + 1) * HEIGHT / 2]
    quads = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))
    return [[corner(q[k]) for k in three] for q in quads for three in ((0, 1, 2), (0, 2, 3))]


def push(overhang, gap, folder):
    """Of one plank on the next, as triangles, for mu = 1 [1/m^2]: the sum over all pairs (sdrs query)."""
    path, triangles = pathlib.Path(folder) / "pairs.jsonl", triangles_of_box()
    upper = [[[x + overhang, y, z + HEIGHT + gap] for x, y, z in t] for t in triangles]
    path.write_text("".join(json.dumps({"a": a, "b": b, "law": "long_range"}) + "\n" for a in triangles for b in upper))
    answers = subprocess.run([SDRS, "query", path], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return -sum(g[2] for line in answers.splitlines() for g in json.loads(line)["grad_b"])


def level_margins(mu, folder):
    """At which each plank would lie level under the weight of those above."""
    margins = []
    for k, overhang in list(enumerate(overhangs(0.001)))[1:PLANKS]:
        force, gap = k * MASS * GRAVITY / mu, math.sqrt(200 * mu / (k * MASS * GRAVITY))
        for _ in range(3):  # the push goes nearly as 1 / gap^2
            gap *= math.sqrt(push(overhang, gap, folder) / force)
        margins.append(gap)
    return margins


# ---------------------------------------------------------------- the table


def mean(values):
    return sum(values) / len(values) if values else math.nan


def number(value):
    return "" if value != value else f"{value:.3g}"


HEADER = ["mu", "paper_margin", "level_triangles", "shift", "largest_mu", "equilibrium_margin", "margin", "top_margin", "paper_error", "force_error", "stands", "fell_at"]


def rows():
    with tempfile.TemporaryDirectory() as folder:
        level = {mu: mean(level_margins(mu, folder)) for mu in COEFFICIENTS}
        for shift in (0.001, 0.004):
            largest = follow(shift, 1.0)[1]
            for mu in COEFFICIENTS:
                stands, at = follow(shift, mu)
                margins, error, fallen = simulate(mu, shift, folder)
                fell = bool(fallen)
                yield [f"{mu:g}", PAPER[mu][0], number(level[mu]), shift, number(largest), number(mean(stands["margins"]) if at == mu else math.nan),
                       "" if fell else number(mean(list(margins.values()))), "" if fell else number(margins[1]), PAPER[mu][1],
                       "" if fell else number(error), "no" if fell else "yes", fallen]


def table():
    target = ROOT / "benchmarks/results/books.csv"
    with open(target, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for row in rows():
            writer.writerow(row)
            print(*row, flush=True)


# ---------------------------------------------------------------- other readings of the paper's stack

# By how much less plank k from the top leans out over the next one.
SLACKS = {
    "each 0.1 % of the length": lambda k: 0.001 * LENGTH,
    "each 0.3 %": lambda k: 0.003 * LENGTH,
    "each 0.4 %": lambda k: 0.004 * LENGTH,
    "each 0.5 %": lambda k: 0.005 * LENGTH,
    "k (from the top) times 0.1 %": lambda k: 0.001 * LENGTH * k,
    "k (from the bottom) times 0.1 %": lambda k: 0.001 * LENGTH * (PLANKS - k),
    "0.1 % of each overhang": lambda k: 0.001 * LENGTH / (2 * k),
    "0.1 % of the whole lean of the plank": lambda k: 0.001 * sum(LENGTH / (2 * j) for j in range(k, PLANKS)),
    "overhangs L / (2 k + 2)": lambda k: LENGTH / (2 * k) - LENGTH / (2 * k + 2),
}


def solve(rows):
    """Of three equations, with the right side last."""
    m = [row[:] for row in rows]
    for i in range(3):
        pivot = max(range(i, 3), key=lambda j: abs(m[j][i]))
        m[i], m[pivot] = m[pivot], m[i]
        for j in range(i + 1, 3):
            factor = m[j][i] / m[i][i]
            m[j] = [a - factor * b for a, b in zip(m[j], m[i])]
    x = [0.0] * 3
    for i in (2, 1, 0):
        x[i] = (m[i][3] - sum(m[i][j] * x[j] for j in range(i + 1, 3))) / m[i][i]
    return x


def lift(below, above, weight):
    """Upwards, for mu = 1, on a box by one below it, points (x, z) of such weight: Newton's method for the plane (n_x, n_z, o)."""
    plane = [0.0, 0.9, -0.45 * (max(z for _, z in below) + min(z for _, z in above))]

    def clearances(p):
        return [(q, side, side * (q[0] * p[0] + q[1] * p[1] + p[2])) for points, side in ((below, -1), (above, 1)) for q in points]

    def energy(p):
        length, all_of = math.hypot(p[0], p[1]), clearances(p)
        return 12 / (1 - length) + weight * sum(1 / c for _, _, c in all_of) if length < 1 and min(c for _, _, c in all_of) > 0 else math.inf

    for _ in range(100):
        length = math.hypot(plane[0], plane[1])
        unit, slope, bend = (plane[0] / length, plane[1] / length), 12 / (1 - length) ** 2, 24 / (1 - length) ** 3
        gradient = [slope * unit[0], slope * unit[1], 0.0]
        hessian = [[bend * unit[i] * unit[j] + slope / length * ((i == j) - unit[i] * unit[j]) if i < 2 and j < 2 else 0.0 for j in range(3)] for i in range(3)]
        for q, side, c in clearances(plane):
            h = (q[0], q[1], 1.0)
            for i in range(3):
                gradient[i] -= weight * side * h[i] / c**2
                for j in range(3):
                    hessian[i][j] += 2 * weight * h[i] * h[j] / c**3
        way = solve([row + [-g] for row, g in zip(hessian, gradient)])
        fall, before, part = -sum(w * g for w, g in zip(way, gradient)), energy(plane), 1.0
        while not energy([p + part * w for p, w in zip(plane, way)]) <= before - 1e-4 * part * fall + 1e-13 * before and part > 1e-12:
            part /= 2
        plane = [p + part * w for p, w in zip(plane, way)]
        if fall < 1e-18 * before:
            break
    return sum(weight / c**2 for _, side, c in clearances(plane) if side > 0) * plane[1]


def far_lift(leans, weight):
    """On the top plank by all that are not its neighbour, for mu = 1, planks lying level without gaps."""
    x = [0.0, 0.0]
    for k in range(1, PLANKS):
        x.append(x[-1] - leans[k])
    box = lambda k: [(x[k] + a * LENGTH / 2, (1 - k + b / 2) * HEIGHT) for a in (-1, 1) for b in (-1, 1)]
    return sum(lift(box(k), box(1), 2 * weight) for k in range(3, PLANKS + 1))  # two corners at each end


def far_ends(stands):
    """Gaps between the left end of each plank's lower face and the face below it."""
    x, z, tilt = stands["x"], stands["z"], stands["tilt"]
    gaps = []
    for k in range(1, PLANKS):
        corner_x = x[k] - LENGTH / 2 * math.cos(tilt[k]) - HEIGHT / 2 * math.sin(tilt[k]) - x[k + 1]
        corner_z = z[k] + LENGTH / 2 * math.sin(tilt[k]) - HEIGHT / 2 * math.cos(tilt[k]) - z[k + 1]
        gaps.append(corner_x * math.sin(tilt[k + 1]) + corner_z * math.cos(tilt[k + 1]) - HEIGHT / 2)
    return gaps


def readings():
    global overhangs, CORNERS
    target = ROOT / "benchmarks/results/books-readings.csv"
    with open(target, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["slack", "corner_weight", "largest_mu", "far_lift_per_mu", "mu", "paper_margin", "near_end", "far_end"])
        for name, slack in SLACKS.items():
            leans = [0.0] + [LENGTH / (2 * k) - slack(k) for k in range(1, PLANKS)] + [0.0]
            overhangs = lambda shift, leans=leans: leans
            for weight in (0.375, 1.0):
                CORNERS = 2 * weight
                largest = follow(0, 1.0)[1]
                for mu in COEFFICIENTS:
                    stands, at = follow(0, mu) if mu <= largest else (None, 0.0)
                    found = [mean(stands["margins"]), mean(far_ends(stands))] if stands and at == mu else [math.nan] * 2
                    row = [name, weight, number(largest), number(far_lift(leans, weight)), f"{mu:g}", PAPER[mu][0]] + [number(v) for v in found]
                    writer.writerow(row)
                    print(*row, flush=True)


def main():
    if sys.argv[1:2] == ["table"]:
        table()
    elif sys.argv[1:2] == ["readings"]:
        readings()
    elif sys.argv[1:2] == ["scene"] and len(sys.argv) == 4:
        sys.stdout.write(scene(float(sys.argv[2]), float(sys.argv[3])))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
