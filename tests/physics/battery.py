#!/usr/bin/env python3
"""Runs the scenes of rows.py and compares what is measured on them with the right values.

    tests/physics/battery.py SDRS WORK_FOLDER [--table] [--mujoco MUJOCO_RUN] [--only WORDS] [--set KEY=VALUE]...

Prints `ok`, `known` or `FAIL` a row and variant, then `N passed, N failed`. A known shortfall counts as passed while it
lasts; one that is gone fails, so that the table stays true. Rows marked as long (0.7 s and more of a kind that others show) run with SDRS_LONG in the
environment, and in the table. --table prints the rows as a Markdown table instead, with
--mujoco (tests/mujoco/mujoco_run.c) also what MuJoCo makes of the exported scenes with its default time step of 2 ms.
"""

import argparse
import csv
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rows import ROWS
from run_of import Run


def run_scene(sdrs, folder, name, scene, sets):
    """Simulates a scene; returns its run, with the columns of solver.csv in `solver`."""
    os.makedirs(folder, exist_ok=True)
    path, out = os.path.join(folder, name + ".yaml"), os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(scene)
    options = [word for text in sets for word in ("--set", text)]
    done = subprocess.run([sdrs, "simulate", path, "-q", "-o", out, *options], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    with open(os.path.join(out, "trajectory.csv"), encoding="utf-8") as file:
        run = Run(file)
    with open(os.path.join(out, "solver.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    run.solver = {key: [float(row[key]) for row in rows] for key in rows[0] if key != "outcome"}
    for key in ("reactions", "imu"):  # where the scene asks for them
        file = os.path.join(out, key + ".csv")
        if os.path.exists(file):
            with open(file, encoding="utf-8") as lines:
                setattr(run, key, Run(lines))
    return run


def run_mujoco(sdrs, program, folder, name, scene, sets):
    """The same scene, exported, in MuJoCo."""
    os.makedirs(folder, exist_ok=True)
    path, model = os.path.join(folder, name + ".yaml"), os.path.join(folder, name + ".xml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(scene)
    options = [word for text in sets for word in ("--set", text)]
    export = subprocess.run([sdrs, "export", path, "-q", "-o", model, *options], capture_output=True, text=True, check=False)
    if export.returncode != 0:
        raise RuntimeError("no export")
    duration = float(re.search(r"duration: ([0-9.e-]+)", scene)[1])  # every scene gives one
    done = subprocess.run([program, model, repr(duration), "0.01", "0.002"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    return Run(done.stdout.splitlines())


def mujoco_cell(args, number, row, ours):
    try:
        run = run_mujoco(args.sdrs, args.mujoco, args.work, f"{number}-mujoco", row.scene, args.set)
        run.add_centers(ours)
        seen = row.measure(run)
    except (RuntimeError, AttributeError, KeyError, ValueError, IndexError, StopIteration, ZeroDivisionError):
        return "-"
    return f"{seen:.6g}" if abs(seen - row.right) <= row.within else f"**{seen:.6g}**"


def variants(row):
    yield "default", ()
    if row.recommended:
        yield "recommended", tuple(row.recommended)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sdrs")
    parser.add_argument("work")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--mujoco", help="the program of tests/mujoco/mujoco_run.c")
    parser.add_argument("--only", default="")
    parser.add_argument("--set", action="append", default=[], help="an override of every scene")
    args = parser.parse_args()
    passed = failed = 0
    runs = {}  # of scenes that several rows measure
    if args.table:
        print("| scene | right | within | default | recommended | MuJoCo | source |\n|---|---|---|---|---|---|---|")
    for number, row in enumerate(ROWS):
        if args.only not in row.name or row.long and not (args.table or args.only or os.environ.get("SDRS_LONG")):
            continue
        cells, ours = {}, None
        for variant, sets in variants(row):
            try:
                if (row.scene, sets) not in runs:
                    runs[row.scene, sets] = run_scene(args.sdrs, args.work, f"{number}-{variant}", row.scene, [*args.set, *sets])
                run = runs[row.scene, sets]
                ours = ours or run
                seen = row.measure(run)
                good = abs(seen - row.right) <= row.within
                shown = f"{seen:.6g}"
            except (RuntimeError, IndexError, ZeroDivisionError) as error:
                good, shown = False, f"no answer ({error})"
            known = row.known.get(variant)
            cells[variant] = shown if good else f"**{shown}**" + (f" ({known})" if known else "")
            verdict = "ok" if good and not known else "known" if known and not good else "FAIL"
            if verdict == "FAIL":
                failed += 1
            else:
                passed += 1
            if not args.table:
                note = f": {known}" if known else ""
                if good and known:
                    note = f": right now, take the known shortfall out of rows.py ({known})"
                print(f"{verdict:5} {row.name} [{variant}]: {shown}, right {row.right:.6g} +- {row.within:.2g}{note}")
        if args.table:
            other = mujoco_cell(args, number, row, ours) if args.mujoco and ours else ""
            print(f"| {row.name} | {row.right:.6g} | {row.within:.2g} | {cells['default']} | {cells.get('recommended', '')} | {other} | {row.source} |")
    if not args.table:
        print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
