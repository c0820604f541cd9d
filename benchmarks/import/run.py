#!/usr/bin/env python3
"""Imports models of MJCF and URDF, simulates them, and compares with MuJoCo: one row a model.

    benchmarks/import/run.py [--sdrs ./sdrs] [--limit SECONDS] [--csv FILE] [--current FOLDER] [--package NAME=DIR]... [--lenient] FOLDER...

Every *.xml below the folders whose root is <mujoco> with a <worldbody>, and every *.urdf, is a model. MuJoCo is that of npm's mujoco-js (3.3.8) where node
and --current (default out/node/node_modules/mujoco-js, put there by tests/mujoco/current.sh) exist, else Debian's libmujoco-dev (2.2.2), which reads no URDF.
Both programs start in the keyframe that the import names, with its controls, or without one, and run for 1 s. MuJoCo gets a URDF file without <visual>, with
the paths of its meshes made relative to the file, since it knows no packages, within limits at the start, and without contact between
links that share a joint or touch at the start, as here. Its step is URDF_STEP, and its limits and contacts are as stiff as that step allows: URDF has neither a time step nor softness.
Two faults of MuJoCo 3.3.8 are avoided: links on fixed joints are kept (fusestatic gives the merged body a wrong centre of mass: its issue 3250), and inertias are written in the axes of their link
(the rotation of an inertial frame is dropped: its issue 3559). MuJoCo ignores <mimic>. Compared are bodies with a mass by name, those with fixed joints too: the largest distance of a centre of mass after 0.2 and 1 s, and the pairs of bodies in contact with the total vertical force at both times.
A model's class is the first that holds:

    refused   the import fails; the message is the column `why`
    slow      import or simulation is ended after the limit (60 s of processor time, or twenty times as long)
    stops     the simulation ends before 1 s
    alone     MuJoCo cannot read or run it
    partial   bodies that have a joint in MuJoCo are not here (flexcomp); told of mujoco-js only
    apart     other pairs are in contact after 0.2 s
    same      the same pairs are in contact after 0.2 s
"""
import argparse
import collections
import csv
import math
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COLUMNS = ["model", "class", "bodies", "import s", "simulate s", "0.2 s m", "1 s m", "pairs 0.2 s", "theirs", "force N", "theirs N", "left out", "why"]
NEAR = 0.0101  # s; MuJoCo's rows are at multiples of its step
URDF_STEP = 2e-4  # s, of MuJoCo for URDF files, which have no time step: semi-implicit Euler displaces a free fall of 0.2 s by 9.81 * 0.2 * step / 2 = 0.2 mm
PRESSED = 1e-3  # of the largest force in a row: what is less is no contact


def models(folder):
    for place, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(place, name)
            if name.endswith(".urdf"):
                yield path
            try:
                root = tree.parse(path).getroot() if name.endswith(".xml") else None
            except tree.ParseError:
                continue
            if root is not None and root.tag == "mujoco" and (root.find("worldbody") is not None or root.find("include") is not None):
                yield path


def run(command, limit, **more):
    """Result, or None beyond the limit, and the processor time [s]."""

    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def bound():
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 1))

    begin = used()
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=20 * limit, preexec_fn=bound, check=False, **more)
    except subprocess.TimeoutExpired:
        return None, limit
    ended = done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
    return None if ended else done, used() - begin


def rows_at(lines, moments):
    """The rows nearest to moments that are less than NEAR away, by moment."""
    found = {}
    for row in csv.DictReader(lines):
        for moment in moments:
            off = abs(float(row["time"]) - moment)
            if off < NEAR and (moment not in found or off < abs(float(found[moment]["time"]) - moment)):
                found[moment] = row
    return found


def at(row):
    return float(row["time"]) if row else math.nan


def farthest(ours, theirs):
    """Over bodies that both have by name; None where no body is in both."""
    names = {key[:-3] for key in theirs if key.endswith("/cx") and key in ours and key != "/cx"}
    spots = [[[float(row[f"{name}/c{k}"]) for k in "xyz"] for row in (ours, theirs)] for name in names]
    return max((math.dist(*spot) for spot in spots), default=None)


def lacking(ours, text):
    """Bodies that have a joint in MuJoCo and are not in our row."""
    jointed = [line[len("joint,"):] for line in text.splitlines() if line.startswith("joint,")]
    return [name for name in jointed if name + "/cx" not in ours]


def fixed_links(path):
    """Names of the links of a scene that sdrs import wrote as fixed ones without a parent: MuJoCo's world."""
    links = re.findall(r"^  - name: (\S+)\n((?:    .*\n)*)", open(path, encoding="utf-8").read(), re.M)
    return {name for name, rest in links if re.search(r"^    (fixed: true|joint: {type: fixed})", rest, re.M) and "    parent: " not in rest}


def our_contacts(path, moment, fixed):
    forces = {}
    for row in csv.DictReader(open(path, encoding="utf-8")) if os.path.exists(path) else []:
        if abs(float(row["time"]) - moment) < 1e-6:
            force = math.hypot(*(float(row["f" + k]) for k in "xyz"))
            forces[frozenset("ground" if name in fixed else name for name in (row["a"], row["b"]))] = force, abs(float(row["fz"]))
    return forces


def their_contacts(text, moment):
    forces = {}
    for line in text.splitlines():
        part = line.split(",")
        if part[0] == "contact" and abs(float(part[1]) - moment) < 1e-6:
            forces[frozenset("ground" if name == "world" else name for name in part[2:4])] = float(part[-1]), float(part[4])
    return forces


def pressed(forces):
    most = max((force for force, _ in forces.values()), default=0)
    return {pair for pair, (force, _) in forces.items() if force > PRESSED * most}


def rotation(roll, pitch, yaw):
    """Rows of the matrix of URDF's fixed-axis angles [rad]."""
    (cr, sr), (cp, sp), (cy, sy) = [(math.cos(angle), math.sin(angle)) for angle in (roll, pitch, yaw)]
    return [[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr]]


def unrotate(inertial):
    """Expresses the inertia in axes parallel to those of the link: MuJoCo 3.3.8 drops the rotation of a URDF inertial frame (its issue 3559)."""
    origin, inertia = inertial.find("origin"), inertial.find("inertia")
    if origin is None or inertia is None or "rpy" not in origin.attrib:
        return
    try:
        turn = rotation(*map(float, origin.get("rpy").split()))
        given = [[float(inertia.get("i" + "".join(sorted(a + b)), 0)) for b in "xyz"] for a in "xyz"]
    except (TypeError, ValueError):
        return
    for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        value = sum(turn[i][k] * given[k][m] * turn[j][m] for k in range(3) for m in range(3))
        inertia.set("i" + "xyz"[i] + "xyz"[j], repr(value))
    del origin.attrib["rpy"]


def package_folder(path, name, packages):
    """The folder of a package: given, or above the file or beside a folder above, as in sdrs import."""
    above = os.path.dirname(os.path.abspath(path))
    while name not in packages and above != os.path.dirname(above):
        if os.path.basename(above) == name:
            return above
        if os.path.isdir(os.path.join(above, name)):
            return os.path.join(above, name)
        above = os.path.dirname(above)
    return packages.get(name, "")


def for_mujoco(path, packages):
    """A copy of a URDF file that MuJoCo can read, beside the original; of MJCF the file itself."""
    if not path.endswith(".urdf"):
        return path
    with open(path, "rb") as file:
        root = tree.fromstring(file.read().lstrip())  # some files begin with an empty line
    for link in root.iter("link"):
        for visual in link.findall("visual"):
            link.remove(visual)
        for inertial in link.findall("inertial"):
            unrotate(inertial)
    for mesh in root.iter("mesh"):
        name = mesh.get("filename", "")
        found = re.match(r"package://([^/]+)/(.*)", name)
        if found:
            name = os.path.join(package_folder(path, found[1], packages), found[2])
        mesh.set("filename", os.path.relpath(os.path.join(os.path.dirname(path), name), os.path.dirname(path)))
    for old in root.findall("mujoco"):
        root.remove(old)
    mujoco = tree.SubElement(root, "mujoco")
    tree.SubElement(mujoco, "compiler", strippath="false", fusestatic="false", discardvisual="true")
    tree.SubElement(mujoco, "option", timestep=str(URDF_STEP))
    copy = os.path.join(os.path.dirname(path), ".run-" + os.path.basename(path))
    tree.ElementTree(root).write(copy)
    return copy


def judge(path, folder_of_all, options, work, other):
    row = dict.fromkeys(COLUMNS, "")
    words = [word for package in options.package if path.endswith(".urdf") for word in ("--package", package)]
    words += ["--lenient"] if options.lenient and path.endswith(".urdf") else []
    words += ["--keep-fixed"]
    scene, folder = os.path.join(work, "scene.yaml"), os.path.join(work, "run")
    done, row["import s"] = run([options.sdrs, "import", path, "-o", scene, *words], options.limit)
    if done is None or done.returncode != 0:
        row["class"] = "slow" if done is None else "refused"
        errors = [] if done is None else [line for line in done.stderr.splitlines() if "error: " in line]
        placed = [line for line in errors if re.search(r":\d+:\d+: error: ", line)]
        row["why"] = "" if done is None else (placed + errors + [done.stderr.strip()[:200]])[0]
        return row
    said = done.stderr
    row["left out"] = (re.search(r"left out: (.*)", done.stderr) or [None, ""])[1]
    step = float((re.search(r"^  dt: (\S+)", open(scene, encoding="utf-8").read(), re.M) or [None, "0"])[1])
    more = ["--set", "simulation.duration=1"] if step > 0 else []
    done, row["simulate s"] = run([options.sdrs, "simulate", scene, "-q", "-o", folder, *more], options.limit)
    if done is None or done.returncode != 0:
        row["class"], row["why"] = ("slow", "") if done is None else ("stops", done.stderr.strip().split("\n")[0])
        return row
    with open(folder + "/trajectory.csv", encoding="utf-8") as file:
        lines = file.readlines()
    key = re.search(r"the robot starts in the keyframe '(.*)'", said)
    copy = for_mujoco(path, dict(package.split("=", 1) for package in options.package))
    done, _ = run([*other, *([folder_of_all] if len(other) > 1 else []), copy, "1", "0.2"], options.limit, env=dict(os.environ, CONTACTS="1", KEY=key[1] if key else "none"))
    if copy != path:
        os.remove(copy)
    if done is None or done.returncode != 0:
        row["class"], row["why"] = "alone", "MuJoCo is slow" if done is None else re.sub(r"still waiting on run dependencies: .*?\(end of list\) ", "", done.stderr).strip()[:200]
        return row
    theirs = rows_at(done.stdout.splitlines(), (0.2, 1.0))
    ours = {moment: rows_at(lines, (at(row_there),)).get(at(row_there)) for moment, row_there in theirs.items()}
    ours = {moment: found for moment, found in ours.items() if found}
    forces = our_contacts(folder + "/contacts.csv", at(ours.get(0.2)), fixed_links(scene)), their_contacts(done.stderr, at(theirs.get(0.2)))
    pairs = [pressed(side) for side in forces]
    sums = [sum(up for _, up in side.values()) for side in forces]
    missing = lacking(ours[0.2], done.stderr) if 0.2 in ours else []
    row["class"] = "partial" if missing else "same" if pairs[0] == pairs[1] else "apart"
    row["bodies"] = sum(key.endswith("/cx") for key in theirs.get(0.2, {}))
    for moment, column in ((0.2, "0.2 s m"), (1.0, "1 s m")):
        if moment in ours and moment in theirs:
            row[column] = farthest(ours[moment], theirs[moment])
    row["pairs 0.2 s"], row["theirs"], (row["force N"], row["theirs N"]) = len(pairs[0]), len(pairs[1]), sums
    if missing:
        row["why"] = f"{len(missing)} bodies are not here: " + " ".join(missing[:4])
    elif pairs[0] != pairs[1]:
        only = [" ".join("-".join(sorted(pair)) for pair in sorted(a - b, key=sorted)[:4]) for a, b in (pairs, pairs[::-1])]
        row["why"] = f"here: {only[0] or '-'}; MuJoCo: {only[1] or '-'}"
    return row


def shown(value):
    return f"{value:.3g}" if isinstance(value, float) else str("" if value is None else value)


def reference(options, work):
    """The command that runs a model in MuJoCo."""
    if shutil.which("node") and os.path.isdir(options.current):
        print("beside npm's mujoco-js in", options.current)
        return ["node", os.path.join(ROOT, "benchmarks/import/run.mjs"), options.current]
    other = os.path.join(work, "mujoco_run")
    source = os.path.join(ROOT, "tests/mujoco/mujoco_run.c")
    command = [os.environ.get("CC", "gcc"), "-std=c17", "-D_GNU_SOURCE", "-O2", source, "-o", other, "-lmujoco", "-lm"]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        sys.exit("benchmarks/import/run.py: tests/mujoco/mujoco_run.c cannot be built (Debian: apt-get install libmujoco-dev)")
    print("beside Debian's libmujoco")
    return [other]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="+")
    parser.add_argument("--sdrs", default=os.path.join(ROOT, "sdrs"))
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--current", default=os.path.join(ROOT, "out/node/node_modules/mujoco-js"))
    parser.add_argument("--package", action="append", default=[])
    parser.add_argument("--lenient", action="store_true", help="mend URDF files as sdrs import --lenient does")
    parser.add_argument("--csv")
    options = parser.parse_args()
    table = []
    with tempfile.TemporaryDirectory() as work:
        other = reference(options, work)
        for folder in options.folder:
            for path in models(folder):
                row = judge(path, folder, options, work, other)
                row["model"] = os.path.relpath(path, folder)
                table.append([shown(row[column]) for column in COLUMNS])
                print("  ".join(f"{text:8}" for text in table[-1][1:11]), table[-1][0], table[-1][12][:150], flush=True)
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *table])
    counts = collections.Counter(row[1] for row in table)
    ran = counts["same"] + counts["apart"] + counts["partial"] + counts["alone"]
    print(f"{len(table)} models: {ran} run; " + ", ".join(f"{count} {name}" for name, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
