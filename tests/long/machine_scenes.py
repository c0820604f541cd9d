"""Cases of tests/long/test_machine_scenes.sh: machine_scenes.py SDRS [CASE...]. Checks the statements in the headers of the repository's
mechanism scenes against closed forms, and against equations of motion that are integrated here."""
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile

from cases import run_cases

SDRS, G = os.path.abspath(sys.argv[1]), 9.81


# ---------------------------------------------------------------- runs


class Run:
    """scenes/NAME.yaml to its end, with settings; tables as columns."""

    def __init__(self, scene, *outputs, path=None, **settings):
        self.out = os.path.join(tempfile.mkdtemp(dir=WORK), "out")
        self.tables = {}
        words = {key.replace("__", "."): value for key, value in settings.items()}
        if outputs:
            words["simulation.output"] = "[" + ",".join(outputs) + "]"
        options = [word for key, value in words.items() for word in ("--set", f"{key}={value}")]
        done = subprocess.run([SDRS, "simulate", path or f"scenes/{scene}.yaml", "-q", "-o", self.out, *options], capture_output=True, text=True)
        assert done.returncode == 0, f"exit {done.returncode}: {done.stderr.strip()}"
        self.time = self["trajectory", "time"]

    def table(self, name):
        if name not in self.tables:
            with open(os.path.join(self.out, name + ".csv"), encoding="ascii") as file:
                self.tables[name] = list(csv.DictReader(file))
        return self.tables[name]

    def __getitem__(self, name):
        return [float(row[name[1]]) for row in self.table(name[0])]

    def at(self, table, column, time):
        return self[table, column][min(range(len(self.time)), key=lambda k: abs(self.time[k] - time))]

    def off(self, table, column, form):
        """The largest difference from a function of time."""
        return max(abs(x - form(t)) for t, x in zip(self.time, self[table, column]))

    def point(self, link, local):
        """Where a point of the link is, row by row [m]."""
        found = []
        for p, q in zip(zip(*(self["trajectory", f"{link}/p{c}"] for c in "xyz")), zip(*(self["trajectory", f"{link}/q{c}"] for c in "wxyz"))):
            found.append(tuple(a + b for a, b in zip(p, turned(q, local))))
        return found

    def gaps(self):
        """The largest gap [m] and angle [rad] of all closures over the run."""
        names = self.table("closures")[0].keys()
        return [max(max(abs(v) for v in self["closures", name]) for name in names if name.endswith(end)) for end in ("/gap", "/angle")]


def turned(q, v):
    w, u = q[0], q[1:]
    t = [2 * x for x in cross(u, v)]
    return [a + w * b + c for a, b, c in zip(v, t, cross(u, t))]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def within(value, bound, what):
    assert abs(value) <= bound, f"{what}: off by {value:.3g}, more than {bound:.3g}"
    return f"{what} {abs(value):.1e}"


def between(value, low, high, what):
    assert low <= value <= high, f"{what}: {value:.6g}, not between {low:.6g} and {high:.6g}"
    return f"{what} {value:.4g}"


def gradients(scene, steps, *options, bound=1e-6, allow=()):
    """Every block of the scene over its first steps; those that differences cannot resolve have to be named."""
    done = subprocess.run([SDRS, "gradcheck", scene, "--steps", str(steps), "--bound", str(bound), "--json", "-q", *options], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    blocks = json.loads(done.stdout)[0]["blocks"]
    for name, block in blocks.items():
        assert name in allow or (block["passed"] and block["checked"]), f"gradcheck, {name}: {block}"
    checked = [block["relative_error"] for name, block in blocks.items() if name not in allow]
    return f"gradcheck of {len(checked)} blocks {max(checked):.1e}" + (f" (not of {', '.join(allow)})" if allow else "")


def integrate(acceleration, q, v, h, steps, every):
    """Runge and Kutta's fourth order; acceleration(t, q, v) of tuples. Every so many steps (q, v)."""
    found, y, n = [(q, v)], list(q) + list(v), len(q)

    def rate(t, y):
        return y[n:] + list(acceleration(t, y[:n], y[n:]))
    for k in range(steps):
        t = k * h
        a = rate(t, y)
        b = rate(t + h / 2, [x + h / 2 * d for x, d in zip(y, a)])
        c = rate(t + h / 2, [x + h / 2 * d for x, d in zip(y, b)])
        d = rate(t + h, [x + h * e for x, e in zip(y, c)])
        y = [x + h / 6 * (e + 2 * f + 2 * g + i) for x, e, f, g, i in zip(y, a, b, c, d)]
        if (k + 1) % every == 0:
            found.append((tuple(y[:n]), tuple(y[n:])))
    return found


# ---------------------------------------------------------------- planar loops of one degree of freedom


class Mechanism:
    """Bodies in a plane whose places follow from one angle: M(a) a'' + M'(a)/2 a'^2 + V'(a) = drive(a, a'), with M and V from the bodies'
    places by central differences. bodies(a): of each (mass, inertia, x, z, angle)."""

    def __init__(self, bodies, drive=lambda a, w: 0.0, pushed=lambda a: 0.0):
        self.bodies, self.drive, self.pushed, self.d = bodies, drive, pushed, 1e-4

    def inertia(self, a):
        """M: of central differences of the fourth order."""
        d, total = self.d, 0.0
        near = [self.bodies(a + k * d) for k in (-2, -1, 1, 2)]
        for parts in zip(*near):
            speeds = [(p - 8 * q + 8 * r - s) / (12 * d) for p, q, r, s in zip(*(part[2:] for part in parts))]
            total += parts[0][0] * (speeds[0]**2 + speeds[1]**2) + parts[0][1] * speeds[2]**2
        return total

    def potential(self, a):
        return sum(body[0] * G * body[3] for body in self.bodies(a)) + self.pushed(a)

    def slope(self, f, a):
        d = 10 * self.d
        return (f(a - 2 * d) - 8 * f(a - d) + 8 * f(a + d) - f(a + 2 * d)) / (12 * d)

    def acceleration(self, _, q, v):
        a, w = q[0], v[0]
        return ((self.drive(a, w) - self.slope(self.potential, a) - 0.5 * self.slope(self.inertia, a) * w * w) / self.inertia(a),)

    def angles(self, a, h, steps, every):
        return [q[0] for q, _ in integrate(self.acceleration, (a,), (0.0,), h, steps, every)]


def bar(mass, length, start, angle):
    """A slender box of 0.02 m, its end at start: as Mechanism.bodies has it."""
    return (mass, mass * (length**2 + 0.02**2) / 12, start[0] + length / 2 * math.cos(angle), start[1] + length / 2 * math.sin(angle), angle)


def four_bar_pins(a, link=(0.1, 0.35, 0.3), far=(0.4, 1.0)):
    """Crank's pin and the rocker's, where the circles meet."""
    crank = (link[0] * math.cos(a), 1 + link[0] * math.sin(a))
    way = (far[0] - crank[0], far[1] - crank[1])
    across = math.hypot(*way)
    bend = math.atan2(way[1], way[0]) + math.acos((link[1]**2 + across**2 - link[2]**2) / (2 * link[1] * across))
    return crank, (crank[0] + link[1] * math.cos(bend), crank[1] + link[1] * math.sin(bend)), bend


def energy_lost(run):
    """Of the largest kinetic energy, over the whole run."""
    total = run["solver", "total"]
    return abs(total[-1] - total[0]) / max(run["solver", "kinetic"])


ORDERS = {"first_order": 1, "second_order": 2, "momentum": 2}


def falls(values, order, what):
    """By a quarter of dt: 4 to the order, and more where the next order tells."""
    return between(values[0] / values[1], 0.75 * 4**order, 3 * 4**order, f"{what} {values[0]:.1e}, by a quarter of dt falls by")


def four_bar():
    """Pins where the circles meet, whatever the integrator; the crank by Lagrange's equation; energy by the order of each."""
    def bodies(a):
        crank, pin, bend = four_bar_pins(a)
        return (bar(0.2, 0.1, (0, 1), a), bar(0.7, 0.35, crank, bend), bar(0.6, 0.3, (0.4, 1), math.atan2(pin[1] - 1, pin[0] - 0.4)))
    told, form = [], Mechanism(bodies).angles(math.pi / 2, 1e-3, 500, 100)
    for integrator, order in ORDERS.items():
        worst, off, lost = 0, [], []
        for dt in (1e-3, 2.5e-4):
            run = Run("four-bar", simulation__integrator=integrator, simulation__dt=dt, simulation__tolerance=1e-9, simulation__duration=0.5)
            angle = run["joints", "crank/angle"]
            pins = [four_bar_pins(a)[1] for a in angle]
            for link, length in (("coupler", 0.35), ("rocker", 0.3)):
                worst = max(worst, max(math.dist((p[0], p[2]), pin) for p, pin in zip(run.point(link, (length, 0, 0)), pins)))
            off.append(max(abs(a - b) for a, b in zip(angle[::round(0.1 / dt)], form)))
            lost.append(energy_lost(run))
        told += [within(worst, 1e-8, f"{integrator}: pins [m]"), falls(off, order, "crank [rad]"), falls(lost, order, "energy [part]")]
    total = Run("four-bar")["solver", "total"]
    told.append(between(100 * (1 - total[-1] / total[0]), 0.055, 0.065, "as shipped it loses [%]"))
    loaded = Run("four-bar", "closures", loads=f"[{{link: coupler, force: [{100 * 1.5 * G}, 0, {-50 * 1.5 * G}], point: [0.2, 0, 0.05]}}]", simulation__duration=0.3)
    told.append(within(max(loaded.gaps()), 1e-6, "gap under 100 times the weight [m, rad]"))
    return told + [gradients("scenes/four-bar.yaml", 60)]


def slider_crank():
    """The piston by the cosine rule; the crank by Lagrange's equation with its motor and load."""
    def along(a):
        return 0.2 * math.cos(a) + math.sqrt(0.25 - (0.2 * math.sin(a))**2)

    def bodies(a):
        pin = (0.2 * math.cos(a), 0.2 * math.sin(a))
        return (bar(1, 0.2, (0, 0), a), bar(2, 0.5, pin, -math.asin(0.4 * math.sin(a))), (1, 0.0, along(a), 0.0, 0.0))
    machine = Mechanism(bodies, lambda a, w: 20 * (10 - w), lambda a: 20 * along(a))
    told, form = [], machine.angles(math.pi / 3, 5e-4, 2000, 200)
    for integrator, order in (("first_order", 1), ("second_order", 2)):
        worst, off = 0, []
        for dt in (2e-3, 5e-4):
            run = Run("slider-crank", simulation__integrator=integrator, simulation__dt=dt, simulation__tolerance=1e-9)
            angle = run["joints", "crank/angle"]
            worst = max(worst, max(abs(x - along(a)) for x, a in zip(run["trajectory", "piston/px"], angle)))
            off.append(max(abs(a - b) for a, b in zip(angle[::round(0.1 / dt)], form)))
        told += [within(worst, 1e-8, f"{integrator}: piston [m]"), falls(off, order, "crank [rad]")]
    loaded = Run("slider-crank", "closures", loads="[{link: piston, force: [-3924, 0, 0]}]")
    told += [within(max(loaded.gaps()), 1e-6, "gap under 100 times the weight [m, rad]"),
             within(max(abs(x - along(a)) for x, a in zip(loaded["trajectory", "piston/px"], loaded["joints", "crank/angle"])), 1e-8, "piston [m]")]
    return told + [gradients("scenes/slider-crank.yaml", 60, "--set", "controllers.crank.damping_gain=0.1", "--set", "loads.piston.force.0=-3924")]


def differential():
    """Two equations with constant coefficients: I l'' + J (l'' + r'') / 4 = torque, and 0 for the other side. The wheels are uniform
    prisms of 24 sides with a circumradius of 0.1 m."""
    square = 0.1**2 / 2 * (1 - 2 / 3 * math.sin(math.pi / 24)**2)  # squared radius of gyration [m^2]
    side, carrier = 0.5 * square, 1 * square + 2 * 0.1**2
    both, apart = 0.05 / (side + carrier / 2), 0.05 / side  # of the sum and of the difference of both sides
    left, right = (both + apart) / 2, (both - apart) / 2
    assert right < 0
    told, names = [], ("left/angle", "right/angle", "carrier/angle", "rack/position")
    for integrator, order in (("first_order", 1), ("second_order", 2), ("momentum", None)):  # momentum is exact for a constant torque
        far = []
        for dt in (5e-3, 1.25e-3):
            run = Run("differential", simulation__integrator=integrator, simulation__tolerance=1e-9, simulation__dt=dt)
            far.append(max(run.off("joints", "left/angle", lambda t: left * t * t / 2), run.off("joints", "right/angle", lambda t: right * t * t / 2)))
            rows = list(zip(*(run["joints", name] for name in names)))
            within(max(max(abs(c - (a + b) / 2), abs(r - 0.1 * c)) for a, b, c, r in rows), 1e-12, "couplings [rad, m]")
        what = f"{integrator}: both sides [rad]"
        told.append(falls(far, order, what) if order else within(max(far), 1e-9, what))
    loaded = Run("differential", loads="[{link: rack, force: [4170, 0, 0]}]")  # 100 times 4.25 kg
    rows = list(zip(*(loaded["joints", name] for name in names)))
    told.append(within(max(max(abs(c - (a + b) / 2), abs(r - 0.1 * c)) for a, b, c, r in rows), 1e-6, "couplings under 100 times the weight [rad, m]"))
    return told + [gradients("scenes/differential.yaml", 60)]


# ---------------------------------------------------------------- forces, drives, feedback


def push():
    """The bar that is pulled is a pendulum about its middle; the thruster's way is Fresnel's integral."""
    inertia = 2 * (1 + 0.04) / 12
    swing = integrate(lambda t, q, v: (-0.4 / inertia * math.sin(q[0]),), (1.5,), (0.0,), 1e-3, 3000, 3000)[-1][0][0]
    spin, steps = 0.4 / (2 * inertia), 30000
    way = [0.0, 0.0]
    for k in range(steps):  # Simpson's rule is not needed: the middle of 0.1 ms
        t = (k + 0.5) * 3 / steps
        way = [way[0] - (3 - t) * 0.5 * math.sin(spin * t * t) * 3 / steps, way[1] + (3 - t) * 0.5 * math.cos(spin * t * t) * 3 / steps]
    off = []
    for dt in (2e-3, 5e-4):
        run = Run("push", simulation__dt=dt, simulation__tolerance=1e-9)

        def turn(link):
            return 2 * math.atan2(run["trajectory", f"{link}/qz"][-1], run["trajectory", f"{link}/qw"][-1])
        off.append((max(abs(run["trajectory", "pulled/cx"][-1] - 2.25), abs(run["trajectory", "thruster/cx"][-1] - way[0]),
                        abs(run["trajectory", "thruster/cy"][-1] - 2 - way[1])),
                    abs(math.remainder(turn("pulled") - swing, 2 * math.pi)), abs(math.remainder(turn("thruster") - 9 * spin, 2 * math.pi))))
    told = [within(swing + 1.0940, 1e-4, "said of the pendulum [rad]"), within(math.dist(way, (-0.66589, 0.88203)), 1e-5, "said of the thruster [m]"),
            within(off[0][0], 2e-5, "places [m]")]
    return told + [falls([o[k] for o in off], 2, f"{name} [rad]") for k, name in ((1, "pendulum"), (2, "thruster"))] + [gradients("scenes/push.yaml", 150)]


def motor():
    """Four equations I q'' = torque; what a limit does is smooth over 0.01 of it."""
    def capped(u):
        return max(-3.0, min(3.0, u))
    gain = math.sqrt(20 * 0.3) * 2
    moves = {"stalls": (lambda t, q, v: ((capped(5 * (1 - v[0])) - 2 * v[0] - 4.905 * math.cos(q[0])) / 0.3,), -1.2),
             "runs": (lambda t, q, v: ((3 - 0.5 * v[0]) / 0.3,), 0.0),
             "reaches": (lambda t, q, v: (capped(20 * (1 - q[0]) - gain * v[0]) / 0.3,), 0.0),
             "strong": (lambda t, q, v: ((20 * (1 - q[0]) - gain * v[0]) / 0.3,), 0.0)}
    told, run = [], Run("motor", "forces")
    for name, (form, start) in moves.items():
        wanted = [q[0] for q, _ in integrate(form, (start,), (0.0,), 1e-4, 30000, 10)]
        told.append(within(max(abs(a - b) for a, b in zip(run["joints", f"{name}/angle"], wanted)), 2.5e-4 if name == "runs" else 1e-4, f"{name} [rad]"))
    told += [within(run["joints", "stalls/angle"][-1] + math.acos(3 / 4.905), 1e-4, "stalls at [rad]"), within(run["joints", "runs/angle"][-1] - 14.4243, 3e-4, "runs to [rad]"),
             within(run.at("joints", "strong/angle", 0.4) - 0.83721, 1e-4, "strong at 0.4 s [rad]"),
             within(run.at("joints", "reaches/angle", 0.4) - 0.65910, 1e-4, "reaches at 0.4 s [rad]"),
             between(max(abs(u) for u in run["forces", "stalls/angle/drive"]), 2.9, 3.0 + 1e-9, "never more than [N m]")]
    return told + [gradients("scenes/motor.yaml", 400, allow=("vertices",))]  # the masses are given


def springs():
    """One that swings, three that dry friction stops, holds and slows."""
    run = Run("springs")
    stop = 0.4
    told = [within(run.off("joints", "swings/position", lambda t: 0.1 + 0.3 * math.cos(math.sqrt(10) * t)), 2e-4, "swings [m]"),
            within(run.off("joints", "slides/position", lambda t: 0.2 if t > stop else t - 1.25 * t * t), 2e-4, "slides [m]"),
            within(run["joints", "holds/position"][-1] - 2 * 7.5e-5, 2e-5, "creeps [m]"), within(run.off("joints", "goes/position", lambda t: t * t / 2), 2e-4, "goes [m]")]
    return told + [gradients("scenes/springs.yaml", 100, allow=("vertices",))]


def balance():
    """From zero by its task; then ten seconds from 20 degrees and from fifty starts that the task has not seen, all along below 45 degrees."""
    out = os.path.join(WORK, "balance")
    done = subprocess.run([SDRS, "optimize", "scenes/tasks/balance.yaml", "-q", "-o", out], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(os.path.join(out, "design.csv"), encoding="ascii") as file:
        gains = [float(row["best"]) for row in csv.DictReader(file)]
    told, draw, starts = [f"gains {', '.join(f'{g:.3g}' for g in gains)}"], random.Random(13), [(0.0, 0.0, math.radians(20), 0.0)]
    starts += [(draw.uniform(-0.3, 0.3), draw.uniform(-0.5, 0.5), math.radians(draw.uniform(-20, 20)), draw.uniform(-0.5, 0.5)) for _ in range(50)]
    farthest = left = 0
    for x, v, angle, rate in starts:
        start = f"[{{link: cart, coordinates: [{x}], velocities: [{v}]}}, {{link: pole, coordinates: [{angle}], velocities: [{rate}]}}]"
        run = Run("balance", path=os.path.join(out, "best.scene.yaml"), initial=start, simulation__duration=10)
        farthest = max(farthest, max(abs(a) for a in run["joints", "pole/angle"]))
        left = max(left, abs(run["joints", "pole/angle"][-1]), abs(run["joints", "cart/position"][-1]))
    told += [within(farthest, math.pi / 4, "51 starts: the pole leans [rad]"), within(left, 1e-2, "what is left of it after 10 s [rad, m]")]

    def closed(t, q, v, gains=(79.5, 21.6, 200, 22.1)):
        (x, a), (u, w) = q, v  # of a pole of 0.2 kg: its middle is 0.5 m up, about it 0.2 (1 + 0.0016) / 12
        force = gains[0] * x + gains[1] * u + gains[2] * a + gains[3] * w
        inertia, m = 0.2 * (1 + 0.04**2) / 12 + 0.2 * 0.25, 0.2 * 0.5
        right = (force + m * w * w * math.sin(a), m * G * math.sin(a) - 0.002 * w)
        det = 1.2 * inertia - (m * math.cos(a))**2
        return ((inertia * right[0] - m * math.cos(a) * right[1]) / det, (1.2 * right[1] - m * math.cos(a) * right[0]) / det)
    off, form = [], [q for q, _ in integrate(closed, (0.0, math.radians(20)), (0.0, 0.0), 1e-3, 2000, 100)]
    for dt in (1e-3, 2.5e-4):
        run = Run("balance", simulation__dt=dt, simulation__duration=2)
        every = round(0.1 / dt)
        off.append(max(abs(a - b) for k, name in enumerate(("cart/position", "pole/angle")) for a, b in zip(run["joints", name][::every], [q[k] for q in form])))
    run = Run("balance")
    return told + [falls(off, 1, "against its equations [m, rad]"), between(max(abs(x) for x in run["joints", "cart/position"]), 0.54, 0.56, "the cart goes [m]"),
                   within(max(abs(run["joints", "cart/position"][-1]), abs(run["joints", "pole/angle"][-1])), 1e-3, "after 10 s [m, rad]"),
                   gradients("scenes/balance.yaml", 60)]


# ---------------------------------------------------------------- feet, belts, legs


def foot():
    """Rubber stays, wet rubber and steel slide with g (sin - mu cos)."""
    runs, told = [Run("foot", simulation__dt=dt) for dt in (1e-3, 2.5e-4)], []
    for name, mu in (("wet", math.sqrt(0.1)), ("steel", 0.25)):
        form = (math.sin(math.radians(35)) - mu * math.cos(math.radians(35))) * G / 2 * 0.25
        off = [-run["trajectory", f"{name}/cx"][-1] - form for run in runs]
        told += [within(off[0], 2.5e-3, f"{name}: {form:.3f} m"), falls(off, 1, "which [m]")]
    creeps = Run("foot", simulation__duration=1)
    told.append(within(creeps["trajectory", "rubber/cx"][-1], 1e-3, "rubber creeps in 1 s [m]"))
    return told + [gradients("scenes/foot.yaml", 50)]


def belt():
    """Each box slips for v / (mu g), then it goes with the belt."""
    told = []
    for dt in (2e-3, 5e-4):
        run = Run("belt", simulation__dt=dt)
        for name, mu in (("cardboard", 0.3), ("rubber", 0.9), ("ice", 0.02)):
            slips = min(0.8 / (mu * G), 0.6)
            form = mu * G * slips**2 / 2 + 0.8 * (0.6 - slips)
            told.append(within(run["trajectory", f"{name}/cx"][-1] + 0.3 - form, 2e-3 if dt == 2e-3 else 1e-3, f"{name}, {form:.3f} [m]"))
    return told + [gradients("scenes/belt.yaml", 60, "--set", "contact.smoothing=1e-2", allow=["mass"])]


def stewart():
    """Each leg as long as the plate's pose says, at rest and under a hundred times the weight; where the plate stands in the end."""
    def feet(radius, offset):
        return [(radius * math.cos(2 * math.pi / 3 * i + sign * offset), radius * math.sin(2 * math.pi / 3 * i + sign * offset), 0) for sign in (1, -1) for i in range(3)]
    base, plate = feet(0.6, math.pi / 15), feet(0.35, math.pi / 4)
    names, told = [f"{side}rod{i}" for side in ("left", "right") for i in range(3)], []
    for load in (0, 100):
        for integrator in ORDERS if load == 0 else ("first_order", "second_order"):
            run = Run("stewart", "closures", variables__load=load, simulation__integrator=integrator)
            worst = 0
            for name, b, p in zip(names, base, plate):
                places, start = run.point("plate", p), math.dist(base[0], (plate[0][0], plate[0][1], 0.7))
                worst = max(worst, max(abs(math.dist(x, b) - start - q) for x, q in zip(places, run["joints", f"{name}/position"])))
            told += [within(worst, 1e-8, f"{load} weights, {integrator}: legs [m]"), within(max(run.gaps()), 1e-6, "gaps [m, rad]")]
    run = Run("stewart")
    told.append(within(run["trajectory", "plate/pz"][-1] - 0.75582 + 8e-5, 2e-5, "stands [m]"))
    heavy = ["--set", "loads=[{link: plate, force: [3000, 2000, -8000], torque: [20, 30, 10]}]"]
    return told + [gradients("scenes/stewart.yaml", 20, *heavy)]


MASSES = {"trunk": 10.8, "thigh": 1.6, "shank": 0.75, "foot": 0.25}


def biped_terrain():
    """What the feet press on a height field is the weight and what the centre of mass gains in speed; which foot stands when."""
    run = Run("biped-terrain")
    links = ["trunk"] + [f"{side}_{part}" for side in ("left", "right") for part in ("thigh", "shank", "foot")]
    mass = [MASSES[link.split("_")[-1]] for link in links]
    height = [sum(m * z for m, z in zip(mass, row)) / 16 for row in zip(*(run["trajectory", f"{link}/cz"] for link in links))]
    press = {side: dict(zip(run["pressure", "time"], run["pressure", f"{side}_foot/fz"])) for side in ("left", "right")}
    first, last, dt = 20, 100, 0.01
    gained = ((height[last] - height[last - 1]) - (height[first] - height[first - 1])) / dt / (dt * (last - first))
    mean = sum(press["left"][t] + press["right"][t] for t in run.time[first + 1:last + 1]) / (last - first)
    stands = {side: [t for t in run.time[1:] if press[side][t] > 8] for side in press}  # 5 % of the weight
    w, x, y, z = (run["trajectory", f"trunk/q{c}"][-1] for c in "wxyz")
    return [within(sum(mass) - 16, 1e-12, "mass [kg]"), within(mean - 16 * (G + gained), 1e-3, f"feet press {mean:.4f} N, off by"),
            within(mean - 152.3995, 1e-3, "as said [N]"), within(sum(1 for t in stands["left"] if 0.075 < t < 0.425), 0, "on its right foot from 0.08 to 0.42 s"),
            within(sum(1 for t in stands["right"] if t > 0.5), 0, "on its left foot from 0.5 s"),
            within(math.acos(1 - 2 * (x * x + y * y)) - 0.54, 1e-2, "leans in the end [rad]"),
            gradients("scenes/biped-terrain.yaml", 20, "--wrt", "state,control,attachments,contact,material,gains", "--directions", "1")]


def rope():
    """Gradients before and after a closure breaks: the scene of benchmarks/measure_machines.sh."""
    path = "tests/scenes/strangers/rope.yaml"
    run = Run("rope", "closures", path=path)
    last = max(t for t, f in zip(run.time, run["closures", "bob-arm/fz"]) if f != 0)
    return [between(last, 0.03, 0.04, "holds until [s]"), "before " + gradients(path, 15), "after " + gradients(path, 45)]


CASES = [four_bar, slider_crank, differential, push, motor, springs, balance, foot, belt, stewart, biped_terrain, rope]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as WORK:
        sys.exit(run_cases(CASES))
