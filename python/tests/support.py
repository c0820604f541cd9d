"""What the tests have in common: where things are, a scene with every kind of joint, differences."""

import importlib
import os
import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("SDRS", ROOT / "sdrs"))

ARM = """simulation: {dt: 0.01, steps: 12, tolerance: 1e-13, integrator: first_order}
contact: {friction: 0.3}
shapes: {box: {type: box, size: [0.2, 0.2, 0.2]}, ground: {type: half_space}}
links:
  - {name: ground, fixed: true, shape: ground}
  - {name: box, shape: box, mass: 1, position: [0, 0, 0.1005]}
  - {name: arm, shape: box, mass: 1, joint: {type: ball, position: [0, 1, 1]}}
  - {name: hand, parent: arm, shape: box, mass: 0.5, joint: {type: hinge, axis: [0, 1, 0], position: [0.3, 0, 0]}}
controllers:
  - {link: arm, type: pd, position_gain: 20, velocity_gain: 1, target: [0.1, 0.2, 0.3]}
  - {link: hand, type: pd, position_gain: 5, velocity_gain: 0.2, target: 0.3}
initial: [{link: box, velocities: [1, 0.2, 0, 0, 0, 0.3]}, {link: arm, velocities: [0.3, -0.2, 0.5]}]
"""


def real_or_standin(name):
    """The module itself, or the stand-in in tests/standins; whether it is the real one."""
    try:
        return importlib.import_module(name), True
    except ImportError:
        sys.path.insert(0, str(ROOT / "python" / "tests" / "standins"))
        return importlib.import_module(name), False


def closest_difference(function, x, direction, analytic, steps=(1e-3, 1e-4, 1e-5, 1e-6)):
    """The central difference of a function along a direction that comes closest to the derivative, over some step sizes."""
    found = [(function(x + h * direction) - function(x - h * direction)) / (2 * h) for h in steps]
    return min(found, key=lambda difference: abs(difference - analytic))


def turned(scene, q, increments):
    """Coordinates moved by increments of the joints, to first order beyond the quaternions' length."""
    from sdrs._chart import chart

    turns, plain = chart(scene)
    out = np.array(q)
    for k, at in plain:
        out[k] += increments[at]
    for k, at in turns:
        w, x, y, z = q[k:k + 4]
        a, b, c = 0.5 * increments[at:at + 3]
        out[k:k + 4] += [-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a]
    return out
