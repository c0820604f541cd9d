#!/usr/bin/env python3
"""One table of a sweep: inputs, results and timings of every row, from its summary.json.

    scripts/collect.py [--no-timings] [--columns LIST] [--last FILE:COLUMN]... DIR
    scripts/collect.py --series FILE:X:COLUMN [--columns LIST] DIR

DIR is a folder of scripts/sweep.sh. Prints a CSV: row, status, exit_code, the study's columns, the results, and last
the timings, which alone differ from one sweep to the next. --last adds the last value of a column of a CSV in the run's
folder: --last trajectory.csv:box/px. --columns keeps those that one of the shell patterns between commas fits, in the
order of the patterns: --columns 'row,contact.*,*/px'. --series prints the whole of two columns of such a CSV instead, those
of one run below those of the other: --series trajectory.csv:time:box/px. Rows stand in the study's order, whatever the order of the runs.

status   done         exit code 0
         failed       another one: the solver failed (4), or the run was refused (no summary; see DIR/<row>/log)
         interrupted  stopped by a signal
         missing      not run, or killed before its summary was written
Rows that are not done are named on standard error, and the exit code is 1. Rows that ran with different versions of a file
(sweep.sh --keep) are named too.
"""
import argparse
import csv
import fnmatch
import json
import os
import sys

from sweep_inputs import inputs_of

TIMINGS = ("wall_time", "seconds", "real_time_factor", "peak_memory_bytes")
# What a run was given, not what it gave: the study's own columns say it.
LEFT_OUT = ("working_folder", "inputs", "overrides", "threads", "shared_vertices", "exit_code", "result.exit_code",
            "program.name", "program.compiler", "program.libraries", "program.build_flags")
EXIT_INTERRUPTED = 130


def flatten(value, path, out):
    """Numbers and texts by their dotted path, in the file's order; lists by number."""
    if path in LEFT_OUT:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            flatten(item, f"{path}.{key}" if path else key, out)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            flatten(item, f"{path}.{number}", out)
    else:
        out[path] = value


def read_summary(folder):
    try:
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            # Numbers stay the text that the program wrote.
            return json.load(file, parse_float=str, parse_int=str)
    except (OSError, ValueError):
        return None


def read_exit(folder):
    try:
        with open(os.path.join(folder, "exit"), encoding="utf-8") as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def status_of(summary, folder):
    """status and exit code; what the program wrote counts more than what the shell saw."""
    if summary is not None:
        code = int(summary.get("exit_code", summary.get("result", {}).get("exit_code", -1)))
        return {0: "done", EXIT_INTERRUPTED: "interrupted"}.get(code, "failed"), code
    code = read_exit(folder)
    if code is None or code > 128:
        return "missing", ""
    return "failed", code


def last_value(folder, file_name, column):
    try:
        with open(os.path.join(folder, file_name), encoding="utf-8", newline="") as file:
            last = None
            for last in csv.DictReader(file):
                pass
    except OSError:
        return ""
    if last is not None and column not in last:
        raise LookupError(f"{folder}/{file_name}: no column '{column}'")
    return (last or {}).get(column, "")


def text(value):
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def is_timing(path):
    return path.split(".")[0] in TIMINGS


def collect_row(folder, inputs, lasts):
    """The head (row, status, exit code, inputs), results and timings by name."""
    run = os.path.join(folder, inputs["row"])
    summary = read_summary(run)
    status, code = status_of(summary, run)
    head = {"row": inputs["row"], "status": status, "exit_code": code}
    head.update((path, value) for path, value in inputs.items() if path != "row")
    values = {}
    flatten(summary or {}, "", values)
    for file_name, column in lasts:
        values[f"{file_name}:{column}"] = last_value(run, file_name, column) if summary else ""
    # A failure is one empty cell or several full ones.
    if "failure" in values or "result.failure" in values:
        values.pop("failure", None)
        values.pop("result.failure", None)
    return head, values


def study_rows(folder):
    """Name and inputs of each row, and the inputs' names."""
    with open(os.path.join(folder, "study.csv"), encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        return list(reader), reader.fieldnames[1:]


def collect(folder, lasts):
    inputs, paths = study_rows(folder)
    return ["row", "status", "exit_code"] + paths, [collect_row(folder, row, lasts) for row in inputs]


def series(folder, wanted):
    """Rows of a table of two columns of all runs' files, with row and inputs of each; and the runs without such a file."""
    file_name, *names = wanted
    rows, runs_without = [], []
    for inputs in study_rows(folder)[0]:
        try:
            with open(os.path.join(folder, inputs["row"], file_name), encoding="utf-8", newline="") as file:
                for line in csv.DictReader(file):
                    missing = [name for name in names if name not in line]
                    if missing:
                        raise LookupError(f"{file.name}: no column '{missing[0]}'")
                    rows.append((inputs, {name: line[name] for name in names}))
        except FileNotFoundError:
            runs_without.append(inputs["row"])
    if runs_without:
        print(f"collect.py: no {file_name} in rows {' '.join(runs_without)}", file=sys.stderr)
    return rows, runs_without


def choose(names, patterns):
    """Names that fit, by pattern, each once; without patterns all."""
    if not patterns:
        return names
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            raise LookupError(f"no column fits '{pattern}'")
    return list(dict.fromkeys(name for pattern in patterns for name in names if fnmatch.fnmatchcase(name, pattern)))


def write_table(out, columns, rows, timings, patterns):
    # A column that only some rows have stands where the first of them has it; what the study sets is told once.
    names = list(dict.fromkeys(name for _, values in rows for name in values if name not in columns))
    results = [name for name in names if not is_timing(name)]
    times = [name for name in names if is_timing(name)] if timings else []
    shown = choose(columns + results + times, patterns)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(shown)
    for head, values in rows:
        row = {**values, **head}
        writer.writerow([text(row.get(name)) for name in shown])


def name_unfinished(rows):
    """Tell what is not done; True when there is such a row."""
    found = False
    for status in ("failed", "interrupted", "missing"):
        names = [head["row"] for head, _ in rows if head["status"] == status]
        if names:
            found = True
            print(f"collect.py: {len(names)} of {len(rows)} rows {status}: {' '.join(names)}", file=sys.stderr)
    return found


def name_versions(folder, rows):
    """Tell which rows ran with another version of a file than the first row that read it."""
    first, others = {}, {}
    for head, _ in rows:
        for told, path, digest in inputs_of(os.path.join(folder, head["row"])):
            if first.setdefault(path, digest) != digest:
                others.setdefault(told, []).append(head["row"])
    for told, names in others.items():
        print(f"collect.py: rows ran with another version of {told} than those before: {' '.join(names)}", file=sys.stderr)


def file_and_column(word):
    file_name, colon, column = word.partition(":")
    if not colon or not file_name or not column:
        raise argparse.ArgumentTypeError(f"'{word}' is not FILE:COLUMN")
    return file_name, column


def file_and_two(word):
    parts = tuple(word.split(":"))
    if len(parts) != 3 or not all(parts):
        raise argparse.ArgumentTypeError(f"'{word}' is not FILE:X:COLUMN")
    return parts


def print_series(arguments):
    rows, missing = series(arguments.folder, arguments.series)
    columns = ["row"] + study_rows(arguments.folder)[1]
    write_table(sys.stdout, columns, rows, True, arguments.columns)
    return 1 if missing else 0


def print_results(arguments):
    columns, rows = collect(arguments.folder, arguments.last)
    write_table(sys.stdout, columns, rows, not arguments.no_timings, arguments.columns)
    name_versions(arguments.folder, rows)
    return 1 if name_unfinished(rows) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument("--no-timings", action="store_true", help="leave out the columns of timings")
    parser.add_argument("--columns", metavar="LIST", type=lambda word: word.split(","))
    parser.add_argument("--last", metavar="FILE:COLUMN", action="append", default=[], type=file_and_column)
    parser.add_argument("--series", metavar="FILE:X:COLUMN", type=file_and_two)
    arguments = parser.parse_args()
    try:
        return print_series(arguments) if arguments.series else print_results(arguments)
    except OSError as error:
        print(f"collect.py: error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 5
    except LookupError as error:
        print(f"collect.py: error: {error}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
