"""Runs the examples of docs/python.md in its order, in one namespace, and compares what each prints with what stands below it.

An example that needs a package that is not installed is left out; the page says which by its first line, `# needs torch`.
"""

import contextlib
import importlib.util
import io
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    text = (ROOT / "docs" / "python.md").read_text()
    examples = re.findall(r"^```python\n(.*?)^```\n(?:\n((?:    [^\n]*\n)+))?", text, re.M | re.S)
    names, faults = {}, 0
    for code, shown in examples:
        needs = re.match(r"# needs (\w+)", code)
        if needs and importlib.util.find_spec(needs.group(1)) is None:
            print(f"SKIP an example: {needs.group(1)} is not installed")
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "docs/python.md", "exec"), names)
        wanted = re.sub("^    ", "", shown, flags=re.M)
        if printed.getvalue() != wanted:
            faults += 1
            print(f"this example:\n{code}prints:\n{printed.getvalue()}instead of:\n{wanted}")
    if not examples:
        sys.exit("docs/python.md has no examples")
    return faults > 0


if __name__ == "__main__":
    sys.exit(main())
