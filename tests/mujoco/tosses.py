#!/usr/bin/env python3
"""Measured tosses fitted in MuJoCo without gradients, beside what sdrs identify finds of the same tosses.

    tests/mujoco/tosses.py SDRS MUJOCO_TOSSES WORK_FOLDER TOSSES [cube] [elbow] [RESULTS.csv]

The same split, loss, priors, parameters and beginnings of runs (velocities at the rows, windows of the same length), and what
MuJoCo's contact has besides (solref). Nelder and Mead's method from two stiffnesses of the contact, each with as many simulated
tosses as sdrs identify took, and of the cube each with five times as many; the start with the smaller cost of the training runs counts.
RESULTS.csv has a row for each toss and fit: mean distances, and those of the last sample. Prints `ok` or `FAIL` a row and
`N passed, N failed`."""
import csv
import json
import math
import os
import resource
import shutil
import subprocess
import sys

SDRS, PROGRAM, WORK, TOSSES = sys.argv[1:5]
STEPS = 4  # between two rows, as the scenes have (simulation.substeps)
# name, value to begin with, first step, smallest and largest value, prior
CONTACT = [("solref/0", 0.02, 0.01, 0.004, 0.2, None), ("solref/1", 1.0, 0.5, 0.05, 20.0, None)]
STIFF = [0.01, 5.0]  # solref of the models that sdrs export writes
FITS = {
    "cube": {
        "deviations": [0.002, 0.03, 0.03], "huber": 3, "efforts": [0, 1, 5], "window": 0.3, "below_mujoco": True,
        "parameters": [("friction", 0.18, 0.03, 0.01, 1.0, None), ("height", 0.0, 0.001, -0.005, 0.005, None),
                       *[(f"ipos/cube/{k}", 0.0, 0.001, -0.02, 0.02, 0.003) for k in range(3)],
                       *[(f"gravity/{k}", 0.0, 0.05, -0.5, 0.5, 0.1) for k in range(2)],
                       ("gravity/2", -9.81, 0.1, -10.31, -9.31, 0.1),
                       ("inertia/cube", 1.0, 0.1, 0.3, 3.0, 0.1), *CONTACT]},
    "elbow": {
        "deviations": [0.002, 0.03, 0.03], "huber": 3, "efforts": [0, 1], "window": None, "below_mujoco": False,  # five times as many take ten minutes
        "parameters": [("friction", 0.3, 0.05, 0.05, 1.0, None), ("inertia/first", 1.0, 0.2, 0.2, 3.0, None),
                       ("inertia/second", 1.0, 0.2, 0.2, 3.0, None), ("damping/second/angle", 1e-4, 1e-4, 0.0, 0.05, None),
                       ("frictionloss/second/angle", 1e-3, 1e-3, 0.0, 0.1, None), *CONTACT]},
}


def at_rows(path, copy, until):
    """A file of rows whose velocities are those at the rows: their own are differences from the row before. until: of the time."""
    rows = list(csv.reader(open(path)))
    names, values = rows[0], [[float(x) for x in row] for row in rows[1:]]
    late = [k for k, name in enumerate(names) if name[0] in "vw" or name == "hinge_rate"]
    with open(copy, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(names)
        for k, row in enumerate(values[:-1]):
            if until is None or row[0] - values[0][0] <= until + 1e-9:
                out.writerow([repr(0.5 * (x + values[k + 1][n]) if n in late else x) for n, x in enumerate(row)])
    return copy


# What of sdrs identify is a parameter here, too.
OURS = {"contact/friction": "friction", "board/attachment/z": "height", **{f"cube/center/{a}": f"ipos/cube/{k}" for k, a in enumerate("xyz")},
        **{f"scene/gravity/{a}": f"gravity/{k}" for k, a in enumerate("xyz")}, "cube/inertia/scale": "inertia/cube",
        "first/inertia/scale": "inertia/first", "second/inertia/scale": "inertia/second",
        "second/damping/0": "damping/second/angle", "second/friction/0": "frictionloss/second/angle"}


class Model:
    """The runs in MuJoCo: those for training as far as the fit looks, then all of them."""

    def __init__(self, name, runs):
        self.fit = FITS[name]
        self.names = [p[0] for p in self.fit["parameters"]]
        self.runs = runs
        self.simulated = 0
        folder = os.path.join(WORK, name + "-rows")
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        training = [r["file"] for r in runs if r["training"]]
        self.training = len(training)
        files = [at_rows(path, f"{folder}/window-{k}.csv", self.fit["window"]) for k, path in enumerate(training)]
        files += [at_rows(r["file"], f"{folder}/{k}.csv", None) for k, r in enumerate(runs)]
        model = os.path.join(WORK, name + ".xml")
        subprocess.run([SDRS, "export", f"scenes/identify/{name}-scene.yaml", "-q", "-o", model], check=True, stdout=subprocess.DEVNULL)
        words = [str(d) for d in [*self.fit["deviations"], self.fit["huber"]]]
        self.process = subprocess.Popen([PROGRAM, model, str(STEPS), *words, *self.names, "--", *files],
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

    def judge(self, values):
        """Distances of every run: position, rotation, hinge, and of its last sample position, rotation."""
        return [row[1:] for row in self.answer(values, self.training + len(self.runs))[self.training:]]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


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


def tell(rows, name, what, simulated, runs, distances):
    """A row for each toss; the means over the tosses that are kept to judge, which are returned, too."""
    for run, own in zip(runs, distances):
        rows.append([name, what, simulated, os.path.basename(run["file"])[:-4], "training" if run["training"] else "validation",
                     *[f"{x:.5g}" for x in own]])
    kept = [own for run, own in zip(runs, distances) if not run["training"]]
    means = [sum(own[k] for own in kept) / len(kept) for k in range(5)]
    print(f"{name}: {what}: {simulated} runs, validation {1000 * means[0]:.2f} mm, {means[1]:.3f} rad, at the end "
          f"{1000 * means[3]:.1f} mm, {means[4]:.3f} rad" + (f", hinge {means[2]:.3f} rad" if name == "elbow" else ""), flush=True)
    return means


def side_by_side(name, rows):
    folder = os.path.join(WORK, name)
    subprocess.run([SDRS, "identify", f"scenes/identify/{name}.yaml", "--data", f"{TOSSES}/{name}/*.csv", "-q", "-o", folder],
                   check=True, stdout=subprocess.DEVNULL)
    ours = json.load(open(os.path.join(folder, "identify.json")))
    keys, runs = ["position", "rotation", "coordinate", "final_position", "final_rotation"], ours["runs"]
    unfitted = tell(rows, name, "sdrs unfitted", 0, runs, [[r["unfitted_" + key] for key in keys] for r in runs])
    fitted = tell(rows, name, "sdrs identify", ours["simulated"], runs, [[r[key] for key in keys] for r in runs])
    first = [p[1] for p in FITS[name]["parameters"]]
    given = {OURS[p["name"]]: p["value"] for p in ours["parameters"] if p["name"] in OURS}
    best = None
    for factor in FITS[name]["efforts"]:
        model = Model(name, runs)
        found = [nelder_mead(model, start, factor * ours["simulated"]) for start in [first, [*first[:-2], *STIFF]] if factor]
        values = min(found)[1] if factor else first
        what = ["MuJoCo unfitted", "MuJoCo fitted", "MuJoCo fitted longer"][min(factor, 2)]
        errors = tell(rows, name, what, model.simulated, runs, model.judge(values))
        if factor:
            print("    costs of the starts", ", ".join(f"{f[0]:.0f}" for f in found), "; ",
                  ", ".join(f"{n} {x:.4g}" for n, x in zip(model.names, values)), flush=True)
            best = min(best, errors) if best else errors
        model.close()
    model = Model(name, runs)  # not a fit without gradients: it begins where gradients have led
    begin = model.within([given.get(p[0], p[1]) for p in FITS[name]["parameters"]])
    tell(rows, name, "MuJoCo from sdrs's values", model.simulated + ours["simulated"], runs,
         model.judge(nelder_mead(model, begin, ours["simulated"])[1]))
    model.close()
    other, what = (best, "MuJoCo's fits") if FITS[name]["below_mujoco"] else (unfitted, "its own without a fit")
    good = fitted[0] < other[0] and fitted[1] < other[1] and math.isfinite(best[0])
    print("ok" if good else "FAIL", name, "validation error below", what)
    return good


def main():
    rows, results = [["object", "fit", "simulated_runs", "toss", "part", "position", "rotation", "hinge", "final_position", "final_rotation"]], []
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
