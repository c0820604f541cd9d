"""Damages a run in one way after the other and prints what certify says: `name: exit code, file of the first error`."""
import csv
import json
import os
import shutil
import subprocess
import sys

RUN, PLACE = sys.argv[1], "damaged"
STATES = ["trajectory.csv", "joints.csv"]


class Run:
    """The files of a run as lists of texts."""

    def __init__(self):
        self.tables = {}
        for name in STATES + ["solver.csv", "contacts.csv", "path.csv"]:
            with open(os.path.join(RUN, name), encoding="utf-8") as file:
                self.tables[name] = list(csv.reader(file))
        with open(os.path.join(RUN, "summary.json"), encoding="utf-8") as file:
            self.summary = json.load(file)

    def column(self, name, column):
        return self.tables[name][0].index(column)

    def rows(self, name):
        return self.tables[name][1:]

    def add(self, name, row, column, step, factor=1.0):
        """Row 0 is the first after the header."""
        cells, k = self.tables[name][row + 1], self.column(name, column)
        cells[k] = repr(factor * float(cells[k]) + step)

    def put(self, name, row, column, text):
        """Rows as of add; -1 is the header."""
        self.tables[name][row + 1][self.column(name, column)] = text

    def write(self):
        shutil.rmtree(PLACE, ignore_errors=True)
        os.makedirs(PLACE)
        for name, rows in self.tables.items():
            if rows is not None:
                with open(os.path.join(PLACE, name), "w", encoding="utf-8", newline="") as file:
                    csv.writer(file, lineterminator="\n").writerows(rows)
        with open(os.path.join(PLACE, "summary.json"), "w", encoding="utf-8") as file:
            json.dump(self.summary, file)


def retime(run, change, names=("trajectory.csv", "joints.csv", "solver.csv", "contacts.csv", "path.csv")):
    for name in names:
        k = run.column(name, "time")
        for row in run.rows(name):
            row[k] = repr(change(float(row[k])))


def reversed_times(run):
    retime(run, lambda t: 0.6 - t)


def zero_times(run):
    retime(run, lambda t: 0.0)


def scaled_times(run):
    retime(run, lambda t: 2 * t)


def shifted_times(run):
    retime(run, lambda t: t + 1e-9)


def reversed_states(run):
    for name in STATES:
        times, rows = [row[0] for row in run.rows(name)], run.rows(name)[::-1]
        run.tables[name][1:] = [[time] + row[1:] for time, row in zip(times, rows)]


def deleted_state(run):
    for name in STATES:
        del run.tables[name][31]


def deleted_step_everywhere(run):
    """One step is cut out, and all files and times are made to fit."""
    for name in STATES:
        del run.tables[name][31]
        for row, cells in enumerate(run.rows(name)):
            cells[0] = repr(row * 0.01)
    del run.tables["solver.csv"][30]
    for row, cells in enumerate(run.rows("solver.csv")):
        cells[0], cells[1] = str(row + 1), repr((row + 1) * 0.01)
    for name in ("contacts.csv", "path.csv"):
        kept = [row for row in run.rows(name) if abs(float(row[0]) - 0.3) > 1e-6]
        for row in kept:
            step = round(float(row[0]) / 0.01)
            row[0] = repr((step - (step > 30)) * 0.01)
        run.tables[name][1:] = kept
    run.summary["result"]["steps"] = 59


def duplicated_state(run):
    for name in STATES:
        run.tables[name].insert(31, list(run.tables[name][31]))


def swapped_states(run):
    for name in STATES:
        a, b = run.tables[name][20], run.tables[name][40]
        a[1:], b[1:] = b[1:], a[1:]


def swapped_everywhere(run):
    """Steps 30 and 31 change places in every file."""
    swapped_states_of(run, 30, 31)
    rows = run.tables["solver.csv"]
    rows[30][2:], rows[31][2:] = rows[31][2:], rows[30][2:]
    for name in ("contacts.csv", "path.csv"):
        times = {row[0] for row in run.rows(name)}
        first, second = repr(30 * 0.01), repr(31 * 0.01)
        for row in run.rows(name):
            row[0] = second if row[0] == first else first if row[0] == second else row[0]
        run.tables[name][1:] = sorted(run.rows(name), key=lambda row: float(row[0]))
        assert name == "path.csv" or {first, second} <= times


def swapped_states_of(run, one, other):
    for name in STATES:
        a, b = run.tables[name][one + 1], run.tables[name][other + 1]
        a[1:], b[1:] = b[1:], a[1:]


def short_run(run):
    for name in STATES + ["solver.csv"]:
        del run.tables[name][-5:]


def moved_body(run, row=30, size=1e-6):
    """Joint coordinate, pose and centre agree; the body was never there."""
    run.add("joints.csv", row, "far/x", size)
    run.add("trajectory.csv", row, "far/px", size)
    run.add("trajectory.csv", row, "far/cx", size)


def moved_start(run):
    moved_body(run, 0, 1e-3)


def joints_elsewhere(run):
    run.add("joints.csv", 30, "a/z", 1e-3)


def zero_quaternion(run):
    for name in ("qw", "qx", "qy", "qz"):
        run.add("trajectory.csv", 30, "a/" + name, 0, 0)


def long_quaternion(run):
    for name in ("qw", "qx", "qy", "qz"):
        run.add("trajectory.csv", 30, "a/" + name, 0, 1.001)


def long_joint_quaternion(run):
    for name in ("qw", "qx", "qy", "qz"):
        run.add("joints.csv", 30, "a/" + name, 0, 1.001)


def turned_sign(run):
    for name in ("qw", "qx", "qy", "qz"):
        run.add("trajectory.csv", 30, "a/" + name, 0, -1)


def false_centre(run):
    run.add("trajectory.csv", 30, "b/cy", 1e-6)


def false_gap(run):
    run.add("contacts.csv", 20, "gap", 1e-7)


def false_force(run):
    run.add("contacts.csv", 20, "fz", 0, 1.01)


def contact_removed(run):
    del run.tables["contacts.csv"][20]


def contact_invented(run):
    rows = run.tables["contacts.csv"]
    rows.insert(1, [rows[1][0], "ground", "far", "0.001", "0", "0", "5"])


def contact_between_others(run):
    run.tables["contacts.csv"][20][2] = "far"


def contact_later(run):
    run.add("contacts.csv", 20, "time", 0.005)


def contacts_swapped(run):
    rows = run.tables["contacts.csv"]
    rows[1], rows[-1] = rows[-1], rows[1]


def no_contacts(run):
    del run.tables["contacts.csv"][1:]


def false_smallest_gap(run):
    run.add("solver.csv", 40, "smallest_gap", 1e-6)


def false_kinetic(run):
    run.add("solver.csv", 40, "kinetic", 0, 1.000001)


def false_potential(run):
    run.add("solver.csv", 40, "potential", 0, 1.000001)


def false_momentum(run):
    run.add("solver.csv", 40, "py", 1e-6)


def false_angular_momentum(run):
    run.add("solver.csv", 40, "lz", 1e-6)


def false_total(run):
    run.add("solver.csv", 40, "total", 0, 1.000001)


def no_total(run):
    run.put("solver.csv", 40, "total", "nan")


def no_limit_energy(run):
    run.put("solver.csv", 40, "limit", "nan")


def half_a_round(run):
    run.add("solver.csv", 40, "iterations", 0.5)


def false_outcome(run):
    run.put("solver.csv", 40, "outcome", "blocked")


def renamed_momentum(run):
    run.put("solver.csv", -1, "lz", "l")


def renamed_centre(run):
    run.put("trajectory.csv", -1, "b/cz", "b/c")


def false_step(run):
    run.add("solver.csv", 40, "step", 1)


def false_summary_gap(run):
    run.summary["result"]["smallest_gap"] *= 0.9


def false_summary_steps(run):
    run.summary["result"]["steps"] = 61


def move_changed(run):
    run.add("path.csv", 0, "a/x", 1e-6)


def move_removed(run):
    del run.tables["path.csv"][1]


def move_too_late(run):
    run.add("path.csv", len(run.rows("path.csv")) - 1, "time", 5)


def not_a_number(run):
    run.tables["contacts.csv"][5][5] = "nan"


def unknown_link(run):
    run.tables["contacts.csv"][5][2] = "nobody"


def no_steps_in_summary(run):
    del run.summary["result"]["steps"]


def no_contacts_file(run):
    run.tables["contacts.csv"] = None


def untouched(run):
    del run


DAMAGES = [untouched, reversed_times, zero_times, scaled_times, shifted_times, reversed_states, deleted_state,
           deleted_step_everywhere, duplicated_state, swapped_states, swapped_everywhere, short_run, moved_body,
           moved_start, joints_elsewhere, zero_quaternion, long_quaternion, long_joint_quaternion, turned_sign,
           false_centre, false_gap, false_force, contact_removed, contact_invented, contact_between_others,
           contact_later, contacts_swapped, no_contacts, false_smallest_gap, false_kinetic, false_potential,
           false_momentum, false_angular_momentum, false_total, no_total, no_limit_energy, half_a_round, false_outcome,
           renamed_momentum, renamed_centre, false_step, false_summary_gap, false_summary_steps, move_changed,
           move_removed, move_too_late, not_a_number, unknown_link, no_steps_in_summary, no_contacts_file]

for damage in DAMAGES:
    damaged = Run()
    damage(damaged)
    damaged.write()
    result = subprocess.run(["sdrs", "certify", PLACE], capture_output=True, text=True, check=False)
    first = result.stderr.split("\n", 1)[0].removeprefix(PLACE + "/")
    if len(sys.argv) > 2:
        print(damage.__name__, result.returncode, first)
    else:
        print(f"{damage.__name__}: {result.returncode}, {first.split(':', 1)[0] or 'nothing'}")
