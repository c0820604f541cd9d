#!/usr/bin/env python3
"""Writes docs/results/query-derivatives.csv: derivatives that `sdrs query` answers against central differences of it.

  scripts/measure_query_derivatives.py [METHOD...]   default: growth distance manifold

Pairs of shapes (of manifold each with its like) at seeded orientations, overlapping (alpha 0.6), touching (alpha 1) and apart (alpha 1.8; alpha is that of
growth, of joined shapes and points that of their balls). Every derivative by both poses (turns of 1 rad, moves of the
bodies' size) and, of growth and distance, by every parameter of both shapes, in units of it. A row is a pair: the worst
over all answers of the least error of a sweep of seven steps, divided by the largest derivative (at least 1) of that
answer, and the condition; `reason` where there are none. The program is $SDRS (default ./sdrs).
"""
import copy
import csv
import itertools
import json
import math
import os
import random
import subprocess
import sys
import tempfile

SDRS = os.environ.get("SDRS", "./sdrs")
STEPS = [1e-2 / 4**k for k in range(7)]
STATES = {"overlapping": 0.6, "touching": 1, "apart": 1.8}
AXES = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
TILTED = [[0.9, 0.3, 0.1], [-1, 0.2, 0.2], [0.1, 1, -0.2], [0.2, -0.9, 0.1], [-0.1, 0.2, 1], [0.3, 0.1, -1]]
EGG = {"type": "superellipsoid", "size": [1, 0.8, 0.9], "exponent": 1}
SHAPES = {
    "smooth_polytope": {"normals": TILTED, "offsets": [1, 0.9, 0.8, 1.1, 1, 0.9], "sharpness": 10, "length": 1},
    "truncated_cone": {"bottom_radius": 1, "top_radius": 0.7, "below": 0.8, "above": 1, "sharpness": 10},
    "superellipsoid": {"size": [0.8, 1, 1.2], "exponent": 2},
    "superelliptic_cylinder": {"radius": 0.8, "half_length": 1.1, "exponent": 2.5},
    "superquadric": {"size": [0.8, 1, 1.2], "exponents": [0.7, 0.6]},
    "oriented_points": {"points": AXES, "normals": AXES, "radius": 0.6},
    "union": {"smoothing": 0.1, "of": [EGG, dict(EGG, position=[0.9, 0.2, 0])]},
    "subtraction": {"smoothing": 0.1, "of": [dict(EGG, exponent=2), dict(EGG, position=[0, 0, 1.3])]},
}
for kind, keys in SHAPES.items():
    keys["type"] = kind
CONVEX = list(SHAPES)[:5]
# Where parameter k stands, in the order of docs/queries.md.
OWN = {
    "truncated_cone": ["sharpness", "bottom_radius", "top_radius", "below", "above"],
    "superellipsoid": ["exponent", ("size", 0), ("size", 1), ("size", 2)],
    "superelliptic_cylinder": ["exponent", "radius", "half_length"],
    "superquadric": [("exponents", 0), ("exponents", 1), ("size", 0), ("size", 1), ("size", 2)],
    "smooth_polytope": ["sharpness"]
    + [p for i in range(6) for p in [*[("normals", i, k) for k in range(3)], ("offsets", i)]],
}
ANSWERS = {
    "growth": ["alpha", "gap", "point", "normal", "witness_a", "witness_b", "multipliers"],
    "distance": ["distance", "normal", "witness_a", "witness_b"],
    "manifold": ["point", "distance", "normal", "activity"],
}


def ask(questions):
    """The answers to questions, by one call."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps(q) + "\n" for q in questions)
        file.flush()
        run = subprocess.run([SDRS, "query", file.name], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(run.stderr)
    return [json.loads(line) for line in run.stdout.splitlines()]


def product(p, q):
    """Of quaternions."""
    a, b, c, d = p
    e, f, g, h = q
    return [a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g, a * g - b * h + c * e + d * f,
            a * h + b * g - c * f + d * e]  # fmt: skip


def place_of(path, body):
    """The list or object that holds a parameter, and its key in it."""
    if isinstance(path, str):
        return body, path
    for key in path[:-1]:
        body = body[key]
    return body, path[-1]


def moved(question, body, column, h):
    """The question with a column's displacement: a number is a turn or a move, else the path of a parameter."""
    out = copy.deepcopy(question)
    own = out[body]
    if not isinstance(column, int):
        holder, key = place_of(column, own)
        holder[key] += h * max(abs(holder[key]), 0.1)
    elif column < 3:
        turn = [math.cos(h / 2), 0, 0, 0]
        turn[1 + column] = math.sin(h / 2)
        own["quaternion"] = product(turn, own["quaternion"])
    else:
        own["position"][column - 3] += h
    return out


def unit_of(question, body, column):
    """How much of the column a step of 1 is."""
    if isinstance(column, int):
        return 1
    holder, key = place_of(column, question[body])
    return max(abs(holder[key]), 0.1)


def flat(value):
    """A number, list or list of lists as one list."""
    if not isinstance(value, list):
        return [value]
    return [x for v in value for x in flat(v)]


def rows(value):
    """Derivatives as a row for every number of the answer."""
    return value if isinstance(value[0], list) else [value]


def found(answer, method):
    """Every answer's numbers, by name; contacts one after the other."""
    parts = answer["contacts"] if method == "manifold" else [answer]
    return {(i, name): flat(p[name]) for i, p in enumerate(parts) for name in ANSWERS[method]}


def worst_error(question):
    """(worst error, condition, reason) of a question."""
    method = question["method"]
    base = ask([question])[0]
    parts = base["contacts"] if method == "manifold" else [base]
    if parts[0]["d_%s_a" % ANSWERS[method][0]] is None:
        return None, base["condition"], base["reason"]
    columns = [(body, k) for body in "ab" for k in range(6)]
    if method != "manifold":
        columns += [(body, p) for body in "ab" for p in OWN[question[body]["type"]]]
    plain = dict(question, derivatives=False, parameters=False)
    answers = iter(ask([moved(plain, *c, s * h) for c in columns for h in STEPS for s in (1, -1)]))
    error, size = {}, {}  # of every answer by step; its largest derivative
    counts = {"a": 0, "b": 0}
    for body, column in columns:
        unit = unit_of(question, body, column)
        place = column
        if not isinstance(column, int):
            place = counts[body]
            counts[body] += 1
        for h in STEPS:
            up, down = found(next(answers), method), found(next(answers), method)
            for (i, name), high in up.items():
                table = parts[i]["d_%s_%s%s" % (name, "" if isinstance(column, int) else "shape_", body)]
                for row, x, y in zip(rows(table), high, down[i, name]):
                    apart = abs((x - y) / (2 * h) - row[place] * unit)
                    error[i, name, h] = max(error.get((i, name, h), 0), apart)
                    size[i, name] = max(size.get((i, name), 1), abs(row[place] * unit))
    worst = max(min(error[key + (h,)] for h in STEPS) / size[key] for key in size)
    return worst, base.get("condition"), ""


def question_of(method, a, b, alpha, draw):
    """Bodies at drawn orientations, b in a drawn direction so far away that growth is alpha."""
    way = [draw.gauss(0, 1) for _ in range(3)]
    way = [x / math.hypot(*way) for x in way]
    question = {"method": method, "derivatives": True}
    for body, kind in (("a", a), ("b", b)):
        turn = [draw.gauss(0, 1) for _ in range(4)]
        question[body] = dict(copy.deepcopy(SHAPES[kind]), quaternion=[x / math.hypot(*turn) for x in turn])
        question[body]["position"] = [0.0, 0.0, 0.0]
    question["b"]["position"] = way
    scale = alpha * 2
    if a in CONVEX and b in CONVEX:
        scale = alpha / ask([dict(question, method="growth", derivatives=False)])[0]["alpha"]
    question["b"]["position"] = [scale * x for x in way]
    if method == "manifold":
        question.update(points=24, edges=4, smoothing=0.1, softness=0.2, regularization=0.01)
    else:
        question["parameters"] = True
    return question


def main():
    """One row for each method, pair and state."""
    methods = sys.argv[1:] or ["growth", "distance", "manifold"]
    lines = [["method", "shape_a", "shape_b", "state", "alpha", "worst_error", "condition", "reason"]]
    for method in methods:
        draw = random.Random(5)
        alike = [(kind, kind) for kind in SHAPES]
        for a, b in alike if method == "manifold" else itertools.combinations_with_replacement(CONVEX, 2):
            for state, alpha in STATES.items():
                worst, condition, reason = worst_error(question_of(method, a, b, alpha, draw))
                line = [method, a, b, state, alpha, "" if worst is None else "%.1e" % worst,
                        "" if condition is None else "%.1e" % condition, reason]  # fmt: skip
                lines.append(line)
                print(*line, sep=",", flush=True)
    with open("docs/results/query-derivatives.csv", "w", encoding="ascii", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    main()
