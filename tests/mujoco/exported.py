"""For designs.py and search.py: exported files with another time step, and the controls of a gripper that MuJoCo 2.2.2 gives a weight."""
import csv
import re

STEP = 0.001  # of exported files [s]
WEIGHT, GAIN = 9.81 * 1.0, 200.0  # of single-jaw's gripper [N], of the controller of its height [N/m]


def at_step(text, step):
    """The file for another time step [s]: rotors that stand for rate gains go with it (docs/export.md)."""
    text = re.sub(r'\barmature="([^"]*)"', lambda found: f'armature="{float(found[1]) * step / STEP!r}"', text)
    return re.sub(r'\btimestep="[^"]*"', f'timestep="{step!r}"', text, count=1)


def with_weight(path):
    """Controls of single-jaw whose target of the height bears the weight that gravity compensation bears here; in place."""
    with open(path, encoding="utf-8") as file:
        rows = list(csv.reader(file))
    at = rows[0].index("gripper/z")
    for row in rows[1:]:
        row[at] = repr(float(row[at]) + WEIGHT / GAIN)
    with open(path, "w", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
