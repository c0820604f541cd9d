"""Makes data with known parameters for sdrs identify and checks the result (test_identify_synthetic.sh)."""

import csv
import json
import math
import os
import random
import signal
import subprocess
import sys
import time

SDRS, WORK = os.environ["SDRS"], os.environ["work"]
JOINTS = ["one", "two", "three", "four", "five", "six", "seven"]
ARM = {
    "six/mass": 1.56, "six/center/x": 0.052, "six/center/y": 0.012, "six/center/z": 0.019, "six/inertia/scale": 1.04,
    "seven/mass": 1.05, "seven/center/x": 0.021, "seven/center/y": 0.0095, "seven/center/z": -0.062, "seven/inertia/scale": 1.05,
    "one/damping/0": 0.6, "two/damping/0": 1.7, "three/damping/0": 0.45, "four/damping/0": 1.2, "five/damping/0": 0.35,
    "one/armature/0": 0.06, "one/inertia/scale": 1.2, "six/damping/0": 0.25, "seven/damping/0": 0.12,
}
INERTIA = {"one": [0.03, 0.03, 0.008, 0, 0, 0], "six": [0.004, 0.005, 0.005, 0, 0, 0], "seven": [0.003, 0.003, 0.002, 0, 0, 0]}
PUSHED = {"contact/friction": 0.46, "box/center/x": 0.012, "box/center/y": -0.008}
STARTS = {"arm": [[0.0] * 7, [0.4, 0.3, -0.5, -0.6, 0.7, 0.5, 1.0], [-0.3, -0.4, 0.8, 0.5, -0.9, -0.3, 0.2]],
          "pushed": [[0.0, 0.0], [0.3, -0.2], [-0.2, 0.25]]}


def run(*arguments, code=0):
    done = subprocess.run([SDRS, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != code:
        sys.exit(f"{' '.join(arguments)}: exit {done.returncode}, not {code}\n{done.stderr}")
    return done.stderr


def truth_of(name):
    """Overrides of the scene that make the truth."""
    if name == "pushed":
        return [f"contact.friction={PUSHED['contact/friction']}", f"links.box.center=[{PUSHED['box/center/x']}, {PUSHED['box/center/y']}, 0]"]
    out = []
    for link in JOINTS:
        out.append(f"links.{link}.joint.damping={ARM[link + '/damping/0']}")
        if link == "one":
            out.append(f"links.one.joint.armature={ARM['one/armature/0']}")
        if link in INERTIA:
            out.append(f"links.{link}.inertia=[{', '.join(str(ARM[link + '/inertia/scale'] * v) for v in INERTIA[link])}]")
        if link not in ("six", "seven"):
            continue
        out.append(f"links.{link}.mass={ARM[link + '/mass']}")
        out.append(f"links.{link}.center=[{', '.join(str(ARM[f'{link}/center/{axis}']) for axis in 'xyz')}]")
    return out


def start_of(name, start):
    if name == "arm":
        return "initial=[" + ", ".join(f"{{link: {j}, coordinates: [{q}]}}" for j, q in zip(JOINTS, start)) + "]"
    return f"initial=[{{link: box, velocities: [{start[0]}, {start[1]}, 0, 0, 0, 0]}}]"


def product(a, b):
    """Of two quaternions, of length 1."""
    w, x, y, z = a
    v = [w * b[0] - x * b[1] - y * b[2] - z * b[3], w * b[1] + x * b[0] + y * b[3] - z * b[2],
         w * b[2] - x * b[3] + y * b[0] + z * b[1], w * b[3] + x * b[2] - y * b[1] + z * b[0]]
    size = sum(c * c for c in v) ** 0.5
    return [c / size for c in v]


def make(name, folder, noise=0.0, seed=0, extra=()):
    """One CSV file a start, every fourth row; velocities at the start are known."""
    os.makedirs(folder, exist_ok=True)
    rng = random.Random(seed)
    for number, start in enumerate(STARTS[name]):
        sets = [a for s in [*truth_of(name), start_of(name, start), *extra] for a in ("--set", s)]
        run("simulate", f"scenes/identify/{name}-scene.yaml", "-q", "-o", f"{WORK}/run", *sets)
        every = 8 if any("dt=" in e for e in extra) else 4
        if name == "arm":
            rows = list(csv.reader(open(f"{WORK}/run/joints.csv")))[1::every]
            head = ["time", *JOINTS, *[j + "_rate" for j in JOINTS]]
            out = [[r[0], *[repr(float(v) + rng.gauss(0, noise)) for v in r[1:8]], *(["0"] * 7 if k == 0 else [""] * 7)] for k, r in enumerate(rows)]
        else:
            rows = list(csv.reader(open(f"{WORK}/run/trajectory.csv")))
            at = rows[0].index("box/px")
            head = ["time", "px", "py", "pz", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"]
            out = []
            for k, r in enumerate(rows[1::every]):
                turn = [1] + [0.5 * rng.gauss(0, 10 * noise) for _ in range(3)] if k > 0 else [1, 0, 0, 0]
                q = product([float(v) for v in r[at + 3 : at + 7]], turn)
                p = [repr(float(v) + (rng.gauss(0, noise) if k > 0 else 0)) for v in r[at : at + 3]]
                out.append([r[0], *p, *map(repr, q), *([repr(start[0]), repr(start[1]), *["0"] * 4] if k == 0 else [""] * 6)])
        with open(f"{folder}/{number}.csv", "w") as file:
            csv.writer(file).writerows([head, *out])


def make_by_mujoco(name, folder):
    """The same starts and truth in MuJoCo: links' poses, of the arm made angles of its hinges."""
    os.makedirs(folder, exist_ok=True)
    duration, every = (1.5, 0.008) if name == "arm" else (1.0, 0.016)
    fine = ["simulation.dt=0.0005", f"simulation.steps={round(duration / 0.0005)}"]  # of the rows of controls
    for number, start in enumerate(STARTS[name]):
        sets = [a for s in [*truth_of(name), start_of(name, start), *fine] for a in ("--set", s)]
        model = f"{WORK}/mujoco-{name}.xml"
        run("export", f"scenes/identify/{name}-scene.yaml", "-q", "-o", model, *sets)
        said = subprocess.run([os.environ["MUJOCO_RUN"], model, repr(duration), repr(every), "0.0005", model[:-4] + ".controls.csv"],
                              stdout=subprocess.PIPE, check=True, text=True).stdout
        rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(said.splitlines())]
        if name == "arm":
            axes = {"one": (0, 0, 1), "two": (0, 1, 0), "three": (0, 0, 1), "four": (0, -1, 0), "five": (0, 0, 1), "six": (0, -1, 0), "seven": (0, 0, -1)}
            head, out = ["time", *JOINTS, *[j + "_rate" for j in JOINTS]], []
            for k, row in enumerate(rows):
                before, angles = [1.0, 0.0, 0.0, 0.0], []
                for j in JOINTS:
                    now = [row[f"{j}/q{c}"] for c in "wxyz"]
                    turn = product([before[0], *[-c for c in before[1:]]], now)
                    angles.append(2 * math.atan2(sum(a * b for a, b in zip(axes[j], turn[1:])), turn[0]))
                    before = now
                out.append([row["time"], *angles, *(["0"] * 7 if k == 0 else [""] * 7)])
        else:
            head = ["time", "px", "py", "pz", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"]
            out = [[row["time"], *[row[f"box/{c}"] for c in head[1:8]],
                    *([start[0], start[1], *["0"] * 4] if k == 0 else [""] * 6)] for k, row in enumerate(rows)]
        with open(f"{folder}/{number}.csv", "w") as file:
            csv.writer(file).writerows([head, *out])


DIFFERENCES = []  # rows of benchmarks/results/model-difference.csv


def tell_difference(name, what, found, truth):
    """A row a parameter; how many of the intervals that are told hold the truth."""
    v, held = found["validation"], 0
    for p in found["parameters"]:
        if p["standard_error"] is None:
            continue
        true = truth[p["name"]]
        inside = p["low"] <= true <= p["high"]
        held += inside
        doubts = sum(d.startswith(p["name"] + ":") for d in found["doubts"])
        parts = [v["model_difference"], v["noise"]]
        DIFFERENCES.append([name, what, p["name"], *[f"{x:.6g}" for x in (true, p["value"], p["low"], p["high"])], "yes" if inside else "no", doubts,
                            *["" if x is None else f"{x:.3g}" for pair in zip(*parts) for x in pair]])
    print(f"{name}, {what}: {held} intervals hold the truth, {len(found['doubts'])} doubts")
    return held


def write_differences(path):
    head = ["task", "data", "parameter", "truth", "value", "low", "high", "holds_the_truth", "doubts"]
    head += [f"{part}_{which}" for part in ("position", "rotation", "joints") for which in ("model", "noise")]
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *DIFFERENCES])


def check_mujoco(name, truth, bound, judged=None):
    """What the other program does otherwise is the model's difference, not noise: there is none."""
    make_by_mujoco(name, f"{WORK}/{name}-mujoco")
    found, _ = fit(name, f"{WORK}/{name}-mujoco", f"{WORK}/{name}-mujoco-fit")
    errors, v = base_errors(found, truth), found["validation"]
    print(f"{name}, data of MuJoCo:", {n: f"{100 * e:.2g} %" for n, e in errors.items()})
    print(f"{name}: validation, model's own difference {v['model_difference']} beside noise {v['noise']}")
    held = tell_difference(name, "MuJoCo", found, truth)
    assert found["doubts"], "a model that is another one is doubted"
    assert name != "pushed" or held == len(truth)
    assert all(abs(e) < bound for n, e in errors.items() if judged in (None, n))
    for model, noise in zip(v["model_difference"], v["noise"]):
        assert noise is None or model > 3 * noise


def fit(name, data, folder, *more):
    said = run("identify", f"scenes/identify/{name}.yaml", "--data", f"{data}/*.csv", "-o", folder, *more)
    return json.load(open(f"{folder}/identify.json")), said


def base_errors(found, truth):
    """Relative errors of what is told: of combinations where not all can be told apart."""
    names = [p["name"] for p in found["parameters"]]
    out = {}
    for base in found["base_parameters"]:
        true = sum(c * truth[n] for c, n in zip(base["coefficients"], names))
        size = max(abs(c * truth[n]) for c, n in zip(base["coefficients"], names) if c)
        out[base["name"]] = (base["value"] - true) / size
    if not found["base_parameters"]:
        out = {p["name"]: (p["value"] - truth[p["name"]]) / abs(truth[p["name"]]) for p in found["parameters"]}
    return out


def check(name, truth):
    clean = f"{WORK}/{name}-clean"
    make(name, clean)
    found, said = fit(name, clean, f"{WORK}/{name}-fit")
    print(name, "\n".join(line for line in said.split("\n") if "apart" in line or "together" in line))
    errors = base_errors(found, truth)
    worst = max(errors, key=lambda n: abs(errors[n]))
    print(f"{name}: {len(errors)} base parameters, worst {worst}: {100 * errors[worst]:.2g} %")
    assert abs(errors[worst]) < 1e-3
    v = found["validation"]
    print(f"{name}: validation {v['position']:.3g} m ({v['unfitted_position']:.3g}), joints {v['coordinate']:.3g} ({v['unfitted_coordinate']:.3g})")


def check_noise(name, truth, seeds, noise):
    inside = count = 0
    for seed in range(1, seeds + 1):
        make(name, f"{WORK}/noisy", noise, seed)
        found, _ = fit(name, f"{WORK}/noisy", f"{WORK}/noisy-fit", "--set", "identify.train=1")
        for p in found["parameters"]:
            inside += p["low"] <= truth[p["name"]] <= p["high"]
            count += 1
    print(f"{name}: {inside} of {count} intervals hold the truth (seeds 1 to {seeds})")
    assert inside >= 0.8 * count


def check_model_difference(name, truth):
    """Data of another step, or integrator: what is left is more than noise, and prediction intervals say so."""
    for extra in (["simulation.dt=0.002", "simulation.steps=500"], ["simulation.integrator=second_order"]):
        make(name, f"{WORK}/other", extra=extra)
        found, _ = fit(name, f"{WORK}/other", f"{WORK}/other-fit")
        errors = base_errors(found, truth)
        v = found["validation"]
        print(name, extra[0], {n: f"{100 * e:.2g} %" for n, e in errors.items()}, f"validation {v['position']:.3g} m, inside {v['inside_95']:.2f}")
        tell_difference(name, "half the step" if "dt" in extra[0] else "integrator second_order", found, truth)
        assert v["position"] < v["unfitted_position"]


def check_killed(name):
    """Killed in the middle, with another number of threads after that."""
    data, folder = f"{WORK}/{name}-clean", f"{WORK}/killed"
    arguments = [SDRS, "identify", f"scenes/identify/{name}.yaml", "--data", f"{data}/*.csv", "-q", "-o", folder]
    process = subprocess.Popen([*arguments, "--threads", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not os.path.exists(f"{folder}/checkpoint"):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    run(*arguments[1:], "--resume", "--threads", "2")
    for file in ("identify.json", "residuals.csv", "errors.csv", "fitted.scene.yaml"):
        assert open(f"{folder}/{file}").read() == open(f"{WORK}/{name}-fit/{file}").read(), file
    print(f"{name}: killed and resumed: the same files")


def main():
    if sys.argv[1:] == ["arm"]:
        return check("arm", ARM)
    results = [a for a in sys.argv[1:] if a.endswith(".csv")]
    if not results:
        check("pushed", PUSHED)
        check_killed("pushed")
        check_noise("pushed", PUSHED, 8, 0.001)
        check("arm", ARM)
    check_model_difference("pushed", PUSHED)
    if os.environ.get("MUJOCO_RUN"):
        check_mujoco("arm", ARM, 0.05)
        check_mujoco("pushed", PUSHED, 0.02, "contact/friction")
    if results:
        write_differences(results[0])
    return None


if __name__ == "__main__":
    sys.exit(main())
