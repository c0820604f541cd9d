#!/usr/bin/env python3
"""Check that comments of functions in src/**/*.h tell what a caller has to know.

Of a function that takes an array: how many there are of it - (count), (links), (nv, row-major), order x order, "every link".
Of one that hands out memory (a pointer that is not const) or is called ..._create, _destroy, _free, _load, _copy: who owns it.
Of one that can fail (bool, Status, ExitCode, HullResult): what its answer means - false: ..., an error, a question.
One-line functions in headers are their own comment. Words are looked for, not sense: that a comment is true no script can tell.
Prints one line per fault and what was looked at; exits 1 when there is one.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUNCTION = re.compile(r"^(?:[A-Za-z_][\w ]*\**\s+\**)[a-z_]\w*\(")
ARRAY = re.compile(r"\[\]|const (double|int|bool|Vec3|Mat3)\s*\*|(double|int|Vec3|Pose|bool)\s*\*\s*\w+, (int|size_t) \w*count|const Pose\* poses")
OWNED_NAME = re.compile(r"^\w+ .*_(create|copy)$|^(?!void ).*_load$|^void \w+_(destroy|free)$")
FAILS = re.compile(r"(static inline )?(bool|Status|ExitCode|HullResult) ")
TOLD = {
    "shape": re.compile(r"\([^)]*\b(\w*count|links?|hulls?|n[vq]?|dof\w*|channels?|coordinates?|slots|order|capacity|samples|states|"
                        r"variables|nodes|pairs|candidates|vertices|points|terms|list|rows?|losses|steps|size|blocks?|tasks?|numbers|"
                        r"parameters|corners|triangles|faces|items|knots|stride|unknowns|robot)\b[^)]*\)|\(\d+( x \d+)?\)|\d+x\d+|\[\w*\]|"
                        r"\b(rows?|columns?|length|size|how many|numbers?|every|each|count|all of|order|stride)\b", re.I),
    "ownership": re.compile(r"\b(free|freed|frees|own\w*|alloc\w*|copy|copies|copied|create\w*|destroy\w*|borrow\w*|lent|caller|kept|"
                            r"keeps|pool)\b|_free|_destroy", re.I),
    "meaning of the answer": re.compile(r"\bfalse\b|\btrue\b|fail|\bNULL\b|\bNaN\b|-1\b|STATUS|EXIT|HULL_|assert|whether|\?|status|"
                                        r"diagnostic|message|refus|error|\bwhy\b", re.I),
}


def comment_above(lines, at):
    """The comment that ends on the line before."""
    first = at - 1
    if first < 0 or not lines[first].rstrip().endswith("*/"):
        return ""
    while first > 0 and "/*" not in lines[first]:
        first -= 1
    return "\n".join(lines[first:at])


def functions(path):
    """Line, prototype and comment of each."""
    lines = path.read_text().split("\n")
    at = 0
    while at < len(lines):
        first = at
        if FUNCTION.match(lines[at]) and not lines[at].startswith(("typedef", "#")):
            while not re.search(r"[;{]", lines[at]) and at + 1 < len(lines):
                at += 1
            text = " ".join(line.strip() for line in lines[first:at + 1])
            trailing = text[text.find("/*"):] if "/*" in text else ""
            if not re.search(r"\{.*\}", text):
                yield first + 1, text, comment_above(lines, first) + trailing
        at += 1


def wanted(prototype):
    name = re.search(r"([a-z_]\w*)\(", prototype)[1]
    returned, arguments = prototype.split(name + "(", 1)
    if ARRAY.search(arguments):
        yield "shape"
    if ("*" in returned and "const" not in returned) or OWNED_NAME.search(returned + name):
        yield "ownership"
    if FAILS.match(returned):
        yield "meaning of the answer"


def main():
    seen, faults = dict.fromkeys(TOLD, 0), 0
    for path in sorted((ROOT / "src").rglob("*.h")):
        for line, prototype, comment in functions(path):
            for what in wanted(prototype):
                seen[what] += 1
                if not TOLD[what].search(comment):
                    faults += 1
                    print(f"{path.relative_to(ROOT)}:{line}: the comment does not tell the {what}: {prototype[:90]}")
    print("check_comments: " + ", ".join(f"{what} of {count}" for what, count in seen.items()) + f"; {faults or 'no'} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
