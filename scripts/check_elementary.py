#!/usr/bin/env python3
"""Check that results do not depend on the processor through the mathematical library.

In src/ the elementary functions of the C library (sin, exp, pow, ...), which take another code on another processor, are
called in no file (base/elementary.c has those that do not). LAPACK is called by linalg/dense.c alone, whose object has the
reference LAPACK in it (Makefile); the folders of a step (contact, simulate, model) do not include linalg/dense.h: they have
kernels that do not allocate. AMD only orders (linalg/ordering.c), and complex numbers are added, multiplied and divided
alone (simulate/fluid.c). Functions that IEEE defines exactly (sqrt, floor, fmod, ldexp, ...) are free.
The object of linalg/dense.c, where it is built, is looked at too: the functions of LAPACK in it call none of these.
Prints one line per fault; exits 1 when there is one.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMES = """sin cos tan sincos asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 exp10 expm1 log log2 log10
log1p logb pow cbrt hypot erf erfc tgamma lgamma cabs carg cexp clog cpow csqrt csin ccos ctan""".split()
CALL = re.compile(r"(?<![\w.>])((?:%s)[fl]?)\s*\(" % "|".join(NAMES))
LIBRARY = re.compile(r"#\s*include\s*<((?:lapacke|cblas|tgmath|complex)\.h|suitesparse/\w+\.h|sleef\.h)>")
ALLOWED = {("base/elementary.c", "sleef.h"), ("linalg/ordering.c", "suitesparse/amd.h"),
           ("app/version.c", "suitesparse/amd.h"), ("linalg/dense.c", "lapacke.h"),
           ("simulate/fluid.h", "complex.h")}  # its arithmetic alone, none of its functions
DENSE = re.compile(r'#\s*include\s*"linalg/dense\.h"')
STEP = ("contact/", "simulate/", "model/")
SILENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def without_text(source):
    """The source with comments and literals blanked, lines kept."""
    return SILENT.sub(lambda m: "\n" * m.group().count("\n"), source)


def faults_of(path):
    name = str(path.relative_to(ROOT / "src"))
    text = path.read_text()
    for number, line in enumerate(text.splitlines() if name.startswith(STEP) else (), 1):
        if DENSE.search(line):
            yield f"src/{name}:{number}: linalg/dense.h allocates and is slower in a step: take linalg.h or block_solver.h"
    for number, line in enumerate(without_text(text).splitlines(), 1):
        for match in CALL.finditer(line):
            yield f"src/{name}:{number}: {match.group(1)}() depends on the processor: take math_{match.group(1)} (base.h)"
        match = LIBRARY.search(line)
        if match and (name, match.group(1)) not in ALLOWED:
            yield f"src/{name}:{number}: <{match.group(1)}> may not be used here: its results depend on the processor"


def faults_of_lapack():
    """Functions of the C library that LAPACK's in linalg/dense.o call. logf is in a branch of ilaenv that none of them takes."""
    for place in sorted((ROOT / "out/build").glob("*/src/linalg/dense.o")):
        lines = subprocess.run(["nm", "-u", place], capture_output=True, text=True, check=True).stdout
        for name in sorted({line.split()[-1] for line in lines.splitlines()} - {"logf"}):
            why = "needs the Fortran library" if name.startswith("_gfortran") else "depends on the processor"
            if name.startswith("_gfortran") or name in NAMES or name[:-1] in NAMES:
                yield f"{place.relative_to(ROOT)}: {name}() in LAPACK {why}: call another function of LAPACK"


def main():
    files = [p for p in sorted((ROOT / "src").rglob("*.[ch]")) if p.name != "page_template.c"]
    faults = [fault for path in files for fault in faults_of(path)] + list(faults_of_lapack())
    print("\n".join(faults) if faults else f"{len(files)} files: no function that depends on the processor")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
