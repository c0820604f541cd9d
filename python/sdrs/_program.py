"""The program sdrs: where it is, and its start from an installed package."""

from __future__ import annotations

import os
import pathlib
import shutil
import sys

from ._library import BUNDLE


def own_program() -> str | None:
    """The program of the wheel, or of the checkout or build (out/lib) that the package stands in; None without one."""
    beside = [folder / "sdrs" for folder in pathlib.Path(__file__).resolve().parents
              if (folder / "Makefile").exists() or (folder / "out" / "lib").is_dir()]
    return next((str(path) for path in [BUNDLE / "sdrs", *beside] if path.is_file() and os.access(path, os.X_OK)), None)


def program() -> str | None:
    """The program to run: the package's own, or that on PATH."""
    return own_program() or shutil.which("sdrs")


def main() -> None:
    """The command `sdrs` of an installed package."""
    path = own_program()
    if path is None:
        sys.exit("sdrs: this package has no program: install a wheel of scripts/make_wheel.sh, or build the program with `make`")
    os.execv(path, ["sdrs", *sys.argv[1:]])
