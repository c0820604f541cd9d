#!/usr/bin/env python3
"""Public robots as `sdrs import` takes them: each imported, simulated and certified; a row each.

    benchmarks/measure_robots.py [--debian DIR] [--data DIR] [--only WORD] [--seconds 2] [--sdrs ./sdrs] [--work out/robots] >benchmarks/results/robots.csv

--debian: where Debian's packages libmujoco-samples, dart-doc and morse-simulator-doc are installed or unpacked (`dpkg -x`; default /);
--data: a folder with panda/panda.urdf. What is not there is left out, with a line on standard error. Columns: links, degrees of freedom
and hulls of the scene; whether a run of so many seconds comes to its end; whether `sdrs certify` proves that nothing met; how far the
joints (hinges and slides, m or rad) and the free bases (m) are at the end from where they start; processor seconds of the run; what the
import left out or changed. Last on standard error: how many of how many load and run."""
import argparse
import csv
import json
import os
import re
import resource
import subprocess
import sys

MUJOCO = "usr/share/mujoco/model/"
DART = "usr/share/doc/dart/data/"
# name, root, file, words of the import. URDF says no drives: joints are held by springs; legs stand on a ground.
HOLD, STAND = ["--hold", "5"], ["--hold", "8", "--base", "free", "--ground"]
BENT = [word for side in "lr" for joint, angle in (("hpy", -0.2), ("kny", 0.4), ("aky", -0.2))
        for word in ("--start", f"{side}_leg_{joint}={angle}")]
ROBOTS = [
    ("dog", "repository", "assets/dog.xml", []),
    ("arm", "repository", "assets/arm.urdf", HOLD),
    ("gripper", "repository", "tests/mujoco/models/gripper.xml", []),
    ("cords", "repository", "tests/mujoco/models/cords.xml", []),
    ("swing", "repository", "tests/mujoco/models/swing.xml", []),
    ("walker", "repository", "tests/mujoco/models/walker.xml", []),
    ("panda", "data", "panda/panda.urdf", HOLD),
    ("kuka KR5", "debian", DART + "urdf/KR5/KR5 sixx R650.urdf", HOLD),
    ("wam", "debian", DART + "urdf/wam/wam.urdf", HOLD + ["--package", "herb_description={}/" + DART + "urdf/wam"]),
    ("drchubo", "debian", DART + "urdf/drchubo/drchubo.urdf", STAND),
    ("atlas without head", "debian", DART + "sdf/atlas/atlas_v3_no_head.urdf", STAND + BENT),
    ("atlas", "debian", DART + "sdf/atlas/atlas_v3.urdf", STAND + BENT + ["--lenient", "--package", "atlas_description={work}"]),
    ("pr2", "debian", "usr/share/morse/examples/tutorials/ros_navigation/morse_2dnav/pr2.urdf", HOLD + ["--lenient"]),
    ("joint properties", "debian", DART + "urdf/test/joint_properties.urdf", HOLD + ["--lenient"]),
    ("primitives", "debian", DART + "urdf/test/primitive_geometry.urdf", HOLD + ["--lenient"]),
    ("issue 838", "debian", DART + "urdf/test/issue838.urdf", HOLD + ["--lenient"]),
] + [(name.split("/")[-1], "debian", MUJOCO + name + ".xml", words) for name, words in [
    ("humanoid/humanoid", []), ("humanoid/humanoid", ["--hold", "4"]), ("humanoid/22_humanoids", []), ("humanoid100/humanoid100", []),
    ("hammock/hammock", []), ("flag/flag", []), ("mug/mug", []), ("adhesion/active_adhesion", []), ("slider_crank/slider_crank", []),
    ("tendon_arm/arm26", []), ("composite/grid2pin", []), ("composite/particle", []), ("composite/rope", []), ("composite/loop", []),
    ("composite/softbox", []), ("composite/cloth", [])]]


def run(words, seconds):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=seconds)
        code, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        code, out, err = None, "", f"error: not done after {seconds} s"
    return code, out, err, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def first_error(text):
    found = re.search(r"error: (.*)", text)
    return found[1] if found else text.strip().split("\n")[-1]


def moved(folder):
    """Largest change from the first row to the last: of plain coordinates of joints, of places of free ones."""
    rows = list(csv.reader(open(os.path.join(folder, "joints.csv"))))
    joints = free = 0.0
    for name, start, end in zip(rows[0][1:], rows[1][1:], rows[-1][1:]):
        change = abs(float(end) - float(start))
        if name.split("/")[-1] in ("x", "y", "z"):
            free = max(free, change)
        elif not name.split("/")[-1].startswith("q"):
            joints = max(joints, change)
    return joints, free


def measure(options, name, file, words):
    scene = os.path.join(options.work, re.sub(r"\W+", "-", name) + ".yaml")
    folder = scene[:-5]
    row = {"robot": name, "options": " ".join(word for word in words if not word.startswith(("--package", "atlas", "herb")))}
    if os.path.exists(scene):
        os.remove(scene)
    code, _, err, _ = run([options.sdrs, "import", file, "-o", scene, *words], 120)
    told = [re.sub(r".*?: (note|warning): ", "", line) for line in err.split("\n") if re.search(r": (note|warning): ", line)]
    row["told"] = "; ".join(text[:160] for text in told if " is part of " not in text)[:900]
    if code != 0:
        return dict(row, loads="no", told=first_error(err))
    row["loads"] = "yes"
    _, out, _, _ = run([options.sdrs, "validate", scene], 60)
    counts = re.search(r"ok: (\d+) links?, (\d+) degrees? of freedom, (\d+) hulls?", out)
    row.update(zip(("links", "dof", "hulls"), counts.groups() if counts else ("", "", "")))
    code, _, err, seconds = run([options.sdrs, "simulate", scene, "-q", "-o", folder, "--threads", "1",
                                 "--set", f"simulation.duration={options.seconds}"], options.limit)
    row["cpu_s"] = f"{seconds:.2f}"
    row["runs"] = "yes" if code == 0 else first_error(err)[:120]
    if code != 0:
        return row
    joints, free = moved(folder)
    row.update(joints=f"{joints:.3g}", base=f"{free:.3g}")
    code, out, err, _ = run([options.sdrs, "certify", folder, "--json"], options.limit)
    row["certified"] = "yes" if code == 0 else "not done" if code is None else "no"
    return row


def main():
    parser = argparse.ArgumentParser()
    for word, default in (("debian", "/"), ("data", "../shared/data"), ("only", ""), ("sdrs", "./sdrs"), ("work", "out/robots")):
        parser.add_argument("--" + word, default=default)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--limit", type=float, default=120, help="seconds of the clock that a run may take")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    roots = {"repository": os.path.join(os.path.dirname(__file__), ".."), "debian": options.debian, "data": options.data}
    columns = ["robot", "from", "options", "loads", "links", "dof", "hulls", "runs", "certified", "joints", "base", "cpu_s", "told"]
    writer = csv.DictWriter(sys.stdout, columns, restval="", lineterminator="\n")
    writer.writeheader()
    count = loaded = ran = 0
    for name, root, path, words in ROBOTS:
        file = os.path.join(roots[root], path)
        if options.only not in name:
            continue
        if not os.path.exists(file):
            print(f"not there: {file}", file=sys.stderr)
            continue
        words = [word.format(options.debian.rstrip("/"), work=options.work) for word in words]
        if name == "atlas":  # the package's folder as the file means it
            link = os.path.join(options.work, "meshes_v3")
            if not os.path.islink(link):
                os.symlink(os.path.realpath(os.path.dirname(file)), link)
        row = dict(measure(options, name, file, words), **{"from": root})
        count, loaded, ran = count + 1, loaded + (row["loads"] == "yes"), ran + (row.get("runs") == "yes")
        writer.writerow(row)
        sys.stdout.flush()
    print(f"{loaded} of {count} load, {ran} run to their end", file=sys.stderr)


main()
