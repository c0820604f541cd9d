"""More mechanisms for strangers.py: a governor, a balance, a trebuchet, each compared with its own equation of motion."""
import csv
import math
import os

from machines import column, largest

GRAVITY = 9.81


def rows_of(folder, table):
    with open(os.path.join(folder, table + ".csv"), encoding="ascii") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def runge_kutta(rate, state, step, count):
    """States at 0, step, 2 step ...; rate(state) -> list."""
    states = [state]
    for _ in range(count):
        a = rate(state)
        b = rate([x + step / 2 * d for x, d in zip(state, a)])
        c = rate([x + step / 2 * d for x, d in zip(state, b)])
        d = rate([x + step * d for x, d in zip(state, c)])
        state = [x + step / 6 * (p + 2 * q + 2 * r + s) for x, p, q, r, s in zip(state, a, b, c, d)]
        states.append(state)
    return states


def solved(matrix, right):
    """Gauss with pivots; small."""
    n, a = len(right), [list(row) + [value] for row, value in zip(matrix, right)]
    for k in range(n):
        p = max(range(k, n), key=lambda i, k=k: abs(a[i][k]))
        a[k], a[p] = a[p], a[k]
        for i in range(k + 1, n):
            factor = a[i][k] / a[k][k]
            a[i] = [x - factor * y for x, y in zip(a[i], a[k])]
    x = [0.0] * n
    for k in reversed(range(n)):
        x[k] = (a[k][n] - sum(a[k][j] * x[j] for j in range(k + 1, n))) / a[k][k]
    return x


# ---------------------------------------------------------------- a governor


class Governor:
    """One angle: both arms lean by it from the vertical, the lower rods back by it. Pivots 0.02 m off the axis, arms and rods of 0.2 m."""

    ball, rod, sleeve, arm, pivot = 0.5, 0.1, 0.8, 0.2, 0.02
    cube, across = 0.5 * 0.06**2 / 6, 0.1 * (0.2**2 + 0.02**2) / 12

    def inertia(self, lean):
        """Along the angle; and its slope."""
        s, c, way = math.sin(lean), math.cos(lean), self.arm**2
        value = 2 * (self.ball * way + self.cube + self.rod * way * (c * c / 4 + 9 * s * s / 4) + self.across) + 4 * self.sleeve * way * s * s
        return value, 2 * self.rod * way * 4 * s * c + 8 * self.sleeve * way * s * c

    def torque(self, lean, speed):
        """Of weights and of what goes round, along the angle."""
        s, c, l = math.sin(lean), math.cos(lean), self.arm
        weight = -GRAVITY * l * s * (2 * self.ball + 3 * self.rod + 2 * self.sleeve)
        ball, rod = self.pivot + l * s, self.pivot + l / 2 * s
        round_it = 2 * self.ball * ball * l * c + 2 * self.rod * rod * l / 2 * c + 2 * self.rod / 12 * (l * l - 0.02**2) * s * c
        return weight + speed * speed * round_it

    def rate(self, state, speed):
        value, slope = self.inertia(state[0])
        return [state[1], (self.torque(state[0], speed) - 0.5 * slope * state[1]**2) / value]

    def settled(self, speed):
        low, high = 0.1, 1.5
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if self.torque(middle, speed) > 0 else (low, middle)
        return low


def governor(run_class, folder, between):
    """Swings as its equation of motion says, of second order; with damping it ends where centrifugal forces carry the weights, and needs no torque."""
    machine, told, off = Governor(), [], []
    form = runge_kutta(lambda state: machine.rate(state, 12.0), [0.7, 0.0], 5e-4, 2000)
    for dt in (2e-3, 5e-4):
        run = run_class(folder, "governor", simulation__dt=dt)
        lean = column(folder, "joints", "right/angle")
        off.append(largest(a - form[round(t / 5e-4)][0] for a, t in zip(lean, run.time)))
        told.append(between(largest(a - b for a, b in zip(lean, column(folder, "joints", "left/angle"))), 0, 1e-9, "sides apart"))
        sleeve = column(folder, "joints", "sleeve/position")
        told.append(between(largest(z - 0.4 + 0.4 * math.cos(a) for z, a in zip(sleeve, lean)), 0, 1e-8, "sleeve off"))
    told.append(between(off[1], 0, 1e-4, "lean off") + ", " + between(off[0] / off[1], 14, 18, "by a quarter of dt falls by"))
    settled = []
    for dt in (2e-3, 5e-4):
        run = run_class(folder, "governor", variables__damping=0.3, simulation__duration=5, simulation__dt=dt)
        settled.append(abs(column(folder, "joints", "right/angle")[-1] - machine.settled(12.0)))
    told.append(between(settled[1], 0, 4e-5, "settled off") + ", " + between(settled[0] / settled[1], 15, 17, "by a quarter of dt falls by"))
    told.append(between(abs(column(folder, "forces", "spindle/angle/drive")[-1]), 0, 1e-5, "torque of the spindle"))
    return ", ".join(told)


# ---------------------------------------------------------------- a balance


def roberval(run_class, folder, between):
    """Level and alike it rests, and its beams bear m g d / h along them; unlike it turns as if the loads hung at the pins, wherever they lie."""
    told = []
    run = run_class(folder, "roberval")
    told.append(between(largest(column(folder, "joints", "upper/angle")), 0, 1e-9, "turns at rest by"))
    last = rows_of(folder, "closures")[-1]
    arm = {"post": 2 * 0.2, "pillar": 2 * 0.05}
    for post, moment in arm.items():
        told.append(between(abs(abs(last[f"lower-{post}/fx"]) - moment * GRAVITY / 0.2), 0, 1e-6, f"beam at the {post} off [N]"))
    beam, ends = 0.4 * (0.6**2 + 0.02**2) / 12, 2 * 0.3 + 2 + 2.5
    inertia = 2 * beam + ends * 0.3**2
    form = runge_kutta(lambda s: [s[1], -0.5 * GRAVITY * 0.3 * math.cos(s[0]) / inertia], [0.2, 0.0], 5e-4, 800)
    angles = []
    for far, near in ((0.0, 0.0), (0.3, 0.05), (-0.1, 0.4)):
        run = run_class(folder, "roberval", variables__right=2.5, variables__lean=0.2, variables__far=far, variables__near=near)
        angles.append(column(folder, "joints", "upper/angle"))
    told.append(between(largest(a - form[round(t / 5e-4)][0] for a, t in zip(angles[0], run.time)), 0, 2e-6, "angle off"))
    told.append(between(max(largest(a - b for a, b in zip(angles[0], other)) for other in angles[1:]), 0, 1e-8, "where loads lie matters by"))
    return ", ".join(told)


# ---------------------------------------------------------------- a trebuchet


class Trebuchet:
    """Angles of beam, counterweight and sling in the plane, from the x axis towards z."""

    def masses(self):
        """Mass, own inertia, and the arms that lead there: (length, which angle)."""
        return ((2, 2 * (1.6**2 + 0.04**2) / 12, ((0.4, 0),), 0), (40, 40 * 0.2**2 / 6, ((-0.4, 0), (0.3, 1)), 1), (1, 0, ((1.2, 0), (0.8, 2)), 2))

    def rate(self, state):
        angle, speed = state[:3], state[3:]
        matrix, right = [[0.0] * 3 for _ in range(3)], [0.0] * 3
        for mass, inertia, arms, own in self.masses():
            matrix[own][own] += inertia
            for p, i in arms:
                right[i] -= mass * GRAVITY * p * math.cos(angle[i])
                for q, j in arms:
                    matrix[i][j] += mass * p * q * math.cos(angle[i] - angle[j])
                    right[i] -= mass * p * q * math.sin(angle[i] - angle[j]) * speed[j]**2
        return speed + solved(matrix, right)

    def stone(self, state):
        """Place, velocity and the pull of the sling on it."""
        (a, _, c), (u, _, w) = state[:3], state[3:]
        bend = self.rate(state)[3:]
        place = (1.2 * math.cos(a) + 0.8 * math.cos(c), 2 + 1.2 * math.sin(a) + 0.8 * math.sin(c))
        velocity = (-1.2 * u * math.sin(a) - 0.8 * w * math.sin(c), 1.2 * u * math.cos(a) + 0.8 * w * math.cos(c))
        pull = (-1.2 * (bend[0] * math.sin(a) + u * u * math.cos(a)) - 0.8 * (bend[2] * math.sin(c) + w * w * math.cos(c)),
                1.2 * (bend[0] * math.cos(a) - u * u * math.sin(a)) + 0.8 * (bend[2] * math.cos(c) - w * w * math.sin(c)) + GRAVITY)
        return place, velocity, math.hypot(*pull)


def trebuchet(run_class, folder, between):
    """Swings as Lagrange's equations of its three angles say until the sling pulls with 150 N, which tears it, in the step that ends within two
    steps of that; its force is gone half a step later (closures.md, Z5), and the stone flies off from there."""
    machine, fine = Trebuchet(), 2.5e-5
    form = runge_kutta(machine.rate, [-0.6, -math.pi / 2, math.pi, 0.0, 0.0, 0.0], fine, 48000)
    torn = next(k for k, state in enumerate(form) if machine.stone(state)[2] > 150)
    told, off, lands = [between(torn * fine, 0.1, 1.1, "torn at")], [], []
    for dt in (1e-3, 2.5e-4):
        run = run_class(folder, "trebuchet", simulation__dt=dt)
        beam = column(folder, "joints", "beam/angle")
        before = [k for k, t in enumerate(run.time) if t < torn * fine - dt]
        off.append(largest(beam[k] - form[round(run.time[k] / fine)][0] for k in before))
        pulls = [(row["time"], math.hypot(row["stone-beam/fx"], row["stone-beam/fz"])) for row in rows_of(folder, "closures")]
        gone = next(t for t, pull in pulls if pull == 0)
        told.append(between((gone - torn * fine) / dt, 0, 2, "torn late by so many steps"))
        place, velocity, _ = machine.stone(form[round((gone + dt / 2) / fine)])
        after = run.time[-1] - gone - dt / 2
        lands.append(math.hypot(run.at("stone", "px") - place[0] - velocity[0] * after,
                                run.at("stone", "pz") - place[1] - velocity[1] * after + GRAVITY / 2 * after * after))
    told.append(between(off[1], 0, 1e-4, "beam off") + ", " + between(off[0] / off[1], 12, 20, "by a quarter of dt falls by"))
    told.append(between(lands[1], 0, 1e-3, f"stone off, at {math.hypot(*velocity):.3g} m/s [m]") + ", " + between(lands[0] / lands[1], 10, 22, "by a quarter of dt falls by"))
    return ", ".join(told)


MORE = {"governor": governor, "roberval": roberval, "trebuchet": trebuchet}
