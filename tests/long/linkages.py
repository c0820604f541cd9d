"""Cases of tests/long/test_linkages.sh: linkages.py SDRS [CASE...]. Linkages whose motion has a closed form. Each is built as a tree
with closures, and of free bodies with a closure per joint. Both move alike under gravity and a torque, with every integrator, and
have the right gradient."""
import json
import math
import os
import sys
import tempfile

from cases import run_cases
import machine_scenes
from machine_scenes import Run, cross, falls, gradients, within

INTEGRATORS = ("first_order", "second_order", "momentum")


def sub(a, b):
    return [x - y for x, y in zip(a, b)]


def add(a, b, factor=1.0):
    return [x + factor * y for x, y in zip(a, b)]


def unit(a):
    size = math.hypot(*a)
    return [x / size for x in a]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def from_x(way):
    """The shortest rotation that takes the x axis there."""
    x, y, z = unit(way)
    if x < -1 + 1e-12:
        return [0, 0, 1, 0]
    q = unit([1 + x, 0, -z, y])
    return q


class Linkage:
    """Bars between points of the world and joints between bars (None: the world)."""

    def __init__(self):
        self.bars, self.joints = {}, []

    def bar(self, name, start, end, mass=1.0):
        self.bars[name] = (start, end, mass)
        return self

    def joint(self, kind, a, b, point, axis=None):
        self.joints.append((kind, a, b, point, axis))
        return self

    def link(self, name, origin):
        start, end, mass = self.bars[name]
        middle = [(p + q) / 2 for p, q in zip(start, end)]
        solid = {"type": "box", "size": [math.dist(start, end), 0.03, 0.02], "position": sub(middle, origin), "rotation": from_x(sub(end, start))}
        return {"name": name, "mass": mass, "mass_model": "uniform", "shapes": [solid]}

    def closures(self, joints):
        found = []
        for kind, a, b, point, axis in joints:
            first, second = (a, b) if a else (b, a)
            found.append({"type": kind, "a": first, "point": point, **({"axis": axis} if axis else {}), **({"b": second} if second else {})})
        return found

    def loose(self):
        """Free bodies; where each bar's frame is: at its middle."""
        links, self.origin = [], {}
        for name, (start, end, _) in self.bars.items():
            self.origin[name] = [(p + q) / 2 for p, q in zip(start, end)]
            links.append({**self.link(name, self.origin[name]), "position": self.origin[name]})
        return {"links": links, "closures": self.closures(self.joints)}

    def tree(self):
        """The first joint that reaches a bar from what stands already carries it; what is left closes loops."""
        links, closing, waiting, self.origin = [], [], list(self.joints), {None: [0, 0, 0]}
        while waiting:
            for j, (kind, a, b, point, axis) in enumerate(waiting):
                if a in self.origin or b in self.origin:
                    break
            del waiting[j]
            if a in self.origin and b in self.origin:
                closing.append((kind, a, b, point, axis))
                continue
            parent, child = (a, b) if a in self.origin else (b, a)
            self.origin[child] = point
            joint = {"type": kind, "position": sub(point, self.origin[parent]), **({"axis": axis} if axis else {})}
            links.append({**self.link(child, point), "joint": joint, **({"parent": parent} if parent else {})})
        return {"links": links, "closures": self.closures(closing)}

    def place(self, run, name, point):
        """Where a point that is given in the world of the start is, row by row."""
        return run.point(name, sub(point, self.origin[name]))


def write(scene, name):
    path = os.path.join(tempfile.mkdtemp(dir=machine_scenes.WORK), name + ".json")
    with open(path, "w", encoding="ascii") as file:
        json.dump({"name": name, "contact": {"model": "none"}, **scene}, file)
    return path


def both_ways(linkage, form, watched, torque, duration=0.4, dt=2e-3, bound=1e-7, steps=40, blocks="state,attachments,closures,mass", jumps=None):
    """form(run): how far off the closed form is, from a run of either build [m]; watched: (bar, point) that is compared between the two; jumps:
    blocks of each build by which the linkage is locked, so that it has no derivative."""
    told, ends = [], {}
    for build in ("tree", "loose"):
        scene = {**getattr(linkage, build)(), "simulation": {"dt": dt, "duration": duration, "tolerance": 1e-8, "integrator": "first_order"},
                 "loads": [{"link": link, "torque": t} for link, t in torque.items()]}
        path, worst, gap = write(scene, build), 0, 0
        for integrator in INTEGRATORS:
            run = Run(build, "closures", path=path, simulation__integrator=integrator)
            worst, gap = max(worst, form(run)), max(gap, *run.gaps())
            ends[build, integrator] = linkage.place(run, *watched)
        told += [within(worst, bound, f"{build}: closed form [m]"), within(gap, 1e-6, "gaps [m, rad]"), gradients(path, steps, "--wrt", blocks, "--directions", "1", allow=(jumps or {}).get(build, ()))]
    # at the default tolerance both builds may be apart by what that leaves open, but not by what seizes
    for build in ("tree", "loose"):
        run = Run(build, path=write({**getattr(linkage, build)(), "simulation": {"dt": dt, "duration": duration, "integrator": "first_order"}, "loads": [{"link": link, "torque": t} for link, t in torque.items()]}, build))
        ends[build, "default"], ends[build, "first"] = linkage.place(run, *watched)[-1], ends[build, "first_order"][-1]
    for build in ("tree", "loose"):
        told.append(within(math.dist(ends[build, "default"], ends[build, "first"]), 1e-3, f"{build}: at the default tolerance off by [m]"))
    for integrator in INTEGRATORS:
        pairs = list(zip(ends["tree", integrator], ends["loose", integrator]))
        moved = max(math.dist(p, pairs[0][0]) for p, _ in pairs)
        assert moved > 0.02, f"it hardly moves: {moved} m"
        told.append(within(max(math.dist(p, q) for p, q in pairs), 1e-6 * moved, f"{integrator}: both builds apart, of {moved:.2f} m"))
    return told


def circles(p, r, q, s, side=1):
    """Where circles about p and q in the xz plane meet."""
    way = (q[0] - p[0], q[2] - p[2])
    across = math.hypot(*way)
    along = (r * r - s * s + across * across) / (2 * across)
    high = side * math.sqrt(r * r - along * along)
    return [p[0] + (along * way[0] - high * way[1]) / across, p[1], p[2] + (along * way[1] + high * way[0]) / across]


Y = [0, 1, 0]


# ---------------------------------------------------------------- in a plane


def pantograph():
    """A parallelogram with arms of twice the length: its far point goes three times the way of its middle one. Held at a corner, turned by two torques."""
    a, b = unit([1, 0, 0.9]), unit([1, 0, -0.4])
    o = [0, 0, 0]
    p, far = add(o, a, 0.3), add(add(o, a, 0.9), b, 0.9)
    knee = add(o, a, 0.9)
    m = add(p, b, 0.3)
    lower = add(knee, b, 0.3)
    linkage = Linkage().bar("upper", o, knee).bar("arm", knee, far).bar("short", p, m, 0.4).bar("side", m, lower, 0.4)
    linkage.joint("hinge", None, "upper", o, Y).joint("hinge", "upper", "arm", knee, Y).joint("hinge", "upper", "short", p, Y)
    linkage.joint("hinge", "short", "side", m, Y).joint("hinge", "side", "arm", lower, Y)
    def form(run):
        return max(math.dist(f, [3 * x for x in c]) for f, c in zip(linkage.place(run, "arm", far), linkage.place(run, "short", m)))
    return both_ways(linkage, form, ("arm", far), {"upper": [0, -8, 0]})


def jansen():
    """Theo Jansen's leg with his numbers: seven bars, three loops; its foot by five pairs of circles."""
    k = 0.01
    a, b, c, d, e, f, g, h, i, j, kk, l, m = (k * x for x in (38, 41.5, 39.3, 40.1, 55.8, 39.4, 36.7, 65.7, 49, 50, 61.9, 7.8, 15))
    fixed, crank = [-a, 0, -l], [0, 0, 0]

    def pins(angle):
        pin = [m * math.cos(angle), 0, m * math.sin(angle)]
        top = circles(fixed, b, pin, j, 1 if circles(fixed, b, pin, j, 1)[2] > circles(fixed, b, pin, j, -1)[2] else -1)
        low = min((circles(fixed, c, pin, kk, s) for s in (1, -1)), key=lambda v: v[2])
        back = min((circles(fixed, d, top, e, s) for s in (1, -1)), key=lambda v: v[0])
        heel = min((circles(back, f, low, g, s) for s in (1, -1)), key=lambda v: v[0])
        foot = min((circles(heel, h, low, i, s) for s in (1, -1)), key=lambda v: v[2])
        return pin, top, low, back, heel, foot
    start = 0.3
    pin, top, low, back, heel, foot = pins(start)
    linkage = Linkage().bar("crank", crank, pin, 0.5).bar("j", pin, top, 0.5).bar("k", pin, low, 0.6).bar("triangle", fixed, back).bar("c", fixed, low, 0.4)
    linkage.bar("f", back, heel, 0.4).bar("leg", low, foot)
    linkage.joint("hinge", None, "crank", crank, Y).joint("hinge", None, "triangle", fixed, Y).joint("hinge", None, "c", fixed, Y).joint("hinge", "crank", "j", pin, Y)
    linkage.joint("hinge", "crank", "k", pin, Y).joint("hinge", "triangle", "f", back, Y).joint("hinge", "c", "leg", low, Y)
    linkage.joint("hinge", "j", "triangle", top, Y).joint("hinge", "k", "c", low, Y).joint("hinge", "f", "leg", heel, Y)

    def form(run):
        worst = 0
        for p, q, r in zip(linkage.place(run, "crank", pin), linkage.place(run, "leg", foot), linkage.place(run, "triangle", top)):
            wanted = pins(math.atan2(p[2], p[0]))
            worst = max(worst, math.dist(q, wanted[5]), math.dist(r, wanted[1]))
        return worst
    return both_ways(linkage, form, ("leg", foot), {"crank": [0, -20, 0]})


def excavator():
    """Boom, stick and bucket, each with a cylinder and a rod that slides in it: how long each is says the law of cosines."""
    base, cylinder_at = [0, 0, 1], [0.3, 0, 0.7]
    boom_end, stick_end, bucket_end = [2, 0, 2.2], [3, 0, 1.2], [3.2, 0, 0.6]
    on_boom, on_stick = [1.1, 0, 1.5], [1.9, 0, 2.5]
    linkage = Linkage().bar("boom", base, boom_end, 30).bar("stick", on_stick, stick_end, 15).bar("bucket", stick_end, bucket_end, 10)
    linkage.joint("hinge", None, "boom", base, Y).joint("hinge", "boom", "stick", boom_end, Y).joint("hinge", "stick", "bucket", stick_end, Y)
    for name, foot, foot_on, head, head_on in (("lift", cylinder_at, None, on_boom, "boom"), ("reach", [1.3, 0, 1.9], "boom", on_stick, "stick")):
        middle = [(p + q) / 2 for p, q in zip(foot, head)]
        linkage.bar(name, foot, middle, 3).bar(name + "rod", middle, head, 2)
        linkage.joint("hinge", foot_on, name, foot, Y).joint("slide", name, name + "rod", middle, unit(sub(head, foot))).joint("hinge", name + "rod", head_on, head, Y)

    def form(run):
        """Bars straight, in their plane, and the cosine of the boom's angle from the cylinder's length."""
        worst = 0
        a, b = math.dist(base, cylinder_at), math.dist(base, on_boom)
        for f, p, e in zip(linkage.place(run, "lift", cylinder_at), linkage.place(run, "liftrod", on_boom), linkage.place(run, "boom", boom_end)):
            length = math.dist(p, f)
            angle = math.acos((a * a + b * b - length * length) / (2 * a * b)) + math.atan2(-0.3, 0.3)
            turn = angle + math.atan2(1.2, 2) - math.atan2(0.5, 1.1)
            worst = max(worst, math.dist(e, [math.hypot(2, 1.2) * math.cos(turn), 0, 1 + math.hypot(2, 1.2) * math.sin(turn)]))
        return worst
    return both_ways(linkage, form, ("bucket", bucket_end), {"boom": [0, -700, 0], "bucket": [0, 20, 0]})


# ---------------------------------------------------------------- in space


def cardan():
    """Two shafts at 40 degrees and a cross between them: tan(out) = cos(40 degrees) tan(in)."""
    bend = math.radians(40)
    ahead = [math.cos(bend), math.sin(bend), 0]
    side = [-math.sin(bend), math.cos(bend), 0]
    linkage = Linkage().bar("in", [-0.6, 0, 0.1], [0, 0, 0.1]).bar("cross", [0, 0, -0.1], [0, 0, 0.1], 0.3).bar("out", add([0, 0, 0], side, 0.1), add(add([0, 0, 0], side, 0.1), ahead, 0.6))
    linkage.joint("hinge", None, "in", [-0.6, 0, 0], [1, 0, 0]).joint("hinge", "in", "cross", [0, 0, 0.1], [0, 0, 1])
    linkage.joint("hinge", "cross", "out", [0, 0, 0], side).joint("hinge", "out", None, add([0, 0, 0], ahead, 0.6), ahead)

    def form(run):
        """The cross has one arm on each shaft: d of in, e of out, at right angles."""
        worst = 0
        for p, q in zip(linkage.place(run, "in", [0, 0, 0.1]), linkage.place(run, "out", add([0, 0, 0], side, 0.1))):
            turn = math.atan2(-p[1], p[2])
            out = math.atan2(q[2], dot(q, side))
            worst = max(worst, abs(math.remainder(out - math.atan2(math.sin(turn), math.cos(turn) / math.cos(bend)), math.pi)))
        return worst
    return both_ways(linkage, form, ("out", add([0, 0, 0], side, 0.1)), {"in": [0.01, 0, 0]}, duration=0.3, jumps={"tree": ("attachments", "closures"), "loose": ("closures",)})


def bennett():
    """Four hinges in space that should not move and do: lengths and twists of opposite links equal, a / sin(alpha) = b / sin(beta). By
    Denavit and Hartenberg; tan(t1 / 2) tan(t2 / 2) = sin((beta + alpha) / 2) / sin((beta - alpha) / 2)."""
    alpha, beta, a = math.radians(35), math.radians(75), 0.5
    b = a * math.sin(beta) / math.sin(alpha)
    first = 1.1
    ratio = math.sin((beta + alpha) / 2) / math.sin((beta - alpha) / 2)
    second = 2 * math.atan(ratio / math.tan(first / 2))

    def step(frame, turn, length, twist):
        """Turn about z, go along x, twist about x; frame: origin and three axes."""
        o, x, y, z = frame
        x, y = add([math.cos(turn) * c for c in x], y, math.sin(turn)), add([math.cos(turn) * c for c in y], x, -math.sin(turn))
        o = add(o, x, length)
        y, z = add([math.cos(twist) * c for c in y], z, math.sin(twist)), add([math.cos(twist) * c for c in z], y, -math.sin(twist))
        return o, x, y, z
    best = None
    for signs in range(8):
        turns = (first, second if signs & 1 else -second, first if signs & 2 else -first, second if signs & 4 else -second)
        frames = [([0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1])]
        for turn, length, twist in zip(turns, (a, b, a, b), (alpha, beta, alpha, beta)):
            frames.append(step(frames[-1], turn, length, twist))
        miss = math.dist(frames[4][0], frames[0][0]) + math.dist(frames[4][3], frames[0][3])
        best = min(best or (9, None), (miss, frames), key=lambda pair: pair[0])
    assert best[0] < 1e-12, f"it does not close: {best[0]}"
    frames = best[1]
    pins, axes = [f[0] for f in frames[:4]], [f[3] for f in frames[:4]]
    linkage = Linkage().bar("one", pins[1], pins[2]).bar("two", pins[2], pins[3], 0.7).bar("three", pins[3], pins[0])
    linkage.joint("hinge", None, "one", pins[1], axes[1]).joint("hinge", "one", "two", pins[2], axes[2]).joint("hinge", "two", "three", pins[3], axes[3])
    linkage.joint("hinge", "three", None, pins[0], axes[0])

    def angle(axis, v, w):
        v, w = sub(v, [dot(v, axis) * c for c in axis]), sub(w, [dot(w, axis) * c for c in axis])
        return math.atan2(dot(axis, cross(v, w)), dot(v, w))

    def form(run):
        """Turns of `one` and `three` about their fixed axes, measured against the ground's bar."""
        worst, ground = 0, sub(pins[1], pins[0])
        for p, q in zip(linkage.place(run, "one", pins[2]), linkage.place(run, "three", pins[3])):
            t, u = angle(axes[1], ground, sub(p, pins[1])), angle(axes[0], sub(pins[0], q), ground)
            worst = max(worst, abs(abs(math.tan(t / 2) * math.tan(u / 2)) - start))
        return worst
    t, u = angle(axes[1], sub(pins[1], pins[0]), sub(pins[2], pins[1])), angle(axes[0], sub(pins[0], pins[3]), sub(pins[1], pins[0]))
    start = ratio
    assert abs(abs(math.tan(t / 2) * math.tan(u / 2)) - ratio) < 1e-9, (t, u, ratio)
    return both_ways(linkage, form, ("two", pins[3]), {"one": [4 * x for x in axes[1]]}, jumps={"tree": ("state", "attachments", "closures"), "loose": ("closures",)})


def sarrus():
    """Two pairs of hinged plates at right angles hold a third: it goes straight up and down, and nothing else."""
    linkage = Linkage()
    top = [0.5, 0.5, 0.8]
    linkage.bar("top", [0, 0.5, 0.8], [0.9, 0.5, 0.8], 2)
    ends = {"x": ([0.9, 0.5, 0], [1.2, 0.5, 0.4], [0.9, 0.5, 0.8], Y), "y": ([0.5, 0, 0], [0.5, -0.3, 0.4], [0.5, 0, 0.8], [1, 0, 0])}
    for name, (foot, knee, head, axis) in ends.items():
        linkage.bar("low" + name, foot, knee).bar("high" + name, knee, head)
        linkage.joint("hinge", None, "low" + name, foot, axis).joint("hinge", "low" + name, "high" + name, knee, axis).joint("hinge", "high" + name, "top", head, axis)

    def form(run):
        return max(max(abs(p[0] - 0.5), abs(p[1] - 0.5), abs(r[2] - p[2])) for p, r in zip(linkage.place(run, "top", top), linkage.place(run, "top", [0.1, 0.5, 0.8])))
    return both_ways(linkage, form, ("top", top), {"lowx": [0, 2, 0]}, duration=0.2, blocks="state,mass")


def delta():
    """Three arms, six rods on balls, a plate that cannot turn: its place is where three spheres meet."""
    linkage, elbows, heads = Linkage(), [], []
    height = -0.75
    linkage.bar("plate", [-0.06, 0, height], [0.06, 0, height], 0.5)
    for i in range(3):
        angle = 2 * math.pi / 3 * i
        out, along = [math.cos(angle), math.sin(angle), 0], [-math.sin(angle), math.cos(angle), 0]
        shoulder, elbow, head = [0.2 * x for x in out], add([0.2 * x for x in out], add([0.9 * x for x in out], [0, 0, -0.3]), 0.4), add([0, 0, height], out, 0.06)
        elbows.append(elbow), heads.append(head)
        linkage.bar(f"arm{i}", shoulder, elbow, 0.8).joint("hinge", None, f"arm{i}", shoulder, along)
        for k, s in enumerate((-0.05, 0.05)):
            p, q = add(elbow, along, s), add(head, along, s)
            linkage.bar(f"rod{i}{k}", p, q, 0.1).joint("ball", f"arm{i}", f"rod{i}{k}", p).joint("ball", f"rod{i}{k}", "plate", q)

    def form(run):
        worst = 0
        plate = linkage.place(run, "plate", [0, 0, height])
        corner = linkage.place(run, "plate", heads[1])
        for i in range(3):
            length = math.dist(elbows[i], heads[i])
            for p, e in zip(plate, linkage.place(run, f"arm{i}", elbows[i])):
                worst = max(worst, abs(math.dist(add(p, sub(heads[i], [0, 0, height])), e) - length))
        return max(worst, max(math.dist(sub(c, p), sub(heads[1], [0, 0, height])) for p, c in zip(plate, corner)))
    return both_ways(linkage, form, ("plate", [0, 0, height]), {"arm0": [0, -2, 0], "arm1": [0.5, 1, 0]}, duration=0.3)


# ---------------------------------------------------------------- rings of free bodies


def necklace():
    """Six rods in a ring that flies and turns, without weight: it stays the regular hexagon it is, its middle goes straight, and it turns evenly."""
    spin, speed, count = 4.0, [0.5, -0.2, 0.3], 6
    corners = [[math.cos(math.pi / 3 * i), math.sin(math.pi / 3 * i), 0] for i in range(count)]
    ring = Linkage()
    for i in range(count):
        ring.bar(f"rod{i}", corners[i], corners[(i + 1) % count]).joint("ball", f"rod{i}", f"rod{(i + 1) % count}", corners[(i + 1) % count])
    scene, told = ring.loose(), []
    start = [{"link": name, "velocities": add(speed, cross([0, 0, spin], at)) + [0, 0, spin]} for name, at in ring.origin.items()]
    for integrator, order in (("first_order", 1), ("second_order", 2), ("momentum", 2)):
        off, worst, gap, path = [], 0, 0, None
        for dt in (4e-3, 1e-3):
            path = write({**scene, "simulation": {"dt": dt, "duration": 0.4, "integrator": integrator, "gravity": [0, 0, 0], "tolerance": 1e-9}, "initial": start}, "ring")
            run = Run("ring", "closures", path=path)
            places = [ring.place(run, f"rod{i}", corners[i]) for i in range(count)]
            for t, *found in zip(run.time, *places):
                middle = [sum(p[c] for p in found) / count for c in range(3)]
                worst = max(worst, math.dist(middle, [c * t for c in speed]))
                worst = max(worst, max(abs(math.dist(p, middle) - 1) for p in found))
            turn = [sub(p[-1], [0.4 * c for c in speed]) for p in places]
            off.append(max(abs(math.remainder(math.atan2(p[1], p[0]) - math.pi / 3 * i - 0.4 * spin, 2 * math.pi)) for i, p in enumerate(turn)))
            gap = max(gap, *run.gaps())
        told += [within(worst, 1e-6, f"{integrator}: hexagon [m]"), within(gap, 1e-6, "gaps [m]"), falls(off, order, "turn [rad]"),
                 gradients(path, 40, "--wrt", "state,attachments,closures,mass", "--directions", "1")]
    return told


def change_point():
    """A parallelogram that swings through where it is flat, and may go on as one or crossed: either way its pins stay on their circles."""
    linkage = Linkage().bar("left", [0, 0, 0], [0.2, 0, 0.1]).bar("over", [0.2, 0, 0.1], [0.7, 0, 0.1]).bar("right", [0.5, 0, 0], [0.7, 0, 0.1])
    linkage.joint("hinge", None, "left", [0, 0, 0], Y).joint("hinge", "left", "over", [0.2, 0, 0.1], Y).joint("hinge", None, "right", [0.5, 0, 0], Y)
    linkage.joint("hinge", "over", "right", [0.7, 0, 0.1], Y)
    told = []
    for build in ("tree", "loose"):
        path, worst, gap = write({**getattr(linkage, build)(), "simulation": {"dt": 2e-3, "duration": 1.5, "integrator": "first_order"}, "loads": [{"link": "left", "torque": [0, -1, 0]}]}, build), 0, 0
        for integrator in INTEGRATORS:
            run = Run(build, "closures", path=path, simulation__integrator=integrator)
            p, q = linkage.place(run, "left", [0.2, 0, 0.1]), linkage.place(run, "over", [0.7, 0, 0.1])
            worst = max(worst, max(max(abs(math.dist(a, [0, 0, 0]) - math.hypot(0.2, 0.1)), abs(math.dist(a, b) - 0.5), abs(math.dist(b, [0.5, 0, 0]) - math.hypot(0.2, 0.1)))
                                   for a, b in zip(p, q)))
            gap = max(gap, *run.gaps())
        told += [within(worst, 1e-7, f"{build}: circles [m]"), within(gap, 1e-6, "gaps [m, rad]")]
    return told


CASES = [pantograph, jansen, excavator, cardan, bennett, sarrus, delta, necklace, change_point]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as machine_scenes.WORK:
        sys.exit(run_cases(CASES))
