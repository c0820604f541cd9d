#!/usr/bin/env python3
"""Files of MuJoCo as sdrs import reads them, against MuJoCo itself: where every body is (its centre of mass and its orientation) in
the keyframe and with random joint values; how a model swings by its weight, which masses, inertias, springs and armatures decide.

    tests/mujoco/mjcf.py SDRS URDF_POSES WORK_FOLDER

Prints `ok` or `FAIL` a model and `N passed, N failed`."""
import csv
import os
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as tree

SDRS, POSES, WORK = sys.argv[1:4]
MODELS = os.path.join(os.path.dirname(__file__), "models")
SAMPLES = 6
# Rounding, times the length of a chain; quaternions of files have some digits. [m, 1]
LIMIT = 1e-10
generator = random.Random(21)
passed = failed = 0


def run(*words, **more):
    return subprocess.run(words, check=True, capture_output=True, text=True, **more).stdout


def result(good, text):
    global passed, failed
    passed, failed = passed + good, failed + (not good)
    print("ok  " if good else "FAIL", text)


def joints_of(model):
    """Joints of one degree of freedom with a range within their limits, in the file's unit."""
    root = tree.parse(model).getroot()
    degrees = root.find("compiler") is None or root.find("compiler").get("angle") != "radian"
    for joint in root.iter("joint"):
        if joint.get("name") is None or joint.get("type") in ("ball", "free"):
            continue
        low, high = map(float, (joint.get("range") or "-1 1").split())
        turn = 0.017453292519943295 if degrees and joint.get("range") and joint.get("type") != "slide" else 1
        if joint.get("type") == "slide":
            low, high = max(low, -0.5), min(high, 0.5)
        reference = float(joint.get("ref", 0)) * (0.017453292519943295 if degrees else 1)
        yield joint.get("name"), max(low * turn, -1.5), min(high * turn, 1.5), reference


def rows(text):
    return list(csv.DictReader(text.splitlines()))


def difference(ours, theirs):
    """Largest of all centres of mass and orientations, and how many bodies both have. A quaternion and its negative are one."""
    worst, compared = 0, set()
    for column in theirs:
        body, what = column.rsplit("/", 1)
        if f"{body}/cx" not in ours or what[0] == "p":
            continue
        compared.add(body)
        a, b = float(ours[column]), float(theirs[column])
        if what[0] == "q":
            sign = sum(float(ours[f"{body}/q{k}"]) * float(theirs[f"{body}/q{k}"]) for k in "wxyz")
            a = a if sign > 0 else -a
        worst = max(worst, abs(a - b))
    return worst, len(compared)


def imported(model, name, *words):
    scene = os.path.join(WORK, name + ".yaml")
    run(SDRS, "import", model, "-q", "-o", scene, *words)
    return scene


def simulated(scene, *words):
    folder = scene[:-5] + "-run"
    run(SDRS, "simulate", scene, "-q", "-o", folder, "--set", "contact.model=none", *words)
    return list(csv.DictReader(open(folder + "/trajectory.csv")))


def compare_values(name):
    model, worst, count = os.path.join(MODELS, name + ".xml"), 0, 0
    for _ in range(SAMPLES):
        values = {joint: (generator.uniform(low + 0.1 * (high - low), high - 0.1 * (high - low)), ref)
                  for joint, low, high, ref in joints_of(model)}
        starts = [word for joint, (value, _) in values.items() for word in ("--start", f"{joint}={value!r}")]
        theirs = rows(run(POSES, model, input=" ".join(f"{j}={v + r!r}" for j, (v, r) in values.items()) + "\n"))[0]
        ours = simulated(imported(model, name, "--key", "none", *starts), "--set", "simulation.steps=1")[0]
        found, bodies = difference(ours, theirs)
        worst, count = max(worst, found), max(count, bodies)
    result(worst < LIMIT and count > 0, f"{name}: {count} bodies with {SAMPLES} random values, {worst:.2g} apart")


def compare_key(name, words):
    """The keyframe, whose values MuJoCo is given joint by joint."""
    model = os.path.join(MODELS, name + ".xml")
    theirs = rows(run(POSES, model, input=words + "\n"))[0]
    ours = simulated(imported(model, name), "--set", "simulation.steps=1")[0]
    worst, count = difference(ours, theirs)
    result(worst < LIMIT and count > 0, f"{name}: {count} bodies in the keyframe, {worst:.2g} apart")


def compare_swing(name, duration):
    """By small steps of second order here, of fourth there: what is left halves fourfold with the step."""
    model = os.path.join(MODELS, name + ".xml")
    theirs, found = rows(run(POSES, model, str(duration), input="\n"))[0], []
    scene = imported(model, name, "--key", "none")
    for dt in (1e-3, 5e-4):
        ours = simulated(scene, "--set", f"simulation.dt={dt}", "--set", f"simulation.duration={duration}",
                         "--set", "simulation.integrator=second_order", "--set", "simulation.tolerance=1e-11")[-1]
        found.append(difference(ours, theirs)[0])
    good = found[0] < 1e-4 and 3.4 < found[0] / found[1] < 4.6
    result(good, f"{name}: after {duration} s {found[0]:.2g} apart, with half the step {found[1]:.2g}")


def compare_equality(name, duration, limit):
    """From the start that the import has found, at which loops, couplings and ropes hold: exactly here, softly in MuJoCo, which pulls
    back what has come apart within some 1 ms; twice as softly it is farther away."""
    model = os.path.join(MODELS, name + ".xml")
    scene = imported(model, name)
    ours = simulated(scene, "--set", "simulation.dt=0.0005", "--set", f"simulation.duration={duration}",
                     "--set", "simulation.integrator=second_order", "--set", "simulation.tolerance=1e-11")[-1]
    first = next(csv.DictReader(open(scene[:-5] + "-run/joints.csv")))
    start = {joint: first[place] for joint, place in re.findall(r"#   joint (\S+) = (\S+)", open(scene).read())}
    words = " ".join(f"{joint}={value}" for joint, value in start.items()) + "\n"
    found = []
    for stiffness in ("0.001", "0.002"):
        softer = os.path.join(WORK, name + "-softer.xml")
        open(softer, "w").write(open(model).read().replace('solref="0.001 1"', f'solref="{stiffness} 1"'))
        found.append(difference(ours, rows(run(POSES, softer, str(duration), input=words))[0]))
    (worst, count), (softer, _) = found
    result(worst < limit and softer > 1.5 * worst and count > 0,
           f"{name}: {count} bodies after {duration} s {worst:.2g} apart, twice as soft {softer:.2g}")


compare_values("arm")
compare_values("swing")
compare_values("walker")
compare_key("dog", "root=0.1,0.2,0.35,0.9950041652780258,0,0,0.09983341664682815 loose=0.7,0.1,0.09,1,0,0,0 "
            "socket=0.9887710779360422,0.14943813247359922,0,0 " + " ".join(
    f"{leg}_hip=0.6 {leg}_knee=-1.2" for leg in ("fl", "fr", "rl", "rr")))
compare_swing("swing", 0.4)
compare_swing("cords", 0.4)
compare_equality("gripper", 0.3, 1e-3)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
