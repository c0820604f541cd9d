#!/usr/bin/env python3
"""Rows of a study, for scripts/sweep.sh.

    scripts/sweep_plan.py STUDY DIR -- COMMAND...

STUDY is a CSV whose header names paths of --set, one run a row (an empty cell leaves the file's own value), or a YAML map
of such paths to lists, whose product is taken with the last path varying fastest:

    # study.yaml
    contact.friction: [0.1, 0.2, 0.4]
    simulation.dt:
      - 1e-3
      - 5e-4

Writes DIR/study.csv (the rows with their names), DIR/command (a word a line) and DIR/<row>/set (a path=value a line). A
folder that holds another study or command is refused, unless no row of it ever ran (a mistake in the header, say). Prints the names of the rows.
"""
import csv
import fcntl
import io
import itertools
import os
import re
import shutil
import sys

ROWS_MAX = 1000000


class StudyError(Exception):
    """A study that cannot be used; the text says where and why."""


def read_csv(text, place):
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    if not rows:
        raise StudyError(f"{place}: empty: the first line names paths of --set")
    paths, rows = [path.strip() for path in rows[0]], rows[1:]
    for number, row in enumerate(rows, 1):
        if len(row) != len(paths):
            hint = "quotes around a value with commas" if len(row) > len(paths) else "an empty cell leaves the file's value"
            raise StudyError(f"{place}: row {number} has {len(row)} cells, the header {len(paths)} ({hint})")
    return paths, [[cell.strip() for cell in row] for row in rows]


def split_top(text, place):
    """The items between the commas that stand in no bracket and no quotes."""
    items, depth, quote, start = [], 0, "", 0
    for at, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in "[{":
            depth += 1
        elif sign in "]}":
            depth -= 1
        elif sign == "," and depth == 0:
            items.append(text[start:at])
            start = at + 1
    if depth or quote:
        raise StudyError(f"{place}: brackets or quotes do not match in [{text}]")
    items.append(text[start:])
    if not items[-1].strip():
        items.pop()
    return [item.strip() for item in items]


def without_comment(line):
    """The line up to a # at its begin or after a space, outside quotes."""
    quote = ""
    for at, sign in enumerate(line):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign == "#" and (at == 0 or line[at - 1].isspace()):
            return line[:at]
    return line


def read_yaml(text, place):
    """`path: [a, b]` or `path:` and lines of `- a`: all that a study needs of YAML."""
    lists, current = {}, None
    for number, line in enumerate(text.splitlines(), 1):
        here, line = f"{place}:{number}", without_comment(line).rstrip()
        if not line.strip() or line.strip() == "---":
            continue
        if line.lstrip().startswith("- ") and current:
            lists[current].append(line.lstrip()[2:].strip())
            continue
        path, colon, value = line.partition(":")
        path, value = path.strip().strip("'\""), value.strip()
        if not colon or line[0].isspace() or (value and not (value[0] == "[" and value[-1] == "]")):
            raise StudyError(f"{here}: neither `path: [a, b, ...]` nor `path:` followed by lines `- a`")
        if path in lists:
            raise StudyError(f"{here}: {path} occurs twice")
        current = path
        lists[path] = split_top(value[1:-1], here) if value else []
    for path, values in lists.items():
        if not values:
            raise StudyError(f"{place}: {path} has no values")
    return list(lists), [list(row) for row in itertools.product(*lists.values())]


def read_study(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        text = file.read()
    paths, rows = (read_yaml if path.endswith((".yaml", ".yml")) else read_csv)(text, path)
    for name in paths:
        if paths.count(name) > 1:
            raise StudyError(f"{path}: '{name}' occurs twice in the header")
        if not re.fullmatch(r"[^\W\d][^=;]*", name):
            raise StudyError(f"{path}: '{name}' in the header is no path of --set, such as contact.friction")
    if not rows:
        raise StudyError(f"{path}: no row below the header")
    if len(rows) > ROWS_MAX:
        raise StudyError(f"{path}: {len(rows)} rows, at most {ROWS_MAX} are taken")
    if any("\n" in cell or "\r" in cell for row in rows for cell in row):
        raise StudyError(f"{path}: a value goes over more than one line")
    return paths, rows


def is_idle(row):
    """Has nobody that is still running the lock of this row?"""
    try:
        with open(os.path.join(row, "lock"), "r", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return True
    except BlockingIOError:
        return False
    return True


def forget_refused(folder):
    """Remove what a study left of which every row was refused: a mistake in it must not keep its folder."""
    try:
        with open(os.path.join(folder, "study.csv"), encoding="utf-8", newline="") as file:
            names = [row[0] for row in csv.reader(file)][1:]
    except OSError:
        return
    rows = [os.path.join(folder, name) for name in names]
    results = [os.path.join(row, name) for row in rows for name in ("summary.json", "checkpoint")]
    if any(os.path.exists(path) for path in results) or not all(is_idle(row) for row in rows):
        return
    for row in rows:
        shutil.rmtree(row, ignore_errors=True)
    for name in ("study.csv", "command", "joblog", "table.csv"):
        if os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))


def is_other(path, text):
    """Does something else lie there?"""
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8", newline="") as file:
        return file.read() != text


def write_once(path, text, what):
    """Write, or find the same there; what lies there from another study is left alone."""
    if is_other(path, text):
        raise StudyError(f"{path} is of another {what}: give another folder with -o, or remove this one")
    with open(path + "~", "w", encoding="utf-8", newline="") as file:
        file.write(text)
    os.replace(path + "~", path)


def study_text(paths, names, rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["row"] + paths)
    for name, row in zip(names, rows):
        writer.writerow([name] + row)
    return out.getvalue()


def main(words):
    if len(words) < 4 or words[2] != "--":
        print(__doc__, file=sys.stderr)
        return 2
    study, folder, command = words[0], words[1], words[3:]
    try:
        paths, rows = read_study(study)
        width = len(str(len(rows)))
        names = [f"{number:0{width}d}" for number in range(1, len(rows) + 1)]
        if os.path.exists(folder) and not os.path.isdir(folder):
            raise StudyError(f"{folder} is no folder: -o names the folder of the results")
        os.makedirs(folder, exist_ok=True)
        whole = {"study": ("study.csv", study_text(paths, names, rows)),
                 "command": ("command", "".join(word + "\n" for word in command))}
        if any(is_other(os.path.join(folder, name), text) for name, text in whole.values()):
            forget_refused(folder)
        for what, (name, text) in whole.items():
            write_once(os.path.join(folder, name), text, what)
        for name, row in zip(names, rows):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
            sets = "".join(f"{path}={cell}\n" for path, cell in zip(paths, row) if cell)
            write_once(os.path.join(folder, name, "set"), sets, "study")
    except OSError as error:
        print(f"sweep_plan.py: error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 5
    except UnicodeDecodeError as error:
        print(f"sweep_plan.py: error: {study}: no UTF-8 text: {error}", file=sys.stderr)
        return 3
    except (StudyError, csv.Error) as error:
        print(f"sweep_plan.py: error: {error}", file=sys.stderr)
        return 3
    print("\n".join(names))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
