#!/usr/bin/env python3
"""Groups the sources of each folder into units that are compiled as one file: a compiler's start and the headers are paid once.

  scripts/make_units.py FOLDER SOURCE...
      writes FOLDER/<folder of the sources>/<number>.c, each with an #include per source, and FOLDER/units.mk: UNITS := their paths

Sources that give a name at file scope twice, themselves or by headers of tests, stand in different units. What is missed here costs
time alone: a unit that does not compile is compiled source by source (scripts/compile_apart.sh). A file is written when its
content changes.
"""

import functools
import pathlib
import re
import sys

MOST = 8  # sources of a unit
NAME = re.compile(
    r"static [^=;{(]*?(\w+)(?:\[[^=;]*\])*\s*[(=;]|#define (\w+)|(?:\} |typedef [^{;]*?)(\w+);|(?:typedef )?(?:struct|enum|union) (\w+) \{"
)
DECLARED = re.compile(r"[A-Za-z_][\w *]*?(\w+)\(")
DEFINED = re.compile(r"static [^=;{(]*?(\w+)\(")
ENUMERATION = re.compile(r"^(?:static const |typedef )?enum\b[^{;]*\{(.*?)\}", re.M | re.S)
INCLUDED = re.compile(r'^#include "(.*?)"', re.M)


@functools.cache
def given(path):
    """Name to the file that gives it at file scope: the source, or a header that it includes: all names of one of tests, the functions
    that one of src defines."""
    text = path.read_text()
    names = {}
    for place in {place / name for name in INCLUDED.findall(text) for place in (path.parent, pathlib.Path(path.parts[0]))}:
        if place.is_file():
            names.update(given(place))
    lines = [line for line in text.split("\n") if line[:1].isalpha() or line[:1] in ("#", "}")]
    if path.suffix == ".h" and path.parts[0] == "src":
        matches = [DEFINED.match(line) for line in lines]
        return names | {match[1]: path for match in matches if match}
    matches = [NAME.match(line) or (path.name[:5] != "test_" and DECLARED.match(line)) for line in lines]
    names.update((match[match.lastindex], path) for match in matches if match)
    for match in ENUMERATION.finditer(text):
        names.update((name, path) for name in re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", match[1]))
    return names


def units(paths):
    """Lists of sources of one folder."""
    found = []
    for path in paths:
        own = given(path)
        for members, names in found:
            if len(members) < MOST and all(names.get(name, place) == place for name, place in own.items()):
                members.append(path)
                names.update(own)
                break
        else:
            found.append(([path], dict(own)))
    return [members for members, _ in found]


def member(path):
    """What a unit says of a source: each test has a main of its own."""
    if path.parts[0] != "tests":
        return f'#include "{path}"\n'
    return f'#define main main_of_{path.stem}\n#include "{path}"\n#undef main\n'


def write(path, text):
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main():
    target, sources = pathlib.Path(sys.argv[1]), sorted(map(pathlib.Path, sys.argv[2:]))
    made = []
    for folder in sorted({path.parent for path in sources}):
        for number, members in enumerate(units([path for path in sources if path.parent == folder])):
            made.append(target / folder / f"{number}.c")
            write(made[-1], "".join(map(member, members)))
    write(target / "units.mk", f"UNITS := {' '.join(map(str, made))}\n")


if __name__ == "__main__":
    main()
