#!/usr/bin/env python3
"""What contact laws cost: one pair against its vertices, chains against their links (SDRS Figs. 8 and 9).

Usage: benchmarks/measure_laws.py [pair] [chains]     both without a word; the program is $SDRS (./sdrs)
Writes benchmarks/results/laws-pair.csv, laws-chains.csv and their plots docs/pictures/laws-*.png. Times are processor times of
one thread. Takes two minutes.
"""

import csv
import os
import pathlib
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SDRS = os.environ.get("SDRS", "./sdrs")
RESULTS, PICTURES = ROOT / "benchmarks/results", ROOT / "docs/pictures"
LAWS = ("separating_plane", "ipc")
LINKS = (4, 8, 16, 32, 64)
STEPS = 300


def run(*arguments):
    """Standard output and processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([SDRS, *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return out, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write(name, header, rows):
    with open(RESULTS / name, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    print(f"benchmarks/results/{name}")


def plot(name, *arguments):
    run("plot", f"benchmarks/results/{name}.csv", "--log", "--log-x", "--by", "law", *arguments, "-o", f"docs/pictures/{name}.png")


def pair():
    rows = []
    for law in LAWS:
        out, _ = run("bench", "pair", "--law", law)
        rows += [[r["law"], r["vertices"], r["contact_ns"], r["friction_ns"]] for r in csv.DictReader(out.splitlines())]
    write("laws-pair.csv", ["law", "vertices", "contact_ns", "friction_ns"], rows)
    plot("laws-pair", "--columns", "contact_ns,friction_ns", "--x", "vertices", "--title", "a pair of hulls",
         "--x-label", "vertices of either hull", "--y-label", "value, gradient, Hessian [ns]")


def chains():
    rows = []
    for law in LAWS:
        for links in LINKS:
            options = ["--set", f"contact.model={law}", "--set", f"links.chainlink.repeat.count.1={links - 1}", "--threads", "1"]
            _, none = run("bench", "step", "scenes/chains.yaml", *options, "--steps", "1")
            _, all_of_them = run("bench", "step", "scenes/chains.yaml", *options, "--steps", str(STEPS + 1))
            rows.append([law, links, f"{(all_of_them - none) / STEPS * 1e3:.3g}"])
            print(*rows[-1], flush=True)
    write("laws-chains.csv", ["law", "links", "step_ms"], rows)
    plot("laws-chains", "--columns", "step_ms", "--x", "links", "--title", "four whirled chains, 300 steps",
         "--x-label", "links of a chain", "--y-label", "a step [ms]")


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["pair", "chains"]
    for word in wanted:
        {"pair": pair, "chains": chains}[word]()
