#!/usr/bin/env python3
"""Scenes whose straight ways between states meet: certify_scenes.py boxes SEED | plates SEED SPEED > scene.yaml.

boxes: 25 boxes tumble onto the ground and each other. plates: 20 thin plates cross at SPEED m/s each, turning.
"""
import random
import sys


def link(name, size, place):
    x, y, z = (f"{value:.4f}" for value in place)
    return f"  - {{name: {name}, density: 500, shape: {{type: box, size: {size}}}, position: [{x}, {y}, {z}]}}"


def motion(name, velocity, spin):
    rates = list(velocity) + [random.uniform(-spin, spin) for _ in range(3)]
    return f"  - {{link: {name}, velocities: [{', '.join(f'{rate:.3f}' for rate in rates)}]}}"


def boxes():
    links, initial = ["  - {name: ground, fixed: true, shape: {type: half_space}}"], []
    for k in range(25):
        place = (k % 3 * 0.25 + random.uniform(-0.02, 0.02), k // 3 % 3 * 0.25 + random.uniform(-0.02, 0.02),
                 0.3 + k // 9 * 0.3)
        links.append(link(f"b{k}", [0.2, 0.15, 0.1], place))
        velocity = (random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-2, 0))
        initial.append(motion(f"b{k}", velocity, 8))
    return "{dt: 0.01, steps: 170, max_iterations: 1000}", links, initial


def plates(speed):
    links, initial = [], []
    for k in range(20):
        side = 1 if k % 2 else -1
        place = (side * (0.5 + 0.3 * (k // 2)), random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2))
        links.append(link(f"p{k}", [0.01, 0.5, 0.5], place))
        initial.append(motion(f"p{k}", (-side * speed, random.uniform(-1, 1), random.uniform(-1, 1)), 8))
    return "{dt: 0.01, steps: 30, gravity: [0, 0, 0], max_iterations: 1000}", links, initial


random.seed(int(sys.argv[2]))
simulation, bodies, start = boxes() if sys.argv[1] == "boxes" else plates(float(sys.argv[3]))
print("\n".join(["name: certify", f"simulation: {simulation, integrator: first_order}", "contact: {friction: 0.4}", "links:"] + bodies +
                ["initial:"] + start))
