"""Finds the initial speed with which a box slides half a metre, by Newton's method with exact derivatives of the run.

    PYTHONPATH=python python3 examples/python/throw.py
"""
import sys

import numpy as np

import sdrs

scene = sdrs.Scene(sys.argv[1] if len(sys.argv) > 1 else "scenes/tasks/throw-scene.yaml")
velocities = np.array([1.0, 0, 0, 0, 0, 0])  # m/s, rad/s
miss = 1.0
while abs(miss) > 1e-12:
    run = scene.run(velocities=velocities)
    miss = run.position("box")[-1, 0] - 0.5
    by_position = np.zeros((run.steps + 1, 3))
    by_position[-1, 0] = 1  # derivative of miss by the final x
    velocities[0] -= miss / run.gradient({"box": by_position})["velocities"][0]
print(f"{velocities[0]:.12g}")
