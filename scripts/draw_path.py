#!/usr/bin/env python3
"""A task of planning and its path, seen from above and from the side, as PNG by gnuplot.

    scripts/draw_path.py TASK.yaml RUN out.png

Obstacles are points of their surfaces, by their own formulas (docs/derivations/shapes.md).
"""

import csv
import math
import os
import subprocess
import sys
import tempfile

import yaml


def level(shape, x, y, z):
    """phi, negative inside"""
    kind = shape["type"]
    if kind == "superellipsoid":
        n, (a, b, c) = 2 * shape["exponent"], shape["size"]
        return abs(x / a) ** n + abs(y / b) ** n + abs(z / c) ** n - 1
    if kind == "superquadric":
        (e1, e2), (a, b, c) = shape["exponents"], shape["size"]
        return (abs(x / a) ** (2 / e2) + abs(y / b) ** (2 / e2)) ** (e2 / e1) + abs(z / c) ** (2 / e1) - 1
    if kind == "superelliptic_cylinder":
        n = shape["exponent"]
        return (math.hypot(y, z) / shape["radius"]) ** (2 * n) + abs(x / shape["half_length"]) ** (2 * n) - 1
    if kind == "truncated_cone":
        below, above, low, high = shape["below"], shape["above"], shape["bottom_radius"], shape["top_radius"]
        radius = low + (high - low) * (x + below) / (below + above)
        return max((y * y + z * z) / max(radius, 1e-3) ** 2 - 1, -x / below - 1, x / above - 1)
    unit = [[v / math.hypot(*n) for v in n] + [o / math.hypot(*n)] for n, o in zip(shape["normals"], shape["offsets"])]
    return max(n[0] * x + n[1] * y + n[2] * z - n[3] for n in unit)


def turned(quaternion, v):
    w, a, b, c = quaternion
    u = (a, b, c)
    cross = lambda p, q: (p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0])
    t = cross(u, v)
    s = cross(u, t)
    return [v[k] + 2 * (w * t[k] + s[k]) for k in range(3)]


def surface(shape, count):
    """Points where rays from the centre leave the shape."""
    points = []
    for i in range(count):
        z = 1 - 2 * (i + 0.5) / count
        turn = math.pi * (3 - math.sqrt(5)) * i
        ray = (math.sqrt(1 - z * z) * math.cos(turn), math.sqrt(1 - z * z) * math.sin(turn), z)
        low, high = 0.0, 10.0
        for _ in range(24):
            middle = (low + high) / 2
            if level(shape, *(middle * v for v in ray)) < 0:
                low = middle
            else:
                high = middle
        place = turned(shape.get("quaternion", [1, 0, 0, 0]), [low * v for v in ray])
        points.append([p + t for p, t in zip(place, shape.get("position", [0, 0, 0]))])
    return points


def main():
    task, run, out = sys.argv[1:]
    plan = yaml.safe_load(open(task))["plan"]
    path = [[float(row[k]) for k in "xyz"] for row in csv.DictReader(open(os.path.join(run, "path.csv")))]
    with tempfile.TemporaryDirectory() as folder:
        dots, line, body = (os.path.join(folder, name) for name in ("dots", "line", "body"))
        with open(dots, "w") as file:
            for k, shape in enumerate(plan["obstacles"]):
                file.writelines(f"{x} {y} {z} {k}\n" for x, y, z in surface(shape, 900))
        with open(line, "w") as file:
            file.writelines(f"{x} {y} {z}\n" for x, y, z in path)
        with open(body, "w") as file:
            for x, y, z in path[::6]:
                file.writelines(f"{x + a} {y + b} {z + c}\n" for a, b, c in surface(plan["body"], 150))
        panels = "".join(
            f"set title '{title}' offset 0,-0.6\nset ylabel '{axis} [m]'\nset xlabel 'x [m]'\n"
            f"plot '{dots}' using 1:{column}:4 with dots lc variable, '{body}' using 1:{column} with dots lc rgb 'black', "
            f"'{line}' using 1:{column} with lines lw 2 lc rgb 'red'\n"
            for title, axis, column in (("from above", "y", 2), ("from the side", "z", 3)))
        script = (f"set terminal pngcairo size 900,760 font 'DejaVu Sans,11'\nset output '{out}'\nunset key\n"
                  f"set size ratio -1\nset multiplot layout 2,1\n{panels}")
        subprocess.run(["gnuplot"], input=script, text=True, check=True)


if __name__ == "__main__":
    main()
