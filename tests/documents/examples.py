#!/usr/bin/env python3
"""Run the commands that the pages show: tests/documents/examples.py CHECKOUT WORK, where `sdrs` is on the PATH and WORK has links to
the checkout's folders. Prints a line a command that fails or is left out, one a page, and `N passed, N failed`."""
import csv
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT, WORK = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
# In this order: later pages look at what earlier ones have made. Pages whose examples have tests of their own stand below.
PAGES = ["README.md"] + ["docs/" + page + ".md" for page in (
    "cli", "export", "rendering", "decompose", "identify", "queries", "planning", "grasping", "manipulation", "receding", "overview",
    "losses", "contact-laws", "contact-parameters", "smooth-shapes", "gallery", "library", "python", "rigid-ipc", "tour", "scenes", "migration")]
PAGES += sorted(str(path.relative_to(ROOT)) for folder in ("howto", "tutorials") for path in (ROOT / "docs" / folder).glob("*.md"))
ELSEWHERE = {"docs/mjcf.md": "tests/cli/mjcf-page", "docs/urdf.md": "tests/cli/urdf-page", "docs/co-design.md": "tests/cli/co-design",
             "docs/batch.md": "tests/long/test_batch_page.sh", "docs/scene-format.md": "tests/unit/scene/test_schema_markdown.c",
             "docs/task-format.md": "tests/unit/scene/test_schema_markdown.c"}
# What a page takes for granted.
BEFORE = {"docs/export.md": ["rm -rf out/spider && sdrs optimize scenes/tasks/spider.yaml -q --iterations 1 --set steps=20 --set optimizer.save_every=1",
                             "cp -r out/spider/design/1 out/spider/design/40",
                             "sdrs simulate scenes/wall.yaml -q", "sdrs optimize scenes/tasks/policy.yaml -q"],
          "docs/rendering.md": ["rm -rf out/spider && sdrs simulate scenes/spider.yaml -q --steps 60",
                                "sdrs simulate scenes/stack.yaml -q --steps 20", "sdrs simulate scenes/slide.yaml -q -o out/a",
                                "sdrs simulate scenes/slide.yaml -q -o out/b"],
          "docs/howto/train-a-policy.md": ["mkdir -p out/shac && cp tests/../benchmarks/results/shac-walk.csv out/shac/walk.csv"]}
LEFT_OUT = [(r"^make (demo|check|page|packages|wheel)", "is the whole of the tests, builds packages, or asks npm"), (r"--view", "tests/view"),
            (r"^benchmarks/measure_decompose", "takes programs that are not here"), (r"\.mp4", "ffmpeg, which need not be there"),
            (r"\.html", "tests/page"), (r"^sdrs bench (scale|step|gradient|render)", "measures; its words are a table there"),
            (r"path\.jsonl|^sdrs query FILE", "the file is the reader's"), (r"^PYTHONPATH=python", "tests/python"),
            (r"out/(franka-push|gather-bunny)/", "runs of minutes, or of data that need not be there"),
            (r"throw-four|mpirun|pkg-config|python3 -m build|SDRS_LIBRARY", "tests/library, tests/python or tests/long")]
SHORTER = [(r"optimize scenes/tasks/(pinch|grasp|grasp-free|push)\.yaml", " --iterations 1"), (r"simulate scenes/(spider|chains)\.yaml", " --steps 60"),
           (r"converge scenes/slide", " --refinements 1"), (r"gradcheck scenes/spider", " --directions 1"),
           (r"gradcheck scenes/tasks/push\.yaml --set", " --set steps=20"), (r"gradcheck scenes/tasks/gather", " --directions 1 --wrt control --set receding.iterations=15"),
           (r"gradcheck scenes/tasks/push\.yaml --window", " --directions 1"),
           (r"identify scenes/identify/pendulum", " --set optimizer.iterations=2"), (r"simulate out/pinch/", " --steps 40")]
# The form of `make check`: gradients by the control alone; a study of three rows.
SHORT = "SDRS_LONG" not in os.environ
if SHORT:
    BEFORE["docs/howto/run-on-a-cluster.md"] = ["head -n 4 scenes/studies/slide.csv >out/three.csv"]
    SHORTER[:0] = [(r"gradcheck scenes/spider", " --directions 1 --wrt control"), (r"gradcheck scenes/tasks/push\.yaml --set", " --set steps=20 --directions 1 --wrt control"),
                   (r"gradcheck scenes/tasks/push\.yaml --window", " --directions 1 --wrt control"),
                   (r"gradcheck scenes/tasks/gather", " --directions 1 --wrt control --set receding.iterations=2")]
passed = failed = 0


def column(file, name):
    """A column of a table that a command wrote."""
    with open(WORK / file, newline="") as table:
        return [float(row[name]) for row in csv.DictReader(table)]


def last(file, name):
    return column(file, name)[-1]


def rise(file, name):
    return max(column(file, name)) - min(column(file, name))


# Numbers in the text of a page that its commands give: page, the text with the number in parentheses, the value from the files.
NUMBERS = [
    ("README.md", r"the box ends at x = (\S+) m", lambda: last("out/slide/trajectory.csv", "box/px")),
    ("README.md", r"box/velocity/0: (\S+) m/s", lambda: last("out/throw/design.csv", "best")),
    ("docs/tutorials/first-design.md", r"the optimized speed, (\S+) m/s", lambda: last("out/throw/design.csv", "best")),
    ("docs/tutorials/own-robot.md", r"upper arm sags by (\S+) rad", lambda: last("out/arm-holds/joints.csv", "upper_arm/angle") - 0.4),
    ("docs/tutorials/own-robot.md", r"motor's torque of (\S+) N m", lambda: -last("out/arm-holds/forces.csv", "upper_arm/angle/drive")),
    ("docs/tutorials/own-robot.md", r"ends at x = (\d+\.\d+) m", lambda: last("out/two-wheels/trajectory.csv", "body/px")),
    ("docs/tutorials/printed-finger.md", r"stays on the ground at z = (\S+) m", lambda: last("out/gripper-lifts/trajectory.csv", "ball/pz")),
    ("docs/tutorials/printed-finger.md", r"in sdrs at (\d+\.\d+) m", lambda: last("out/gripper-tips/best/trajectory.csv", "ball/pz")),
    ("docs/howto/design-a-links-thickness.md", r"the result, (\S+) mm", lambda: 1000 * last("out/bar-thickness/design.csv", "best")),
    ("docs/howto/make-a-design-robust.md", r"optimized speed is (\S+) m/s", lambda: last("out/throw-robust/design.csv", "best")),
    ("docs/howto/tune-the-gains-of-a-drive.md", r"optimized damping, (\S+) N m", lambda: last("out/servo-gains/design.csv", "best")),
    ("docs/howto/model-a-motor.md", r"simulation gives (\S+) rad/s for `dt` = 10 ms", lambda: last("out/gearmotor/velocities.csv", "drum/angle/rate")),
    ("docs/howto/push-a-body.md", r"crate stops at x = (\S+) m\. The closed", lambda: last("out/push/trajectory.csv", "crate/px")),
    ("docs/howto/check-the-energy.md", r"constant within\s+(\S+) J", lambda: rise("out/swing/solver.csv", "total")),
    ("docs/howto/check-the-energy.md", r"while (\S+) J", lambda: rise("out/swing/solver.csv", "kinetic")),
]


def commands(text):
    """(command, what stands below it): those of indented blocks, and of fences of a shell, without what stands behind them; words in
    capitals are a reader's own. What a command with $ before it prints stands below, as far as it is indented."""
    fence = None
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if line.startswith("```"):
            fence = None if fence is not None else line[3:].strip()
            continue
        indented = re.match(r"    (?:\$ )?(.*)", line) if fence is None else None
        plain = re.match(r"(?:\$ )?(.*)", line) if fence in ("sh", "bash", "shell") else None
        command = (indented or plain or [None, ""])[1]
        if not re.match(r"(\./)?sdrs [a-z-]|scripts/\w|make [a-z]|PYTHONPATH=", command):
            continue
        command = re.split(r"  +| # ", command)[0].strip()
        if not re.search(r"\b[A-Z]{3,}\b(?!/)|\[--|\.\.\.|\|MESH", command) and command not in ("sdrs bench", "sdrs --help"):
            below = []
            if line.startswith("    $ "):
                for other in lines[number + 1:]:
                    if not other.startswith("    ") or other.startswith("    $ "):
                        break
                    below.append(other)
            yield command, re.sub(r"\(on one line\)", "", " ".join(below)).split()


# A page shows digits that a reader can compare; the last ones are a compiler's and a processor's. What is nothing but a remainder
# (the loss of an optimum) is as good a tenth of it.
def alike(shown, printed):
    if shown == printed:
        return True
    number = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
    if re.sub(number, "#", shown) != re.sub(number, "#", printed):
        return False
    pairs = zip(map(float, re.findall(number, shown)), map(float, re.findall(number, printed)))
    return all(abs(a - b) <= 1e-3 * max(abs(a), abs(b)) or max(abs(a), abs(b)) < 1e-8 for a, b in pairs)


def is_printed(shown, printed):
    """Do these words stand there one after the other? `...` ends them."""
    shown = shown[:shown.index("...")] if "..." in shown else shown
    return any(all(map(alike, shown, printed[k:])) for k in range(len(printed) - len(shown) + 1))


def first(rules, command):
    return next((text for pattern, text in rules if re.search(pattern, command)), None)


def run(page, command, shown, below=()):
    global passed, failed
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=WORK, capture_output=True, text=True, timeout=250)
    good = done.returncode == 0 or (done.returncode == 1 and re.search(r"--min-wall|gradcheck|sdrs compare", command))
    if shown:
        passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAIL {page}: {command}\n     ended with {done.returncode}: {done.stderr.strip()[-600:]}")
    if good and below:
        same = is_printed(list(below), (done.stdout + done.stderr).split())
        passed, failed = passed + same, failed + (not same)
        if not same:
            print(f"FAIL {page}: {command}\n     shows {' '.join(below)}\n     prints {(done.stdout + done.stderr).strip()[:600]}")


def numbers(page, text):
    """Do the numbers in the text agree with the files, to their last digit?"""
    global passed, failed
    for _, pattern, value in (row for row in NUMBERS if row[0] == page):
        found = re.search(pattern, text)
        shown, got = (found[1] if found else "nothing"), value()
        decimals = len(shown.partition(".")[2])
        same = found is not None and abs(float(shown) - got) <= 0.6 * 10**-decimals
        passed, failed = passed + same, failed + (not same)
        if not same:
            print(f"FAIL {page}: /{pattern}/ shows {shown}, the run gives {got:.10g}")


def whole_files(page, text):
    """Scenes and tasks that stand there in full are valid; those with the name of a shipped one or of a file beside the page are it."""
    global passed, failed
    for number, block in enumerate(re.findall(r"^```yaml\n(.*?)^```", text, re.M | re.S)):
        if not re.search(r"^(links|loss):", block, re.M):
            continue
        called = re.search(r"^name: ([\w-]+)", block, re.M)
        beside = (ROOT / page).with_name(called[1] + ".yaml") if called else None
        if beside and beside.exists():  # the file that the page's commands name
            good = block == beside.read_text() and subprocess.run(["sdrs", "validate", str(beside)], cwd=WORK, capture_output=True).returncode == 0
            passed, failed = passed + good, failed + (not good)
            if not good:
                print(f"FAIL {page}: block {number} of YAML is not {beside.name}, or not valid")
            continue
        scene = re.search(r"^scene: ([\w./-]+)", block, re.M)
        if scene and scene[1] != "throw-scene.yaml" and not (WORK / scene[1]).exists():
            print(f"     {page}: not read: a task for {scene[1]}, a scene of the reader's")
            continue
        name = "scenes/tasks/throw.yaml" if "throw-scene.yaml" in block else "scenes/slide.yaml" if "name: slide" in block else None
        plain = lambda yaml: [line for line in (re.sub(r"\s*#.*", "", part).rstrip() for part in yaml.split("\n")) if line]
        good = name is not None and plain(block) == plain((ROOT / name).read_text())
        if name is None:
            file = WORK / f"block{number}.yaml"
            file.write_text(block)
            good = subprocess.run(["sdrs", "validate", str(file)], cwd=WORK, capture_output=True).returncode == 0
        passed, failed = passed + good, failed + (not good)
        if not good:
            print(f"FAIL {page}: block {number} of YAML{' is not ' + name if name else ' is not valid'}")


for page in PAGES:
    text, count, before = (ROOT / page).read_text(), 0, sum(os.times()[:4])
    for command in BEFORE.get(page, []):
        run(page, command, False)
    for command, below in commands(text):
        why = first(LEFT_OUT, command)
        if why:
            print(f"     {page}: not run: {shlex.quote(command)[:100]} ({why})")
            continue
        count += 1
        shorter = first(SHORTER, command) or ""
        if SHORT:
            command = command.replace("scenes/studies/slide.csv", "out/three.csv").replace("out/sweeps/slide", "out/sweeps/three")
        run(page, command + shorter, True, () if shorter else below)
    whole_files(page, text)
    numbers(page, text)
    print(f"ok   {page}: {count} commands ({sum(os.times()[:4]) - before:.2f} cpu s)")
pages = {str(path.relative_to(ROOT)) for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]}
for page in sorted(pages - set(PAGES) - set(ELSEWHERE)):
    if list(commands((ROOT / page).read_text())):
        failed += 1
        print(f"FAIL {page}: has commands that nobody runs")
for page, test in ELSEWHERE.items():
    if not os.path.exists(ROOT / test):
        failed += 1
        print(f"FAIL {page}: its test {test} is not there")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
