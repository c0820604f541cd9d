#!/usr/bin/env python3
"""What tests/mujoco/current.sh has made, compared: tests/mujoco/current.py WORK "EXPORTED..." "MODELS...". Prints a line a file and
`N passed, N failed`."""
import csv
import json
import os
import re
import sys

work, exported, models = sys.argv[1], sys.argv[2].split(), sys.argv[3].split()
LIMIT = 1e-12  # m, and of dampings relative: rounding
SINGLE = {"cables": 1e-7}  # m: MuJoCo has their vertices in single precision
found = json.load(open(os.path.join(work, "found.json"), encoding="utf-8"))
passed = failed = 0


def result(good, text):
    global passed, failed
    passed, failed = passed + good, failed + (not good)
    print("ok  " if good else "FAIL", text)


def dampings(path):
    """damping_gain by link, in the order of the file"""
    link, gains = None, {}
    for line in open(path, encoding="utf-8"):
        link = (re.match(r"  - link: \"?([^\"\n]+)", line) or [None, link])[1]
        gain = re.match(r"    damping_gain: \[(.+)\]", line)
        if gain:
            gains[link] = float(gain[1])
    return gains


for name in exported:
    model = found[name + ".xml"]
    result(model.get("finite", False) and model["bodies"] > 0, f"{name}: {model.get('error') or str(model['bodies']) + ' bodies load and move'}")
for name in models:
    model = found[name + ".xml"]
    if "error" in model:
        result(False, f"{name}: {model['error']}")
        continue
    row = next(csv.DictReader(open(os.path.join(work, name, "trajectory.csv"), encoding="utf-8")))
    compared = [(abs(float(row[f"{body}/c{axis}"]) - theirs[k]), body) for body, theirs in model["centers"].items()
                for k, axis in enumerate("xyz") if f"{body}/cx" in row]
    worst = max(compared)
    result(worst[0] < SINGLE.get(name, LIMIT) and len(compared) >= 15, f"{name}: {len(compared) // 3} centres of mass within {worst[0]:.1e} m ({worst[1]})")
    gains = list(dampings(os.path.join(work, name + ".yaml")).values())
    theirs = [value for value in model["damping"].values() if value > 0]
    if theirs:
        off = max(abs(a - b) / b for a, b in zip(gains, theirs))
        result(off < LIMIT and len(gains) == len(theirs), f"{name}: {len(theirs)} dampings within {off:.1e}")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
