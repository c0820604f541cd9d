#!/usr/bin/env python3
"""Rates of queries as arrays through Python (benchmarks/results/queries.md): queries per second of processor time, one thread; processor time of two threads relative to one; how much
sooner two threads end (on a machine without other work).

    PYTHONPATH=python benchmarks/measure_arrays.py [ROWS]
"""

import sys
import time

import numpy as np
import sdrs

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 200000
draw = np.random.default_rng(1)


def poses(count, distance):
    """Random directions and orientations at this distance [m]."""
    place, q = draw.normal(size=(count, 3)), draw.normal(size=(count, 4))
    return np.hstack([distance * place / np.linalg.norm(place, axis=1)[:, None], q / np.linalg.norm(q, axis=1)[:, None]])


def rate(name, shapes, method, a, b, outputs, derivatives=(), **options):
    """The best of three: the first one also fetches the memory of the answers, which the others write over."""
    best, wall, out = {1: float("inf"), 2: float("inf")}, {1: float("inf"), 2: float("inf")}, None
    for threads in (1, 2) * 3:
        start, begun = time.process_time(), time.perf_counter()
        out = shapes.query(method, 0, 1, a, b, outputs=outputs, derivatives=derivatives, out=out, threads=threads, **options)
        best[threads] = min(best[threads], time.process_time() - start)
        wall[threads] = min(wall[threads], time.perf_counter() - begun)
    print(f"{name},{len(b) / best[1]:.0f},{best[2] / best[1]:.3f},{wall[1] / wall[2]:.2f}", flush=True)


print("query,per_second,time_of_two_threads,speedup_of_two_threads")
eggs = sdrs.Shapes([{"type": "superellipsoid", "size": [1, 0.7, 0.5], "exponent": 4},
                    {"type": "superellipsoid", "size": [0.6, 0.8, 0.5], "exponent": 4}])
values = ("alpha", "gap", "point", "normal")
a, b = poses(ROWS, 0), poses(ROWS, 2)
rate("growth", eggs, "growth", a, b, values)
rate("growth with derivatives", eggs, "growth", a, b, values, values)
points = draw.normal(size=(2, 32, 3))
points /= np.linalg.norm(points, axis=2)[..., None]
hulls = sdrs.Shapes([{"type": "points", "points": part} for part in points])
values = ("distance", "normal", "witness_a", "witness_b")
b = poses(ROWS, 3)
rate("distance", hulls, "distance", a, b, values)
rate("distance with derivatives", hulls, "distance", a, b, values, values)
path = np.tile(b[:1], (ROWS, 1))
path[:, 0] += np.linspace(0, 1, ROWS)
rate("distance along a path", hulls, "distance", a[0], path, values)
boxes = sdrs.Shapes([{"type": "box", "size": [1, 1, 1]}, {"type": "box", "size": [1, 0.5, 0.5]}])
values = ("kind", "point", "distance", "normal", "activity")
few = max(ROWS // 400, 1)
b = poses(few, 0.9)
rate("manifold of boxes", boxes, "manifold", a[:few], b, values)
rate("manifold of boxes with derivatives", boxes, "manifold", a[:few], b, values, values[1:])
rate("manifold of boxes with derivatives, culled", boxes, "manifold", a[:few], b, values, values[1:], cull=True)
