#!/usr/bin/env python3
"""Derivatives through impacts: adjoint and central differences of the real run beside the closed form of rigid impacts.

    PYTHONPATH=python benchmarks/impacts/table.py [--case NAME] [--integrator momentum] [--csv FILE]

Each case is run with e = 0.3, 0.6, 0.9 and dt = 10, 2, 0.5 ms. A final number is derived by start, velocity, mass, friction (adjoint
and differences), e and gravity (differences; for their adjoints see tests/gradient/test_impacts.c). The closed form is differentiated
by central differences of itself. Impacts take place at a gap of two supports (0.1 mm each). Differences of runs: h = 1e-5 in the unit
of the parameter. Errors are relative to the slope, or to 0.5 where it is
smaller. Prints a line a case with the largest errors and
where they are; exits 1 if one exceeds 1e-3.
"""
import argparse
import csv
import math
import sys

import numpy as np
import sdrs

SUPPORT = 1e-4  # [m]
GAP = 2 * SUPPORT  # at which an impact takes place [m]
STEP = 1e-5
E, DT = (0.3, 0.6, 0.9), (0.01, 0.002, 0.0005)
BOUND = 1e-3
GROUND = "  - {name: ground, fixed: true, shape: {type: half_space}}\n"


def fall(gap, down, g):
    """Time and speed when a body comes to the ground: `gap` above it, with the speed `down` [m, m/s, m/s^2]."""
    speed = math.sqrt(down * down + 2 * g * gap)
    return (2 * gap / (speed + down), speed)


class Case:
    """parameters: name to value; those of `adjoint` give (block, index, sign); the rest are derived by differences alone.
    scene(p): links and initial state; number(p): the closed form; seeds: link to weights of its position, or coordinate."""

    span, gravity = 0.3, True

    def text(self, p, dt, integrator):
        g = p["gravity"] if self.gravity else 0
        return ("name: a\nsimulation: {dt: %r, duration: %r, integrator: %s, tolerance: 1e-12, gravity: [0, 0, %r]}\n"
                "contact: {restitution: %r, friction: %r, barrier_distance: %r}\nlinks:\n%s" %
                (dt, self.span, integrator, -g, p["e"], p.get("friction", 0.0), SUPPORT, self.scene(p)))

    def run(self, p, dt, integrator):
        return sdrs.Scene.from_text(self.text(p, dt, integrator)).run()

    def value(self, run):
        return sum(run.position(name)[-1] @ np.array(w) for name, w in self.seeds.items())

    def gradient(self, run):
        by = {}
        for name, w in self.seeds.items():
            by[name] = np.zeros((run.steps + 1, 3))
            by[name][-1] = w
        return run.gradient(by)

    def parameters(self, e):
        p = dict(self.start, e=e)
        return dict(p, gravity=9.81) if self.gravity else p


class Drop(Case):
    """A body that does not turn falls on the ground and rises; with friction it slides through the impact."""
    start = {"height": 0.25, "down": 0.2, "along": 2.0, "mass": 1.0}
    adjoint = {"height": ("coordinates", 2, 1), "down": ("velocities", 2, -1), "along": ("velocities", 0, 1), "mass": ("mass", 1, 1)}
    seeds = {"b": [1, 0, 1.3]}

    def scene(self, p):
        return GROUND + ("  - {name: b, mass: %r, mass_model: given, inertia: [1e4, 1e4, 1e4, 0, 0, 0], position: [0, 0, %r], shape: "
                         "{type: box, size: [0.06, 0.08, 0.1]}}\ninitial: [{link: b, velocities: [%r, 0, %r, 0, 0, 0]}]\n" %
                         (p["mass"], p["height"] + 0.05 + GAP, p["along"], -p["down"]))

    def number(self, p):
        t, speed = fall(p["height"], p["down"], p["gravity"])
        rest = self.span - t
        along = p["along"] - p.get("friction", 0) * (1 + p["e"]) * speed
        return p["along"] * t + along * rest + 1.3 * (p["e"] * speed * rest - 0.5 * p["gravity"] * rest * rest)


class Slide(Drop):
    start = dict(Drop.start, friction=0.2)
    adjoint = dict(Drop.adjoint, friction=("contact", 2, 1))


class Slope(Drop):
    """A ball that falls on a slope of 0.3 rad, without friction."""
    height_by = 1 / math.cos(0.3)  # position of the link by the height above the slope

    def scene(self, p):
        n = [math.sin(0.3), 0, math.cos(0.3)]
        place = p["height"] + 0.05 + GAP
        return ("  - {name: ground, fixed: true, shape: {type: half_space, normal: %r}}\n"
                "  - {name: b, mass: %r, mass_model: given, inertia: [1e4, 1e4, 1e4, 0, 0, 0], position: [0, 0, %r], shape: "
                "{type: sphere, radius: 0.05}}\ninitial: [{link: b, velocities: [%r, 0, %r, 0, 0, 0]}]\n" %
                (n, p["mass"], place / n[2], p["along"], -p["down"]))

    def number(self, p):
        g, n, s = p["gravity"], math.cos(0.3), math.sin(0.3)
        z0 = (p["height"] + 0.05 + GAP) / n
        t, speed = fall(p["height"], p["down"] * n - p["along"] * s, g * n)
        rest, kick = self.span - t, (1 + p["e"]) * speed
        x = p["along"] * self.span + s * kick * rest
        return x + 1.3 * (z0 - p["down"] * self.span - 0.5 * g * self.span ** 2 + n * kick * rest)



class Ball(Drop):
    """A solid ball of 0.05 m with spin: it sticks (friction 0.8) or slides through (0.1)."""
    span = 0.22  # before the second impact of e = 0.3
    start = {"height": 0.2, "down": 1.0, "along": 1.0, "spin": 3.0, "mass": 0.3, "friction": 0.8}
    adjoint = {"height": ("coordinates", 2, 1), "down": ("velocities", 2, -1), "along": ("velocities", 0, 1),
               "spin": ("velocities", 4, 1), "friction": ("contact", 2, 1)}

    def scene(self, p):
        inertia = 0.4 * p["mass"] * 0.05 ** 2
        return GROUND + ("  - {name: b, mass: %r, mass_model: given, inertia: [%r, %r, %r, 0, 0, 0], position: [0, 0, %r], shape: {type: "
                         "sphere, radius: 0.05}}\ninitial: [{link: b, velocities: [%r, 0, %r, 0, %r, 0]}]\n" %
                         (p["mass"], inertia, inertia, inertia, p["height"] + 0.05 + GAP, p["along"], -p["down"], p["spin"]))

    def number(self, p):
        t, speed = fall(p["height"], p["down"], p["gravity"])
        rest, slip = self.span - t, p["along"] - 0.05 * p["spin"]
        push = min(2 / 7 * abs(slip), p["friction"] * (1 + p["e"]) * speed) * math.copysign(1, slip)
        x = p["along"] * self.span - push * rest
        return x + 1.3 * (p["e"] * speed * rest - 0.5 * p["gravity"] * rest * rest)


class BallSlides(Ball):
    start = dict(Ball.start, along=3.0, spin=-5.0, friction=0.1)


class HeadOn(Case):
    """Two balls head-on while both fall."""
    start = {"place": -0.12, "speed_a": 1.5, "speed_b": -0.5, "mass_a": 0.3}
    adjoint = {"place": ("coordinates", 0, 1), "speed_a": ("velocities", 0, 1), "speed_b": ("velocities", 6, 1), "mass_a": ("mass", 0, 1)}
    seeds = {"a": [1, 0, 0.2], "b": [0.6, 0, 0.3]}

    def scene(self, p):
        ball = "  - {name: %s, mass: %r, position: [%r, 0, 1], shape: {type: sphere, radius: 0.05}}\n"
        return ball % ("a", p["mass_a"], p["place"]) + ball % ("b", 0.5, 0.12) + (
            "initial: [{link: a, velocities: [%r, 0, 0, 0, 0, 0]}, {link: b, velocities: [%r, 0, 0, 0, 0, 0]}]\n" % (p["speed_a"], p["speed_b"]))

    def number(self, p):
        a, b, m, n = p["speed_a"], p["speed_b"], p["mass_a"], 0.5
        t = (0.12 - p["place"] - 0.1 - GAP) / (a - b)
        kick = (1 + p["e"]) * (a - b) * m * n / (m + n)
        rest = self.span - t
        return (p["place"] + a * self.span - kick / m * rest + 0.6 * (0.12 + b * self.span + kick / n * rest)
                + 0.5 * (1 - 0.5 * p["gravity"] * self.span ** 2))


class Rod(Case):
    """A capsule that lands on its end, without weight and friction: J = m (1 + e) v / (1 + m x^2 / I), x its lever."""
    span, gravity = 0.1, False
    start = {"height": 0.06, "down": 2.0, "mass": 0.4}
    adjoint = {"height": ("coordinates", 2, 1), "down": ("velocities", 2, -1), "mass": ("mass", 1, 1)}
    seeds = {"b": [0, 0, 1]}
    inertia, tilt = 0.02, 0.6

    def body(self):
        """Shape, height of its centre above its lowest point, lever [m]."""
        return ("{type: capsule, radius: 0.02, length: 0.5}", 0.25 * math.cos(self.tilt) + 0.02, 0.25 * math.sin(self.tilt))

    def scene(self, p):
        shape, height, _ = self.body()
        return GROUND + ("  - {name: b, mass: %r, center: [0, 0, 0], inertia: [%r, %r, 0.001, 0, 0, 0], position: [0, 0, %r], shape: %s}\n"
                         "initial: [{link: b, coordinates: [0, 0, 0, 0, %r, 0], velocities: [0, 0, %r, 0, 0, 0]}]\n" %
                         (p["mass"], self.inertia, self.inertia, p["height"] + height + GAP, shape, self.tilt, -p["down"]))

    def number(self, p):
        lever, t = self.body()[2], p["height"] / p["down"]
        rise = -p["down"] + (1 + p["e"]) * p["down"] / (1 + p["mass"] * lever ** 2 / self.inertia)
        return rise * (self.span - t)


class Edge(Rod):
    """A box that lands on an edge."""
    tilt = 0.5

    def body(self):
        c, s = math.cos(self.tilt), math.sin(self.tilt)
        return ("{type: box, size: [0.3, 0.2, 0.1]}", 0.15 * s + 0.05 * c, 0.15 * c - 0.05 * s)


class Pendulum(Case):
    """A rod on a hinge strikes a wall with its lower corner, without weight."""
    span, gravity = 0.4, False
    start = {"angle": -0.5, "rate": 2.0}
    adjoint = {"angle": ("coordinates", 0, 1), "rate": ("velocities", 0, 1)}

    def scene(self, p):
        return ("  - {name: wall, fixed: true, position: [0.13, 0, -0.4], shape: {type: box, size: [0.1, 0.4, 0.2]}}\n"
                "  - {name: b, mass: 0.4, mass_model: uniform, joint: {type: hinge, axis: [0, -1, 0]}, shapes: [{type: box, size: [0.04, "
                "0.04, 0.4], position: [0, 0, -0.2]}]}\ninitial: [{link: b, coordinates: [%r], velocities: [%r]}]\n" % (p["angle"], p["rate"]))

    def value(self, run):
        return run.coordinates[-1][0]

    def gradient(self, run):
        seeds = np.zeros_like(np.array(run.coordinates))
        seeds[-1, 0] = 1
        return run.gradient(coordinates=seeds)

    def number(self, p):
        low, high = -0.5, 0.3  # the corner (0.02, -0.4) comes to x = 0.08 - GAP
        for _ in range(80):
            middle = 0.5 * (low + high)
            x = 0.02 * math.cos(middle) + 0.4 * math.sin(middle)
            low, high = (middle, high) if x < 0.08 - GAP else (low, middle)
        t = (low - p["angle"]) / p["rate"]
        return low - p["e"] * p["rate"] * (self.span - t)


class Stop(Pendulum):
    """A cart that strikes the end of its rail."""
    start = {"place": 0.1, "speed": 1.0}
    adjoint = {"place": ("coordinates", 0, 1), "speed": ("velocities", 0, 1)}
    margin = 0.013

    def scene(self, p):
        return ("  - {name: b, mass: 0.4, shape: {type: box, size: [0.1, 0.1, 0.1]}, joint: {type: slide, axis: [1, 0, 0], limits: [-1, 0.3], "
                "limit_margin: %r, limit_restitution: %r}}\ninitial: [{link: b, coordinates: [%r], velocities: [%r]}]\n" %
                (self.margin, p["e"], p["place"], p["speed"]))

    def number(self, p):
        end = 0.3 - self.margin
        return end - p["e"] * (p["speed"] * self.span - (end - p["place"]))


class Bounces(Case):
    """A ball that bounces for 2 s."""
    span = 2.0
    start = {"height": 1.0, "down": 0.0}
    adjoint = {"height": ("coordinates", 2, 1), "down": ("velocities", 2, -1)}
    seeds = {"b": [0, 0, 1]}

    def scene(self, p):
        return GROUND + ("  - {name: b, mass: 0.3, position: [0, 0, %r], shape: {type: sphere, radius: 0.05}}\ninitial: [{link: b, velocities: "
                         "[0, 0, %r, 0, 0, 0]}]\n" % (p["height"] + 0.05 + GAP, -p["down"]))

    def number(self, p):
        g = p["gravity"]
        t, speed = fall(p["height"], p["down"], g)
        up = p["e"] * speed
        if t + 2 * up / g / (1 - p["e"]) <= self.span:
            return 0  # at rest after infinitely many bounces
        while t + 2 * up / g < self.span:
            t, up = t + 2 * up / g, p["e"] * up
        rest = self.span - t
        return up * rest - 0.5 * g * rest * rest


class Cradle(Case):
    """Three balls in a row with gaps, without weight: each impact passes (1 + e) / 2 of the speed on."""
    span, gravity = 0.3, False
    start = {"place": -0.14, "speed": 1.5, "middle": 0.0}
    adjoint = {"place": ("coordinates", 0, 1), "speed": ("velocities", 0, 1), "middle": ("coordinates", 6, 1)}
    seeds = {"c": [1, 0, 0]}

    def scene(self, p):
        ball = "  - {name: %s, mass: 0.2, position: [%r, 0, 0], shape: {type: sphere, radius: 0.05}}\n"
        return ball % ("a", p["place"]) + ball % ("b", p["middle"]) + ball % ("c", 0.13) + (
            "initial: [{link: a, velocities: [%r, 0, 0, 0, 0, 0]}]\n" % p["speed"])

    def number(self, p):
        share, reach = 0.5 * (1 + p["e"]), 0.1 + GAP
        t = (p["middle"] - reach - p["place"]) / p["speed"]
        t += (0.13 - reach - p["middle"]) / (share * p["speed"])
        return 0.13 + share * share * p["speed"] * (self.span - t)


CASES = {"drop": Drop, "slope": Slope, "head-on": HeadOn, "oblique, slides": Slide, "ball sticks": Ball, "ball slides, spin": BallSlides,
         "rod on its end": Rod, "box on an edge": Edge, "pendulum, wall": Pendulum, "joint stop": Stop, "ball, bounces in 2 s": Bounces,
         "cradle of three": Cradle}


def difference(number, p, name):
    up, down = dict(p), dict(p)
    up[name] += STEP
    down[name] -= STEP
    return (number(up) - number(down)) / (2 * STEP)


def examine(case, e, dt, integrator):
    """Rows: parameter, closed form, adjoint (None: not derived), difference of runs."""
    p = case.parameters(e)
    gradient = case.gradient(case.run(p, dt, integrator))
    rows = []
    for name in p:
        slope = difference(case.number, p, name)
        adjoint = None
        if name in case.adjoint:
            block, index, sign = case.adjoint[name]
            adjoint = sign * np.array(gradient[block]).ravel()[index]
            if name == "height":
                # the number of Drop is measured from the ground, that of Slope from the origin
                adjoint *= getattr(case, "height_by", 1)
        rows.append((name, slope, adjoint, difference(lambda q: case.value(case.run(q, dt, integrator)), p, name)))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=sorted(CASES))
    parser.add_argument("--integrator", default="momentum", choices=("momentum", "first_order", "second_order"))
    parser.add_argument("--csv")
    options = parser.parse_args()
    table, beyond = [], 0
    for name, kind in CASES.items():
        if options.case and name != options.case:
            continue
        worst = {"adjoint": (0, ""), "differences": (0, "")}
        above = {"adjoint": 0, "differences": 0}
        count = 0
        for e in E:
            for dt in DT:
                for parameter, slope, adjoint, run in examine(kind(), e, dt, options.integrator):
                    count += 1
                    for column, found in (("adjoint", adjoint), ("differences", run)):
                        if found is None:
                            continue
                        error = abs(found - slope) / max(abs(slope), 0.5)
                        above[column] += error > BOUND
                        worst[column] = max(worst[column], (error, "%s, e = %g, dt = %g ms" % (parameter, e, 1e3 * dt)))
                    table.append([name, e, dt, parameter, "%.9g" % slope, "" if adjoint is None else "%.9g" % adjoint, "%.9g" % run])
        beyond += above["adjoint"] + above["differences"]
        print("%-22s %3d slopes: adjoint %.1e (%s), %d above; differences %.1e (%s), %d above" % (
            name, count, *worst["adjoint"], above["adjoint"], *worst["differences"], above["differences"]), flush=True)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["case", "e", "dt", "parameter", "closed_form", "adjoint", "differences"])
            writer.writerows(table)
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
