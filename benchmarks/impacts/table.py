#!/usr/bin/env python3
"""Derivatives through impacts: adjoint and central differences of the real run beside the closed form of rigid impacts.

    PYTHONPATH=python benchmarks/impacts/table.py [--case NAME] [--integrator momentum] [--csv FILE]

Each case is run with e = 0.3, 0.6, 0.9 and dt = 10, 2, 0.5 ms. A final number is derived by the initial state, mass, e, friction, gravity
and a length of the shape, as far as the closed form depends on them. The closed form is differentiated by central differences of
itself. Impacts take place at a gap of two supports (0.1 mm each). Differences of runs: h = 1e-5 in the unit of the parameter. Errors
are relative to the slope, or to 0.5 where it is smaller. For each case and kind of parameter, prints the largest error of the adjoint
and of the differences, and each slope with an error above 1e-3. Exits 1 if there is one.
"""
import argparse
import csv
import math
import sys
import textwrap

import numpy as np
import sdrs

SUPPORT = 1e-4  # [m]
GAP = 2 * SUPPORT  # at which an impact takes place [m]
STEP = 1e-5
E, DT = (0.3, 0.6, 0.9), (0.01, 0.002, 0.0005)
BOUND = 1e-3
MASS, RADIUS = "{type: mass, link: b}", "{type: shape_size, link: b}"  # variables
GROUND = "  - {name: ground, fixed: true, shape: {type: half_space}}\n"


def fall(gap, down, g):
    """Time and speed when a body comes to the ground: `gap` above it, with the speed `down` [m, m/s, m/s^2]."""
    speed = math.sqrt(down * down + 2 * g * gap)
    return (2 * gap / (speed + down), speed)


KINDS = {"e": "e", "gravity": "gravity", "friction": "friction", "mass": "mass", "mass_a": "mass", "mass_b": "mass", "edge": "shape",
         "radius": "shape", "length": "shape", "limit": "shape"}  # of parameters; the others belong to the initial state


class Case:
    """start: parameters, name to value; scene(p): links and initial state; number(p): the closed form; seeds: weights of the positions of
    links in the number. Adjoints by parameters are entries of blocks, state: name to (block, index, sign), or variables of a task: name
    to its item of `parameters`."""

    span, gravity = 0.3, True
    variables = {}

    def text(self, p, dt, integrator):
        g = p["gravity"] if self.gravity else 0
        return ("name: a\nsimulation: {dt: %r, duration: %r, integrator: %s, tolerance: 1e-12, gravity: [0, 0, %r]}\n"
                "contact: {restitution: %r, friction: %r, barrier_distance: %r}\nlinks:\n%s" %
                (dt, self.span, integrator, -g, p["e"], p.get("friction", 0.0), SUPPORT, self.scene(p)))

    def run(self, p, dt, integrator):
        return sdrs.Scene.from_text(self.text(p, dt, integrator)).run()

    def items(self):
        """Variables of the task, name to item."""
        common = {"e": "{type: restitution}"}
        if self.gravity:
            common["gravity"] = "{type: gravity, axes: [z]}"
        if "friction" in self.start:
            common["friction"] = "{type: friction}"
        return common | self.variables

    def adjoints(self, p, dt, integrator):
        """Derivatives by all parameters, name to value."""
        items = self.items()
        scene = sdrs.Scene.from_text("name: a\nscene:\n%ssteps: %d\nparameters:\n%sloss: [{type: point, link: b, target: [0, 0, 0]}]\n" % (
            textwrap.indent(self.text(p, dt, integrator), "  "), round(self.span / dt), "".join("  - %s\n" % item for item in items.values())))
        gradient = self.gradient(scene.run())
        by = {name: sign * np.array(gradient[block]).ravel()[index] for name, (block, index, sign) in self.state.items()}
        assert len(gradient["design"]) == len(items), scene.names("design")
        by |= dict(zip(items, gradient["design"]))
        if self.gravity:
            by["gravity"] *= -1
        return by

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
    start = {"height": 0.25, "down": 0.2, "along": 2.0, "mass": 1.0, "edge": 0.1}
    state = {"height": ("coordinates", 2, 1), "down": ("velocities", 2, -1), "along": ("velocities", 0, 1)}
    variables = {"mass": MASS, "edge": "{type: size, link: b, axes: [z]}"}
    seeds = {"b": [1, 0, 1.3]}

    def scene(self, p):
        return GROUND + ("  - {name: b, mass: %r, mass_model: given, inertia: [1e4, 1e4, 1e4, 0, 0, 0], position: [0, 0, %r], shape: "
                         "{type: box, size: [0.06, 0.08, %r]}}\ninitial: [{link: b, velocities: [%r, 0, %r, 0, 0, 0]}]\n" %
                         (p["mass"], p["height"] + 0.05 + GAP, p["edge"], p["along"], -p["down"]))

    def number(self, p):
        t, speed = fall(p["height"] + 0.05 - p["edge"] / 2, p["down"], p["gravity"])
        rest = self.span - t
        along = p["along"] - p.get("friction", 0) * (1 + p["e"]) * speed
        return p["along"] * t + along * rest + 1.3 * (p["edge"] / 2 + p["e"] * speed * rest - 0.5 * p["gravity"] * rest * rest)


class Slide(Drop):
    start = dict(Drop.start, friction=0.2)


class Slope(Drop):
    """A ball that does not turn falls on a slope of 0.3 rad and slides through the impact."""
    start = {"height": 0.25, "down": 0.2, "along": 2.0, "mass": 1.0, "radius": 0.05, "friction": 0.2}
    state = dict(Drop.state, height=("coordinates", 2, 1 / math.cos(0.3)))  # the height is that above the slope
    variables = {"mass": MASS, "radius": RADIUS}

    def scene(self, p):
        n = [math.sin(0.3), 0, math.cos(0.3)]
        place = p["height"] + 0.05 + GAP
        return ("  - {name: ground, fixed: true, shape: {type: half_space, normal: %r}}\n"
                "  - {name: b, mass: %r, mass_model: given, inertia: [1e4, 1e4, 1e4, 0, 0, 0], position: [0, 0, %r], shape: "
                "{type: sphere, radius: %r}}\ninitial: [{link: b, velocities: [%r, 0, %r, 0, 0, 0]}]\n" %
                (n, p["mass"], place / n[2], p["radius"], p["along"], -p["down"]))

    def number(self, p):
        g, n, s = p["gravity"], math.cos(0.3), math.sin(0.3)
        z0 = (p["height"] + 0.05 + GAP) / n
        t, speed = fall(p["height"] + 0.05 - p["radius"], p["down"] * n - p["along"] * s, g * n)
        rest, kick = self.span - t, (1 + p["e"]) * speed
        x = p["along"] * self.span + (s - p["friction"] * n) * kick * rest
        return x + 1.3 * (z0 - p["down"] * self.span - 0.5 * g * self.span ** 2 + (n + p["friction"] * s) * kick * rest)


class Ball(Drop):
    """A solid ball of 0.05 m with spin: it sticks (friction 0.8) or slides through (0.1)."""
    span = 0.22  # before the second impact of e = 0.3
    start = {"height": 0.2, "down": 1.0, "along": 1.0, "spin": 3.0, "mass": 0.3, "friction": 0.8, "radius": 0.05}
    state = {"height": ("coordinates", 2, 1), "down": ("velocities", 2, -1), "along": ("velocities", 0, 1),
               "spin": ("velocities", 4, 1)}
    variables = {"mass": MASS, "radius": RADIUS}
    inertia = 0.4 * 0.3 * 0.05 ** 2

    def scene(self, p):
        return GROUND + ("  - {name: b, mass: %r, mass_model: given, inertia: [%r, %r, %r, 0, 0, 0], position: [0, 0, %r], shape: {type: "
                         "sphere, radius: %r}}\ninitial: [{link: b, velocities: [%r, 0, %r, 0, %r, 0]}]\n" %
                         (p["mass"], *3 * [self.inertia], p["height"] + 0.05 + GAP, p["radius"], p["along"], -p["down"], p["spin"]))

    def number(self, p):
        t, speed = fall(p["height"] + 0.05 - p["radius"], p["down"], p["gravity"])
        rest, slip = self.span - t, p["along"] - p["radius"] * p["spin"]
        push = min(abs(slip) / (1 + p["mass"] * p["radius"] ** 2 / self.inertia), p["friction"] * (1 + p["e"]) * speed) * math.copysign(1, slip)
        x = p["along"] * self.span - push * rest
        return x + 1.3 * (p["radius"] + p["e"] * speed * rest - 0.5 * p["gravity"] * rest * rest)


class BallSlides(Ball):
    start = dict(Ball.start, along=3.0, spin=-5.0, friction=0.1)


class HeadOn(Case):
    """Two balls head-on while both fall."""
    start = {"place": -0.12, "speed_a": 1.5, "speed_b": -0.5, "mass_a": 0.3, "radius": 0.05}
    state = {"place": ("coordinates", 0, 1), "speed_a": ("velocities", 0, 1), "speed_b": ("velocities", 6, 1)}
    variables = {"mass_a": "{type: mass, link: a}", "radius": "{type: shape_size, link: a}"}
    seeds = {"a": [1, 0, 0.2], "b": [0.6, 0, 0.3]}

    def scene(self, p):
        ball = "  - {name: %s, mass: %r, position: [%r, 0, 1], shape: {type: sphere, radius: %r}}\n"
        return ball % ("a", p["mass_a"], p["place"], p["radius"]) + ball % ("b", 0.5, 0.12, 0.05) + (
            "initial: [{link: a, velocities: [%r, 0, 0, 0, 0, 0]}, {link: b, velocities: [%r, 0, 0, 0, 0, 0]}]\n" % (p["speed_a"], p["speed_b"]))

    def number(self, p):
        a, b, m, n = p["speed_a"], p["speed_b"], p["mass_a"], 0.5
        t = (0.12 - p["place"] - 0.05 - p["radius"] - GAP) / (a - b)
        kick = (1 + p["e"]) * (a - b) * m * n / (m + n)
        rest = self.span - t
        return (p["place"] + a * self.span - kick / m * rest + 0.6 * (0.12 + b * self.span + kick / n * rest)
                + 0.5 * (1 - 0.5 * p["gravity"] * self.span ** 2))


class Balls(Case):
    """Solid balls that fall, spin and meet in any direction: rigid impacts with Coulomb friction, one after the other. `radii` and
    `inertias` belong to the links `names`."""
    names, radii, inertia = ("a", "b"), (0.05, 0.05), 3e-4
    start = {"place": -0.12, "speed_a": 1.5, "side": -0.01, "spin": 10.0, "mass_a": 0.3, "friction": 0.03}
    state = {"place": ("coordinates", 0, 1), "side": ("coordinates", 1, 1), "speed_a": ("velocities", 0, 1), "spin": ("velocities", 5, 1)}
    variables = {"mass_a": "{type: mass, link: a}"}
    seeds = {"a": [1, 0.7, 0.2], "b": [0.6, -0.4, 0.3]}

    def masses(self, p):
        return (p["mass_a"], 0.5)

    def motion(self, p):
        """Positions, velocities and spins of the balls at the start."""
        return (np.array([[p["place"], p["side"], 1], [0.12, 0, 1]]), np.array([[p["speed_a"], 0, 0], [-0.5, 0.2, 0]]),
                np.array([[0, 0, p["spin"]], [0, 1.0, 0]]))

    def scene(self, p):
        x, v, w = self.motion(p)
        text = "".join("  - {name: %s, mass: %r, mass_model: given, inertia: [%r, %r, %r, 0, 0, 0], position: %s, shape: {type: sphere, radius: "
                       "%r}}\n" % (name, m, *3 * [self.inertia], list(map(float, x[k])), radius)
                       for k, (name, m, radius) in enumerate(zip(self.names, self.masses(p), self.radii)))
        return text + "initial:\n" + "".join("  - {link: %s, velocities: %s}\n" % (name, list(map(float, [*v[k], *w[k]])))
                                             for k, name in enumerate(self.names))

    def collide(self, p, x, v, w, i, j):
        """Newton's restitution and Coulomb's friction. The impulse acts at the middle of the gap."""
        m, n = self.masses(p)[i], self.masses(p)[j]
        normal = (x[j] - x[i]) / np.linalg.norm(x[j] - x[i])
        arms = (self.radii[i] + GAP / 2) * normal, -(self.radii[j] + GAP / 2) * normal
        slip = v[i] + np.cross(w[i], arms[0]) - v[j] - np.cross(w[j], arms[1])
        push = (1 + p["e"]) * (slip @ normal) / (1 / m + 1 / n)
        slip = slip - slip @ normal * normal
        size = np.linalg.norm(slip)
        mobility = 1 / m + 1 / n + sum(arm @ arm for arm in arms) / self.inertia
        impulse = push * normal + min(p["friction"] * push, size / mobility) * slip / max(size, 1e-300)
        v[i], v[j] = v[i] - impulse / m, v[j] + impulse / n
        w[i], w[j] = w[i] - np.cross(arms[0], impulse) / self.inertia, w[j] + np.cross(arms[1], impulse) / self.inertia

    def number(self, p):
        x, v, w = (np.array(a, float) for a in self.motion(p))
        left, bodies = self.span, range(len(x))
        while True:  # all fall alike, so relative motion is uniform
            times = {}
            for i in bodies:
                for j in bodies[i + 1:]:
                    d, u, reach = x[j] - x[i], v[j] - v[i], self.radii[i] + self.radii[j] + GAP
                    root = (d @ u) ** 2 - (u @ u) * (d @ d - reach * reach)
                    if d @ u < 0 and root > 0:
                        times[(d @ d - reach * reach) / (-(d @ u) + math.sqrt(root))] = (i, j)
            t = min(min(times, default=left), left)
            x, left = x + t * v, left - t
            if not left > 0:
                break
            self.collide(p, x, v, w, *times[t])
        x[:, 2] -= 0.5 * p["gravity"] * self.span ** 2
        return sum(x[k] @ np.array(self.seeds[name]) for k, name in enumerate(self.names) if name in self.seeds)


class BallsStick(Balls):
    start = dict(Balls.start, spin=4.0, friction=0.8)


class CradleFriction(Balls):
    """Three balls in a row with gaps; the first one spins."""
    names, radii = ("a", "b", "c"), (0.05, 0.05, 0.05)
    start = {"place": -0.14, "speed": 1.5, "spin": 10.0, "mass_b": 0.2, "friction": 0.03}
    state = {"place": ("coordinates", 0, 1), "speed": ("velocities", 0, 1), "spin": ("velocities", 5, 1)}
    variables = {"mass_b": MASS}
    seeds = {"b": [0.5, 0.4, 0], "c": [1, -0.6, 0.3]}

    def masses(self, p):
        return (0.2, p["mass_b"], 0.2)

    def motion(self, p):
        return (np.array([[p["place"], 0, 0], [0, 0, 0], [0.13, 0, 0]]), np.array([[p["speed"], 0, 0], [0, 0, 0], [0, 0, 0]]),
                np.array([[0, 0, p["spin"]], [0, 0, 0], [0, 0, 0]]))


class Rod(Case):
    """A capsule without friction that lands on its end: J = m (1 + e) v / (1 + m x^2 / I), x its lever."""
    span = 0.1
    start = {"height": 0.06, "down": 2.0, "mass": 0.4, "radius": 0.02, "length": 0.5}
    state = {"height": ("coordinates", 2, 1), "down": ("velocities", 2, -1)}
    variables = {"mass": MASS, "radius": "{type: shape_size, link: b, lengths: [radius]}",
                 "length": "{type: shape_size, link: b, lengths: [length]}"}
    seeds = {"b": [0, 0, 1]}
    inertia, tilt = 0.02, 0.6

    def body(self, p):
        """Shape, height of its centre above its lowest point, lever [m]."""
        c, s = math.cos(self.tilt), math.sin(self.tilt)
        return "{type: capsule, radius: %r, length: %r}" % (p["radius"], p["length"]), p["length"] / 2 * c + p["radius"], p["length"] / 2 * s

    def start_height(self, p):
        return p["height"] + self.body(self.start)[1]

    def scene(self, p):
        return GROUND + ("  - {name: b, mass: %r, center: [0, 0, 0], inertia: [%r, %r, 0.001, 0, 0, 0], position: [0, 0, %r], shape: %s}\n"
                         "initial: [{link: b, coordinates: [0, 0, 0, 0, %r, 0], velocities: [0, 0, %r, 0, 0, 0]}]\n" % (
                             p["mass"], self.inertia, self.inertia, self.start_height(p) + GAP, self.body(p)[0], self.tilt, -p["down"]))

    def number(self, p):
        _, height, lever = self.body(p)
        t, speed = fall(self.start_height(p) - height, p["down"], p["gravity"])
        rise, rest = -speed + (1 + p["e"]) * speed / (1 + p["mass"] * lever ** 2 / self.inertia), self.span - t
        return height + rise * rest - 0.5 * p["gravity"] * rest * rest


class Edge(Rod):
    """A box that lands on an edge."""
    start = {"height": 0.06, "down": 2.0, "mass": 0.4, "edge": 0.1}
    variables = {"mass": MASS, "edge": "{type: size, link: b, axes: [z]}"}
    tilt = 0.5

    def body(self, p):
        c, s, half = math.cos(self.tilt), math.sin(self.tilt), p["edge"] / 2
        return "{type: box, size: [0.3, 0.2, %r]}" % p["edge"], 0.15 * s + half * c, 0.15 * c - half * s


def compress(mobility, v, friction):
    """Impulses along x and up that end the approach of a contact point with the velocity v, Coulomb friction included."""
    alone = -v[1] / mobility[1, 1]
    slip = v[0] + mobility[0, 1] * alone
    stick = -slip / (mobility[0, 0] - mobility[0, 1] ** 2 / mobility[1, 1])
    push = alone - mobility[0, 1] / mobility[1, 1] * stick
    if abs(stick) <= friction * push:
        return np.array([stick, push])
    along = -math.copysign(friction, slip)  # friction impulse of a unit normal impulse
    push = -v[1] / (mobility[1, 1] + along * mobility[0, 1])
    return np.array([along * push, push])


def release(mobility, v, friction, push):
    """Impulses along x and up of the normal impulse `push`, with Coulomb friction."""
    slip = v[0] + mobility[0, 1] * push
    return np.array([-math.copysign(min(friction * push, abs(slip) / mobility[0, 0]), slip), push])


class RodSlides(Rod):
    """The rod moves along x and lands on its end with friction, in the plane. Law of Poisson (I9): the compression ends the approach, and
    the restitution adds e times its normal impulse. Friction is Coulomb's law in both. Both impulses change both velocities."""
    start = dict(Rod.start, along=2.5, friction=0.1)
    state = dict(Rod.state, along=("velocities", 0, 1))
    seeds = {"b": [0.8, 0, 1]}
    lever = -1  # side of the contact point along x

    def scene(self, p):
        down = repr(-p["down"])
        return super().scene(p).replace("velocities: [0, 0, %s" % down, "velocities: [%r, 0, %s" % (p["along"], down))

    def number(self, p):
        _, height, lever = self.body(p)
        t, speed = fall(self.start_height(p) - height, p["down"], p["gravity"])
        r = np.array([self.lever * lever, -height - GAP / 2])  # from the centre to the contact point
        turn = np.array([r[1], -r[0]])  # velocity of that point for a unit angular velocity about y
        mobility = np.eye(2) / p["mass"] + np.outer(turn, turn) / self.inertia
        v = np.array([p["along"], -speed])
        impulse = compress(mobility, v, p["friction"])
        impulse = impulse + release(mobility, v + mobility @ impulse, p["friction"], p["e"] * impulse[1])
        v, rest = v + impulse / p["mass"], self.span - t
        return 0.8 * (p["along"] * t + v[0] * rest) + height + v[1] * rest - 0.5 * p["gravity"] * rest * rest


class RodSticks(RodSlides):
    start = dict(RodSlides.start, along=0.3, friction=0.8)


class EdgeSlides(RodSlides):
    """The same with a box on an edge."""
    start = dict(Edge.start, along=2.5, friction=0.2)
    variables, tilt, body, lever = Edge.variables, Edge.tilt, Edge.body, 1


class EdgeSticks(EdgeSlides):
    start = dict(EdgeSlides.start, along=0.3, friction=0.8)


class Pendulum(Case):
    """A rod on a hinge strikes a wall with its lower corner, without weight."""
    span, gravity = 0.4, False
    start = {"angle": -0.5, "rate": 2.0, "mass": 0.4, "length": 0.4}
    state = {"angle": ("coordinates", 0, 1), "rate": ("velocities", 0, 1)}
    variables = {"mass": MASS, "length": "{type: size, link: b, axes: [z]}"}

    def scene(self, p):
        return ("  - {name: wall, fixed: true, position: [0.13, 0, -0.4], shape: {type: box, size: [0.1, 0.4, 0.2]}}\n"
                "  - {name: b, mass: %r, mass_model: uniform, joint: {type: hinge, axis: [0, -1, 0]}, shapes: [{type: box, size: [0.04, "
                "0.04, %r], position: [0, 0, -0.2]}]}\ninitial: [{link: b, coordinates: [%r], velocities: [%r]}]\n" % (
                    p["mass"], p["length"], p["angle"], p["rate"]))

    def value(self, run):
        return run.coordinates[-1][0]

    def gradient(self, run):
        seeds = np.zeros_like(np.array(run.coordinates))
        seeds[-1, 0] = 1
        return run.gradient(coordinates=seeds)

    def angle_of_wall(self, p):
        low, high = -0.5, 0.3  # the lower corner comes to x = 0.08 - GAP
        for _ in range(80):
            middle = 0.5 * (low + high)
            x = 0.02 * math.cos(middle) + (0.2 + p["length"] / 2) * math.sin(middle)
            low, high = (middle, high) if x < 0.08 - GAP else (low, middle)
        return low

    def number(self, p):
        wall = self.angle_of_wall(p)
        t = (wall - p["angle"]) / p["rate"]
        return wall - p["e"] * p["rate"] * (self.span - t)


class PendulumFriction(Pendulum):
    """The same with friction (I9): the corner slides up along the wall until the compression ends, then down. The levers about the hinge
    are the height of the corner for the normal impulse and its distance from the hinge along x for friction."""
    start = dict(Pendulum.start, friction=0.3)

    def number(self, p):
        wall = self.angle_of_wall(p)
        height = (0.2 + p["length"] / 2) * math.cos(wall) - 0.02 * math.sin(wall)
        coupling = p["friction"] * (0.08 - GAP / 2) / height
        back = p["e"] * (1 - coupling) / (1 + coupling)  # share of the rate
        return wall - back * p["rate"] * (self.span - (wall - p["angle"]) / p["rate"])


class HeavyPendulum(Pendulum):
    """The same with weight. The motion is integrated by the Runge-Kutta method of fourth order."""
    gravity = True

    def advance(self, p, time, state=None):
        """Angle and rate after `time`, in steps of 1 ms. The rod is uniform and its centre is 0.2 m from the hinge."""
        pull = p["gravity"] * 0.2 / (0.04 + (p["length"] ** 2 + 0.04 ** 2) / 12)
        angle, rate = state or (p["angle"], p["rate"])
        count = max(1, math.ceil(abs(time) / 1e-3))
        h = time / count
        for _ in range(count):
            k1 = (rate, -pull * math.sin(angle))
            k2 = (rate + h / 2 * k1[1], -pull * math.sin(angle + h / 2 * k1[0]))
            k3 = (rate + h / 2 * k2[1], -pull * math.sin(angle + h / 2 * k2[0]))
            k4 = (rate + h * k3[1], -pull * math.sin(angle + h * k3[0]))
            angle += h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
            rate += h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
        return angle, rate

    def number(self, p):
        wall, low, high = self.angle_of_wall(p), 0.0, self.span
        for _ in range(50):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.advance(p, middle)[0] < wall else (low, middle)
        return self.advance(p, self.span - low, (wall, -p["e"] * self.advance(p, low)[1]))[0]


class Stop(Pendulum):
    """A cart on a vertical rail falls on the lower end of the rail."""
    gravity = True
    start = {"place": 0.1, "speed": 0.5, "mass": 0.4, "limit": 0.3}
    state = {"place": ("coordinates", 0, 1), "speed": ("velocities", 0, 1)}
    variables = {"mass": MASS, "limit": "{type: upper_limit, link: b}", "e": "{type: limit_restitution, link: b}"}
    span, margin = 0.25, 0.013

    def scene(self, p):
        return ("  - {name: b, mass: %r, shape: {type: box, size: [0.1, 0.1, 0.1]}, joint: {type: slide, axis: [0, 0, -1], limits: [-1, %r], "
                "limit_margin: %r, limit_restitution: %r}}\ninitial: [{link: b, coordinates: [%r], velocities: [%r]}]\n" %
                (p["mass"], p["limit"], self.margin, p["e"], p["place"], p["speed"]))

    def number(self, p):
        end = p["limit"] - 0.995 * self.margin  # place of the impact (I15 of docs/derivations/impact.md)
        t, speed = fall(end - p["place"], p["speed"], p["gravity"])
        rest = self.span - t
        return end - p["e"] * speed * rest + 0.5 * p["gravity"] * rest * rest


class Bounces(Case):
    """A ball that bounces for 2 s."""
    span = 2.0
    start = {"height": 1.0, "down": 0.0, "mass": 0.3, "radius": 0.05}
    state = {"height": ("coordinates", 2, 1), "down": ("velocities", 2, -1)}
    variables = {"mass": MASS, "radius": RADIUS}
    seeds = {"b": [0, 0, 1]}

    def scene(self, p):
        return GROUND + ("  - {name: b, mass: %r, position: [0, 0, %r], shape: {type: sphere, radius: %r}}\ninitial: [{link: b, velocities: "
                         "[0, 0, %r, 0, 0, 0]}]\n" % (p["mass"], p["height"] + 0.05 + GAP, p["radius"], -p["down"]))

    def number(self, p):
        g = p["gravity"]
        t, speed = fall(p["height"] + 0.05 - p["radius"], p["down"], g)
        up = p["e"] * speed
        if t + 2 * up / g / (1 - p["e"]) <= self.span:
            return p["radius"]  # at rest after infinitely many bounces
        while t + 2 * up / g < self.span:
            t, up = t + 2 * up / g, p["e"] * up
        rest = self.span - t
        return p["radius"] + up * rest - 0.5 * g * rest * rest


class BouncesFriction(Bounces):
    """The same ball thrown with a spin. For e = 0.3 it slides through the first bounce, whose friction impulse is 0.90 of what would stop
    the slip, and sticks at the second one. For e = 0.6 and 0.9 it sticks at the first one, with 0.90 and 0.76 of the largest impulse."""
    start = dict(Bounces.start, along=2.0, spin=-20.0, friction=0.134)
    state = dict(Bounces.state, along=("velocities", 0, 1), spin=("velocities", 4, 1))
    seeds = {"b": [0.3, 0, 1]}
    inertia = 3e-4

    def scene(self, p):
        return GROUND + ("  - {name: b, mass: %r, mass_model: given, inertia: [%r, %r, %r, 0, 0, 0], position: [0, 0, %r], shape: {type: "
                         "sphere, radius: %r}}\ninitial: [{link: b, velocities: [%r, 0, %r, 0, %r, 0]}]\n" % (
                             p["mass"], *3 * [self.inertia], p["height"] + 0.05 + GAP, p["radius"], p["along"], -p["down"], p["spin"]))

    def number(self, p):
        g, left, x, along, spin = p["gravity"], self.span, 0.0, p["along"], p["spin"]
        t, speed = fall(p["height"] + 0.05 - p["radius"], p["down"], g)
        while t < left and speed > 1e-9:
            x, left = x + along * t, left - t
            slip = along - p["radius"] * spin
            push = min(abs(slip) / (1 / p["mass"] + p["radius"] ** 2 / self.inertia), p["friction"] * p["mass"] * (1 + p["e"]) * speed)
            push = math.copysign(push, slip)
            along, spin = along - push / p["mass"], spin + push * p["radius"] / self.inertia
            speed *= p["e"]
            t = 2 * speed / g
        up = super().number(p)
        return 0.3 * (x + along * left) + up


class Cradle(Case):
    """Three balls in a row with gaps, which fall: an impact passes (1 + e) m / (m + n) of the speed from mass m to n."""
    start = {"place": -0.14, "speed": 1.5, "middle": 0.0, "mass_b": 0.2, "radius": 0.05}
    state = {"place": ("coordinates", 0, 1), "speed": ("velocities", 0, 1), "middle": ("coordinates", 6, 1)}
    variables = {"mass_b": MASS, "radius": RADIUS}
    seeds = {"c": [1, 0, 0.3]}

    def scene(self, p):
        ball = "  - {name: %s, mass: %r, position: [%r, 0, 0], shape: {type: sphere, radius: %r}}\n"
        return ball % ("a", 0.2, p["place"], 0.05) + ball % ("b", p["mass_b"], p["middle"], p["radius"]) + ball % ("c", 0.2, 0.13, 0.05) + (
            "initial: [{link: a, velocities: [%r, 0, 0, 0, 0, 0]}]\n" % p["speed"])

    def number(self, p):
        m, reach = p["mass_b"], 0.05 + p["radius"] + GAP
        first, second = (1 + p["e"]) * 0.2 / (0.2 + m), (1 + p["e"]) * m / (0.2 + m)
        t = (p["middle"] - reach - p["place"]) / p["speed"]
        t += (0.13 - reach - p["middle"]) / (first * p["speed"])
        return 0.13 + first * second * p["speed"] * (self.span - t) - 0.15 * p["gravity"] * self.span ** 2


CASES = {"drop": Drop, "slope": Slope, "head-on": HeadOn, "oblique, slides": Slide, "ball sticks": Ball, "ball slides, spin": BallSlides,
         "rod on its end": Rod, "box on an edge": Edge, "pendulum, wall": Pendulum, "pendulum, weight": HeavyPendulum, "joint stop": Stop,
         "ball, bounces in 2 s": Bounces, "cradle of three": Cradle, "two balls, slide": Balls,
         "two balls, stick": BallsStick, "cradle, friction": CradleFriction, "rod slides": RodSlides, "rod sticks": RodSticks,
         "edge slides": EdgeSlides, "edge sticks": EdgeSticks, "pendulum, friction": PendulumFriction, "bounces, friction": BouncesFriction}


def difference(number, p, name):
    up, down = dict(p), dict(p)
    up[name] += STEP
    down[name] -= STEP
    return (number(up) - number(down)) / (2 * STEP)


def examine(case, e, dt, integrator):
    """Rows: parameter, closed form, adjoint, difference of runs."""
    p = case.parameters(e)
    adjoint = case.adjoints(p, dt, integrator)
    return [(name, difference(case.number, p, name), adjoint[name],
             difference(lambda q: case.value(case.run(q, dt, integrator)), p, name)) for name in p]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=sorted(CASES))
    parser.add_argument("--integrator", default="momentum", choices=("momentum", "second_order"))
    parser.add_argument("--csv")
    options = parser.parse_args()
    rows, beyond = [], 0
    for name, kind in CASES.items():
        if options.case and name != options.case:
            continue
        worst = {}
        for e in E:
            for dt in DT:
                for parameter, slope, adjoint, run in examine(kind(), e, dt, options.integrator):
                    errors = [abs(found - slope) / max(abs(slope), 0.5) for found in (adjoint, run)]
                    kind_of = KINDS.get(parameter, "state")
                    worst[kind_of] = [max(pair) for pair in zip(worst.get(kind_of, (0, 0)), errors)]
                    rows.append([name, e, dt, parameter, "%.9g" % slope, "%.9g" % adjoint, "%.9g" % run, *("%.1e" % x for x in errors)])
                    if max(errors) > BOUND:
                        beyond += 1
                        print("%s, e = %g, dt = %g ms, by %s: closed form %.6g, adjoint %.6g, differences %.6g" % (
                            name, e, 1e3 * dt, parameter, slope, adjoint, run))
        print("%s: %s" % (name, ", ".join("%s %.1e %.1e" % (kind_of, *pair) for kind_of, pair in worst.items())), flush=True)
    print("%d slopes, %d above %g" % (len(rows), beyond, BOUND))
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["case", "e", "dt", "parameter", "closed_form", "adjoint", "differences", "adjoint_error", "differences_error"])
            writer.writerows(rows)
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
