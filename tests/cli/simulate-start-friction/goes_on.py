"""Prints a line a law: in how many cases the rest was the whole's, and in how many of these bodies rubbed in the first step."""
import csv
import os
import subprocess

SCENE = """
simulation: {{dt: 0.001, steps: 8, integrator: {integrator}, substeps: {substeps}}}
contact: {{model: {law}, friction: 0.3{more}}}
shapes: {{body: {shape}}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}}}
  - {{name: low, shape: body, mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0], position: [0, 0, {low}]}}
  - {{name: top, shape: body, mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0], position: [0.01, 0, {top}]}}
initial:
  - {{link: low, velocities: [1, 0, 0, 0, 0, 0.5]}}
"""
BOX = "{type: box, size: [0.2, 0.2, 0.2]}"
LAWS = (("separating_plane", BOX, 0.10015, 0.30055, ", rolling: 0.001"), ("separating_plane", BOX, 0.10015, 0.30055, ", restitution: 0.5"),
        ("long_range", BOX, 0.1003, 0.301, ""), ("ipc", BOX, 0.1002, 0.3007, ""),
        ("penalty", "{type: superellipsoid, size: [0.1, 0.1, 0.1], exponent: 1.2}", 0.0995, 0.2985, ""),
        ("manifold", "{type: superquadric, size: [0.1, 0.1, 0.1], exponents: [0.5, 0.5]}", 0.0995, 0.2985, ""))


def simulate(out, *settings):
    sets = [word for setting in settings for word in ("--set", setting)]
    subprocess.run(["sdrs", "simulate", "scene.yaml", "-q", "-o", out, *sets], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def rows(folder, name):
    with open(os.path.join(folder, name), encoding="ascii") as file:
        return list(csv.reader(file))[1:]


def same_rest(steps):
    for name in ("trajectory.csv", "joints.csv", "solver.csv"):
        if rows("whole", name)[steps - 8:] != rows("rest", name)[steps - 8:]:
            return False
    begin = float(rows("first", "trajectory.csv")[-1][0])
    later = [[row for row in rows(folder, "contacts.csv") if float(row[0]) > begin] for folder in ("whole", "rest")]
    return later[0] == later[1]


# The short form takes one integrator with each law, and one of both numbers of substeps.
for number, (law, shape, low, top, more) in enumerate(LAWS):
    same = rubbing = cases = 0
    for k, integrator in enumerate(("first_order", "second_order", "momentum")):
        if "SDRS_LONG" not in os.environ and (number + k) % 3:
            continue
        for substeps in (1, 3) if "SDRS_LONG" in os.environ else ((1, 3)[number % 2],):
            with open("scene.yaml", "w", encoding="ascii") as file:
                file.write(SCENE.format(law=law, shape=shape, low=low, top=top, more=more, integrator=integrator, substeps=substeps))
            simulate("whole")
            rubbing += any(float(row[0]) < 0.0015 and abs(float(row[4])) > 0.1 for row in rows("whole", "contacts.csv"))
            for steps in (1, 2):
                simulate("first", f"simulation.steps={steps}")
                simulate("rest", f"simulation.steps={8 - steps}", "start={run: first}")
                same += same_rest(steps)
                cases += 1
    goes_on = "all" if same == cases else f"{same} of {cases}"
    rub = "all" if 2 * rubbing == cases else f"{rubbing} of {cases // 2}"
    print(f"{law}{more}: {goes_on} go on as the whole, {rub} rub at first")
