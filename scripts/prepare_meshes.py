#!/usr/bin/env python3
"""The meshes of scenes/tasks/gather-bunny.yaml and franka-push.yaml, which are other people's and not shipped.

Usage: scripts/prepare_meshes.py [DATA]     DATA: folder with real/bunny_closed_5k.obj and panda/ (../shared/data)
Writes out/meshes/: bunny-280.obj, the bunny by collapsed edges to 280 triangles; bunny-5000.obj as it is; panda/*.obj, every
triangle cut into four; panda.yaml, the robot by `sdrs import`, its links sets of triangles. The program is $SDRS (./sdrs).
Exits 77 without the meshes. Takes 10 s.
"""

import heapq
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "out/meshes"
SDRS = os.environ.get("SDRS", "./sdrs")
BUNNY_TRIANGLES = 280
KNOTS = [0, 0.6, 1.2, 1.8, 2.4]  # s, of the joints' targets
START = {"panda_joint2": 0.3, "panda_joint4": -2.6, "panda_joint6": 2.9, "panda_joint7": 0.785}


def read_obj(path):
    points, faces = [], []
    for line in path.read_text().splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            points.append([float(x) for x in words[1:4]])
        elif words[:1] == ["f"]:
            corners = [int(word.split("/")[0]) - 1 for word in words[1:]]
            faces += [[corners[0], corners[k], corners[k + 1]] for k in range(1, len(corners) - 1)]
    return points, faces


def write_obj(path, points, faces, title):
    used = sorted({k for face in faces for k in face})
    number = {old: new + 1 for new, old in enumerate(used)}
    lines = [f"# {title}"] + ["v {:.9g} {:.9g} {:.9g}".format(*points[k]) for k in used]
    lines += ["f {} {} {}".format(*(number[k] for k in face)) for face in faces]
    path.write_text("\n".join(lines) + "\n")
    print(f"{path.relative_to(ROOT)}: {len(used)} corners, {len(faces)} triangles")


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def minus(a, b):
    return [a[0] - b[0], a[1] - b[1], a[2] - b[2]]


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def plane_quadric(points, face):
    """The squared distance from the face's plane times its area, as the ten numbers of a symmetric 4 x 4 matrix."""
    a, b, c = (points[k] for k in face)
    n = cross(minus(b, a), minus(c, a))
    size = dot(n, n) ** 0.5
    if size == 0:
        return [0.0] * 10
    n = [x / size for x in n]
    p = n + [-dot(n, a)]
    return [0.5 * size * p[i] * p[j] for i in range(4) for j in range(i, 4)]


def quadric_at(q, x):
    v = [*x, 1.0]
    return sum(q[k] * v[i] * v[j] * (1 if i == j else 2)
               for k, (i, j) in enumerate((i, j) for i in range(4) for j in range(i, 4)))


def coarsen(points, faces, wanted):
    """Edges are collapsed to their better end or middle, the cheapest first by the quadrics of their faces, while the surface
    stays a closed one and no triangle turns over."""
    points, faces = [list(p) for p in points], {k: list(f) for k, f in enumerate(faces)}
    around = [set() for _ in points]
    quadric = [[0.0] * 10 for _ in points]
    for k, face in faces.items():
        q = plane_quadric(points, face)
        for corner in face:
            around[corner].add(k)
            quadric[corner] = [a + b for a, b in zip(quadric[corner], q)]
    version = [0] * len(points)
    heap = []

    def neighbours(a):
        return {c for k in around[a] for c in faces[k]} - {a}

    def push(a, b):
        q = [x + y for x, y in zip(quadric[a], quadric[b])]
        middle = [0.5 * (x + y) for x, y in zip(points[a], points[b])]
        cost, place = min(((quadric_at(q, x), x) for x in (points[a], points[b], middle)), key=lambda t: t[0])
        heapq.heappush(heap, (cost, a, b, version[a], version[b], place))

    def turns_over(a, b, place):
        for k in (around[a] | around[b]) - (around[a] & around[b]):
            old = [points[c] for c in faces[k]]
            new = [place if c in (a, b) else points[c] for c in faces[k]]
            before = cross(minus(old[1], old[0]), minus(old[2], old[0]))
            after = cross(minus(new[1], new[0]), minus(new[2], new[0]))
            if dot(before, after) <= 0.2 * (dot(before, before) * dot(after, after)) ** 0.5:
                return True
        return False

    for a in range(len(points)):
        for b in neighbours(a):
            if a < b:
                push(a, b)
    while len(faces) > wanted and heap:
        _, a, b, at_a, at_b, place = heapq.heappop(heap)
        if version[a] != at_a or version[b] != at_b or not around[a] & around[b]:
            continue
        if len(neighbours(a) & neighbours(b)) != 2 or turns_over(a, b, place):
            continue
        points[a] = place
        quadric[a] = [x + y for x, y in zip(quadric[a], quadric[b])]
        for k in around[a] & around[b]:
            for corner in faces.pop(k):
                around[corner].discard(k)
        for k in around[b]:
            faces[k] = [a if c == b else c for c in faces[k]]
        around[a] |= around[b]
        around[b] = set()
        version[b] += 1
        version[a] += 1
        for c in neighbours(a):
            push(min(a, c), max(a, c))
    return points, list(faces.values())


def subdivide(points, faces):
    """Every triangle in four, by the middles of its edges."""
    points, middle, out = [list(p) for p in points], {}, []

    def between(a, b):
        key = (min(a, b), max(a, b))
        if key not in middle:
            middle[key] = len(points)
            points.append([0.5 * (x + y) for x, y in zip(points[a], points[b])])
        return middle[key]

    for a, b, c in faces:
        ab, bc, ca = between(a, b), between(b, c), between(c, a)
        out += [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
    return points, out


def knots(target):
    """A constant target as a spline that can be optimized."""
    value = target.group(1)
    return f"target: {{type: spline, times: {KNOTS}, values: [{', '.join([f'[{value}]'] * len(KNOTS))}]}}"


def main():
    data = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "../shared/data").resolve()
    bunny, panda = data / "real/bunny_closed_5k.obj", data / "panda/panda.urdf"
    if not bunny.exists() or not panda.exists():
        print(f"no meshes in {data}", file=sys.stderr)
        sys.exit(77)
    (OUT / "panda").mkdir(parents=True, exist_ok=True)
    points, faces = read_obj(bunny)
    write_obj(OUT / "bunny-5000.obj", points, faces, "bunny")
    write_obj(OUT / f"bunny-{BUNNY_TRIANGLES}.obj", *coarsen(points, faces, BUNNY_TRIANGLES), "bunny, coarse")
    for path in sorted(panda.parent.glob("*.obj")):
        write_obj(OUT / "panda" / path.name, *subdivide(*read_obj(path)), "cut into four")
    (OUT / "panda/panda.urdf").write_text(panda.read_text())
    starts = [word for joint, angle in START.items() for word in ("--start", f"{joint}={angle}")]
    subprocess.run([SDRS, "import", "out/meshes/panda/panda.urdf", "-o", "out/meshes/panda.yaml", "-q", "--hold", "6",
                    "--no-self-collision", *starts], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    scene = OUT / "panda.yaml"
    text = scene.read_text().replace("hulls: whole", "pieces: triangles")
    scene.write_text(re.sub(r"target: \{type: constant, value: \[([^\]]*)\]\}", knots, text))
    print("out/meshes/panda.yaml")


if __name__ == "__main__":
    main()
