"""Cases of tests/rigid_ipc/run.sh: check.py SDRS COLLECTION [CASE...].

Numbers are judged by closed forms of the fixture, read from the files of short runs of the converted scene: poses and
centres from trajectory.csv, masses and inertias from the kinetic energy, shapes in place from the smallest gap.
"""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

SDRS, COLLECTION = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
CONVERTER = os.path.abspath("scripts/rigid_ipc.py")

CUBE = """v -0.5 -0.5 -0.5\nv 0.5 -0.5 -0.5\nv 0.5 0.5 -0.5\nv -0.5 0.5 -0.5
v -0.5 -0.5 0.5\nv 0.5 -0.5 0.5\nv 0.5 0.5 0.5\nv -0.5 0.5 0.5
f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8
"""
PLANE = "v -5 0 5\nv 5 0 5\nv -5 0 -5\nv 5 0 -5\nf 2 3 1\nf 2 4 3\n"
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 4 3\nf 2 3 4\nf 1 2 4\n"
FUNNEL = "v 0 -2 0\nv 2 0 2\nv -2 0 2\nv -2 0 -2\nv 2 0 -2\nf 1 2 3\nf 1 3 4\nf 1 4 5\nf 1 5 2\n"
# an L of three cubes' volume, concave at one edge
ANGLE = """v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0
v 0 0 1\nv 2 0 1\nv 2 1 1\nv 1 1 1\nv 1 2 1\nv 0 2 1
f 1 4 3\nf 1 3 2\nf 1 6 5\nf 1 5 4\nf 7 8 9\nf 7 9 10\nf 7 10 11\nf 7 11 12
f 1 2 8 7\nf 2 3 9 8\nf 3 4 10 9\nf 4 5 11 10\nf 5 6 12 11\nf 6 1 7 12
"""


def frame():
    """A square of edge 4 around a hole of edge 2 - or, from z = 1 to 2, of 3 - so in two steps along z."""
    points, faces = [], []

    def ring(half, z): # four points, counterclockwise
        points.extend([(-half, -half, z), (half, -half, z), (half, half, z), (-half, half, z)])
        return [len(points) - 3 + i for i in range(4)]

    def band(low, high):
        faces.extend([[low[i], low[(i + 1) % 4], high[(i + 1) % 4], high[i]] for i in range(4)])

    outer, narrow, wide = [ring(2, z) for z in (0, 2)], [ring(1, z) for z in (0, 1)], [ring(1.5, z) for z in (1, 2)]
    band(*outer)
    band(*narrow[::-1])
    band(*wide[::-1])
    band(narrow[0], outer[0])
    band(wide[0], narrow[1])
    band(outer[1], wide[1])
    return "".join("v {} {} {}\n".format(*q) for q in points) + "".join("f {} {} {} {}\n".format(*f) for f in faces)


def sheared(text):
    """Without a face along or across an axis of z."""
    lines = [line.split() for line in text.split("\n") if line]
    return "".join(f"v {w[1]} {float(w[2]) + 0.2 * float(w[1])} {float(w[3]) + 0.3 * float(w[1]) + 0.1 * float(w[2])}\n"
                   if w[0] == "v" else " ".join(w) + "\n" for w in lines)


def two_cubes():
    lines = CUBE.split("\n")
    points = [line.split() for line in lines if line.startswith("v")]
    moved = [f"v {float(p[1]) + 3} {p[2]} {p[3]}" for p in points]
    faces = [line for line in lines if line.startswith("f")]
    later = ["f " + " ".join(str(int(n) + 8) for n in line.split()[1:]) for line in faces]
    return "\n".join([line for line in lines if line.startswith("v")] + moved + faces + later) + "\n"


MESHES = {"cube.obj": CUBE, "plane.obj": PLANE, "tetrahedron.obj": TETRAHEDRON, "funnel.obj": FUNNEL, "angle.obj": ANGLE,
          "pair.obj": two_cubes(), "wire.obj": "v 0 0 0\nv 1 0 0\nl 1 2\n", "points.obj": "v 0 0 0\nv 1 0 0\n",
          "open.obj": CUBE.replace("f 3 4 8 7\n", ""), "frame.obj": frame(), "sheared.obj": sheared(ANGLE)}


INSTANT = {"timestep": 1e-7, "max_time": 2e-7, "gravity": [0, -9.8, 0]} # s: what a run's first row tells is still the initial state


def fixture(bodies, **keys):
    scene = {"scene_type": "distance_barrier_rb_problem", "timestep": 0.01, "max_time": 0.02}
    problem = {"gravity": [0, 0, 0], "rigid_bodies": bodies}
    for key, value in keys.items():
        (problem if key in ("gravity", "coefficient_friction", "coefficient_restitution") else scene)[key] = value
    return dict(scene, rigid_body_problem=problem)


class Case:
    def __init__(self, folder):
        self.folder = folder
        for name, text in MESHES.items():
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write(text)

    def convert(self, scene):
        path = os.path.join(self.folder, "fixture.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(scene if isinstance(scene, str) else json.dumps(scene))
        return subprocess.run([sys.executable, "-B", CONVERTER, path, "--meshes", self.folder, "-o",
                               os.path.join(self.folder, "scene.yaml")], capture_output=True, text=True)

    def run(self, scene, *options):
        done = self.convert(scene)
        assert done.returncode == 0, done.stderr
        self.said = done.stderr
        run = os.path.join(self.folder, "run")
        done = subprocess.run([SDRS, "simulate", os.path.join(self.folder, "scene.yaml"), "-q", "-o", run, *options],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        for name in ("trajectory", "solver"):
            with open(os.path.join(run, name + ".csv"), encoding="ascii") as file:
                setattr(self, name, [{k: v for k, v in row.items()} for row in csv.DictReader(file)])

    def at(self, row, link, columns):
        return [float(self.trajectory[row][f"{link}/{c}"]) for c in columns]

    def centre(self, row, link):
        return self.at(row, link, ("cx", "cy", "cz"))

    def kinetic(self, row=0):
        return float(self.solver[row]["kinetic"])

    def gap(self, row=0):
        return float(self.solver[row]["smallest_gap"])


def near(found, expected, tolerance=1e-9):
    found = found if isinstance(found, list) else [found]
    expected = expected if isinstance(expected, list) else [expected]
    worst = max(abs(a - b) for a, b in zip(found, expected, strict=True))
    assert worst <= tolerance, f"{found} instead of {expected}"


def matrix(degrees):
    """R = Rz Ry Rx, written out."""
    x, y, z = (math.radians(d) for d in degrees)
    cx, sx, cy, sy, cz, sz = math.cos(x), math.sin(x), math.cos(y), math.sin(y), math.cos(z), math.sin(z)
    return [[cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
            [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
            [-sy, cy * sx, cy * cx]]


def applied(m, p):
    return [sum(m[i][j] * p[j] for j in range(3)) for i in range(3)]


# ------------------------------------------------------------------ rules

def rule_pose_scale_and_centre(case):
    """The tetrahedron's centre is at a quarter of its edges; the lowest of its turned corners stands over the plane."""
    scale, turn = [1, 2, 3], [30, 40, 50]
    r = matrix(turn)
    corners = [applied(r, p) for p in ([0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3])]
    height = 0.0004 - min(p[1] for p in corners)
    case.run(fixture([{"mesh": "tetrahedron.obj", "scale": scale, "rotation": turn, "position": [0.1, height, 0.2]},
                      {"mesh": "plane.obj", "is_dof_fixed": True}], **INSTANT))
    near(case.centre(0, "tetrahedron_0"), [a + b for a, b in zip([0.1, height, 0.2], applied(r, [0.25, 0.5, 0.75]))])
    near(case.gap(), 0.0004)


def rule_mirrored(case):
    """A negative factor mirrors the mesh; its volume stays positive."""
    case.run(fixture([{"mesh": "tetrahedron.obj", "scale": [-1, 1, 1], "linear_velocity": [2, 0, 0]}]))
    near(case.centre(0, "tetrahedron_0"), [-0.25, 0.25, 0.25])
    near(case.kinetic(), 0.5 * 1000 / 6 * 4, 1e-8)


def rule_dimensions(case):
    """dimensions are the edges of the scaled bounding box; a zero extent counts as 1."""
    case.run(fixture([{"mesh": "cube.obj", "dimensions": [0.1, 0.2, 0.3], "position": [0, 0.1004, 0],
                       "linear_velocity": [0, 0, 1]},
                      {"mesh": "plane.obj", "dimensions": [4, 0, 4], "is_dof_fixed": True}], **INSTANT))
    near(case.kinetic(), 0.5 * 1000 * 0.006, 1e-6)
    near(case.gap(), 0.0004)


def rule_velocities(case):
    """Linear of the centre of mass, angular in degrees about the world's axes; the box is turned by 90 degrees about z,
    so that its edges 1, 2, 3 lie along y, x, z."""
    case.run(fixture([{"mesh": "cube.obj", "scale": [1, 2, 3], "rotation": [0, 0, 90], "density": 10,
                       "position": [1, 2, 3], "linear_velocity": [1, -2, 0.5], "angular_velocity": [90, 0, 180]}], **INSTANT))
    m, w = 60, [math.pi / 2, 0, math.pi]
    inertia = [m / 12 * (1 + 9), m / 12 * (4 + 9), m / 12 * (4 + 1)]
    near(case.kinetic(), 0.5 * m * 5.25 + 0.5 * sum(i * x * x for i, x in zip(inertia, w)), 1e-3)
    near(case.centre(2, "cube_0"), [1 + 2e-7, 2 - 4e-7, 3 + 1e-7], 1e-12)


def rule_concave_mass(case):
    """An angle of three unit cubes: mass and inertia of the solid, not of overlapping hulls."""
    case.run(fixture([{"mesh": "angle.obj", "linear_velocity": [1, 0, 0], "angular_velocity": [0, 0, math.degrees(1)]}],
                     **INSTANT))
    near(case.centre(0, "angle_0"), [5 / 6, 5 / 6, 0.5])
    # about the centre: three cubes of 1/6 each, and their middles at (0.5, 0.5), (1.5, 0.5), (0.5, 1.5)
    inertia = 1000 * (3 / 6 + 2 * (1 / 3)**2 + 2 * ((2 / 3)**2 + (1 / 3)**2))
    near(case.kinetic(), 0.5 * 3000 + 0.5 * inertia, 1e-4)


def rule_extruded(case):
    """A part extruded in steps is exact: a cube in the narrow part of the hole stands 0.4 mm off its wall; mass of the solid."""
    case.run(fixture([{"mesh": "frame.obj", "linear_velocity": [0, 0, 1]},
                      {"mesh": "cube.obj", "position": [0.4996, 0, 0.5], "is_dof_fixed": True}], **INSTANT))
    near(case.gap(), 0.0004)
    near(case.kinetic(), 0.5 * 1000 * (16 * 2 - 4 - 9), 1e-3)
    with open(os.path.join(case.folder, "scene.yaml"), encoding="utf-8") as file:
        assert "decompose" not in file.read()


def rule_extruded_wide(case):
    """And 0.4 mm off that of the wide part, turned and scaled."""
    case.run(fixture([{"mesh": "frame.obj", "scale": [0.5, 2, 1], "rotation": [90, 0, 0], "position": [0, 0.2, 0]},
                      {"mesh": "cube.obj", "scale": 0.5, "position": [0.4996, -1.3, 0], "is_dof_fixed": True}], **INSTANT))
    near(case.gap(), 0.0004)


def rule_decomposed(case):
    """Other concave meshes are decomposed, from their own file or, where they are stretched, from a file beside the scene."""
    for scale in (1, [1, 1.5, 1]):
        case.run(fixture([{"mesh": "sheared.obj", "scale": scale, "linear_velocity": [1, 0, 0]}], **INSTANT))
        near(case.kinetic(), 0.5 * 3000 * (1 if scale == 1 else 1.5), 1e-3)
        with open(os.path.join(case.folder, "scene.yaml"), encoding="utf-8") as file:
            assert "decompose: {inside: true" in file.read()


def rule_sheet(case):
    """A card's mass is density times area; it stands half its thickness, a two-thousandth of its size, off its plane."""
    case.run(fixture([{"mesh": "plane.obj", "scale": [0.1, 1, 0.2], "position": [0, 0.0014, 0], "density": 3,
                       "linear_velocity": [2, 0, 0]}, {"mesh": "plane.obj", "is_dof_fixed": True}], **INSTANT))
    near(case.kinetic(), 0.5 * 3 * 2 * 4, 1e-6)
    near(case.gap(), 0.0014 - 0.001)


def rule_sheet_front(case):
    """The face of a sheet that stands still stays where it is on the side of the nearest body, below as above."""
    for side in (1, -1):
        case.run(fixture([{"mesh": "cube.obj", "position": [0, side * 0.5003, 0]},
                          {"mesh": "plane.obj", "is_dof_fixed": True}], **INSTANT))
        near(case.gap(), 0.0003)


def rule_funnel(case):
    """A bare open surface that stands still becomes plates: a cube falls into it, and stays in it."""
    case.run(fixture([{"mesh": "cube.obj", "scale": 0.5, "position": [0, -0.5, 0]},
                      {"mesh": "funnel.obj", "type": "static"}], gravity=[0, -9.8, 0], max_time=1.0))
    y = case.centre(-1, "cube_0")[1]
    assert -1.6 < y < -0.8, f"the cube is at y = {y}"


def rule_still(case):
    """static, and is_dof_fixed for all, stand still whatever their velocity; disabled bodies are not there."""
    case.run(fixture([{"mesh": "cube.obj", "type": "static", "linear_velocity": [1, 0, 0]},
                      {"mesh": "cube.obj", "position": [3, 0, 0], "is_dof_fixed": [True] * 6, "force": [1, 0, 0]},
                      {"mesh": "cube.obj", "position": [3, 0, 0], "enabled": False},
                      {"mesh": "cube.obj", "position": [6, 0, 0]}], gravity=[0, -9.8, 0]))
    near(case.at(-1, "cube_0", ("px", "py", "pz")) + case.at(-1, "cube_1", ("px", "py", "pz")), [0, 0, 0, 3, 0, 0])
    assert "cube_2/px" not in case.trajectory[0] and case.centre(-1, "cube_3")[1] < 0


def rule_some_degrees_fixed(case):
    """What is fixed stays, in the world's axes about the centre of mass, for a turned body too."""
    case.run(fixture([{"mesh": "tetrahedron.obj", "rotation": [20, 30, 40], "linear_velocity": [1, 2, 3],
                       "angular_velocity": [90, 90, 90], "is_dof_fixed": [False, True, True, True, True, False]}],
                     max_time=0.1, gravity=[0, -9.8, 0]))
    c = applied(matrix([20, 30, 40]), [0.25] * 3)
    near(case.centre(-1, "tetrahedron_0"), [c[0] + 0.1, c[1], c[2]])
    near(case.at(-1, "tetrahedron_0", ("qw", "qx", "qy", "qz")),
         [math.cos(math.pi / 40), 0, 0, math.sin(math.pi / 40)], 3e-4)


def rule_ball(case):
    """Three rotations free and no translation: a body on a ball at its centre of mass."""
    case.run(fixture([{"mesh": "cube.obj", "is_dof_fixed": [True, True, True, False, False, False],
                       "angular_velocity": [90, 0, 0]}], gravity=[0, -9.8, 0], max_time=0.1))
    near(case.centre(-1, "cube_0"), [0, 0, 0])
    near(case.at(-1, "cube_0", ("qw", "qx")), [math.cos(math.pi / 40), math.sin(math.pi / 40)], 3e-4)


def rule_kinematic(case):
    """At its given velocities, each alone and both; still after kinematic_max_time; no weight."""
    body = {"mesh": "tetrahedron.obj", "type": "kinematic", "angular_velocity": [0, 90, 0], "linear_velocity": [1, 2, 0]}
    case.run(fixture([dict(body, angular_velocity=[0, 0, 0]),
                      dict(body, position=[5, 0, 0], linear_velocity=[0, 0, 0]),
                      dict(body, position=[10, 0, 0]),
                      dict(body, position=[15, 0, 0], kinematic_max_time=0.05),
                      dict(body, position=[20, 0, 0], is_dof_fixed=[True] * 3 + [True, False, True])],
                     gravity=[0, -9.8, 0], max_time=0.1))
    turned = [math.cos(math.pi / 40), math.sin(math.pi / 40)]
    near(case.centre(-1, "tetrahedron_0"), [0.35, 0.45, 0.25])
    near(case.centre(-1, "tetrahedron_1") + case.at(-1, "tetrahedron_1", ("qw", "qy")), [5.25, 0.25, 0.25] + turned)
    near(case.centre(-1, "tetrahedron_2") + case.at(-1, "tetrahedron_2", ("qw", "qy")), [10.35, 0.45, 0.25] + turned)
    near(case.centre(-1, "tetrahedron_3"), [15.30, 0.35, 0.25])
    near(case.centre(-1, "tetrahedron_4") + case.at(-1, "tetrahedron_4", ("qw", "qy")), [20.25, 0.25, 0.25] + turned)


def rule_driven_meet(case):
    """Bodies that stand or are driven go through each other, as in the collection."""
    case.run(fixture([{"mesh": "cube.obj", "type": "kinematic", "linear_velocity": [30, 0, 0]},
                      {"mesh": "cube.obj", "position": [1.1, 0, 0], "type": "static"}], max_time=0.1))
    near(case.centre(-1, "cube_0"), [3, 0, 0])


def rule_groups(case):
    """Bodies of the same group do not collide: these overlap. Without the group, the scene is refused."""
    bodies = [{"mesh": "cube.obj", "group_id": 3}, {"mesh": "cube.obj", "position": [0.5, 0, 0], "group_id": 3}]
    case.run(fixture(bodies))
    for body in bodies:
        del body["group_id"]
    assert case.convert(fixture(bodies)).returncode == 0
    scene = os.path.join(case.folder, "scene.yaml")
    assert subprocess.run([SDRS, "validate", scene], capture_output=True).returncode != 0, "overlapping cubes pass"


def rule_components(case):
    """Each connected part is a body; apart from that both are as given, each about its own centre."""
    case.run(fixture([{"mesh": "pair.obj", "split_components": True, "linear_velocity": [0, 1, 0]}]))
    near(case.centre(0, "pair_0_0") + case.centre(0, "pair_0_1"), [0, 0, 0, 3, 0, 0])
    near(case.kinetic(), 1000)


def rule_components_concave(case):
    """Parts that are concave get mesh files of their own."""
    whole = sheared(ANGLE)
    lines = whole.split("\n")
    points = [line.split() for line in lines if line.startswith("v")]
    faces = [line.split()[1:] for line in lines if line.startswith("f")]
    text = whole + "".join(f"v {p[1]} {p[2]} {float(p[3]) + 4}\n" for p in points)
    text += "".join("f " + " ".join(str(int(n) + len(points)) for n in face) + "\n" for face in faces)
    with open(os.path.join(case.folder, "angles.obj"), "w", encoding="ascii") as file:
        file.write(text)
    case.run(fixture([{"mesh": "angles.obj", "split_components": True}]))
    # of the angle's centre (5/6, 5/6, 1/2), moved as the shear moves it
    x, y, z = 5 / 6, 5 / 6 * 1.2, 0.5 + 0.4 * 5 / 6
    near(case.centre(0, "angles_0_0") + case.centre(0, "angles_0_1"), [x, y, z, x, y, z + 4])


def rule_inline(case):
    """vertices and faces instead of a mesh."""
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    faces = [[0, 2, 1], [0, 3, 2], [1, 2, 3], [0, 1, 3]]
    case.run(fixture([{"vertices": points, "faces": faces, "name": "a b"}]))
    near(case.centre(0, "a-b_0"), [0.25] * 3)


def rule_stl(case):
    """STL, as text and binary."""
    import struct
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    faces = [[0, 2, 1], [0, 3, 2], [1, 2, 3], [0, 1, 3]]
    text, data = "solid x\n", b"solid in binary".ljust(80) + struct.pack("<I", 4)
    for face in faces:
        text += "facet normal 0 0 0\nouter loop\n"
        text += "".join("vertex {} {} {}\n".format(*corners[i]) for i in face) + "endloop\nendfacet\n"
        data += struct.pack("<12fH", 0, 0, 0, *(x for i in face for x in corners[i]), 0)
    with open(os.path.join(case.folder, "text.stl"), "w", encoding="ascii") as file:
        file.write(text + "endsolid x\n")
    with open(os.path.join(case.folder, "binary.stl"), "wb") as file:
        file.write(data)
    case.run(fixture([{"mesh": "text.stl"}, {"mesh": "binary.stl", "position": [2, 0, 0]}]))
    near(case.centre(0, "text_0") + case.centre(0, "binary_1"), [0.25, 0.25, 0.25, 2.25, 0.25, 0.25])


def rule_defaults(case):
    """dt 0.01, 10 s, no friction; gravity and friction as given; half the activation distance as support."""
    scene = fixture([{"mesh": "cube.obj"}], gravity=[1, -2, 3])
    del scene["timestep"], scene["max_time"]
    case.run(scene, "--steps", "2")
    with open(os.path.join(case.folder, "run", "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    near(summary["contact"]["friction"]["value"], 0.0)
    near(summary["contact"]["support"]["value"], 0.0005)
    near(float(case.trajectory[1]["time"]), 0.01)
    near(case.centre(1, "cube_0"), [0.5e-4, -1e-4, 1.5e-4])
    with open(os.path.join(case.folder, "scene.yaml"), encoding="utf-8") as file:
        assert "duration: 10.0," in file.read()
    case.run(fixture([{"mesh": "cube.obj"}], coefficient_friction=0.3, timestep=0.5, max_time=1,
                     distance_barrier_constraint={"initial_barrier_activation_distance": 0.01}))
    with open(os.path.join(case.folder, "run", "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    near([summary["contact"]["friction"]["value"], summary["contact"]["support"]["value"]], [0.3, 0.005])


def rule_restitution(case):
    """A cube that falls 0.5 m on another that stands still rises to e^2 of it; without e, and with -1, it stays."""
    bodies = [{"mesh": "cube.obj", "type": "static"}, {"mesh": "cube.obj", "position": [0.1, 1.501, 0.05]}]
    for e, height in ((0.6, 0.18), (None, 0.0), (-1, 0.0)):
        keys = {} if e is None else {"coefficient_restitution": e}
        case.run(fixture(bodies, gravity=[0, -9.8, 0], timestep=0.002, max_time=0.6, **keys))
        place = [float(row["cube_1/cy"]) for row in case.trajectory]
        lowest = place.index(min(place))
        near(max(place[lowest:]) - place[lowest], height, 0.008)


def rule_force(case):
    """A constant force at the centre of mass, world axes: a t^2 / 2; not along fixed axes."""
    case.run(fixture([{"mesh": "tetrahedron.obj", "rotation": [20, 30, 40], "density": 600, "force": [100, -200, 300]},
                      {"mesh": "cube.obj", "position": [3, 0, 0], "force": [100, 200, 300],
                       "is_dof_fixed": [False, True, False, True, True, True]}], timestep=0.1, max_time=1.0))
    c = applied(matrix([20, 30, 40]), [0.25] * 3)
    near(case.centre(-1, "tetrahedron_0"), [c[i] + 0.5 * (1, -2, 3)[i] for i in range(3)], 1e-8)
    near(case.at(-1, "tetrahedron_0", ("qw", "qx", "qy", "qz")), case.at(0, "tetrahedron_0", ("qw", "qx", "qy", "qz")), 1e-8)
    near(case.centre(-1, "cube_1"), [3 + 0.5 * 0.1, 0, 0.5 * 0.3], 1e-8)


def rule_torque(case):
    """A constant torque about a principal axis: the cube of 1 t has 1000 / 6 kg m^2 and turns by M t^2 / 2 I."""
    case.run(fixture([{"mesh": "cube.obj", "torque": [0, 300, 0]}], timestep=0.01, max_time=0.5))
    angle = 300 * 0.5**2 / (2 * 1000 / 6)
    near(case.at(-1, "cube_0", ("qw", "qx", "qy", "qz")), [math.cos(angle / 2), 0, math.sin(angle / 2), 0], 1e-3)


def rule_left_out_is_said(case):
    case.run(fixture([{"mesh": "cube.obj", "#torque": [1, 2, 3], "colour": 1}]))
    assert "colour left out" in case.said, case.said
    assert "torque" not in case.said, case.said


# ------------------------------------------------------------------ refusals: (fixture, exit code, part of the message)

CUBE_BODY = {"mesh": "cube.obj"}
REFUSALS = {
    "kinematic_poses": (fixture([dict(CUBE_BODY, type="kinematic", kinematic_poses=[{"position": [0, 0, 1]}])]), 3,
                        "kinematic_poses: "),
    "two rotations": (fixture([dict(CUBE_BODY, is_dof_fixed=[False] * 3 + [True, False, False])]), 3,
                      "about two of the world's axes"),
    "surface that moves": (fixture([{"mesh": "funnel.obj"}]), 3, "bare open surface that moves"),
    "box without a lid that moves": (fixture([{"mesh": "open.obj"}]), 3, "bare open surface that moves"),
    "wire": (fixture([{"mesh": "wire.obj"}]), 3, "edges alone"),
    "points": (fixture([{"mesh": "points.obj"}]), 3, "no triangles"),
    "edges in place": (fixture([{"vertices": [[0, 0, 0], [1, 0, 0]], "edges": [[0, 1]]}]), 3, "without faces"),
    "in the plane": (fixture([{"vertices": [[0, 0], [1, 0]], "edges": [[0, 1]]}]), 3, "of the plane"),
    "restitution above 1": (fixture([CUBE_BODY], coefficient_restitution=1.5), 3, "above 1 impacts make energy"),
    "gravity of the plane": (fixture([CUBE_BODY], gravity=[0, -9.8]), 3, "gravity of two numbers"),
    "no bodies": (fixture([dict(CUBE_BODY, enabled=False)]), 3, "no body is enabled"),
    "other type": (fixture([dict(CUBE_BODY, type="soft")]), 3, "'soft' is not static"),
    "five booleans": (fixture([dict(CUBE_BODY, is_dof_fixed=[True] * 5)]), 3, "neither one boolean nor six"),
    "two numbers": (fixture([dict(CUBE_BODY, position=[1, 2])]), 3, "position: [1, 2]"),
    "no density": (fixture([dict(CUBE_BODY, density=0)]), 3, "has no mass"),
    "not JSON": ("{", 3, "not JSON"),
    "another problem": ({"scene_type": "volume", "particles": []}, 3, "not a scene of rigid bodies"),
    "a list": ("[]", 3, "not a scene of rigid bodies"),
    "missing mesh": (fixture([{"mesh": "nowhere.obj"}]), 5, "nowhere.obj: No such file"),
    "endless mesh": (fixture([{"mesh": "/dev/zero"}]), 5, "/dev/zero: not a regular file"),
}


def refusal(scene, code, message):
    def judge(case):
        done = case.convert(scene)
        assert done.returncode == code, f"exit {done.returncode} instead of {code}: {done.stderr}"
        assert message in done.stderr and done.stderr.count("\n") == 1, f"not '{message}' but: {done.stderr}"
        assert not os.path.exists(os.path.join(case.folder, "scene.yaml")), "a scene was written"
    return judge


# ------------------------------------------------------------------ the collection

def collected(name):
    def judge(case):
        scene = os.path.join(case.folder, "scene.yaml")
        done = subprocess.run([sys.executable, "-B", CONVERTER, os.path.join(COLLECTION, "fixtures", name + ".json"),
                               "--meshes", os.path.join(COLLECTION, "meshes"), "-o", scene], capture_output=True, text=True)
        assert done.returncode == 0, f"exit {done.returncode}: {done.stderr}"
        done = subprocess.run([SDRS, "validate", scene], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return judge


def cases():
    found = {name: judge for name, judge in globals().items() if name.startswith("rule_")}
    found.update({f"refuses: {name}": refusal(*what) for name, what in REFUSALS.items()})
    top = os.path.join(COLLECTION, "fixtures")
    if "SDRS_LONG" not in os.environ:
        print("SKIP the collection: in make check-all")
    elif os.path.isdir(top):
        paths = sorted(os.path.join(f, n) for f, _, names in os.walk(top) for n in names if n.endswith(".json"))
        for path in paths:
            name = os.path.relpath(path, top)[:-len(".json")]
            found[name] = collected(name)
    else:
        print(f"SKIP the collection: no {os.path.relpath(COLLECTION)}")
    return found


def main():
    wanted, failed, passed = sys.argv[3:], 0, 0
    for name, judge in cases().items():
        if wanted and name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                judge(Case(folder))
                passed += 1
                print(f"ok   {name}", flush=True)
            except AssertionError as problem:
                failed += 1
                print(f"FAIL {name}\n     {problem}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
