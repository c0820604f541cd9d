#!/usr/bin/env python3
"""Write scenes/identify/pendulum-<n>.csv: a driven pendulum by Runge and Kutta's method, independent of sdrs.

    I q'' = 9.81 m (cx cos q + cz sin q) - d q' - f q' / sqrt(q'^2 + v^2) + torque(t)

with I about the hinge, steps of 0.05 ms, rows every 10 ms. --noise adds that standard deviation [rad] to the angles,
drawn from --seed.
"""

import argparse
import math
import pathlib
import random

MASS, CX, CZ, INERTIA, DAMPING, FRICTION, SPEED = 1.0, 0.05, -0.42, 0.08, 0.03, 0.04, 0.01
STARTS = [(0.3, 0.0), (-0.8, 1.0), (1.2, -2.0)]
HINGE = INERTIA + MASS * (CX * CX + CZ * CZ)


def torque(t):
    return 0.8 * math.sin(2 * math.pi * 0.7 * t + 0.3) + 0.5 * math.sin(2 * math.pi * 1.9 * t)


def acceleration(t, q, v):
    weight = 9.81 * MASS * (CX * math.cos(q) + CZ * math.sin(q))
    return (weight - DAMPING * v - FRICTION * v / math.hypot(v, SPEED) + torque(t)) / HINGE


def step(t, q, v, h):
    k1q, k1v = v, acceleration(t, q, v)
    k2q, k2v = v + h / 2 * k1v, acceleration(t + h / 2, q + h / 2 * k1q, v + h / 2 * k1v)
    k3q, k3v = v + h / 2 * k2v, acceleration(t + h / 2, q + h / 2 * k2q, v + h / 2 * k2v)
    k4q, k4v = v + h * k3v, acceleration(t + h, q + h * k3q, v + h * k3v)
    return q + h / 6 * (k1q + 2 * k2q + 2 * k3q + k4q), v + h / 6 * (k1v + 2 * k2v + 2 * k3v + k4v)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default="scenes/identify")
    parser.add_argument("--noise", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    for number, (q, v) in enumerate(STARTS, 1):
        lines = ["time,angle,rate"]
        for row in range(301):
            noise = draw.gauss(0, arguments.noise) if arguments.noise > 0 else 0.0
            lines.append(f"{row / 100:.2f},{q + noise:.9f},{v:.9f}")
            for part in range(200):
                q, v = step(row / 100 + part * 5e-5, q, v, 5e-5)
        path = pathlib.Path(arguments.folder) / f"pendulum-{number}.csv"
        path.write_text("\n".join(lines) + "\n")


main()
