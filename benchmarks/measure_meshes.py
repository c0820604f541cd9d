#!/usr/bin/env python3
"""What `sdrs decompose` makes of bad and of thin meshes, judged from outside (numpy).

    benchmarks/measure_meshes.py [--data ../shared/data] [--sdrs ./sdrs] [--work out/meshes] >benchmarks/results/meshes.csv

soup: every triangle of a closed mesh on three corners of its own, each moved by a random part of the diagonal (`jitter`): processor
seconds, at what distance points were joined (of the diagonal), how many borders were left to be closed, into how many surfaces it fell,
volume of the hulls and of the mended mesh over the volume of the mesh before.
shell: `--tolerance`: how many hulls it takes, what it proves (`depth_at_most`), and the largest distance from the mesh of points drawn at
random on the hulls' surfaces that lie in no other hull and outside of the mesh - less than what is proved, if that is right. `way` has
the largest distance of points of the mesh from the hulls (0: all of it is covered). Lengths in parts of the diagonal."""
import argparse
import csv
import json
import os
import resource
import subprocess
import sys

import numpy as np

SOUPS = [("real/bunny_closed_5k.obj", jitter) for jitter in (0, 1e-7, 1e-6, 1e-5, 1e-4, 3e-4, 1e-3)] + [
    ("shapes/torus.obj", jitter) for jitter in (1e-6, 1e-4, 1e-3)] + [("real/bunny_closed_70k.obj", 1e-6)]
SHELLS = [("assets/mug.obj", t) for t in ("9mm", "5mm")] + [("assets/ring.obj", "2mm"), ("shapes/cup.obj", "0.1"), ("real/mug_4k.obj", "0.5")]
SEED, SAMPLES = 3, 4000


def read(path):
    points, faces, groups = [], [], []
    for line in open(path):
        words = line.split()
        if words[:1] == ["o"]:
            groups.append(len(faces))
        elif words[:1] == ["v"]:
            points.append([float(w) for w in words[1:4]])
        elif words[:1] == ["f"]:
            corners = [int(w.split("/")[0]) - 1 for w in words[1:]]
            faces += [[corners[0], corners[k], corners[k + 1]] for k in range(1, len(corners) - 1)]
    return np.array(points), np.array(faces), groups


def volume(points, faces):
    a, b, c = (points[faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def diagonal(points):
    return float(np.linalg.norm(points.max(0) - points.min(0)))


def decompose(options, mesh, name, *words):
    folder = os.path.join(options.work, name)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([options.sdrs, "decompose", mesh, "-o", folder, "-q", "--no-picture", "--threads", "1", *words],
                          capture_output=True, text=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    if done.returncode not in (0, 1):
        sys.exit(f"{mesh}: {done.stderr}")
    return json.load(open(os.path.join(folder, "report.json"))), os.path.join(folder, "hulls.obj"), seconds


def soup(options, path, jitter):
    points, faces, _ = read(os.path.join(options.data, path))
    generator = np.random.default_rng(SEED)
    corners = points[faces].reshape(-1, 3)
    corners = corners + jitter * diagonal(points) * generator.uniform(-1, 1, corners.shape) / 3 ** 0.5
    name = f"soup-{os.path.basename(path)[:-4]}-{jitter:g}"
    mesh = os.path.join(options.work, name + ".obj")
    with open(mesh, "w") as out:
        for p in corners:
            out.write("v %r %r %r\n" % tuple(map(float, p)))
        for k in range(len(faces)):
            out.write(f"f {3 * k + 1} {3 * k + 2} {3 * k + 3}\n")
    report, _, seconds = decompose(options, mesh, name)
    c = report["condition"]
    return {"kind": "soup", "mesh": path, "setting": f"jitter {jitter:g}", "cpu_s": f"{seconds:.2f}", "hulls": report["hulls"],
            "joining": f"{c['joining'] / diagonal(points):.2g}", "borders": c["closed_borders"], "surfaces": c["components"],
            "hulls_over_mesh": f"{report['hull_volume'] / volume(points, faces):.4g}",
            "mended_over_mesh": f"{report['mesh_volume'] / volume(points, faces):.4g}"}


def distances(points, corners, faces):
    """From points to triangles (Ericson's regions, as a projection to the plane or to the nearest edge)."""
    best = np.full(len(points), np.inf)
    for t in faces:
        a, b, c = corners[t[0]], corners[t[1]], corners[t[2]]
        n = np.cross(b - a, c - a)
        size = np.linalg.norm(n)
        for p, q in ((a, b), (b, c), (c, a)):
            along = q - p
            s = np.clip((points - p) @ along / max(along @ along, 1e-300), 0, 1)
            best = np.minimum(best, np.linalg.norm(points - p - s[:, None] * along, axis=1))
        if size > 0:
            n = n / size
            inside = np.ones(len(points), bool)
            for p, q in ((a, b), (b, c), (c, a)):
                inside &= (points - p) @ np.cross(n, q - p) >= 0
            best = np.where(inside, np.minimum(best, np.abs((points - a) @ n)), best)
    return best


def winding(points, corners, faces):
    total = np.zeros(len(points))
    for t in faces:
        a, b, c = (corners[k] - points for k in t)
        la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        below = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb
        total += 2 * np.arctan2((a * np.cross(b, c)).sum(1), below)
    return total / (4 * np.pi)


def samples(points, faces, count, generator):
    a, b, c = (points[faces[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    chosen = generator.choice(len(faces), count, p=area / area.sum())
    u, v = generator.uniform(size=(2, count))
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    return a[chosen] + u[:, None] * (b - a)[chosen] + v[:, None] * (c - a)[chosen]


def beyond(points, corners, faces):
    """How far points are beyond the farthest face of a convex hull: at most its distance."""
    worst = np.full(len(points), -np.inf)
    for t in faces:
        a, b, c = (corners[k] for k in t)
        n = np.cross(b - a, c - a)
        size = np.linalg.norm(n)
        if size > 0:
            worst = np.maximum(worst, (points - a) @ (n / size))
    return worst


def shell(options, path, tolerance):
    file = path if path.startswith("assets/") else os.path.join(options.data, path)
    points, faces, _ = read(file)
    size, generator = diagonal(points), np.random.default_rng(SEED)
    report, hulls, seconds = decompose(options, file, "shell-" + os.path.basename(path)[:-4] + tolerance, "--tolerance", tolerance)
    corners, all_faces, groups = read(hulls)
    parts = [all_faces[a:b] for a, b in zip(groups, groups[1:] + [len(all_faces)])]
    drawn = samples(corners, all_faces, SAMPLES, generator)
    out = np.abs(winding(drawn, points, faces)) < 0.5
    far = distances(drawn[out], points, faces).max() if out.any() else 0
    there = samples(points, faces, SAMPLES, generator)
    miss = np.min([beyond(there, corners, part) for part in parts], axis=0).max()
    return {"kind": "shell", "mesh": path, "setting": f"tolerance {tolerance}", "cpu_s": f"{seconds:.2f}", "hulls": report["hulls"],
            "proved": f"{report['depth_at_most'] / size:.4g}", "sampled": f"{far / size:.4g}", "way": f"{max(miss, 0) / size:.2g}",
            "within": "yes" if report["guarantees"]["within_tolerance"] else "no"}


def main():
    parser = argparse.ArgumentParser()
    for word, default in (("data", "../shared/data"), ("sdrs", "./sdrs"), ("work", "out/meshes"), ("only", "")):
        parser.add_argument("--" + word, default=default)
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    columns = ["kind", "mesh", "setting", "cpu_s", "hulls", "joining", "borders", "surfaces", "hulls_over_mesh", "mended_over_mesh", "proved",
               "sampled", "way", "within"]
    writer = csv.DictWriter(sys.stdout, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for kind, cases in ((soup, SOUPS), (shell, SHELLS)):
        for path, setting in cases:
            if options.only not in kind.__name__ + path:
                continue
            if not path.startswith("assets/") and not os.path.exists(os.path.join(options.data, path)):
                print(f"not there: {path}", file=sys.stderr)
                continue
            writer.writerow(kind(options, path, setting))
            sys.stdout.flush()


main()
