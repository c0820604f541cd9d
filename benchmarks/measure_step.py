#!/usr/bin/env python3
"""Writes benchmarks/results/step.csv: what single steps are worth, by closed forms, and what their gradients cost.

  benchmarks/measure_step.py [ROWS...]    ROWS: names of the measurements below; default: all. Prints the table.

Columns: what was measured, its setting, the number found, what it is to be at most, whether it is. Scenes and runs are
kept in out/step/. The program is $SDRS (default ./sdrs). Ratios of times are medians of seven interleaved repeats. Rows
`strangers`, `cases` and `programs` are what tests/long/strangers.py, tests/cli/run.sh and the test programs of
`make FLAVOUR=check` in out/build/check say; benchmarks/measure_corpus.sh has a table of its own.
"""
import csv
import io
import math
import os
import resource
import subprocess
import sys

SDRS = os.environ.get("SDRS", "./sdrs")
OUT = "out/step"
INTEGRATORS = ("first_order", "second_order", "momentum")
ROWS = {}


def rows(function):
    ROWS[function.__name__] = function
    return function


def run(name, scene):
    """The tables of a scene's run."""
    path = os.path.join(OUT, name)
    os.makedirs(OUT, exist_ok=True)
    with open(path + ".yaml", "w", encoding="utf-8") as file:
        file.write(scene)
    subprocess.run([SDRS, "simulate", path + ".yaml", "-q", "--threads", "1", "-o", path], check=True, stdout=subprocess.DEVNULL)
    return table(path, "trajectory"), table(path, "joints"), table(path, "solver")


def table(folder, name):
    with open(os.path.join(folder, name + ".csv"), encoding="ascii") as file:
        lines = list(csv.reader(file))
    return {key: [float(line[k]) for line in lines[1:]] for k, key in enumerate(lines[0]) if key != "outcome"}


@rows
def rebound():
    """A box thrown at the ground without weight, at the speed of a fall of half a metre."""
    speed = math.sqrt(2 * 9.81 * 0.5)
    for integrator in INTEGRATORS:
        for dt in (1e-2, 1e-3, 1e-4, 1e-5):
            for asked in (0, 0.5, 0.9):
                trajectory, _, _ = run("rebound", f"""
simulation: {{dt: {dt}, duration: 0.08, gravity: [0, 0, 0], integrator: {integrator}}}
contact: {{restitution: {asked}}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}}}
  - {{name: box, mass: 0.3, shape: {{type: box, size: [0.2, 0.2, 0.2]}}, position: [0, 0, 0.22]}}
initial: [{{link: box, velocities: [0, 0, {-speed}, 0, 0, 0]}}]
""")
                z, t = trajectory["box/cz"], trajectory["time"]
                found = (z[-1] - z[-2]) / (t[-1] - t[-2]) / speed
                yield f"rebound {asked}", f"{integrator} dt {dt:g}", f"{found:.5f}", f"{asked} +- 0.005", abs(found - asked) <= 0.005


@rows
def settling():
    """The same box dropped from half a metre, restitution 0: its fastest way up afterwards, and how long it moves by more than 1 mm/s."""
    speed, fall = math.sqrt(2 * 9.81 * 0.5), math.sqrt(2 * 0.5 / 9.81)
    for integrator in INTEGRATORS:
        for dt in (1e-2, 1e-3, 1e-4, 1e-5):
            trajectory, _, _ = run("settling", f"""
simulation: {{dt: {dt}, duration: 0.5, integrator: {integrator}}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}}}
  - {{name: box, mass: 0.3, shape: {{type: box, size: [0.2, 0.2, 0.2]}}, position: [0, 0, 0.6]}}
""")
            z, t = trajectory["box/cz"], trajectory["time"]
            speeds = [(z[k] - z[k - 1]) / (t[k] - t[k - 1]) for k in range(1, len(t))]
            up = max(speeds) / speed
            found = max(t[k + 1] for k, v in enumerate(speeds) if abs(v) > 1e-3) - fall
            yield "rebound 0, with weight", f"{integrator} dt {dt:g}", f"{up:.5f}", "0.005", up <= 0.005
            yield "settling [s]", f"{integrator} dt {dt:g}", f"{found:.4f}", "0.1", found <= 0.1


@rows
def free_body():
    """A body that tumbles at 5 rad/s for 10 s."""
    _, _, solver = run("free_body", """
simulation: {dt: 0.01, duration: 10, gravity: [0, 0, 0], integrator: momentum}
links: [{name: body, mass: 1, mass_model: uniform, shape: {type: box, size: [0.3, 0.2, 0.1]}}]
initial: [{link: body, velocities: [0.2, 0, 0, 1, 4.8, 1]}]
""")
    start = [solver[f"l{axis}"][0] for axis in "xyz"]
    drift = max(math.dist(start, [solver[f"l{axis}"][k] for axis in "xyz"]) for k in range(len(solver["time"]))) / math.hypot(*start)
    energy = max(abs(e / solver["kinetic"][0] - 1) for e in solver["kinetic"])
    yield "angular momentum of a free body, relative", "momentum dt 0.01, 10 s", f"{drift:.1e}", "1e-10", drift <= 1e-10
    yield "its energy, relative", "momentum dt 0.01, 10 s", f"{energy:.1e}", "1e-9", energy <= 1e-9


ROD = "{name: %s, %s mass: 1, mass_model: uniform, shapes: [{shape: rod, position: [0, 0, -0.25]}], joint: {type: hinge, axis: [0, -1, 0], position: [0, 0, %s]}}"


@rows
def joints():
    """A wheel on its axle; a double pendulum that turns over, its energy by central differences."""
    for integrator in INTEGRATORS:
        _, angles, _ = run("wheel", f"""
simulation: {{dt: 0.01, duration: 10, integrator: {integrator}}}
links: [{{name: wheel, mass: 1, shape: {{type: box, size: [0.4, 0.1, 0.4]}}, joint: {{type: hinge, axis: [0, 1, 0]}}}}]
initial: [{{link: wheel, velocities: [10]}}]
""")
        lost = 1 - angles["wheel/angle"][-1] / 100
        yield "part of a wheel's way lost in 100 rad", f"{integrator} dt 0.01", f"{lost:.1e}", "1e-12 (momentum)", integrator != "momentum" or abs(lost) <= 1e-12
    for integrator in INTEGRATORS:
        for dt in (4e-3, 1e-3):
            early, late = energy_errors(integrator, dt)
            wanted = integrator != "momentum" or late <= 2 * early
            yield "energy error of a double pendulum: first 10 s, last 10 of 100 s [J]", f"{integrator} dt {dt:g}", f"{early:.2e} {late:.2e}", \
                "no drift (momentum)", wanted


def energy_errors(integrator, dt):
    _, angles, _ = run("double", f"""
simulation: {{dt: {dt}, duration: 100, integrator: {integrator}}}
contact: {{model: none}}
shapes: {{rod: {{type: box, size: [0.04, 0.04, 0.5]}}}}
links:
  - {ROD % ("upper", "", "1.2")}
  - {ROD % ("lower", "parent: upper,", "-0.5")}
initial: [{{link: upper, coordinates: [2.0]}}, {{link: lower, coordinates: [0.5]}}]
""")
    a, b = angles["upper/angle"], angles["lower/angle"]
    errors, inertia, start = [], (0.04**2 + 0.25) / 12, None
    for k in range(1, len(a) - 1):
        u, w = (a[k + 1] - a[k - 1]) / (2 * dt), (b[k + 1] - b[k - 1]) / (2 * dt)
        kinetic = 0.5 * (inertia + 0.0625) * u * u + 0.5 * inertia * (u + w)**2 + 0.125 * (u * u + 0.25 * (u + w)**2 + u * (u + w) * math.cos(b[k]))
        energy = kinetic - 9.81 * (0.75 * math.cos(a[k]) + 0.25 * math.cos(a[k] + b[k]))
        start = -9.81 * (0.75 * math.cos(2) + 0.25 * math.cos(2.5)) if start is None else start
        errors.append(abs(energy - start))
    tenth = len(errors) // 10
    return max(errors[:tenth]), max(errors[-tenth:])


BOXES = """
simulation: {dt: 0.005, steps: 60}
contact: {friction: 0.5}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
"""


def boxes(count, height):
    return BOXES + "".join(
        f"  - {{name: box{k}, mass: 0.2, mass_model: uniform, shape: {{type: box, size: [0.1, 0.1, 0.1]}}, position: [{0.3 * (k // 4)}, 0, {height + 0.1005 * (k % 4)}]}}\n"
        for k in range(count))


def task(name, scene, steps, extra=""):
    path = os.path.join(OUT, name + "-task.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"""name: {name}
scene: {scene}
steps: {steps}
initial: [{{link: box0, velocities: true, dof: [0, 1], low: -1, high: 1}}]
loss: [{{type: point, link: box0, target: [0.1, 0, 0.1], power: 2, weight: 1}}]
optimizer: {{type: lbfgs, iterations: 1, control_step: 0.01}}
{extra}""")
    return path


@rows
def adjoint():
    """What the adjoint of a step costs, in Newton iterations of the run: 48 boxes in columns of four, at rest and falling."""
    for name, height in (("at-rest", 0.0505), ("falling", 0.1)):
        _, _, solver = run(name, boxes(48, height))
        iterations = sum(solver["iterations"]) / len(solver["iterations"])
        text = subprocess.run([SDRS, "bench", "gradient", task(name, name + ".yaml", 60), "--threads", "1"], check=True, capture_output=True, text=True).stdout
        cost = next(csv.DictReader(io.StringIO(text)))
        forward, back = float(cost["forward_ms"]), float(cost["adjoint_ms"])
        found = back / (forward / max(iterations, 1e-300))
        yield f"adjoint in Newton iterations, 48 boxes {name}", f"{iterations:.2f} iterations a step; {forward / 60:.3f} + {back / 60:.3f} ms", f"{found:.2f}", "1.2", found <= 1.2


USAGE = "import os, subprocess, sys\np = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)\nu = os.wait4(p.pid, 0)[2]\nprint(u.ru_maxrss, u.ru_utime)"


@rows
def memory():
    """The gradient of a run of 48 boxes kept whole, and of one kept in 10 MiB: the same design, to the bit; then twice as many steps, too."""
    for steps in (1500, 3000):
        yield bounded_memory(steps)


def bounded_memory(steps):
    with open(os.path.join(OUT, "long.yaml"), "w", encoding="utf-8") as file:
        file.write(boxes(48, 0.1).replace("steps: 60", f"steps: {steps}"))
    designs = []
    for name, extra in (("whole", ""), ("bounded", "gradient: {memory: 0.01}\n")):
        path, folder = task(name, "long.yaml", steps, extra), os.path.join(OUT, name + "-out")
        # by a process that is small itself: what stands in a parent counts for its child until this runs
        said = subprocess.run([sys.executable, "-c", USAGE, SDRS, "optimize", path, "-q", "--threads", "1", "-o", folder], check=True, capture_output=True, text=True).stdout
        resident, user = map(float, said.split())
        with open(os.path.join(folder, "design.csv"), "rb") as file:
            designs.append((file.read(), resident / 1024, user))
    same = designs[0][0] == designs[1][0]
    return f"design after gradients of {steps} steps kept in 10 MiB", f"{designs[0][1]:.0f} -> {designs[1][1]:.0f} MiB resident, {designs[0][2]:.1f} -> {designs[1][2]:.1f} CPU s", \
        "same bytes" if same else "other bytes", "same bytes", same


@rows
def pile():
    """A hundred bodies of ten shapes that fall into a heap: processor time by simulated second, one thread."""
    folder = os.path.join(OUT, "pile")
    process = subprocess.Popen([SDRS, "simulate", "scenes/pile.yaml", "-q", "--threads", "1", "-o", folder], stdout=subprocess.DEVNULL)
    found = os.wait4(process.pid, 0)[2].ru_utime / table(folder, "trajectory")["time"][-1]
    yield "processor time of scenes/pile.yaml by simulated time", "one thread", f"{found:.2f}", "2", found <= 2


@rows
def drop():
    """The same box let fall, by the parabolas through the rows before and after: weight and first order in one number."""
    for integrator in INTEGRATORS:
        for dt, mass in ((1e-2, 1), (1e-2, 1e-5), (1e-2, 1e5), (1e-3, 1), (1e-4, 1), (1e-5, 1)):
            for asked in (0.5, 0.9):
                trajectory, _, _ = run("drop", f"""
simulation: {{dt: {dt}, duration: {0.45 if dt > 1e-5 else 0.34}, integrator: {integrator}}}
contact: {{restitution: {asked}}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}}}
  - {{name: box, mass: {mass}, shape: {{type: box, size: [0.2, 0.2, 0.2]}}, position: [0, 0, 0.6]}}
""")
                found = rebound_of(trajectory["box/cz"], dt)
                yield f"drop with restitution {asked}", f"{integrator} dt {dt:g}, {mass:g} kg", f"{found:.5f}", f"{asked} +- 0.005", abs(found - asked) <= 0.005


def rebound_of(z, dt, ground=0.1003, clear=0.1035):
    """Root of the energies above `ground` of two parabolas through three rows each, all of them out of contact."""
    low = min(range(len(z)), key=z.__getitem__)
    flies = [k for k in range(1, len(z) - 1) if min(z[k - 1:k + 2]) > clear]
    before, after = [k for k in flies if k <= low - 2][-1], [k for k in flies if k >= low + 2][0]
    energy = lambda k: ((z[k + 1] - z[k - 1]) / (2 * dt))**2 / 2 + 9.81 * (z[k] - ground)
    return math.sqrt(energy(after) / energy(before))


@rows
def meet():
    """Two spinning boxes meet off-centre in space; drifts by the largest of the run: of the bodies' momenta, of the angular momentum."""
    for integrator in INTEGRATORS:
        for asked in (0, 0.5):
            coarser = math.inf
            for dt in (1e-2, 5e-3, 2.5e-3):
                _, _, solver = run("meet", f"""
simulation: {{dt: {dt}, duration: 1, gravity: [0, 0, 0], integrator: {integrator}}}
contact: {{friction: 0.4, restitution: {asked}}}
links:
  - {{name: one, mass: 0.6, mass_model: uniform, shape: {{type: box, size: [0.2, 0.16, 0.1]}}, position: [-0.3, 0, 0]}}
  - {{name: two, mass: 1.1, mass_model: uniform, shape: {{type: box, size: [0.25, 0.16, 0.1]}}, position: [0.3, 0.07, 0.04], rotation_vector: [0.3, 0.25, 0.1]}}
initial:
  - {{link: one, velocities: [1, 0.1, 0, 1, 2, 5]}}
  - {{link: two, velocities: [-1, 0, 0, -2, 4, 1]}}
""")
                certified = subprocess.run([SDRS, "certify", os.path.join(OUT, "meet"), "-q"], check=False, capture_output=True).returncode == 0
                setting = f"{integrator} dt {dt:g}, restitution {asked}"
                p, l = drift(solver, "p") / (0.6 * math.hypot(1, 0.1) + 1.1), drift(solver, "l") / largest(solver, "l")
                yield "boxes that meet off-centre: linear momentum", setting, f"{p:.1e}", "1e-10, certified", p <= 1e-10 and certified
                yield "the same: angular momentum", setting, f"{l:.1e}", "0.01" if integrator == "momentum" else "falls with dt", \
                    l <= 0.01 if integrator == "momentum" else l < 0.9 * coarser
                coarser = l


def vectors(solver, letter):
    return list(zip(*(solver[letter + axis] for axis in "xyz")))


def drift(solver, letter):
    """From the first row with a step behind it."""
    rows_of = vectors(solver, letter)
    return max(math.dist(row, rows_of[0]) for row in rows_of)


def largest(solver, letter):
    return max(math.hypot(*row) for row in vectors(solver, letter))


@rows
def fast_spin():
    """A symmetric body that turns by 5 rad a step for 1000 steps: R = exp(t L / I1) exp(t (1 - I3 / I1) w3 e3), with its ends' axes."""
    trajectory, _, _ = run("fast_spin", """
simulation: {dt: 0.01, duration: 10, gravity: [0, 0, 0], integrator: momentum}
links: [{name: body, mass: 1, mass_model: uniform, shape: {type: box, size: [0.2, 0.2, 0.1]}}]
initial: [{link: body, velocities: [0, 0, 0, 300, 0, 400]}]
""")
    certified = subprocess.run([SDRS, "certify", os.path.join(OUT, "fast_spin"), "-q"], check=False, capture_output=True).returncode == 0
    across, along = (0.2**2 + 0.1**2) / 12, 2 * 0.2**2 / 12
    rate, worst = (300, 0, 400 * along / across), 0
    size = math.hypot(*rate)
    for k, t in enumerate(trajectory["time"]):
        half, own = t * size / 2, t * 400 * (1 - along / across) / 2
        wanted = product((math.cos(half), *(math.sin(half) * x / size for x in rate)), (math.cos(own), 0, 0, math.sin(own)))
        found = [trajectory[f"body/{c}"][k] for c in ("qw", "qx", "qy", "qz")]
        worst = max(worst, min(math.dist(wanted, found), math.dist([-x for x in wanted], found)))
    yield "a body at 5 rad a step: quaternion against the closed form", "momentum dt 0.01, 10 s", f"{worst:.1e}", "1e-9, certified", worst <= 1e-9 and certified


def product(p, q):
    """Of quaternions."""
    return (p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
            p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1], p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0])


STRANGERS = ("grain-drop", "grain-slide", "giant", "column", "plates-100", "plates-1000", "hand", "mesh-pile", "tumbling", "rolls", "slides",
             "rolling-threshold", "sphere-chain", "planks-at-rest-1e-2", "planks-at-rest-5e-3", "planks-at-rest-2.5e-3", "level-planks")


def lines(command):
    """Of a test: (name, whether it passed, what it told)."""
    for line in subprocess.run(command, check=False, capture_output=True, text=True).stdout.split("\n"):
        if line.startswith(("ok ", "FAIL ")):
            name, _, told = line[5:].partition(": ")
            yield name, line.startswith("ok"), told


@rows
def strangers():
    """Scenes that nobody had tuned for, each certified twice."""
    for name, passed, told in lines([sys.executable, "-B", "tests/long/strangers.py", SDRS, *STRANGERS]):
        yield name, "tests/long/strangers.py", told, "as the test says, certified", passed


@rows
def cases():
    """Files without an end; runs of every kind certified, damaged ones refused; gradients that rounding hides."""
    for name, passed, _ in lines(["tests/cli/run.sh", "endless-files", "certify", "certify-damaged", "certify-closures", "gradcheck-flat-faces",
                                  "gradcheck-unchecked", "simulate-blind-rounds", "simulate-tries-longer"]):
        yield name, "tests/cli/run.sh", "passed" if passed else "failed", "passed", passed


PROGRAMS = ("property/test_similarity", "property/test_sizes", "property/test_scenes", "gradient/test_impact_closed_forms",
            "gradient/test_run_gradients", "unit/simulate/test_sim", "unit/simulate/test_substep", "unit/differentiate/test_judgement", "long/test_memory")


@rows
def programs():
    """Similarity, sizes, allocations (test_scenes: a settled pile), gradients through impacts and halved steps, bounded memory."""
    for name in PROGRAMS:
        path = os.path.join("out/build/check/tests", name)
        done = subprocess.run([path], check=False, capture_output=True, text=True)
        said = [line for line in (done.stdout + done.stderr).split("\n") if "PASSED" in line]
        yield name, path, said[-1].strip("[ ").replace("  ]", "") if said else "no answer", "passed", done.returncode == 0


def main():
    os.makedirs(OUT, exist_ok=True)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(("measured", "setting", "found", "wanted", "met"))
    for name in sys.argv[1:] or ROWS:
        for row in ROWS[name]():
            out.writerow((*row[:4], "yes" if row[4] else "no"))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
