"""What sdrs decompose makes of bad meshes: of each file its README says what is wrong, and here stands what must come out.
Volumes are those of the solids that the files mean, by their dimensions, or the signed volume of the triangles as written
(SIGNED) where these are closed and turned outward. The program is $SDRS; it has to run clean under the sanitizers.

    nasty_meshes.py FOLDER      FOLDER/*.obj
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SDRS = os.environ["SDRS"]
SIGNED, ANY = "signed", "any"

# name: exit code 3 and what the message names
REFUSED = {
    "bad_index": ["bad_index.obj:22:", "'99'"],
    "bad_number": ["bad_number.obj:3:", "'x'"],
    "binary": ["binary.obj:1:1:", "not text"],
    "empty": ["empty.obj:1:", "no face"],
    "flat": ["flat.obj:", "is flat"],
    "no_faces": ["no_faces.obj:", "no face"],
    "one_triangle": ["one_triangle.obj:", "is flat"],
}

# The signed volumes of five components, less the eighth of a ring that lies inside a cube. The plane x = 0, y = 0 or z = 0 through
# the ring's centre bounds the eighth, so it is the sum over the ring's triangles, clipped by these planes, of a . (b x c) / 6.
FIVE = 1.8936167477437158 - 0.026205428363919737
# Overlaps are measured along columns of a grid.
OVERLAP_TOLERANCE = {"five_components": 1e-4}

# name: volume of the mended solid, what its condition says, pieces of the union, and whether the hulls are exact
MENDED = {
    "concave_ngon": (2.5, {}, 1, False),
    "crlf_vt_vn": (1, {}, 1, True),
    "degenerate_triangles": (1, {"components": 1}, 1, True),
    "doubled_faces": (1, {"repeated_triangles": 12}, 1, True),
    "far_away": (1, {}, 1, True),
    "five_components": (FIVE, {"components": 5}, ANY, False),
    "huge": (SIGNED, {}, 1, False),
    "inner_wall": (2, {"branching_edges": 4}, 1, True),
    "inside_out": (1, {"inside_out": True, "turned_triangles": 0}, 1, True),
    "mixed_orientation": (1, {"turned_triangles": 4, "inside_out": False}, 1, True),
    "nonmanifold_edge": (2, {"branching_edges": 1, "unused_points": 2}, 1, False),
    "nonmanifold_vertex": (2, {}, 1, False),
    "open_box": (1, {"border_edges": 4, "closed_borders": 1}, 1, True),
    "open_torus": (ANY, {"border_edges": 34, "components": 1}, 1, False),
    "quads_ngons_negative": (2.598076211353316, {}, 1, True),
    "self_crossing_tube": (ANY, {"components": 1}, 1, False),
    "self_intersecting": (SIGNED, {"components": 2}, ANY, False),
    "slivers": (SIGNED, {}, 1, False),
    "tiny": (SIGNED, {}, 1, False),
    "triangle_soup": (SIGNED, {"border_edges": 0, "components": 1}, 1, False),
    "two_point_face": (1, {}, 1, True),
    "vertex_colors_w": (1 / 6, {}, 1, True),
}

# Units and places that the same part is tried in: factor, shift.
PLACES = [(1e-6, 0), (1e-3, 5), (1e4, -3e5), (1e7, 0), (1e7, 4e9), (0.37, 1e3)]


def read_obj(path):
    points, faces = [], []
    text = path.read_text("latin1").replace("\\\r\n", " ").replace("\\\n", " ")
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words and words[0].endswith("v") and not words[0].endswith(("vt", "vn")):
            points.append([float(w) for w in words[1:4]])
        elif words and words[0] == "f":
            numbers = [int(w.split("/")[0]) for w in words[1:]]
            faces.append([n - 1 if n > 0 else len(points) + n for n in numbers])
    return points, faces


def signed_volume(path):
    points, faces = read_obj(path)
    middle = [sum(p[k] for p in points) / len(points) for k in range(3)]
    sum6 = 0
    for face in faces:
        for k in range(1, len(face) - 1):
            a, b, c = ([points[i][j] - middle[j] for j in range(3)] for i in (face[0], face[k], face[k + 1]))
            sum6 += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2])
                     + a[2] * (b[0] * c[1] - b[1] * c[0]))
    return sum6 / 6


def run(path, folder, *options):
    command = [SDRS, "decompose", str(path), "-q", "--threads", "1", "-o", str(folder), *options]
    done = subprocess.run(command, capture_output=True)
    return done.returncode, done.stderr.decode("latin1")


def near(found, wanted, relative=1e-6):
    return abs(found - wanted) <= relative * abs(wanted)


def hull_volume(folder):
    """Of the written hulls, each by itself."""
    points, faces = read_obj(folder / "hulls.obj")
    sum6 = 0
    for a, b, c in ([[points[i][j] - points[0][j] for j in range(3)] for i in face] for face in faces):
        sum6 += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2])
                 + a[2] * (b[0] * c[1] - b[1] * c[0]))
    return sum6 / 6


def check_refused(path, folder, words):
    code, said = run(path, folder)
    if code != 3:
        yield f"exit {code}, wanted 3: {said}"
    for word in words:
        if word not in said:
            yield f"the message does not name {word}: {said}"
    if folder.exists():
        yield "leaves a folder"


def check_mended(path, folder, volume, condition, pieces, exact):
    code, said = run(path, folder)
    if code != 0 or said:
        yield f"exit {code}, wanted 0 and no word: {said}"
        return
    report = json.loads((folder / "report.json").read_text())
    wanted = signed_volume(path) if volume == SIGNED else volume
    if wanted != ANY and not near(report["mesh_volume"], wanted, OVERLAP_TOLERANCE.get(path.stem, 1e-6)):
        yield f"volume {report['mesh_volume']}, wanted {wanted}"
    for key, value in condition.items():
        if report["condition"][key] != value:
            yield f"{key} is {report['condition'][key]}, wanted {value}"
    if pieces != ANY and report["pieces"] != pieces:
        yield f"{report['pieces']} pieces, wanted {pieces}"
    hulls = hull_volume(folder)
    if not near(hulls, report["hull_volume"]):
        yield f"the written hulls have volume {hulls}, the report says {report['hull_volume']}"
    if exact and not near(hulls, report["mesh_volume"]):
        yield f"hulls of volume {hulls} for a convex part of {report['mesh_volume']}"
    if not all(report["guarantees"].values()) or report["largest_miss"] > 1e-6:
        yield f"guarantees {report['guarantees']}, miss {report['largest_miss']}"
    if (folder / "hulls.png").stat().st_size < 1000:
        yield "no picture"


def check_blocks(path, folder):
    """Even blocks, where the surface turns inside out half way: what is inside out has blocks too."""
    code, said = run(path, folder, "--grid", "4,4,4")
    if code != 0 or said:
        yield f"exit {code}, wanted 0 and no word: {said}"


def check_place(path, folder, factor, shift):
    """A U of volume 2.5 in another unit, elsewhere: volume, number of hulls and condition are the same."""
    points, faces = read_obj(path)
    moved = folder / "moved.obj"
    folder.mkdir()
    with moved.open("w") as out:
        for p in points:
            out.write("v " + " ".join(repr(factor * c + shift * (k + 1)) for k, c in enumerate(p)) + "\n")
        for face in faces:
            out.write("f " + " ".join(str(i + 1) for i in face) + "\n")
    yield from check_mended(moved, folder / "moved", 2.5 * factor**3, {"components": 1, "joined_points": 0}, 1, False)
    count = json.loads((folder / "moved" / "report.json").read_text())["hulls"]
    if count != 3:
        yield f"{count} hulls, a U is three bars"


def main():
    data = pathlib.Path(sys.argv[1])
    cases = {path.stem: path for path in sorted(data.glob("*.obj"))}
    passed = failed = 0
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        checks = [(name, check_refused(cases[name], work / name, words)) for name, words in REFUSED.items()]
        checks += [(name, check_mended(cases[name], work / name, *wanted)) for name, wanted in MENDED.items()]
        checks += [(f"concave_ngon times {f:g} plus {s:g}", check_place(cases["concave_ngon"], work / f"place{k}", f, s))
                   for k, (f, s) in enumerate(PLACES)]
        checks += [("self_crossing_tube in blocks", check_blocks(cases["self_crossing_tube"], work / "blocks"))]
        checks += [(name, iter(["no expectation is stated for it"])) for name in cases
                   if name not in REFUSED and name not in MENDED]
        for name, problems in checks:
            problems = list(problems)
            passed, failed = passed + (not problems), failed + bool(problems)
            print("FAIL" if problems else "ok  ", name, *problems, sep="  ", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
