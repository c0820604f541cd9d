#!/usr/bin/env python3
"""What a closed loop costs: instructions of the steps of a machine against those of the same machine without its closures - the same links,
joints and start, nothing else left out - and Newton iterations a step (docs/derivations/closures.md, Cost).

  benchmarks/measure_loops.py [PROGRAM]    (default ./sdrs) prints and writes benchmarks/results/loops.csv

valgrind has to know the processor that the program was built for: make FLAVOUR=release ARCH=-march=x86-64-v3 program, in a checkout of its own.
About ten minutes."""
import csv
import math
import os
import re
import subprocess
import sys
import tempfile

STEPS = 300
OUT = "benchmarks/results/loops.csv"


def chain(count, kind):
    """A half circle of links of 0.1 m; its far end is held where it is."""
    turn, x, z, angle = math.pi / count, 0.0, 0.0, math.pi / 2 + math.pi / count / 2
    lines = ["name: chain", "simulation: {dt: 0.002, duration: 1, integrator: second_order}", "contact: {model: none}", "links:"]
    for k in range(count):
        angle -= turn
        parent = f"parent: link{k - 1}, " if k else ""
        lines.append(f"  - {{name: link{k}, {parent}mass: 0.1, mass_model: uniform, joint: {{type: hinge, axis: [0, -1, 0], position: [{0.1 if k else 0}, 0, 0]}}, "
                     "shapes: [{type: box, size: [0.1, 0.02, 0.02], position: [0.05, 0, 0]}]}")
        x, z = x + 0.1 * math.cos(angle), z + 0.1 * math.sin(angle)
    axis = ", axis: [0, 1, 0]" if kind == "hinge" else ""
    lines.append(f"closures:\n  - {{type: {kind}, a: link{count - 1}, point: [{x!r}, 0, {z!r}]{axis}}}\ninitial:")
    lines += [f"  - {{link: link{k}, coordinates: [{math.pi / 2 - turn / 2 if k == 0 else -turn!r}]}}" for k in range(count)]
    return "\n".join(lines) + "\n"


def watt():
    """The four-bar with two links more, from the middle of its coupler and of its rocker to a common pin."""
    with open("scenes/four-bar.yaml", encoding="utf-8") as file:
        scene = file.read()
    crank, coupler, rocker = math.pi / 2, math.pi / 2 - 1.0226484275561756, 1.9151556505110297
    e = (0.2 * math.cos(coupler) + 0.1 * math.cos(crank), 1 + 0.1 * math.sin(crank) + 0.2 * math.sin(coupler))
    f = (0.4 + 0.15 * math.cos(rocker), 1 + 0.15 * math.sin(rocker))
    dx, dz, way = f[0] - e[0], f[1] - e[1], math.dist(e, f)
    along = (way * way + 0.2**2 - 0.25**2) / (2 * way)
    aside = math.sqrt(0.2**2 - along * along)
    pin = (e[0] + (along * dx - aside * dz) / way, e[1] + (along * dz + aside * dx) / way)
    arm, fore = (math.atan2(pin[1] - at[1], pin[0] - at[0]) - turn for at, turn in ((e, coupler), (f, rocker)))
    link = "  - {{name: {}, parent: {}, mass: 0.3, mass_model: uniform, joint: {{type: hinge, axis: [0, -1, 0], position: [{}, 0, 0]}}, shapes: [{{type: box, size: [{}, 0.02, 0.02], position: [{}, 0, 0]}}]}}\n"
    links = link.format("arm", "coupler", 0.2, 0.2, 0.1) + link.format("fore", "rocker", 0.15, 0.25, 0.125)
    scene = scene.replace("closures:\n", links + "closures:\n" + f"  - {{type: hinge, a: arm, b: fore, point: [{pin[0]!r}, 0, {pin[1]!r}], axis: [0, 1, 0]}}\n")
    return scene + f"  - {{link: arm, coordinates: [{arm!r}]}}\n  - {{link: fore, coordinates: [{fore!r}]}}\n"


def opened(scene):
    return re.sub(r"\nclosures:.*?(?=\n[a-z])", "", scene, flags=re.S)


def measure(program, scene, folder):
    """Instructions and iterations of a step."""
    path = os.path.join(folder, "scene.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(scene)
    run = subprocess.run(["valgrind", "--tool=callgrind", "--toggle-collect=sim_step", "--callgrind-out-file=/dev/null", program, "simulate", path, "-o",
                          os.path.join(folder, "run"), "--threads", "1", "--steps", str(STEPS)], capture_output=True, text=True, check=False)
    told = run.stdout + run.stderr
    if run.returncode != 0:
        sys.exit(told)
    return int(re.search(r"Collected : (\d+)", told).group(1)) / STEPS, float(re.search(r"([\d.]+) iterations per step", told).group(1))


def machines():
    for name in ("four-bar", "slider-crank", "stewart"):
        with open(f"scenes/{name}.yaml", encoding="utf-8") as file:
            yield name, file.read()
    yield "Watt's six-bar", watt()
    for count in (8, 20, 40):
        for kind in ("ball", "hinge"):
            yield f"chain of {count} closed by a {kind}", chain(count, kind)


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "./sdrs")
    rows = [("machine", "closed_instructions", "open_instructions", "ratio", "closed_iterations", "open_iterations")]
    with tempfile.TemporaryDirectory() as folder:
        for name, scene in machines():
            closed, bare = measure(program, scene, folder), measure(program, opened(scene), folder)
            rows.append((name, round(closed[0]), round(bare[0]), round(closed[0] / bare[0], 3), closed[1], bare[1]))
            print(*rows[-1], sep=", ", flush=True)
    with open(OUT, "w", encoding="ascii", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
