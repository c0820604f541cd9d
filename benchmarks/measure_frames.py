#!/usr/bin/env python3
"""What a simulated step costs within an optimization, forward and backward, with hulls and with triangles.

Usage: benchmarks/measure_frames.py [billiards] [gather-bunny] [franka-push]     all of them without a word; the program is $SDRS (./sdrs)
Writes the rows of these to benchmarks/results/frames.csv: processor milliseconds of one thread. Every row is the difference of two runs of
sdrs optimize, with one iteration (of Adam, which takes every step) and with three, so that reading, the first run and what is executed do not
count. Billiards: the first ten steps from the trivial start, and all hundred with the shot that out/billiards has found. The tasks of meshes: ten
windows, with the control that out/<task> has found. Each of these is made if it is missing, and so are their meshes (scripts/prepare_meshes.py; without
../shared/data it ends with 77). Six minutes of processor time; a row that does not end (memory and time are limited) is empty.
"""

import csv
import os
import pathlib
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SDRS = os.environ.get("SDRS", "./sdrs")
TABLE = ROOT / "benchmarks/results/frames.csv"
HEADER = ["task", "pieces", "count", "frame_ms"]
WORK = "out/frames"
ADAM = "type: adam, control_step: 1.0e-4"
WINDOWS = 10
LONGEST = 600  # s
MEMORY_MOST = 8 << 30  # bytes
BALLS = 16
CUTS = (2, 4, 7)  # of every edge of an octahedron
BALL_STEPS, SHOT_STEPS = 10, 100
ITERATIONS = (1, 3)
RADIUS = 0.0935  # m: the balls of hulls lie on faces, so low are their centres


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MOST, MEMORY_MOST))


def processor_seconds(*arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([SDRS, *arguments], cwd=ROOT, check=True, capture_output=True, preexec_fn=limit_memory,
                   timeout=LONGEST)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def iterations_of(run):
    """All that a run had: windows in which there is nothing to improve have none."""
    folder = ROOT / run
    if (folder / "windows.csv").exists():
        return sum(int(row["iterations"]) for row in csv.DictReader(open(folder / "windows.csv", encoding="utf-8")))
    return max(int(row["iteration"]) for row in csv.DictReader(open(folder / "convergence.csv", encoding="utf-8")))


def frame(task, frames, options, iterations):
    """iterations: what says how many there are, to be completed. frames: of one iteration. None: it did not end."""
    seconds, done = [], []
    for count in ITERATIONS:
        sets = [word for option in [*options, *iterations(count)] for word in ("--set", option)]
        try:
            seconds.append(processor_seconds("optimize", f"scenes/tasks/{task}.yaml", "-q", "--threads", "1",
                                             "--no-converge", "-o", f"{WORK}/run", *sets))
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return None
        done.append(iterations_of(f"{WORK}/run"))
    return 1e3 * (seconds[1] - seconds[0]) / frames / (done[1] - done[0])


def windows(task, horizon, options):
    """Ten windows of `horizon` steps, of which all are executed."""
    steps = WINDOWS * horizon
    return frame(task, horizon, [f"from={{run: out/{task}}}", f"steps={steps}", f"optimizer={{{ADAM}}}", *options],
                 lambda k: [f"receding={{horizon: {horizon}, apply: {horizon}, iterations: {k}}}"])


def whole(task, steps, options):
    return frame(task, steps, [f"steps={steps}", *options], lambda k: [f"optimizer={{{ADAM}, iterations: {k}}}"])


def write_ball(path, cuts):
    """A sphere of 8 cuts^2 triangles."""
    number, lines, faces = {}, [], []

    def corner(x):
        if x not in number:
            number[x] = len(number) + 1
            length = sum(c * c for c in x) ** 0.5
            lines.append("v {:.9g} {:.9g} {:.9g}".format(*(RADIUS * c / length for c in x)))
        return number[x]

    for signs in [(a, b, c) for a in (1, -1) for b in (1, -1) for c in (1, -1)]:
        flip = signs[0] * signs[1] * signs[2] < 0

        def at(i, j):
            return corner((signs[0] * i, signs[1] * j, signs[2] * (cuts - i - j)))

        for i in range(cuts):
            for j in range(cuts - i):
                triples = [(at(i, j), at(i + 1, j), at(i, j + 1))]
                if i + j < cuts - 1:
                    triples.append((at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)))
                faces += [(a, c, b) if flip else (a, b, c) for a, b, c in triples]
    path.write_text("\n".join(lines + ["f {} {} {}".format(*f) for f in faces]) + "\n")


def balls(options):
    """The rows of both starts."""
    # A shot that has come to within the margins has nothing left to improve: without them, and short of no loss at all.
    shot = ["from={run: out/billiards}", "loss.0.margin=0", "loss.1.margin=0"]
    return [["billiards", BALL_STEPS, options], ["billiards, shot", SHOT_STEPS, [*shot, *options]]]


def billiards():
    for task, steps, options in balls([]):
        yield [task, "hulls", BALLS, whole("billiards", steps, options)]
    for cuts in CUTS:
        ball = ROOT / WORK / f"ball-{cuts}.obj"
        write_ball(ball, cuts)
        for task, steps, options in balls([f"scene.shapes.ball={{type: mesh, file: {ball}, pieces: triangles}}"]):
            yield [task, "triangles", BALLS * 8 * cuts**2, whole("billiards", steps, options)]


def gather_bunny():
    yield ["gather-bunny", "hulls", 10, windows("gather-bunny", 4, [])]
    yield ["gather-bunny", "triangles", 2800, windows("gather-bunny", 4, ["scene.shapes.bunny.pieces=triangles"])]


BLENDS = (0.25, 1)  # of arm and bunny: the paper's epsilon, which the paper leaves open; 1 is the default


def franka_push():
    bunny = "scene.shapes.bunny={type: mesh, file: ../../out/meshes/bunny-5000.obj, pieces: triangles}"
    yield ["franka-push", "hulls", 18, windows("franka-push", 6, ["schedule=null"])]
    triangles = ["schedule=null", "scene.include.0.set=[]", bunny]
    yield ["franka-push", "triangles", 14200, windows("franka-push", 6, triangles)]
    for blend in BLENDS:
        options = [*triangles, "scene.contact.stiffness=1.0e-8", f"scene.contact.blend={blend}"]
        yield [f"franka-push, 1e-8 J, blend {blend}", "triangles", 14200, windows("franka-push", 6, options)]


def main():
    known = {"billiards": billiards, "gather-bunny": gather_bunny, "franka-push": franka_push}
    chosen = sys.argv[1:] or list(known)
    rows = [row for row in csv.reader(open(TABLE, encoding="utf-8"))][1:] if TABLE.exists() else []
    rows = [row for row in rows if row[0].split(",")[0] not in chosen]
    (ROOT / WORK).mkdir(parents=True, exist_ok=True)
    if set(chosen) - {"billiards"} and not (ROOT / "out/meshes/panda.yaml").exists():
        made = subprocess.run([sys.executable, ROOT / "scripts/prepare_meshes.py"], cwd=ROOT, check=False)
        if made.returncode:
            sys.exit(made.returncode)
    for task in chosen:
        if not (ROOT / "out" / task / "design.csv").exists():
            processor_seconds("optimize", f"scenes/tasks/{task}.yaml", "-q", "-o", f"out/{task}")
        for row in known[task]():
            rows.append([*row[:3], row[3] and f"{row[3]:.3g}"])
            print(",".join(map(str, rows[-1])), flush=True)
            with open(TABLE, "w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])


if __name__ == "__main__":
    main()
