#!/usr/bin/env python3
"""A design found by sdrs under its own control in MuJoCo: does what holds here hold there?

    tests/mujoco/designs.py SDRS MUJOCO_RUN WORK_FOLDER [RESULTS.csv [PICTURE.png]]

single-jaw: the height of the object over time, in sdrs and in MuJoCo with its time steps and contact settings, its own spread. The export
leaves out the gripper's gravity compensation (MuJoCo 2.2.2 has none): its weight comes to the target of its height instead,
which is the same force. Prints `ok` or `FAIL` a row and `N passed, N failed`; RESULTS.csv has a column a run, PICTURE.png is drawn by gnuplot."""
import csv
import os
import subprocess
import sys

SDRS, RUN, WORK = sys.argv[1:4]
DURATION, INTERVAL = 4.8, 0.05
WEIGHT, GAIN = 9.81 * 1.0, 200.0  # of the gripper [N], of the controller of its height [N/m]
# name, time step [s] (0: the file's, 1 ms), contact's time constant [s], dampratio
SETTINGS = [("MuJoCo", 0, 0.01, 5), ("0.5 ms", 0.0005, 0.01, 5), ("2 ms", 0.002, 0.01, 5), ("soft", 0, 0.02, 1), ("hard", 0, 0.004, 1)]


def table(lines):
    return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(lines)]


def replay(model, controls, setting):
    name, step, constant, damping = setting
    changed = os.path.join(WORK, "replay.xml")
    with open(model, encoding="utf-8") as file:
        text = file.read().replace('solref="0.01 5"', f'solref="{constant} {damping}"')
    with open(changed, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([RUN, changed, repr(DURATION), repr(INTERVAL), repr(step), controls], check=True, capture_output=True, text=True)
    return name, table(done.stdout.splitlines())


def with_weight(path):
    with open(path, encoding="utf-8") as file:
        rows = list(csv.reader(file))
    at = rows[0].index("gripper/z")
    for row in rows[1:]:
        row[at] = repr(float(row[at]) + WEIGHT / GAIN)
    with open(path, "w", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def runs():
    best, ours, model = (os.path.join(WORK, name) for name in ("single-jaw/best.scene.yaml", "single-jaw-run", "single-jaw.xml"))
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    if not os.path.exists(best):
        subprocess.run([SDRS, "optimize", "scenes/tasks/single-jaw.yaml", "-q", "-o", os.path.dirname(best)], **quiet)
    subprocess.run([SDRS, "simulate", best, "-q", "-o", ours], **quiet)
    subprocess.run([SDRS, "export", best, "-q", "-o", model], **quiet)
    controls = os.path.join(WORK, "single-jaw.controls.csv")
    with_weight(controls)
    with open(os.path.join(ours, "trajectory.csv"), encoding="utf-8") as file:
        rows = table(file)
    every = round(INTERVAL / (rows[1]["time"] - rows[0]["time"]))
    return [("sdrs", rows[::every])] + [replay(model, controls, setting) for setting in SETTINGS]


def judge(all_runs):
    """Held: it has left the ground by 4 cm or more, and moves by less than 5 mm against the gripper in the last half second."""
    passed = 0
    for name, rows in all_runs:
        last, before = rows[-1], rows[-1 - round(0.5 / INTERVAL)]
        height = last["object/pz"] - rows[0]["object/pz"]
        creep = abs(last["object/pz"] - last["gripper/pz"] - before["object/pz"] + before["gripper/pz"])
        apart = max(abs(a["object/pz"] - b["object/pz"]) for a, b in zip(rows, all_runs[0][1]))
        held = height > 0.04 and creep < 0.005
        passed += held
        print(f"{'ok  ' if held else 'FAIL'} single-jaw, {name}: raised by {height:.4f} m, creeps by {creep:.2e} m in 0.5 s, at most {apart:.4f} m from sdrs")
    print(f"{passed} passed, {len(all_runs) - passed} failed")
    return passed == len(all_runs)


def write(all_runs, path):
    with open(path, "w", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["time"] + [name for name, _ in all_runs])
        for rows in zip(*(rows for _, rows in all_runs)):
            out.writerow([f"{rows[0]['time']:.2f}"] + [f"{row['object/pz']:.5f}" for row in rows])


def draw(table_path, path, names):
    lines = ", ".join(f"'{table_path}' using 1:{k + 2} with lines lw {3 if k == 0 else 1} title '{name}'" for k, name in enumerate(names))
    script = (f"set terminal pngcairo size 640,400; set output '{path}'; set datafile separator ','; set key left top; set grid; "
              f"set xlabel 'time [s]'; set ylabel 'height of the object [m]'; plot {lines}")
    subprocess.run(["gnuplot", "-e", script], check=True)


def main():
    all_runs = runs()
    held = judge(all_runs)
    if len(sys.argv) > 4:
        write(all_runs, sys.argv[4])
    if len(sys.argv) > 5:
        draw(sys.argv[4], sys.argv[5], [name for name, _ in all_runs])
    sys.exit(not held)


main()
