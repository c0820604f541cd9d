#!/usr/bin/env python3
"""URDF files in MuJoCo: what export writes, and what import reads, with every body where ours has it at random joint values,
and after an arm has swung by its weight, which its masses and inertias decide.

    tests/mujoco/urdf.py SDRS URDF_POSES WORK_FOLDER

Poses of ours: row 0 of a run of one step that starts at these values, without contact. Prints `ok` or `FAIL` a robot and
`N passed, N failed`."""
import csv
import math
import os
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as tree

SDRS, POSES, WORK = sys.argv[1:4]
SAMPLES = 8
# Rounding, times the length of a chain: MuJoCo's compiler keeps doubles. [m, 1]
LIMIT = 1e-12
# MuJoCo refuses bodies without mass: those between the joints of a chain get this much. [kg, kg m^2]
BOUND = 'boundmass="1e-9" boundinertia="1e-12" balanceinertia="false"'
generator = random.Random(20)
passed = failed = 0


def run(*words, **more):
    return subprocess.run(words, check=True, capture_output=True, text=True, **more).stdout


def joints_of(urdf):
    """Every moving joint: name, type, child, low, high."""
    found = []
    for joint in tree.parse(urdf).getroot().iter("joint"):
        limit = joint.find("limit")
        low, high = (float(limit.get(end, 0)) if limit is not None else 0 for end in ("lower", "upper"))
        if low == high or joint.get("type") == "continuous":
            low, high = -3, 3
        if joint.get("type") != "fixed":
            found.append((joint.get("name"), joint.get("type"), joint.find("child").get("link"), max(low, -3), min(high, 3)))
    return found


def chains(urdf, links):
    """link of the scene -> its joints, nearest to the root first: links that the scene does not have lie between."""
    above = {}
    for joint in tree.parse(urdf).getroot().iter("joint"):
        above[joint.find("child").get("link")] = (joint.find("parent").get("link"), joint.get("name"))
    result = {}
    for link in links:
        names, at = [], link
        while at in above:
            at, name = above[at]
            names.insert(0, name)
            if at in links:
                break
        result[link] = names
    return result


def for_mujoco(urdf):
    """The file with what MuJoCo needs to keep all bodies."""
    text = open(urdf).read()
    if "<mujoco>" in text:
        text = re.sub(r"<compiler [^>]*/>", f'<compiler strippath="false" fusestatic="false" {BOUND}/>', text)
    else:
        text = re.sub(r"(<robot[^>]*>)", rf'\1<mujoco><compiler fusestatic="false" {BOUND}/></mujoco>', text)
    model = urdf[:-5] + ".mujoco.urdf"
    open(model, "w").write(text)
    return model


def difference(ours, theirs):
    """Largest of all poses and centres of mass, and the links that both have."""
    worst, compared = 0, set()
    for column in ours:
        if column == "time" or column not in theirs:
            continue
        link, part = column.split("/")
        same = sum(ours[f"{link}/q{k}"] * float(theirs[f"{link}/q{k}"]) for k in "wxyz") > 0
        worst = max(worst, abs(ours[column] - (1 if part[0] != "q" or same else -1) * float(theirs[column])))
        compared.add(link)
    return worst, compared


def tell(good, text):
    global passed, failed
    passed, failed = passed + good, failed + (not good)
    print(f"{'ok  ' if good else 'FAIL'} {text}")


def compare(name, urdf, scene):
    """The URDF file in MuJoCo against the scene in sdrs, at random joint values."""
    model, joints = for_mujoco(urdf), joints_of(urdf)
    worst, compared, lines, ours = 0, set(), [], []
    common = ["--set", "simulation.steps=1", "--set", "contact.model=none", "--set", "controllers=[]"]
    for sample in range(SAMPLES):
        value = {joint[0]: generator.uniform(joint[3], joint[4]) for joint in joints}
        folder = os.path.join(WORK, f"{name}-{sample}")
        links = json_links(scene)
        start = []
        for link, names in chains(urdf, links).items():
            moving = [value[one] for one in names if one in value and kind(joints, one) != "floating"]
            if moving:
                start.append(f"{{link: {link}, coordinates: [{', '.join(map(repr, moving))}]}}")
        run(SDRS, "simulate", scene, "-q", "-o", folder, *common, "--set", f"initial=[{', '.join(start)}]")
        row = next(csv.DictReader(open(os.path.join(folder, "trajectory.csv"))))
        ours.append({key: float(number) for key, number in row.items()})
        words = []
        for one, of_kind, child, _, _ in joints:
            free = ",".join(repr(ours[-1][f"{child}/{k}"]) for k in ("px", "py", "pz", "qw", "qx", "qy", "qz")) \
                if of_kind == "floating" else repr(value[one])
            words.append(f"{one}={free}")
        lines.append(" ".join(words))
    theirs = list(csv.DictReader(run(POSES, model, input="\n".join(lines) + "\n").splitlines()))
    assert len(theirs) == SAMPLES
    for a, b in zip(ours, theirs):
        apart, both = difference(a, b)
        worst, compared = max(worst, apart), compared | both
    bodies = {column.split("/")[0] for column in theirs[0]}
    good = worst <= LIMIT and len(compared) > 0 and compared >= {link for link in json_links(scene) if link in bodies}
    tell(good, f"{name}: {len(compared)} bodies, {len(joints)} joints, {SAMPLES} samples: "
         f"largest difference {worst:.2g} m or 1, limit {LIMIT:g}")


def swing(name, urdf, scene, start, duration=0.25, limit=1e-5):
    """By its weight from rest: ours in steps of second order, twice as small each, which must come nearer four times."""
    moved = next(csv.DictReader(run(POSES, for_mujoco(urdf), repr(duration), input=" ".join(
        f"{joint}={value}" for joint, value in start.items()) + "\n").splitlines()))
    moved = {column: value for column, value in moved.items() if column.split("/")[1][0] in "pq"}  # not of merged links
    apart = []
    for steps in (500, 1000):
        folder = os.path.join(WORK, f"{name}-{steps}")
        run(SDRS, "simulate", scene, "-q", "-o", folder, "--set", f"simulation.steps={steps}", "--set",
            f"simulation.dt={duration / steps}", "--set", "simulation.integrator=second_order", "--set",
            "contact.model=none", "--set", "simulation.tolerance=1e-9")
        rows = [{key: float(number) for key, number in row.items()}
                for row in csv.DictReader(open(os.path.join(folder, "trajectory.csv")))]
        apart.append(difference(rows[-1], moved)[0])
        way = difference(rows[0], {key: str(number) for key, number in rows[-1].items()})[0]
    good = apart[1] <= limit and apart[0] > 3 * apart[1] and way > 0.05
    tell(good, f"{name}: swings by {way:.2g} m or 1 in {duration} s; differences {apart[0]:.2g}, with half the step "
         f"{apart[1]:.2g}, limit {limit:g}")


def kind(joints, name):
    return next(joint[1] for joint in joints if joint[0] == name)


def json_links(scene):
    """Names of the links, from the header of a run's trajectory."""
    if scene not in json_links.known:
        folder = os.path.join(WORK, "names")
        run(SDRS, "simulate", scene, "-q", "-o", folder, "--set", "simulation.steps=1", "--set", "contact.model=none",
            "--set", "controllers=[]")
        header = open(os.path.join(folder, "trajectory.csv")).readline().strip().split(",")
        json_links.known[scene] = [column.split("/")[0] for column in header if column.endswith("/px")]
    return json_links.known[scene]


json_links.known = {}

for scene in ("pendulum", "double-pendulum", "spider", "stack", "wall", "pile", "mesh", "tasks/reach-scene", "tasks/pinch-scene"):
    name = os.path.basename(scene)
    urdf = os.path.join(WORK, name + ".urdf")
    run(SDRS, "export", f"scenes/{scene}.yaml", "-q", "-o", urdf)
    compare(name, urdf, f"scenes/{scene}.yaml")
panda = "../shared/data/panda/panda.urdf"
if os.path.exists(panda):
    for mesh in os.listdir(os.path.dirname(panda)):
        data = open(os.path.join(os.path.dirname(panda), mesh), "rb").read()
        open(os.path.join(WORK, mesh), "wb").write(data)
    run(SDRS, "import", os.path.join(WORK, "panda.urdf"), "-q", "-o", os.path.join(WORK, "panda.yaml"), "--keep-fixed")
    compare("panda (imported)", os.path.join(WORK, "panda.urdf"), os.path.join(WORK, "panda.yaml"))
    # from the middle of all limits, which the fingers must not meet on their way; the hand is merged into the last link;
    # MuJoCo's reader passes over <mimic>, ours couples the fingers: without it both have the same machine
    swinging = os.path.join(WORK, "swing.urdf")
    text = re.sub(r"<mimic[^>]*/>", "", open(panda).read())
    open(swinging, "w").write(text.replace('lower="0" upper="0.04"', 'lower="-1" upper="1"'))
    start = {name: (low + high) / 2 for name, _, _, low, high in joints_of(swinging)}
    run(SDRS, "import", swinging, "-q", "-o", os.path.join(WORK, "swing.yaml"),
        *[word for name, value in start.items() for word in ("--start", f"{name}={value}")])
    swing("panda (imported)", swinging, os.path.join(WORK, "swing.yaml"), start)
else:
    print("SKIP the Panda arm: no ../shared/data")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
