#!/usr/bin/env python3
"""Scenes of Gymnasium's robots beside MuJoCo, with the same actions for 1 s: height and orientation of the torso, and how far it went.

    tests/mujoco/gym.py SDRS MUJOCO_RUN WORK_FOLDER

Prints `ok` or `FAIL` a quantity and `N passed, N failed`."""
import csv
import math
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as tree

SDRS, RUN, WORK = sys.argv[1:4]
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scenes/gym")
STEP = 0.002  # of actions [s]
# Torso or tip, until when it is compared [s], and limits: height or place relative to its largest size [1], pitch [rad].
CASES = {"hopper": ("torso", 0.6, 0.03, 0.03), "half_cheetah": ("torso", 0.4, 0.02, 0.02), "reacher": ("body1", 1.0, 0.01, 0.01)}
passed = failed = 0


def result(good, text):
    global passed, failed
    passed, failed = passed + good, failed + (not good)
    print("ok  " if good else "FAIL", text)


def actions(name):
    """MuJoCo's controls of the scene's torques: a CSV file, a row a step, held for one."""
    scene = open(os.path.join(FOLDER, name + ".yaml"), encoding="ascii").read()
    torques = {}
    for link, text in re.findall(r"\{link: (\w+), type: torque,.*terms: \[\{(.*?)\}\]", scene):
        torques[link] = {key: float(value) for key, value in re.findall(r"(\w+): ([-\d.]+)", text)}
    root = tree.parse(os.path.join(FOLDER, name + ".xml")).getroot()
    body_of = {joint.get("name"): body.get("name") for body in root.iter("body") for joint in body.findall("joint")}
    motors = [(body_of[motor.get("joint")], float(motor.get("gear"))) for motor in root.iter("motor") if motor.get("joint")]
    path = os.path.join(WORK, name + "-actions.csv")
    with open(path, "w", encoding="ascii") as file:
        file.write("time," + ",".join(link for link, _ in motors) + "\n")
        for k in range(round(1 / STEP) + 1):
            values = [torques[link]["amplitude"] * math.sin(2 * math.pi * torques[link]["frequency"] * k * STEP + torques[link].get("phase", 0)) / gear
                      for link, gear in motors]
            file.write(",".join(repr(value) for value in [k * STEP, *values]) + "\n")
    return path


def angle(a, b, body):
    return 2 * math.acos(min(1, abs(sum(float(a[f"{body}/q{k}"]) * float(b[f"{body}/q{k}"]) for k in "wxyz"))))


for case, (torso, until, near, turned) in CASES.items():
    run = os.path.join(WORK, case)
    subprocess.run([SDRS, "simulate", os.path.join(FOLDER, case + ".yaml"), "-q", "-o", run], check=True, stdout=subprocess.DEVNULL)
    ours = {round(float(row["time"]), 4): row for row in csv.DictReader(open(run + "/trajectory.csv", encoding="utf-8"))}
    done = subprocess.run([RUN, os.path.join(FOLDER, case + ".xml"), "1", "0.02", repr(STEP), actions(case)], check=True, capture_output=True, text=True)
    pairs = [(ours[at], row) for row in csv.DictReader(done.stdout.splitlines()) if (at := round(float(row["time"]), 4)) in ours and at <= until + 1e-9]
    size = max(abs(float(b[f"{torso}/p{k}"])) for _, b in pairs for k in "xyz")
    off = max(abs(float(a[f"{torso}/p{k}"]) - float(b[f"{torso}/p{k}"])) for a, b in pairs for k in "xyz") / size
    turn = max(angle(a, b, torso) for a, b in pairs)
    first, last = pairs[0][1], pairs[-1][1]
    moved = math.dist(*[[float(row[f"{torso}/p{k}"]) for k in "xyz"] for row in (first, last)])
    result(len(pairs) > until / 0.03 and moved > 0.05 and off < near, f"{case}: {torso} within {100 * off:.2f} % of {size:.3g} m until {until} s; it moves {moved:.3g} m")
    result(turn < turned, f"{case}: {torso} turned alike within {turn:.2g} rad")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
