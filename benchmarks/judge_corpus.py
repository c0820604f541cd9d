#!/usr/bin/env python3
"""One row of benchmarks/results/corpus.csv: what became of a run of a Rigid IPC scene, by numbers from its files.

  benchmarks/judge_corpus.py NAME RUN SIMULATE_EXIT CERTIFY_EXIT CPU_SECONDS

NAME is the fixture's path without .json. What should be seen of each scene, and the number that tells it, is its
function below; `seen` is yes or no, `number` what was found. Called by benchmarks/measure_corpus.sh.
"""
import csv
import json
import math
import os
import re
import sys

HEADER = "scene,bodies,hulls,dt,substeps,seconds,exit,certified,ms_per_step,iterations_mean,iterations_most,smallest_gap,seen,number"
SCENES = {}


def scene(*names):
    def keep(judge):
        SCENES.update(dict.fromkeys(names, judge))
        return judge
    return keep


class Run:
    def __init__(self, folder):
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            self.summary = json.load(file)
        self.trajectory, self.solver = (self.table(folder, name) for name in ("trajectory", "solver"))
        self.time = self.trajectory["time"]
        self.links = [name[:-3] for name in self.trajectory if name.endswith("/cx")]
        with open(self.scene_file(), encoding="utf-8") as file:
            self.text = file.read()

    def scene_file(self):
        inputs = self.summary["inputs"]
        path = next(i["file"] for i in inputs)
        return os.path.join(self.summary["working_folder"], path)

    @staticmethod
    def table(folder, name):
        with open(os.path.join(folder, name + ".csv"), encoding="ascii") as file:
            rows = list(csv.reader(file))
        return {name: [float(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0]) if name != "outcome"}

    def of(self, mesh):
        """Links of a mesh, in the order of the fixture."""
        return [link for link in self.links if re.fullmatch(re.escape(mesh) + r"_\d+", link)]

    def centre(self, link, row=-1):
        return [self.trajectory[f"{link}/c{a}"][row] for a in "xyz"]

    def turn(self, link, row=-1):
        return [self.trajectory[f"{link}/q{a}"][row] for a in "wxyz"]

    def tilt(self, link, row=-1):
        """Angle of a link's orientation against the start, degrees."""
        return math.degrees(2 * math.acos(min(1.0, abs(sum(a * b for a, b in zip(self.turn(link, 0), self.turn(link, row)))))))

    def angle(self, link, axis):
        """Total angle turned about a world axis up to each row, rad; for links that turn about it alone."""
        total, found, before = 0.0, [], 0.0
        for row in range(len(self.time)):
            q = self.turn(link, row)
            now = 2 * math.atan2(q[1 + axis], q[0])
            total += (now - before + math.pi) % (2 * math.pi) - math.pi if row else 0.0
            before = now
            found.append(total)
        return found

    def speed(self, link, row=-1):
        before = row - 1 if row < 0 else max(row - 1, 0)
        return math.dist(self.centre(link, row), self.centre(link, before)) / (self.time[row] - self.time[before])

    def row_at(self, time):
        return min(range(len(self.time)), key=lambda i: abs(self.time[i] - time))


def fastest(run, links):
    return max(run.speed(link) for link in links)


def moved(run, links):
    return max(math.dist(run.centre(link, 0), run.centre(link)) for link in links)


def moving(run):
    return [link for link in run.links if not re.search(rf"name: {re.escape(link)}, fixed: true", run.text)]


# ------------------------------------------------------------------ what should be seen

@scene("chain/10-links", "chain/chain-net/chain-net-4x4", "chain/wrecking-ball")
def chain_holds(run):
    """Links that hook one another stay hooked: their centres no farther apart than taut, an inner length."""
    links = run.of("torus") or run.of("link")
    taut, near = (0.62, 0.6) if run.of("torus") else (1.5 - 2 * 0.19, 0.95)
    pairs = [(a, b) for i, a in enumerate(links) for b in links[i + 1:] if math.dist(run.centre(a, 0), run.centre(b, 0)) < near]
    rows = range(0, len(run.time), max(1, len(run.time) // 100))
    worst = max(math.dist(run.centre(a, r), run.centre(b, r)) for a, b in pairs for r in rows)
    told = f"links at most {worst:.3f} m apart; taut {taut:.2f}"
    if not run.of("cube"):
        return worst < taut + 0.03, told
    down = sum(math.dist(run.centre(c, 0), run.centre(c)) > 0.5 for c in run.of("cube"))
    return worst < taut + 0.03 and down > 0, told + f"; {down} of {len(run.of('cube'))} blocks struck out of the wall"


@scene("examples/concave")
def concave_lands(run):
    """The corner's lower face comes to the plane at y = -4 and not below; the L hangs on it (no friction: they glide)."""
    lowest = min(run.trajectory["corner_0/cy"])
    return -3 < lowest < -2.99 and run.centre("L_1")[1] > -3.5, \
        f"corner's centre never below y = {lowest:.4f}, 1 m above the plane -3; that of the L ends at {run.centre('L_1')[1]:.3f}"


@scene("friction/arch/arch-101-stones", "friction/arch/arch-25-stones")
def arch_stands(run):
    """The stones start 0.1 to 0.2 m apart and fall together; from 5 s on none moves by 1 % of the arch's height."""
    stones = [link for link in run.links if link.startswith("stone")]
    start = run.row_at(5)
    height = max(run.centre(link, 0)[1] for link in stones)
    distance = max(math.dist(run.centre(link, start), run.centre(link)) for link in stones)
    crown = max(run.centre(link)[1] for link in stones)
    return distance < 0.01 * height and crown > 0.85 * height, \
        f"crown at {crown:.2f} m of {height:.2f}; from 5 s to the end no stone moved more than {distance:.3f} m"


@scene("friction/card-house/card-house-2-levels")
def cards_stand(run):
    """The cards start 75 mm apart and settle; none leaves its place by more than a tenth of its length of 2.5 m."""
    cards = moving(run)
    worst, tilt = moved(run, cards), max(run.tilt(card) for card in cards)
    return worst < 0.25 and tilt < 10, f"cards moved at most {worst:.3f} m and turned {tilt:.1f} degrees"


@scene("friction/card-house/card-house-3-levels-falling-blocks")
def blocks_fall(run):
    """Two blocks of 7680 kg/m^3 hit a house of light cards: they come down through it to rest, and nothing comes through
    the ground, a plate of 20 m from whose edges cards may fall."""
    blocks, over = run.of("cube"), []
    for link in moving(run):
        x, y, z = (run.trajectory[f"{link}/c{a}"] for a in "xyz")
        over += [h for a, h, b in zip(x, y, z) if max(abs(a), abs(b)) < 10]
    heights = [run.centre(b)[1] for b in blocks]
    return min(over) > 0 and max(heights) < 3, \
        f"blocks end at y = {', '.join(f'{y:.2f}' for y in heights)}; lowest centre above the plate {min(over):.3f}"


@scene("friction/incline-plane/slopeTest_highSchoolPhysics_mu=0.49", "friction/incline-plane/slopeTest_highSchoolPhysics_mu=0.5")
def slope(run):
    """The cube falls 5 mm and slides with g (sin a - mu cos a): 0.088 m/s^2, and 0 where friction is critical."""
    mu, a = run.summary["contact"]["friction"]["value"], math.radians(26.565)
    rows = [run.row_at(t) for t in (1, 3, 5)]
    ways = [math.dist(run.centre("cube_0", r), run.centre("cube_0", 0)) for r in rows]
    found, closed = (ways[2] - 2 * ways[1] + ways[0]) / 4, 9.8 * (math.sin(a) - mu * math.cos(a))
    landing = run.speed("cube_0", run.row_at(0.3))
    return abs(found - closed) < 0.05 * closed + 0.005, \
        f"{found:.4f} m/s^2, closed form {closed:.4f}; {landing:.3f} m/s after landing, Coulomb's impulse leaves 0.00"


@scene("friction/rolling/cone")
def cone_rolls(run):
    """It stays on the plane (y = -0.074) and turns."""
    y, turned = run.centre("cone-solid_0")[1], max(run.tilt("cone-solid_0", r) for r in range(0, len(run.time), 5))
    return -0.074 < y < 0 and turned > 90, f"centre {1e3 * (y + 0.074):.1f} mm over the plane; turned by up to {turned:.0f} degrees"


@scene("friction/spolling-coin")
def coin_falls_over(run):
    """On the plane all along (y = -0.0123), its face sinking from 85 degrees to the plane."""
    ys = run.trajectory["cylinder_0/cy"]
    q = run.turn("cylinder_0")
    a = math.radians(85)
    axis = [0.0, math.cos(a), math.sin(a)]
    t = [2 * (q[2] * axis[2] - q[3] * axis[1]), 2 * (q[3] * axis[0] - q[1] * axis[2]), 2 * (q[1] * axis[1] - q[2] * axis[0])]
    up = axis[1] + q[0] * t[1] + q[3] * t[0] - q[1] * t[2]
    tilt = math.degrees(math.acos(min(1, abs(up))))
    return min(ys) > -0.0123 and tilt < 85, f"face at {tilt:.1f} degrees; lowest centre {1e3 * (min(ys) + 0.0123):.2f} mm over the plane"


@scene("mechanisms/507-movements/092-piston")
def piston_works(run):
    """Crank of radius r at one turn a second: the head's stroke is 2 r, with the play of the bearings."""
    heights = run.trajectory["head_2/cy"]
    stroke, turns = max(heights) - min(heights), sum(
        (a - m) * (b - m) < 0 for m in [(max(heights) + min(heights)) / 2] for a, b in zip(heights, heights[1:])) / 2
    side = max(math.hypot(x - x0, z - z0) for axis in [run.trajectory] for x0, z0 in [(axis["head_2/cx"][0], axis["head_2/cz"][0])]
               for x, z in zip(axis["head_2/cx"], axis["head_2/cz"]))
    return 4 <= turns <= 6 and side < 0.1 and run.time[-1] > 4.99, \
        f"stroke {stroke:.3f} m, {turns:.1f} strokes in {run.time[-1]:.2f} s; aside at most {1e3 * side:.1f} mm"


@scene("mechanisms/bolt")
def bolt_turns(run):
    """The screw sinks into the nut as it turns: the way is the thread's, the same for every turn within a tenth."""
    angle, y = run.angle("screw-big_1", 1), run.trajectory["screw-big_1/cy"]
    fell = y[0] - min(y)
    inside = [i for i in range(len(y)) if 0.05 * fell < y[0] - y[i] < 0.9 * fell]
    if fell < 0.002:
        return False, f"sank {1e3 * (y[0] - y[-1]):.2f} mm"
    first, half, last = inside[0], (inside[0] + inside[-1]) // 2, inside[-1]
    lead = [(y[i] - y[j]) / (abs(angle[j] - angle[i]) / (2 * math.pi) or 1e-9) for i, j in ((first, half), (half, last))]
    turns = abs(angle[-1]) / (2 * math.pi)
    return turns > 0.5 and abs(lead[0] - lead[1]) < 0.1 * abs(lead[0]), \
        f"sank {1e3 * (y[0] - y[-1]):.1f} mm in {turns:.2f} turns; {1e3 * lead[0]:.2f} and {1e3 * lead[1]:.2f} mm a turn"


@scene("mechanisms/gears/chain")
def gears_turn(run):
    """The falling rack turns five gears, each against the one before, all by the same angle but for the play of the teeth."""
    angles = [run.angle(link, 2)[-1] for link in run.of("gear")]
    fell = run.trajectory["rail_1/cy"][0] - run.trajectory["rail_1/cy"][-1]
    alternate = all(a * b < 0 for a, b in zip(angles, angles[1:]))
    sizes = [abs(math.degrees(a)) for a in angles]
    return alternate and max(sizes) - min(sizes) < 12 * len(sizes) and fell > 2, \
        f"rack fell {fell:.2f} m; gears turned {', '.join(f'{math.degrees(a):.0f}' for a in angles)} degrees"


@scene("piles/cone")
def cubes_in_funnel(run):
    """A funnel with its point at y = -5, steep as its half width: no cube's centre is ever below its surface."""
    cubes, worst = run.of("cube"), math.inf
    for c in cubes:
        for x, y, z in zip(*(run.trajectory[f"{c}/c{a}"] for a in "xyz")):
            if max(abs(x), abs(z)) < 4.9:
                worst = min(worst, y + 5 - max(abs(x), abs(z)))
    inside = sum(max(abs(run.centre(c)[0]), abs(run.centre(c)[2])) < 4.9 and run.centre(c)[1] < 0 for c in cubes)
    return worst > 0, f"{inside} of {len(cubes)} cubes in the funnel at the end; none nearer than {worst:.3f} m above its surface"


@scene("unit-tests/5-cubes", "unit-tests/cube-falling-on-edge", "unit-tests/large-mass-ratio")
def stack_rests(run):
    """Cubes fall on one another and stay on top of one another: heights that their edges give, within 20 mm."""
    cubes = moving(run)
    edges = {"5-cubes": ([1] * 5, -1), "large": ([1, 10], -0.5), "cube-falling": ([1, 1], -1)}
    kind = "5-cubes" if len(cubes) == 5 else "large" if run.of("plane") == ["plane_0"] else "cube-falling"
    sizes, ground = edges[kind]
    order = sorted(cubes, key=lambda link: run.centre(link)[1])
    worst = 0.0
    for link, size in zip(order, sizes):
        worst = max(worst, abs(run.centre(link)[1] - ground - size / 2))
        ground += size
    return worst < 0.02 and fastest(run, cubes) < 1e-3, f"heights within {1e3 * worst:.1f} mm; fastest {fastest(run, cubes):.1e} m/s"


@scene("unit-tests/bat")
def bat_hits(run):
    """The bat's end strikes the ball off its tee; the bat stays on its pivot."""
    speed, pivot = run.speed("sphere_1"), moved(run, ["cylinder_0"])
    return speed > 5 and pivot < 1e-6, f"ball leaves at {speed:.1f} m/s"


@scene("unit-tests/edge-edge-parallel", "unit-tests/erleben/spike-and-wedge", "unit-tests/erleben/spike-in-hole",
       "unit-tests/erleben/wedges", "unit-tests/vertex-vertex")
def falls_beside(run):
    """It meets the fixed body point or edge first and cannot pass: the free fall without it is longer."""
    link = moving(run)[0]
    fell = run.centre(link, 0)[1] - run.centre(link)[1]
    free = 0.5 * 9.8 * run.time[-1]**2
    meeting = max(abs(run.centre(link)[0] - run.centre(link, 0)[0]), abs(run.centre(link)[2] - run.centre(link, 0)[2]), run.tilt(link) / 90)
    return fell < free and (fell < 1e-2 or meeting > 0.3), f"fell {fell:.2f} m, free fall {free:.2f}; turned by {run.tilt(link):.0f} degrees"


@scene("unit-tests/erleben/cliff-edges")
def cube_on_cliff(run):
    """The cube's faces end at the cliff's edges; it rests there, at y = 0."""
    y = run.centre("cube_0")[1]
    return 0 <= y < 0.002 and run.tilt("cube_0") < 0.1, f"cube at y = {y:.5f}, tilted {run.tilt('cube_0'):.3f} degrees"


@scene("unit-tests/lever-arm")
def lever_swings(run):
    """A block of 27 m^3 falls on the end of a bar on a hinge: the bar swings round, the block falls on."""
    angle = run.angle("cube_0", 2)
    return max(abs(a) for a in angle) > 0.5 and moved(run, ["cube_0"]) < 1e-6, f"bar turned {math.degrees(angle[-1]):.0f} degrees"


def free_flips(inertia, rate, until):
    """Times at which the body's axis of the first spin lies across its first direction: Euler's equations, Runge-Kutta."""
    ixx, iyy, izz, ixy, ixz, iyz = inertia
    m = [[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]]
    det = sum(m[0][i] * (m[1][(i + 1) % 3] * m[2][(i + 2) % 3] - m[1][(i + 2) % 3] * m[2][(i + 1) % 3]) for i in range(3))
    inverse = [[(m[(j + 1) % 3][(i + 1) % 3] * m[(j + 2) % 3][(i + 2) % 3] - m[(j + 1) % 3][(i + 2) % 3] * m[(j + 2) % 3][(i + 1) % 3]) / det
                for j in range(3)] for i in range(3)]

    def by(a, v): return [sum(a[i][j] * v[j] for j in range(3)) for i in range(3)]
    def cross(a, b): return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]

    def slope_of(state):
        w, q = state[:3], state[3:]
        dw = by(inverse, cross(by(m, w), w))
        return dw + [-0.5 * sum(q[1 + i] * w[i] for i in range(3))] + \
            [0.5 * (q[0] * w[i] + c) for i, c in enumerate(cross(q[1:], w))]
    state, dt, t, times, before = list(rate) + [1.0, 0, 0, 0], 1e-3, 0.0, [], 1.0
    while t < until:
        k1 = slope_of(state)
        k2 = slope_of([s + dt / 2 * k for s, k in zip(state, k1)])
        k3 = slope_of([s + dt / 2 * k for s, k in zip(state, k2)])
        k4 = slope_of([s + dt * k for s, k in zip(state, k3)])
        state = [s + dt / 6 * (a + 2 * b + 2 * c + d) for s, a, b, c, d in zip(state, k1, k2, k3, k4)]
        t += dt
        q = state[3:]
        now = 1 - 2 * (q[1]**2 + q[3]**2)
        if now * before < 0:
            times.append(t)
        before = now
    return times


@scene("unit-tests/rotation/dzhanibekov")
def handle_flips(run):
    """It flips as often as Euler's equations say, the first time within 5 % of the time that they say."""
    inertia = [float(x) for x in re.search(r"inertia: \[([^]]*)\]", run.text).group(1).split(",")]
    rates = [float(x) for x in re.search(r"velocities: \[([^]]*)\]", run.text).group(1).split(",")]
    closed = free_flips(inertia, rates[3:], run.time[-1])
    ups = [1 - 2 * (q[1]**2 + q[3]**2) for q in (run.turn(run.links[0], r) for r in range(len(run.time)))]
    times = [t for t, a, b in zip(run.time[1:], ups, ups[1:]) if a * b < 0]
    good = len(times) == len(closed) and bool(times) and abs(times[0] - closed[0]) < 0.05 * closed[0]
    return good, f"{len(times)} flips, first at {times[0] if times else math.inf:.2f} s; Euler's equations {len(closed)} and {closed[0] if closed else math.inf:.2f}"


@scene("unit-tests/tessellated-plane/two-triangles-tet")
def corner_rests(run):
    """On the seam of the plane's triangles (y = -0.5), upright on its face: the centre a quarter of its edge above."""
    y = run.centre("tet-corner_1")[1]
    return -0.25 <= y < -0.249 and run.tilt("tet-corner_1") < 0.1, f"centre {y + 0.5:.5f} m over the plane; a quarter of its edge 0.25"


@scene("unit-tests/tunnel/2-walls")
def through_the_walls(run):
    """It flies on between the walls, 1 mm away from each, and out."""
    x, y, z = run.centre("cube_2")
    return abs(y) < 1e-3 and z > 200, f"cube at z = {z:.1f} m, {1e3 * abs(y):.3f} mm off the middle"


@scene("unit-tests/tunneling")
def not_through(run):
    """At 1000 m/s, 10 m a step, against a plane at x = 0: it stays on its side."""
    farthest = max(run.trajectory["cube_1/cx"])
    return farthest < -0.49 and min(run.trajectory["cube_1/cx"]) < farthest, f"centre at most at x = {farthest:.4f}"


@scene("compactor/single-cube")
def cube_is_held(run):
    """Four plates of 1e6 N close on a cube of 1 m until they lie on its faces: it has turned to fit, and nothing moves."""
    reach = [abs(run.centre(f"plane_{k}")[k // 2]) for k in range(4)]
    speed = fastest(run, moving(run))
    return 0.5 < min(reach) and max(reach) < 0.51 and speed < 1e-3, \
        f"plates' middles {1e3 * max(reach):.1f} mm from the cube's; fastest {speed:.1e} m/s"


@scene("friction/turntable/turntable-mu=0.5")
def cube_rides(run):
    """300 N m turn 6263 kg m^2 and the cube of 15.6 kg at 1.5 m; w^2 r reaches mu g after 21 s, so that it stays on."""
    angle, end = run.angle("cylinder_0", 1)[-1], run.time[-1]
    closed = math.radians(45) * end + 0.5 * 300 / (6263.0 + 15.625 * 1.5**2 + 0.163) * end**2
    x, y, z = run.centre("cube_1")
    return abs(angle / closed - 1) < 0.01 and y > 0.25 and math.hypot(x, z) < 1.6, \
        f"table turned {angle:.2f} rad, closed form {closed:.2f}; cube crept from 1.5 to {math.hypot(x, z):.3f} m"


# ------------------------------------------------------------------ the row

def row_of(name, folder, code, certified, cpu):
    run = Run(folder)
    steps = max(1, len(run.solver["iterations"]) - 1)
    hulls = run.summary["model"].get("hulls", "")
    gaps = [g for g in run.solver["smallest_gap"] if math.isfinite(g)]
    if code == 0:
        seen, number = SCENES[name](run) if name in SCENES else (None, "")
    else:
        seen, number = False, f"stopped at {run.time[-1]:g} s" + (" of simulated time: too long" if code in (124, 130) else "")
    dt = run.summary["simulation"]["dt"]
    dt = dt["value"] if isinstance(dt, dict) else dt
    return [name, len(run.links), hulls, dt, run.summary["simulation"]["substeps"], f"{run.time[-1]:g}", code, {0: "yes", 1: "no"}.get(certified, ""), f"{1e3 * cpu / steps:.2f}",
            f"{sum(run.solver['iterations']) / steps:.2f}", f"{max(run.solver['iterations'], default=0):.0f}",
            f"{min(gaps):.3g}" if gaps else "", {True: "yes", False: "no", None: ""}[seen], number]


def main():
    if sys.argv[1:] == ["--header"]:
        print(HEADER)
        return
    row = csv.writer(sys.stdout, lineterminator="\n")
    if sys.argv[1] == "--refused":
        row.writerow([sys.argv[2]] + [""] * 11 + ["", "not converted: " + sys.argv[3]])
        return
    name, folder, code, certified, cpu = sys.argv[1:]
    if not os.path.exists(os.path.join(folder, "summary.json")):
        row.writerow([name] + [""] * 5 + [code] + [""] * 6 + ["killed: a step that did not end" if code == "137" else "stopped before the first step was written"])
        return
    row.writerow(row_of(name, folder, int(code), int(certified) if certified else None, float(cpu)))


main()
