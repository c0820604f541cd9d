#!/usr/bin/env python3
"""A scene of the Rigid IPC collection (Ferguson et al. 2021) as a scene of sdrs.

  scripts/rigid_ipc.py FIXTURE.json --meshes DIR -o SCENE.yaml [--hulls N]

Exit codes: 0 written, 2 wrong usage, 3 the fixture cannot be used or represented (the reason on standard error),
5 cannot read or write. What is represented how is told in docs/rigid-ipc.md; what is left out is told on standard error.
"""
import argparse
import errno
import itertools
import json
import math
import os
import re
import struct
import sys
from collections import Counter, defaultdict

SHEET_TRIANGLES = 4        # a mesh of fewer triangles is a sheet: its mass is density times area
SHEET_THICKNESS = 1e-3     # of a sheet, in units of its largest extent
MENDED_AREA = 0.05         # holes up to this fraction of the surface are mended; with larger ones it is a bare surface
SURFACE_TRIANGLES = 200    # of a bare surface that stands still: each triangle is a hull
POINTS_MAX = 64            # a convex solid of so many vertices is written as points, a larger one as its file
ACTIVATION_DISTANCE = 1e-3 # m, where the collection's contact begins unless the fixture says otherwise
STEP = 1e-6                # of a part's size: heights that differ by less are one level
SLOPE = 1e-3               # faces that lean by less stand upright: files hold six digits
PIECES_MAX = 400           # prisms of a part extruded in steps; one that needs more is decomposed
FLAT = 1e-9                # distances below this fraction of a mesh's size are rounding

KNOWN_KEYS = {"mesh", "vertices", "edges", "faces", "density", "is_dof_fixed", "oriented", "group_id", "position",
              "rotation", "scale", "dimensions", "linear_velocity", "angular_velocity", "force", "torque", "enabled",
              "type", "kinematic_max_time", "kinematic_poses", "split_components", "ipc_comparison_enabled", "name"}


class Refused(Exception):
    """The fixture cannot be used or represented; the text is the reason."""


# ------------------------------------------------------------------ vectors and rotations

def add(a, b): return [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
def sub(a, b): return [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
def times(s, a): return [s * a[0], s * a[1], s * a[2]]
def dot(a, b): return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
def norm(a): return math.sqrt(dot(a, a))
def cross(a, b): return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def quaternion_product(a, b):
    (p, u), (q, v) = (a[0], a[1:]), (b[0], b[1:])
    return [p * q - dot(u, v)] + add(add(times(p, v), times(q, u)), cross(u, v))


def rotate(q, v):
    t = times(2, cross(q[1:], v))
    return add(add(v, times(q[0], t)), cross(q[1:], t))


def rotation_of(degrees):
    """R = Rz Ry Rx as a unit quaternion w, x, y, z."""
    q = [1.0, 0.0, 0.0, 0.0]
    for axis in range(3):
        half = math.radians(degrees[axis]) / 2
        turn = [math.cos(half), 0.0, 0.0, 0.0]
        turn[1 + axis] = math.sin(half)
        q = quaternion_product(turn, q)
    return q


# ------------------------------------------------------------------ meshes

class Mesh:
    def __init__(self, points, triangles, origin):
        self.points, self.triangles, self.origin = points, triangles, origin

    def extent(self):
        return [max(p[i] for p in self.points) - min(p[i] for p in self.points) for i in range(3)]

    def size(self):
        return max(self.extent())

    def corners(self):
        return [[self.points[i] for i in t] for t in self.triangles]


def joined(points, polygons, origin):
    """Equal positions once, polygons as fans, triangles without two equal corners."""
    number, place, kept = {}, [], []
    for p in points:
        key = tuple(p)
        if key not in number:
            number[key] = len(kept)
            kept.append(list(map(float, p)))
        place.append(number[key])
    triangles = []
    for polygon in polygons:
        corners = [place[i] for i in polygon]
        triangles += [t for t in ([corners[0], b, c] for b, c in zip(corners[1:], corners[2:])) if len(set(t)) == 3]
    return Mesh(kept, triangles, origin)


def open_file(path, **how):
    """Devices and pipes may have no end."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError(errno.EINVAL, "not a regular file", path)
    return open(path, **how)


def read_obj(path):
    points, polygons, edges = [], [], 0
    with open_file(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["v"]:
                points.append([float(w) for w in words[1:4]])
            elif words[:1] == ["f"]:
                numbers = [int(w.split("/")[0]) for w in words[1:]]
                polygons.append([n - 1 if n > 0 else len(points) + n for n in numbers])
            elif words[:1] == ["l"]:
                edges += 1
    return points, polygons, edges


def read_stl(path):
    with open_file(path, mode="rb") as file:
        data = file.read()
    points = []
    count = struct.unpack("<I", data[80:84])[0] if len(data) >= 84 else -1
    if len(data) == 84 + 50 * count:
        for i in range(count):
            numbers = struct.unpack("<12f", data[84 + 50 * i:132 + 50 * i])
            points += [numbers[3:6], numbers[6:9], numbers[9:12]]
    else:
        words = data.decode("ascii", "replace").split()
        for i, word in enumerate(words):
            if word == "vertex":
                points.append(tuple(float(w) for w in words[i + 1:i + 4]))
    return points, [[i, i + 1, i + 2] for i in range(0, len(points) - 2, 3)], 0


def read_mesh(path):
    try:
        points, polygons, edges = (read_stl if path.lower().endswith(".stl") else read_obj)(path)
    except (ValueError, IndexError, struct.error) as error:
        raise Refused(f"{path}: not a mesh: {error}") from error
    return points, polygons, edges


def border_edges(mesh):
    """Directed edges without a partner of the opposite direction."""
    count = Counter((t[i], t[(i + 1) % 3]) for t in mesh.triangles for i in range(3))
    return [e for e, n in count.items() for _ in range(n - count[e[1], e[0]])]


def lid(mesh):
    """Triangles that close the borders: fans around the middle of each connected piece of border; their corners."""
    neighbours, edges = defaultdict(list), border_edges(mesh)
    for a, b in edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    piece, corners = {}, []
    for start in neighbours:
        if start in piece:
            continue
        stack, members = [start], []
        piece[start] = start
        while stack:
            a = stack.pop()
            members.append(a)
            for b in neighbours[a]:
                if b not in piece:
                    piece[b] = start
                    stack.append(b)
        middle = times(1 / len(members), [sum(mesh.points[m][i] for m in members) for i in range(3)])
        corners += [[mesh.points[b], mesh.points[a], middle] for a, b in edges if piece[a] == start]
    return corners


def area_vector(a, b, c):
    return times(0.5, cross(sub(b, a), sub(c, a)))


def surface(corners):
    return sum(norm(area_vector(*t)) for t in corners)


def is_convex(mesh):
    """Of a closed mesh: one piece without handles, convex at every edge."""
    third = {(t[i], t[(i + 1) % 3]): t[(i + 2) % 3] for t in mesh.triangles for i in range(3)}
    used = {i for t in mesh.triangles for i in t}
    if len(used) - len(mesh.triangles) // 2 != 2:
        return False
    size = mesh.size()
    for t in mesh.triangles:
        a = mesh.points[t[0]]
        n = area_vector(*(mesh.points[i] for i in t))
        for i in range(3):
            other = third.get((t[(i + 1) % 3], t[i]))
            if other is None or dot(n, sub(mesh.points[other], a)) > 1e-6 * size * norm(n):
                return False
    return True


def components(mesh):
    """The pieces of a mesh whose triangles share edges, in the order of their first triangle."""
    of_edge = defaultdict(list)
    for i, t in enumerate(mesh.triangles):
        for k in range(3):
            of_edge[frozenset((t[k], t[(k + 1) % 3]))].append(i)
    piece, count = {}, 0
    for start in range(len(mesh.triangles)):
        if start in piece:
            continue
        stack = [start]
        piece[start] = count
        while stack:
            t = mesh.triangles[stack.pop()]
            for k in range(3):
                for other in of_edge[frozenset((t[k], t[(k + 1) % 3]))]:
                    if other not in piece:
                        piece[other] = count
                        stack.append(other)
        count += 1
    parts = []
    for c in range(count):
        triangles = [t for i, t in enumerate(mesh.triangles) if piece[i] == c]
        used = sorted({i for t in triangles for i in t})
        number = {old: new for new, old in enumerate(used)}
        parts.append(Mesh([mesh.points[i] for i in used], [[number[i] for i in t] for t in triangles], None))
    return parts


# ------------------------------------------------------------------ mass

def solid_moments(corners):
    """Volume, centre, and integral of x x^T about the centre, of the solid that closed triangles bound."""
    volume, first = 0.0, [0.0] * 3
    second = [[0.0] * 3 for _ in range(3)]
    shift = corners[0][0]
    for t in corners:
        a, b, c = (sub(p, shift) for p in t)
        v = dot(a, cross(b, c)) / 6
        s = add(add(a, b), c)
        volume += v
        first = add(first, times(v / 4, s))
        for i in range(3):
            for j in range(3):
                second[i][j] += v / 20 * (a[i] * a[j] + b[i] * b[j] + c[i] * c[j] + s[i] * s[j])
    return about_centre(volume, first, second, shift)


def sheet_moments(corners, thickness):
    """The same of a sheet of unit density per area, its thickness counted in the second moment."""
    area, first = 0.0, [0.0] * 3
    second = [[0.0] * 3 for _ in range(3)]
    shift = corners[0][0]
    for t in corners:
        a, b, c = (sub(p, shift) for p in t)
        n = area_vector(a, b, c)
        w = norm(n)
        if w == 0:
            continue
        s = add(add(a, b), c)
        area += w
        first = add(first, times(w / 3, s))
        for i in range(3):
            for j in range(3):
                second[i][j] += w / 12 * (a[i] * a[j] + b[i] * b[j] + c[i] * c[j] + s[i] * s[j])
                second[i][j] += thickness**2 / 12 * n[i] * n[j] / w
    return about_centre(area, first, second, shift)


def about_centre(weight, first, second, shift):
    if weight == 0:
        return 0.0, shift, second
    c = times(1 / weight, first)
    central = [[second[i][j] - weight * c[i] * c[j] for j in range(3)] for i in range(3)]
    return weight, add(c, shift), central


def inertia_of(second, q):
    """[ixx, iyy, izz, ixy, ixz, iyz] in axes turned by q, from the integral of x x^T."""
    columns = [rotate(q, [float(i == k) for i in range(3)]) for k in range(3)]
    turned = [[sum(columns[k][i] * second[k][m] * columns[m][j] for k in range(3) for m in range(3)) for j in range(3)]
              for i in range(3)]
    trace = sum(turned[i][i] for i in range(3))
    return [trace - turned[0][0], trace - turned[1][1], trace - turned[2][2], -turned[0][1], -turned[0][2], -turned[1][2]]


# ------------------------------------------------------------------ bodies of the fixture

def numbers(body, key, default):
    value = body.get(key, default)
    if isinstance(value, bool) or not isinstance(value, (int, float, list)):
        raise Refused(f"{key}: {value!r} is not a list of numbers")
    value = value if isinstance(value, list) else [value] * 3
    if len(value) < 3 or not all(isinstance(x, (int, float)) and math.isfinite(x) for x in value[:3]):
        raise Refused(f"{key}: {value!r} is not a list of three numbers")
    return [float(x) for x in value[:3]]


def fixed_degrees(body):
    fixed = body.get("is_dof_fixed", False)
    fixed = [fixed] * 6 if isinstance(fixed, bool) else fixed
    if not isinstance(fixed, list) or len(fixed) != 6:
        raise Refused(f"is_dof_fixed: {fixed!r} is neither one boolean nor six")
    return [bool(x) for x in fixed]


def scale_of(body, mesh):
    if "dimensions" in body:
        return [d / (e or 1.0) for d, e in zip(numbers(body, "dimensions", None), mesh.extent())]
    return numbers(body, "scale", 1.0)


class Body:
    """A body of the fixture with its mesh in its own frame, scaled; what it is and where it stands."""

    def __init__(self, name, source, mesh, scale, motion):
        self.name, self.source, self.scale, self.motion = name, source, scale, motion
        self.mesh = Mesh([[p[i] * scale[i] for i in range(3)] for p in mesh.points], mesh.triangles, mesh.origin)
        if scale[0] * scale[1] * scale[2] < 0:
            self.mesh.triangles = [t[::-1] for t in mesh.triangles]
        self.q = rotation_of(numbers(source, "rotation", [0, 0, 0]))
        self.position = numbers(source, "position", [0, 0, 0])
        self.density = float(source.get("density", 1000))
        self.group = int(source.get("group_id", -1))
        if self.group < 0:
            self.group = None
        self.kind, self.closed = self.judge()
        self.thickness = SHEET_THICKNESS * self.mesh.size()

    def judge(self):
        """sheet, surface, convex or concave; the corners of the triangles that bound the solid."""
        corners = self.mesh.corners()
        if not corners:
            raise Refused(f"body '{self.name}' has no triangles: points and edges alone are no solid")
        if len(corners) < SHEET_TRIANGLES:
            return "sheet", corners
        added = lid(self.mesh)
        if surface(added) > MENDED_AREA * surface(corners) or self.mesh.size() == 0 or min(self.mesh.extent()) == 0:
            if self.motion != "fixed":
                raise Refused(f"body '{self.name}' is a bare open surface that moves ({self.mesh.origin}): it encloses "
                              "no volume that its density could fill")
            if len(corners) > SURFACE_TRIANGLES:
                raise Refused(f"body '{self.name}' is a bare open surface of {len(corners)} triangles "
                              f"({self.mesh.origin}); up to {SURFACE_TRIANGLES} become plates, one hull each")
            return "surface", corners
        closed = corners + added
        if solid_moments(closed)[0] < 0:
            self.mesh.triangles = [t[::-1] for t in self.mesh.triangles]
            closed = [t[::-1] for t in closed]
        return ("convex" if not added and is_convex(self.mesh) else "concave"), closed

    def moments(self):
        if self.kind == "sheet":
            return sheet_moments(self.closed, self.thickness)
        return solid_moments(self.closed)

    def world(self, p):
        return add(self.position, rotate(self.q, p))


def motion_of(body):
    """fixed, free (some or all of it), or kinematic; scenes that ask for more are refused."""
    kind = body.get("type", "dynamic")
    if kind not in ("static", "dynamic", "kinematic"):
        raise Refused(f"type: {kind!r} is not static, dynamic or kinematic")
    if kind == "static" or all(fixed_degrees(body)):
        return "fixed"
    if kind == "kinematic":
        if body.get("kinematic_poses"):
            raise Refused("kinematic_poses: the given poses of a free body are not taken over")
        if float(body.get("kinematic_max_time", -1)) == 0:
            return "fixed"
        v, w = velocities(body)
        return "kinematic" if any(v) or any(w) else "fixed"
    return "free"


def velocities(body):
    """Linear (of the centre of mass) and angular [rad/s], world axes, without those of fixed degrees of freedom."""
    fixed = fixed_degrees(body)
    v = numbers(body, "linear_velocity", [0, 0, 0])
    w = [math.radians(x) for x in numbers(body, "angular_velocity", [0, 0, 0])]
    return [0.0 if f else x for x, f in zip(v, fixed)], [0.0 if f else x for x, f in zip(w, fixed[3:])]


def load_of(body):
    """Constant force at the centre of mass [N] and torque [N m], world axes, by name; not along fixed degrees of freedom."""
    fixed, found = fixed_degrees(body.source), {}
    for key, first in (("force", 0), ("torque", 3)):
        value = [0.0 if f else x for x, f in zip(numbers(body.source, key, [0, 0, 0]), fixed[first:first + 3])]
        if any(value):
            found[key] = value
    return found


def mesh_of(body, folder, cache):
    if "mesh" in body and body["mesh"]:
        path = os.path.join(folder, body["mesh"])
        if path not in cache:
            points, polygons, edges = read_mesh(path)
            if edges and not polygons:
                raise Refused(f"{path} holds edges alone: wires have no volume and are not represented")
            cache[path] = joined(points, polygons, path)
        return cache[path]
    points = body.get("vertices", [])
    if not points:
        raise Refused("a body has neither mesh nor vertices")
    if any(len(p) != 3 for p in points):
        raise Refused("a body of the plane (vertices of two numbers): only scenes in space are represented")
    if not body.get("faces"):
        raise Refused("a body of points and edges without faces has no volume and is not represented")
    return joined(points, body["faces"], None)


def name_of(body, index, part=None):
    stem = os.path.splitext(os.path.basename(body.get("mesh") or "body"))[0]
    name = re.sub(r"[^A-Za-z0-9_-]", "-", str(body.get("name") or stem))
    return f"{name}_{index}" + ("" if part is None else f"_{part}")


def read_bodies(problem, folder, words):
    cache, bodies = {}, []
    for index, source in enumerate(problem.get("rigid_bodies", [])):
        if not source.get("enabled", True):
            continue
        unknown = sorted(k for k in source if k not in KNOWN_KEYS and not k.startswith("#"))
        name = name_of(source, index)
        if unknown:
            words.append(f"body '{name}': {', '.join(unknown)} left out")
        motion = motion_of(source)
        mesh = mesh_of(source, folder, cache)
        if not mesh.triangles:
            raise Refused(f"body '{name}' has no triangles: points and edges alone are no solid")
        scale = scale_of(source, mesh)
        if source.get("split_components"):
            for k, part in enumerate(components(mesh)):
                bodies.append(Body(name_of(source, index, k), source, part, scale, motion))
        else:
            bodies.append(Body(name, source, mesh, scale, motion))
    if not bodies:
        raise Refused("no body is enabled")
    return bodies


# ------------------------------------------------------------------ parts extruded in steps: exact convex pieces

def levels_of(values, size):
    """Values that differ by more than rounding, ascending."""
    found = []
    for x in sorted(values):
        if not found or x - found[-1] > STEP * size:
            found.append(x)
    return found


def extrusion_axis(mesh):
    """The coordinate axis along or across which every face lies; None where there is none."""
    vectors = [v for v in (area_vector(*t) for t in mesh.corners()) if norm(v) > 0]
    for axis in range(3):
        if all(abs(v[axis]) <= SLOPE * norm(v) or abs(v[axis]) >= (1 - SLOPE**2) * norm(v) for v in vectors):
            return axis
    return None


def section(mesh, axis, height):
    """Loops of 2D points around the material at a height between levels: outer ones to the left, holes to the right."""
    u, v, size = (axis + 1) % 3, (axis + 2) % 3, mesh.size()
    number, points, follower = {}, [], {}

    def point(p):
        key = (round(p[u] / size / STEP), round(p[v] / size / STEP))
        for near in ((key[0] + i, key[1] + j) for i in (0, -1, 1) for j in (0, -1, 1)):
            if near in number:
                return number[near]
        number[key] = len(points)
        points.append((p[u], p[v]))
        return number[key]

    for t in mesh.corners():
        ends = []
        for i in range(3):
            a, b = t[i], t[(i + 1) % 3]
            if (a[axis] < height) != (b[axis] < height):
                s = (height - a[axis]) / (b[axis] - a[axis])
                ends.append((a[axis] < height, point(add(a, times(s, sub(b, a))))))
        if len(ends) == 2:
            start, end = (e[1] for e in sorted(ends)) # seen along the axis the outside is to the right
            if start != end:
                follower[start] = end if start not in follower else None
    loops, used = [], set()
    for start in follower:
        loop, at = [], start
        while at not in used and follower.get(at) is not None:
            used.add(at)
            loop.append(at)
            at = follower[at]
        if loop and at == loop[0]:
            loops.append([points[i] for i in loop])
        elif loop:
            return None # the section does not close, or touches itself
    return [straightened(loop, size) for loop in loops]


def turning(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def loop_area(loop):
    return 0.5 * sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(loop, loop[1:] + loop[:1]))


def straightened(loop, size):
    """Without points in the middle of straight edges."""
    return [b for a, b, c in zip(loop[-1:] + loop[:-1], loop, loop[1:] + loop[:1])
            if abs(turning(a, b, c)) > STEP * size * math.dist(a, c)]


def contains(loop, p):
    inside = False
    for a, b in zip(loop, loop[1:] + loop[:1]):
        if (a[1] > p[1]) != (b[1] > p[1]) and p[0] < a[0] + (p[1] - a[1]) * (b[0] - a[0]) / (b[1] - a[1]):
            inside = not inside
    return inside


def crosses(a, b, c, d):
    """Do two segments meet, other than in a common end?"""
    if a in (c, d) or b in (c, d):
        return False
    return turning(a, b, c) * turning(a, b, d) <= 0 and turning(c, d, a) * turning(c, d, b) <= 0


def bridged(outer, holes):
    """One loop of an outer one and its holes: each hole joined by a double edge to the nearest point that it sees."""
    loop, holes = list(outer), sorted(holes, key=lambda h: -max(p[0] for p in h))
    for k, hole in enumerate(holes):
        edges = [e for ring in [loop] + holes[k:] for e in zip(ring, ring[1:] + ring[:1])]
        pairs = sorted(((math.dist(p, q), i, j) for i, p in enumerate(loop) for j, q in enumerate(hole)))
        for _, i, j in pairs:
            if not any(crosses(loop[i], hole[j], c, d) for c, d in edges) and opens(loop, i, hole[j]):
                loop = loop[:i + 1] + hole[j:] + hole[:j + 1] + loop[i:]
                break
        else:
            return None
    return loop


def opens(loop, i, p):
    """Does p lie inside the corner of a loop? Corners stand twice where bridges start."""
    a, b, c = loop[i - 1], loop[i], loop[(i + 1) % len(loop)]
    if turning(a, b, c) > 0:
        return turning(a, b, p) > 0 and turning(b, c, p) > 0
    return turning(a, b, p) > 0 or turning(b, c, p) > 0


def triangles_of(loop):
    """Ears of a loop, cut off one after another; None where none is left to cut."""
    left, found = list(range(len(loop))), []
    while len(left) > 3:
        best = None
        for k in range(len(left)):
            i, j, m = left[k - 1], left[k], left[(k + 1) % len(left)]
            a, b, c = loop[i], loop[j], loop[m]
            area = turning(a, b, c)
            if area <= 0:
                continue
            if any(turning(a, b, p) >= 0 and turning(b, c, p) >= 0 and turning(c, a, p) >= 0
                   for p in (loop[n] for n in left) if p not in (a, b, c)):
                continue
            quality = area / max(math.dist(a, b), math.dist(b, c), math.dist(c, a))**2
            if best is None or quality > best[0]:
                best = (quality, k, [a, b, c])
        if best is None:
            return None
        found.append(best[2])
        del left[best[1]]
    found.append([loop[i] for i in left])
    return [t for t in found if turning(*t) > 0]


def merged(polygons):
    """Convex polygons joined over common edges as long as they stay convex, longest edges first."""
    polygons = [list(p) for p in polygons]
    while True:
        edges = {}
        for n, polygon in enumerate(polygons):
            for i, a in enumerate(polygon):
                edges[a, polygon[(i + 1) % len(polygon)]] = n
        best = None
        for (a, b), n in edges.items():
            other = edges.get((b, a))
            if other is None or other <= n:
                continue
            p, q = polygons[n], polygons[other]
            i, j = p.index(b), q.index(a)
            ring = p[i:] + p[:i] # b ... a
            ring += (q[j:] + q[:j])[1:-1] # after a, before b
            if len(set(ring)) == len(ring) and all(
                    turning(x, y, z) >= -1e-12 * math.dist(x, z)**2 for x, y, z in zip(ring, ring[1:] + ring[:1], ring[2:] + ring[:2])):
                if best is None or math.dist(a, b) > best[0]:
                    best = (math.dist(a, b), n, other, ring)
        if best is None:
            return polygons
        _, n, other, ring = best
        polygons[n] = ring
        del polygons[other]


def convex_polygons(loops):
    """Exact convex pieces of the area that loops bound."""
    outers = [loop for loop in loops if loop_area(loop) > 0]
    found = []
    for outer in outers:
        holes = [h for h in loops if loop_area(h) < 0 and contains(outer, h[0]) and
                 not any(contains(o, h[0]) and o is not outer and contains(outer, o[0]) for o in outers)]
        loop = bridged(outer, holes)
        triangles = triangles_of(loop) if loop else None
        area = loop_area(outer) + sum(loop_area(h) for h in holes)
        if triangles is None or abs(sum(loop_area(t) for t in triangles) - area) > 1e-6 * area:
            return None
        found += merged(triangles)
    return found


def extruded_pieces(mesh):
    """Prisms that make up a part extruded in steps along a coordinate axis, exactly; None for other meshes."""
    axis = extrusion_axis(mesh)
    if axis is None:
        return None
    levels = levels_of((p[axis] for p in mesh.points), mesh.size())
    slabs = []
    for low, high in zip(levels, levels[1:]):
        loops = section(mesh, axis, (low + high) / 2)
        if loops is None:
            return None
        if slabs and sorted(map(sorted, slabs[-1][2])) == sorted(map(sorted, loops)):
            slabs[-1][1] = high
        else:
            slabs.append([low, high, loops])
    solids = []
    for low, high, loops in slabs:
        polygons = convex_polygons(loops)
        if polygons is None:
            return None
        for polygon in polygons:
            solid = []
            for height in (low, high):
                for x, y in polygon:
                    p = [0.0, 0.0, 0.0]
                    p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3] = height, x, y
                    solid.append(p)
            solids.append(solid)
    return solids if 0 < len(solids) <= PIECES_MAX else None


# ------------------------------------------------------------------ shapes

def patches(body):
    """Flat convex pieces of a sheet or surface: all of it when it is one, else each triangle."""
    corners = [t for t in body.mesh.corners() if norm(area_vector(*t)) > 0]
    n = [sum(area_vector(*t)[i] for t in corners) for i in range(3)]
    size = body.mesh.size()
    flat = norm(n) > 0 and all(
        abs(dot(n, sub(p, corners[0][0]))) <= FLAT * size * norm(n) for t in corners for p in t)
    points = [list(p) for p in {tuple(p) for t in corners for p in t}]
    if flat and abs(hull_area(points, n) - norm(n)) <= 1e-9 * norm(n):
        return [(sorted(points), times(1 / norm(n), n))]
    return [(t, times(1 / norm(area_vector(*t)), area_vector(*t))) for t in corners]


def hull_area(points, n):
    """Area of the convex hull of points in a plane of normal n."""
    n = times(1 / norm(n), n)
    u = cross(n, [1.0, 0, 0] if abs(n[0]) < 0.7 else [0, 1.0, 0])
    u = times(1 / norm(u), u)
    v = cross(n, u)
    flat = sorted((dot(u, p), dot(v, p)) for p in points)

    def turn(a, b, c): return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    def half(sequence):
        chain = []
        for p in sequence:
            while len(chain) >= 2 and turn(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        return chain[:-1]
    ring = half(flat) + half(flat[::-1])
    return 0.5 * abs(sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(ring, ring[1:] + ring[:1])))


def front(body, patch, others):
    """+1 or -1: the side of a patch, along its normal, where the nearest vertex of a moving body is at the start."""
    points, n = patch
    normal, place = rotate(body.q, n), body.world(points[0])
    nearest, side = math.inf, 1
    for other in others:
        for p in other.mesh.points:
            d = dot(normal, sub(other.world(p), place))
            if 0 < abs(d) < nearest:
                nearest, side = abs(d), 1 if d > 0 else -1
    return side


def plates(body, others):
    """Thin solids in place of a sheet: half its thickness on either side, or behind its front where it stands still."""
    solids = []
    for patch in patches(body):
        points, n = patch
        if body.motion == "free":
            low, high = -body.thickness / 2, body.thickness / 2
        else:
            side = front(body, patch, others)
            low, high = sorted((0.0, -side * body.thickness))
        solids.append([add(p, times(low, n)) for p in points] + [add(p, times(high, n)) for p in points])
    return solids


def write_obj(path, mesh):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"v {p[0]!r} {p[1]!r} {p[2]!r}\n" for p in mesh.points)
        file.writelines(f"f {t[0] + 1} {t[1] + 1} {t[2] + 1}\n" for t in mesh.triangles)


class Shapes:
    """Shapes of the scene, each written once for all bodies that have it."""

    def __init__(self, scene, hulls):
        self.scene, self.hulls = scene, hulls
        self.lines, self.names, self.files, self.prisms = [], {}, {}, {}

    def named(self, text, stem):
        if text not in self.names:
            taken = set(self.names.values())
            name = next(n for n in itertools.chain([stem], (f"{stem}-{i}" for i in itertools.count(2))) if n not in taken)
            self.names[text] = name
            self.lines.append(f"  {name}: {text}")
        return self.names[text]

    def of(self, body, others):
        """Names of the shapes that make up a body."""
        stem = re.sub(r"_\d+(_\d+)?$", "", body.name)
        if body.kind in ("sheet", "surface"):
            return [self.named(points_text(solid), stem) for solid in plates(body, others)]
        if body.kind == "convex" and len(body.mesh.points) <= POINTS_MAX:
            used = sorted({i for t in body.mesh.triangles for i in t})
            return [self.named(points_text([body.mesh.points[i] for i in used]), stem)]
        pieces = self.pieces(body) if body.kind == "concave" else None
        if pieces:
            return [self.named(points_text(solid), stem) for solid in pieces]
        file, scale = self.file(body, stem)
        decompose = "" if body.kind == "convex" else f", decompose: {{inside: true, max_hulls: {self.hulls}}}"
        return [self.named(f"{{type: mesh, file: {json.dumps(file)}, scale: {scale!r}{decompose}}}", stem)]

    def pieces(self, body):
        """Those of a mesh and scale are looked for once."""
        key = (body.mesh.origin, tuple(body.scale))
        if body.mesh.origin is None or key not in self.prisms:
            self.prisms[key] = extruded_pieces(body.mesh)
        return self.prisms[key]

    def file(self, body, stem):
        """The mesh's file and its scale; a file of its own beside the scene where the scale is not one number."""
        scale, folder = body.scale, os.path.dirname(os.path.abspath(self.scene))
        if body.mesh.origin and scale[0] == scale[1] == scale[2] > 0:
            return os.path.relpath(os.path.abspath(body.mesh.origin), folder), scale[0]
        base = os.path.splitext(os.path.basename(self.scene))[0] + "-meshes"
        text = f"{stem}-{body.name.rsplit('_', 2)[-1]}" if not body.mesh.origin else stem
        for n in range(1, 10**6):
            file = os.path.join(base, f"{text}{'' if n == 1 else f'-{n}'}.obj")
            content = (tuple(map(tuple, body.mesh.points)), tuple(map(tuple, body.mesh.triangles)))
            if self.files.setdefault(file, content) == content:
                write_obj(os.path.join(folder, file), body.mesh)
                return file, 1.0
        raise Refused("too many meshes")


# ------------------------------------------------------------------ the scene

def text_of(values):
    return "[" + ", ".join(repr(float(x) + 0.0) for x in values) + "]"


def points_text(points):
    return "{type: points, points: [" + ", ".join(text_of(p) for p in points) + "]}"


def moving_part(body, place):
    """mass and inertia of a link whose frame stands at the centre of mass, along the world's axes."""
    weight, _, second = body.moments()
    mass = body.density * weight
    if not mass > 0:
        raise Refused(f"body '{body.name}' has no mass: density {body.density}, volume or area {weight}")
    inertia = [body.density * x for x in inertia_of(second, body.q)]
    return f"mass: {mass!r}, mass_model: given, inertia: {text_of(inertia)}"


def free_joint(body, place, initial):
    fixed = fixed_degrees(body.source)
    v, w = velocities(body.source)
    if sum(fixed[3:]) == 1:
        raise Refused(f"body '{body.name}' may turn about two of the world's axes and not about the third: "
                      "no joint of the simulator does that for large rotations")
    free = [i for i in range(6) if not fixed[i]]
    rates = [(v + w)[i] for i in free]
    if any(rates):
        initial.append(f"  - {{link: {body.name}, velocities: {text_of(rates)}}}")
    if len(free) == 6:
        return f"position: {text_of(place)}"
    axes = ", ".join(("x", "y", "z", "rx", "ry", "rz")[i] for i in free)
    return f"joint: {{type: free, free_axes: [{axes}], position: {text_of(place)}}}"


def prescribed(name, rate, end):
    return (f"  - {{link: {name}, type: prescribed, target: {{type: keyframes, times: [0, {end!r}], "
            f"values: [[0], [{rate * end!r}]]}}}}")


def kinematic_links(body, place, shapes, end, controllers):
    """A slide along the velocity, a hinge about the angular velocity, or the one on the other."""
    v, w = velocities(body.source)
    latest = float(body.source.get("kinematic_max_time", -1))
    end = min(end, latest) if latest > 0 else end
    lines, parent, at = [], "", place
    if any(v):
        name = body.name + "_carrier" if any(w) else body.name
        joint = f"joint: {{type: slide, axis: {text_of(v)}, position: {text_of(at)}}}"
        if any(w):
            lines.append(f"  - {{name: {name}, {joint}, mass: 1.0, inertia: [1, 1, 1, 0, 0, 0]}}")
            parent, at = f"parent: {name}, ", [0.0, 0.0, 0.0]
        controllers.append(prescribed(name, norm(v), end))
    if any(w):
        joint = f"joint: {{type: hinge, axis: {text_of(w)}, position: {text_of(at)}}}"
        controllers.append(prescribed(body.name, norm(w), end))
    lines.append(f"  - {{name: {body.name}, {parent}{joint}, {moving_part(body, place)}, {shapes}}}")
    return lines


def links_of(body, bodies, shapes, end, initial, controllers):
    """The lines of a body under links."""
    others = [b for b in bodies if b is not body and b.motion == "free"]
    names = shapes.of(body, others)
    centre = [0.0, 0.0, 0.0] if body.motion == "fixed" else body.moments()[1]
    place = body.world(centre)
    where = f"position: {text_of(sub(body.position, place))}, rotation: {text_of(body.q)}"
    text = "shapes: [" + ", ".join(f"{{shape: {n}, {where}}}" for n in names) + "]"
    groups = [f"group{body.group}"] if body.group is not None else []
    if body.motion != "free" and any(b.motion == "kinematic" for b in bodies):
        groups.append("driven")
    if groups:
        text += f", groups: [{', '.join(groups)}]"
    if body.motion == "fixed":
        return [f"  - {{name: {body.name}, fixed: true, position: {text_of(place)}, {text}}}"]
    if body.motion == "kinematic":
        return kinematic_links(body, place, text, end, controllers)
    return [f"  - {{name: {body.name}, {free_joint(body, place, initial)}, {moving_part(body, place)}, {text}}}"]


def loads_of(bodies):
    """The lines under loads: a link's frame stands at its centre of mass, where a load acts unless told otherwise."""
    lines = []
    for body in bodies:
        load = load_of(body) if body.motion == "free" else {}
        if load:
            lines.append(f"  - {{link: {body.name}, " + ", ".join(f"{k}: {text_of(v)}" for k, v in load.items()) + "}")
    return lines


def contact_text(fixture, problem, bodies):
    """Support s is half the distance where the collection's contact begins: that of sdrs begins at about 2 s."""
    section = fixture.get("distance_barrier_constraint", {})
    begins = float(section.get("initial_barrier_activation_distance", ACTIVATION_DISTANCE))
    text = f"contact: {{friction: {float(problem.get('coefficient_friction', 0))!r}, barrier_distance: {begins / 2!r}"
    restitution = float(problem.get("coefficient_restitution", -1))
    if restitution > 0:
        text += f", restitution: {restitution!r}"
    groups = Counter(b.group for b in bodies if b.group is not None)
    exclude = [f"[group{g}, group{g}]" for g, n in sorted(groups.items()) if n > 1]
    if sum(b.motion != "free" for b in bodies) > 1 and any(b.motion == "kinematic" for b in bodies):
        exclude.append("[driven, driven]")
    return text + (f", exclude: [{', '.join(exclude)}]" if exclude else "") + "}"


def scene_text(fixture, name, folder, scene, hulls, words):
    problem = fixture.get("rigid_body_problem")
    if not isinstance(problem, dict):
        raise Refused("no rigid_body_problem: not a scene of rigid bodies")
    if len(problem.get("gravity", [0, 0, 0])) != 3:
        raise Refused("gravity of two numbers: only scenes in space are represented")
    bodies = read_bodies(problem, folder, words)
    if float(problem.get("coefficient_restitution", -1)) > 1:
        raise Refused(f"coefficient_restitution {problem['coefficient_restitution']:g}: above 1 impacts make energy")
    dt, end = float(fixture.get("timestep", 0.01)), float(fixture.get("max_time", 10))
    shapes, initial, controllers, links = Shapes(scene, hulls), [], [], []
    for body in bodies:
        links += links_of(body, bodies, shapes, end, initial, controllers)
    lines = [f"# Converted by scripts/rigid_ipc.py from {name}, of the Rigid IPC collection; y is up.",
             f"name: {re.sub(r'[^A-Za-z0-9_.=-]', '-', os.path.splitext(os.path.basename(scene))[0])}",
             f"simulation: {{dt: {dt!r}, duration: {end!r}, gravity: {text_of(numbers(problem, 'gravity', [0, 0, 0]))}, "
             "integrator: momentum}",
             contact_text(fixture, problem, bodies), "shapes:"] + shapes.lines + ["links:"] + links
    if initial:
        lines += ["initial:"] + initial
    if controllers:
        lines += ["controllers:"] + controllers
    loads = loads_of(bodies)
    if loads:
        lines += ["loads:"] + loads
    return "\n".join(lines) + "\n"


def convert(arguments):
    try:
        with open_file(arguments.fixture, encoding="utf-8") as file:
            fixture = json.load(file)
    except ValueError as error:
        raise Refused(f"not JSON: {error}") from error
    if not isinstance(fixture, dict):
        raise Refused("not a scene of rigid bodies")
    words = []
    name = os.path.basename(arguments.fixture)
    text = scene_text(fixture, name, arguments.meshes, arguments.output, arguments.hulls, words)
    for word in words:
        print(f"{arguments.fixture}: {word}", file=sys.stderr)
    os.makedirs(os.path.dirname(os.path.abspath(arguments.output)), exist_ok=True)
    with open(arguments.output, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    parser = argparse.ArgumentParser(description="A scene of the Rigid IPC collection as a scene of sdrs.")
    parser.add_argument("fixture", metavar="FIXTURE.json")
    parser.add_argument("--meshes", metavar="DIR", required=True, help="folder of the collection's meshes")
    parser.add_argument("-o", dest="output", metavar="SCENE.yaml", required=True)
    parser.add_argument("--hulls", metavar="N", type=int, default=32, help="at most so many hulls of a concave mesh (32)")
    arguments = parser.parse_args()
    try:
        convert(arguments)
    except Refused as reason:
        print(f"{arguments.fixture}: cannot be converted: {reason}", file=sys.stderr)
        return 3
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        print(f"{arguments.fixture}: cannot be converted: a value of another type than expected: {error}", file=sys.stderr)
        return 3
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 5
    return 0


if __name__ == "__main__":
    sys.exit(main())
