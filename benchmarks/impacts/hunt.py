#!/usr/bin/env python3
"""Derivatives of random runs with impacts: the adjoint beside central differences of the real run.

    PYTHONPATH=python benchmarks/impacts/hunt.py 0 400 [--csv FILE]     # seeds 0 to 399
    PYTHONPATH=python benchmarks/impacts/hunt.py 243 --only free        # one seed, all its numbers; scenes of one kind
    PYTHONPATH=python benchmarks/impacts/hunt.py 243 --scene            # the scene of a seed as YAML

A seed gives a scene: one or two free bodies (box, sphere, capsule, cylinder) on a half-space or a box as ground, a pendulum against
a wall, a cart with a pole between limits, or a door that strikes a body; restitution 0.3, 0.6, 0.9; friction 0, 0.3, 0.8; time step
10, 2, 0.5 ms; one of three integrators. The number that is derived is a random linear function of all positions and orientations
at the end. It is derived in a random direction of the initial coordinates (q) and in one of the initial velocities (v). Moved runs
choose their own substeps. Steps h of the differences: 1e-4 to 1e-9, two a decade.

The error of a direction is the least bound of the sweep that |difference - adjoint| of two neighbouring steps keeps. Errors are relative
to the largest of |adjoint|, the median |difference|, a tenth of |gradient| and 1e-2.

Directions with an error above 1e-5 get 24 further differences, with steps from 0.3 to 10 times the step at which neighbouring differences
agree best. A fit in powers of h extrapolates the differences to h = 0 (J14 of docs/derivations/gradcheck.md). The resolution is the doubt
of the fit plus five standard deviations of the adjoint at six starts that are moved by some 1e-12 (J17). The error becomes
|fit - adjoint| plus the resolution if that is smaller. Verdicts:

    right        |fit - adjoint| is at most 1e-5 plus the resolution, and the resolution is at most 1e-4
    unresolved   the same with a resolution above 1e-4: the run is rough or sensitive there
    kink         one-sided differences disagree by more than the error at all steps from 1e-5 to 1e-7, and the adjoint is one of them
    wrong        none of these

Prints the directions above 1e-4, then a table of counts (Ctrl-C ends the hunt with it). Exits 1 if one above 1e-4 is wrong.
"""
import argparse
import csv
import sys
import time

import numpy as np
import sdrs

STEPS = np.array([1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 3e-8, 1e-8, 3e-9, 1e-9])
FIT_COUNT = 24  # differences of a fit besides those of the sweep
MOVES = np.array([-3.5e-12, -2.2e-12, -1e-12, 1e-12, 2.2e-12, 3.5e-12])  # of starts at which the adjoint's rounding is measured
REPORT = 1e-4  # errors above this are printed
VERDICT = 1e-5  # and above this are given a verdict

HALF_SPACE = "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
BOX_GROUND = "  - {name: ground, fixed: true, position: [0,0,-0.25], shape: {type: box, size: [8,8,0.5]}}\n"
SHAPES = {
    "box": "{type: box, size: [0.2,0.14,0.1]}",
    "sphere": "{type: sphere, radius: 0.1}",
    "capsule": "{type: capsule, radius: 0.05, length: 0.2}",
    "cylinder": "{type: cylinder, radius: 0.07, length: 0.15}",
}
KINDS = {"free": ("one", "two", "ball2", "atop"), "joints": ("pendulum", "cart", "door")}


class Draw:
    """Random choices of one seed."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def pick(self, *choices):
        return choices[self.random.integers(len(choices))]

    def between(self, low, high):
        return float(self.random.uniform(low, high))

    def shape(self):
        kind = self.pick("box", "sphere", "capsule", "cylinder")
        return kind, SHAPES[kind]

    def rotation(self):
        q = self.random.normal(size=4)
        return "[%r,%r,%r,%r]" % tuple(map(float, q / np.linalg.norm(q)))

    def velocity(self):
        """Linear [m/s], downwards, then angular [rad/s]."""
        b = self.between
        return [b(-1, 1), b(-1, 1), b(-2, 0), b(-2, 2), b(-2, 2), b(-2, 2)]


def links_one(d, ground):
    kind, shape = d.shape()
    links = ground + "  - {name: a, mass: 1, position: [0,0,%r], rotation: %s, shape: %s}\n" % (d.between(0.3, 0.6), d.rotation(), shape)
    return kind, links, {"a": d.velocity()}


def links_two(d, ground, what):
    """Bodies that meet above the ground; atop: one that falls on the other."""
    def shape():
        kind = d.pick("box", "sphere", "capsule", "cylinder") if what != "ball2" else "sphere"
        return kind, SHAPES[kind]
    (kind, shape_a), (kind_b, shape_b) = shape(), shape()
    b, z = d.between, d.between(0.3, 0.5)
    text = "  - {name: %s, mass: %s, position: [%r,%r,%r], rotation: %s, shape: %s}\n"
    links = ground + text % ("a", "1", 0, 0, z, d.rotation(), shape_a)
    if what == "atop":
        links += text % ("b", "%g" % b(0.5, 2), b(-0.05, 0.05), b(-0.05, 0.05), z + b(0.35, 0.5), d.rotation(), shape_b)
        va, vb = [0.1 * x for x in d.velocity()], [0.1 * x for x in d.velocity()]
        vb[2] = -b(1, 2)
    else:
        links += text % ("b", "%g" % b(0.5, 2), b(0.35, 0.6), b(-0.05, 0.05), z + b(-0.05, 0.05), d.rotation(), shape_b)
        va, vb = d.velocity(), d.velocity()
        va[0], vb[0] = b(1, 2), -b(1, 2)
        va[1], vb[1] = va[1] * 0.2, vb[1] * 0.2
        va[2] = vb[2] = b(-1, 0.5)
    return kind + "+" + kind_b, links, {"a": va, "b": vb}


def links_pendulum(d):
    kind, shape = d.shape()
    links = "  - {name: wall, fixed: true, position: [%r,0,0.6], shape: {type: box, size: [0.2,2,3]}}\n" % (0.22 + d.between(0.05, 0.3))
    links += ("  - {name: a, mass: 1, mass_model: uniform, shapes: [%s, position: [0,0,-0.5]}], joint: {type: hinge, position: [0,0,1], "
              "axis: [0,1,0]}}\n" % shape[:-1])
    return kind, links, {"a": [-d.between(1, 3)]}


def links_door(d):
    kind, shape = d.shape()
    d.between(0.05, 0.3)
    speed = d.between(1.5, 3)
    links = ("  - {name: a, mass: 1, mass_model: uniform, shapes: [{type: box, size: [0.6,0.04,0.5], position: [0.3,0,0]}], joint: {type: "
             "hinge, position: [0,0,0.5], axis: [0,0,1]}}\n")
    links += "  - {name: b, mass: %g, position: [%r,%r,0.5], rotation: %s, shape: %s}\n" % (
        d.between(0.3, 1), d.between(0.3, 0.5), d.between(0.2, 0.3), d.rotation(), shape)
    return kind, links, {"a": [speed], "b": [0, 0, 0, 0, 0, d.between(-1, 1)]}


def links_cart(d):
    e = d.pick(0.3, 0.6, 0.9)
    links = ("  - {name: c, mass: 1, shape: {type: box, size: [0.2,0.1,0.1]}, joint: {type: slide, position: [0,0,1], axis: [1,0,0], "
             "limits: [-0.2,%r], limit_restitution: %g}}\n" % (d.between(0.05, 0.3), e))
    links += ("  - {name: a, parent: c, mass: 0.5, mass_model: uniform, shapes: [{type: box, size: [0.05,0.05,0.4], position: [0,0,-0.3]}], "
              "joint: {type: hinge, position: [0,0,0], axis: [0,1,0], limits: [-1, 1], limit_restitution: %g}}\n" % e)
    return "cart", links, {"c": [d.between(0.5, 2)], "a": [d.between(-2, 2)]}


class Case:
    """Scene, number and directions of a seed."""

    def __init__(self, seed, duration=None):
        d = Draw(seed)
        self.what = d.pick("one", "one", "one", "two", "pendulum", "cart", "door", "ball2", "atop")
        e, friction = d.pick(0.3, 0.6, 0.9), d.pick(0, 0.3, 0.8)
        dt, integrator = d.pick(0.01, 0.002, 0.0005), d.pick("momentum", "first_order", "second_order")
        span, ground = d.pick(0.4, 0.6, 1.0), d.pick("half", "half", "box")
        if dt < 0.001:
            span = min(span, 0.5)
        floor = BOX_GROUND if ground == "box" else HALF_SPACE
        if self.what == "one":
            shape, links, start = links_one(d, floor)
        elif self.what in ("two", "ball2", "atop"):
            shape, links, start = links_two(d, floor, self.what)
        else:
            shape, links, start = {"pendulum": links_pendulum, "door": links_door, "cart": links_cart}[self.what](d)
        self.label = "%s %s e=%g mu=%g dt=%g %s %s %g s" % (self.what, shape, e, friction, dt, integrator, ground, span)
        self.dt, self.span = dt, duration or span
        self.text = ("name: a\nsimulation: {dt: %g, duration: %g, integrator: %s, tolerance: 1e-12}\ncontact: {restitution: %g, friction: %g}\n"
                     "links:\n%sinitial:\n" % (dt, self.span, integrator, e, friction, links))
        self.text += "".join("  - {link: %s, velocities: %s}\n" % (name, v) for name, v in start.items())
        self.scene = sdrs.Scene.from_text(self.text)
        self.q, self.v = np.array(self.scene.coordinates), np.array(self.scene.velocities)
        self.weights = {name: (d.random.normal(size=3), 0.1 * d.random.normal(size=4)) for name in start}
        self._directions(d.random, start)

    def _directions(self, random, start):
        """Unit directions. Of a free body's coordinates only its position moves: 3 of 7, and 3 of the 6 derivatives."""
        moved, derived = [], []
        for v in start.values():
            x = random.normal(size=3 if len(v) == 6 else 1) if len(self.q) != len(self.v) else None
            moved.append((x, 7 if len(v) == 6 else 1))
            derived.append((x, len(v)))
        if len(self.q) == len(self.v):
            self.dq = random.normal(size=len(self.q))
            self.dq_derived = self.dq.copy()
        else:
            self.dq, self.dq_derived = (np.concatenate([np.append(x, np.zeros(size - len(np.atleast_1d(x)))) for x, size in parts])
                                        for parts in (moved, derived))
        self.dv = random.normal(size=len(self.v))
        self.dv /= np.linalg.norm(self.dv)
        size = np.linalg.norm(self.dq)
        self.dq, self.dq_derived = self.dq / size, self.dq_derived / size

    def number(self, run, step=-1):
        return sum(run.position(name)[step] @ w + run.orientation(name)[step] @ o for name, (w, o) in self.weights.items())

    def run(self, which="q", h=0.0, steps=None):
        q = self.q + h * self.dq if which == "q" else self.q
        v = self.v + h * self.dv if which == "v" else self.v
        return self.scene.run(steps, coordinates=q, velocities=v)

    def differences(self, which, steps):
        """Central differences of the number over each of the steps."""
        return np.array([self.number(self.run(which, h)) - self.number(self.run(which, -h)) for h in steps]) / (2 * np.asarray(steps))

    def adjoint(self, steps=None, which="q", h=0.0):
        """(derivative, |gradient|) of the number after `steps` by q and by v, and the run. The start is moved by h along `which`."""
        run = self.run(which, h, steps)
        position, orientation = {}, {}
        for name, (w, o) in self.weights.items():
            position[name], orientation[name] = np.zeros((run.steps + 1, 3)), np.zeros((run.steps + 1, 4))
            position[name][-1], orientation[name][-1] = w, o
        gradient = run.gradient(position, orientation=orientation)
        by_q, by_v = np.array(gradient["coordinates"]).ravel(), np.array(gradient["velocities"]).ravel()
        return {"q": (by_q @ self.dq_derived, np.linalg.norm(by_q)), "v": (by_v @ self.dv, np.linalg.norm(by_v))}, run


def fit_of(steps, differences, power):
    """Derivative at h = 0 and its standard error from differences with noise / h, by a sum of powers of h^power."""
    best = (np.nan, np.inf)
    for n in range(8, len(steps) + 1):
        h, rows = steps[:n] / steps[n - 1], steps[:n] * differences[:n]
        noise = np.inf
        for terms in range(min(5, n - 6)):
            columns = h[:, None] ** (1 + power * np.arange(terms + 1))
            inverse = np.linalg.pinv(columns)
            found = inverse @ rows
            rest = rows - columns @ found
            error = noise * np.linalg.norm(inverse[0]) / steps[n - 1]
            if error < best[1]:
                best = (found[0] / steps[n - 1], error)
            half = rest[n // 2:]
            noise = np.sqrt(max(rest @ rest / (n - terms - 1), half @ half / len(half)))
    return best


def extrapolate(case, which, central):
    """Derivative from fits to further differences around the step at which those of the sweep agree best, and its doubt."""
    apart = abs(np.diff(central))
    centre = STEPS[1:-1][np.maximum(apart[:-1], apart[1:]).argmin()]
    more = centre * np.geomspace(0.3, 10, FIT_COUNT)
    steps, differences = np.append(STEPS, more), np.append(central, case.differences(which, more))
    order = steps.argsort()
    fits = [fit_of(steps[order], differences[order], power) for power in (2, 1)]
    slope, error = min(fits, key=lambda fit: fit[1])
    return slope, max(2 * error, abs(fits[0][0] - fits[1][0]) / 2)


class Direction:
    """One direction of a case: adjoint, sweep, fit, error, verdict."""

    def __init__(self, case, which, slope, size, start):
        ends = np.array([[case.number(case.run(which, side * h)) for h in STEPS] for side in (1, -1)])
        middle = case.number(start)
        self.which, self.slope, self.fit, self.resolution = which, slope, None, 0
        self.central = (ends[0] - ends[1]) / (2 * STEPS)
        self.scale = max(abs(slope), np.median(abs(self.central)), 0.1 * size, 1e-2)
        errors = abs(self.central - slope) / self.scale
        self.error = np.maximum(errors[:-1], errors[1:]).min()
        self.verdict = "right"
        if self.error > VERDICT:
            self.judge(case, (ends - middle) / (STEPS * [[1], [-1]]))

    def judge(self, case, sides):
        """Fits further differences and sets the verdict. sides: one-sided differences, right then left."""
        rounding = np.std([case.adjoint(which=self.which, h=h)[0][self.which][0] for h in MOVES], ddof=1)
        self.fit, doubt = extrapolate(case, self.which, self.central)
        self.resolution = (doubt + 5 * rounding) / self.scale
        away = abs(self.fit - self.slope) / self.scale
        self.error = min(self.error, away + self.resolution)
        sides = sides[:, (STEPS < 2e-5) & (STEPS > 5e-8)]
        if away <= VERDICT + self.resolution:
            self.verdict = "right" if self.resolution <= REPORT else "unresolved"
        elif abs(sides[0] - sides[1]).min() > self.error * self.scale and abs(sides - self.slope).min() < self.error * self.scale / 3:
            self.verdict = "kink"
        else:
            self.verdict = "wrong"

    def line(self):
        fit = "" if self.fit is None else ", fit %.8g (resolution %.1e)" % (self.fit, self.resolution)
        return "%s: adjoint %.8g, error %.1e, %s%s, differences %s" % (self.which, self.slope, self.error, self.verdict, fit,
                                                                      " ".join("%.8g" % d for d in self.central))


def examine(case):
    slopes, start = case.adjoint()
    return [Direction(case, which, *slopes[which], start) for which in ("q", "v")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int, nargs="?", help="one past the last seed; without it the first alone")
    parser.add_argument("--only", choices=sorted(KINDS), help="scenes of free bodies, or of joints")
    parser.add_argument("--scene", action="store_true", help="print the scene of the seed and stop")
    parser.add_argument("--minutes", type=float, default=np.inf, help="stop after this processor time")
    parser.add_argument("--csv")
    options = parser.parse_args()
    single = options.last is None
    rows, seeds, refused = [], 0, 0
    for seed in range(options.first, options.last or options.first + 1):
        if time.process_time() > 60 * options.minutes:
            break
        case = Case(seed)
        if options.scene:
            print(case.text, end="")
            return 0
        if options.only and case.what not in KINDS[options.only]:
            continue
        seeds += 1
        try:
            found = examine(case)
        except KeyboardInterrupt:
            seeds -= 1
            break
        except sdrs.Error as error:
            refused += 1
            print("seed %d: %s: %s" % (seed, case.label, str(error).splitlines()[0]), flush=True)
            continue
        for direction in found:
            rows.append([seed, direction.which, case.label, "%.9g" % direction.slope, "%.2g" % direction.error, direction.verdict])
            if single or direction.error > REPORT:
                print("seed %d: %s: %s" % (seed, case.label, direction.line()), flush=True)
    errors = np.array([float(row[4]) for row in rows])
    print("%d seeds (%d refused), %d directions, median error %.1e" % (seeds, refused, len(rows), np.median(errors) if rows else 0))
    for bound in (1e-3, 1e-4, 1e-5):
        verdicts = [row[5] for row, error in zip(rows, errors) if error > bound]
        counts = ", ".join("%d %s" % (verdicts.count(v), v) for v in ("wrong", "kink", "unresolved", "right"))
        print("above %.0e: %d (%s)" % (bound, len(verdicts), counts))
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["seed", "direction", "scene", "adjoint", "error", "verdict"])
            writer.writerows(rows)
    return int(any(row[5] == "wrong" and error > REPORT for row, error in zip(rows, errors)))


if __name__ == "__main__":
    sys.exit(main())
