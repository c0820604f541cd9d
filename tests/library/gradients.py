#!/usr/bin/env python3
"""gradients.py SDRS SLOPES: the C library's gradient by every variable of every kind is that of the command line, bit for bit.

SLOPES is slopes.c, built. Without SDRS_LONG types of variables share tasks. Prints what differs; exits 1 then."""

import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python" / "tests"))
from gradient_tasks import command_line, tasks  # noqa: E402



def main(program, slopes):
    faults = 0
    for name, task in tasks():
        with tempfile.TemporaryDirectory() as folder:
            path, design, told = command_line(program, task, folder)
            x = pathlib.Path(folder, "x")
            x.write_text("".join(f"{number!r}\n" for number in design))
            done = subprocess.run([slopes, path, x], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        found = [float(number) for number in done.stdout.split()]
        if done.returncode != 0 or len(found) != len(told) or not any(told):
            print(f"{name}: exit {done.returncode}, {len(found)} of {len(told)} numbers: {done.stderr}")
            faults += 1
        for k, (library, command) in enumerate(zip(found, told)):
            if library != command:
                print(f"{name}, variable {k}: library {library!r}, command line {command!r}")
                faults += 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
