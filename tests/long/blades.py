"""Tests random scenes of wheels with thin blades that rotate by up to 6 rad per step of 20 ms and collide with chips.
Usage: blades.py SDRS [--from SEED] [--count N] [--law LAW] [--seconds S] [--keep FOLDER]
Each scene is run and certified. Prints one line per scene that fails or takes longer than S seconds, and `N passed, N failed`.
Exits 1 if a scene failed."""
import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time

DT, STEPS, LARGEST_TURN = 0.02, 10, 6.0


def wheel(draw, name):
    blades = draw.choice([2, 3, 4])
    shapes = []
    for k in range(blades):
        a = 2 * math.pi * k / blades
        shapes.append({"type": "box", "size": [0.5, draw.choice([0.01, 0.02, 0.05]), 0.1], "position": [0.3 * math.cos(a), 0.3 * math.sin(a), 0],
                       "rotation": [math.cos(a / 2), 0, 0, math.sin(a / 2)]})
    return {"name": name, "density": 2000, "shapes": shapes}


def scene_of(seed, law):
    """Wheels in a row, 0.06 m between their tips; every chip flies at a wheel's middle and arrives within the run."""
    draw = random.Random(seed)
    wheels = draw.choice([1, 2])
    scene = {"name": f"blades-{seed}", "simulation": {"dt": DT, "steps": STEPS, "gravity": [0, 0, 0], "integrator": "momentum"},
             "contact": {"friction": 0, "model": law}, "links": [], "initial": []}
    for k in range(wheels):
        scene["links"].append(wheel(draw, f"w{k}"))
        turn = draw.uniform(0.5, LARGEST_TURN) / DT * draw.choice([-1, 1])
        scene["initial"].append({"link": f"w{k}", "coordinates": [1.16 * k, 0, 0, 1, 0, 0, 0], "velocities": [0, 0, 0, 0, 0, turn]})
    for k in range(draw.randint(1, 4)):
        shape = {"type": "sphere", "radius": 0.015} if draw.random() < 0.5 else {"type": "box", "size": [0.03, 0.02, 0.02]}
        scene["links"].append({"name": f"c{k}", "density": 500, "shape": shape})
        target, a = 1.16 * draw.randrange(wheels), math.pi * (0.3 + 0.1 * k + 0.05 * draw.random())
        away, when = draw.uniform(0.75, 1.2), draw.uniform(0.5, 0.9) * DT * STEPS
        place = [target + away * math.cos(a), (-1) ** k * away * math.sin(a), draw.uniform(-0.06, 0.06)]
        speed = [(target - place[0]) / when, -place[1] / when, 0]
        scene["initial"].append({"link": f"c{k}", "coordinates": place + [1, 0, 0, 0], "velocities": speed + [draw.uniform(-50, 50), 0, 0]})
    return scene


def run(sdrs, scene, seconds, folder):
    """What went wrong, or None."""
    path = os.path.join(folder, "scene.json")
    with open(path, "w", encoding="ascii") as file:
        json.dump(scene, file, indent=1)
    for command in ([sdrs, "simulate", path, "-q", "--threads", "1", "-o", folder + "/run"], [sdrs, "certify", folder + "/run"]):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return f"{command[1]}: not done in {seconds:g} s"
        if done.returncode != 0:
            return f"{command[1]}: exit {done.returncode}: {' '.join(done.stderr.split())[:300]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("sdrs")
    parser.add_argument("--from", dest="first", type=int, default=1)
    parser.add_argument("--count", type=int, default=250)
    parser.add_argument("--law", default="separating_plane")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--keep", default="out/blades")
    given = parser.parse_args()
    failed = 0
    for seed in range(given.first, given.first + given.count):
        scene, start = scene_of(seed, given.law), time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            wrong = run(given.sdrs, scene, given.seconds, folder)
        if wrong is None:
            continue
        failed += 1
        os.makedirs(given.keep, exist_ok=True)
        with open(os.path.join(given.keep, f"{given.law}-{seed}.json"), "w", encoding="ascii") as file:
            json.dump(scene, file, indent=1)
        print(f"seed {seed}, {given.law}, after {time.monotonic() - start:.1f} s: {wrong}", flush=True)
    print(f"{given.count - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
