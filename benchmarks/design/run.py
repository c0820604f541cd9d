#!/usr/bin/env python3
"""Success rates of optimizers on design tasks, from starts that are perturbed: one row a task and method.

    benchmarks/design/run.py [--sdrs ./sdrs] [--methods auto,lbfgs,adam,cma_es] [--starts N] [--seed S] [--spread 0.03] [--budget SECONDS] [--csv FILE] [TASK...]

A start moves every variable evenly within the spread times the range between its bounds, times its own size where it has no bounds. Start 0 is the task's own.
The tasks keep their settings but the method and its steps, which follow from the ranges of the variables. An iteration is one trial for each of them. Every run has one thread. No run begins after the
budget of processor time is used up; the rows then say how many starts were run. Without TASK: those of TASKS.
"""
import argparse
import csv
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TASKS = sorted(os.path.join(HERE, name) for name in os.listdir(HERE) if name.endswith(".yaml")) + [
    os.path.join(ROOT, "scenes/tasks", name + ".yaml") for name in ("policy", "grasp-free", "billiards", "push", "single-jaw")]
ITERATIONS = 60


def optimize(sdrs, task, method, folder, sets, iterations=ITERATIONS):
    """(processor seconds, summary or None) with this method and its default steps"""
    return optimize_as(sdrs, task, folder, ["--set", f"optimizer={{type: {method}, iterations: {iterations}}}"] + sets)


def optimize_as(sdrs, task, folder, options):
    """(processor seconds, summary or None) with the task's own settings and these options"""
    before = os.times()
    command = [sdrs, "optimize", task, "--threads", "1", "-q", "-o", folder, "--no-overview", "--no-converge"] + options
    done = subprocess.run(command, capture_output=True, text=True)
    after = os.times()
    seconds = after.children_user - before.children_user + after.children_system - before.children_system
    path = os.path.join(folder, "summary.json")
    if done.returncode != 0 or not os.path.exists(path):
        print(done.stderr.strip(), file=sys.stderr)
        return seconds, None
    with open(path, encoding="utf-8") as file:
        return seconds, json.load(file)


def perturb(source, folder, spread, generator):
    """design.csv of the source, with all best values moved, in another folder."""
    with open(os.path.join(source, "design.csv"), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        initial, low, high = (float(row[key]) if row[key] else float("nan") for key in ("initial", "low", "high"))
        bounded = low == low and high == high and abs(low) < 1e300 and abs(high) < 1e300
        moved = initial + spread * generator.uniform(-1, 1) * (high - low if bounded else abs(initial))
        row["best"] = repr(min(max(moved, low), high) if bounded else moved)
    os.makedirs(folder)
    with open(os.path.join(folder, "design.csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK")
    parser.add_argument("--sdrs", default=os.path.join(ROOT, "sdrs"))
    parser.add_argument("--methods", default="auto,lbfgs,adam,cma_es")
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--spread", type=float, default=0.03)
    parser.add_argument("--budget", type=float, default=float("inf"))
    parser.add_argument("--csv")
    options = parser.parse_args()
    sdrs, used, rows = os.path.abspath(options.sdrs), 0.0, {}
    tasks, methods = options.tasks or TASKS, options.methods.split(",")
    print(f"seed {options.seed}, spread {options.spread:g}, {options.starts} starts, {ITERATIONS} iterations", flush=True)
    with tempfile.TemporaryDirectory() as work:
        # Start by start through all tasks, so that a budget leaves none out.
        for start, task, method in itertools.product(range(options.starts), tasks, methods):
            name = os.path.splitext(os.path.basename(task))[0]
            own, folder, begin = (os.path.join(work, f"{name}-{end}") for end in (f"{methods[0]}-0", f"{method}-{start}", f"from-{start}"))
            if used > options.budget:
                continue
            sets = []
            if start > 0:
                if not os.path.exists(begin):
                    perturb(own, begin, options.spread, random.Random(f"{options.seed}/{name}/{start}"))
                sets = ["--set", f"from={{run: {begin}}}"]
            seconds, summary = optimize(sdrs, task, method, folder, sets)
            used += seconds
            row = rows.setdefault((name, method), {"starts": 0, "successes": 0, "seconds": 0.0, "losses": []})
            row["starts"] += 1
            row["seconds"] += seconds
            if summary:
                row["successes"] += summary["success"] is True
                row["losses"] += [summary["best_loss"]] if "best_loss" in summary else []  # none with `receding`
            print(f"{name} {method} start {start}: {'failed' if not summary else summary['success']} {seconds:.1f} s", flush=True)
    fields = ["task", "method", "starts", "successes", "best", "worst", "seconds"]
    table = [[name, method, r["starts"], r["successes"], f"{min(r['losses'], default=float('nan')):.4g}",
              f"{max(r['losses'], default=float('nan')):.4g}", f"{r['seconds']:.0f}"] for (name, method), r in sorted(rows.items())]
    for row in [fields] + table:
        print("".join(f"{cell!s:>12}" for cell in row))
    print(f"{used:.0f} s of processor time")
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([fields] + table)


if __name__ == "__main__":
    begin = time.monotonic()
    main()
    print(f"{time.monotonic() - begin:.0f} s")
