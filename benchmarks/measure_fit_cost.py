#!/usr/bin/env python3
"""What an iteration of sdrs identify costs: 57 measured tosses of a cube, 20 parameters.

    benchmarks/measure_fit_cost.py TOSSES [RESULTS.csv]     TOSSES: the folder of the cube's files; benchmarks/results/fit-cost.csv is made so

CPU seconds of a run of three iterations less those of a run of one, by two: derivatives of all tosses, and a trial without. Half of
it is the time on two cores, which share the tosses."""
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SDRS = os.environ.get("SDRS", os.path.join(ROOT, "sdrs"))
TWENTY = ("parameters=[{type: center, link: cube, prior: 0.003}, {type: friction, low: 0.01, high: 1}, {type: gravity, axes: [x, y, z], within: 0.5, prior: 0.1}, "
          "{type: inertia, link: cube}, {type: rest_speed, low: 0.02, high: 2}, {type: size, link: cube, prior: 0.01}, {type: barrier_distance}, {type: smoothing}]")
CASES = {  # what, settings
    "whole tosses, 4 steps a sample": ["identify.window=10", "identify.stride=10", "set=[simulation.substeps=4, contact.barrier_distance=0.002, contact.rest_speed=0.3]"],
    "windows of 0.3 s, 8 steps a sample": ["set=[simulation.substeps=8, contact.barrier_distance=0.002, contact.rest_speed=0.3]"],
    "the same with restitution": [],
}


def fit(folder, tosses, settings, iterations):
    """Numbers of the fit, and its CPU seconds."""
    sets = [a for s in [TWENTY, *settings, "identify.train=1", "identify.keep_undetermined=true"] for a in ("--set", s)]
    names = sorted(n for n in os.listdir(tosses) if n.endswith(".csv"))[::2][:57]
    files = [a for n in names for a in ("--data", os.path.join(tosses, n))]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([SDRS, "identify", "scenes/identify/cube.yaml", *files, "-q", "--threads", "2", "--iterations", str(iterations),
                    "-o", folder, *sets], check=True, stdout=subprocess.DEVNULL)
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return json.load(open(f"{folder}/identify.json")), cpu


def main():
    tosses = os.path.abspath(sys.argv[1])
    os.chdir(ROOT)
    table = [["what", "tosses", "parameters", "cpu_seconds_an_iteration", "half_of_it"]]
    with tempfile.TemporaryDirectory() as folder:
        for what, settings in CASES.items():
            first, few = fit(folder, tosses, settings, 1)
            last, many = fit(folder, tosses, settings, 3)
            assert last["iterations"] - first["iterations"] == 2
            cpu = (many - few) / 2
            table.append([what, last["shots"], len(last["parameters"]), f"{cpu:.2f}", f"{cpu / 2:.2f}"])
            print(*table[-1], flush=True)
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows(table)


if __name__ == "__main__":
    main()
