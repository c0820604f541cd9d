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
folder that holds another study or command is refused. Prints the names of the rows.
"""
import csv
import io
import itertools
import os
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
            raise StudyError(f"{place}: row {number} has {len(row)} cells, the header {len(paths)}")
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
            raise StudyError(f"{here}: {path} stands twice")
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
        if not name or "=" in name or paths.count(name) > 1:
            raise StudyError(f"{path}: '{name}' is no path of --set, or stands twice")
    if not rows or len(rows) > ROWS_MAX:
        raise StudyError(f"{path}: {len(rows)} rows")
    if any("\n" in cell or "\r" in cell for row in rows for cell in row):
        raise StudyError(f"{path}: a value goes over more than one line")
    return paths, rows


def write_once(path, text, what):
    """Write, or find the same there; what lies there from another study is left alone."""
    if os.path.exists(path):
        with open(path, encoding="utf-8", newline="") as file:
            if file.read() == text:
                return
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
        os.makedirs(folder, exist_ok=True)
        write_once(os.path.join(folder, "study.csv"), study_text(paths, names, rows), "study")
        write_once(os.path.join(folder, "command"), "".join(word + "\n" for word in command), "command")
        for name, row in zip(names, rows):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
            sets = "".join(f"{path}={cell}\n" for path, cell in zip(paths, row) if cell)
            write_once(os.path.join(folder, name, "set"), sets, "study")
    except (StudyError, OSError, UnicodeDecodeError, csv.Error) as error:
        print(f"sweep_plan.py: error: {error}", file=sys.stderr)
        return 3
    print("\n".join(names))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
