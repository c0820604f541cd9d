#!/usr/bin/env python3
"""The witness paper's target-point benchmark (its section V) with `sdrs query`, method touch.

    benchmarks/measure_witness.py DATA [--targets 8] [--pairs 40] [--full] [--drawn meeting|any] [--sdrs ./sdrs] [--work out/witness] > tables.csv

DATA: the folder of meshes. Objects are its meshes scaled to diagonals of 1 to 20 cm, convex (the hull of each) and
concave (`sdrs decompose`, kept in the work folder). Every pair has the same targets and starts for every method: 2000 steps, 10 degrees
and millimetres, a tenth, a hundredth. A row per method and setting: median (D5) and ninth decile (D9) of the final loss [m^2],
share below 1e-6 m^2, share of the tasks that can get there (touch's `bounds`: two targets inside flat faces cannot both be
nearest points), share below 1e-6 m^2 of those, processor time per step [us]. --full: 256 targets a pair.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys

OBJECTS = [
    "real/bunny_closed_5k", "real/armadillo_5k", "real/mug_4k", "real/ycb_drill_4k", "real/ycb_banana_3k",
    "real/ycb_mustard_3k", "shapes/torus", "shapes/cup", "shapes/dumbbell", "shapes/sphere", "shapes/star",
    "shapes/l_bracket", "diffhand/finger_tip", "diffhand/finger_palm", "diffhand/finger_joint_parent",
    "diffhand/finger_knuckle_child", "shadow/f_middle", "shadow/th_middle", "shadow/th_proximal", "panda/link5",
]
# A task can end below 1e-6 m^2 with room to spare where its bound is this small [m^2].
REACH = 1e-7
# name, options of the question, share of the targets
TABLE_1 = [
    ("analytic", {"estimate": "analytic", "transport": False}, 1),
    ("differences", {"estimate": "differences", "transport": False}, 0.125),
    ("zeroth", {"estimate": "zeroth", "transport": False}, 0.125),
    ("direction+neighbor", {"score": "direction", "sampling": "neighbor", "transport": False}, 1),
    ("ours", {}, 1),
    # at the margin of the paper's table (its appendix): 1 mm
    ("direction+neighbor margin 0.001", {"score": "direction", "sampling": "neighbor", "transport": False,
                                         "margin": 1e-3}, 1),
    ("ours margin 0.001", {"margin": 1e-3}, 1),
]
# From several starts of b, until the targets are reached
STARTS = [(f"ours starts {n}", {"starts": n}, 1) for n in (1, 2, 4, 16)]
TABLE_2 = [(f"{score}+{sampling}", {"score": score, "sampling": sampling}, 1)
           for score in ("direction", "distance") for sampling in ("neighbor", "fixed", "adaptive")]
TABLE_2 += [(f"{score}+{name}", {"score": score, "move": move, "transport": transport}, 1)
            for score in ("direction", "distance")
            for name, move, transport in (("both", "both", False), ("b", "b", False), ("b transported", "b", True))]
# Appendix: the published program of direction as it is, and with what is new here
BASE = {"score": "direction", "sampling": "neighbor", "transport": False}
BEST = {"score": "direction", "transport": True}
MARGINS = [(f"{name} margin {m:g}", dict(options, margin=m), 1) for m in (0, 1e-5, 1e-4, 1e-3, 1e-2)
           for name, options in (("ours", {}), ("direction base", BASE), ("direction best", BEST))]
STEPS = [(f"{name} step {s}", dict(options, step=s, margin=1e-3), share) for s in (1, 2, 5, 10, 20, 50, 100)
         for name, options, share in (
             ("ours", {}, 1), ("direction base", BASE, 1), ("direction best", BEST, 1),
             ("differences base", {"estimate": "differences", "transport": False}, 0.125),
             ("differences best", {"estimate": "differences", "transport": True}, 0.125),
             ("zeroth base", {"estimate": "zeroth", "transport": False}, 0.125),
             ("zeroth best", {"estimate": "zeroth", "transport": True}, 0.125))]

# What the weights' temperature T [m^2] does; the published program of direction has T = 1e-3 (and distances' own is their
# standard deviation, as without it): its margins and first steps again with that.
PUBLISHED = 1e-3
TEMPERATURES = [(f"{name} T {t:g} margin {m:g}", dict(options, temperature=t, margin=m), 1)
                for t in (1e-6, 1e-5, 1e-4, 1e-3, 1e-2) for m in (0, 1e-3)
                for name, options in (("ours", {}), ("direction base", BASE), ("direction best", BEST))]
TEMPERATURES += [(f"{name} T {PUBLISHED:g} margin {m:g}", dict(options, temperature=PUBLISHED, margin=m), 1)
                 for m in (1e-5, 1e-4, 1e-2) for name, options in (("direction base", BASE), ("direction best", BEST))]
TEMPERATURES += [(f"direction {score} T {PUBLISHED:g} step {s}", dict(options, temperature=PUBLISHED, margin=1e-3, step=s), 1)
                 for s in (1, 2, 5, 20, 50, 100) for score, options in (("base", BASE), ("best", BEST))]

# The first step alone varied: the last one stays 0.1 degrees and millimetres
ENDS = [(name.replace("step", "first step"), dict(options, last=0.1), share) for name, options, share in STEPS]


def diagonal_of(path):
    points = [[float(v) for v in line.split()[1:4]] for line in open(path) if line.startswith("v ")]
    spans = [max(column) - min(column) for column in zip(*points)]
    return sum(span * span for span in spans) ** 0.5


def decomposed(options, mesh, path):
    folder = os.path.join(options.work, mesh.replace("/", "-"))
    out = os.path.join(folder, "hulls.obj")
    if not os.path.exists(out):
        subprocess.run([options.sdrs, "decompose", path, "--no-picture", "-q", "-o", folder], check=False,
                       stdout=subprocess.DEVNULL)
    return out


def bodies(options, concave):
    """Pairs of shapes of a question."""
    draw = random.Random(1)
    pairs = []
    for _ in range(options.pairs):
        pair = []
        for mesh in draw.sample(OBJECTS, 2):
            path = os.path.abspath(os.path.join(options.data, mesh + ".obj"))
            shape = {"type": "mesh", "scale": draw.uniform(0.01, 0.2) / diagonal_of(path)}
            shape["file"] = os.path.abspath(decomposed(options, mesh, path)) if concave else path
            if concave:
                shape["pieces"] = "hulls"
            pair.append(shape)
        pairs.append(pair)
    return pairs


def measure(options, pairs, extra, share):
    targets = max(1, round(options.targets * share))
    lines = [json.dumps(dict({"method": "touch", "sampling": "adaptive", "a": a, "b": b, "targets": targets,
                              "pairs": options.drawn, "seed": k + 1}, **extra)) for k, (a, b) in enumerate(pairs)]
    name = os.path.join(options.work, "questions.jsonl")
    with open(name, "w") as file:
        file.write("\n".join(lines))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    answers = subprocess.run([options.sdrs, "query", name], capture_output=True, text=True, check=True).stdout
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    told = [json.loads(line) for line in answers.splitlines()]
    tasks = [task for answer in told for task in zip(answer["losses"], answer["bounds"])]
    losses, n = sorted(loss for loss, _ in tasks), len(tasks)
    within = [loss for loss, bound in tasks if bound < REACH]
    percent = [100 * sum(loss < 1e-6 for loss in part) / max(1, len(part)) for part in (losses, within)]
    return (n, losses[n // 2], losses[min(n - 1, 9 * n // 10)], percent[0], 100 * len(within) / n, percent[1],
            1e6 * used / n / 2000)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--targets", type=int, default=8)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--drawn", default="meeting", choices=["meeting", "any"],
                        help="targets that can meet, as the published program draws them, or any")
    parser.add_argument("--tables", default="1,2", help="of 1, 2, margins, steps, ends, temperature, starts")
    parser.add_argument("--rows", help="only these, as the tables call them, between commas; all 256 targets of one take minutes, of all rows days")
    parser.add_argument("--bodies", default="convex,concave")
    parser.add_argument("--sdrs", default="./sdrs")
    parser.add_argument("--work", default="out/witness")
    options = parser.parse_args()
    if options.full:
        options.targets = 256
    os.makedirs(options.work, exist_ok=True)
    tables = {"1": TABLE_1, "2": TABLE_2, "margins": MARGINS, "steps": STEPS, "ends": ENDS, "starts": STARTS,
              "temperature": TEMPERATURES}
    print("table,bodies,method,tasks,median_m2,ninth_decile_m2,below_1e-6_percent,within_reach_percent,"
          "below_1e-6_of_these_percent,us_per_step")
    for concave in ("concave" == word for word in options.bodies.split(",")):
        pairs = bodies(options, concave)
        for table in options.tables.split(","):
            for name, extra, share in tables[table]:
                if options.rows and name not in options.rows.split(","):
                    continue
                row = measure(options, pairs, extra, share)
                print(f"{table},{'concave' if concave else 'convex'},{name},{row[0]},{row[1]:.2g},{row[2]:.2g},"
                      f"{row[3]:.1f},{row[4]:.1f},{row[5]:.1f},{row[6]:.1f}")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
