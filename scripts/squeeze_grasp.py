#!/usr/bin/env python3
"""A grasp that a task has found, held by springs that squeeze: FOUND (best.scene.yaml, as `sdrs optimize` writes it) to OUT.

    scripts/squeeze_grasp.py FOUND RUN OBJECT OUT [--force 5] [--friction 0.8] [--give 0.1]

RUN: the first steps of FOUND without gravity and friction, with `output: [contact_points]`: where fingers press on OBJECT
first, and which way. Forces f_i there, near `force` N along each normal, that together do nothing to the object, within cones
of a quarter of `friction`, or, where there are none, of a half, three quarters or nineteen twentieths:

    min  sum |f_i - force n_i|^2 + 1000 |sum f_i|^2 + 1000 |sum (x_i - c) x f_i / l|^2,    l the mean of |x_i - c|

by projected gradients. Every joint with a controller holds against its part of them, tau = axis . ((x_i - p) x f_i) [N m] of a
hinge, axis . f_i [N] of a slide, by a spring (`pd`) to beyond where it is: so far that the largest tau gives by `give` rad or m.
Springs, and not those torques: a torque that stays the same lets the object go wherever a push drives it.
Prints `fingers,cone,sum_of_forces_N,sum_of_torques_Nm`, cone as a share of friction. Exits 1 where fewer than two fingers press.
"""
import argparse
import csv
import math
import re
import sys

ROUNDS = 4000
BALANCE = 1000
SHARES = (0.25, 0.5, 0.75, 0.95)
# Of `force`: what may be left of the sums (the second over the mean arm).
LEFT = 0.005


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def turned(q, v):
    """v by the quaternion q (w, x, y, z)"""
    t = [2 * c for c in cross(q[1:], v)]
    return [v[k] + q[0] * t[k] + cross(q[1:], t)[k] for k in range(3)]


def into_cone(f, n, friction):
    """The nearest force within friction of the normal."""
    normal = dot(f, n)
    side = [f[k] - normal * n[k] for k in range(3)]
    size = math.hypot(*side)
    if size <= friction * normal:
        return f
    along = max(0.0, (normal + friction * size) / (1 + friction * friction))
    return [along * (n[k] + (friction * side[k] / size if size > 0 else 0)) for k in range(3)]


def balanced(contacts, center, force, friction):
    """Forces at the contacts [(link, point, normal)], and the sums of forces and torques that are left."""
    arms = [minus(x, center) for _, x, _ in contacts]
    length = sum(math.hypot(*arm) for arm in arms) / len(arms)
    forces = [[force * v for v in n] for _, _, n in contacts]
    step = 1 / (2 + 4 * BALANCE * len(contacts))
    for _ in range(ROUNDS):
        total = [sum(f[k] for f in forces) for k in range(3)]
        torque = [sum(cross(arm, f)[k] for arm, f in zip(arms, forces)) / length ** 2 for k in range(3)]
        for i, (_, _, n) in enumerate(contacts):
            # the slope of |sum (arm / l) x f|^2 is 2 (torque / l) x (arm / l)
            back = cross(torque, arms[i])
            slope = [2 * (forces[i][k] - force * n[k]) + 2 * BALANCE * (total[k] + back[k]) for k in range(3)]
            forces[i] = into_cone([forces[i][k] - step * slope[k] for k in range(3)], n, friction)
    total = [sum(f[k] for f in forces) for k in range(3)]
    torque = [sum(cross(arm, f)[k] for arm, f in zip(arms, forces)) for k in range(3)]
    return forces, math.hypot(*total), math.hypot(*torque), length


def first_contacts(run, thing):
    """Of every link that touches the object the first row: (link, point, unit normal into the object)."""
    found = {}
    with open(f"{run}/contacts.csv", encoding="ascii") as file:
        for row in csv.DictReader(file):
            if thing not in (row["a"], row["b"]):
                continue
            link, sign = (row["a"], 1) if row["b"] == thing else (row["b"], -1)
            push = [sign * float(row[k]) for k in ("fx", "fy", "fz")]
            size = math.hypot(*push)
            if size > 0 and link not in found:
                found[link] = (link, [float(row[k]) for k in "xyz"], [v / size for v in push])
    return list(found.values())


def joints_of(text):
    """name -> (parent, kind, axis) of every link."""
    joints = {}
    for block in re.split(r"\n  - name: ", text.split("\nlinks:\n")[1].split("\ncontrollers:\n")[0])[0:]:
        name = block.replace("  - name: ", "").split("\n")[0].strip()
        parent = re.search(r"\n    parent: (\S+)", block)
        joint = re.search(r"\n    joint: \{type: (\w+)(.*)\}", block)
        axis = joint and re.search(r"axis: \[([^\]]*)\]", joint[2])
        joints[name] = (parent and parent[1], joint and joint[1], axis and [float(v) for v in axis[1].split(",")])
    return joints


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("found", "run", "thing", "out"):
        parser.add_argument(name)
    parser.add_argument("--force", type=float, default=5)
    parser.add_argument("--friction", type=float, default=0.8)
    parser.add_argument("--give", type=float, default=0.1)
    options = parser.parse_args()
    with open(options.found, encoding="utf-8") as file:
        text = file.read()
    joints = joints_of(text)
    with open(f"{options.run}/trajectory.csv", encoding="ascii") as file:
        at = next(csv.DictReader(file))
    contacts = first_contacts(options.run, options.thing)
    if len(contacts) < 2:
        sys.exit(f"{options.found}: {len(contacts)} fingers press on {options.thing}")

    def place(link):
        return [float(at[f"{link}/p{k}"]) for k in "xyz"], [float(at[f"{link}/q{k}"]) for k in "wxyz"]

    for share in SHARES:
        forces, rest, twist, length = balanced(contacts, place(options.thing)[0], options.force, share * options.friction)
        if max(rest, twist / length) < LEFT * options.force:
            break
    held = {}
    for match in re.finditer(r"\n  - link: (\w+)\n    type: ", text):
        link = match[1]
        _, kind, axis = joints[link]
        if kind not in ("hinge", "slide"):
            sys.exit(f"{options.found}: {link}: a {kind} is no hinge and no slide")
        (origin, turn), held[link] = place(link), 0.0
        axis = turned(turn, axis)
        for (finger, point, _), force in zip(contacts, forces):
            carried = finger
            while carried and carried != link:
                carried = joints[carried][0]
            if carried:
                held[link] += dot(axis, cross(minus(point, origin), force) if kind == "hinge" else force)
    gain = max(abs(v) for v in held.values()) / options.give

    def spring(match):
        start = re.search(rf"\{{link: {match[1]}, coordinates: \[([^\]]*)\]", text)
        target = float(start[1]) + held[match[1]] / gain
        return (f"  - link: {match[1]}\n    type: pd\n    position_gain: {gain:.17g}\n    damping_gain: {gain / 500:.17g}\n"
                f"    target: {{type: constant, value: [{target:.17g}]}}\n")

    before, rest_of = text.split("\ncontrollers:\n")
    rows, after = rest_of.split("\ninitial:\n")
    rows = re.sub(r"  - link: (\w+)\n(?:    .*(?:\n|$))*", spring, rows + "\n")
    with open(options.out, "w", encoding="utf-8") as file:
        file.write(f"{before}\ncontrollers:\n{rows}initial:\n{after}")
    print(f"{len(contacts)},{share:g},{rest:.2g},{twist:.2g}")


if __name__ == "__main__":
    main()
