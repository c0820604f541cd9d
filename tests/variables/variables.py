"""Every kind of variable recovers the truth from synthetic data, in `sdrs identify` and in `sdrs optimize` (tests/variables/run.sh).

A case is a scene, changes that make the truth, the part of a task that says what varies, and the values that must come out. Data is the
scene's own run with the truth; identify is given its rows, optimize a loss of squared distances to places along it. Prints a row a case:
worst error of both, as a part of how far the truth was from the start. Usage: variables.py SDRS FOLDER [CASE...]"""
import csv
import json
import math
import os
import subprocess
import sys

SDRS, FOLDER = sys.argv[1:3]
BOUND = 1e-5

HINGE = """
simulation: {dt: 0.004, steps: 200, tolerance: 1.0e-10, integrator: first_order}
contact: {model: none}
initial: [{link: rod, coordinates: [0.3], velocities: [0.5]}]
links:
  - {name: rod, shape: {type: box, size: [0.05, 0.05, 0.8]}, mass: 1, mass_model: given, center: [0, 0, -0.35], inertia: [0.06, 0.06, 0.06, 0, 0, 0], joint: {type: hinge, axis: [0, 1, 0.3], damping: 0.01, friction: 0.05, friction_speed: 0.05, armature: 0.02, stiffness: 1}}
controllers: [{link: rod, type: torque, target: {type: sines, terms: [{amplitude: 1.2, frequency: 0.7, phase: 0.3}]}}]
"""
DRIVE = HINGE[: HINGE.index("controllers")] + """
controllers: [{link: rod, type: pd, position_gain: 20, damping_gain: 1, velocity_gain: 0.02, max_force: 4, delay: 0.01, target: {type: sines, terms: [{amplitude: 0.8, frequency: 0.9}]}}]
"""
DOUBLE = """
simulation: {dt: 0.004, steps: 200, tolerance: 1.0e-10, integrator: first_order}
contact: {model: none}
initial: [{link: upper, coordinates: [0.5]}, {link: lower, coordinates: [-0.3]}]
links:
  - {name: upper, shape: {type: box, size: [0.05, 0.05, 0.5]}, mass: 1, mass_model: given, center: [0, 0, -0.25], inertia: [0.02, 0.02, 0.002, 0, 0, 0], joint: {type: hinge, axis: [0, 1, 0], damping: 0.05}}
  - {name: lower, parent: upper, shape: {type: box, size: [0.05, 0.05, 0.5]}, mass: 1, mass_model: given, center: [0, 0, -0.25], inertia: [0.02, 0.02, 0.002, 0, 0, 0], joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, -0.5], damping: 0.05}}
"""
SLIDE = """
simulation: {dt: 0.004, steps: 100, tolerance: 1.0e-9, integrator: first_order}
contact: {friction: 0.4, barrier_distance: 5.0e-4, stiffness: 4.0e-11, smoothing: 1.0e-6, rest_speed: 0.002}
initial: [{link: box, velocities: [1.2, -0.4, 0, 0, 0, 2]}]
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: box, shape: {type: box, size: [0.3, 0.2, 0.1]}, mass: 2, mass_model: given, center: [0, 0, 0], inertia: [0.0083, 0.0167, 0.0217, 0, 0, 0], position: [0, 0, 0.0502]}
"""
OWN = SLIDE.replace("{name: box,", "{name: box, friction: 0.4,")
PAIR = SLIDE.replace("rest_speed: 0.002}", "rest_speed: 0.002, pairs: [{a: ground, b: box, friction: 0.4}]}")
DIRECTED = SLIDE.replace("rest_speed: 0.002}", "rest_speed: 0.002, pairs: [{a: ground, b: box, friction: [0.4, 0.6], friction_axis: [1, 0, 0]}]}")
PUSHED = SLIDE.replace("mass: 2, mass_model: given, center: [0, 0, 0], inertia: [0.0083, 0.0167, 0.0217, 0, 0, 0]", "density: 300") + """
loads: [{link: box, force: [4, 1, 0], point: [-0.1, 0.03, 0], axes: link}]
"""
FLYING = """
simulation: {dt: 0.004, steps: 100, gravity: [0, 0, -9.81], tolerance: 1.0e-10, integrator: first_order}
contact: {model: none}
initial: [{link: box, velocities: [1.2, -0.4, 3, 1, 2, 3]}]
links: [{name: box, shape: {type: box, size: [0.3, 0.2, 0.1]}, mass: 2, position: [0, 0, 1]}]
loads: [{link: box, force: [2, 1, 0], torque: [0.5, -0.4, 0.6], point: [-0.1, 0.03, 0.02], axes: link}]
"""
DROP = """
simulation: {dt: 0.002, steps: 120, tolerance: 1.0e-9, integrator: first_order}
contact: {friction: 0.4, barrier_distance: 1.0e-3, stiffness: 1.0e-9, rest_speed: 0.05}
shapes: {brick: {type: box, size: [0.2, 0.2, 0.1]}}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: box, shapes: [{shape: brick}], mass: 1, mass_model: given, center: [0, 0, 0], inertia: [0.005, 0.005, 0.005, 0, 0, 0], position: [0, 0, 0.08]}
"""
# With the derived smoothing of friction L-BFGS stops in another minimum of the corners.
TUMBLING = DROP.replace("rest_speed: 0.05}", "rest_speed: 0.05, smoothing: 1e-5, friction_iterations: 0}").replace("links:", "initial: [{link: box, velocities: [0, 0, 0, 2, 1.3, 0]}]\nlinks:")
BOX = DROP.replace("shapes: [{shape: brick}]", "shape: {type: box, size: [0.2, 0.2, 0.1]}")
BALL = """
simulation: {dt: 0.002, steps: 150, tolerance: 1.0e-9, integrator: first_order}
contact: {model: penalty, stiffness: 2.0e4, exponent: 1.5, friction: 0.3}
initial: [{link: ball, velocities: [0.5, 0, 0, 0, 0, 0]}]
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: ball, shape: {type: superellipsoid, size: [0.05, 0.05, 0.05], exponent: 1}, mass: 0.5, mass_model: given, center: [0, 0, 0], inertia: [0.0005, 0.0005, 0.0005, 0, 0, 0], position: [0, 0, 0.08]}
"""
BOUNCE = """
simulation: {dt: 0.002, steps: 120, tolerance: 1.0e-9, integrator: first_order}
contact: {friction: 0.2, barrier_distance: 1.0e-3, stiffness: 1.0e-9, rest_speed: 0.05, restitution: 0.4}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: box, shape: {type: box, size: [0.2, 0.2, 0.1]}, mass: 1, mass_model: given, center: [0, 0, 0], inertia: [0.005, 0.005, 0.005, 0, 0, 0], position: [0, 0, 0.09]}
"""
PAIR_BOUNCE = BOUNCE.replace("restitution: 0.4}", "pairs: [{a: ground, b: box, restitution: 0.4}]}")


def tilted(axis, angle):
    """(0, y, z) turned about x."""
    y, z = axis
    c, s = math.cos(angle), math.sin(angle)
    return f"[0, {y * c - z * s!r}, {y * s + z * c!r}]"


def factor_of(inertia):
    """V, upper triangular, of the second moment V V^T = tr(I) / 2 - I, by its closed form."""
    half = sum(inertia[:3]) / 2
    xx, yy, zz = (half - i for i in inertia[:3])
    xy, xz, yz = (-i for i in inertia[3:])
    v33 = math.sqrt(zz)
    v13, v23 = xz / v33, yz / v33
    v22 = math.sqrt(yy - v23 * v23)
    v12 = (xy - v13 * v23) / v22
    v11 = math.sqrt(xx - v12 * v12 - v13 * v13)
    names = ["log_x", "log_y", "log_z", "xy", "xz", "yz"]
    return dict(zip(["box/inertia/" + n for n in names], [math.log(v11), math.log(v22), math.log(v33), v12, v13, v23]))


def parameter(text):
    return f"parameters: [{{{text}}}]"


# name: (scene, changes that make the truth, what varies, values that come out)
CASES = {
    "mass": (HINGE, ["links.rod.mass=1.3"], parameter("type: mass, link: rod"), {"rod/mass": 1.3}),
    "mass-of-hulls": (PUSHED, ["links.box.density=360"], parameter("type: mass, link: box"), {"box/mass": 360 * 0.006}),
    "center": (HINGE, ["links.rod.center=[0.03, 0, -0.4]"], parameter("type: center, link: rod, axes: [x, z]"), {"rod/center/x": 0.03, "rod/center/z": -0.4}),
    "inertia-scale": (HINGE, ["links.rod.inertia=[0.075, 0.075, 0.075, 0, 0, 0]"], parameter("type: inertia, link: rod, form: scale"), {"rod/inertia/scale": 1.25}),
    "inertia-full": (FLYING.replace("mass: 2,", "mass: 2, mass_model: given, center: [0, 0, 0], inertia: [0.0083, 0.0167, 0.0217, 0, 0, 0],"), ["links.box.inertia=[0.01, 0.017, 0.02, 0.001, 0.0005, -0.002]"], parameter("type: inertia, link: box"), factor_of([0.01, 0.017, 0.02, 0.001, 0.0005, -0.002])),
    "joint-damping": (HINGE, ["links.rod.joint.damping=0.05"], parameter("type: damping, link: rod"), {"rod/damping/0": 0.05}),
    "joint-friction": (HINGE, ["links.rod.joint.friction=0.12"], parameter("type: joint_friction, link: rod"), {"rod/friction/0": 0.12}),
    "joint-armature": (HINGE, ["links.rod.joint.armature=0.05"], parameter("type: armature, link: rod"), {"rod/armature/0": 0.05}),
    "joint-stiffness": (HINGE, ["links.rod.joint.stiffness=1.6"], parameter("type: joint_stiffness, link: rod"), {"rod/stiffness/0": 1.6}),
    "joint-axis": (HINGE, [f"links.rod.joint.axis={tilted((1, 0.3), 0.1)}"], parameter("type: axis, link: rod, axes: [x]"), {"rod/axis/x": math.tan(0.1)}),
    "joint-direction": (HINGE, ["links.rod.joint.rotation_vector=[0.1, 0, 0]"], parameter("type: rotation, link: rod, axes: [x]"), {"rod/rotation/x": 0.1}),
    "joint-origin": (DOUBLE, ["links.lower.joint.position=[0.04, 0, -0.45]"], "design: {connect: false, attachments: [{link: lower, axes: [x, z]}]}", {"lower/attachment/x": 0.04, "lower/attachment/z": -0.45}),
    "tie": (DOUBLE, ["links.upper.joint.damping=0.08", "links.lower.joint.damping=0.08"], parameter("type: damping, links: [upper, lower], tie: true"), {"upper/damping/0": 0.08}),
    "bound": (HINGE, ["links.rod.mass=1.3"], parameter("type: mass, link: rod, high: 1.2"), {"rod/mass": 1.2}),
    "position-gain": (DRIVE, ["controllers.0.position_gain=26"], "control: [{link: rod, parameters: [position_gain]}]", {"rod/position_gain/0": 26}),
    "damping-gain": (DRIVE, ["controllers.0.damping_gain=1.4"], "control: [{link: rod, parameters: [damping_gain]}]", {"rod/damping_gain/0": 1.4}),
    "velocity-gain": (DRIVE, ["controllers.0.velocity_gain=0.05"], "control: [{link: rod, parameters: [velocity_gain]}]", {"rod/velocity_gain/0": 0.05}),
    "actuator-limit": (DRIVE, ["controllers.0.max_force=5"], "control: [{link: rod, parameters: [max_force]}]", {"rod/max_force/0": 5}),
    # the sine rises smoothly: a jump of its rate saturates the motor in the step of the jump, which is a kink in the delay
    "delay": (DRIVE.replace("type: sines,", "type: sines, ramp: 0.1,"), ["controllers.0.delay=0.031"], "control: [{link: rod, parameters: [delay]}]", {"rod/delay/0": 0.031}),
    "load": (FLYING, ["loads.0.force=[2.5, 0.6, 0.3]"], "control: [{link: box, of: [forces]}]", {"box/force_values/0": 2.5, "box/force_values/1": 0.6, "box/force_values/2": 0.3}),
    "gravity-direction": (SLIDE, ["simulation.gravity=[0.6, -0.3, -9.81]"], parameter("type: gravity, axes: [x, y]"), {"scene/gravity/x": 0.6, "scene/gravity/y": -0.3}),
    "friction": (SLIDE, ["contact.friction=0.5"], parameter("type: friction"), {"contact/friction": 0.5}),
    "friction-of-a-link": (OWN, ["links.box.friction=0.5"], parameter("type: link_friction, link: box"), {"box/friction": 0.5}),
    "friction-of-a-pair": (PAIR, ["contact.pairs.0.friction=0.5"], parameter("type: pair_friction, a: ground, b: box"), {"ground+box/friction": 0.5}),
    "friction-along-a-pair": (DIRECTED, ["contact.pairs.0.friction=[0.5, 0.6]"], parameter("type: pair_friction_along, a: ground, b: box"), {"ground+box/friction_along": 0.5}),
    "contact-support": (DROP, ["contact.barrier_distance=0.0013"], parameter("type: barrier_distance"), {"contact/support": 0.0013}),
    "contact-stiffness": (DROP, ["contact.stiffness=1.4e-9"], parameter("type: stiffness"), {"contact/stiffness": 1.4e-9}),
    "box-size": (BOX, ["links.box.shape.size=[0.2, 0.2, 0.106]"], parameter("type: size, link: box, axes: [z]"), {"box/size/z": 0.106}),
    "hull-vertices": (TUMBLING, ["shapes.brick.size=[0.2, 0.2, 0.106]", "links.box.shapes=[{shape: brick, position: [0, 0, -0.003]}]"], "design: {connect: false, vertices: [{link: box, axes: [z], box: {low: [-1, -1, -1], high: [1, 1, 0]}}]}", {f"box/0/{k}/z": -0.056 for k in (0, 2, 4, 6)}),
    "shape-size": (BALL, ["links.ball.shape.size=[0.054, 0.054, 0.054]"], parameter("type: shape_size, link: ball, tie: true"), {"ball/shape/0/size/x": 0.054}),
    "restitution": (BOUNCE, ["contact.restitution=0.5"], parameter("type: restitution"), {"contact/restitution": 0.5}),
    "restitution-of-a-pair": (PAIR_BOUNCE, ["contact.pairs.0.restitution=0.5"], parameter("type: pair_restitution, a: ground, b: box"), {"ground+box/restitution": 0.5}),
}
INITIAL = {"initial-rate": (HINGE, ["initial.0.velocities=[0.9]"], "initial: [{link: rod, velocities: true}]", {"rod/velocity/0": 0.9})}


def call(*arguments, code=0):
    done = subprocess.run([SDRS, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != code:
        raise RuntimeError(f"{' '.join(arguments)}: exit {done.returncode}\n{done.stderr}")


def rows_of(path):
    return list(csv.DictReader(open(path)))


def make_data(scene, truth, folder):
    """The true run's rows as measurements; the free and the jointed links of the scene, and their velocities at the start."""
    sets = [a for s in truth for a in ("--set", s)]
    call("simulate", f"{folder}/scene.yaml", "-q", "-o", f"{folder}/truth", *sets)
    poses = rows_of(f"{folder}/truth/trajectory.csv")
    joints = rows_of(f"{folder}/truth/joints.csv") if os.path.exists(f"{folder}/truth/joints.csv") else []
    hinged = [k[: -len("/angle")] for k in (joints[0] if joints else []) if k.endswith("/angle")]
    free = [] if hinged else [k[:-3] for k in poses[0] if k.endswith("/px") and not k.startswith("ground")]
    starts = {}
    for line in scene.split("{link: ")[1:]:
        if "velocities: [" in line.split("}")[0]:
            starts[line.split(",")[0]] = [float(v) for v in line.split("velocities: [")[1].split("]")[0].split(",")]
    for change in truth:
        if change.startswith("initial.0.velocities"):
            starts["rod"] = [float(v) for v in change.split("[")[1].rstrip("]").split(",")]
    measured = [f"{{link: {h}, coordinates: [{h}], rates: [{h}_rate]}}" for h in hinged]
    measured += [f"{{link: {f}, position: [px, py, pz], quaternion: [qw, qx, qy, qz], velocity: [vx, vy, vz], angular_velocity: [wx, wy, wz]}}" for f in free]
    head, out = ["time", *[c for h in hinged for c in (h, h + "_rate")]], []
    head += [p + a for f in free for p, axes in (("p", "xyz"), ("q", "wxyz"), ("v", "xyz"), ("w", "xyz")) for a in axes]
    for k in range(0, len(poses), 4):
        row = [poses[k]["time"]]
        for h in hinged:
            row += [joints[k][h + "/angle"], repr(starts.get(h, [0])[0]) if k == 0 else ""]
        for f in free:
            row += [poses[k][f"{f}/{c}"] for c in ("px", "py", "pz", "qw", "qx", "qy", "qz")]
            row += [repr(v) for v in starts.get(f, [0] * 6)] if k == 0 else [""] * 6
        out.append(row)
    with open(f"{folder}/data.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *out])
    return measured, hinged + free, poses


def points_along(poses, links):
    """Losses: three points of the last link, at ten moments, where the true run has them."""
    terms, link = [], links[-1]
    for k in range(len(poses) // 10, len(poses), len(poses) // 10):
        w, x, y, z = (float(poses[k][f"{link}/q{a}"]) for a in "wxyz")
        turn = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]
        for point in ([0.2, 0, 0], [0, 0.2, 0], [0, 0, -0.3]):
            at = [float(poses[k][f"{link}/p{a}"]) + sum(r * p for r, p in zip(turn[i], point)) for i, a in enumerate("xyz")]
            time = poses[k]["time"]
            terms.append(f"  - {{type: point, link: {link}, point: {point}, target: {at}, from: {time}, to: {time}}}")
    return "loss:\n" + "\n".join(terms) + "\n"


def fit(name, case, folder, kind):
    """Values by name, after `kind`."""
    scene, truth, varies, _ = case
    measured, links, poses = make_data(scene, truth, folder)
    task = f"{folder}/{kind}.yaml"
    with open(task, "w") as file:
        file.write(f"name: {name}\nscene: scene.yaml\n{varies}\n")
        if kind == "identify":
            file.write(f"data: {{files: [data.csv], measured: [{', '.join(measured)}]}}\n")
            file.write("identify: {train: 1, position: 1.0e-4, rotation: 1.0e-3, coordinate: 1.0e-4, iterations: 60}\noptimizer: {tolerance: 1.0e-9}\n")
        else:
            file.write(points_along(poses, links) + "optimizer: {type: lbfgs, iterations: 300, stop_loss: 1.0e-20, tolerance: 1.0e-9}\n")
    call(kind, task, "-q", "--threads", "1", "-o", f"{folder}/{kind}")
    if kind == "identify":
        found = json.load(open(f"{folder}/identify/identify.json"))["parameters"]
        return {p["name"]: p["value"] for p in found}, {p["name"]: p["unfitted"] for p in found}
    rows = rows_of(f"{folder}/optimize/design.csv")
    return {r["variable"]: float(r["best"]) for r in rows}, {r["variable"]: float(r["initial"]) for r in rows}


def main():
    wanted, passed, failed = sys.argv[3:], 0, 0
    for number, (name, case) in enumerate({**CASES, **INITIAL}.items()):
        if wanted and name not in wanted:
            continue
        folder, said, good = f"{FOLDER}/{name}", [], True
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/scene.yaml", "w") as file:
            file.write(case[0])
        kinds = ["optimize"] if name in INITIAL else ["identify", "optimize"]
        if not wanted and "SDRS_LONG" not in os.environ:
            kinds = kinds[number % len(kinds):][:1]  # the short form takes one of both, in turn
        for kind in kinds:
            try:
                value, start = fit(name, case, folder, kind)
                apart = max(abs(v - start[k]) for k, v in case[3].items())
                error = max(abs(value[k] - v) for k, v in case[3].items()) / apart
                said.append(f"{kind} {error:.1e}")
                good = good and error < BOUND
            except (RuntimeError, KeyError, FileNotFoundError) as fault:
                said.append(f"{kind} {fault!r}")
                good = False
        passed, failed = passed + good, failed + (not good)
        print("ok  " if good else "FAIL", name, "  ".join(said), flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
