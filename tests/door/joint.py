#!/usr/bin/env python3
"""joint.py PROGRAM FOLDER: runs of a program that has a helix, against closed forms and differences.

Prints one line a case and `N passed, N failed`; exits 1 when one failed.
"""

import csv
import math
import pathlib
import subprocess
import sys

PROGRAM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
PITCH, MASS, WIDTH, GRAVITY = 0.02, 1.5, 0.1, 9.81

# A nut falls along a vertical thread.
NUT = f"""
simulation: {{dt: 0.001, duration: 0.2, gravity: [0, 0, {-GRAVITY}], integrator: first_order}}
contact: {{model: none}}
links:
  - name: nut
    joint: {{type: helix, axis: [0, 0, 2], pitch: {PITCH}, position: [0.1, 0.2, 1]}}
    shape: {{type: box, size: [{WIDTH}, {WIDTH}, 0.02]}}
    mass: {MASS}
    mass_model: uniform
"""

# A helix between hinges, driven, damped and limited; its paddle meets the ground.
ARM = """
simulation: {dt: 0.01, steps: 40, integrator: first_order}
contact: {friction: 0.3}
shapes:
  ground: {type: half_space}
  bar: {type: box, size: [0.3, 0.05, 0.05]}
links:
  - {name: ground, fixed: true, shape: ground}
  - name: arm
    joint: {type: hinge, axis: [0, 1, 0.1], position: [0, 0, 0.4], damping: 0.02}
    shapes: [{shape: bar, position: [0.15, 0, 0]}]
    mass: 1
  - name: nut
    parent: arm
    joint: {type: helix, axis: [1, 0.2, 0], pitch: -0.03, position: [0.35, 0, 0], limits: [-2, 2], damping: 0.01}
    shapes: [{shape: bar, position: [0.1, 0.1, 0]}]
    mass: 0.5
  - name: tip
    parent: nut
    joint: {type: hinge, axis: [0, 0.3, 1], position: [0.3, 0.1, 0]}
    shapes: [{shape: bar, position: [0.16, 0, 0]}]
    mass: 0.2
controllers:
  - {link: nut, type: pd, position_gain: 0.5, velocity_gain: 0.0001, target: {type: sines, terms: [{amplitude: 1.2, frequency: 2}]}}
initial:
  - {link: nut, coordinates: [0.3], velocities: [1]}
  - {link: arm, coordinates: [0.1]}
"""

failures = []
cases = 0


def judge(name, good, detail):
    global cases
    cases += 1
    if not good:
        failures.append(name)
    print(f"{'ok  ' if good else 'FAIL'} {name}: {detail}")


def sdrs(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=120, check=False)


def columns(path):
    with open(path, encoding="utf-8") as file:
        rows = list(csv.reader(file))
    return {name: [float(row[k]) for row in rows[1:]] for k, name in enumerate(rows[0])}


def run(name, *words):
    folder = FOLDER / name
    done = sdrs("simulate", FOLDER / f"{name.split('-')[0]}.yaml", "-q", "--no-overview", "-o", folder, *words)
    if done.returncode != 0:
        sys.exit(f"joint.py: {name} ended with {done.returncode}: {done.stderr}")
    return columns(folder / "joints.csv"), columns(folder / "trajectory.csv")


def main():
    for name, scene in (("nut", NUT), ("arm", ARM)):
        (FOLDER / f"{name}.yaml").write_text(scene, encoding="utf-8")

    # (I + m pitch^2) q'' = -m g pitch; a first-order step errs by O(dt), which extrapolation removes
    inertia = MASS * WIDTH**2 / 6
    wanted = -0.5 * MASS * GRAVITY * PITCH / (inertia + MASS * PITCH**2) * 0.2**2
    coarse, poses = run("nut")
    fine, _ = run("nut-fine", "--set", "simulation.dt=0.0005")
    ends = [run_["nut/angle"][-1] for run_ in (coarse, fine)]
    errors = [abs(end - wanted) for end in ends]
    judge("first order", 1.9 < errors[0] / errors[1] < 2.1, f"errors {errors[0]:.3g}, {errors[1]:.3g} rad")
    best = 2 * ends[1] - ends[0]
    judge("closed form", abs(best - wanted) < 1e-4 * abs(wanted), f"{best:.8g}, wanted {wanted:.8g} rad")

    angle, height = coarse["nut/angle"], poses["nut/pz"]
    slip = max(abs(z - (1 + PITCH * q)) for q, z in zip(angle, height))
    turn = max(abs(w - math.cos(q / 2)) + abs(z - math.sin(q / 2))
               for q, w, z in zip(angle, poses["nut/qw"], poses["nut/qz"]))
    judge("thread", slip < 1e-15 * 8 and turn < 1e-14, f"height off by {slip:.2g} m, rotation by {turn:.2g}")

    run("arm")
    for name in ("nut", "arm"):
        done = sdrs("gradcheck", FOLDER / f"{name}.yaml", "--steps", 30)
        judge(f"gradcheck {name}", done.returncode == 0, done.stdout.strip().splitlines()[-1] if done.stdout else done.stderr)
    done = sdrs("certify", FOLDER / "arm")
    judge("certify", done.returncode == 0, done.stdout.strip().splitlines()[-1] if done.stdout else done.stderr)

    page = sdrs("schema", "--markdown").stdout
    judge("docs", "| `pitch` | number | m/rad | **required** |  | `helix`: " in page and "free up to 6, helix 1 deg" in page,
          "the page of the format tells type and key")
    (FOLDER / "steep.yaml").write_text(NUT.replace(f"pitch: {PITCH}", "pitch: steep"), encoding="utf-8")
    wrong = sdrs("validate", FOLDER / "steep.yaml")
    judge("bad input", wrong.returncode == 1 and "pitch: expected a number" in wrong.stderr, wrong.stderr.strip()[:120])
    for ending in ("xml", "urdf"):
        done = sdrs("export", FOLDER / "nut.yaml", "-o", FOLDER / f"nut.{ending}")
        judge(f"export to .{ending}", done.returncode == 3 and "'nut'" in done.stderr, done.stderr.strip()[:160])

    print(f"{cases - len(failures)} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


main()
