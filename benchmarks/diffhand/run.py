#!/usr/bin/env python3
"""Runs the tasks of DiffHand and prints them beside DiffHand's own runs: objective at the start and at the end, simulations, CPU seconds.

    benchmarks/diffhand/run.py [--sdrs ./sdrs] [--starts N] [--seed S] [--spread 0.03] [--simulations N] [--csv FILE] [--out FOLDER] [TASK...]

Start 0 is the task's own; another start moves every variable evenly within the spread times its range. Simulations: half of DiffHand's unless given; an iteration is one, and the start is one more. Every
run has one thread. DiffHand's numbers are those of issue 45: built and run on one core of the machine, L-BFGS-B with analytic gradients.
"""
import argparse
import csv
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "design"))
from run import optimize_as, perturb  # noqa: E402

# objective at the start and at the end, simulations, CPU seconds
DIFFHAND = {"reach": (3733.1, 639.3, 345, 890), "rotate": (4466.2, 398.3, 394, 649), "flip": (3991.6, 1433.2, 217, 229), "assemble": (57648, 12758, 121, 1000)}
# what DiffHand adds to the objective, which the task does not: - 100 (6^2 + 2.8^2)
CONSTANT = {"assemble": -4384.0}


def losses(folder):
    with open(os.path.join(folder, "convergence.csv"), newline="", encoding="utf-8") as file:
        constant = CONSTANT.get(os.path.basename(folder).rpartition("-")[0], 0)
        return [float(row["loss"]) + constant for row in csv.DictReader(file)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK", default=[])
    parser.add_argument("--sdrs", default=os.path.join(ROOT, "sdrs"))
    parser.add_argument("--starts", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--spread", type=float, default=0.03)
    parser.add_argument("--simulations", type=int)
    parser.add_argument("--csv")
    parser.add_argument("--out", help="folder for the runs; by default they are deleted")
    options = parser.parse_args()
    names = options.tasks or [name for name in DIFFHAND if os.path.exists(os.path.join(HERE, name + ".yaml"))]
    fields = ["task", "start", "objective_start", "objective_end", "simulations", "cpu_s"]
    rows = [[name, "DiffHand", *DIFFHAND[name]] for name in names]
    with tempfile.TemporaryDirectory() as work:
        folder = options.out or work
        for start in range(options.starts):
            for name in names:
                task, out = os.path.join(HERE, name + ".yaml"), os.path.join(folder, f"{name}-{start}")
                simulations = options.simulations or DIFFHAND[name][2] // 2
                sets = ["--iterations", str(simulations - 1)]
                if start > 0:
                    begin = os.path.join(work, f"{name}-from-{start}")
                    perturb(os.path.join(folder, f"{name}-0"), begin, options.spread, random.Random(f"{options.seed}/{name}/{start}"))
                    sets += ["--set", f"from={{run: {begin}}}"]
                seconds, summary = optimize_as(os.path.abspath(options.sdrs), task, out, sets)
                if not summary:
                    print(f"{name} start {start} failed", file=sys.stderr)
                    continue
                course = losses(out)
                rows.append([name, start, f"{course[0]:.1f}", f"{min(course):.1f}", len(course), f"{seconds:.1f}"])
                print(*rows[-1], flush=True)
    print()
    for row in [fields] + sorted(rows, key=lambda row: (row[0], str(row[1]) != "DiffHand", str(row[1]))):
        print("".join(f"{cell!s:>17}" for cell in row))
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([fields] + rows)


if __name__ == "__main__":
    main()
