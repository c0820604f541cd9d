"""Finds and starts the program sdrs."""

from __future__ import annotations

import os
import pathlib
import shutil
import sys

from ._library import BUNDLE


def own_program() -> str | None:
    """Returns the path of the program in the wheel, checkout or build that contains the package, or None."""
    beside = [folder / "sdrs" for folder in pathlib.Path(__file__).resolve().parents
              if (folder / "Makefile").exists() or (folder / "out" / "lib").is_dir()]
    return next((str(path) for path in [BUNDLE / "sdrs", *beside] if path.is_file() and os.access(path, os.X_OK)), None)


def program() -> str | None:
    """Returns the path of the program of the package, otherwise of the program on PATH, or None."""
    return own_program() or shutil.which("sdrs")


def main() -> None:
    """Runs the program as the command `sdrs` of an installed package."""
    path = own_program()
    if path is None:
        sys.exit("sdrs: this package has no program: install a wheel of scripts/make_wheel.sh, or build the program with `make`")
    os.execv(path, ["sdrs", *sys.argv[1:]])
