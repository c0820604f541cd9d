#!/usr/bin/env python3
"""Writes the meshes in assets/ that the scenes use. Metres; one `o` group for each convex piece, ring and hook in one surface.

    scripts/make_assets.py            writes assets/*.obj
    scripts/make_assets.py --check    compares them with what it would write; exit 1 when they differ
"""
import math
import pathlib
import sys

ASSETS = pathlib.Path(__file__).resolve().parent.parent / "assets"


def prism(outline, bottom, top):
    """Points and outward faces of a counter-clockwise outline in the x-y plane, extruded from z = bottom to top."""
    n = len(outline)
    points = [(x, y, bottom) for x, y in outline] + [(x, y, top) for x, y in outline]
    faces = [list(range(n - 1, -1, -1)), list(range(n, 2 * n))]
    faces += [[i, (i + 1) % n, n + (i + 1) % n, n + i] for i in range(n)]
    return points, faces


def box(low, high):
    (x0, y0, z0), (x1, y1, z1) = low, high
    return prism([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], z0, z1)


def polar(radius, angle):
    return radius * math.cos(angle), radius * math.sin(angle)


def standing(piece):
    """The same piece with its axis z laid along -y: an outline in x, z."""
    points, faces = piece
    return [(x, -z, y) for x, y, z in points], faces


def bracket():
    """An angle of two plates with a rib between them: 3 pieces."""
    rib = standing(prism([(0.02, 0.02), (0.09, 0.02), (0.02, 0.09)], -0.01, 0.01))
    return {"foot": box((0, -0.05, 0), (0.12, 0.05, 0.02)),
            "wall": box((0, -0.05, 0.02), (0.02, 0.05, 0.12)),
            "rib": rib}


def gear(teeth=12, root=0.07, tip=0.09, height=0.03):
    """A spur gear: a hub and one piece for each tooth."""
    pitch = 2 * math.pi / teeth
    pieces = {"hub": prism([polar(root, pitch * (k + 0.5)) for k in range(teeth)], -height / 2, height / 2)}
    for k in range(teeth):
        inside = root * math.cos(pitch / 2)  # the middle of the hub's side
        outline = []
        for radius, half in ((inside * 0.98, -0.28), (tip, -0.15), (tip, 0.15), (inside * 0.98, 0.28)):
            across = 2 * math.pi * root * half / teeth
            x, y = radius, across
            c, s = math.cos(pitch * (k + 1)), math.sin(pitch * (k + 1))
            outline.append((c * x - s * y, s * x + c * y))
        pieces[f"tooth{k}"] = prism(outline, -height / 2, height / 2)
    return pieces


def mug(staves=12, inner=0.034, outer=0.04, height=0.095, floor=0.008):
    """A cup of staves with a floor and a handle of three bars."""
    step = 2 * math.pi / staves
    pieces = {"floor": prism([polar(inner, step * k) for k in range(staves)], 0, floor)}
    for k in range(staves):
        a, b = step * k, step * (k + 1)
        pieces[f"stave{k}"] = prism([polar(inner, a), polar(outer, a), polar(outer, b), polar(inner, b)], 0, height)
    side = outer * math.cos(step / 2)  # the flat of the first stave, turned to x by half a step
    c, s = math.cos(step / 2), math.sin(step / 2)
    bars = {"handle_top": box((side, -0.006, 0.068), (side + 0.03, 0.006, 0.08)),
            "handle_grip": box((side + 0.018, -0.006, 0.027), (side + 0.03, 0.006, 0.068)),
            "handle_bottom": box((side, -0.006, 0.015), (side + 0.03, 0.006, 0.027))}
    for name, (points, faces) in bars.items():
        pieces[name] = ([(c * x - s * y, s * x + c * y, z) for x, y, z in points], faces)
    return pieces


def plane(points, face):
    """Normal (not of unit length) and offset of the plane through a face's corners."""
    a, b, c = (points[i] for i in face)
    u, v = [q - p for p, q in zip(a, b)], [q - p for p, q in zip(a, c)]
    n = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
    return n, sum(p * q for p, q in zip(n, a))


def hull_faces(points):
    """Triangles of the convex hull of points in general position, outward, by adding one point after the other."""
    n, offset = plane(points, (0, 1, 2))
    order = (0, 1, 2) if sum(p * q for p, q in zip(n, points[3])) < offset else (0, 2, 1)
    a, b, c = order
    faces = {face: plane(points, face) for face in ((a, b, c), (a, c, 3), (c, b, 3), (b, a, 3))}
    for number in range(4, len(points)):
        x, y, z = points[number]
        seen = [face for face, (n, d) in faces.items() if n[0] * x + n[1] * y + n[2] * z > d]
        edges = {(f[k], f[(k + 1) % 3]) for f in seen for k in range(3)}
        for face in seen:
            del faces[face]
        for i, j in sorted(edges):
            if (j, i) not in edges:
                faces[(i, j, number)] = plane(points, (i, j, number))
    return sorted(faces)


def barrel(rings, sides=8):
    """Rings (x, half width along y, half height along z) of `sides` corners about the axis x, a side facing down."""
    n, corners = sides, [polar(1, 2 * math.pi * (k + 0.5) / sides) for k in range(sides)]
    points = [(x, width * y, height * z) for x, width, height in rings for y, z in corners]
    last = len(rings) - 1
    faces = [list(range(n - 1, -1, -1)), [last * n + k for k in range(n)]]
    faces += [[i * n + k, i * n + (k + 1) % n, (i + 1) * n + (k + 1) % n, (i + 1) * n + k]
              for i in range(last) for k in range(n)]
    return points, faces


def rounded_bar(start, length, width, height, ends, overlap):
    """A bar along x with round ends (lengths `ends`), in 3 barrels of 4 rings of 8 corners that overlap: 96 vertices."""
    stop, third = start + length, length / 3
    cap = [(0.92, 0.39), (0.70, 0.71), (0, 1)]  # along the axis and across it, on the unit circle

    def ring(x, scale):
        return x, scale * width / 2, scale * height / 2

    first = [ring(start - a * ends, r) for a, r in cap] + [ring(start + third + overlap / 2, 1)]
    inside = start + third - overlap / 2, stop - third + overlap / 2
    # The rings between bulge a little: every corner is one of the hull.
    bulge = [ring(inside[0] + (inside[1] - inside[0]) * k / 3, 1.03 if k in (1, 2) else 1) for k in range(4)]
    last = [ring(stop - third - overlap / 2, 1)] + [ring(stop + a * ends, r) for a, r in reversed(cap)]
    return first, bulge, last


def spider_leg():
    """The lower leg of the spider, from the knee at the origin along x: 0.443 m and 0.08 m radius."""
    names = ("knee", "shin", "foot")
    return {name: barrel(rings) for name, rings in zip(names, rounded_bar(0, 0.443, 0.16, 0.16, 0.08, 0.06))}


def round_leg(rings, sides):
    """The lower leg of the spider as one round bar of `rings` times `sides` corners: its size, not its three pieces."""
    radius, length, half = 0.08, 0.443, rings // 2
    cap = [math.pi / 2 * k / (half - 0.5) for k in range(half)]  # latitudes; the last ring is the flat end
    left = [(-radius * math.sin(a), radius * math.cos(a), radius * math.cos(a)) for a in reversed(cap)]
    right = [(length - x, width, height) for x, width, height in reversed(left)]
    return {"leg": barrel(left + right, sides)}


def even_bar(radius, length, middle, count):
    """A round bar along x with round ends, `length` between their centres and `middle` its middle, with vertices spread
    evenly over the surface: rings of equal breadth on a sphere or a cylinder have equal areas, and steps of the golden angle
    keep neighbours apart."""
    points = []
    for k in range(count):
        x = -radius + (length + 2 * radius) * (k + 0.5) / count  # from the centre of the first end
        beyond = x - min(max(x, 0), length)
        across, angle = math.sqrt(radius * radius - beyond * beyond), math.pi * (3 - math.sqrt(5)) * k
        points.append((x + middle - length / 2, across * math.cos(angle), across * math.sin(angle)))
    return {"bar": (points, hull_faces(points))}


def biped_foot():
    """A short, round foot, its toe along x, its ankle at the origin, 0.03 m above the sole."""
    names = ("heel", "arch", "toe")
    return {name: barrel(rings) for name, rings in zip(names, rounded_bar(-0.02, 0.06, 0.06, 0.06, 0.03, 0.015))}


def tube(path, radius, sides, closed):
    """A round tube about points (x, z) of the plane y = 0, its corners across the path; capped where it is not closed."""
    n, points, faces = len(path), [], []
    for i, (x, z) in enumerate(path):
        (x0, z0), (x1, z1) = (path[(i + k) % n] if closed else path[min(max(i + k, 0), n - 1)] for k in (-1, 1))
        length = math.hypot(x1 - x0, z1 - z0)
        across = (-(z1 - z0) / length, (x1 - x0) / length)
        for k in range(sides):
            u, v = polar(radius, 2 * math.pi * k / sides)
            points.append((x + u * across[0], v, z + u * across[1]))
    for i in range(n if closed else n - 1):
        a, b = i * sides, (i + 1) % n * sides
        faces += [[a + (k + 1) % sides, a + k, b + k, b + (k + 1) % sides] for k in range(sides)]
    if not closed:
        faces += [list(range(sides)), list(range(n * sides - 1, (n - 1) * sides - 1, -1))]
    return points, faces


def ring(segments=32, sides=10, radius=0.05, thickness=0.008):
    """A round ring in the plane y = 0: one closed surface."""
    return {"ring": tube([polar(radius, 2 * math.pi * k / segments) for k in range(segments)], thickness, sides, True)}


def hook(steps=12, sides=10, radius=0.03, thickness=0.006):
    """A hook in the plane y = 0: a shank that ends at (-0.03, 0.09) and an arc about the origin; one closed surface."""
    arc = [polar(radius, math.pi + 1.15 * math.pi * k / steps) for k in range(steps + 1)]
    return {"hook": tube([(-radius, 0.09), (-radius, 0.03)] + arc, thickness, sides, False)}


def bowl(rings=8, segments=24, radius=0.3, curvature=0.5):
    """An open paraboloid of triangles, z = r^2 / (2 curvature), its upper side in."""
    points, faces = [(0.0, 0.0, 0.0)], [[0, 1 + k, 1 + (k + 1) % segments] for k in range(segments)]
    for n in range(1, rings + 1):
        r = radius * n / rings
        points += [(*polar(r, 2 * math.pi * k / segments), r * r / (2 * curvature)) for k in range(segments)]
    for n in range(rings - 1):
        low, high = 1 + n * segments, 1 + (n + 1) * segments
        for k in range(segments):
            m = (k + 1) % segments
            faces += [[low + k, high + k, high + m], [low + k, high + m, low + m]]
    return {"bowl": (points, faces)}


def obj_text(title, pieces, digits=6):
    lines = [f"# {title}; written by scripts/make_assets.py; unit: metre"]
    first = 1
    for name, (points, faces) in pieces.items():
        lines.append(f"o {name}")
        lines += ["v " + " ".join(f"{round(c, digits) + 0.0:.{digits}f}" for c in point) for point in points]
        lines += ["f " + " ".join(str(first + corner) for corner in face) for face in faces]
        first += len(points)
    return "\n".join(lines) + "\n"


MESHES = {"bracket": (bracket, "angle bracket, 3 convex pieces"),
          "gear": (gear, "gear of 12 teeth, 13 convex pieces"),
          "spider_leg": (spider_leg, "lower leg of a spider, 3 convex pieces of 32 vertices"),
          "round_leg_96": (lambda: round_leg(8, 12), "lower leg of a spider, round, 96 vertices"),
          "round_leg_192": (lambda: round_leg(12, 16), "lower leg of a spider, round, 192 vertices"),
          "round_leg_384": (lambda: round_leg(16, 24), "lower leg of a spider, round, 384 vertices"),
          "round_leg_768": (lambda: round_leg(24, 32), "lower leg of a spider, round, 768 vertices"),
          **{f"even_{part}_{count}": (lambda sizes=sizes, count=count: even_bar(*sizes, count),
                                      f"{title} of a spider, {count} vertices spread evenly", 9)
             for part, sizes, title in (("body", (0.2, 0, 0), "body"), ("upper", (0.08, 0.22, 0.11), "upper leg"),
                                        ("lower", (0.08, 0.443, 0.2215), "lower leg"))
             for count in (96, 192, 384, 768)},
          "biped_foot": (biped_foot, "foot of a biped, 3 convex pieces of 32 vertices"),
          "bowl": (bowl, "bowl of sheet, open"),
          "jaw_board": (lambda: {"board": box((-0.015, -0.12, -0.06), (0.015, 0.12, 0.2))}, "board of the single jaw, one box"),
          "jaw_finger": (lambda: {"finger": box((-0.1, -0.2, -0.65), (0, 0.2, -0.05))}, "finger of the parallel jaws, one box"),
          "hand_finger": (lambda: {"finger": box((-0.025, -0.03, -0.2), (0.025, 0.03, 0))}, "link of a finger of the hand, one box"),
          "mug": (mug, "mug, 16 convex pieces"),
          "ring": (ring, "ring, one surface with a hole"),
          "hook": (hook, "hook, one surface")}


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    ASSETS.mkdir(exist_ok=True)
    differing = 0
    for name, (make, title, *digits) in MESHES.items():
        text = obj_text(title, make(), *digits)
        path = ASSETS / f"{name}.obj"
        if not check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{path} is not what scripts/make_assets.py writes", file=sys.stderr)
            differing += 1
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
