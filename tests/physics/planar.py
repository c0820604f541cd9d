"""Bodies that move freely in a plane (`free_axes`): they topple, slide and roll with a mass off their axis."""

import math

from levers import motion
from row import Row

G = 9.81
GROUND = "{name: ground, fixed: true, shape: {type: half_space}}"
STICK = "mass: 1, center: [0, 0, 0], inertia: [0.08333333333333333, 0.08333333333333333, 1.0e-4, 0, 0, 0], shape: {type: capsule, radius: 0.01, length: 1}"


def angle(r, link):
    """Rotation about y at the end, below half a turn [rad]."""
    w, _, y, _ = r.quaternion(link, -1)
    return 2 * math.atan2(y, w)


TOPPLING = f"""
simulation: {{duration: 0.45}}
contact: {{friction: 0}}
links:
  - {GROUND}
  - {{name: stick, {STICK}, joint: {{type: free, free_axes: [x, z, ry], position: [0, 0, {0.5 * math.cos(0.2) + 0.0103!r}]}}}}
initial: [{{link: stick, coordinates: [0, 0, 0.2]}}]
"""


def toppling(_, y):
    """A stick of 1 m on its tip without friction; its centre falls vertically."""
    s, c = math.sin(y[0]), math.cos(y[0])
    return [y[1], (G / 2 * s - s * c * y[1] ** 2 / 4) / (1 / 12 + s * s / 4)]


LADDER = f"""
simulation: {{duration: 0.5}}
contact: {{friction: 0}}
links:
  - {GROUND}
  - {{name: wall, fixed: true, shape: {{type: half_space, normal: [1, 0, 0]}}}}
  - {{name: stick, {STICK}, joint: {{type: free, free_axes: [x, z, ry], position: [{0.5 * math.sin(0.3) + 0.0105!r}, 0, {0.5 * math.cos(0.3) + 0.0105!r}], rpy: [0, -0.3, 0]}}}}
"""


def off_axis_wheel(slope, duration, start):
    return f"""
simulation: {{duration: {duration}, gravity: [{G * math.sin(slope)!r}, 0, {-G * math.cos(slope)!r}]}}
contact: {{friction: 1}}
links:
  - {GROUND}
  - {{name: wheel, mass: 1, center: [0, 0, -0.03], inertia: [3.0e-3, 3.0e-3, 3.0e-3, 0, 0, 0], joint: {{type: free, free_axes: [x, z, ry], position: [0, 0, 0.1003]}}, shapes: [{{type: cylinder, radius: 0.1, length: 0.1, rpy: [1.5707963267948966, 0, 0]}}]}}
initial: [{{link: wheel, {start}}}]
"""


def off_axis_way(slope, duration, state):
    """Way of a wheel of 0.1 m and 1 kg with its mass 30 mm below the axis, by Lagrange's equation of rolling."""

    def rate(_, y):
        inertia = 0.01 + 0.0009 - 0.006 * math.cos(y[0]) + 0.003
        drive = -0.03 * G * math.cos(slope) * math.sin(y[0]) + G * math.sin(slope) * (0.1 - 0.03 * math.cos(y[0]))
        return [y[1], (drive - 0.003 * math.sin(y[0]) * y[1] ** 2) / inertia]

    return 0.1 * (motion(rate, state, duration)[0] - state[0])


PLANAR = [
    Row(
        "stick that topples without friction, in a plane: angle after 0.45 s",
        TOPPLING,
        lambda r: angle(r, "stick"),
        motion(toppling, [0.2, 0], 0.45)[0],
        0.003,
        "(1/12 + sin^2/4) l^2 q'' = g l/2 sin - l^2/4 sin cos q'^2, integrated",
    ),
    Row(
        "ladder that slides down a wall, in a plane: angle after 0.5 s",
        LADDER,
        lambda r: -angle(r, "stick"),
        motion(lambda _, y: [y[1], 1.5 * G * math.sin(y[0])], [0.3, 0], 0.5)[0],
        0.003,
        "q'' = 3 g / 2 l sin q, integrated",
    ),
    Row(
        "wheel with its mass 3 cm off its axis down 0.1 rad, in a plane: way after 2 s",
        off_axis_wheel(0.1, 2, "velocities: [1, 0, 10]"),
        lambda r: r.at("wheel/px"),
        off_axis_way(0.1, 2, [0, 10]),
        0.01,
        "Lagrange's equation of rolling, integrated",
    ),
    Row(
        "wheel with its mass 3 cm off its axis that rocks, in a plane: way after 2 s",
        off_axis_wheel(0, 2, "coordinates: [0, 0, 0.5]"),
        lambda r: r.at("wheel/px"),
        off_axis_way(0, 2, [0.5, 0]),
        0.001,
        "Lagrange's equation of rolling, integrated",
    ),
]
