"""Changes the account of friction in contacts.csv in one way after the other: `name: exit code, the first error`."""
import csv
import os
import shutil
import subprocess
import sys

RUN, PLACE = sys.argv[1], "damaged"
with open(os.path.join(RUN, "contacts.csv"), encoding="utf-8") as file:
    HEAD, *ROWS = list(csv.reader(file))
FX, LOAD, OWED, LOST = (HEAD.index(name) for name in ("fx", "friction_load", "friction_owed", "friction_lost"))
CUBE = [k for k, row in enumerate(ROWS) if row[2] == "cube"]
LANDING = max(CUBE, key=lambda k: abs(float(ROWS[k][FX])))  # friction is largest
NEXT = CUBE[CUBE.index(LANDING) + 1]


def add(rows, row, column, step):
    rows[row][column] = repr(float(rows[row][column]) + step)


def more_load(rows):
    add(rows, LANDING, LOAD, 1)


def less_owed(rows):
    add(rows, LANDING, OWED, -1)


def load_that_is_owed(rows):
    """The account of this row holds, that of the next one does not."""
    add(rows, LANDING, LOAD, 1)
    add(rows, LANDING, OWED, -1)


def debt_forgiven(rows):
    add(rows, LANDING, LOST, 1)


def more_friction(rows):
    add(rows, LANDING, FX, 0.01 * float(rows[LANDING][FX]))


def load_paid_later(rows):
    """The account holds, and friction of the landing exceeds what limits it."""
    add(rows, LANDING, LOAD, -10)
    add(rows, LANDING, OWED, 10)
    add(rows, NEXT, LOAD, 10)


def friction_without_load(rows):
    for row in (LANDING, NEXT):
        rows[row][LOAD] = "0"


def not_a_number(rows):
    rows[LANDING][LOAD] = "nan"


def columns_removed(rows):
    """Without the columns the looser bound of older runs holds."""
    for row in rows:
        del row[LOAD:]


def run(name, change):
    shutil.rmtree(PLACE, ignore_errors=True)
    shutil.copytree(RUN, PLACE)
    rows = [list(row) for row in ROWS]
    change(rows)
    head = HEAD[: len(rows[0])]
    with open(os.path.join(PLACE, "contacts.csv"), "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head] + rows)
    done = subprocess.run(["sdrs", "certify", PLACE], capture_output=True, text=True, check=False)
    first = (done.stderr + done.stdout).strip().splitlines()[0]
    print(f"{name}: {done.returncode}, {first.split(': ', 2)[-1]}")


for one in (more_load, less_owed, load_that_is_owed, debt_forgiven, more_friction, load_paid_later, friction_without_load,
            not_a_number, columns_removed):
    run(one.__name__, one)
