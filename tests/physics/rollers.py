"""Scenes of round bodies that carry, squeeze or roll on other bodies."""

import math

from row import Row

G = 9.81
LYING = "rpy: [1.5707963267948966, 0, 0]"
GROUND = "{name: ground, fixed: true, shape: {type: half_space}}"


def plank_on_driven_rollers(solid):
    """A plank of 2 kg, 0.1 m beside the middle of two rollers 0.6 m apart that turn towards each other at the top."""
    rollers = "\n".join(
        f"  - {{name: {name}, mass: 1, joint: {{type: hinge, axis: [0, 1, 0], position: [{x}, 0, 0]}}, shapes: [{{{solid}, {LYING}}}]}}"
        for name, x in (("left", -0.3), ("right", 0.3))
    )
    return f"""
simulation: {{duration: 8}}
contact: {{friction: 0.2}}
links:
{rollers}
  - {{name: plank, mass: 2, shape: {{type: box, size: [2, 0.1, 0.02]}}, position: [0.1, 0, 0.1102]}}
controllers:
  - {{link: left, type: prescribed, velocity: 20}}
  - {{link: right, type: prescribed, velocity: -20}}
"""


PLANK_ON_CYLINDERS = f"""
simulation: {{duration: 0.9}}
contact: {{friction: 0.6}}
links:
  - {GROUND}
  - {{name: rear, mass: 1, position: [-0.3, 0, 0.1], shapes: [{{type: cylinder, radius: 0.1, length: 0.3, {LYING}}}]}}
  - {{name: front, mass: 1, position: [0.3, 0, 0.1], shapes: [{{type: cylinder, radius: 0.1, length: 0.3, {LYING}}}]}}
  - {{name: plank, mass: 2, position: [0, 0, 0.2204], shape: {{type: box, size: [3, 0.2, 0.04]}}}}
loads: [{{link: plank, force: [3, 0, 0]}}]
"""


def groove(angle, slope):
    """A ball in a groove of two half-spaces that each rise by `angle`, down a slope."""
    s, c = math.sin(angle), math.cos(angle)
    return f"""
simulation: {{duration: 1, gravity: [{G * math.sin(slope)!r}, 0, {-G * math.cos(slope)!r}]}}
contact: {{friction: 0.8}}
links:
  - {{name: left, fixed: true, shape: {{type: half_space, normal: [0, {s!r}, {c!r}]}}}}
  - {{name: right, fixed: true, shape: {{type: half_space, normal: [0, {-s!r}, {c!r}]}}}}
  - {{name: ball, mass: 1, shape: {{type: sphere, radius: 0.05}}, position: [0, 0, {0.05 / c + 4e-4!r}]}}
"""


def pyramid(mu):
    links = "\n".join(
        f"  - {{name: {name}, mass: 1, position: [{x}, 0, {z!r}], shapes: [{{type: cylinder, radius: 0.05, length: 0.2, {LYING}}}]}}"
        for name, x, z in (("left", -0.0501, 0.0502), ("right", 0.0501, 0.0502), ("top", 0, 0.0506 + 0.05 * math.sqrt(3)))
    )
    return f"""
simulation: {{duration: 2}}
contact: {{friction: {mu}}}
links:
  - {GROUND}
{links}
"""


def squeezed(solid):
    """A body of 0.3 kg between two jaws of 6 N: its weight is 49 % of what friction holds."""
    jaws = "\n".join(
        f"  - {{name: {name}, mass: 0.5, gravity_compensation: 1, joint: {{type: slide, axis: [1, 0, 0], position: [{x}, 0, 0]}}, "
        "shape: {type: box, size: [0.02, 0.08, 0.08]}}"
        for name, x in (("left", -0.0405), ("right", 0.0405))
    )
    return f"""
simulation: {{duration: 3}}
contact: {{friction: 0.5}}
links:
{jaws}
  - {{name: body, mass: 0.3, shape: {{{solid}}}}}
controllers:
  - {{link: left, type: torque, target: 6}}
  - {{link: right, type: torque, target: -6}}
"""


def tall_cylinder(share):
    """A cylinder of 2 kg on its end, pulled at its top by a share of the force that tips it, reached in 2 s."""
    force = share * 2 * G * 0.05 / 0.3
    return f"""
simulation: {{duration: 4}}
contact: {{friction: 0.8}}
links:
  - {GROUND}
  - {{name: body, mass: 2, shape: {{type: cylinder, radius: 0.05, length: 0.3}}, position: [0, 0, 0.15]}}
loads:
  - link: body
    point: [0, 0, 0.15]
    force: {{type: keyframes, times: [0, 2], values: [[0, 0, 0], [{force!r}, 0, 0]]}}
"""


def curve(wheelbase=0.35, track=0.3, radius=0.06, circle=1.2, speed=1.2):
    """A car on four balls with fixed axes whose lines meet in one point: it coasts round that point without slip."""
    wheels, initial = [], []
    for name, x, y in (("rl", 0, 1), ("rr", 0, -1), ("fl", 1, 1), ("fr", 1, -1)):
        far, side = x * wheelbase, circle - y * track / 2
        wheels.append(
            f"  - {{name: {name}, parent: body, mass: 0.2, joint: {{type: hinge, axis: [0, 1, 0], position: [{far}, {y * track / 2}, 0], "
            f"rpy: [0, 0, {math.atan2(far, side)!r}]}}, shape: {{type: sphere, radius: {radius}}}}}"
        )
        initial.append(f"  - {{link: {name}, velocities: [{speed / circle * math.hypot(far, side) / radius!r}]}}")
    return f"""
simulation: {{duration: 4}}
contact: {{friction: 0.9}}
links:
  - {GROUND}
  - {{name: body, mass: 4, position: [0, 0, {radius + 3e-4}], shapes: [{{type: box, size: [0.4, 0.2, 0.06], position: [0.17, 0, 0.03]}}]}}
{chr(10).join(wheels)}
initial:
  - {{link: body, velocities: [{speed}, 0, 0, 0, 0, {speed / circle!r}]}}
{chr(10).join(initial)}
"""


def seesaw(solid):
    return f"""
simulation: {{duration: 4}}
contact: {{friction: 0.6}}
links:
  - {{name: table, mass: 5, joint: {{type: hinge, axis: [0, 1, 0]}}, shape: {{{solid}}}}}
  - {{name: box, mass: 0.5, shape: {{type: box, size: [0.1, 0.1, 0.06]}}, position: [0.4, 0, 0.0802]}}
controllers:
  - {{link: table, type: prescribed, target: {{type: sines, ramp: 0.5, terms: [{{amplitude: 0.2, frequency: 1}}]}}}}
"""


def seesaw_drift(run):
    """Drift [mm/s] of the box along the table from 0.5 s on."""

    def along(row):
        way = run.direction("table", "x", row)
        return sum(way[k] * run.columns[f"box/c{x}"][row] for k, x in enumerate("xyz"))

    start = next(row for row, time in enumerate(run.time) if time >= 0.5)
    return 1000 * (along(len(run.time) - 1) - along(start)) / (run.time[-1] - run.time[start])


PERIOD = 2 * math.pi * math.sqrt(0.3 / (0.2 * G))
PLANK = 3 / (2 + 2 * (1 / 4 + 1 / 8)) * 0.9**2 / 2
GROOVE = G * math.sin(math.radians(10)) / (1 + 0.4 / math.cos(math.radians(45)) ** 2) / 2

ROLLERS = [
    Row(
        f"plank on two driven {name}: period",
        plank_on_driven_rollers(solid),
        lambda r: r.period("plank/cx"),
        PERIOD,
        0.01 * PERIOD,
        "2 pi sqrt(a / (mu g)), the rollers 2 a apart",
    )
    for name, solid in (("cylinders", "type: cylinder, radius: 0.1, length: 0.2"), ("wheels", "type: wheel, radius: 0.1, width: 0.2, rim: 0.02"))
]
ROLLERS += [
    Row("plank pulled over two cylinders that roll", PLANK_ON_CYLINDERS, lambda r: r.at("plank/cx"), PLANK, 0.01 * PLANK, "F t^2 / (2 (M + 3/8 m each))"),
    Row("cylinders under that plank: share of its way", PLANK_ON_CYLINDERS, lambda r: (r.at("front/cx") - 0.3) / r.at("plank/cx"), 0.5, 0.003, "rolling"),
    Row(
        "ball down a groove of two planes",
        groove(math.radians(45), math.radians(10)),
        lambda r: r.at("ball/cx"),
        GROOVE,
        0.01 * GROOVE,
        "g sin t^2 / (2 (1 + 2/5 / cos^2 of the groove's angle))",
    ),
    Row(
        "three cylinders in a pyramid, mu 0.3: height lost",
        pyramid(0.3),
        lambda r: r.at("top/cz", 0) - r.at("top/cz"),
        0,
        0.002,
        "stands for mu > tan 15 degrees = 0.268",
    ),
    Row(
        "three cylinders in a pyramid, mu 0.24: falls apart",
        pyramid(0.24),
        lambda r: float(r.at("top/cz", 0) - r.at("top/cz") > 0.05),
        1,
        0.5,
        "stands for mu > tan 15 degrees = 0.268",
    ),
]
ROLLERS += [
    Row(
        f"{name} squeezed by two jaws: creep [mm/s]",
        squeezed(solid),
        lambda r: 1000 * r.mean_rate("body/cz", 1, 3),
        0,
        0.01,
        "49 % of what friction holds",
    )
    for name, solid in (("can", "type: cylinder, radius: 0.03, length: 0.1"), ("ball", "type: sphere, radius: 0.03"))
]
ROLLERS += [
    Row(
        f"box on a see-saw that is a {name}: drift [mm/s]",
        seesaw(solid),
        seesaw_drift,
        0,
        0.1,
        "friction holds",
    )
    for name, solid in (("box", "type: box, size: [2, 2, 0.1]"), ("cylinder", "type: cylinder, radius: 1, length: 0.1"))
]
ROLLERS += [
    Row(
        "tall cylinder pulled by 93 % of the force that tips it: tilt",
        tall_cylinder(0.93),
        lambda r: r.tilt("body"),
        0,
        0.01,
        "m g R / h",
    ),
    Row(
        "tall cylinder pulled by 98 % of the force that tips it: tilt",
        tall_cylinder(0.98),
        lambda r: r.tilt("body"),
        0,
        0.02,
        "m g R / h",
        recommended=("contact.barrier_distance=5e-5",),
        known={"default": "it leans on its gap of 0.25 mm, so that it tips at 95.0 %"},
    ),
    Row(
        "car on balls that coasts round a curve, 1 rad/s: kinetic energy after 4 s",
        curve(),
        lambda r: r.solver["kinetic"][-1] / r.solver["kinetic"][0],
        1,
        0.01,
        "nothing brakes",
    ),
]
