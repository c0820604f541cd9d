#!/usr/bin/env python3
"""What contact laws make of a task with `success`, and what dt and the coefficient of the far-reaching law make of it.

    benchmarks/compare_laws.py laws push push-centred      # benchmarks/results/laws-push.csv, ...; also gather, sort, billiards, ant-push
    benchmarks/compare_laws.py steps push                  # benchmarks/results/laws-push-steps.csv
    benchmarks/compare_laws.py stiffness push              # benchmarks/results/laws-push-stiffness.csv
    benchmarks/compare_laws.py smoothness push gather      # benchmarks/results/laws-push-smoothness.csv, ...
    benchmarks/compare_laws.py draw push ...               # the plot of each, docs/pictures/laws-push.png, from its table

A row per window of a task with `receding`, per iteration of another: the loss there. The last row of every case has how long the run
took to reach its success region to stay [s of simulated time], whether it is a success, and the processor time. The program is $SDRS (default
./sdrs), one thread. Needs nothing but Python 3.
"""
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile

FRICTION = "friction: 0.3"
LAWS = {
    "long_range": [],
    "separating_plane": ["scene.contact={%s}" % FRICTION],
    "ipc": ["scene.contact={model: ipc, barrier_distance: 0.01, %s}" % FRICTION],
    "bundle": ["scene.contact={%s}" % FRICTION, "gradient={bundle: 8, spread: 0.05}"],
}
# A gradient that is not zero and leads nowhere need not be followed to the end of table 3's iterations.
ITERATIONS = {("ant-push", "bundle"): 25}
TIME_AHEAD, TIME_EXECUTED, TIME_ALL = 1.92, 0.32, 8.0  # s, of push.yaml


def step_cases(_):
    for dt in (0.01, 0.02, 0.04, 0.08):
        steps = lambda time: round(time / dt)
        yield "%g s" % dt, [
            "scene.contact.stiffness=1e-7",
            "scene.simulation.dt=%g" % dt,
            "scene.controllers.rod.target.interval=%g" % dt,
            "scene.controllers.rod.target.rows=%d" % (steps(TIME_ALL) + 3),
            "steps=%d" % steps(TIME_ALL),
            "receding.horizon=%d" % steps(TIME_AHEAD),
            "receding.apply=%d" % steps(TIME_EXECUTED),
        ]


def stiffness_cases(_):
    for stiffness in ("1e-5", "1e-6", "1e-7", "1e-8", "1e-10"):
        yield stiffness, ["scene.contact.stiffness=" + stiffness]


# Fig. 13: distances of features with a barrier of global support. `far` is such that the pairs of features of rod and box, 844 and of a rod of
# four sides 516, push like the 24 mu of long_range from a metre away. As all pairs count, the rod of push has six sides; both do fewer steps and iterations.
# Of gather, only the rod is felt from afar, as in the task.
FAR = {
    "push": (["scene.links.rod.shape.segments=6", "steps=96", "receding.iterations=25"], "far: 1.9e-9"),
    "gather": (["steps=64", "receding.iterations=15"], "far: 9.2e-11, pairs: [{a: cubes, b: cubes, model: separating_plane}, {a: ground, b: cubes, model: separating_plane}]"),
}


def smoothness_cases(name):
    lighter, far = FAR[name]
    yield "long_range", lighter
    yield "ipc, far", lighter + ["scene.contact={model: ipc, barrier_distance: 0.01, stiffness: 15.25, %s, %s}" % (FRICTION, far)]


CASES = {"laws": lambda _: LAWS.items(), "steps": step_cases, "stiffness": stiffness_cases, "smoothness": smoothness_cases}


def run(program, task, changes, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = [program, "optimize", task, "-q", "--threads", "1", "-o", folder]
    for change in changes:
        command += ["--set", change]
    if "receding" not in open(task).read():
        command.append("--no-converge")
    done = subprocess.run(command, stdout=subprocess.DEVNULL)
    if done.returncode:
        sys.exit("%s ended with %d" % (" ".join(command), done.returncode))
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def losses(folder):
    """Time or iteration, and the loss."""
    windows = os.path.join(folder, "windows.csv")
    if os.path.exists(windows):
        return [(row["time"], row["loss"]) for row in csv.DictReader(open(windows))]
    return [(row["iteration"], row["loss"]) for row in csv.DictReader(open(os.path.join(folder, "convergence.csv")))]


def entered(folder, link, target, distance):
    """When the link comes to within the distance of the target, not to leave again; empty: it does not."""
    path = os.path.join(folder, "trajectory.csv")
    if not os.path.exists(path):
        return ""
    time = ""
    for row in csv.DictReader(open(path)):
        far = sum((float(row[link + "/c" + axis]) - t) ** 2 for axis, t in zip("xyz", target)) ** 0.5
        if far > distance:
            time = ""
        elif time == "":
            time = row["time"]
    return time


def measure(program, kind, name):
    task = "scenes/tasks/%s.yaml" % name
    target = "benchmarks/results/laws-%s.csv" % name if kind == "laws" else "benchmarks/results/laws-%s-%s.csv" % (name, kind)
    rows = []
    for case, changes in CASES[kind](name):
        if (name, case) in ITERATIONS:
            changes = changes + ["optimizer.iterations=%d" % ITERATIONS[name, case]]
        with tempfile.TemporaryDirectory() as folder:
            seconds = run(program, task, changes, folder)
            summary = json.load(open(os.path.join(folder, "summary.json")))
            for time, loss in losses(folder):
                rows.append([case, time, loss, "", "", "", ""])
            value = summary["success_terms"][0]["value"]
            when = entered(folder, "box", (0.6, 0, 0.1), 0.05) if name.startswith("push") else ""
            rows[-1][3:] = [when, value, str(summary["success"]).lower(), "%.1f" % seconds]
            print(name, case, "at", when or "-", "ends at", value, "success", summary["success"], "%.1f s" % seconds)
    with open(target, "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["case", "time", "loss", "reached", "value", "success", "seconds"])
        writer.writerows(rows)
    draw(program, name, target)


def draw(program, name, table):
    windows = "receding" in open("scenes/tasks/%s.yaml" % name).read()
    picture = "docs/pictures/%s.png" % os.path.basename(table)[:-4]
    command = [program, "plot", table, "--columns", "loss", "--x", "time", "--by", "case", "--title", name, "-o", picture]
    command += ["--x-label", "time of the window [s]" if windows else "iteration", "--y-label", "loss"]
    subprocess.run(command, check=True)


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in [*CASES, "draw"]:
        sys.exit(__doc__)
    program = os.environ.get("SDRS", "./sdrs")
    for name in sys.argv[2:]:
        if sys.argv[1] == "draw":
            draw(program, name, "benchmarks/results/laws-%s.csv" % name)
        else:
            measure(program, sys.argv[1], name)


main()
