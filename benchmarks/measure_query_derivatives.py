#!/usr/bin/env python3
"""Writes benchmarks/results/query-derivatives.csv: derivatives that `sdrs query` answers against central differences of it.

  benchmarks/measure_query_derivatives.py [--check] [--short] [METHOD...]   default: growth distance witness manifold mean

Pairs of shapes at seeded orientations, overlapping (alpha 0.6, or 0.3 m deep), touching (alpha 1, or 1 mm apart) and apart
(alpha 1.8, or 0.8 m; of joined shapes alpha is that of their balls). Every derivative by both poses (turns of 1 rad, moves of the
bodies' size) and by every parameter of both shapes, in units of it; of points and meshes by each coordinate of each corner, of a
box and a prism, whose faces have four and six corners, by the nine stretches and shears and the three shifts of all corners
together, which keep them flat. A row is a pair: the worst over all answers of the least error of a sweep of seven steps, divided by the largest
derivative (at least 1) of that answer, and the condition; `reason` where there are none. `mean` is manifold's. Smoothed means of `witness` hold
their samples and unions' points are drawn again: both are compared in tests/unit/query. --check: nothing is written; exits 1 where an
error is above 1e-6. --short: one state of each pair of a shape with its like, two steps and every second column. The program is $SDRS (default ./sdrs).
"""
import copy
import csv
import itertools
import json
import math
import os
import random
import subprocess
import shutil
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
SMOOTH = list(SHAPES)[:5]
JOINED = list(SHAPES)[5:]
# Corners of polyhedra: of triangles alone, with faces of four and of six corners, and one with a hollow.
STONE = [[1, 0.1, 0], [-0.9, 0.2, 0.1], [0.1, 1.1, -0.1], [0, -0.8, 0.2], [0.2, 0.13, 0.95], [-0.1, 0, -1.1], [0.6, 0.5, 0.6]]
BOX = [[x, y, z] for x in (-0.7, 0.8) for y in (-0.9, 0.6) for z in (-0.8, 0.7)]
PRISM = [[math.cos(k * math.pi / 3), math.sin(k * math.pi / 3), z] for z in (-0.8, 0.7) for k in range(6)]
PLAN = [[-0.9, -0.8], [0.9, -0.8], [0.8, -0.1], [0.1, 0], [0, 0.9], [-0.8, 0.8]]
BRACKET = [[x + 0.06 * y * z, y + 0.05 * x * z, z * (1 + 0.07 * x * y + 0.04 * x - 0.1 * y * y)] for z in (-0.5, 0.6) for x, y in PLAN]
SIDES = [[k, (k + 1) % 6, (k + 1) % 6 + 6, k + 6] for k in range(6)]
BRACKET_FACES = [t for q in SIDES for t in (q[:3], [q[0], q[2], q[3]])]
BRACKET_FACES += [[0, b, a] for a, b in ((1, 2), (2, 3), (3, 4), (4, 5))]
BRACKET_FACES += [[6, a + 6, b + 6] for a, b in ((1, 2), (2, 3), (3, 4), (4, 5))]
SHAPES["stone"] = {"type": "points", "points": STONE, "smoothing": 0.05}
SHAPES["box"] = {"type": "points", "points": BOX, "smoothing": 0.05}
SHAPES["prism"] = {"type": "points", "points": PRISM, "smoothing": 0.05}
SHAPES["mesh"] = {"type": "mesh", "corners": BRACKET, "faces": BRACKET_FACES, "radius": 0.5}
HULLS = ["stone", "box", "prism", "mesh"]
# Apart [m], where alpha is not asked for.
GAPS = {"overlapping": -0.3, "touching": 1e-3, "apart": 0.8}
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
    "witness": ["witness_a", "witness_b"],
    "manifold": ["point", "distance", "normal", "activity"],
    "mean": ["mean"],
}
FOLDER = tempfile.mkdtemp()
WRITTEN = {}  # mesh texts and their files


def written(question):
    """The question with its meshes in files of their own."""
    out = dict(question)
    if out["method"] == "mean":
        out.update(method="manifold", mean=True)
    for body in "ab":
        own = dict(out[body])
        if own["type"] == "mesh":
            text = "".join("v %r %r %r\n" % tuple(v) for v in own.pop("corners"))
            text += "".join("f %d %d %d\n" % tuple(i + 1 for i in f) for f in own.pop("faces"))
            own["file"] = WRITTEN.get(text)
            if own["file"] is None:
                WRITTEN[text] = own["file"] = "%d.obj" % len(WRITTEN)
                with open(os.path.join(FOLDER, own["file"]), "w", encoding="ascii") as file:
                    file.write(text)
        out[body] = own
    return out


def ask(questions):
    """The answers to questions, by one call."""
    path = os.path.join(FOLDER, "questions.jsonl")
    with open(path, "w", encoding="ascii") as file:
        file.writelines(json.dumps(written(q)) + "\n" for q in questions)
    run = subprocess.run([SDRS, "query", path], capture_output=True, text=True, check=False)
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


def pose_moved(body, k):
    """A turn (k < 3) or a move of a body."""
    def apply(question, h):
        own = question[body]
        if k < 3:
            turn = [math.cos(h / 2), 0, 0, 0]
            turn[1 + k] = math.sin(h / 2)
            own["quaternion"] = product(turn, own["quaternion"])
        else:
            own["position"][k - 3] += h
    return apply


def number_moved(body, path):
    """A parameter, in units of it."""
    def apply(question, h):
        holder, key = place_of(path, question[body])
        holder[key] += h * max(abs(holder[key]), 0.1)
    return apply


def corner_moved(body, k):
    """Coordinate k of all corners."""
    def apply(question, h):
        own = question[body]
        own["corners" if "corners" in own else "points"][k // 3][k % 3] += h
    return apply


def corners_moved(body, to, by):
    """All corners along axis `to` by their coordinate `by`, or alike (3)."""
    def apply(question, h):
        for corner in question[body]["points"]:
            corner[to] += h * (1 if by == 3 else corner[by])
    return apply


def columns_of(question):
    """(table, weights of its columns by number, what moves the question) of every derivative that is compared."""
    out = [(body, {k: 1}, pose_moved(body, k)) for body in "ab" for k in range(6)]
    if not question["parameters"]:
        return out
    for body in "ab":
        own = question[body]
        table = "shape_" + body
        corners = own.get("corners", own["points"] if own["type"] == "points" else [])
        if corners in (BOX, PRISM):
            for to in range(3):
                for by in range(4):
                    weights = {3 * i + to: 1 if by == 3 else v[by] for i, v in enumerate(corners)}
                    out.append((table, weights, corners_moved(body, to, by)))
        elif corners:
            out += [(table, {k: 1}, corner_moved(body, k)) for k in range(3 * len(corners))]
        for k, path in enumerate(OWN.get(own["type"], [])):
            holder, key = place_of(path, own)
            out.append((table, {k: max(abs(holder[key]), 0.1)}, number_moved(body, path)))
    return out


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


def moved(question, move, h):
    """A copy of the question, moved."""
    out = copy.deepcopy(question)
    move(out, h)
    return out


def worst_error(question, short):
    """(worst error, condition, reason) of a question."""
    steps = STEPS[3:5] if short else STEPS
    method = question["method"]
    base = ask([question])[0]
    parts = base["contacts"] if method == "manifold" else [base]
    columns = columns_of(question)[:: 2 if short else 1]
    for table in dict.fromkeys(c[0] for c in columns):
        if parts[0]["d_%s_%s" % (ANSWERS[method][0], table)] is None:
            return None, base.get("condition"), base.get("reason") or base["reason_" + table]
    plain = dict(question, derivatives=False, parameters=False)
    answers = iter(ask([moved(plain, c[2], s * h) for c in columns for h in steps for s in (1, -1)]))
    error, size = {}, {}  # of every answer by step; its largest derivative
    for table, weights, _ in columns:
        for h in steps:
            up, down = found(next(answers), method), found(next(answers), method)
            for (i, name), high in up.items():
                slopes = rows(parts[i]["d_%s_%s" % (name, table)])
                for row, x, y in zip(slopes, high, down[i, name]):
                    told = sum(row[k] * w for k, w in weights.items())
                    error[i, name, h] = max(error.get((i, name, h), 0), abs((x - y) / (2 * h) - told))
                    size[i, name] = max(size.get((i, name), 1), abs(told))
    worst = max(min(error[key + (h,)] for h in steps) / size[key] for key in size)
    return worst, base.get("condition"), ""


def question_of(method, a, b, state, draw):
    """Bodies at drawn orientations, b in a drawn direction so far away that they are in the state."""
    way = [draw.gauss(0, 1) for _ in range(3)]
    way = [x / math.hypot(*way) for x in way]
    question = {"method": method, "derivatives": True, "parameters": True}
    for body, kind in (("a", a), ("b", b)):
        turn = [draw.gauss(0, 1) for _ in range(4)]
        question[body] = dict(copy.deepcopy(SHAPES[kind]), quaternion=[x / math.hypot(*turn) for x in turn])
        question[body]["position"] = [0.0, 0.0, 0.0]
    question["b"]["position"] = way
    scale = STATES[state] * 2
    plain = dict(question, derivatives=False, parameters=False)
    if a in SMOOTH and b in SMOOTH:
        scale = STATES[state] / ask([dict(plain, method="growth")])[0]["alpha"]
    elif a not in JOINED and b not in JOINED:
        low, high = 0, 8
        for _ in range(16 if "--short" in sys.argv else 40):
            scale = (low + high) / 2
            plain["b"] = dict(question["b"], position=[scale * x for x in way])
            if ask([dict(plain, method="distance")])[0]["distance"] < GAPS[state]:
                low = scale
            else:
                high = scale
    question["b"]["position"] = [scale * x for x in way]
    if method in ("manifold", "mean"):
        question.update(points=24, edges=4, smoothing=0.1, softness=0.2, regularization=0.01)
        question["parameters"] = a not in JOINED and b not in JOINED
    return question


def pairs_of(method):
    """Shapes that the method takes."""
    kinds = {"growth": SMOOTH, "distance": SMOOTH + HULLS, "witness": HULLS}
    if method in kinds:
        return list(itertools.combinations_with_replacement(kinds[method], 2))
    return [(kind, kind) for kind in SHAPES] + [("superellipsoid", "stone"), ("mesh", "superquadric")]


def main():
    """One row for each method, pair and state."""
    words = sys.argv[1:]
    check, short = "--check" in words, "--short" in words
    methods = [w for w in words if w[0] != "-"] or list(ANSWERS)
    lines = [["method", "shape_a", "shape_b", "state", "alpha_or_gap_m", "worst_error", "condition", "reason"]]
    wrong = unknown = 0
    for method in methods:
        draw = random.Random(5)
        pairs = pairs_of(method)
        for a, b in pairs:
            for state, alpha in STATES.items():
                if short and (a != b or state != list(STATES)[len(a) % 3]):
                    continue
                question = question_of(method, a, b, state, draw)
                worst, condition, reason = worst_error(question, short)
                hulls = (a in HULLS or b in HULLS) and a not in JOINED
                line = [method, a, b, state, GAPS[state] if hulls else alpha, "" if worst is None else "%.1e" % worst,
                        "" if condition is None else "%.1e" % condition, reason]  # fmt: skip
                lines.append(line)
                wrong += worst is not None and worst > 1e-6
                unknown += worst is None
                if not check or worst is None or worst > 1e-6:
                    print(*line, sep=",", flush=True)
    shutil.rmtree(FOLDER)
    if check:
        print("%d pairs compared, %d wrong, %d without derivatives" % (len(lines) - 1 - unknown, wrong, unknown))
        sys.exit(wrong > 0)
    with open("benchmarks/results/query-derivatives.csv", "w", encoding="ascii", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    main()
