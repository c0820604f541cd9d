#!/usr/bin/env python3
"""Derivative of a ball's final height by its initial height through one elastic impact without gravity. It is -1 for every start.

    PYTHONPATH=python benchmarks/impacts/bounce.py [--starts 80] [--csv FILE]

The ball (radius 0.1 m, restitution 1) moves down at 2 m/s for 0.6 s from heights between 0.3 m and 1.0 m. The starts take the
impact to all places within a time step. Prints a row for each integrator and time step: median and largest errors of the adjoint
and of central differences of runs (h = 1e-5 m), and how many exceed 1 %. Exits 1 if one does.
"""
import argparse
import csv
import sys

import numpy as np
import sdrs

SCENE = """
name: bounce
simulation: {{dt: {dt}, duration: 0.6, gravity: [0, 0, 0], integrator: {integrator}}}
contact: {{restitution: 1, friction: 0}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}}}
  - {{name: ball, mass: 1, shape: {{type: sphere, radius: 0.1}}, position: [0, 0, {height!r}]}}
initial: [{{link: ball, velocities: [0, 0, -2, 0, 0, 0]}}]
"""
SPAN = 1e-5  # of the central differences [m]


def run(integrator, dt, height):
    return sdrs.Scene.from_text(SCENE.format(integrator=integrator, dt=dt, height=float(height))).record()


def final_height(integrator, dt, height):
    return run(integrator, dt, height).center("ball")[-1, 2]


def slope(integrator, dt, height):
    done = run(integrator, dt, height)
    by_position = np.zeros((done.steps + 1, 3))
    by_position[-1, 2] = 1
    return done.gradient({"ball": by_position})["coordinates"][2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=80)
    parser.add_argument("--csv")
    options = parser.parse_args()
    heights = np.linspace(0.3, 1.0, options.starts)
    rows = []
    for integrator in ("momentum", "first_order", "second_order"):
        for dt in (0.002, 0.001):
            adjoint = np.array([abs(slope(integrator, dt, z) + 1) for z in heights])
            ends = np.array([[final_height(integrator, dt, z + side * SPAN) for side in (-1, 1)] for z in heights])
            differences = abs((ends[:, 1] - ends[:, 0]) / (2 * SPAN) + 1)
            row = [integrator, dt, options.starts]
            for error in (adjoint, differences):
                row += [f"{np.median(error):.2g}", f"{error.max():.2g}", int((error > 0.01).sum())]
            rows.append(row)
            print("%s, dt = %g s, %d starts: adjoint off by %s (median), %s (most), %d above 1 %%; differences %s, %s, %d" % tuple(row))
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["integrator", "dt", "starts", "adjoint_median", "adjoint_most", "adjoint_above_1_percent",
                             "differences_median", "differences_most", "differences_above_1_percent"])
            writer.writerows(rows)
    return 1 if any(row[5] or row[8] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
