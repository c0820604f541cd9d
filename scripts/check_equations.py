#!/usr/bin/env python3
"""Check that equations, code and tests know of each other.

A numbered result is a tag like C4: a letter of its page and a number. docs/derivations/<page>.md define theirs in bold,
**(C4)**; docs/contact-parameters.md in brackets, (R4). Then
  - every tag in a comment of src/ is defined in docs/;
  - every defined tag stands in a comment of src/, alone, in a list or in a range (K2-K5);
  - every tag of docs/derivations/ is part of a test's name (derivatives_C4_C5_for_every_kind_of_pair).
Prints one line per fault; exits 1 when there is one.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
TEST_NAME = re.compile(r"cmocka_unit_test\w*\(\s*(\w+)")


def tags_of(text, plain, bracketed):
    """(tag, position) of every tag in the text, ranges written out. Letters of `bracketed` count in brackets only."""
    pattern = rf"\b([{plain}])(\d{{1,2}})(?:-\1?(\d{{1,2}}))?\b"
    if bracketed:
        pattern += rf"|\(([{bracketed}])(\d{{1,2}})\)()"
    for match in re.finditer(pattern, text):
        groups = [group for group in match.groups() if group is not None]
        letter, first = groups[0], int(groups[1])
        last = int(groups[2]) if len(groups) > 2 and groups[2] else first
        for number in range(first, last + 1):
            yield f"{letter}{number}", match.start()


def definitions():
    """tag -> (page, must have a test)"""
    found, faults = {}, []
    pages = [(page, r"\*\*\(([A-Z]\d+)\)\*\*", True) for page in sorted((ROOT / "docs/derivations").glob("*.md"))]
    pages.append((ROOT / "docs/contact-parameters.md", r"\(([A-Z]\d+)\)", False))
    for page, pattern, tested in pages:
        if not page.is_file():
            continue
        tags = re.findall(pattern, page.read_text())
        for tag in tags if tested else dict.fromkeys(tags):  # in brackets a tag is named again
            if tag in found:
                faults.append(f"{page.relative_to(ROOT)}: ({tag}) is defined in {found[tag][0]} too")
            else:
                found[tag] = (page.relative_to(ROOT), tested)
    return found, faults


def used_in_code(plain, bracketed):
    """tag -> first place"""
    used = {}
    for source in sorted((ROOT / "src").rglob("*.[ch]")):
        text = source.read_text()
        for comment in COMMENT.finditer(text):
            for tag, offset in tags_of(comment.group(), plain, bracketed):
                line = text.count("\n", 0, comment.start() + offset) + 1
                used.setdefault(tag, f"{source.relative_to(ROOT)}:{line}")
    return used


def used_in_tests():
    tags = set()
    for source in sorted((ROOT / "tests").rglob("test_*.c")):
        for name in TEST_NAME.findall(source.read_text()):
            tags.update(part for part in name.split("_") if re.fullmatch(r"[A-Z]\d+", part))
    return tags


def main():
    defined, faults = definitions()
    if not defined:
        sys.exit("check_equations: no tag is defined in docs/derivations/")
    plain = "".join(sorted({tag[0] for tag, (_, derived) in defined.items() if derived}))
    bracketed = "".join(sorted({tag[0] for tag in defined} - set(plain)))
    code, tests = used_in_code(plain, bracketed), used_in_tests()
    faults += [f"{place}: ({tag}) is defined nowhere in docs/" for tag, place in code.items() if tag not in defined]
    for tag, (page, tested) in defined.items():
        if tag not in code:
            faults.append(f"{page}: ({tag}) stands in no comment of src/")
        if tested and tag not in tests:
            faults.append(f"{page}: ({tag}) is part of no test's name")
    faults += [f"tests: ({tag}) is in a test's name but defined nowhere" for tag in sorted(tests)
               if tag[0] in plain and tag not in defined]
    for fault in faults:
        print(fault)
    print(f"{len(defined)} equations, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
