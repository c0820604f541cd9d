"""Balances a pole on a cart by a linear-quadratic regulator for the linearized step at the upright state.

    PYTHONPATH=python python3 examples/python/balance.py
"""
import numpy as np

import sdrs

scene = sdrs.Scene.from_text("""
simulation: {dt: 0.01, steps: 400, integrator: first_order}
links:
  - {name: cart, mass: 1, joint: {type: slide, axis: [1, 0, 0]}, shape: {type: box, size: [0.2, 0.1, 0.1]}}
  - {name: pole, parent: cart, mass: 0.2, joint: {type: hinge, axis: [0, 1, 0]},
     shapes: [{type: box, size: [0.02, 0.02, 1], position: [0, 0, 0.5]}]}
controllers:
  - {link: cart, type: torque, target: 0}
""")
a, b = scene.linearize()  # x = (position of cart, angle of pole, their rates), u = force on the cart
q, r, p = np.diag([1, 10, 0.1, 0.1]), 0.01 * np.eye(1), np.eye(4)
for _ in range(2000):  # Riccati iteration
    gain = np.linalg.solve(r + b.T @ p @ b, b.T @ p @ a)
    p = q + a.T @ p @ (a - b @ gain)
scene.set("coordinates", [0, 0.3])
for _ in range(400):
    scene.set("input", -gain @ np.r_[scene.coordinates, scene.velocities])
    scene.step()
print(f"pole {scene.coordinates[1]:.6f} rad, cart {scene.coordinates[0]:.6f} m after {scene.time:.0f} s")
