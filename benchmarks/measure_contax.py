#!/usr/bin/env python3
"""Writes benchmarks/results/contax.csv (Figs. 5, 6, 7 of the contact manifold paper) and docs/pictures/contax-times.png.

    make && benchmarks/measure_contax.py MESH [--sdrs ./sdrs] [--work out/contax]

MESH: an armadillo (../shared/data/real/armadillo_5k.obj), which `sdrs decompose` makes 18 superquadrics of; a body of n parts is its
first n. Fig. 5 is judged by closed forms: two cubes of 1 m, one 20 mm in the other and turned by 30 degrees about the
vertical. Times are processor times of one thread.
"""

import argparse
import csv
import io
import json
import math
import os
import subprocess

OVERLAP = 0.02
TURN = math.radians(30)
ACTIVE = 0.05


def write_cube(path, cells):
    """A cube of 1 m, its faces in so many cells both ways: 6 n^2 + 2 vertices, 12 n^2 triangles."""
    number, lines, faces = {}, [], []

    def corner(point):
        if point not in number:
            number[point] = len(number) + 1
            lines.append("v " + " ".join(str(c / cells - 0.5) for c in point))
        return number[point]

    for axis in range(3):
        for side in (0, cells):
            for i in range(cells):
                for k in range(cells):
                    square = []
                    for u, v in ((i, k), (i + 1, k), (i + 1, k + 1), (i, k + 1)):
                        point = [0, 0, 0]
                        point[axis], point[(axis + 1) % 3], point[(axis + 2) % 3] = side, u, v
                        square.append(corner(tuple(point)))
                    square = square if side else square[::-1]
                    faces += [square[:3], [square[0], square[2], square[3]]]
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines + ["f " + " ".join(map(str, f)) for f in faces]) + "\n")


def boxes(options, cells):
    """Contacts of the upper cube (a) on the lower (b)."""
    path = os.path.join(options.work, f"cube-{cells}.obj")
    write_cube(path, cells)
    mesh = {"type": "mesh", "file": os.path.abspath(path), "smoothing": 1e-3}
    question = {"method": "manifold", "smoothing": 2e-3, "edges": 12, "b": mesh,
                "a": dict(mesh, position=[0, 0, 1 - OVERLAP],
                          quaternion=[math.cos(TURN / 2), 0, 0, math.sin(TURN / 2)])}
    name = os.path.join(options.work, "boxes.jsonl")
    with open(name, "w", encoding="ascii") as file:
        json.dump(question, file)
    told = subprocess.run([options.sdrs, "query", name], capture_output=True, text=True, check=True).stdout
    return json.loads(told)["contacts"]


def expected_vertices(cells):
    """Vertices of the upper cube's lower face that are over the lower cube."""
    count = 0
    for i in range(cells + 1):
        for k in range(cells + 1):
            x, y = i / cells - 0.5, k / cells - 0.5
            u, v = x * math.cos(TURN) - y * math.sin(TURN), x * math.sin(TURN) + y * math.cos(TURN)
            count += abs(u) < 0.5 and abs(v) < 0.5
    return count


def fig_5(options):
    """Kind, contacts, those that count and how many there are by geometry (edges of two squares cross in 8 places), and
    how far their normals and distances are from straight down and the overlap."""
    rows = []
    for kind, cells, expected in (("edge_a", 1, 8), ("vertex_a", 4, expected_vertices(4))):
        contacts = [c for c in boxes(options, cells) if c["kind"] == kind]
        # vertices are always active: those that touch have a negative distance
        active = [c for c in contacts if c["activity"] > ACTIVE and c["distance"] < 0]
        tilt = max((math.degrees(math.acos(min(1, -c["normal"][2]))) for c in active), default=0)
        off = max((abs(c["distance"] + OVERLAP) for c in active), default=0)
        rows.append([kind, len(contacts), len(active), expected, f"{tilt:.2g}", f"{off:.2g}"])
    return rows


def times(options, mesh):
    folder = os.path.join(options.work, "armadillo")
    if not os.path.exists(os.path.join(folder, "query.json")):
        subprocess.run([options.sdrs, "decompose", mesh, "--primitives", "superquadric", "--max", "18", "--no-picture",
                        "-q", "-o", folder], check=False, stdout=subprocess.DEVNULL)
    body = json.load(open(os.path.join(folder, "query.json"), encoding="ascii"))["a"]
    given = f"{body['smoothing']}\n"
    for part in body["of"]:
        given += " ".join(str(x) for x in part["size"] + part["exponents"] + part["position"] + part["quaternion"]) + "\n"
    program = os.path.join(options.work, "times")
    subprocess.run(["gcc", "-std=c17", "-D_GNU_SOURCE", "-O3", "-march=native", "-Wno-psabi", "-fopenmp", "-Isrc",
                    "benchmarks/contax_times.c", "out/build/release/libsdrs.a", "-o", program, "-lyaml", "-lcjson", "-lexpat",
                    "-lz", "-lzip", "-lqhull_r", "-lglpk", "-lamd", "-lsleef", "-lm"], check=True)
    return subprocess.run([program], input=given, capture_output=True, text=True, check=True).stdout


def draw(table):
    rows = list(csv.DictReader(io.StringIO(table)))

    def points(figure, column, what=None):
        return "\n".join(f"{r['number']} {r[column]}" for r in rows
                         if r["figure"] == figure and (what is None or r["what"] == what))

    blocks = {"parts": points("7a", "us"), "slopes": points("7a", "us_with_derivatives"), "edges": points("6", "us"),
              "few": points("7b", "us", "queries of 5 parts"), "all": points("7b", "us", "queries of 18 parts")}
    script = "set terminal pngcairo size 1300,400 font 'DejaVu Sans,11'; set output 'docs/pictures/contax-times.png'\n"
    script += "".join(f"${name} << EOD\n{lines}\nEOD\n" for name, lines in blocks.items())
    script += """set multiplot layout 1,3; set grid; set logscale y; set ylabel 'time of a query [us]'; set key bottom right
set xlabel 'superquadrics of each body'
plot $parts using 1:2 with linespoints lw 2 title 'values', $slopes using 1:2 with linespoints lw 2 title 'with derivatives'
set logscale x; set xlabel 'edges of each body'
plot $edges using 1:2 with linespoints lw 2 title '18 superquadrics'
set xlabel 'queries at a time'
plot $few using 1:2 with linespoints lw 2 title '5 superquadrics', $all using 1:2 with linespoints lw 2 title '18'
unset multiplot
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mesh")
    parser.add_argument("--sdrs", default="./sdrs")
    parser.add_argument("--work", default="out/contax")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    with open("benchmarks/results/contax-boxes.csv", "w", encoding="ascii") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [["kind", "contacts", "active", "by_geometry", "tilt_degrees", "distance_off_m"]] + fig_5(options))
    table = times(options, options.mesh)
    with open("benchmarks/results/contax.csv", "w", encoding="ascii") as file:
        file.write(table)
    draw(table)


if __name__ == "__main__":
    main()
