"""Springs, drives and torques of ball joints, about one axis and about axes that change."""

import math

from levers import motion
from row import Row

INERTIA = (0.05, 0.07, 0.03)


def product(p, q):
    """Product of two quaternions."""
    return [
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    ]


def rotation_vector(q):
    sign = -1 if q[0] < 0 else 1
    size = math.sqrt(sum(x * x for x in q[1:]))
    return [2 * math.atan2(size, sign * q[0]) * sign * x / size if size else 0.0 for x in q[1:]]


def quaternion(v):
    angle = math.sqrt(sum(x * x for x in v))
    return [math.cos(angle / 2)] + [math.sin(angle / 2) / angle * x if angle else 0.0 for x in v]


def euler(start, rate, stiffness, torque, time):
    """Rotation of a body about its centre after `time` by Euler's equations.

    A spring towards the identity and a torque about the body's axes act on it.
    """

    def slope(y):
        q, w = y[:4], y[4:]
        e = rotation_vector(q)
        spin = [INERTIA[k] * w[k] for k in range(3)]
        turn = [w[1] * spin[2] - w[2] * spin[1], w[2] * spin[0] - w[0] * spin[2], w[0] * spin[1] - w[1] * spin[0]]
        return [0.5 * x for x in product(q, [0, *w])] + [
            (torque[k] - stiffness * e[k] - turn[k]) / INERTIA[k] for k in range(3)
        ]

    return motion(lambda _, y: slope(y), quaternion(start) + list(rate), time)[:4]


def distance(r, right):
    """Angle between the rotation of link `a` at the end and another rotation [rad]."""
    vector = rotation_vector(product([right[0], -right[1], -right[2], -right[3]], r.quaternion("a", -1)))
    return math.sqrt(sum(x * x for x in vector))


def scene(joint, coordinates, rates=(0, 0, 0), inertia=INERTIA, more="", duration=1):
    return f"""
simulation: {{duration: {duration}, gravity: [0, 0, 0]}}
contact: {{model: none}}
links:
  - {{name: a, mass: 1, center: [0, 0, 0], inertia: [{inertia[0]}, {inertia[1]}, {inertia[2]}, 0, 0, 0], joint: {{{joint}}}}}
initial: [{{link: a, coordinates: {list(coordinates)}, velocities: {list(rates)}}}]
{more}
"""


FROM, RATES, TORQUE = (0.8, -0.5, 0.3), (1, 2, -1), (0.1, 0.2, -0.15)
ROUND = (0.05, 0.05, 0.05)
SERVO = "controllers: [{type: pd, link: a, position_gain: 20, damping_gain: 0.5, target: [0, 1, 0]}]"


def servo(time, k=20, c=0.5, mass=0.05):
    """Angle of a servo that starts at rest 1 rad from its target."""
    decay = c / (2 * mass)
    w = math.sqrt(k / mass - decay * decay)
    return 1 - math.exp(-decay * time) * (math.cos(w * time) + decay / w * math.sin(w * time))


BALL_JOINTS = [
    Row(
        "spring of a ball joint: amplitude in the second second",
        scene("type: ball, stiffness: 2", (0, 0.1, 0), inertia=ROUND, duration=2),
        lambda r: 2 * math.asin(r.range_of("a/qy", 1, 2)[1]),
        0.1,
        0.002,
        "energy",
    ),
    Row(
        "servo of a ball joint: angle after 0.25 s",
        scene("type: ball", (0, 0, 0), inertia=ROUND, more=SERVO, duration=0.25),
        lambda r: 2 * math.asin(r.at("a/qy")),
        servo(0.25),
        0.01,
        "closed form",
    ),
    Row(
        "spring of a ball joint, axes that change: error of the rotation after 1 s",
        scene("type: ball, stiffness: 2", FROM, RATES),
        lambda r: distance(r, euler(FROM, RATES, 2, (0, 0, 0), 1)),
        0,
        0.001,
        "Euler's equations",
    ),
    Row(
        "torque of a ball joint's drive, axes that change: error of the rotation after 1 s",
        scene("type: ball", (0, 0, 0), RATES, more=f"controllers: [{{type: torque, link: a, target: {list(TORQUE)}}}]"),
        lambda r: distance(r, euler((0, 0, 0), RATES, 0, TORQUE, 1)),
        0,
        0.003,
        "Euler's equations; the body rotates by 1.8 rad",
    ),
]
