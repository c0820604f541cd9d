#!/usr/bin/env python3
"""SDRS Fig. 23: the original and the optimized design, each under a controller found without gradients in MuJoCo, with the same budget.

    tests/mujoco/search.py SDRS MUJOCO_SEARCH WORK_FOLDER [-o RESULTS] CASE=SEEDSxRUNS[@FIRST_SEED]...

WORK_FOLDER has the runs of tests/mujoco/designs.py. Each design's first and best scene is exported; CMA-ES (mujoco_search.c) seeks eight
to twelve numbers from the task's own gait or path: phases of the gait (-free: frequency, amplitudes, offsets and phases), or by how much the
board leaves its path. Prints the best cost of every seed, mean and spread; with -o the mean
over time goes to RESULTS/search-CASE.csv with a diagram, and all ends to RESULTS/search.csv."""
import csv
import os
import statistics
import subprocess
import sys

from exported import at_step

SDRS, SEARCH, WORK = sys.argv[1:4]
STEP = 0.002  # of MuJoCo [s]
LEGS = 0, 1, 2, 3
PI = 3.141593


def spider():
    """The phases of all joints within 0.5 rad, which is what the task may change (of the first of four sines)."""
    lines = ["parameter frequency 1 1 1 1"] + [f"parameter phase{k} 0 0.15 -0.5 0.5" for k in range(12)]
    for leg in LEGS:
        hip, lift, knee = (0, PI, PI, 0)[leg], (PI / 2, 3 * PI / 2)[leg % 2], (0, 0, PI, PI)[leg]
        first = 1 + 3 * leg
        lines += [f"sine upper{leg}/angle1 0 -1 0.4 -1 {hip} {first}", f"sine upper{leg}/angle2 0 -1 0.06 -1 {lift} {first + 1}",
                  f"sine lower{leg}/angle 0 -1 0.2 -1 {knee} {first + 2}"]
    return lines + ["walk body 0.9659258 0 0.2588190"]


def biped():
    """The same of the biped: eight phases."""
    lines = ["parameter frequency 1 1 1 1"] + [f"parameter phase{k} 0 0.15 -0.5 0.5" for k in range(8)]
    for side, phase, first in (("left", 0, 1), ("right", PI, 5)):
        thigh = f"{side}_thigh/rotation"
        lines += [f"sine {thigh}/x 0 -1 0.2 -1 {phase} {first}", f"sine {thigh}/y 0 -1 0.005 -1 {PI / 2} {first + 1}",
                  f"sine {thigh}/z 0 -1 0.005 -1 0 {first + 2}", f"sine {side}_shank/angle -0.22 -1 0.2 -1 {phase + 4.412} {first + 3}"]
    return lines + ["walk trunk 0 1 0"]


def spider_free():
    """Frequency and amplitudes too, of a gait that is alike on all legs."""
    lines = ["parameter frequency 1 0.1 0.5 1.5", "parameter hip 0.4 0.1 0 0.8", "parameter lift 0.06 0.03 0 0.3", "parameter lift_phase 1.5708 0.3 -1.5 4.5",
             "parameter lift_offset 0 0.05 -0.3 0.3", "parameter front_knee 0.2 0.05 -0.5 0.5", "parameter rear_knee 0.2 0.05 -0.5 0.5",
             "parameter front_phase 0 0.3 -3 3", "parameter rear_phase 0 0.3 -3 3", "parameter knee_offset 0 0.05 -0.3 0.3"]
    for leg in LEGS:
        hip, lift, knee = (0, PI, PI, 0)[leg], (0, PI, 0, PI)[leg], (0, 0, PI, PI)[leg]
        front = leg in (0, 3)
        lines += [f"sine upper{leg}/angle1 0 -1 1 1 {hip} -1", f"sine upper{leg}/angle2 0 4 1 2 {lift} 3",
                  f"sine lower{leg}/angle 0 9 1 {5 if front else 6} {knee} {7 if front else 8}"]
    return lines + ["walk body 0.9659258 0 0.2588190"]


def biped_free():
    lines = ["parameter frequency 1 0.1 0.5 1.5", "parameter hip 0.2 0.05 0 0.5", "parameter hip_offset 0 0.05 -0.3 0.3", "parameter knee 0.2 0.05 0 0.5",
             "parameter knee_offset -0.22 0.05 -0.7 0", "parameter knee_phase 4.412 0.3 2.5 6", "parameter roll 0.005 0.02 -0.1 0.1",
             "parameter roll_phase 1.571 0.5 -2 5", "parameter turn 0.005 0.02 -0.1 0.1", "parameter turn_phase 0 0.5 -3 3"]
    for side, phase in (("left", 0), ("right", PI)):
        thigh = f"{side}_thigh/rotation"
        lines += [f"sine {thigh}/x 0 2 1 1 {phase} -1", f"sine {thigh}/y 0 -1 1 6 {phase} 7", f"sine {thigh}/z 0 -1 1 8 {phase} 9",
                  f"sine {side}_shank/angle 0 4 1 3 {phase} 5"]
    return lines + ["walk trunk 0 1 0"]


def jaw():
    """Where the board comes to the handle, where it is while it turns, where it ends: x, height and pitch of each; how far aside."""
    lines = []
    for name, step in (("x", 0.01), ("z", 0.01), ("ry", 0.1)):
        lines += [f"parameter {stage}_{name} 0 {step} {-8 * step} {8 * step}" for stage in ("come", "turn", "end")]
    lines += ["parameter aside 0 0.01 -0.08 0.08"]
    times = "0.6 1.6 2 2.3", "2 2.3 2.9 3.3", "2.9 3.3 5 6"
    for k, name in enumerate(("gripper/x", "gripper/z", "gripper/rotation/y")):
        lines += [f"bump {name} {3 * k + stage} {times[stage]}" for stage in range(3)]
    return lines + ["bump gripper/y 9 0.6 1.6 5 6", "lift object"]


# Run folder of designs.py, controller, length [s], whether it moves along its path.
CASES = {"spider": (spider, 5.5, False), "spider-free": (spider_free, 5.5, False), "spider-held": (spider, 5.5, False),
         "spider-held-free": (spider_free, 5.5, False), "spider-gaits": (spider, 5.5, False), "spider-gaits-free": (spider_free, 5.5, False),
         "spider-heading": (spider, 5.5, False), "spider-heading-free": (spider_free, 5.5, False), "biped-held": (biped, 4.0, False),
         "biped-held-free": (biped_free, 4.0, False), "biped-free": (biped_free, 4.0, False), "single-jaw": (jaw, 4.8, True)}


def model(name, which):
    """The exported scene at the time step of the search, with its rotors (docs/export.md), and its controls."""
    path = os.path.join(WORK, f"{name}-{which}-search.xml")
    subprocess.run([SDRS, "export", os.path.join(WORK, name, which + ".scene.yaml"), "-q", "-o", path], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as file:
        text = at_step(file.read(), STEP)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path, path.replace(".xml", ".controls.csv")


def search(name, which, samples, seed):
    """{samples so far: best cost}, and the parameters."""
    controller, duration, along = CASES[name]
    path, controls = model(name.removesuffix("-free"), which)
    text = os.path.join(WORK, name + ".controller.txt")
    with open(text, "w", encoding="ascii") as file:
        file.write("\n".join(controller()) + "\n")
    done = subprocess.run([SEARCH, path, text, repr(duration), str(samples), str(seed)] + ([controls] if along else []), check=True,
                          capture_output=True, text=True).stdout.splitlines()
    return {int(line.split(",")[0]): float(line.split(",")[1]) for line in done[:-1]}, done[-1]


def write(results, name, courses):
    """Mean and spread (standard deviation) of the best reward (minus the cost) over the number of runs, and a diagram."""
    path = os.path.join(results, f"search-{name}.csv")
    with open(path, "w", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["samples", "original", "original_spread", "optimized", "optimized_spread"])
        for at in courses["initial"][0]:
            row = [at]
            for which in ("initial", "best"):
                values = [-course[at] for course in courses[which]]
                row += [f"{statistics.mean(values):.5f}", f"{statistics.stdev(values) if len(values) > 1 else 0:.5f}"]
            out.writerow(row)
    picture = os.path.join(results, "..", "pictures", f"search-{name}.png")
    curves = ", ".join(f"'{path}' using 1:(${2 + 2 * k}-${3 + 2 * k}):(${2 + 2 * k}+${3 + 2 * k}) with filledcurves fs transparent solid 0.2 lc {k + 1} notitle, "
                       f"'{path}' using 1:{2 + 2 * k} with lines lw 2 lc {k + 1} title '{word}'" for k, word in enumerate(("original design", "optimized design")))
    subprocess.run(["gnuplot", "-e", f"set terminal pngcairo size 560,380; set output '{picture}'; set datafile separator ','; set key bottom right; "
                    f"set grid; set xlabel 'runs in MuJoCo'; set ylabel 'best reward'; plot {curves}"], check=True)


def main():
    words, results = sys.argv[4:], None
    if words[:1] == ["-o"]:
        results, words = words[1], words[2:]
    ends = []
    for word in words:
        name, budget = word.split("=")
        budget, _, first = budget.partition("@")
        seeds, samples = (int(part) for part in budget.split("x"))
        numbers = range(int(first or 1), int(first or 1) + seeds)
        courses = {}
        for which in ("initial", "best"):
            found = [search(name, which, samples, seed) for seed in numbers]
            courses[which] = [course for course, _ in found]
            rewards = [-min(course.values()) for course in courses[which]]
            ends += [[name, {"initial": "original", "best": "optimized"}[which], seed, samples, f"{-course[0]:.4f}", f"{-min(course.values()):.4f}"]
                     for seed, course in zip(numbers, courses[which])]
            print(f"{name}, {which}: reward {-courses[which][0][0]:.3f} at the start, {statistics.mean(rewards):.3f} +- "
                  f"{statistics.stdev(rewards) if seeds > 1 else 0:.3f} ({' '.join(f'{r:.3f}' for r in rewards)}); {found[0][1]}", flush=True)
        if results:
            write(results, name, courses)
    if results:
        with open(os.path.join(results, "search.csv"), "w", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([["design", "version", "seed", "runs", "reward_at_start", "reward"]] + ends)


main()
