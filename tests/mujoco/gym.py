#!/usr/bin/env python3
"""Scenes of Gymnasium's robots beside MuJoCo, with the same actions for 1 s: position, velocity and orientation of the torso.

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
# Torso or tip, end of the comparison [s], and limits: position relative to its largest coordinate [1], rotation [rad].
CASES = {"hopper": ("torso", 0.6, 0.03, 0.03), "walker2d": ("torso", 0.2, 0.03, 0.08), "half_cheetah": ("torso", 0.4, 0.02, 0.02),
         "ant": ("torso", 0.2, 0.03, 0.03), "humanoid": ("torso", 0.5, 0.03, 0.12), "swimmer": ("torso", 1.0, 0.02, 0.01),
         "reacher": ("body1", 1.0, 0.01, 0.01), "pusher": ("r_wrist_roll_link", 1.0, 0.01, 0.01)}
FAST = 0.05  # limit of the velocity before the first contact, relative to its largest value
ROW = 0.02  # between rows that are compared [s]
passed = failed = 0


def result(good, text):
    global passed, failed
    passed, failed = passed + good, failed + (not good)
    print("ok  " if good else "FAIL", text)


def actions(name):
    """MuJoCo's controls of the scene's torques: a CSV file, a row a step, linear between them."""
    scene = open(os.path.join(FOLDER, name + ".yaml"), encoding="ascii").read()
    torques = {}
    for link, text in re.findall(r"\{link: (\w+), type: torque,.*terms: \[\{(.*?)\}\]", scene):
        torques[link] = {key: float(value) for key, value in re.findall(r"(\w+): ([-\d.]+)", text)}
    root = tree.parse(os.path.join(FOLDER, name + ".xml")).getroot()
    link_of = {}  # of several joints on a body all but the last move links between
    for number, body in enumerate(root.iter("body"), 1):
        link, joints = body.get("name", f"body{number}"), body.findall("joint")
        link_of.update({joint.get("name"): link if joint is joints[-1] else f"{link}_between{k}" for k, joint in enumerate(joints)})
    motors = [(link_of[motor.get("joint")], float(motor.get("gear", 1))) for motor in root.iter("motor") if motor.get("joint")]
    path = os.path.join(WORK, name + "-actions.csv")
    with open(path, "w", encoding="ascii") as file:
        file.write("time," + ",".join(link for link, _ in motors) + "\n")
        for k in range(round(1 / STEP) + 1):
            values = [terms["amplitude"] * math.sin(2 * math.pi * terms["frequency"] * k * STEP + terms.get("phase", 0)) / gear if terms else 0.0
                      for terms, gear in ((torques.get(link), gear) for link, gear in motors)]
            file.write(",".join(repr(value) for value in [k * STEP, *values]) + "\n")
    return path


def angle(a, b, body):
    return 2 * math.acos(min(1, abs(sum(float(a[f"{body}/q{k}"]) * float(b[f"{body}/q{k}"]) for k in "wxyz"))))


def place(row, body):
    return [float(row[f"{body}/p{k}"]) for k in "xyz"]


def without_fluid(case):
    """The model's path; of one in a fluid that of a copy in WORK without it, as the scene has none."""
    text = open(os.path.join(FOLDER, case + ".xml"), encoding="utf-8").read()
    path = os.path.join(WORK, case + ".xml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r'density="4000"|viscosity="0.1"', "", text))
    return path


for case, (torso, until, near, turned) in CASES.items():
    run = os.path.join(WORK, case)
    subprocess.run([SDRS, "simulate", os.path.join(FOLDER, case + ".yaml"), "-q", "-o", run], check=True, stdout=subprocess.DEVNULL)
    ours = {round(float(row["time"]), 4): row for row in csv.DictReader(open(run + "/trajectory.csv", encoding="utf-8"))}
    done = subprocess.run([RUN, without_fluid(case), "1", repr(ROW), repr(STEP), actions(case)], check=True, capture_output=True, text=True, env=dict(os.environ, CONTACTS="1"))
    contacts = [line.split(",") for line in done.stderr.splitlines() if line.startswith("contact,")]
    resting = {tuple(part[2:4]) for part in contacts if float(part[1]) < 1.5 * ROW}
    first = min([float(part[1]) for part in contacts if float(part[4]) > 1e-3 and tuple(part[2:4]) not in resting], default=1.0)
    pairs = [(ours[at], row) for row in csv.DictReader(done.stdout.splitlines()) if (at := round(float(row["time"]), 4)) in ours and at <= until + 1e-9]
    places = [[place(row, torso) for row in pair] for pair in pairs]
    size = max(abs(x) for _, b in places for x in b)
    off = max(abs(x - y) for a, b in places for x, y in zip(a, b)) / size
    speeds = [[[(y - x) / ROW for x, y in zip(places[k][side], places[k + 1][side])] for side in (0, 1)]
              for k in range(len(places) - 1) if float(pairs[k + 1][1]["time"]) < first - 1e-9]
    speed = max(math.hypot(*b) for _, b in speeds)
    off_speed = max(math.dist(a, b) for a, b in speeds) / speed
    turn = max(angle(a, b, torso) for a, b in pairs)
    moved = math.dist(places[0][1], places[-1][1])
    result(len(pairs) > until / 0.03 and moved > 0.02 and off < near, f"{case}: {torso} within {100 * off:.2f} % of {size:.3g} m until {until} s; it moves {moved:.3g} m")
    result(len(speeds) > 2 and off_speed < FAST, f"{case}: velocity within {100 * off_speed:.2f} % of {speed:.3g} m/s until the first contact at {first:.2f} s")
    result(turn < turned, f"{case}: {torso} turned alike within {turn:.2g} rad")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
