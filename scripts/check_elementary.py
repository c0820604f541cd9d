#!/usr/bin/env python3
"""Check that results do not depend on the processor through the mathematical library.

In src/ the elementary functions of the C library (sin, exp, pow, ...), which take another code on another processor, are
called in no file (base/elementary.c has those that do not), neither are BLAS and LAPACK; AMD only orders
(linalg/ordering.c), and complex numbers are added, multiplied and divided alone (simulate/fluid.c). Functions that IEEE defines exactly (sqrt, floor, fmod, ldexp, ...) are free.
Prints one line per fault; exits 1 when there is one.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMES = """sin cos tan sincos asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 exp10 expm1 log log2 log10
log1p logb pow cbrt hypot erf erfc tgamma lgamma cabs carg cexp clog cpow csqrt csin ccos ctan""".split()
CALL = re.compile(r"(?<![\w.>])((?:%s)[fl]?)\s*\(" % "|".join(NAMES))
LIBRARY = re.compile(r"#\s*include\s*<((?:lapacke|cblas|tgmath|complex)\.h|suitesparse/\w+\.h|sleef\.h)>")
ALLOWED = {("base/elementary.c", "sleef.h"), ("linalg/ordering.c", "suitesparse/amd.h"),
           ("app/version.c", "suitesparse/amd.h"),
           ("simulate/fluid.h", "complex.h")}  # its arithmetic alone, none of its functions
SILENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def without_text(source):
    """The source with comments and literals blanked, lines kept."""
    return SILENT.sub(lambda m: "\n" * m.group().count("\n"), source)


def faults_of(path):
    name = str(path.relative_to(ROOT / "src"))
    for number, line in enumerate(without_text(path.read_text()).splitlines(), 1):
        for match in CALL.finditer(line):
            yield f"src/{name}:{number}: {match.group(1)}() depends on the processor: take math_{match.group(1)} (base.h)"
        match = LIBRARY.search(line)
        if match and (name, match.group(1)) not in ALLOWED:
            yield f"src/{name}:{number}: <{match.group(1)}> may not be used here: its results depend on the processor"


def main():
    files = [p for p in sorted((ROOT / "src").rglob("*.[ch]")) if p.name != "page_template.c"]
    faults = [fault for path in files for fault in faults_of(path)]
    print("\n".join(faults) if faults else f"{len(files)} files: no function that depends on the processor")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
