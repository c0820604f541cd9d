"""A search for trouble: random scenes, each run, certified and judged by what must hold of any scene.

trouble.py SDRS [--from SEED] [--count N] [--machines] [--keep DIR] [--minutes M] [--no-shrink]

A scene is drawn from its seed alone: solids, joints, limits, drives, signals, walls, integrators, and three scales (of
length, mass and time, over twelve decades of mass) by which the whole scene is multiplied; with --machines also what
trouble_machines.py adds to the same scenes. Then

  runs        `simulate` ends with exit 0 within its time, `certify` proves the run again from its files;
  numbers     every number of the tables is finite, rows stand at the times asked for;
  momentum    where nothing but contact and joints between the bodies acts, the linear momentum stays;
  energy      where no drive works, kinetic + potential + contact + limit energy never grows (first_order, momentum), or
              never comes to more than the run began with (second_order: derivations/step.md, S15);
  threads     one and three threads give the same files (every eighth seed);
  going on    a run that begins in the state in which a shorter one ended has the longer one's rows (every eighth seed);
  gradients   `gradcheck` of its first steps finds no wrong block (every fourth seed).

A scene that fails is shrunk while it fails in the same way, and is kept in DIR as <seed>.json with the way to run it.
Prints one line a finding and `N passed, N failed`; exits 1 when one failed.
"""
import argparse
import copy
import csv
import filecmp
import json
import math
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

import trouble_machines
from trouble_machines import DEGREES, direction

# Of the largest kinetic energy and the span of the total. The energy of momentum's free motion is right to the second
# order of the turn in a step (up to 0.4 rad here, and rarely in a collision).
ENERGY_ALLOWANCE = {"first_order": 1e-5, "momentum": 2e-3, "second_order": 2e-3}
MOMENTUM_ALLOWANCE = 1e-8 # of the sum of |m v|, at this tolerance
TOLERANCE = 1e-10
DOUBT = 10                # times the resolution of gradcheck's differences
SECONDS_A_RUN = 120
STANDS_STILL = 30
# The steps that may be given up: the drawn machine jams. The scenes that may be refused: nothing to hold together.
NO_MOTION = ("a prescribed link cannot move on", "no motion of the links can close it")
REFUSED = ("there is nothing to hold together", "neither can move")


# ------------------------------------------------------------------ scales


class Scales:
    """Factors of length, mass and time; a quantity of dimension L^a M^b T^c is multiplied by their powers."""

    def __init__(self, draw):
        self.length = 10**draw.uniform(-3, 2)
        self.mass = 10**draw.uniform(-6, 6)
        self.time = 10**draw.uniform(-2, 2)

    def __call__(self, value, length=0, mass=0, time=0):
        factor = self.length**length * self.mass**mass * self.time**time
        return [factor * x for x in value] if isinstance(value, list) else factor * value


# ------------------------------------------------------------------ what a scene is made of


def quaternion(draw):
    while True:
        q = [draw.gauss(0, 1) for _ in range(4)]
        size = math.hypot(*q)
        if size > 0.1:
            return [x / size for x in q]


def random_solid(draw, scales):
    """A solid about the origin and the radius of a ball that holds it (before scaling)."""
    size = draw.uniform(0.05, 0.5)
    kind = draw.choice(["box", "box", "sphere", "cylinder", "capsule", "rounded_box", "points"])
    if kind == "box":
        edges = [size * 10**draw.uniform(-1.3, 0) for _ in range(3)]
        return {"type": kind, "size": scales(edges, length=1)}, math.hypot(*edges) / 2
    if kind == "sphere":
        return {"type": kind, "radius": scales(size / 2, length=1), "resolution": draw.randint(0, 1)}, size / 2
    if kind == "cylinder":
        height = size * draw.uniform(0.1, 2)
        solid = {"type": kind, "radius": scales(size / 2, length=1), "length": scales(height, length=1), "segments": draw.randint(3, 12)}
        return solid, math.hypot(size / 2, height / 2)
    if kind == "capsule":
        radius, straight = size / 4, size * draw.uniform(0.2, 1)
        solid = {"type": kind, "radius": scales(radius, length=1), "length": scales(straight, length=1), "segments": draw.randint(3, 8)}
        return solid, radius + straight / 2
    if kind == "rounded_box":
        edges = [size * draw.choice([0, draw.uniform(0.1, 0.6)]) for _ in range(3)]
        radius = size / 5
        return {"type": kind, "radius": scales(radius, length=1), "size": scales(edges, length=1)}, math.hypot(*edges) / 2 + radius
    points = [[size / 2 * x for x in direction(draw)] for _ in range(draw.randint(5, 14))]
    points += [[size / 2 if i == j else 0 for i in range(3)] for j in range(3)] + [[-size / 4] * 3]
    return {"type": kind, "points": [scales(p, length=1) for p in points]}, size / 2


ROTATIONS = {"hinge": 1, "slide": 0, "universal": 2, "ball": 3}


def random_joint(draw, scales):
    kind = draw.choice(list(DEGREES))
    joint = {"type": kind}
    turns = ROTATIONS[kind] > 0
    if kind in ("hinge", "slide"):
        joint["axis"] = direction(draw)
    if kind == "universal":
        joint["axes"] = [[1, 0, 0], [0, 1, 0]]
    if draw.random() < 0.5:
        span = draw.uniform(0.3, 1.2) if turns else draw.uniform(0.05, 0.2)
        joint["limit_law"] = draw.choice(["barrier", "penalty"])
        low, high = scales([-span, span], length=0 if turns else 1)
        joint["limits"] = [None, high] if kind == "ball" else [[low, high]] * DEGREES[kind] if DEGREES[kind] > 1 else [low, high]
        joint["limit_stiffness"] = scales(10**draw.uniform(-2, 3), length=2 if turns or joint["limit_law"] == "barrier" else 0, mass=1, time=-2)
        if not turns: # the default margin is a length, which a scene at another scale has to say
            joint["limit_margin"] = (high - low) / 8
    if draw.random() < 0.4:
        joint["damping"] = scales(10**draw.uniform(-3, 0), length=2 if turns else 0, mass=1, time=-1)
    return joint


def random_signal(draw, scales, joint, duration):
    """For all channels of a joint, small enough to stay within its limits."""
    turns, n = ROTATIONS[joint["type"]] > 0, DEGREES[joint["type"]]
    reach = scales(draw.uniform(0.02, 0.25) if turns else draw.uniform(0.005, 0.04), length=0 if turns else 1)
    kind = draw.choice(["constant", "keyframes", "spline", "sines", "sequence"])
    rows = lambda count: [[0.0] * n] + [[draw.uniform(-reach, reach) for _ in range(n)] for _ in range(count - 1)]
    if kind == "constant":
        return {"type": kind, "value": rows(2)[1]}
    if kind == "sines":
        terms = [[{"amplitude": reach, "frequency": draw.uniform(0.2, 3) / scales.time}] for _ in range(n)]
        return {"type": kind, "terms": terms}
    if kind == "sequence":
        return {"type": kind, "interval": duration / 4, "values": rows(4)}
    return {"type": kind, "times": [0, duration / 3, duration / 2, duration], "values": rows(4)}


def random_controller(draw, scales, link, joint, duration):
    turns = ROTATIONS[joint["type"]] > 0
    signal = random_signal(draw, scales, joint, duration)
    # a prescribed joint starts where its signal does, and no motion may take it through a body of another tree
    if draw.random() < 0.2 and signal["type"] in ("keyframes", "spline", "sines", "sequence"):
        return {"link": link, "type": "prescribed", "target": signal}
    stiffness = 10**draw.uniform(-1, 3)
    return {"link": link, "type": "pd", "target": signal, "position_gain": scales(stiffness, length=2 if turns else 0, mass=1, time=-2),
            "velocity_gain": scales(stiffness * 10**draw.uniform(-5, -2), length=2 if turns else 0, mass=1)}


def random_tree(draw, scales, scene, place, name, duration, arms=True):
    """A body, within 0.7 of `place`, and what hangs on it, along x within 1.6: nothing overlaps at the start."""
    solid, radius = random_solid(draw, scales)
    mass = scales(10**draw.uniform(-1.5, 1.5), mass=1)
    base = {"name": name, "shape": solid, "mass": mass, "mass_model": draw.choice(["vertices", "uniform"])}
    free = draw.random() < 0.8
    if free:
        base.update(position=scales(place, length=1), rotation=quaternion(draw))
        speed, spin = draw.choice([0, draw.uniform(0, 8)]), draw.choice([0, draw.uniform(0, 20)])
        speed *= draw.choice([1] * 19 + [20])
        toward = [-x for x in place] if draw.random() < 0.6 else direction(draw)
        size = math.hypot(*toward) or 1
        velocity = scales([speed * x / size for x in toward], length=1, time=-1)
        scene["initial"].append({"link": name, "velocities": velocity + scales([spin * x for x in direction(draw)], time=-1)})
    else:
        base["joint"] = {**random_joint(draw, scales), "position": scales(place, length=1)}
        if draw.random() < 0.5:
            scene["controllers"].append(random_controller(draw, scales, name, base["joint"], duration))
    scene["links"].append(base)
    ways = draw.sample([(1, 0, 0), (-1, 0, 0)], draw.choice([0, 0, 1, 2]) if arms else 0) # arms side by side could meet at the start
    for k, way in enumerate(ways):
        parent, reach, offset = name, radius, 0
        for depth in range(draw.choice([1, 1, 2])):
            solid, next_radius = random_solid(draw, scales)
            shrink = min(1, 0.12 / next_radius)
            link, away = f"{name}.{k}{depth}", 1.05 * reach + 0.02
            joint = {**random_joint(draw, scales), "position": scales([(away - offset) * w for w in way], length=1)}
            scene["shapes"][link] = {"type": "box", "size": scales([0.12] * 3, length=1)} if shrink < 0.3 else solid
            middle = 0.11 if shrink < 0.3 else next_radius * 1.05
            scene["links"].append({"name": link, "parent": parent, "joint": joint, "mass": scales(10**draw.uniform(-1, 0.5), mass=1),
                                   "shapes": [{"shape": link, "position": scales([middle * w for w in way], length=1)}]})
            if draw.random() < 0.5:
                scene["controllers"].append(random_controller(draw, scales, link, joint, duration))
            parent, reach, offset = link, 2 * middle, 0


def random_scene(seed, machines=False):
    draw = random.Random(seed)
    scales = Scales(draw)
    dt = 10**draw.uniform(-3, -1.7)
    steps = draw.choice([30, 60, 150])
    duration = scales(dt * steps, time=1)
    gravity = scales([0, 0, -9.81 if draw.random() < 0.75 else 0], length=1, time=-2)
    contact = {"friction": draw.choice([0, 0.1, 0.5, 1.0, 2.0])}
    if draw.random() < 0.3:
        contact["restitution"] = draw.choice([None, None, 0.3, 0.8])
    scene = {"simulation": {"dt": scales(dt, time=1), "steps": steps, "gravity": gravity,
                            "integrator": draw.choice(["first_order", "first_order", "momentum", "momentum", "second_order"])},
             "contact": contact, "shapes": {}, "links": [], "controllers": [], "initial": []}
    if draw.random() < 0.1:
        scene["simulation"]["substeps"] = draw.randint(2, 4)
    if draw.random() < 0.7:
        tilt = direction(draw)
        normal = [0.3 * tilt[0], 0.3 * tilt[1], 1]
        scene["links"].append({"name": "ground", "fixed": True, "shape": {"type": "half_space", "normal": normal}})
        if draw.random() < 0.3:
            wall = {"type": "half_space", "normal": [1, 0, 0.2], "offset": scales(-6, length=1)}
            scene["links"].append({"name": "wall", "fixed": True, "shape": wall})
    dense = draw.random() < 0.25
    spread = 1.42 if dense else draw.choice([2.2, 3.0])
    cells = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (0, 1)]
    for k, cell in enumerate(draw.sample(cells, draw.choice([8, 12, 18] if dense else [1, 2, 2, 3, 4, 6]))):
        place = [spread * cell[0], spread * cell[1], 2.2 + spread * cell[2]]
        random_tree(draw, scales, scene, place, f"body{k}", duration, arms=not dense)
    if not acts_from_outside(scene):
        scene["simulation"]["tolerance"] = TOLERANCE # what is left of contact's forces is not momentum
    if machines:
        trouble_machines.add_parts(draw, scales, scene)
    return scene


# ------------------------------------------------------------------ what must hold


class Trouble(Exception):
    """kind: one word by which shrinking knows the failure again."""

    def __init__(self, kind, told):
        super().__init__(f"{kind}: {told}")
        self.kind = kind


def call(kind, command, seconds=SECONDS_A_RUN, expect=(0,)):
    """seconds: of processor time, so that a busy machine finds no trouble; STANDS_STILL times that until one that waits for good ends."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=STANDS_STILL * seconds,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5)))
    except subprocess.TimeoutExpired:
        raise Trouble(kind + "-stands-still", f"over {STANDS_STILL * seconds} s")
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise Trouble(kind + "-slow", f"over {seconds} s of processor time")
    if done.returncode not in expect:
        told = (done.stderr.strip() or done.stdout.strip()).split("\n")
        raise Trouble(f"{kind}-exit-{done.returncode}", told[0] if told else "")
    return done


def table(folder, name):
    with open(os.path.join(folder, name), encoding="ascii") as file:
        rows = list(csv.reader(file))
    keep = [i for i, word in enumerate(rows[0]) if word != "outcome"]
    columns = {rows[0][i]: [float(row[i]) for row in rows[1:]] for i in keep}
    for column, values in columns.items():
        if not all(math.isfinite(x) or column == "smallest_gap" for x in values):
            raise Trouble("number", f"{name}: {column} is not finite")
    return columns


def acts_from_outside(scene):
    """Whether anything but the bodies themselves can change their linear momentum."""
    held = any(link.get("fixed") or ("joint" in link and "parent" not in link) for link in scene["links"])
    return held or any(scene["simulation"]["gravity"]) or trouble_machines.act_from_outside(scene)


def stays_at_rest(scene):
    """Nothing but roundings moves."""
    return not any(scene["simulation"]["gravity"]) and not any(x for item in scene["initial"] for x in item["velocities"])


def check_momentum(scene, solver):
    if acts_from_outside(scene) or (stays_at_rest(scene) and not scene["controllers"]):
        return
    size = max(math.sqrt(2 * k * sum(link["mass"] for link in scene["links"])) for k in solver["kinetic"])
    # Where rounding ends a step (an impact in parts of microseconds), it tells what part of its forces was left over.
    left_over = sum(residual for residual in solver["residual"] if residual > TOLERANCE)
    for column in ("px", "py", "pz"):
        off = max(abs(x - solver[column][0]) for x in solver[column])
        if off > (MOMENTUM_ALLOWANCE + left_over) * size:
            raise Trouble("momentum", f"{column} changes by {off / size:.3g} of sum |m v|")


def check_energy(scene, solver):
    # In the middle of an impact that gives back, what the barrier stores is not the energy of the objective's term.
    if scene["controllers"] or scene["contact"].get("restitution", 0) != 0:
        return
    if trouble_machines.store_energy(scene):
        return
    fallen = [0.5 * (a - b) for a, b in zip(solver["potential"], solver["potential"][1:])]
    momentum = scene["simulation"]["integrator"] == "momentum"
    total = [sum(energies) for energies in zip(solver["total"], solver["contact"], solver["limit"])]
    scale = max(solver["kinetic"]) + max(total) - min(total)
    # Under momentum the first step has half of its gravity; where the number of substeps changes it acts for the new length, not between middles.
    alike = [n for n in range(2 if momentum else 1, len(total)) if not momentum or solver["substeps"][n] == solver["substeps"][n - 1]]
    gained = max((total[n] - total[n - 1] for n in alike), default=0)
    if scene["simulation"]["integrator"] == "second_order":
        if stays_at_rest(scene):
            return
        gained = max(total) - total[0] - max((abs(half) for half in fallen), default=0)
    if gained > ENERGY_ALLOWANCE[scene["simulation"]["integrator"]] * scale:
        raise Trouble("energy", f"grows by {gained / scale:.3g} of its scale in a step")


def check_gradients(report):
    """A step that rounding ends far above gradcheck's tolerance leaves more doubt than its sweep shows."""
    for block, found in report[0]["blocks"].items():
        if not found["passed"] and found["relative_error"] > DOUBT * found["resolution"]:
            raise Trouble("gradient", f"{block} is wrong by {found['relative_error']:.3g}, resolution {found['resolution']:.3g}")


def same_files(one, other):
    for name in ("trajectory.csv", "solver.csv"):
        if not filecmp.cmp(os.path.join(one, name), os.path.join(other, name), shallow=False):
            raise Trouble("threads", f"{name} differs between one and three threads")


def goes_on(sdrs, scene, path, folder):
    """In the middle."""
    run, steps = os.path.join(folder, "run"), scene["simulation"]["steps"]
    call("simulate", [sdrs, "simulate", path, "-q", "--threads", "1", "-o", run + "-first", "--set", f"simulation.steps={steps // 2}"])
    rest = {**scene, "simulation": {**scene["simulation"], "steps": steps - steps // 2, "integrator": "first_order"}, "start": {"run": run + "-first"}}
    with open(path + "-rest.json", "w", encoding="ascii") as file:
        json.dump(rest, file, indent=1)
    call("simulate", [sdrs, "simulate", path + "-rest.json", "-q", "--threads", "1", "-o", run + "-rest"])
    whole, parts = table(run, "trajectory.csv"), table(run + "-rest", "trajectory.csv")
    for column, values in whole.items():
        if values[-len(parts[column]):] != parts[column]:
            raise Trouble("going-on", f"{column} is another one after a start in the middle")


def judge(sdrs, scene, seed, folder):
    """Raises Trouble; returns the words of what was looked at."""
    path = os.path.join(folder, "scene.json")
    with open(path, "w", encoding="ascii") as file:
        json.dump(scene, file, indent=1)
    run = os.path.join(folder, "run")
    try:
        call("simulate", [sdrs, "simulate", path, "-q", "--threads", "1", "-o", run])
    except Trouble as trouble:
        if any(words in str(trouble) for words in NO_MOTION + REFUSED):
            return
        raise
    call("certify", [sdrs, "certify", run])
    solver, trajectory = table(run, "solver.csv"), table(run, "trajectory.csv")
    steps = scene["simulation"]["steps"]
    if abs(trajectory["time"][-1] - steps * scene["simulation"]["dt"]) > 1e-9 * trajectory["time"][-1]:
        raise Trouble("time", "the last row is not at the end")
    check_momentum(scene, solver)
    check_energy(scene, solver)
    if seed % 8 == 0:
        call("simulate", [sdrs, "simulate", path, "-q", "--threads", "3", "-o", run + "3"])
        same_files(run, run + "3")
    if seed % 8 == 4 and steps > 1:
        goes_on(sdrs, scene, path, folder)
    if seed % 4 == 0:
        few = str(min(steps, 12))
        command = [sdrs, "gradcheck", path, "-q", "--json", "--threads", "1", "--steps", few, "--directions", "1"]
        check_gradients(json.loads(call("gradcheck", command, 3 * SECONDS_A_RUN, expect=(0, 1)).stdout))


def trouble_of(sdrs, scene, seed):
    with tempfile.TemporaryDirectory() as folder:
        try:
            judge(sdrs, scene, seed, folder)
        except Trouble as trouble:
            return trouble
    return None


# ------------------------------------------------------------------ smaller scenes that fail alike


LISTS = ("controllers", "initial") + trouble_machines.LISTS


def without_link(scene, name):
    """The scene without a link and what speaks of it; None if something hangs on it."""
    if any(link.get("parent") == name for link in scene["links"]):
        return None
    smaller = copy.deepcopy(scene)
    smaller["links"] = [link for link in smaller["links"] if link["name"] != name]
    for key in LISTS:
        if key in smaller:
            smaller[key] = [item for item in smaller[key] if not trouble_machines.speaks_of(item, name)]
    smaller["shapes"].pop(name, None)
    return smaller if smaller["links"] else None


def smaller_scenes(scene):
    for link in reversed(scene["links"]):
        yield without_link(scene, link["name"])
    for key in LISTS:
        for i in range(len(scene.get(key, []))):
            smaller = copy.deepcopy(scene)
            del smaller[key][i]
            yield smaller
    if scene["simulation"]["steps"] > 1:
        smaller = copy.deepcopy(scene)
        smaller["simulation"]["steps"] //= 2
        yield smaller
    for i, link in enumerate(scene["links"]):
        for key in ("limits", "damping"):
            if key in link.get("joint", {}):
                smaller = copy.deepcopy(scene)
                for word in (key, "limit_law", "limit_stiffness", "limit_margin") if key == "limits" else (key,):
                    smaller["links"][i]["joint"].pop(word, None)
                yield smaller


def shrink(sdrs, scene, seed, kind, deadline):
    while time.monotonic() < deadline:
        for smaller in smaller_scenes(scene):
            if time.monotonic() > deadline:
                break
            if smaller is None:
                continue
            trouble = trouble_of(sdrs, smaller, seed)
            if trouble and trouble.kind == kind:
                scene = smaller
                break
        else:
            break
    return scene


# ------------------------------------------------------------------ the search


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("sdrs")
    parser.add_argument("--from", dest="first", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--keep", default="out/trouble")
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--machines", action="store_true")
    options = parser.parse_args()
    sdrs, end = os.path.abspath(options.sdrs), time.monotonic() + 60 * options.minutes
    passed = failed = 0
    for seed in range(options.first, options.first + options.count):
        if time.monotonic() > end:
            print(f"out of time before seed {seed}")
            break
        scene = random_scene(seed, options.machines)
        trouble = trouble_of(sdrs, scene, seed)
        if not trouble:
            passed += 1
            continue
        failed += 1
        print(f"FAIL seed {seed}: {trouble}", flush=True)
        if not options.no_shrink:
            scene = shrink(sdrs, scene, seed, trouble.kind, time.monotonic() + 120)
        os.makedirs(options.keep, exist_ok=True)
        kept = os.path.join(options.keep, f"{seed}.json")
        with open(kept, "w", encoding="ascii") as file:
            json.dump(scene, file, indent=1)
        print(f"     {len(scene['links'])} links, {scene['simulation']['steps']} steps: {kept}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
