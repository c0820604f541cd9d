"""ctypes binding of the shared library: location, signatures and errors."""

from __future__ import annotations

import ctypes
import os
import pathlib
from collections.abc import Iterable
from typing import Any

SONAME = "libsdrs.so.0.1"
STATUS = ["OK", "BAD_INPUT", "IO", "SOLVER", "NO_GRADIENT", "NO_MEMORY", "USAGE"]
# Names in the order of sdrs_block in sdrs.h; python/tests/test_scene.py compares them with the library.
BLOCKS = ["time", "coordinates", "velocities", "input", "position", "orientation", "center", "force", "contacts", "design",
          "control", "vertices", "attachments", "mass", "contact", "reactions", "imu", "material", "range"]
SEVERITIES = ["error", "warning", "note"]

# Folder of library, program and data in a wheel of scripts/make_wheel.sh.
BUNDLE = pathlib.Path(__file__).resolve().parent / "_bundle"

double_p = ctypes.POINTER(ctypes.c_double)


class Sized(ctypes.Structure):
    """Base of the structs of sdrs.h, whose first member is their size."""

    def __init__(self, **fields):
        super().__init__(size=ctypes.sizeof(self), **fields)


class Options(Sized):
    _fields_ = [("size", ctypes.c_size_t), ("overrides", ctypes.POINTER(ctypes.c_char_p)), ("override_count", ctypes.c_int),
                ("threads", ctypes.c_int), ("scenario", ctypes.c_int)]


class Diagnostic(Sized):
    _fields_ = [("size", ctypes.c_size_t), ("severity", ctypes.c_int), ("file", ctypes.c_char_p), ("line", ctypes.c_int), ("column", ctypes.c_int),
                ("text", ctypes.c_char_p)]


class Info(Sized):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("dt", ctypes.c_double)] + [
        (name, ctypes.c_int) for name in ("steps", "links", "coordinates", "velocities", "inputs", "parameters", "vertices",
                                          "design")]


class Array(Sized):
    _fields_ = [("size", ctypes.c_size_t), ("data", ctypes.c_void_p), ("rows", ctypes.c_size_t), ("columns", ctypes.c_size_t),
                ("stride", ctypes.c_size_t)]


class Seed(Sized):
    _fields_ = [("size", ctypes.c_size_t), ("block", ctypes.c_int), ("link", ctypes.c_int), ("values", ctypes.c_void_p), ("count", ctypes.c_size_t)]


class RolloutRequest(Sized):
    _fields_ = [("size", ctypes.c_size_t), ("count", ctypes.c_int), ("steps", ctypes.c_int), ("threads", ctypes.c_int)] + [
        (name, ctypes.c_void_p) for name in ("coordinates", "velocities", "input", "record", "record_velocities",
                                             "final_coordinates", "final_velocities", "steps_done")]


class ProofResult(Sized):
    _fields_ = [("size", ctypes.c_size_t)] + [(name, ctypes.c_int) for name in ("proved", "row", "link_a", "link_b", "meets")] + [
        ("smallest_gap", ctypes.c_double)]


class PairsRequest(Sized):
    _fields_ = [("size", ctypes.c_size_t), ("method", ctypes.c_char_p), ("options", ctypes.c_char_p),
                ("answers", ctypes.POINTER(ctypes.c_char_p)), ("answer_count", ctypes.c_int), ("count", ctypes.c_size_t)] + [
        (name, ctypes.c_void_p) for name in ("shapes", "poses_a", "poses_b", "out")] + [("stride", ctypes.c_size_t),
                                                                                       ("threads", ctypes.c_int)]


class DistanceResult(Sized):
    _fields_ = [("size", ctypes.c_size_t), ("distance", ctypes.c_double), ("witness_a", ctypes.c_double * 3), ("witness_b", ctypes.c_double * 3),
                ("potential", ctypes.c_double), ("plane", ctypes.c_double * 4)]


SIGNATURES = {
    "sdrs_version": (ctypes.c_char_p, []),
    "sdrs_load": (ctypes.c_int, [ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p, ctypes.POINTER(Options)]),
    "sdrs_parse": (ctypes.c_int, [ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p, ctypes.c_char_p,
                                  ctypes.POINTER(Options)]),
    "sdrs_clone": (ctypes.c_int, [ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p]),
    "sdrs_free": (None, [ctypes.c_void_p]),
    "sdrs_error": (ctypes.c_char_p, [ctypes.c_void_p]),
    "sdrs_diagnostic_count": (ctypes.c_int, [ctypes.c_void_p]),
    "sdrs_diagnostic_at": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(Diagnostic)]),
    "sdrs_describe": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(Info)]),
    "sdrs_link_name": (ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_int]),
    "sdrs_block_count": (ctypes.c_int, []),
    "sdrs_block_name": (ctypes.c_char_p, [ctypes.c_int]),
    "sdrs_entry_name": (ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]),
    "sdrs_view": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.POINTER(Array)]),
    "sdrs_set": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]),
    "sdrs_reset": (ctypes.c_int, [ctypes.c_void_p]),
    "sdrs_continue": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_int]),
    "sdrs_clear": (ctypes.c_int, [ctypes.c_void_p]),
    "sdrs_step": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_int]),
    "sdrs_step_all": (ctypes.c_int, [ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, ctypes.c_int, ctypes.c_int]),
    "sdrs_rollout": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(RolloutRequest)]),
    "sdrs_run": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_int]),
    "sdrs_run_all": (ctypes.c_int, [ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, ctypes.c_int, ctypes.c_int]),
    "sdrs_record": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.POINTER(Array)]),
    "sdrs_gradient": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(Seed), ctypes.c_int]),
    "sdrs_gradient_all": (ctypes.c_int, [ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, ctypes.POINTER(Seed), ctypes.c_int,
                                         ctypes.c_int]),
    "sdrs_loss": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, double_p]),
    "sdrs_gradient_view": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(Array)]),
    "sdrs_query": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_double,
                                  ctypes.POINTER(DistanceResult), ctypes.c_void_p, ctypes.c_void_p]),
    "sdrs_query_text": (ctypes.c_int, [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)]),
    "sdrs_free_text": (None, [ctypes.c_void_p]),
    "sdrs_shapes_new": (ctypes.c_int, [ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p, ctypes.c_char_p]),
    "sdrs_shapes_free": (None, [ctypes.c_void_p]),
    "sdrs_shapes_error": (ctypes.c_char_p, [ctypes.c_void_p]),
    "sdrs_shapes_count": (ctypes.c_int, [ctypes.c_void_p]),
    "sdrs_shapes_layout": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(PairsRequest), ctypes.POINTER(ctypes.c_size_t)]),
    "sdrs_shapes_query": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(PairsRequest)]),
    "sdrs_certify": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(ProofResult)]),
}


def candidates():
    """Yields possible paths of the library, the preferred path first."""
    if os.environ.get("SDRS_LIBRARY"):
        yield os.environ["SDRS_LIBRARY"]
        return
    if (BUNDLE / SONAME).exists():
        yield str(BUNDLE / SONAME)
    for folder in pathlib.Path(__file__).resolve().parents:
        if (folder / "out" / "lib" / SONAME).exists():
            yield str(folder / "out" / "lib" / SONAME)
    yield SONAME


def load():
    faults = []
    for path in candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError as fault:
            faults.append(str(fault))
            continue
        for name, (result, arguments) in SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        return library
    raise ImportError("cannot load libsdrs: build it with `make` in the checkout, or set SDRS_LIBRARY to its path ("
                      + "; ".join(faults) + ")")


lib = load()


def version() -> str:
    """Returns the version of the library as "x.y.z"."""
    return lib.sdrs_version().decode()


class Error(RuntimeError):
    """Error of the library with the message of the command line.

    status: "BAD_INPUT", "IO", "SOLVER", "NO_GRADIENT", "NO_MEMORY" or "USAGE". diagnostics: a list of dicts with
    severity, file, line, column, text."""

    status: str
    diagnostics: list[dict[str, Any]]

    def __init__(self, text: str, status: str = "USAGE", diagnostics: Iterable[dict[str, Any]] = ()) -> None:
        super().__init__(text)
        self.status = status
        self.diagnostics = list(diagnostics)


def diagnostics_of(pointer):
    for index in range(lib.sdrs_diagnostic_count(pointer)):
        item = Diagnostic()
        lib.sdrs_diagnostic_at(pointer, index, ctypes.byref(item))
        yield {"severity": SEVERITIES[item.severity], "file": (item.file or b"").decode(), "line": item.line,
               "column": item.column, "text": (item.text or b"").decode(errors="replace")}


def error_of(pointer, status):
    return Error(lib.sdrs_error(pointer).decode(errors="replace"), STATUS[status], diagnostics_of(pointer))
