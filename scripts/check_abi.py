#!/usr/bin/env python3
"""Compares the ABI of libsdrs with tests/library/abi.

    scripts/check_abi.py [--write] [--header sdrs.h] [--library libsdrs.so]

The ABI is the soname, every function with its types, every enumerator with its value, and size, offset and type of every
member of a public struct, as the compiler lays them out. Exits 1 and prints the difference when something has changed.
--write records the present ABI: do that together with a new soname (VERSION in the Makefile), or after adding a function.
"""

import argparse
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / "tests" / "library" / "abi"


def plain(header):
    """The declarations without comments, macros and line ends."""
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.S)
    text = re.sub(r"(?m)^#.*(?:\\\n.*)*$", "", text)
    return re.sub(r"\s+", " ", text)


def members(body):
    """(declaration, name) of every member of a struct."""
    for line in body.split(";"):
        words = line.strip()
        if not words:
            continue
        base = re.match(r"(?:const )?[a-z_]+(?: ?\*(?: ?const)?)*", words).group(0)
        for name in words[len(base):].split(","):
            yield f"{base} {name.strip()}", re.match(r"\w+", name.strip()).group(0)


def layout(text, header):
    """Sizes, offsets and values, asked of the compiler."""
    lines = []
    for kind, name, body in re.findall(r"typedef (struct|enum) (\w+) \{(.*?)\} \w+ ?;", text):
        lines.append(f'printf("{kind} {name} %zu\\n", sizeof({name}));')
        if kind == "enum":
            for word in re.findall(r"SDRS_\w+", body):
                lines.append(f'printf("  {word} %d\\n", (int){word});')
        else:
            for words, member in members(body):
                lines.append(f'printf("  %zu %zu {words}\\n", offsetof({name}, {member}), sizeof((({name}*)0)->{member}));')
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "layout.c"), pathlib.Path(folder, "layout")
        source.write_text(f'#include <stdio.h>\n#include "{header}"\nint main(void) {{\n' + "\n".join(lines) + "\n}\n")
        subprocess.run(["gcc", "-std=c11", source, "-o", program], check=True)
        return subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()


def functions(text):
    return sorted(f"function {words.strip()}" for words in re.findall(r"SDRS_API ([^;{]*\))", text)
                  ) + sorted(f"typedef {words.strip()}" for words in re.findall(r"typedef ([^;{]*\))", text))


def soname(library):
    text = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    return re.search(r"SONAME.*\[(.*)\]", text).group(1)


def exported(library):
    text = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return sorted(words[2] for words in map(str.split, text.splitlines()) if words[1] != "A")


def main():
    parser = argparse.ArgumentParser(description="compares the ABI of libsdrs with tests/library/abi")
    parser.add_argument("--write", action="store_true", help="record the present ABI")
    parser.add_argument("--header", type=pathlib.Path, default=ROOT / "src" / "library" / "sdrs.h")
    parser.add_argument("--library", type=pathlib.Path, default=ROOT / "out" / "lib" / "libsdrs.so")
    options = parser.parse_args()
    text = plain(options.header.read_text())
    now = ([f"soname {soname(options.library)}"] + [f"symbol {name}" for name in exported(options.library)] + functions(text)
           + layout(text, options.header.resolve()))
    if options.write:
        RECORD.write_text("\n".join(now) + "\n")
        return 0
    changes = list(difflib.unified_diff(RECORD.read_text().splitlines(), now, "tests/library/abi", "now", lineterm="", n=0))
    if changes:
        print("\n".join(changes))
        print("check_abi: the ABI has changed. Programs that were compiled before need a new soname (VERSION in the Makefile),\n"
              "unless functions were only added. Then scripts/check_abi.py --write")
    return 1 if changes else 0


sys.exit(main())
