"""Cases of tests/long/test_strangers.sh: strangers.py SDRS [CASE...]."""
import csv
import math
import os
import subprocess
import sys
import tempfile

import dominoes
from machines import MACHINES
from machines_more import MORE
from oddities import ODDITIES
import rattleback
import tippe_top
from vectors import unwrapped

SDRS, SCENES, SHARED = os.path.abspath(sys.argv[1]), "tests/scenes/strangers", "../shared/data"
GRAVITY = 9.81


class Run:
    """A scene run to its end and certified from its files (where its law has a certificate); its tables as columns of numbers."""

    def __init__(self, folder, scene, certified=True, **settings):
        options = [word for key, value in settings.items() for word in ("--set", f"{key.replace('__', '.')}={value}")]
        path = os.path.join(SCENES, scene + ".yaml")
        for command in (["simulate", path, "-q", "-o", folder, *options], *([["certify", folder]] if certified else [])):
            done = subprocess.run([SDRS, *command], capture_output=True, text=True)
            said = (done.stderr.strip() or done.stdout.strip()).split("\n")
            assert done.returncode == 0, f"{command[0]}: exit {done.returncode}: {said[-1] if command[0] == 'certify' else said[0]}"
        self.trajectory = self.table(folder, "trajectory")
        self.solver = self.table(folder, "solver")
        self.time = self.trajectory["time"]
        self.links = [name[:-3] for name in self.trajectory if name.endswith("/cx")]

    @staticmethod
    def table(folder, name):
        with open(os.path.join(folder, name + ".csv"), encoding="ascii") as file:
            rows = list(csv.reader(file))
        numeric = [i for i, name in enumerate(rows[0]) if name != "outcome"]
        return {rows[0][i]: [float(row[i]) for row in rows[1:]] for i in numeric}

    def at(self, link, column, row=-1):
        return self.trajectory[f"{link}/{column}"][row]

    def speeds(self, link, column):
        x, t = self.trajectory[f"{link}/{column}"], self.time
        return [(b - a) / (u - s) for a, b, s, u in zip(x, x[1:], t, t[1:])]

    def acceleration(self, link, column, start=0.5):
        """From three rows at `start`, the middle and the end."""
        x, t = self.trajectory[f"{link}/{column}"], self.time
        i, k = round(start * (len(t) - 1)), len(t) - 1
        j = (i + k) // 2
        assert 2 * j == i + k
        return (x[k] - 2 * x[j] + x[i]) / (t[k] - t[j])**2

    def angle_rate(self, link):
        """Of a body that turns about one axis, between the last two rows."""
        turn = [self.at(link, c, -2) for c in ("qw", "qx", "qy", "qz")], [self.at(link, c) for c in ("qw", "qx", "qy", "qz")]
        cosine = min(1.0, abs(sum(a * b for a, b in zip(*turn))))
        return 2 * math.acos(cosine) / (self.time[-1] - self.time[-2])


def between(value, low, high, what):
    assert low <= value <= high, f"{what}: {value:.9g}, not between {low:.9g} and {high:.9g}"
    return f"{what} {value:.6g}"


def energy_never_grows(run, allowance=1e-9):
    """Kinetic, of gravity and of contact, by more than rounding of the largest so far."""
    total = [a + b for a, b in zip(run.solver["total"], run.solver["contact"])]
    scale = max(abs(x) for x in run.solver["kinetic"]) + abs(max(total) - min(total))
    gained = max((b - a for a, b in zip(total, total[1:])), default=0) / scale
    return between(gained, -math.inf, allowance, "energy gained in a step")


def momentum_stays(run, tolerance):
    """Bodies of equal mass, no gravity: sum of the centres' speeds, against the sum of their sizes."""
    worst = 0
    for c in ("cx", "cy", "cz"):
        speeds = [run.speeds(link, c) for link in run.links]
        sums = [sum(column) for column in zip(*speeds)]
        worst = max(worst, max(abs(s - sums[0]) for s in sums))
    size = sum(math.hypot(*(run.speeds(link, c)[0] for c in ("cx", "cy", "cz"))) for link in run.links)
    return between(worst / size, 0, tolerance, "momentum off")


# ------------------------------------------------------------------ cases

def rattles(folder):
    """Friction acts at contact points of the start of a step, so the heading's error is proportional to dt. The headings of two time
    steps, extrapolated to dt = 0, agree with the equations of rolling."""
    wanted = rattleback.headings(-5, 0.00872664626, 3.2, 2e-4)
    off, turns = [], []
    for dt in (1e-4, 5e-5):
        run = Run(folder, "rattleback", certified=False, simulation__dt=dt)
        heading = unwrapped(math.atan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z))
                            for w, x, y, z in zip(*(run.trajectory[f"stone/{c}"] for c in ("qw", "qx", "qy", "qz"))))
        every = round(0.1 / dt)
        off.append([a - heading[0] - b for a, b in zip(heading[::every], wanted[:: round(0.1 / 2e-4)])])
        turns.append(min(range(len(heading)), key=heading.__getitem__) * dt)
    most = [max(map(abs, errors)) for errors in off]
    turn, least = wanted.index(min(wanted)) * 2e-4, abs(min(wanted))
    told = [between(most[1] / most[0], 0, 0.5, "heading off at half the step, against the whole")]
    told.append(between(max(abs(2 * b - a) for a, b in zip(*off)), 0, 0.01 * least, "heading off at dt = 0"))
    told.append(between(turns[1], 0.97 * turn, 1.03 * turn, "turns back at half the step after"))
    return ", ".join(told) + f"; heading off {most[0]:.4g}, {most[1]:.4g}, turns back after {turns[0]:.4g} s"


def tippe_tops(folder):
    """Sliding friction under a fast spin. Spun straight a top as slow as this one stays up, wobbling; spun with its axis askew it turns over, as
    far as its spin lets it."""
    told = []
    for spin in ((0, 0, 150), (0, -14.975012, 149.25062)):
        start = f"[{{link: top, velocities: [0, 0, 0, {', '.join(map(str, spin))}]}}]"
        run = Run(folder, "tippe-top", certified=False, initial=start)
        wanted = tippe_top.upright(spin, 0.1, 2, 1e-4)
        got = [1 - 2 * (x * x + y * y) for x, y in zip(run.trajectory["top/qx"], run.trajectory["top/qy"])]
        off = max(abs(a - b) for a, b in zip(got[::100], wanted[::100]))
        between(off, 0, 0.02 * (max(wanted) - min(wanted)) + 2e-3, "cosine of the tilt off")
        told.append(f"{wanted[-1]:.3f}, off by {off:.1e}")
    return "cosine of the tilt at the end " + "; ".join(told)


def turned(run, link):
    """Angle about y, unwrapped [rad]."""
    return unwrapped(2 * math.atan2(y, w) for y, w in zip(run.trajectory[f"{link}/qy"], run.trajectory[f"{link}/qw"]))


def peaks(values):
    return [i for i in range(2, len(values) - 1) if values[i - 1] < values[i] >= values[i + 1]]


def rocks(folder):
    """From the largest tilt on either side the angular speed at the next impact, by the energy about the edge."""
    half, told = math.radians(20), []
    kept = 1 - 1.5 * math.sin(half)**2
    for dt, off in ((1e-3, 0.015), (2e-4, 0.015), (5e-5, 0.01)):
        tilt = [abs(a) for a in turned(Run(folder, "rocking-block", simulation__dt=dt), "block")]
        largest = [tilt[0]] + [tilt[i] for i in peaks(tilt) if tilt[i] > 0.01]
        speeds = [math.sqrt(math.cos(half - a) - math.cos(half)) for a in largest[:4]]
        for before, after in zip(speeds, speeds[1:]):
            told.append(between(after / before, (1 - off) * kept, (1 + off) * kept, f"dt {dt:g}: left"))
    return ", ".join(told)


def spokes(folder):
    """In the long run the speed over each spoke's upright is the same: what falls from spoke to spoke is what impacts take."""
    mass, length, inertia, half, slope = 3, 0.5, 0.15, math.pi / 8, 0.15
    about = inertia + mass * length**2
    kept = (inertia + mass * length**2 * math.cos(2 * half)) / about
    before = 4 * mass * GRAVITY * length * math.sin(half) * math.sin(slope) / (about * (1 - kept**2))
    upright = math.sqrt(kept**2 * before - 2 * mass * GRAVITY * length * (math.cos(slope) - math.cos(half - slope)) / about)
    run = Run(folder, "rimless-wheel")
    angle = turned(run, "wheel")
    last = peaks(run.trajectory["wheel/cz"])[-1]
    speed = (angle[last + 1] - angle[last - 1]) / (run.time[last + 1] - run.time[last - 1])
    return between(speed, 0.99 * upright, 1.01 * upright, f"turns over a spoke (closed form {upright:.4f})")


def topples(folder):
    """Speed of the wave from the tenth domino to the twenty-fifth."""
    told = []
    for friction, off in ((0.3, 0.01), (0.1, 0.02)):
        wanted = dominoes.Row(0.048, 0.008, 0.024, friction).speed(4, 10, 25)
        run = Run(folder, "dominoes", contact__friction=friction)
        passes = [next(t for t, a in zip(run.time, turned(run, f"d{i}")) if a > 0.3) for i in (10, 25)]
        told.append(between(15 * 0.024 / (passes[1] - passes[0]), (1 - off) * wanted, (1 + off) * wanted, f"friction {friction}: speed"))
    return ", ".join(told)


def grain_drop(folder):
    run = Run(folder, "grain-drop")
    between(max(abs(v) for v in run.speeds("grain", "pz")[-50:]), 0, 1e-5, "speed at the end")
    return between(run.at("grain", "pz"), 0.001, 0.00101, "height")


def grain_slide(folder):
    run = Run(folder, "grain-slide")
    closed = 0.3**2 / (2 * 0.3 * GRAVITY)
    return between(run.at("grain", "px"), 0.99 * closed, 1.01 * closed, "slides")


def giant(folder):
    run = Run(folder, "giant")
    between(max(abs(v) for v in run.speeds("giant", "pz")[-50:]), 0, 1e-3, "speed at the end")
    return between(run.at("giant", "pz"), 50, 50.4, "height") # the support that follows from its size is 0.5 m


def column(folder):
    run = Run(folder, "column")
    lowest = min(run.at(link, "cz") for link in run.links if link != "ground")
    return between(lowest, 0.05, 0.06, "lowest centre") + ", " + energy_never_grows(run, 1e-6)


def plates(name, tolerance=1e-9):
    def judge(folder):
        run = Run(folder, name)
        return momentum_stays(run, tolerance)
    return judge


def hand(folder):
    run = Run(folder, "hand")
    return between(min(run.solver["smallest_gap"]), 0, 1, "smallest gap")


def mesh_pile(folder):
    run = Run(folder, "mesh-pile")
    lowest = min(min(run.trajectory[f"{link}/cz"]) for link in run.links if link != "ground")
    return between(lowest, 0.005, 1, "lowest centre")


def level_planks(folder):
    run = Run(folder, "level-planks")
    height = run.trajectory["plank1/pz"]
    return between(max(abs(z - height[0]) for z in height), 0, 0.02, "top plank moves")


def planks_at_rest(dt):
    def judge(folder):
        run = Run(folder, "planks-at-rest", simulation__dt=dt)
        height = run.trajectory["plank1/pz"]
        return between(max(abs(z - height[0]) for z in height), 0, 1e-6, "top plank moves")
    return judge


def drop(integrator, dt):
    def judge(folder):
        run = Run(folder, "drop", simulation__dt=dt, simulation__integrator=integrator)
        speeds = run.speeds("box", "pz")
        impact = min(range(len(speeds)), key=lambda i: speeds[i])
        height, end = run.trajectory["box/pz"], run.at("box", "pz")
        settled = [z for z, t in zip(height, run.time) if t > run.time[impact] + 0.1]
        told = between(max(speeds[impact:]) / -speeds[impact], -0.005, 0.005, "rebound")
        return told + ", " + between(max(abs(z - end) for z in settled), 0, 1e-4, "moves 0.1 s later")
    return judge


def rolls(folder):
    run = Run(folder, "rolling-0.30")
    closed = 5 / 7 * GRAVITY * math.sin(math.pi / 6)
    return between(run.acceleration("ball", "px", 0), 0.99 * closed, 1.01 * closed, "acceleration")


def slides(folder):
    run = Run(folder, "rolling-0.15")
    closed = GRAVITY * (math.sin(math.pi / 6) - 0.15 * math.cos(math.pi / 6))
    spin = 2.5 * 0.15 * GRAVITY * math.cos(math.pi / 6) / 0.1
    told = between(run.acceleration("ball", "px", 0), 0.99 * closed, 1.01 * closed, "acceleration")
    return told + ", " + between(run.angle_rate("ball"), 0.99 * spin, 1.01 * spin, "spin after 1 s")


def rolling_threshold(folder):
    """1 % above 2/7 tan 30 the slip stays small; 1 % below it grows by 1 % of g sin 30 a second."""
    threshold, slips = 2 / 7 * math.tan(math.pi / 6), []
    for factor in (0.99, 1.01):
        run = Run(folder, "rolling-0.30", contact__friction=factor * threshold)
        slips.append(run.speeds("ball", "px")[-1] - 0.1 * run.angle_rate("ball"))
    expected = 0.01 * GRAVITY * math.sin(math.pi / 6)
    told = between(slips[0], 0.5 * expected, 1.5 * expected, "slip below the threshold")
    return told + ", " + between(slips[1], 0, 0.25 * expected, "above it")


def sphere_chain(folder):
    run = Run(folder, "sphere-chain")
    return momentum_stays(run, 1e-9) + ", " + energy_never_grows(run)


def spheres(folder):
    run = Run(folder, "spheres-666")
    balls = [link for link in run.links if link != "box"]
    assert len(balls) == 666
    fastest = max(math.hypot(*(run.speeds(link, c)[-1] for c in ("cx", "cy", "cz"))) for link in balls)
    told = between(fastest, 0, 1e-3, "fastest after 10 s")
    told += ", " + between(min(run.at(link, "cz") for link in balls), 0.04, 0.06, "lowest centre")
    return told + ", " + energy_never_grows(run, 1e-6)


def tumbling(folder):
    run = Run(folder, "tumbling")
    return between(min(run.solver["smallest_gap"]), 0, 1, "smallest gap")


CASES = {"grain-drop": grain_drop, "grain-slide": grain_slide, "giant": giant, "column": column,
         "plates-100": plates("plates-100"), "plates-1000": plates("plates-1000"), "plates-300": plates("plates-300"),
         "hand": hand, "mesh-pile": mesh_pile, "rolls": rolls, "slides": slides, "rolling-threshold": rolling_threshold,
         "sphere-chain": sphere_chain, "tumbling": tumbling}
CASES["level-planks"] = level_planks
CASES["rattleback"] = rattles
CASES["tippe-top"] = tippe_tops
CASES["rocking-block"] = rocks
CASES["rimless-wheel"] = spokes
CASES["dominoes"] = topples
CASES.update({f"planks-at-rest-{dt}": planks_at_rest(dt) for dt in ("1e-2", "5e-3", "2.5e-3", "1e-3")})
CASES.update({f"drop-{i}-{dt}": drop(i, dt) for i in ("first_order", "second_order", "momentum") for dt in ("1e-2", "1e-3", "1e-4", "1e-5")})
CASES["spheres-666"] = spheres
CASES.update({name: (lambda folder, judge=judge: judge(Run, folder, between)) for name, judge in {**MACHINES, **MORE, **ODDITIES}.items()})
NEED_MESHES = {"hand", "mesh-pile"}


def main():
    wanted, passed, failed = sys.argv[2:], 0, 0
    for name, judge in CASES.items():
        if wanted and name not in wanted:
            continue
        if name in NEED_MESHES and not os.path.isdir(SHARED):
            print(f"SKIP {name}: no {SHARED}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                told = judge(os.path.join(folder, "run"))
                passed += 1
                print(f"ok   {name}: {told}", flush=True)
            except AssertionError as problem:
                failed += 1
                print(f"FAIL {name}: {problem}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
