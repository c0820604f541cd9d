#!/usr/bin/env python3
"""Area of the holes that go straight through a body: where one can see through it along an axis, within its outline.

    scripts/hole_area.py BODY.obj [--along x|y|z] [--rows N]      prints `holes N`, `area A cm^2`, `largest A cm^2`

BODY.obj has one `o` group for each convex piece (design/final/<link>.obj of sdrs optimize). The pieces' shadows along the axis
are convex polygons; lines across them (N, default 2000) meet their union in intervals, and the gaps between these are joined
from line to line. Gaps that reach around the body are outside, all others are holes. Exact along a line, midpoint rule across:
the error is of the order of (outline of the holes) x (height / N).
"""
import argparse
import sys


def read_pieces(path):
    """Points of every group."""
    pieces = [[]]
    for line in open(path, encoding="ascii"):
        words = line.split()
        if words and words[0] in "og":
            pieces.append([])
        elif words and words[0] == "v":
            pieces[-1].append(tuple(float(w) for w in words[1:4]))
    return [p for p in pieces if p]


def convex_outline(points):
    """Counter-clockwise hull of points in the plane (Andrew's chain)."""
    points = sorted(set(points))

    def chain(order):
        out = []
        for p in order:
            while len(out) > 1 and ((out[-1][0] - out[-2][0]) * (p[1] - out[-2][1])
                                    - (out[-1][1] - out[-2][1]) * (p[0] - out[-2][0])) <= 0:
                out.pop()
            out.append(p)
        return out[:-1]

    return chain(points) + chain(points[::-1]) if len(points) > 2 else points


def crossing(outline, y):
    """Interval in which the line at height y meets a convex outline, or None."""
    at = []
    for (x0, y0), (x1, y1) in zip(outline, outline[1:] + outline[:1]):
        if (y0 <= y) != (y1 <= y):
            at.append(x0 + (y - y0) / (y1 - y0) * (x1 - x0))
    return (min(at), max(at)) if len(at) > 1 else None


def gaps(outlines, y):
    """What the union leaves free on a line; the first and the last reach to infinity."""
    covered = sorted(c for c in (crossing(o, y) for o in outlines) if c)
    out, end = [], float("-inf")
    for low, high in covered:
        if low > end:
            out.append((end, low))
        end = max(end, high)
    return out + [(end, float("inf"))]


def holes(pieces, along, rows):
    """Areas of all holes, the largest first."""
    keep = [k for k in range(3) if k != along]
    outlines = [convex_outline([(p[keep[0]], p[keep[1]]) for p in piece]) for piece in pieces]
    outlines = [o for o in outlines if len(o) > 2]
    low, high = min(p[1] for o in outlines for p in o), max(p[1] for o in outlines for p in o)
    height = (high - low) / rows
    parent, area, before = [0], [0.0], [(float("-inf"), float("inf"), 0)]  # 0: the outside

    def root(k):
        while parent[k] != k:
            parent[k] = parent[parent[k]]
            k = parent[k]
        return k

    for row in range(rows):
        here = []
        for a, b in gaps(outlines, low + (row + 0.5) * height):
            own = len(parent)
            parent.append(own)
            area.append((b - a) * height)
            if b - a == float("inf"):
                parent[own] = 0
                area[own] = 0.0
            for c, d, other in before:
                if max(a, c) < min(b, d):
                    parent[max(root(own), root(other))] = min(root(own), root(other))
            here.append((a, b, own))
        before = here
    for a, b, own in before:  # below and above the body is outside
        parent[root(own)] = 0
    total = {}
    for k, size in enumerate(area):
        if root(k) != 0:
            total[root(k)] = total.get(root(k), 0.0) + size
    return sorted(total.values(), reverse=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("body")
    parser.add_argument("--along", choices="xyz", default="x")
    parser.add_argument("--rows", type=int, default=2000)
    arguments = parser.parse_args()
    pieces = read_pieces(arguments.body)
    if not pieces:
        sys.exit(f"{arguments.body}: no points")
    found = holes(pieces, "xyz".index(arguments.along), arguments.rows)
    print(f"holes {len(found)}")
    print(f"area {sum(found) * 1e4:.6g} cm^2")
    print(f"largest {(found[0] if found else 0) * 1e4:.6g} cm^2")


if __name__ == "__main__":
    main()
