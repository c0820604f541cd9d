#!/usr/bin/env python3
"""Measured tosses fitted in MuJoCo without gradients, beside what sdrs identify finds of the same tosses.

    tests/mujoco/tosses.py SDRS MUJOCO_TOSSES WORK_FOLDER TOSSES [cube] [elbow] [RESULTS.csv]

The same split, loss, priors and parameters, and what MuJoCo's contact has besides (solref); Nelder and Mead's method with as many
simulated tosses as sdrs identify took; of the cube also with ten times as many, half of them from another stiffness of the contact.
Prints `ok` or `FAIL` a row and `N passed, N failed`."""
import csv
import json
import math
import os
import resource
import subprocess
import sys

SDRS, PROGRAM, WORK, TOSSES = sys.argv[1:5]
STEPS = 4  # between two rows, as the scenes have (simulation.substeps)
# name, value to begin with, first step, smallest and largest value, prior
CONTACT = [("solref/0", 0.02, 0.01, 0.004, 0.2, None), ("solref/1", 1.0, 0.5, 0.05, 20.0, None)]
STIFF = [0.01, 5.0]  # solref of the models that sdrs export writes
FITS = {
    "cube": {
        "deviations": [0.002, 0.03, 0.03], "huber": 3, "efforts": [0, 1, 10],
        "parameters": [("friction", 0.18, 0.03, 0.01, 1.0, None), ("height", 0.0, 0.001, -0.005, 0.005, None),
                       *[(f"ipos/cube/{k}", 0.0, 0.001, -0.02, 0.02, 0.003) for k in range(3)],
                       *[(f"gravity/{k}", 0.0, 0.05, -0.5, 0.5, 0.1) for k in range(2)],
                       ("inertia/cube", 1.0, 0.1, 0.3, 3.0, 0.1), *CONTACT]},
    "elbow": {
        "deviations": [0.002, 0.03, 0.03], "huber": 3, "efforts": [0, 1],  # ten times as many take ten minutes
        "parameters": [("friction", 0.3, 0.05, 0.05, 1.0, None), ("inertia/first", 1.0, 0.2, 0.2, 3.0, None),
                       ("inertia/second", 1.0, 0.2, 0.2, 3.0, None), ("damping/second/angle", 1e-4, 1e-4, 0.0, 0.05, None),
                       ("frictionloss/second/angle", 1e-3, 1e-3, 0.0, 0.1, None), *CONTACT]},
}


class Model:
    """The runs in MuJoCo, those for training first."""

    def __init__(self, name, runs):
        self.fit = FITS[name]
        self.names = [p[0] for p in self.fit["parameters"]]
        self.files = [r["file"] for r in runs if r["training"]] + [r["file"] for r in runs if not r["training"]]
        self.training = sum(r["training"] for r in runs)
        self.simulated = 0
        model = os.path.join(WORK, name + ".xml")
        subprocess.run([SDRS, "export", f"scenes/identify/{name}-scene.yaml", "-q", "-o", model], check=True, stdout=subprocess.DEVNULL)
        words = [str(d) for d in [*self.fit["deviations"], self.fit["huber"]]]
        self.process = subprocess.Popen([PROGRAM, model, str(STEPS), *words, *self.names, "--", *self.files],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def answer(self, values, count):
        self.process.stdin.write(" ".join([str(count), *map(repr, values)]) + "\n")
        self.process.stdin.flush()
        return [[float(x) for x in self.process.stdout.readline().split()] for _ in range(count)]

    def within(self, values):
        return [min(max(v, p[3]), p[4]) for v, p in zip(values, self.fit["parameters"])]

    def cost(self, values):
        self.simulated += self.training
        own = sum(0.5 * ((v - p[1]) / p[5]) ** 2 for v, p in zip(values, self.fit["parameters"]) if p[5])
        return own + sum(row[0] for row in self.answer(values, self.training))

    def validation(self, values):
        rows = self.answer(values, len(self.files))[self.training:]
        return [sum(row[1 + k] for row in rows) / len(rows) for k in range(3)]


def nelder_mead(model, first, most):
    """The best point after so many simulated runs (Nelder and Mead 1965, coefficients 1, 2, 1/2, 1/2)."""
    most += model.simulated
    simplex = [(model.cost(first), first)]
    for k, p in enumerate(model.fit["parameters"]):
        point = model.within([v + (p[2] if i == k else 0) for i, v in enumerate(first)])
        simplex.append((model.cost(point), point))

    def try_at(factor, worst, centre):
        point = model.within([c + factor * (w - c) for c, w in zip(centre, worst)])
        return model.cost(point), point

    while model.simulated < most:
        simplex.sort()
        worst = simplex[-1]
        centre = [sum(s[1][k] for s in simplex[:-1]) / (len(simplex) - 1) for k in range(len(first))]
        trial = try_at(-1, worst[1], centre)
        if trial[0] < simplex[0][0]:
            trial = min(trial, try_at(-2, worst[1], centre))
        elif trial[0] >= simplex[-2][0]:
            trial = min(trial, try_at(0.5 if trial[0] >= worst[0] else -0.5, worst[1], centre))
        if trial[0] < worst[0]:
            simplex[-1] = trial
            continue
        best = simplex[0][1]
        points = [[0.5 * (b + v) for b, v in zip(best, s[1])] for s in simplex[1:]]
        simplex = [simplex[0], *[(model.cost(p), p) for p in points]]
    return min(simplex)


def tell(rows, name, what, runs, errors):
    rows.append([name, what, runs, *[f"{e:.5g}" for e in errors]])
    print(f"{name}: {what}: {runs} runs, validation {1000 * errors[0]:.2f} mm, {errors[1]:.3f} rad" +
          (f", hinge {errors[2]:.3f} rad" if name == "elbow" else ""))


def side_by_side(name, rows):
    folder = os.path.join(WORK, name)
    subprocess.run([SDRS, "identify", f"scenes/identify/{name}.yaml", "--data", f"{TOSSES}/{name}/*.csv", "-q", "-o", folder],
                   check=True, stdout=subprocess.DEVNULL)
    ours = json.load(open(os.path.join(folder, "identify.json")))
    v = ours["validation"]
    tell(rows, name, "sdrs unfitted", 0, [v["unfitted_position"], v["unfitted_rotation"], v["unfitted_coordinate"]])
    tell(rows, name, "sdrs identify", ours["simulated"], [v["position"], v["rotation"], v["coordinate"]])
    first = [p[1] for p in FITS[name]["parameters"]]
    best = None
    for factor in FITS[name]["efforts"]:
        model = Model(name, ours["runs"])
        starts = [first, [*first[:-2], *STIFF]] if factor == 10 else [first]
        found = [nelder_mead(model, start, factor * ours["simulated"] / len(starts)) for start in starts if factor]
        values = min(found)[1] if factor else first
        errors = model.validation(values)
        tell(rows, name, ["MuJoCo unfitted", "MuJoCo fitted", "MuJoCo fitted longer"][min(factor, 2)], model.simulated, errors)
        if factor:
            print("   ", ", ".join(f"{n} {x:.4g}" for n, x in zip(model.names, values)))
        if factor == 1:
            best = errors
        model.process.stdin.close()
        model.process.wait()
    good = v["position"] < best[0] and v["rotation"] < best[1] and math.isfinite(best[0])
    print("ok" if good else "FAIL", name, "validation error below MuJoCo's fit of as many runs")
    return good


def main():
    rows, results = [["object", "fit", "simulated_runs", "position", "rotation", "hinge"]], []
    for name in [a for a in sys.argv[5:] if a in FITS] or list(FITS):
        results.append(side_by_side(name, rows))
    print(f"CPU time of the fits: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime:.0f} s")
    for path in [a for a in sys.argv[5:] if a.endswith(".csv")]:
        with open(path, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return not all(results)


if __name__ == "__main__":
    sys.exit(main())
