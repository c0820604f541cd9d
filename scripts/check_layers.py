#!/usr/bin/env python3
"""Check that includes in src/ point one way.

The order is the line `Include order: base < linalg < ...` of CONTRIBUTING.md. A file may include headers of its own
folder, the doors (x/x.h, scene/task.h, scene/schema.h, scene/plan.h, ask/reader.h, base/lanes.h, base/outside.h, linalg/least_change.h, linalg/dense.h, linalg/arrays.h, contact/restitution.h, contact/step.h, model/lift.h, model/tree.h, model/contact_fits.h, model/drawn.h, model/inputs.h, shapes/field_faces.h) of folders lower in the order, the generated version.h from app/
only, method.h from decompose/ only.
No part includes another that includes it, by whatever way: x.c and x.h are one part, a door is one by itself.
No two types share a name, but for those private to files of one folder.
No object file of the check build uses a symbol that a folder above its own defines, but for those of FROM_ABOVE. Without
that build symbols are not looked at.
Prints one line per fault; exits 1 when there is one.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECOND_DOORS = {"scene/task.h", "scene/schema.h", "scene/plan.h", "ask/reader.h", "base/lanes.h", "base/outside.h", "linalg/least_change.h", "linalg/dense.h", "linalg/arrays.h", "contact/restitution.h", "contact/step.h", "model/lift.h", "model/tree.h", "model/contact_fits.h", "model/drawn.h", "model/inputs.h", "shapes/field_faces.h"}
# Symbols that lower folders use, and the folder that defines them.
FROM_ABOVE = {
    # The keys, words and equilibrium gaps of the contact laws, which scenes and models ask for. Each law is a row of one table
    # (contact/laws.c), whose rows need the model's types: the table cannot stand below them.
    **dict.fromkeys(("contact_fits", "contact_force_at_overlap", "contact_model_name", "contact_model_words", "contact_allows_overlap", "contact_refusal_reason",
                     "contact_rest_at_gap", "contact_rest_under_force", "contact_has_equilibrium_gap", "contact_schema_row", "contact_supports_round_solids", "contact_supports_directional_friction",
                     "contact_supports_smooth_shapes"), "contact"),
    # An included robot of another format becomes a scene, whose types its reader needs.
    "scene_read_robot": "robot",
    # The certificate of a pair asks how far the tree carries a point during a step, which the state knows.
    "motion_bound_below": "simulate",
}  # fmt: skip
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def read_order():
    for line in (ROOT / "CONTRIBUTING.md").read_text().splitlines():
        match = re.search(r"Include order: `?([a-z< ]+)`?", line)
        if match:
            return [name.strip() for name in match.group(1).split("<")]
    sys.exit("check_layers: CONTRIBUTING.md has no line 'Include order: base < ...'")


def fault_of(folder, header, order):
    """What is wrong with including `header` from a file of `folder` ('' is src itself), or None."""
    if header == "version.h":
        return None if folder == "app" else "version.h is for app/ only"
    if header == "method.h":
        return None if folder == "decompose" else "method.h is for decompose/ only"
    if not (ROOT / "src" / header).is_file():
        return "no such header below src/"
    other = header.split("/")[0]
    if other == folder:
        return None
    if header != f"{other}/{other}.h" and header not in SECOND_DOORS:
        return f"private to {other}/: include {other}/{other}.h"
    if folder and order.index(other) > order.index(folder):
        return f"{folder} stands below {other} in the include order"
    return None


def included(path):
    """The headers below src/ that a file includes, with the lines where."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1)


def part_of(name):
    """x/y of x/y.c and x/y.h; a door's whole name."""
    folder, _, file = name.rpartition("/")
    return name if file == f"{folder}.h" or name in SECOND_DOORS else name.rsplit(".", 1)[0]


def cycles(files):
    """One line per ring of parts that include each other."""
    below = {}
    for path in files:
        name = str(path.relative_to(ROOT / "src"))
        headers = [header for _, header in included(path) if (ROOT / "src" / header).is_file()]
        below.setdefault(part_of(name), set()).update(part_of(header) for header in headers)
    done, way = set(), []

    def visit(part):
        if part in way:
            yield "src: a ring of includes: " + " -> ".join(way[way.index(part):] + [part])
        if part in done or part in way:
            return
        way.append(part)
        for other in sorted(below.get(part, set()) - {part}):
            yield from visit(other)
        done.add(way.pop())

    for part in sorted(below):
        yield from visit(part)


def types_of(path):
    """Names of the types that a file defines."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    return re.findall(r"^\}\s*(\w+);", text, re.M) + re.findall(r"^typedef enum \{[^}]*\}\s*(\w+);", text, re.M)


def shared_types(files):
    """One line per name that two files give to a type each, unless both are sources of one folder."""
    known = {}
    for path in files:
        for name in set(types_of(path)):
            known.setdefault(name, []).append(path)
    for name, places in sorted(known.items()):
        private = all(path.suffix == ".c" for path in places)
        if len({path.parent for path in places} if private else places) > 1:
            yield f"src: the type {name} is in " + " and ".join(str(path.relative_to(ROOT / "src")) for path in places)


def faults_of_file(path, order):
    relative = path.relative_to(ROOT / "src")
    folder = relative.parts[0] if len(relative.parts) > 1 else ""
    if folder and folder not in order:
        yield f"{path.relative_to(ROOT)}: folder {folder}/ is not in the include order"
        return
    for number, header in included(path):
        fault = fault_of(folder, header, order)
        if fault:
            yield f'{path.relative_to(ROOT)}:{number}: #include "{header}": {fault}'


def symbols():
    """(folder/file, symbol, is it defined there?) of every object of the newer build, check or release; a unit counts as a file."""
    lists = [ROOT / f"out/build/{flavour}/objects" for flavour in ("check", "release")]
    archives = [path.with_name("libsdrs.a") for path in lists if path.with_name("libsdrs.a").is_file() and path.is_file()]
    if not archives:
        return
    archive = max(archives, key=lambda path: path.stat().st_mtime)
    objects = [name for name in archive.with_name("objects").read_text().split() if (ROOT / name).is_file()]
    lines = subprocess.run(["nm", "-A", "-g", *objects], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for line in lines.splitlines():
        name, _, rest = line.partition(":")
        name = name.split("/src/")[1]
        kind, symbol = rest.split()[-2:]
        yield name[:-2], symbol, kind != "U"


def upward_symbols(order):
    """One line for every symbol that is used below the folder that defines it, and for every row of FROM_ABOVE without use."""
    uses, home = {}, {}
    for name, symbol, defined in symbols():
        if defined:
            home[symbol] = name
        else:
            uses.setdefault(symbol, []).append(name)
    rank = lambda name: order.index(name.split("/")[0])
    found = set()
    for symbol in sorted(home.keys() & uses.keys()):
        below = sorted(name for name in uses[symbol] if rank(name) < rank(home[symbol]))
        if below and FROM_ABOVE.get(symbol) == home[symbol].split("/")[0]:
            found.add(symbol)
        elif below:
            yield f"src/{below[0]}.c: uses {symbol}, which src/{home[symbol]}.c defines: {below[0].split('/')[0]} stands below in the include order"
    if home:
        for symbol in sorted(FROM_ABOVE.keys() - found):
            yield f"scripts/check_layers.py: FROM_ABOVE has {symbol}, which no lower folder uses"


def main():
    order = read_order()
    files = sorted((ROOT / "src").rglob("*.[ch]"))
    faults = [fault for path in files for fault in faults_of_file(path, order)] + list(cycles(files)) + list(shared_types(files)) + list(upward_symbols(order))
    print("\n".join(faults) if faults else f"check_layers: {len(files)} files, no fault")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
