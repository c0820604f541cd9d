"""Mechanisms for strangers.py, each compared with a closed form or a second method."""
import csv
import math
import os


def column(folder, table, name):
    with open(os.path.join(folder, table + ".csv"), encoding="ascii") as file:
        return [float(row[name]) for row in csv.DictReader(file)]


def largest(values):
    return max(abs(v) for v in values)


def planetary(run_class, folder, between):
    """Sun 20, ring 70 teeth. Held: the sun has 0.002 + 0.04 a^2 kg m^2 (a = 2/9) and 0.8 - a N m. Let go with 0.2 N m: the ring goes
    too, backwards; Lagrange's equations with both angles, whose right sides are constants."""
    a, b = 2 / 9, 7 / 9
    told = []
    for brake in (5, 0.2):
        run = run_class(folder, "planetary", variables__brake=brake)
        sun, ring, carrier = (column(folder, "joints", f"{name}/angle") for name in ("sun", "ring", "carrier"))
        m = (0.002 + a * a * 0.04, a * b * 0.04, 0.03 + b * b * 0.04)
        push = (0.8 - a, -b + brake)  # friction holds against going backwards
        if brake == 5:
            form = (push[0] / m[0], 0.0)
        else:
            det = m[0] * m[2] - m[1] * m[1]
            form = ((push[0] * m[2] - push[1] * m[1]) / det, (push[1] * m[0] - push[0] * m[1]) / det)
            assert form[1] < 0
        far = largest(s - form[0] * t * t / 2 for s, t in zip(sun, run.time)), largest(r - form[1] * t * t / 2 for r, t in zip(ring, run.time))
        told.append(between(far[0] / abs(sun[-1]), 0, 1e-4, "sun off") + ", " + between(far[1], 0, 1e-4 * abs(sun[-1]), "ring off"))
        told.append(between(largest(c - a * s - b * r for c, s, r in zip(carrier, sun, ring)), 0, 1e-12, "carrier off"))
    return "; ".join(told)


def scotch_yoke(run_class, folder, between):
    """x = 0.1 cos 6 t exactly; the crank bears the block, which goes round, and what the yoke asks for by virtual work."""
    run = run_class(folder, "scotch-yoke")
    w, r = 6.0, 0.1
    way = [r * math.cos(w * t) - 0.1 for t in run.time]
    off = largest(x - y for x, y in zip(run.trajectory["yoke/px"], [0.1 + y for y in way]))
    drive = column(folder, "forces", "crank/angle/drive")
    worst = 0
    for t, torque in list(zip(run.time[1:], drive))[3:]:
        x, v, acceleration = r * math.cos(w * t) - 0.1, -r * w * math.sin(w * t), -r * w * w * math.cos(w * t)
        yoke = 3 * acceleration + 50 * (x + 0.1) + 4 * v - 40  # what it takes along x
        form = -r * math.sin(w * t) * yoke + r * math.cos(w * t) * 0.2 * 9.81
        worst = max(worst, abs(torque - form))
    return between(off, 0, 1e-9, "yoke off") + ", " + between(worst, 0, 2e-2, "torque off, of 6 N m")


def hoist(run_class, folder, between):
    """I q'' = u(t - d) - m g r by Simpson's rule, with Hermite's cubic between the steps of the past. A controller measures at the start
    of its step: of first order in dt, and of second order when two steps are extrapolated."""
    inertia, delay, h = 0.05 + 20 * 0.01, 0.0373, 1e-4
    past = [(0.0, 0.0, 0.0)]  # q, q', q'' at k h

    def late(t):
        if t <= 0:
            return 0.0, 0.0
        k = min(int(t / h), len(past) - 2)
        s, (p, u, a), (q, v, b) = t / h - k, past[k], past[k + 1]
        blend = ((1 + 2 * s) * (1 - s)**2, s * (1 - s)**2 * h, s * s * (3 - 2 * s), s * s * (s - 1) * h)
        return (blend[0] * p + blend[1] * u + blend[2] * q + blend[3] * v, blend[0] * u + blend[1] * a + blend[2] * v + blend[3] * b)

    def push(t):
        q, v = late(t - delay)
        return (19.62 + 100 - 20 * q - 4 * v - 20 * 9.81 * 0.1) / inertia

    past[0] = (0.0, 0.0, push(0))
    for k in range(20000):
        t, (q, v, a) = k * h, past[k]
        b, c = push(t + h / 2), push(t + h)  # the force does not hang on the present: Simpson's rule
        past.append((q + h * v + h * h * (a + 2 * b) / 6, v + h * (a + 4 * b + c) / 6, c))
    angles = []
    for dt, every in ((4e-4, 25), (2e-4, 50)):
        run = run_class(folder, "hoist", simulation__dt=dt, simulation__record_every=every)
        angles.append(column(folder, "joints", "drum/angle"))
    form = [past[round(t / h)][0] for t in run.time]
    off = [largest(a - f for a, f in zip(angle, form)) for angle in angles]
    extrapolated = largest(2 * b - a - f for a, b, f in zip(*angles, form))
    lift = largest(z - 0.1 * a for z, a in zip(run.trajectory["hook/pz"], angles[1]))
    told = between(off[0] / off[1], 1.9, 2.1, f"drum off by {off[1]:.2g} of 5 rad, times twice the step") + ", "
    return told + between(extrapolated, 0, 1e-3, "extrapolated") + ", " + between(lift, 0, 1e-12, "hook off the rope")


def conveyor_gripper(run_class, folder, between):
    """The box slides until it goes with the belt, 0.5 - 0.3 g t; each finger presses with half of the motor's 24 N; it is lifted by 0.1 m."""
    run = run_class(folder, "conveyor-gripper")
    way, time = run.trajectory["box/py"], run.time
    k = min(range(len(time)), key=lambda i: abs(time[i] - 0.1))
    speed = (way[k + 1] - way[k - 1]) / (time[k + 1] - time[k - 1])
    told = between(speed, 0.3 * 9.81 * 0.1 - 0.01, 0.3 * 9.81 * 0.1 + 0.01, "speed at 0.1 s")
    stop = 0.5 / (0.3 * 9.81)
    k = min(range(len(time)), key=lambda i: abs(time[i] - 0.35))
    behind = 0.5 * time[k] - way[k]
    told += ", " + between(behind, 0.985 * 0.25 * stop, 1.03 * 0.25 * stop, "behind the belt")
    with open(os.path.join(folder, "contacts.csv"), encoding="ascii") as file:
        rows = [row for row in csv.DictReader(file) if abs(float(row["time"]) - 0.9) < 1e-6 and "box" in (row["a"], row["b"])]
    press = [abs(float(row["fx"])) for row in rows if {"left", "right"} & {row["a"], row["b"]}]
    assert len(press) == 2, rows
    told += ", " + between(min(press), 11.9, 12.1, "a finger presses") + ", " + between(max(press), 11.9, 12.1, "the other")
    lifted = run.at("box", "pz") - run.trajectory["box/pz"][min(range(len(time)), key=lambda i: abs(time[i] - 0.99))]
    return told + ", " + between(lifted, 0.098, 0.1005, "lifted")


def feeder(run_class, folder, between):
    """Coulomb's law on a tray that goes as given: x'' = mu g sign(tray' - x'), by steps of 1e-5 s, with sticking."""
    run = run_class(folder, "feeder")
    mu, h, x, v = 0.25 * 9.81, 1e-5, 0.0, 0.0
    table = [(0.01, 5.0), (0.0025, 10.0)]
    speed = lambda t: sum(a * 2 * math.pi * f * math.cos(2 * math.pi * f * t) for a, f in table)
    form = [0.0]
    for k in range(100000):
        goal = speed((k + 1) * h)
        before = v
        v = goal if abs(goal - v) <= mu * h else v + math.copysign(mu * h, goal - v)
        x += h * (before + v) / 2
        if (k + 1) % 500 == 0:
            form.append(x)
    off = largest(a - b for a, b in zip(run.trajectory["box/px"], form))
    tray = largest(p - sum(a * math.sin(2 * math.pi * f * t) for a, f in table) for p, t in zip(run.trajectory["tray/px"], run.time))
    return between(tray, 0, 1e-12, "tray off") + ", " + between(off, 0, 1e-3, f"box off, of {largest(form):.3g} m")


def shaker(run_class, folder, between):
    """Six legs of fixed length: the plate goes as the base does, and the legs bear its weight and what moves it."""
    run = run_class(folder, "shaker")
    off = max(largest(run.trajectory[f"plate/{c}"][k] - run.trajectory[f"base/{c}"][k] - way for k in range(len(run.time)))
              for c, way in (("px", 0), ("py", 0), ("pz", 0.6)))
    with open(os.path.join(folder, "closures.csv"), encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    worst = 0
    for row in rows[8:]:
        t = float(row["time"])
        form = (-12 * 0.01 * (14 * math.pi)**2 * math.sin(14 * math.pi * t), 0, 12 * (9.81 - 0.02 * (10 * math.pi)**2 * math.cos(10 * math.pi * t)))
        force = [sum(float(row[key]) for key in row if key.endswith("/" + c)) for c in ("fx", "fy", "fz")]
        worst = max(worst, largest(f - g for f, g in zip(force, form)))
    return between(off, 0, 1e-7, "plate off") + ", " + between(worst, 0, 1, "legs' force off, of 350 N")


MACHINES = {"planetary": planetary, "scotch-yoke": scotch_yoke, "hoist": hoist, "conveyor-gripper": conveyor_gripper,
            "feeder": feeder, "shaker": shaker}
