#!/usr/bin/env python3
"""How often the 95 % intervals of sdrs identify hold the truth: pendulum, arm and pushed box, data of the program itself with noise.

    benchmarks/measure_coverage.py [SEEDS [RESULTS.csv [SECONDS]]]      200 seeds: 3 minutes of one core; benchmarks/results/coverage.csv is made so

The three tasks run beside each other; after so many SECONDS each ends with the seeds that it has done, which the table tells.

Steps are longer than those of the shipped tasks, in the data and in the fit alike. Noise: 1 mrad of every angle, of the first row too (the start is fitted
within it); 1 mm and 10 mrad of the box, whose start is known. Prints a row a parameter (or base parameter, where not all are told apart):
task, parameter, truth, seeds, how many intervals hold it, the mean standard error beside how far estimates really scatter, and in how
many seeds the model was doubted."""
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SDRS = os.environ.setdefault("SDRS", os.path.join(ROOT, "sdrs"))
os.environ.setdefault("work", tempfile.mkdtemp())
sys.path.insert(0, os.path.join(ROOT, "tests/long"))
import identify_synthetic as made  # noqa: E402

WORK = os.environ["work"]
BEGIN = time.time()
PENDULUM = {"rod/center/x": 0.05, "rod/center/z": -0.42, "rod/inertia/scale": 4 / 3, "rod/damping/0": 0.03, "rod/friction/0": 0.04}
PENDULUM_SETS = ["links.rod.center=[0.05, 0, -0.42]", "links.rod.inertia=[0.08, 0.08, 0.08, 0, 0, 0]", "links.rod.joint.damping=0.03", "links.rod.joint.friction=0.04"]
ANGLES = ["identify.fit_initial=true", "identify.coordinate=0.001", "identify.initial_rate=0.0001"]
# name: (truth, steps of data and fit, settings of the fit)
TASKS = {
    "pendulum": (PENDULUM, ["simulation.dt=0.005", "simulation.duration=3"], ANGLES),
    "arm": (made.ARM, ["simulation.dt=0.008", "simulation.steps=180"], ANGLES),
    "pushed": (made.PUSHED, ["simulation.dt=0.008", "simulation.steps=125"], []),
}


def clean_rows(name, steps):
    """Rows of every run without noise: head, lists of numbers, the last columns rates that only the first row has."""
    files = []
    if name == "pendulum":
        for start in ([0.3, 0.0], [-0.8, 1.5], [1.4, -1.0]):
            sets = [*PENDULUM_SETS, f"initial=[{{link: rod, coordinates: [{start[0]}], velocities: [{start[1]}]}}]", *steps]
            made.run("simulate", "scenes/identify/pendulum-scene.yaml", "-q", "-o", f"{WORK}/run", *[a for s in sets for a in ("--set", s)])
            rows = list(csv.reader(open(f"{WORK}/run/joints.csv")))[1::2]
            files.append((["time", "angle", "rate"], [[r[0], r[1], repr(start[1]) if k == 0 else ""] for k, r in enumerate(rows)]))
        return files
    made.make(name, f"{WORK}/clean", extra=steps)
    for number in range(len(made.STARTS[name])):
        rows = list(csv.reader(open(f"{WORK}/clean/{number}.csv")))
        files.append((rows[0], rows[1:]))
    return files


def with_noise(name, head, rows, rng):
    out = []
    for k, row in enumerate(rows):
        if name == "pushed":
            values = [float(v) for v in row[1:8]]
            place = [repr(v + (rng.gauss(0, 0.001) if k > 0 else 0)) for v in values[:3]]
            turn = [1, *[0.5 * rng.gauss(0, 0.01) if k > 0 else 0 for _ in range(3)]]
            out.append([row[0], *place, *map(repr, made.product(values[3:], turn)), *row[8:]])
        else:
            angles = (len(head) - 1) // 2
            out.append([row[0], *[repr(float(v) + rng.gauss(0, 0.001)) for v in row[1 : 1 + angles]], *row[1 + angles :]])
    return out


def told(found):
    """Value, standard error and coefficients by the parameters' names, of what the data tells."""
    names = [p["name"] for p in found["parameters"]]
    if found["base_parameters"]:
        return [(b["name"].split(" ")[0], b["value"], b["standard_error"], dict(zip(names, b["coefficients"]))) for b in found["base_parameters"]]
    return [(p["name"], p["value"], p["standard_error"], {p["name"]: 1}) for p in found["parameters"]]


def cover(name, files, seeds, seconds):
    truth, steps, settings = TASKS[name]
    numbers, doubted = {}, 0
    sets = [a for s in [*["scene." + s for s in steps], *settings, "identify.train=1"] for a in ("--set", s)]
    os.makedirs(f"{WORK}/{name}-noisy", exist_ok=True)
    for old in os.listdir(f"{WORK}/{name}-noisy"):
        os.remove(f"{WORK}/{name}-noisy/{old}")
    for seed in range(1, seeds + 1):
        rng = random.Random(seed)
        if time.time() - BEGIN > seconds:
            break
        for number, (head, rows) in enumerate(files):
            with open(f"{WORK}/{name}-noisy/{number}.csv", "w", newline="") as file:
                csv.writer(file).writerows([head, *with_noise(name, head, rows, rng)])
        done = subprocess.run([SDRS, "identify", f"scenes/identify/{name}.yaml", "--data", f"{WORK}/{name}-noisy/*.csv", "-q", "--threads", "1", "-o", f"{WORK}/{name}-fit", *sets],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"{name}, seed {seed}: exit {done.returncode}\n{done.stderr}")
        found = json.load(open(f"{WORK}/{name}-fit/identify.json"))
        doubted += len(found["doubts"]) > 0
        for parameter, value, error, coefficients in told(found):
            if error is None:  # not told by this seed's data: no interval, and not counted
                continue
            true = sum(c * truth[n] for n, c in coefficients.items())
            numbers.setdefault(parameter, (true, []))[1].append((value, error))
    rows = []
    for parameter, (true, values) in numbers.items():
        inside = sum(abs(v - true) <= 1.959963984540054 * e for v, e in values)
        scatter = math.sqrt(sum((v - true) ** 2 for v, _ in values) / len(values))
        mean = sum(e for _, e in values) / len(values)
        rows.append([name, parameter, f"{true:.6g}", len(values), inside, f"{mean:.3g}", f"{scatter:.3g}", doubted])
    return rows


def main():
    os.chdir(ROOT)
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else math.inf
    table = [["task", "parameter", "truth", "seeds", "intervals_that_hold_it", "mean_standard_error", "scatter", "seeds_doubted"]]
    clean = {name: clean_rows(name, TASKS[name][1]) for name in TASKS}
    with ThreadPoolExecutor(len(TASKS)) as pool:
        for rows in pool.map(lambda name: cover(name, clean[name], seeds, seconds), TASKS):
            table += rows
            print(f"{rows[0][0]}: {sum(r[4] for r in rows)} of {sum(r[3] for r in rows)}", file=sys.stderr, flush=True)
    with open(sys.argv[2], "w", newline="") if len(sys.argv) > 2 else sys.stdout as out:
        csv.writer(out, lineterminator="\n").writerows(table)


if __name__ == "__main__":
    main()
