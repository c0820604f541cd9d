"""Cases of tests/long/test_machine_clauses.sh: machine_clauses.py SDRS [CASE...]. Mechanisms of one or two links against closed
forms: drives, joints, loops, materials, terrain, prescribed bodies."""
import csv
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import zlib

from cases import run_cases

SDRS, G = os.path.abspath(sys.argv[1]), 9.81
BOX = {"type": "box", "size": [0.2, 0.2, 0.2]}


class Run:
    """A scene, given as a map, run to its end; tables as columns."""

    def __init__(self, scene, **simulation):
        self.folder = tempfile.mkdtemp(dir=WORK)
        whole = {"name": "clause", "contact": {"model": "none"}, **scene}
        whole["simulation"] = {"dt": 1e-3, "duration": 1, "integrator": "second_order", **scene.get("simulation", {}), **simulation}
        path = os.path.join(self.folder, "scene.json")
        for name, text in whole.pop("files", {}).items():
            with open(os.path.join(self.folder, name), "wb") as file:
                file.write(text)
        with open(path, "w", encoding="ascii") as file:
            json.dump(whole, file)
        self.out = os.path.join(self.folder, "out")
        done = subprocess.run([SDRS, "simulate", path, "-q", "-o", self.out], capture_output=True, text=True)
        self.code, self.said = done.returncode, done.stderr.strip()
        if self.code == 0:
            self.time = self["joints" if self.has("joints") else "trajectory", "time"]

    def has(self, table):
        return os.path.exists(os.path.join(self.out, table + ".csv"))

    def __getitem__(self, name):
        table, column = name
        assert self.code == 0, self.said.split("\n")[0]
        with open(os.path.join(self.out, table + ".csv"), encoding="ascii") as file:
            rows = list(csv.DictReader(file))
        return [float(row[column]) for row in rows]

    def off(self, table, column, form, skip=0):
        """The largest difference from the closed form of time."""
        return max(abs(x - form(t)) for t, x in list(zip(self.time, self[table, column]))[skip:])


def slide(name, mass=2.0, y=0.0, **joint):
    return {"name": name, "mass": mass, "shape": BOX, "joint": {"type": "slide", "axis": [1, 0, 0], "position": [0, y, 0], **joint}}


def wheel(name, inertia=0.3, y=0.0, **joint):
    return {"name": name, "mass": 1, "center": [0, 0, 0], "inertia": [inertia] * 3 + [0, 0, 0], "shape": {"type": "sphere", "radius": 0.1},
            "joint": {"type": "hinge", "axis": [0, 1, 0], "position": [0, y, 0], **joint}}


def within(value, bound, what):
    assert abs(value) <= bound, f"{what}: off by {value:.3g}, more than {bound:.3g}"
    return f"{what} {abs(value):.1e}"


# ---------------------------------------------------------------- 1: loads


def loads():
    """A force on a slide and on a free body, constant and as a signal; one that turns with its link; torques; at a point; weight borne by the link or the robot."""
    rod = {"mass": 2, "center": [0, 0, 0], "inertia": [0.3, 0.3, 0.3, 0, 0, 0], "shape": BOX, "gravity_compensation": 1}
    hung = {"name": "hung", "mass": 2, "shape": BOX, "joint": {"type": "slide", "axis": [0, 0, 1], "position": [0, 5, 0]}, "gravity_compensation": 0.75}
    ramp = {"type": "keyframes", "times": [0, 1], "values": [[0, 0, 0], [0, 6, 0]]}
    run = Run({"links": [{"name": "pushed", "position": [0, 0, 0], **rod}, {"name": "turned", "position": [0, 2, 0], **rod}, {"name": "thrust", "position": [0, 4, 0], **rod},
                         {"name": "ramped", "position": [0, 6, 0], **rod}, hung, slide("cart", y=8)],
               "loads": [{"link": "pushed", "force": [0.3, 0, 0.1]}, {"link": "turned", "torque": [0, 0, 0.6]},
                         {"link": "thrust", "axes": "link", "force": [1, 0, 0], "point": [0, -0.15, 0]}, {"link": "ramped", "force": ramp}, {"link": "cart", "force": [3, 0, 7]}]})
    way = [0.0, 0.0]
    for k in range(10000):  # it turns by t^2 / 4 and is pushed along its own axis
        t = (k + 0.5) / 10000
        way = [way[0] + (1 - t) * 0.5 * math.cos(t * t / 4) / 10000, way[1] + (1 - t) * 0.5 * math.sin(t * t / 4) / 10000]
    return [within(run.off("trajectory", "pushed/cx", lambda t: 0.075 * t * t), 1e-9, "world axes [m]"), within(run.off("trajectory", "pushed/cz", lambda t: 0.025 * t * t), 1e-9, "weight borne [m]"),
            within(run.off("trajectory", "turned/qz", lambda t: math.sin(t * t / 2)), 1e-5, "torque [1]"), within(run.off("trajectory", "thrust/qz", lambda t: math.sin(t * t / 8)), 1e-5, "at a point [1]"),
            within(math.dist(way, (run["trajectory", "thrust/cx"][-1], run["trajectory", "thrust/cy"][-1] - 4)), 1e-5, "link's axes [m]"),
            within(run.off("trajectory", "ramped/cy", lambda t: 6 + t**3 / 2), 1e-5, "signal [m]"), within(run.off("joints", "hung/position", lambda t: -G / 8 * t * t), 1e-9, "a quarter of its weight [m]"),
            within(run.off("joints", "cart/position", lambda t: 0.75 * t * t), 1e-9, "along a joint [m]")]


# ---------------------------------------------------------------- 2: drives


def drives():
    """torque: t^2/2; velocity: v (t - T (1 - exp(-t/T))); both under gravity across the axis."""
    run = Run({"links": [wheel("spun"), slide("driven", y=1)],
               "controllers": [{"link": "spun", "type": "torque", "target": 0.6},
                               {"link": "driven", "type": "velocity", "target": 0.5, "damping_gain": 4}]})
    span = 2.0 / 4
    return [within(run.off("joints", "spun/angle", lambda t: t * t), 1e-5, "torque [rad]"),
            within(run.off("joints", "driven/position", lambda t: 0.5 * (t - span * (1 - math.exp(-t / span)))), 1e-6, "velocity [m]")]


def limits_of_drives():
    """Far beyond the limit every kind of drive does max_force and no more: max_force t^2 / 2 m."""
    kinds = {"pd": {"target": 100, "position_gain": 1e3}, "velocity": {"target": 1e3, "damping_gain": 10}, "torque": {"target": 50}}
    run = Run({"links": [slide(kind, y=i) for i, kind in enumerate(kinds)],
               "controllers": [{"link": kind, "type": kind, "max_force": 3, **rest} for kind, rest in kinds.items()]})
    told = [within(run.off("joints", f"{kind}/position", lambda t: 0.75 * t * t), 1e-6, f"{kind} at its limit [m]") for kind in kinds]
    wide = Run({"links": [slide("far")], "controllers": [{"link": "far", "type": "torque", "target": 3, "max_force": 3, "limit_width": 0.2}]})
    return told + [within(wide.off("joints", "far/position", lambda t: (1 - 0.16 * 0.2) * 0.75 * t * t), 2e-3, "the smooth corner [m]")]


def damping_and_dt():
    """damping_gain: the same motion at any dt, to the order of the integrator; velocity_gain is another controller, and is warned of."""
    gains = {"position_gain": 40, "damping_gain": 6}
    far = {}
    for order, integrator in ((1, "first_order"), (2, "second_order")):
        for dt in (1e-2, 1e-3):
            run = Run({"links": [slide("cart")], "controllers": [{"link": "cart", "type": "pd", "target": 1, **gains}]}, dt=dt, integrator=integrator)
            a, w = 6 / 4, math.sqrt(20 - 2.25)
            far[order, dt] = run.off("joints", "cart/position", lambda t: 1 - math.exp(-a * t) * (math.cos(w * t) + a / w * math.sin(w * t)))
    ratios = [far[order, 1e-2] / far[order, 1e-3] for order in (1, 2)]
    assert 8 < ratios[0] < 12 and 80 < ratios[1] < 120, f"errors fall by {ratios[0]:.1f} and {ratios[1]:.1f} for a tenth of dt"
    paper = Run({"links": [slide("cart")], "controllers": [{"link": "cart", "type": "pd", "target": 1, "position_gain": 10, "velocity_gain": 5}]}, dt=1e-2)
    done = subprocess.run([SDRS, "validate", os.path.join(paper.folder, "scene.json")], capture_output=True, text=True)
    assert "velocity_gain" in done.stdout + done.stderr, "validate does not warn of velocity_gain"
    return [f"errors fall by {ratios[0]:.1f} and {ratios[1]:.1f} for a tenth of dt", "validate warns of velocity_gain"]


def held_robots():
    """import --hold holds by gains that do not know dt: critically damped at any."""
    folder = tempfile.mkdtemp(dir=WORK)
    path = os.path.join(folder, "arm.urdf")
    with open(path, "w", encoding="ascii") as file:
        file.write('<robot name="arm"><link name="base"/><link name="arm"><inertial><origin xyz="0.3 0 0"/><mass value="2"/>'
                   '<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="revolute">'
                   '<parent link="base"/><child link="arm"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="50" velocity="3"/></joint></robot>')
    done = subprocess.run([SDRS, "import", path, "--hold", "2", "-o", os.path.join(folder, "scene.yaml")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(os.path.join(folder, "scene.yaml"), encoding="ascii") as file:
        text = file.read()
    assert "damping_gain" in text and "velocity_gain: [0]" in text, "import --hold writes velocity_gain"
    ends = []
    for dt in (1e-2, 1e-3):
        out = os.path.join(folder, str(dt))
        done = subprocess.run([SDRS, "simulate", os.path.join(folder, "scene.yaml"), "-q", "-o", out, "--set", f"simulation.dt={dt}", "--set",
                               "simulation.duration=1", "--set", "simulation.integrator=second_order"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        with open(os.path.join(out, "joints.csv"), encoding="ascii") as file:
            ends.append([float(x) for x in list(csv.reader(file))[-1]][1:])
    return [within(max(abs(a - b) for a, b in zip(*ends)), 1e-3, "held at 10 and at 1 ms, apart [rad]")]


def feedback():
    """What is measured drives: a falling ball's height, its speed, a resting box's weight."""
    ball = {"name": "ball", "mass": 1, "shape": {"type": "sphere", "radius": 0.1}, "position": [0, 5, 0]}
    gains = {"cz": 3, "vz": 2, "pz": 3}
    offs = {}
    for dt in (1e-3, 5e-4):
        run = Run({"links": [ball] + [slide(m, y=i) for i, m in enumerate(gains)],
                   "controllers": [{"link": m, "type": "torque", "target": 0, "feedback": {"measures": [f"ball/{m}"], "matrix": [k]}} for m, k in gains.items()]},
                  dt=dt)
        for m, form in (("cz", lambda t: -3 * G * t**4 / 48), ("pz", lambda t: -3 * G * t**4 / 48), ("vz", lambda t: -2 * G * t**3 / 12)):
            offs[m, dt] = run.off("joints", f"{m}/position", form)
    # measured at the start of a step: of first order in dt
    for m in gains:
        ratio = offs[m, 1e-3] / offs[m, 5e-4]
        assert 1.9 < ratio < 2.1, f"{m}: the error falls by {ratio:.2f} for half of dt"
    run = Run({"contact": {"friction": 0.3}, "simulation": {"output": ["forces"], "integrator": "first_order"},
               "links": [{"name": "floor", "fixed": True, "shape": {"type": "half_space"}}, {"name": "box", "mass": 3, "shape": BOX, "position": [0, 0, 0.1005]},
                         slide("ram", y=3, position=[0, 3, 1])],
               "controllers": [{"link": "ram", "type": "torque", "target": 0, "feedback": {"measures": ["box/fz"], "matrix": [0.1]}}]})
    return [f"heights and speeds: first order in dt, {offs['cz', 5e-4]:.1e} m", within(run["forces", "ram/position/drive"][-1] - 0.1 * 3 * G, 1e-3, "weight [N]")]


def delays():
    """A step of force, 0.1234 s late, which is no whole number of steps; and what is fed back as late."""
    late = 0.1234
    signal = {"type": "keyframes", "times": [0, 1e-9, 10], "values": [0, 2, 2]}
    run = Run({"links": [slide("cart"), slide("echo", y=1), slide("source", y=2)],
               "controllers": [{"link": "cart", "type": "torque", "target": signal, "delay": late}, {"link": "source", "type": "torque", "target": 2},
                               {"link": "echo", "type": "torque", "target": 0, "delay": late, "feedback": {"measures": ["source/position"], "matrix": [4]}}]},
              dt=1e-3)
    told = [within(run.off("joints", "cart/position", lambda t: 0.5 * max(0, t - late)**2), 1e-3, "late force [m]")]
    offs = []
    for dt in (1e-3, 5e-4):
        run = Run({"links": [slide("echo", y=1), slide("source", y=2)],
                   "controllers": [{"link": "source", "type": "torque", "target": 2},
                                   {"link": "echo", "type": "torque", "target": 0, "delay": late, "feedback": {"measures": ["source/position"], "matrix": [4]}}]}, dt=dt)
        offs.append(run.off("joints", "echo/position", lambda t: max(0, t - late)**4 / 12))
    assert offs[0] < 1e-3 and offs[0] / offs[1] > 1.8, offs
    return told + [f"late echo {offs[0]:.1e}, {offs[1]:.1e} m at half of dt"]


# ---------------------------------------------------------------- 3: joints


def passive():
    """A spring with a rest position, dry and viscous friction, armature."""
    run = Run({"links": [slide("sprung", stiffness=50, rest=0.1), slide("rubbed", y=1, friction=3, damping=4, friction_speed=1e-5), wheel("geared", y=2, armature=0.2)],
               "controllers": [{"link": "rubbed", "type": "torque", "target": 10}, {"link": "geared", "type": "torque", "target": 0.5}]})
    held = Run({"links": [slide("held", friction=3)], "controllers": [{"link": "held", "type": "torque", "target": 2.9}]})
    return [within(run.off("joints", "sprung/position", lambda t: 0.1 * (1 - math.cos(5 * t))), 1e-5, "spring [m]"),
            within(run.off("joints", "rubbed/position", lambda t: 1.75 * (t - 0.5 * (1 - math.exp(-2 * t)))), 1e-4, "friction and damping [m]"),
            within(run.off("joints", "geared/angle", lambda t: 0.5 * t * t), 1e-6, "armature [rad]"),
            within(held["joints", "held/position"][-1], 1e-3, "held, crept [m]")]


def coupled():
    """A mimic with ratio and offset, a gear, a rack; what is behind them is felt through the ratio."""
    scene = {"links": [wheel("sun"), wheel("gear", y=1), wheel("pinion", y=2, inertia=0.05), slide("rack", y=3), wheel("leader", y=4), wheel("mimic", y=5)],
             "couplings": [{"link": "gear", "of": "sun", "ratio": -2}, {"link": "rack", "of": "pinion", "ratio": 0.1},
                           {"link": "mimic", "of": "leader", "ratio": 1.5, "offset": 0.3}],
             "controllers": [{"link": "sun", "type": "torque", "target": 1}, {"link": "pinion", "type": "torque", "target": 0.1},
                             {"link": "leader", "type": "torque", "target": 1}],
             "initial": [{"link": "mimic", "coordinates": [0.3]}]}
    run = Run(scene)
    return [within(run.off("joints", "gear/angle", lambda t: -t * t / (0.3 + 4 * 0.3)), 1e-6, "gear [rad]"),
            within(run.off("joints", "rack/position", lambda t: 0.005 * t * t / (0.05 + 0.01 * 2)), 1e-6, "rack [m]"),
            within(run.off("joints", "mimic/angle", lambda t: 0.3 + 0.75 * t * t / (0.3 + 2.25 * 0.3)), 1e-5, "mimic [rad]")]


def screws_and_planes():
    """A nut that falls down its screw: m g p / (I + m p^2). A puck on an inclined plane, thrown and spinning. A joint's limit bears the weight."""
    nut = {"name": "nut", "mass": 2, "center": [0, 0, 0], "inertia": [0.5, 0.5, 0.5, 0, 0, 0], "shape": BOX,
           "joint": {"type": "screw", "axis": [0, 0, 1], "pitch": 0.05}}
    puck = {"name": "puck", "mass": 1, "center": [0, 0, 0], "inertia": [0.01, 0.01, 0.01, 0, 0, 0], "shape": BOX,
            "joint": {"type": "planar", "axis": [0, math.sin(0.3), math.cos(0.3)], "position": [0, 5, 0]}}
    stop = {"name": "stop", "mass": 2, "shape": BOX, "joint": {"type": "slide", "axis": [0, 0, 1], "position": [0, 9, 0], "limits": [-0.05, 1], "limit_margin": 0.001, "damping": 20}}
    run = Run({"links": [nut, puck, stop], "initial": [{"link": "puck", "velocities": [0.7, 0, 3]}]}, output=["velocities"])
    turn = 2 * G * 0.05 / (0.5 + 2 * 0.0025)
    down = [G * math.sin(0.3) / 2 * t * t for t in run.time]
    way = [math.dist(p, q) for p, q in zip(zip(*(run["trajectory", f"puck/{c}"] for c in ("cx", "cy", "cz"))), [(0, 5, 0)] * len(down))]
    worst = max(abs(w - math.hypot(0.7 * t, d)) for w, t, d in zip(way, run.time, down))
    return [within(run.off("joints", "nut/angle", lambda t: -turn * t * t / 2), 1e-4, "screw [rad]"),
            within(run.off("trajectory", "nut/cz", lambda t: -0.05 * turn * t * t / 2), 1e-5, "its way [m]"),
            within(worst, 1e-5, "planar [m]"), within(run["joints", "stop/position"][-1] + 0.05, 5e-3, "stands at its limit [m]")]


# ---------------------------------------------------------------- 4: loops


def loops():
    """Every kind of closure between two links and to the world, torn at with 100 times the weight: what it holds stays closed."""
    told, heavy = [], 100 * 2 * G
    kinds = {"weld": {}, "ball": {}, "hinge": {"axis": [0, 1, 0]}, "slide": {"axis": [1, 0, 0]}, "distance": {"axis": [0, 0, 1], "length": 0.5}}
    for kind, rest in kinds.items():
        for to in ("world", "post"):
            links = [{"name": "post", "mass": 5, "shape": BOX, "position": [2, 0, 0], "joint": {"type": "hinge", "axis": [0, 1, 0], "position": [2, 0, 0]}},
                     {"name": "load", "mass": 2, "shape": BOX}]
            closure = {"type": kind, "a": "load", "point": [0.05, 0.02, 0.1], **rest, **({} if to == "world" else {"b": "post"})}
            links[0].pop("position")
            closures = [closure] + ([{"type": "weld", "a": "post", "point": [2, 0, 0]}] if to == "post" else [])
            run = Run({"links": links, "closures": closures, "loads": [{"link": "load", "force": [0, 3, -heavy], "torque": [0.4, 0.3, 0.2]}]}, duration=0.3,
                      output=["closures"])
            with open(os.path.join(run.out, "closures.csv"), encoding="ascii") as file:
                names = next(csv.reader(file))
            for part in ("gap", "angle"):
                worst = max(max(abs(v) for v in run["closures", name]) for name in names if name.endswith("/" + part))
                told.append((kind, to, part, worst))
                within(worst, 1e-6, f"{kind} to {to}: {part}")
    return [within(max(t[3] for t in told), 1e-6, f"{len(told)} gaps and angles, the largest")]


def lag_of_opening(share, second):
    """How late [dt] the speed and place of a point are that is held until the time `share` of a step and then has constant acceleration: by the
    schemes' differences (step.md, S3, S13, S15) at the times 0, share, 1, 2, ..."""
    times, x = [-2.0, -1.0, 0.0, share], [0.0] * 4

    def acceleration(new):
        t, f = times[-3:] + [len(times) - 3.0], x[-3:] + [new]
        one = [(f[k + 1] - f[k]) / (t[k + 1] - t[k]) for k in range(3)]
        if not second:  # from the middle of one substep to that of the next
            return (one[2] - one[1]) / (0.5 * (t[3] - t[1]))
        two = [(one[k + 1] - one[k]) / (t[k + 2] - t[k]) for k in range(2)]
        return 2 * two[1] + 2 * (two[1] - two[0]) / (t[3] - t[0]) * (t[3] - t[2] + t[3] - t[1])

    for _ in range(100):
        bare = acceleration(0.0)
        x.append((1 - bare) / (acceleration(1.0) - bare))
        times.append(len(times) - 3.0)
    return times[-2] + 0.5 - share - (x[-1] - x[-2])


def breaking():
    """A weight on a rod that is pulled a little more and more: the rod breaks when weight and pull exceed what it holds, and the weight falls. The
    rod is gone one step later: by this step times its speed what falls is off, at any dt."""
    told, breaks, held = [], 0.519, 2 * (G + 0.519)  # pulled by 2 N/s
    end = 1 - breaks
    fall, speed = (G + breaks) * end**2 / 2 + end**3 / 6, (G + breaks) * end
    for integrator in ("first_order", "second_order", "momentum"):
        off = []
        for dt in (1e-2, 5e-3, 2.5e-3, 1.25e-3, 6.25e-4):
            run = Run({"links": [{"name": "bob", "mass": 2, "shape": BOX}],
                       "closures": [{"type": "ball", "a": "bob", "point": [0, 0, 0], "break_force": held}],
                       "loads": [{"link": "bob", "force": {"type": "keyframes", "times": [0, 1], "values": [[0, 0, 0], [0, 0, -2]]}}]},
                      dt=dt, integrator=integrator, output=["closures"])
            gone = next(t for t, f in zip(run["closures", "time"], run["closures", "bob-world/fz"]) if t > 0 and f == 0)
            late = 1
            assert -1e-9 < (gone - breaks) / dt - late < 1 + 1e-9, f"{integrator}, dt {dt}: broke after {gone} s, should after {breaks} s"
            lag = lag_of_opening(breaks / dt % 1, integrator == "second_order")
            off.append((run["trajectory", "bob/cz"][-1] + fall) / (speed * dt) - late - lag)
        told.append(within(max(abs(x) for x in off), 0.05, f"{integrator}: beside its lateness it is off by [dt times its speed]"))
    return told


def open_starts():
    """What is not closed at the start is refused with how far it is open."""
    hung = {"name": "hung", "mass": 2, "shape": BOX, "joint": {"type": "hinge", "axis": [0, 1, 0]}}
    arm = {"name": "arm", "mass": 2, "shape": BOX, "joint": {"type": "hinge", "axis": [0, 1, 0], "position": [1, 0, 0]}}
    run = Run({"links": [hung, arm], "closures": [{"type": "distance", "a": "hung", "b": "arm", "point": [0, 0, 0], "length": 0.9}]})
    assert run.code != 0 and "'length' is 0.9 m, but the ends are 1 m apart at the start" in run.said, f"exit {run.code}: {run.said}"
    return [run.said.splitlines()[0].split("error: ")[-1]]


def flying_linkage():
    """A flat four-bar on a base that flies and turns: what moves both ends of its closure alike is no way to close it, and the gradient is right."""
    def bar(name, mass, length, y, **rest):
        return {"name": name, "mass": mass, "shapes": [{"type": "box", "size": [length, 0.02, 0.02], "position": [length / 2, y, 0]}], **rest}

    def pin(x):
        return {"type": "hinge", "axis": [0, -1, 0], "position": [x, 0, 0]}
    links = [bar("base", 8.5, 0.4, 0, position=[0, 0, 1]), bar("crank", 2, 0.1, 0.03, parent="base", joint=pin(0)),
             bar("coupler", 5, 0.35, 0.06, parent="crank", joint=pin(0.1)), bar("rocker", 4.8, 0.3, 0.03, parent="base", joint=pin(0.4))]
    across = math.hypot(0.4, 0.1)  # crank upright
    bend = math.acos((0.35**2 + across**2 - 0.3**2) / (2 * 0.35 * across)) + math.atan2(-0.1, 0.4)
    end = (0.35 * math.cos(bend), 0.1 + 0.35 * math.sin(bend))
    run = Run({"links": links, "closures": [{"type": "ball", "a": "coupler", "b": "rocker", "point": [end[0], 0, 1 + end[1]]}],
               "initial": [{"link": "base", "velocities": [0.5, 0.2, 1, 2, 3, -1]}, {"link": "crank", "coordinates": [math.pi / 2]},
                           {"link": "coupler", "coordinates": [bend - math.pi / 2]}, {"link": "rocker", "coordinates": [math.atan2(end[1], end[0] - 0.4)]}]},
              dt=2e-3, duration=0.12)
    done = subprocess.run([SDRS, "gradcheck", os.path.join(run.folder, "scene.json"), "--bound", "1e-6", "--directions", "2", "--wrt", "state,attachments,closures",
                           "--json", "-q"], capture_output=True, text=True)
    blocks = json.loads(done.stdout)[0]["blocks"]
    assert all(b["passed"] and b["checked"] for b in blocks.values()), blocks
    return [f"{name} {b['relative_error']:.1e}" for name, b in blocks.items()]


# ---------------------------------------------------------------- 5: materials


def materials():
    """Two links that both have a friction meet with the root of the product; a pair of contact.pairs goes before it; what is excluded does not touch."""
    floor = {"name": "floor", "fixed": True, "friction": 0.4, "shape": {"type": "half_space"}}
    boxes = {"own": {"friction": 0.1}, "none": {}, "paired": {"friction": 0.1}}
    links = [floor] + [{"name": n, "mass": 1, "shape": BOX, "position": [0, i, 0.1005], **b} for i, (n, b) in enumerate(boxes.items())]
    links.append({"name": "ghost", "mass": 1, "shape": BOX, "position": [0, 9, 0.1005]})
    run = Run({"contact": {"friction": 0.9, "pairs": [{"a": "paired", "b": "floor", "friction": 0.25}], "exclude": [["ghost", "floor"]]}, "links": links,
               "initial": [{"link": n, "velocities": [2, 0, 0, 0, 0, 0]} for n in boxes]}, duration=0.4)
    told = []
    for name, mu in (("own", 0.2), ("none", 0.4), ("paired", 0.25)):
        told.append(within((run["trajectory", f"{name}/cx"][-1] - (2 * 0.4 - mu * G * 0.08)) / (mu * G * 0.08), 1e-2, f"{name} [part]"))
    return told + [within(run["trajectory", "ghost/cz"][-1] - (0.1005 - G * 0.08), 1e-3, "excluded falls [m]")]


def bounces():
    """Restitution of links and of pairs: back up to e^2 of the height."""
    floor = {"name": "floor", "fixed": True, "shape": {"type": "half_space"}}
    balls = {"own": {"restitution": 0.6}, "paired": {}}
    run = Run({"contact": {"friction": 0, "pairs": [{"a": "paired", "b": "floor", "restitution": 0.8}]},
               "links": [floor] + [{"name": n, "mass": 1, "shape": BOX, "position": [0, i, 0.6], **b} for i, (n, b) in enumerate(balls.items())]}, duration=0.64)
    fall, told = math.sqrt(2 * 0.5 / G), []
    for name, e in (("own", 0.6), ("paired", 0.8)):
        heights = [z - 0.1 for t, z in zip(run.time, run["trajectory", f"{name}/cz"]) if t > fall]
        top = max(heights) if e == 0.6 else heights[-1]
        form = e * e * 0.5 if e == 0.6 else e * math.sqrt(2 * G * 0.5) * (0.64 - fall) - G / 2 * (0.64 - fall)**2
        told.append(within(top - form, 5e-3, f"{name} [m]"))
    return told


def rolling():
    """A ball with rolling friction: 5/7 g c / r. One that spins on the spot: 5/2 g c / r^2."""
    floor = {"name": "floor", "fixed": True, "shape": {"type": "half_space"}}
    ball = {"mass": 1, "inertia": [0.004] * 3 + [0, 0, 0], "shape": {"type": "sphere", "radius": 0.1, "resolution": 5}}
    run = Run({"contact": {"friction": 0.8, "pairs": [{"a": "spins", "b": "floor", "friction": 0.01}]}, "links": [floor, {"name": "rolls", "rolling": 0.005, "position": [0, 0, 0.1005], **ball},
                                                     {"name": "spins", "spinning": 0.005, "position": [0, 2, 0.1005], **ball}],
               "initial": [{"link": "rolls", "velocities": [1, 0, 0, 0, 10, 0]}, {"link": "spins", "velocities": [0, 0, 0, 0, 0, 20]}]}, duration=0.6, output=["velocities"])
    slower = 1 - 5 / 7 * G * 0.005 / 0.1 * 0.6
    spin = 20 - 0.005 * G / 0.004 * 0.6
    return [within((run["velocities", "rolls/vx"][-1] - slower) / (1 - slower), 3e-2, "rolls [part]"), within((run["velocities", "spins/wz"][-1] - spin) / (20 - spin), 3e-2, "spins [part]")]


# ---------------------------------------------------------------- 6: terrain, prescribed bodies, signals


def png(rows):
    """8 bit, grey."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    raw = b"".join(b"\0" + bytes(row) for row in rows)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def terrain():
    """Stairs from a PNG and from a table: boxes and balls of any kind stand on the step that is below them."""
    steps = [[0 if i < 8 else 128 if i < 16 else 255 for i in range(24)] for _ in range(12)]
    table = "\n".join(",".join(f"{v / 255:.17g}" for v in row) for row in steps).encode()
    told = []
    for name, data in (("stairs.png", png(steps)), ("stairs.csv", table)):
        ground = {"name": "ground", "fixed": True, "shape": {"type": "height_field", "file": name, "size": [2.3, 1.1, 0.4]}}
        shapes = {"low": (-0.8, 0, BOX), "middle": (0, 128 / 255 * 0.4, BOX), "high": (0.8, 0.4, {"type": "cylinder", "radius": 0.1, "length": 0.2})}
        run = Run({"files": {name: data}, "contact": {"friction": 0.6},
                   "links": [ground] + [{"name": n, "mass": 1, "shape": s, "position": [x, 0, z + 0.103]} for n, (x, z, s) in shapes.items()]}, duration=0.5, dt=2e-3)
        for n, (x, z, _) in shapes.items():
            within(run["trajectory", f"{n}/cz"][-1] - z - 0.1, 2e-3, f"{name}, {n} [m]")
        told.append(within(max(abs(run["trajectory", f"{n}/cz"][-1] - z - 0.1) for n, (x, z, _) in shapes.items()), 2e-3, f"{name} [m]"))
    return told


def prescribed():
    """Free links by velocity, keyframes and a table of poses; signals from columns, linear and cubic in between."""
    times = [0.1 * i for i in range(11)]
    rows = ["t,x,y,z,qw,qx,qy,qz,u"] + [f"{t:.17g},{0.3 * t:.17g},{4 + t * t:.17g},{t**3 - t:.17g},{math.cos(0.4 * t):.17g},0,0,{math.sin(0.4 * t):.17g},{math.sin(2 * t):.17g}" for t in times]
    poses = {"type": "csv", "file": "poses.csv", "interpolation": "cubic", "columns": ["x", "y", "z", "qw", "qx", "qy", "qz"], "time": "t"}
    column = {"type": "csv", "file": "poses.csv", "columns": ["u"], "time": "t"}
    body = {"mass": 1, "shape": BOX}
    run = Run({"files": {"poses.csv": "\n".join(rows).encode()},
               "links": [{"name": "belt", "position": [0, 0, 0], **body}, {"name": "keyed", "position": [0, 2, 0], **body}, {"name": "hand", **body},
                         slide("linear", y=6), slide("cubic", y=8)],
               "controllers": [{"link": "belt", "type": "prescribed", "velocity": [0.5, 0, 0, 0, 0, 0.7]},
                               {"link": "keyed", "type": "prescribed", "target": {"type": "keyframes", "times": [0, 1], "values": [[0, 0, 0, 0, 0, 0], [1, 2, 3, 0, 0, 0.5]]}},
                               {"link": "hand", "type": "prescribed", "target": poses}, {"link": "linear", "type": "prescribed", "target": column},
                               {"link": "cubic", "type": "prescribed", "target": {**column, "interpolation": "cubic"}}]}, duration=0.9)

    def broken(t):
        k = min(int(t / 0.1 + 1e-9), 9)
        return math.sin(0.2 * k) + (t - 0.1 * k) / 0.1 * (math.sin(0.2 * (k + 1)) - math.sin(0.2 * k))
    inner = [(t, z, y) for t, z, y in zip(run.time, run["trajectory", "hand/cz"], run["trajectory", "hand/cy"]) if 0.2 < t < 0.8]
    return [within(run.off("trajectory", "belt/cx", lambda t: 0.5 * t), 1e-9, "by velocity [m]"),
            within(run.off("trajectory", "belt/qz", lambda t: math.sin(0.35 * t)), 1e-9, "turns [1]"),
            within(run.off("trajectory", "keyed/cz", lambda t: 3 * t), 1e-9, "keyframes [m]"),
            within(run.off("trajectory", "hand/cx", lambda t: 0.3 * t), 1e-9, "poses [m]"), within(max(abs(y - 4 - t * t) for t, _, y in inner), 1e-3, "their parabola [m]"),
            within(run.off("trajectory", "hand/qz", lambda t: math.sin(0.4 * t)), 1e-4, "their turn [1]"),
            within(run.off("joints", "linear/position", broken), 1e-9, "linear column [m]"), within(run.off("joints", "cubic/position", lambda t: math.sin(2 * t), 100), 2e-3, "cubic column [m]")]


def belts():
    """What lies on a belt at rest is taken along: it slips for v / (mu g)."""
    run = Run({"contact": {"friction": 0.3}, "links": [{"name": "belt", "shape": {"type": "box", "size": [4, 1, 0.1]}, "position": [0, 0, -0.05]},
                                                     {"name": "box", "mass": 1, "shape": BOX, "position": [0, 0, 0.1005]}],
               "controllers": [{"link": "belt", "type": "prescribed", "velocity": [0.6, 0, 0, 0, 0, 0]}]}, duration=0.5)
    slips = 0.6 / (0.3 * G)
    return [within(run["trajectory", "box/cx"][-1] - (0.6 * 0.5 - 0.6 * slips / 2), 2e-3, "on the belt [m]")]


# ---------------------------------------------------------------- 7, 8: other programs' files, results


def command(*words, expect=0):
    done = subprocess.run([SDRS, *words], capture_output=True, text=True)
    assert done.returncode == expect, f"{words[0]}: exit {done.returncode}: {done.stderr.strip()}"
    return done.stdout


def round_trips():
    """Limits of effort and speed, friction, damping, mimic and armature: as URDF and back, as MJCF and back, and the same motion."""
    def part(name, joint, **rest):
        return {"name": name, "mass": 1, "center": [0.2, 0, 0], "inertia": [0.01, 0.02, 0.02, 0, 0, 0], "shapes": [{"type": "box", "size": [0.4, 0.05, 0.05], "position": [0.2, 0, 0]}],
                "joint": joint, **rest}
    scene = {"name": "machine", "simulation": {"dt": 1e-3, "duration": 0.4, "integrator": "second_order"}, "contact": {"model": "none"},
             "links": [part("arm", {"type": "hinge", "axis": [0, 1, 0], "damping": 0.3, "friction": 0.2, "limits": [-2, 2]}),
                       part("fore", {"type": "hinge", "axis": [0, 1, 0], "position": [0.4, 0, 0], "damping": 0.1}, parent="arm"),
                       part("finger", {"type": "slide", "axis": [1, 0, 0], "position": [0.4, 0, 0]}, parent="fore")],
             "couplings": [{"link": "finger", "of": "fore", "ratio": 0.05}],
             "controllers": [{"link": "arm", "type": "pd", "target": 0.5, "position_gain": 10, "damping_gain": 1, "max_force": 4, "limit_width": 0.01}]}
    folder, told = tempfile.mkdtemp(dir=WORK), []
    path = os.path.join(folder, "machine.json")
    with open(path, "w", encoding="ascii") as file:
        json.dump(scene, file)
    for kind in ("urdf", "xml"):
        exported, back = os.path.join(folder, "machine." + kind), os.path.join(folder, kind + ".yaml")
        command("export", path, "-q", "-o", exported)
        command("import", exported, "-q", "-o", back, *(["--hold", "2"] if kind == "urdf" else []))
        with open(exported, encoding="ascii") as file:
            text = file.read()
        words = ("<mimic", 'effort="4"', 'friction="0.2"', 'damping="0.3"') if kind == "urdf" else ("equality", "forcerange", "frictionloss", 'damping="0.3"')
        missing = [word for word in words if word not in text]
        assert not missing, f"{kind}: {missing} not in it"
        with open(back, encoding="ascii") as file:
            text = file.read()
        lost = [word for word in ("couplings", "friction: [0.2]", "damping: [0.3]", "max_force: [4]") if word not in text]
        assert not lost, f"{kind}: {lost} lost on the way back: {text}"
        told.append(f"{kind}: {len(words)} kinds there and back")
    return told


def results():
    """velocities.csv, forces.csv, closures.csv, pressure.csv and where contacts act: only when asked for, and each is a plot."""
    floor = {"name": "floor", "fixed": True, "shape": {"type": "half_space"}}
    scene = {"contact": {"friction": 0.4}, "links": [floor, {"name": "box", "mass": 3, "shape": BOX, "position": [0, 0, 0.1005]}, {**wheel("arm"), "joint": {"type": "hinge", "axis": [0, 1, 0], "position": [0, 2, 2]}}, {"name": "bob", "mass": 2, "shape": BOX, "position": [0, 4, 2]}],
             "closures": [{"type": "ball", "a": "bob", "point": [0, 4, 2]}],
             "controllers": [{"link": "arm", "type": "torque", "target": 0.5}], "loads": [{"link": "arm", "torque": [0, 0.25, 0]}]}
    plain = Run(scene, duration=0.2)
    assert plain.code == 0 and not any(plain.has(name) for name in ("velocities", "forces", "closures", "pressure")), plain.said
    run = Run(scene, duration=0.2, output=["velocities", "forces", "closures", "contact_points", "pressure"])
    told = [within(run["forces", "arm/angle/drive"][-1] - 0.5, 1e-9, "drive [N m]"), within(run["forces", "arm/angle/load"][-1] - 0.25, 1e-9, "load [N m]"),
            within(run["velocities", "arm/angle/rate"][-1] - 0.75 / 0.3 * 0.2, 2e-3, "rate [rad/s]"), within(run["pressure", "box/fz"][-1] - 3 * G, 1e-3, "pressure [N]"),
            within(max(abs(run["pressure", "box/x"][-1]), abs(run["pressure", "box/y"][-1])), 1e-6, "its centre [m]"), within(run["contacts", "fz"][-1] - 3 * G, 1e-3, "contact [N]"),
            within(abs(run["closures", "bob-world/fz"][-1]) - 2 * G, 1e-6, "closure [N]")]
    assert {"x", "y", "z", "mx", "my", "mz"} <= set(header(run, "contacts")), header(run, "contacts")
    kinds = [word for word in ("speeds", "joint-forces", "closures", "pressure", "contact-moments") if not subprocess.run(
        [SDRS, "plot", run.out, word, "-q", "-o", os.path.join(run.folder, word + ".svg")], capture_output=True, text=True).returncode]
    return told + [f"plots: {', '.join(kinds)}"]


def header(run, table):
    with open(os.path.join(run.out, table + ".csv"), encoding="ascii") as file:
        return next(csv.reader(file))


CASES = [loads, drives, limits_of_drives, damping_and_dt, held_robots, feedback, delays, passive, coupled, screws_and_planes, loops, breaking, open_starts, flying_linkage, materials, bounces,
         rolling, terrain, prescribed, belts, round_trips, results]


with tempfile.TemporaryDirectory() as WORK:
    sys.exit(run_cases(CASES))
