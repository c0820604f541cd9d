#!/usr/bin/env python3
"""Draws docs/pictures/witness-margins.png and witness-steps.png from benchmarks/results/witness.csv by gnuplot: share of the
tasks below 1e-6 m^2 by margin and by step, as in Figs. 9 and 11 of the witness paper.

    scripts/plot_witness.py
"""

import csv
import subprocess

PICTURES = {
    "margins": ("margin", "margin [m]", "set logscale x; set xtics ('0' 1e-6, '1e-5' 1e-5, '1e-4' 1e-4, '1e-3' 1e-3, '1e-2' 1e-2)"),
    "steps": ("step", "first step [degrees, millimetres]", "set logscale x; set xtics (1, 2, 5, 10, 20, 50, 100)"),
}


def curves(table, word, bodies):
    """Name of a method -> rows of x and per cent."""
    out = {}
    for row in csv.DictReader(open("benchmarks/results/witness.csv", encoding="ascii")):
        if row["table"] != table or row["bodies"] != bodies:
            continue
        name, x = row["method"].split(f" {word} ")
        out.setdefault(name, []).append((max(float(x), 1e-6), float(row["below_1e-6_percent"])))
    return out


def draw(table):
    word, label, axis = PICTURES[table]
    script = [f"set terminal pngcairo size 1000,420 font 'DejaVu Sans,11'; set output 'docs/pictures/witness-{table}.png'",
              "set multiplot layout 1,2; set key outside below; set yrange [0:100]; set grid",
              f"{axis}; set xlabel '{label}'; set ylabel 'tasks below 1e-6 m^2 [%]'"]
    for bodies in ("convex", "concave"):
        found = curves(table, word, bodies)
        if not found:
            continue
        for k, rows in enumerate(found.values()):
            lines = "\n".join(f"{x} {percent}" for x, percent in rows)
            script.append(f"$own{k} << EOD\n{lines}\nEOD")
        parts = [f"$own{k} using 1:2 with linespoints lw 2 title '{name}'" for k, name in enumerate(found)]
        script.append(f"set title '{bodies}'; plot " + ", ".join(parts))
    subprocess.run(["gnuplot"], input="\n".join(script) + "\nunset multiplot\n", text=True, check=True)


if __name__ == "__main__":
    for name in PICTURES:
        draw(name)
