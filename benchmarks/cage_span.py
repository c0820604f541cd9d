#!/usr/bin/env python3
"""How much of what blocks did to a link a cage could have done: shares of the squared displacement of its vertices.

    benchmarks/cage_span.py RUN LINK CELLS...      RUN: a folder of sdrs optimize; CELLS: cells of a cage along each axis
    benchmarks/cage_span.py out/parallel-jaw left 4 16

Prints the root of the mean squared displacement; the share of it in which corners of blocks that stood in one place part, which no cage
does; and for each cage the share that the best motion of its control points leaves (least squares of trilinear weights, no bounds).
"""
import argparse
import math
import sys

ITERATIONS = 300  # of conjugate gradients; the residual has four digits then


def read_vertices(path):
    """Vertices of an OBJ file, in order."""
    return [list(map(float, line.split()[1:4])) for line in open(path, encoding="ascii") if line.startswith("v ")]


def squares(vectors):
    """Sum of all squares."""
    return sum(x * x for vector in vectors for x in vector)


def parting(before, moved):
    """Squared displacement about the mean of those that stood in one place."""
    places = {}
    for place, displacement in zip(before, moved):
        places.setdefault(tuple(round(x, 7) for x in place), []).append(displacement)
    total = 0
    for group in places.values():
        mean = [sum(column) / len(group) for column in zip(*group)]
        total += squares([[x - m for x, m in zip(vector, mean)] for vector in group])
    return total


def weights(points, cells):
    """Trilinear weights of control points in a box around the points: [(control point, weight)] of each."""
    low, high = [min(c) for c in zip(*points)], [max(c) for c in zip(*points)]
    rows = []
    for point in points:
        at = [(x - a) / (b - a) * cells for x, a, b in zip(point, low, high)]
        cell = [min(int(x), cells - 1) for x in at]
        inside = [x - c for x, c in zip(at, cell)]
        row = []
        for corner in range(8):
            step = [corner & 1, corner >> 1 & 1, corner >> 2]
            weight = math.prod(f if s else 1 - f for s, f in zip(step, inside))
            index = tuple(c + s for c, s in zip(cell, step))
            if weight > 0:
                row.append((index, weight))
        rows.append(row)
    return rows


def left_over(rows, wanted):
    """Least sum of squares of wanted - rows x, one axis (conjugate gradients of the normal equations)."""
    residual = list(wanted)
    gradient = {}
    for row, r in zip(rows, residual):
        for index, weight in row:
            gradient[index] = gradient.get(index, 0) + weight * r
    direction, size = dict(gradient), sum(g * g for g in gradient.values())
    for _ in range(ITERATIONS):
        if size < 1e-30:
            break
        image = [sum(weight * direction[index] for index, weight in row) for row in rows]
        length = size / sum(x * x for x in image)
        residual = [r - length * x for r, x in zip(residual, image)]
        gradient = dict.fromkeys(gradient, 0)
        for row, r in zip(rows, residual):
            for index, weight in row:
                gradient[index] += weight * r
        last, size = size, sum(g * g for g in gradient.values())
        direction = {index: g + size / last * direction[index] for index, g in gradient.items()}
    return sum(r * r for r in residual)


def main():
    """Print the shares."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("run")
    parser.add_argument("link")
    parser.add_argument("cells", type=int, nargs="+")
    arguments = parser.parse_args()
    before = read_vertices(f"{arguments.run}/design/0/{arguments.link}.obj")
    after = read_vertices(f"{arguments.run}/design/final/{arguments.link}.obj")
    if len(before) != len(after):
        sys.exit(f"{arguments.link}: the designs have different numbers of vertices")
    moved = [[b - a for a, b in zip(x, y)] for x, y in zip(before, after)]
    total = squares(moved)
    farthest = max(math.hypot(*vector) for vector in moved)
    print(f"{arguments.link}: {1e3 * math.sqrt(total / len(moved)):.3g} mm, farthest {1e3 * farthest:.3g} mm")
    print(f"parting: {100 * parting(before, moved) / total:.1f} %")
    for cells in arguments.cells:
        rows = weights(before, cells)
        left = sum(left_over(rows, [vector[axis] for vector in moved]) for axis in range(3))
        print(f"beyond a cage of {cells} cells: {100 * left / total:.1f} %")


if __name__ == "__main__":
    main()
