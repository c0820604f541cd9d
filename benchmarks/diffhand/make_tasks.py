#!/usr/bin/env python3
"""Writes tasks of DiffHand (RSS 2021, github.com/eanswer/DiffHand) as tasks of sdrs: reach.yaml, rotate.yaml, flip.yaml, assemble.yaml beside this file.

    benchmarks/diffhand/make_tasks.py [FOLDER]

Geometry, masses, targets, bounds and weights are those of DiffHand, whose units are cm, g and s; the tasks are in SI. Blocks of the finger are DiffHand's cages with their density of 1 g/cm^3 (0.1 g/cm^3 in assemble). A joint's
cage counts on both sides of the joint, as it does there. u of a drive is its force or torque over the range of DiffHand's motor, at most tanh(1).
"""
import math
import os
import sys

CM = 0.01
DYNE = 1e-5  # N
DYNE_CM = 1e-7  # N m
DAMPING = 1e5 * DYNE_CM  # of the finger's hinges [N m s/rad]
U_MAX = math.tanh(1.0)  # DiffHand bounds the argument of tanh by 1
HALF = 1.3  # half of the width and height of a phalanx's cage [cm]
JOINT, PHALANX, TIP = 2.06, 2.34, 2.21  # lengths of cages [cm]
END = 0.98 + PHALANX  # of a phalanx, in the frame of the joint before it [cm]
NEXT = END + 1.08  # the next joint [cm]

# Contact points of the fingertip in the frame of its cage (assets/finger/contacts/tip.txt) [cm].
FINGERTIP = [
    (0, -1.048, 0.344), (0, -0.582, -0.468), (0, 0.582, 0.66), (0, 1.048, -0.229), (0, 1.048, 0.229), (0.043, -1.007, -0.229), (0.043, -1.007, 0.793), (0.043, 1.007, -0.668), (0.043, 1.007, 0.793),
    (0.075, -0.3, 0.9), (0.075, -0.954, -0.846), (0.18, -0.233, -0.95), (0.18, 0.35, -0.95), (0.239, 0.291, 1.041), (0.491, 0.84, 0.9), (0.491, -0.84, 0.9), (0.55, 0.824, -0.895),
    (0.575, -0.825, -0.893), (0.783, 0.175, 1.1), (0.783, -0.291, 1.1), (1.045, 0.837, -0.856), (1.088, 0.806, 0.989), (1.088, -0.806, 0.989), (1.365, -0.291, 0.982), (1.453, 0.407, 0.931),
    (1.574, -0.818, 0.692), (1.614, 0.806, 0.68), (1.627, 0.84, -0.816), (1.627, -0.84, -0.709), (1.893, -0.836, -0.247), (1.921, 0.291, 0.363), (1.924, 0.825, -0.422), (1.947, -0.751, 0.198),
    (1.947, 0.751, 0.198), (1.996, -0.291, 0.149), (2.204, -0.285, -0.817), (2.204, 0.285, -0.817), (2.205, -0.74, -0.813), (2.205, 0.74, -0.813)]


def number(x):
    return f"{x:.10g}" if x else "0"


def vector(values):
    return "[" + ", ".join(number(v) for v in values) + "]"


def words(names):
    return "[" + ", ".join(names) + "]"


def points(corners):
    return "{type: points, points: [" + ", ".join(vector([c * CM for c in corner]) for corner in corners) + "]}"


def box(x0, x1, half_y=HALF, half_z=HALF):
    """A block between two planes of x [cm], by its eight corners: 0 to 3 at x0, 4 to 7 at x1."""
    return points([[x, y, z] for x in (x0, x1) for y in (-half_y, half_y) for z in (-half_z, half_z)])


# ---------------------------------------------------------------- the finger

def finger(mount, knuckle, fingertip):
    """Links of the finger, as lines. mount: parent and joint of the palm. knuckle: the base turns about z. fingertip: its shape."""
    hinge = f"type: hinge, axis: [0, 1, 0], damping: {number(DAMPING)}"
    child, bone, parent = box(-1.08, 0.98), box(0.98, END), box(END, END + JOINT)
    knuckle_joint = f"type: hinge, axis: [0, 0, 1], damping: {number(DAMPING)}" if knuckle else "type: fixed"
    common = "density: 1000, groups: [finger]"
    return [
        f"    - {{name: palm, {mount}, {common}, shapes: [{box(0, 0.7, 0.8, 1.62)}, {box(0.7, 3.45, 1.05, 1.46)}]}}",
        f"    - {{name: base, parent: palm, {common}, joint: {{{knuckle_joint}, position: {vector([1.85 * CM, 0, 0])}}}, shapes: [{box(-1.15, 1.6, 1.05, 1.46)}, {box(1.6, 1.6 + JOINT)}]}}",
        f"    - {{name: first, parent: base, {common}, joint: {{{hinge}, position: {vector([2.68 * CM, 0, 0])}}}, shapes: [{child}, {bone}, {parent}]}}",
        f"    - {{name: second, parent: first, {common}, joint: {{{hinge}, position: {vector([NEXT * CM, 0, 0])}}}, shapes: [{child}, {bone}, {parent}]}}",
        f"    - {{name: third, parent: second, {common}, joint: {{{hinge}, position: {vector([NEXT * CM, 0, 0])}}}, shapes: [{child}, {bone}]}}",
        f"    - {{name: fingertip, parent: third, fixed: true, position: {vector([END * CM, 0, 0])}, mass: {number(TIP * (2 * HALF) ** 2 * 1e-3)}, mass_model: uniform, groups: [finger], shapes: [{fingertip}]}}",
    ]


def slides(rotation, z, axes, damping):
    """Slides that carry the palm, each with a mass of its own that is too small to matter."""
    lines, parent = [], None
    for name, axis in axes:
        at = f"position: {vector([0, 0, z * CM])}, rotation: {vector(rotation)}, " if parent is None else ""
        below = f"parent: {parent}, " if parent else ""
        lines.append(f"    - {{name: {name}, {below}joint: {{type: slide, axis: {vector(axis)}, {at}damping: {number(damping)}}}, mass: 1.0e-6, mass_model: given, inertia: [1.0e-10, 1.0e-10, 1.0e-10, 0, 0, 0]}}")
        parent = name
    return lines


def motors(ranges, knots, interval):
    """Forces and torques of zero at the start: linear between knots."""
    zeros = "[" + ", ".join("[0]" for _ in range(knots)) + "]"
    return ["  controllers:"] + [f"    - {{link: {name}, type: torque, target: {{type: sequence, interval: {number(interval)}, values: {zeros}}}}}" for name in ranges]


def control(ranges):
    lines = ["control:"]
    for limit in sorted(set(ranges.values())):
        names = [name for name in ranges if ranges[name] == limit]
        lines.append(f"  - {{links: {words(names)}, within: {number(U_MAX * limit)}}}")
    return lines


def springs(ranges, knots, interval, gain):
    """Weak springs towards targets that are zero at the start; their torques saturate where those of DiffHand do. A target acts like the integral of a torque, which suits motions of several seconds."""
    zeros = "[" + ", ".join("[0]" for _ in range(knots)) + "]"
    return ["  controllers:"] + [f"    - {{link: {name}, type: pd, position_gain: {number(gain)}, max_force: {number(U_MAX * limit)}, limit_width: 0.5, "
                                 f"target: {{type: sequence, interval: {number(interval)}, values: {zeros}}}}}" for name, limit in ranges.items()]


def efforts(ranges, weight, samples):
    """weight * sum over samples of u^2; the term is the mean over the run."""
    return [f"  - {{type: effort, name: u_{name}, link: {name}, weight: {number(weight * samples / limit ** 2)}}}" for name, limit in ranges.items()]


# ---------------------------------------------------------------- the design

def region(x0, x1, y=None, z=None):
    sides = {None: (-100, 100), 1: (0, 100), -1: (-100, 0)}
    (y0, y1), (z0, z1) = sides[y], sides[z]
    return f"box: {{low: {vector([x0 * CM, y0 * CM, z0 * CM])}, high: {vector([x1 * CM, y1 * CM, z1 * CM])}}}"


def design(most, fingertip, symmetric=("first", "second", "third")):
    """Lengths of the phalanges, and the widths and heights that DiffHand scales, from 0.5 to `most` times. Blocks are symmetric, so that the corners of a face move together. Joints and
    fingertip keep their lengths. fingertip: its items. symmetric: links whose corners do so."""
    low, high = -0.5 * PHALANX, (most - 1) * PHALANX
    near, far = 0.5 * HALF * CM, most * HALF * CM
    everywhere = (-100, 100)
    lines = ["design:", "  mass: density", "  min_thickness: 0.005", "  vertices:"]
    for link, planes in (("first", (END, END + JOINT)), ("second", (END, END + JOINT)), ("third", (END,))):
        for x in planes:
            lines.append(f"    - {{link: {link}, axes: [x], low: {number((x + low) * CM)}, high: {number((x + high) * CM)}, {region(x - 0.01, x + 0.01)}}}")
    for link, axis, (x0, x1) in (("first", "y", (END - 0.1, 100)), ("second", "y", everywhere), ("third", "y", everywhere), ("third", "z", (END - 0.1, 100))):
        lines.append(f"    - {{link: {link}, axes: [{axis}], low: {number(-far)}, high: {number(-near)}, {region(x0, x1, **{axis: -1})}}}")
        lines.append(f"    - {{link: {link}, axes: [{axis}], low: {number(near)}, high: {number(far)}, {region(x0, x1, **{axis: 1})}}}")
    lines += fingertip
    lines.append("  attachments:")
    for link, x in (("second", NEXT), ("third", NEXT), ("fingertip", END)):
        lines.append(f"    - {{link: {link}, axes: [x], low: {number((x + low) * CM)}, high: {number((x + high) * CM)}}}")
    lines.append("  symmetry:")
    for normal in ((0, 1, 0), (0, 0, 1)):
        for link in symmetric:
            lines.append(f"    - {{type: mirror, links: [{link}], normal: {vector(normal)}}}")
    lines.append("  constraints:")
    for link, after, origin, planes in (("first", "second", NEXT, ((1, END), (2, END + JOINT))), ("second", "third", NEXT, ((1, END), (2, END + JOINT))), ("third", "fingertip", END, ((1, END),))):
        for hull, x in planes:
            lines.append(f"    - {{variables: [{link}/{hull}/4/x, {after}/attachment/x], coefficients: [1, -1], relation: equal, value: {number((x - origin) * CM)}}}")
    return lines


def header(name, text):
    return [f"# {line}" for line in text] + ["# Written by benchmarks/diffhand/make_tasks.py, which says what is taken from where.", f"name: diffhand-{name}"]


# ---------------------------------------------------------------- the tasks

def reach():
    ranges = {name: 6e5 * DYNE_CM for name in ("base", "first", "second", "third")}
    targets = [(10, -5, -5), (10, -5, 5), (20, 10, 10), (20, 10, -10)]
    near, far = 0.5 * HALF * CM, 4 * HALF * CM
    sides = [f"    - {{link: fingertip, axes: [{axis}], low: {number(min(s * near, s * far))}, high: {number(max(s * near, s * far))}, {region(-100, 100, **{axis: s})}}}" for axis in "yz" for s in (-1, 1)]
    lines = header("reach", ["Finger reach of DiffHand: the fingertip goes to four points one after the other, with lengths of its own choice.",
                             "Objective: 0.1 sum u^2 + 10 sum |tip - target| [cm], 30 samples 0.1 s apart."])
    lines += ["scene:", "  simulation: {dt: 0.005, steps: 600, gravity: [0, 0, 0]}", "  contact: {model: none}", "  links:"]
    lines += finger("fixed: true", True, box(0, TIP)) + springs(ranges, 61, 0.05, 0.015) + design(4, sides, ("first", "second", "third", "fingertip"))
    lines += ["control:", f"  - {{links: {words(ranges)}, within: 4}}"]
    lines += ["loss:"] + efforts(ranges, 0.1, 30)
    for i in range(1, 31):
        target = targets[(i - 1) * 20 // 150]
        lines.append(f"  - {{type: point, name: at{i}, link: fingertip, point: {vector([TIP / 2 * CM, 0, HALF * CM])}, target: {vector([c * CM for c in target])}, power: 1, "
                     f"weight: {number(10 / CM)}, from: {number(0.1 * i)}, to: {number(0.1 * i)}}}")
    return lines + ["optimizer: {iterations: 172}"]


def rotate():
    force, torque = 3e5 * DYNE, 3e5 * DYNE_CM
    ranges = {"slide_x": force, "slide_y": force, "palm": torque, "first": torque, "second": torque, "third": torque}
    mount = f"parent: slide_y, joint: {{type: hinge, axis: [0, 0, 1], damping: {number(1e4 * DYNE_CM)}}}"
    lines = header("rotate", ["Rotate cube of DiffHand: a finger turns the upper part of a cube by 90 degrees.",
                              "Objective: 5 sum u^2 + 0.1 sum |tip - centre of the lower part|^2 [cm^2], 40 samples 0.025 s apart, + 1000 (angle + pi/2)^2 at the end."])
    lines += ["scene:", "  simulation: {dt: 0.005, steps: 200, gravity: [0, 0, 0]}", "  contact: {friction: 1.5, exclude: [[finger, finger], [lower, upper]]}", "  links:"]
    lines += slides([0, 1, 0, 0], 4, (("slide_x", (1, 0, 0)), ("slide_y", (0, 1, 0))), 1e4 * DYNE / CM)
    lines += finger(mount, False, points(FINGERTIP))
    lines += ["    - {name: lower, fixed: true, position: [0, 0, -0.08], shape: {type: box, size: [0.06, 0.06, 0.04]}}",
              f"    - {{name: upper, parent: lower, density: 300, joint: {{type: hinge, axis: [0, 0, 1], position: [0, 0, 0.03], damping: {number(1e4 * DYNE_CM)}}}, shape: {{type: box, size: [0.06, 0.06, 0.02]}}}}"]
    lines += motors(ranges, 41, 0.025) + design(2, ["    - {link: fingertip, axes: [y, z], within: 0.0065}"]) + control(ranges)
    lines += ["loss:"] + efforts(ranges, 5, 40)
    for i in range(1, 41):
        lines.append(f"  - {{type: point, name: touch{i}, link: fingertip, point: {vector([TIP * CM, 0, 0])}, target: [0, 0, -0.08], weight: {number(0.1 / CM ** 2)}, "
                     f"from: {number(0.025 * i)}, to: {number(0.025 * i)}}}")
    lines.append(f"  - {{type: coordinate, name: angle, link: upper, value: {number(-math.pi / 2)}, weight: 1000}}")
    return lines + ["optimizer: {iterations: 197}"]


def flip():
    force, torque = 6e5 * DYNE, 1.5e5 * DYNE_CM
    ranges = {"slide_x": force, "slide_z": force, "base": torque, "first": torque, "second": torque, "third": torque}
    lines = header("flip", ["Flip box of DiffHand: a finger tips a box over its edge, against gravity.",
                            "Objective: 5 sum u^2 + sum over the first half of |tip - a point of the box|^2 [cm^2] + 50 sum (angle - pi/2)^2, 30 samples 0.025 s apart.",
                            "The ground is half a millimetre lower than in DiffHand, so that the box does not touch it at its hinge. Contact is as soft as DiffHand's, whose points give 500 N/m: 4 mm",
                           "for the 2 N that tip the box. Stiffer contact hides from the gradient that a force at the far edge lifts the box."])
    lines += ["scene:", "  simulation: {dt: 0.005, steps: 150, gravity: [0, 0, -9.8]}", "  contact: {friction: 1.5, barrier_distance: 0.005, exclude: [[finger, finger]]}", "  links:"]
    lines += ["    - {name: ground, fixed: true, shape: {type: half_space, offset: -0.1005}}"]
    lines += slides([0, 1, 0, 0], 0, (("slide_x", (1, 0, 0)), ("slide_z", (0, 0, 1))), 1e4 * DYNE / CM)
    lines += finger("parent: slide_z, fixed: true", True, points(FINGERTIP))
    lines.append(f"    - {{name: box, density: 1000, joint: {{type: hinge, axis: [0, -1, 0], position: [0.15, 0, -0.1], damping: {number(1e4 * DYNE_CM)}}}, "
                 "shapes: [{type: box, size: [0.06, 0.06, 0.06], position: [0.03, 0, 0.03]}]}")
    lines += motors(ranges, 31, 0.025) + design(3, ["    - {link: fingertip, axes: [y, z], within: 0.0065}"]) + control(ranges)
    lines += ["loss:"] + efforts(ranges, 5, 30)
    for i in range(1, 31):
        when = f"from: {number(0.025 * i)}, to: {number(0.025 * i)}"
        if i <= 15:
            lines.append(f"  - {{type: point, name: touch{i}, link: fingertip, point: {vector([TIP * CM, 0, 0])}, other: box, target: [0.06, 0, 0.04], weight: {number(1 / CM ** 2)}, {when}}}")
        lines.append(f"  - {{type: coordinate, name: angle{i}, link: box, value: {number(math.pi / 2)}, weight: 50, {when}}}")
    return lines + ["optimizer: {iterations: 108}"]


# Two fingers on one palm, and two boxes in a plane. Names of the links of finger n end in n.
PALM = 0.7  # length [cm]
KNUCKLE = 2.75


def two_fingers():
    hinge = f"type: hinge, axis: [0, 1, 0], damping: {number(DAMPING)}"
    common = "density: 100, groups: [finger]"
    child, bone, parent = box(-1.08, 0.98), box(0.98, END), box(END, END + JOINT)
    half = PALM / 2
    lines = [f"    - {{name: palm, parent: slide_y, fixed: true, {common}, shapes: [{box(-half, half, 0.8, 1.62)}, {box(half, half + KNUCKLE, 1.05, 1.46)}, {box(-half - KNUCKLE, -half, 1.05, 1.46)}]}}"]
    for n, (side, turn) in enumerate(((1, "[1, 0, 0, 0]"), (-1, "[0, 0, 0, 1]"))):
        at = vector([side * (half + 1.15) * CM, 0, 0])
        lines += [
            f"    - {{name: base{n}, parent: palm, {common}, position: {at}, rotation: {turn}, joint: {{type: hinge, axis: [0, 0, 1], damping: {number(DAMPING)}}}, shapes: [{box(-1.15, 1.6, 1.05, 1.46)}, {box(1.6, 1.6 + JOINT)}]}}",
            f"    - {{name: first{n}, parent: base{n}, {common}, joint: {{{hinge}, position: {vector([2.68 * CM, 0, 0])}}}, shapes: [{child}, {bone}, {parent}]}}",
            f"    - {{name: second{n}, parent: first{n}, {common}, joint: {{{hinge}, position: {vector([NEXT * CM, 0, 0])}}}, shapes: [{child}, {bone}]}}",
            f"    - {{name: tip{n}, parent: second{n}, fixed: true, position: {vector([END * CM, 0, 0])}, {common}, shapes: [{box(0, TIP)}]}}",
        ]
    return lines


def design_of_two(most=3, most_palm=6):
    """The palm's length, the phalanges' and fingertips' lengths, and the widths and heights that DiffHand scales, from 0.5 times."""
    low, high = -0.5 * PHALANX, (most - 1) * PHALANX
    near, far = 0.5 * HALF * CM, most * HALF * CM
    half = PALM / 2
    shorter, longer = -0.5 * half, (most_palm - 1) * half
    lines = ["design:", "  mass: density", "  min_thickness: 0.003", "  vertices:"]

    def along(link, x, least, largest):
        return f"    - {{link: {link}, axes: [x], low: {number((x + least) * CM)}, high: {number((x + largest) * CM)}, {region(x - 0.01, x + 0.01)}}}"

    for side in (1, -1):
        for x in (half, half + KNUCKLE):
            lines.append(along("palm", side * x, *((shorter, longer) if side == 1 else (-longer, -shorter))))
    for n in (0, 1):
        for link, planes in (("first", (END, END + JOINT)), ("second", (END,))):
            for x in planes:
                lines.append(along(f"{link}{n}", x, low, high))
        lines.append(along(f"tip{n}", TIP, -0.5 * TIP, (most - 1) * TIP))
        for link, axis, (x0, x1) in (("first", "y", (END - 0.1, 100)), ("second", "y", (-100, 100)), ("second", "z", (END - 0.1, 100)), ("tip", "y", (-100, 100)), ("tip", "z", (-100, 100))):
            for side in (-1, 1):
                ends = sorted((side * near, side * far))
                lines.append(f"    - {{link: {link}{n}, axes: [{axis}], low: {number(ends[0])}, high: {number(ends[1])}, {region(x0, x1, **{axis: side})}}}")
    lines.append("  attachments:")
    for n, side in ((0, 1), (1, -1)):
        ends = sorted((side * (half + 1.15 + shorter), side * (half + 1.15 + longer)))
        lines.append(f"    - {{link: base{n}, axes: [x], low: {number(ends[0] * CM)}, high: {number(ends[1] * CM)}}}")
        for link, x in (("second", NEXT), ("tip", END)):
            lines.append(f"    - {{link: {link}{n}, axes: [x], low: {number((x + low) * CM)}, high: {number((x + high) * CM)}}}")
    lines.append("  symmetry:")
    for normal in ((0, 1, 0), (0, 0, 1)):
        for link in ["palm"] + [f"{link}{n}" for n in (0, 1) for link in ("first", "second", "tip")]:
            lines.append(f"    - {{type: mirror, links: [{link}], normal: {vector(normal)}}}")
    lines.append("  constraints:")

    def tie(a, b, value):
        lines.append(f"    - {{variables: [{a}, {b}], coefficients: [1, -1], relation: equal, value: {number(value * CM)}}}")

    for corner, n, value in (("palm/0/4/x", 0, -1.15), ("palm/1/0/x", 0, -1.15), ("palm/1/4/x", 0, KNUCKLE - 1.15), ("palm/0/0/x", 1, 1.15), ("palm/2/4/x", 1, 1.15), ("palm/2/0/x", 1, 1.15 - KNUCKLE)):
        tie(corner, f"base{n}/attachment/x", value)
    lines.append("    - {variables: [base0/attachment/x, base1/attachment/x], coefficients: [1, 1], relation: equal, value: 0}")
    for n in (0, 1):
        tie(f"first{n}/1/4/x", f"second{n}/attachment/x", END - NEXT)
        tie(f"first{n}/2/4/x", f"second{n}/attachment/x", END + JOINT - NEXT)
        tie(f"second{n}/1/4/x", f"tip{n}/attachment/x", 0)
    return lines


def assemble():
    force, torque = 6e5 * DYNE, 6e5 * DYNE_CM
    ranges = {"slide_x": force, "slide_y": force}
    ranges |= {f"{link}{n}": torque for n in (0, 1) for link in ("base", "first", "second")}
    lines = header("assemble", ["Assemble of DiffHand: two fingers push a small box into the hole of a large one.",
                                "Objective: sum over 100 samples 0.005 s apart of |tip0 - small|^2 + |tip1 - large|^2 + 15 |large|^2 + 5 |hole - small|^2 [cm^2] + 50 (angle between the boxes)^2.",
                                "DiffHand subtracts 6^2 + 2.8^2 from each sample, 4384 in all."])
    lines += ["scene:", "  simulation: {dt: 0.001, steps: 500, gravity: [0, 0, -9.8]}",
              "  contact: {friction: 1, exclude: [[finger, finger], [large, ground], [small, ground]]}", "  links:", "    - {name: ground, fixed: true, shape: {type: half_space, offset: -0.1}}"]
    lines += slides([0, 1, 0, 0], 4, (("slide_x", (1, 0, 0)), ("slide_y", (0, 1, 0))), 1e4 * DYNE / CM)
    lines += two_fingers()
    planar = f"type: planar, axis: [0, 0, 1], damping: [{number(1e3 * DYNE / CM)}, {number(1e3 * DYNE / CM)}, {number(1e3 * DYNE_CM)}]"
    blocks = [((3, 8, 6), (-1.5, 0, 0)), ((3, 3, 3), (1.5, 0, 1.5)), ((3, 2.5, 6), (1.5, -2.75, 0)), ((3, 2.5, 6), (1.5, 2.75, 0))]
    shapes = ", ".join(f"{{type: box, size: {vector([c * CM for c in size])}, position: {vector([c * CM for c in at])}}}" for size, at in blocks)
    lines.append(f"    - {{name: large, density: 200, joint: {{{planar}, position: [0, 0, -0.07]}}, shapes: [{shapes}]}}")
    lines.append(f"    - {{name: small, density: 200, joint: {{{planar}, position: [0.08, 0.02, -0.086]}}, shapes: [{{type: box, size: [0.028, 0.028, 0.028]}}]}}")
    lines.append(f"  initial: [{{link: small, coordinates: [0, 0, {number(math.pi / 6)}]}}]")
    lines += motors(ranges, 21, 0.025) + design_of_two() + control(ranges)
    lines.append("loss:")
    tip = vector([TIP / 2 * CM, 0, HALF * CM])
    for i in range(1, 101):
        when = f"from: {number(0.005 * i)}, to: {number(0.005 * i)}"
        for name, link, point, other, target, weight in (("near_small", "tip0", tip, "other: small, ", "[0, 0, 0]", 1), ("near_large", "tip1", tip, "other: large, ", "[0, 0, 0]", 1),
                                                         ("stay", "large", "[0, 0, 0]", "", "[0, 0, -0.07]", 15), ("assembled", "small", "[0, 0, 0]", "other: large, ", "[0.015, 0, -0.015]", 5)):
            lines.append(f"  - {{type: point, name: {name}{i}, link: {link}, point: {point}, {other}target: {target}, weight: {number(weight / CM ** 2)}, {when}}}")
        lines.append(f"  - {{type: coordinate, name: turn{i}, link: large, other: small, dof: 2, value: 0, weight: 50, {when}}}")
    return lines + ["optimizer: {iterations: 59}"]


TASKS = {"reach": reach, "rotate": rotate, "flip": flip, "assemble": assemble}


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for name, make in TASKS.items():
        with open(os.path.join(folder, name + ".yaml"), "w", encoding="utf-8") as file:
            file.write("\n".join(make()) + "\n")


if __name__ == "__main__":
    main()
