#!/usr/bin/env python3
"""Check an exported part against the hulls that it was made of, by other means than the program's.

usage: check_part.py HULLS.obj PART.stl|PART.3mf|PART.obj [--columns N] [--tolerance T]

HULLS.obj holds one hull a group (sdrs export --pieces, or hulls.obj of sdrs decompose), in metres; PART is in the unit
of its format. The part's edges are counted and its volume is taken by the divergence theorem. The volume of the union
of hulls is measured in N x N vertical columns with a random line each: the line is cut by the planes of every hull, and
what is covered is added up. Prints one line; exits 1 when the part is not closed and manifold or when the volumes
differ by more than T (default 1e-3). Needs nothing but Python.
"""

import argparse
import random
import re
import struct
import sys
import xml.etree.ElementTree
import zipfile


def read_obj(path):
    points, groups = [], []
    for line in open(path, encoding="utf-8"):
        word = line.split()
        if line.startswith("o "):
            groups.append([])
        elif line.startswith("v "):
            points.append(tuple(map(float, word[1:4])))
        elif line.startswith("f "):
            groups[-1].append([int(w.split("/")[0]) - 1 for w in word[1:]])
    return points, groups


def read_stl(path):
    data = open(path, "rb").read()
    points, faces, number = [], [], {}
    for t in range(struct.unpack_from("<I", data, 80)[0]):
        corner = struct.unpack_from("<9f", data, 84 + 50 * t + 12)
        faces.append([number.setdefault(corner[k:k + 3], len(number)) for k in (0, 3, 6)])
    points = list(number)
    return [tuple(x / 1000 for x in p) for p in points], faces


def read_3mf(path):
    root = xml.etree.ElementTree.fromstring(zipfile.ZipFile(path).read("3D/3dmodel.model"))
    assert root.get("unit") == "millimeter"
    core = re.match(r"\{.*\}", root.tag).group()
    points, faces = [], []
    for mesh in root.iter(core + "mesh"):
        first = len(points)
        points += [tuple(float(v.get(k)) / 1000 for k in "xyz") for v in mesh.iter(core + "vertex")]
        faces += [[first + int(t.get(k)) for k in ("v1", "v2", "v3")] for t in mesh.iter(core + "triangle")]
    return points, faces


def read_part(path):
    if path.endswith(".stl"):
        return read_stl(path)
    if path.endswith(".3mf"):
        return read_3mf(path)
    points, groups = read_obj(path)
    return points, [face for group in groups for face in group]


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def minus(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def measure_part(points, faces):
    """closed and manifold, Euler's number, volume"""
    uses = {}
    for f in faces:
        for k in range(3):
            uses[f[k], f[(k + 1) % 3]] = uses.get((f[k], f[(k + 1) % 3]), 0) + 1
    sound = all(n == 1 and (b, a) in uses for (a, b), n in uses.items())
    euler = len({c for f in faces for c in f}) - len(uses) // 2 + len(faces)
    origin = points[0]
    six = sum(dot(minus(points[f[0]], origin), cross(minus(points[f[1]], origin), minus(points[f[2]], origin)))
              for f in faces)
    return sound, euler, six / 6


def hull_planes(points, faces):
    corners = [points[c] for f in faces for c in f]
    box = [(min(p[k] for p in corners), max(p[k] for p in corners)) for k in range(2)]
    planes = []
    for f in faces:
        n = cross(minus(points[f[1]], points[f[0]]), minus(points[f[2]], points[f[0]]))
        planes.append((n, dot(n, points[f[0]])))
    return box, planes


def span(planes, x, y):
    """where the vertical line is in the hull"""
    low, high = -1e300, 1e300
    for (nx, ny, nz), offset in planes:
        left = offset - nx * x - ny * y
        if nz > 0:
            high = min(high, left / nz)
        elif nz < 0:
            low = max(low, left / nz)
        elif left < 0:
            return None
    return (low, high) if low < high else None


def union_volume(points, groups, count):
    random.seed(1)
    hulls = [hull_planes(points, faces) for faces in groups]
    low = [min(box[k][0] for box, _ in hulls) for k in range(2)]
    step = [(max(box[k][1] for box, _ in hulls) - low[k]) / count for k in range(2)]
    total = 0.0
    for i in range(count * count):
        x = low[0] + step[0] * (i % count + random.random())
        y = low[1] + step[1] * (i // count + random.random())
        spans = [span(planes, x, y) for box, planes in hulls
                 if box[0][0] <= x <= box[0][1] and box[1][0] <= y <= box[1][1]]
        end = -1e300
        for a, b in sorted(s for s in spans if s):
            total += max(0.0, b - max(a, end))
            end = max(end, b)
    return total * step[0] * step[1]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("hulls")
    parser.add_argument("part")
    parser.add_argument("--columns", type=int, default=300)
    parser.add_argument("--tolerance", type=float, default=1e-3)
    options = parser.parse_args()
    sound, euler, volume = measure_part(*read_part(options.part))
    union = union_volume(*read_obj(options.hulls), options.columns)
    difference = volume / union - 1
    print(f"{options.part}: {'closed, manifold' if sound else 'NOT SOUND'}, Euler number {euler}, "
          f"{1e6 * volume:.2f} cm^3, union by columns {1e6 * union:.2f} cm^3, difference {difference:.1e}")
    return 0 if sound and abs(difference) <= options.tolerance else 1


if __name__ == "__main__":
    sys.exit(main())
