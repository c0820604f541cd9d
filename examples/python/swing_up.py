"""Swings up a pole on a cart, which can collide with a bumper, by iterative LQR (Li and Todorov, ICINCO 2004).

The linearizations of the steps include contact.

    PYTHONPATH=python python3 examples/python/swing_up.py
"""
import numpy as np

import sdrs

STEPS = 150
scene = sdrs.Scene.from_text("""
simulation: {dt: 0.02, steps: 150, integrator: first_order}
contact: {friction: 0, restitution: 0.8}
links:
  - {name: bumper, fixed: true, position: [0.7, 0, 0], shape: {type: box, size: [0.2, 0.2, 0.2]}}
  - {name: cart, mass: 1, joint: {type: slide, axis: [1, 0, 0]}, shape: {type: box, size: [0.2, 0.1, 0.1]}}
  - {name: pole, parent: cart, mass: 0.2, collide: false, joint: {type: hinge, axis: [0, 1, 0]},
     shapes: [{type: box, size: [0.02, 0.02, 1], position: [0, 0, 0.5]}]}
controllers:
  - {link: cart, type: torque, target: 0}
initial:
  - {link: cart, velocities: [2]}
  - {link: pole, coordinates: [3.141592653589793]}
""")
START = scene.coordinates, scene.velocities
END = np.diag([10, 200, 10, 20.0])  # weights of the final state: cart, pole and their rates


def rollout(inputs, gains=None, around=None):
    """Returns states (STEPS + 1, 4) and inputs of a run with the inputs `inputs` + gains (x - around), or `inputs`
    without gains."""
    scene.set("coordinates", START[0])
    scene.set("velocities", START[1])
    scene.reset()
    states, done = [np.r_[START]], []
    for k in range(STEPS):
        done.append(inputs[k] if gains is None else inputs[k] + gains[k] @ (states[k] - around[k]))
        scene.set("input", done[k])
        scene.step()
        states.append(np.r_[scene.coordinates, scene.velocities])
    return np.array(states), np.array(done)


def cost(states, inputs, weight):
    return weight * np.sum(inputs**2) / 2 + states[-1] @ END @ states[-1] / 2


def linearizations(states, inputs):
    for x, u in zip(states, inputs):
        scene.set("coordinates", x[:2])
        scene.set("velocities", x[2:])
        yield scene.linearize(u)


def backward(states, inputs, models, weight, damping):
    """Returns feedforward (STEPS, 1) and gains (STEPS, 1, 4) of the Riccati recursion, with damping on the inputs."""
    slope, curve = END @ states[-1], END
    forward, gains = [], []
    for u, (a, b) in zip(reversed(inputs), reversed(models)):
        by_input = weight * u + b.T @ slope
        quu, qux = weight * np.eye(len(u)) + b.T @ curve @ b, b.T @ curve @ a
        solved = np.linalg.solve(quu + damping * np.eye(len(u)), np.c_[by_input, qux])
        k, gain = -solved[:, 0], -solved[:, 1:]
        slope = a.T @ slope + gain.T @ (quu @ k + by_input) + qux.T @ k
        curve = a.T @ curve @ a + gain.T @ quu @ gain + gain.T @ qux + qux.T @ gain
        curve = (curve + curve.T) / 2
        forward.insert(0, k)
        gains.insert(0, gain)
    return np.array(forward), np.array(gains)


def improve(states, inputs, weight):
    """Returns states and inputs of iterative LQR. If the line search fails, the damping is increased."""
    value, damping = cost(states, inputs, weight), 1e-3
    while damping < 1e8:
        models, before = list(linearizations(states, inputs)), value
        while value == before and damping < 1e8:
            forward, gains = backward(states, inputs, models, weight, damping)
            tries = (rollout(inputs + size * forward, gains, states) for size in 0.5**np.arange(6))
            found = next((run for run in tries if cost(*run, weight) < value), None)
            if found:
                (states, inputs), value = found, cost(*found, weight)
            damping = max(damping / 4, 1e-6) if found else 8 * damping
        if before - value < 1e-6 * before:
            break
    return states, inputs


if __name__ == "__main__":
    states, inputs = rollout(np.zeros((STEPS, 1)))
    for weight in (1e-2, 1e-3, 1e-4):  # decreasing weights of the inputs
        states, inputs = improve(states, inputs, weight)
        print(f"weight {weight:g}: pole {states[-1, 1]:+.5f} rad, cart {states[-1, 0]:+.5f} m, effort "
              f"{0.02 * np.sum(inputs**2):.1f} N^2 s, force up to {np.abs(inputs).max():.1f} N")
    collisions = [k for k in range(STEPS) if states[k + 1, 2] < states[k, 2] - 1]
    print("the cart collides with the bumper in steps", [k + 1 for k in collisions])
