"""Queries of many pairs of shapes in one call, with numpy arrays."""

from __future__ import annotations

import ctypes
import json
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _library as c
from ._library import lib
from .scene import _plain, _threads

# Array shape of an answer for one pair of poses (for the method manifold: for one contact). All others are scalars.
SHAPES: dict[str, tuple[int, ...]] = {
    **{name: (3,) for name in ("point", "normal", "witness_a", "witness_b", "smooth_a", "smooth_b")},
    **{"jacobian_" + name: (3, 6) for name in ("a_a", "a_b", "b_a", "b_b")},
    **{name: (6,) for name in ("wrench_a", "wrench_b", "gradient_a", "gradient_b", "transported")},
    "bounds": (2,), "multipliers": (2,), "d_smooth_by_other_a": (3, 3), "d_smooth_by_other_b": (3, 3),
    "d_smooth_temperature_a": (3,), "d_smooth_temperature_b": (3,),
    "position_a": (3,), "position_b": (3,), "quaternion_a": (4,), "quaternion_b": (4,)}


def _shape(name: str) -> tuple[int, ...]:
    if name in SHAPES:
        return SHAPES[name]
    if name.startswith("d_") and name[-8:] in ("_shape_a", "_shape_b"):
        return SHAPES.get(name[2:-8], ()) + (-1,)
    return SHAPES.get(name[2:-2], ()) + (6,) if name.startswith("d_") and name[-2:] in ("_a", "_b") else ()


def _poses(values: ArrayLike, name: str) -> NDArray[np.float64]:
    poses = np.ascontiguousarray(values, dtype=np.float64)
    if poses.ndim == 1 and poses.shape == (7,):
        return poses[None]
    if poses.ndim != 2 or poses.shape[1] != 7:
        raise c.Error(f"{name}: got shape {poses.shape}, expected (n, 7): x y z qw qx qy qz")
    return poses


def _names(given: str | Iterable[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


class Shapes:
    """Shapes that are created once and queried at many poses.

    shapes: a list of dicts as in the questions of `sdrs.query` (docs/queries.md), without position and quaternion.
    path: mesh files are relative to its folder. Calls on one object are serialized; calls on different objects are
    independent.
    """

    def __init__(self, shapes: Sequence[Mapping[str, Any]], path: str | os.PathLike[str] | None = None) -> None:
        self._pointer = ctypes.c_void_p()
        self._lock = threading.Lock()
        self._kept: tuple[tuple[int, int, int] | None, NDArray[np.int32]] = None, np.empty((0, 2), dtype=np.int32)
        status = lib.sdrs_shapes_new(ctypes.byref(self._pointer), json.dumps(shapes, default=_plain).encode(),
                                     os.fsencode(path) if path else None)
        self._check(status)
        self._count: int = lib.sdrs_shapes_count(self._pointer)

    def __del__(self) -> None:
        if lib is not None and getattr(self, "_pointer", None):
            lib.sdrs_shapes_free(self._pointer)
            self._pointer = None

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return f"<sdrs.Shapes: {self._count}>"

    def _check(self, status: int) -> None:
        if status:
            raise c.Error(lib.sdrs_shapes_error(self._pointer).decode(errors="replace"), c.STATUS[status])

    def query(self, method: str, i: ArrayLike, j: ArrayLike, poses_a: ArrayLike, poses_b: ArrayLike,
              outputs: str | Iterable[str] = (), derivatives: str | Iterable[str] = (), threads: int = 1,
              out: dict[str, NDArray[np.float64]] | None = None, parameters: str | Iterable[str] = (),
              **options: Any) -> dict[str, NDArray[np.float64]]:
        """Queries shapes i (body a) and j (body b) at n pairs of poses.

        method: "growth", "distance", "manifold", "witness" or "touch" (which starts at these poses).
        i, j: numbers of shapes, or arrays of numbers (n).
        poses_a, poses_b: (n, 7), or (7) for all rows: x y z [m] and the unit quaternion qw qx qy qz.
        outputs: names as in the answers of `sdrs.query` ("alpha", "gap", ...). Without outputs and derivatives the
        first output of the method is returned.
        derivatives: names for which to return "d_<name>_a" and "d_<name>_b", the derivatives by a small motion of body
        a or
        b: rotations about the world axes x, y, z through the position of the body [1/rad], then translations [1/m].
        parameters: names for which to return "d_<name>_shape_a" and "d_<name>_shape_b", the derivatives by the
        parameters of the shapes in the order of docs/queries.md (sizes, radii, all points, ...). The shapes a of all
        rows must have the same number of parameters, likewise the shapes b.
        threads: number of threads over the rows. The results do not depend on it.
        out: the result of an earlier call with the same names and number of rows. Its arrays are overwritten and
        returned, which avoids an allocation.
        options: further keys of the question (smoothing=0.01, ...).

        Returns {name: array} with the rows first: (n), (n, 3), (n, 6), (n, 3, 6), by m parameters (n, m), (n, 3, m).
        For the method manifold the contacts are the second dimension: (n, slots), (n, slots, 3), ... . NaN marks an
        unknown value or a slot without contact.
        """
        poses = [_poses(poses_a, "poses_a"), _poses(poses_b, "poses_b")]
        pairs = [np.asarray(i), np.asarray(j)]
        for name, pair in zip("ij", pairs):
            if pair.ndim > 1 or not np.issubdtype(pair.dtype, np.integer):
                raise c.Error(f"{name}: a whole number or an array of them (n), got {pair.dtype} of shape {pair.shape}")
        lengths = {len(x) for x in (*poses, *(pair for pair in pairs if pair.ndim)) if len(x) != 1}
        if len(lengths) > 1:
            raise c.Error(f"i, j, poses_a and poses_b must be as long as each other or 1, got {sorted(lengths)}")
        count = lengths.pop() if lengths else 1
        for name, pair in zip("ij", pairs):
            if pair.size and (pair.min() < 0 or pair.max() >= self._count):
                raise c.Error(f"{name}: shapes are 0 to {self._count - 1}, got {pair.min()} to {pair.max()}")
        shapes = self._rows(pairs, count)
        poses = [np.ascontiguousarray(np.broadcast_to(x, (count, 7))) for x in poses]
        wanted = list(dict.fromkeys(_names(outputs) + [f"d_{name}_{body}" for name in _names(derivatives) for body in "ab"]
                                    + [f"d_{name}_shape_{body}" for name in _names(parameters) for body in "ab"]))
        if not wanted:
            wanted = [{"growth": "alpha", "touch": "loss"}.get(method, "distance")]
        names = (ctypes.c_char_p * len(wanted))(*[name.encode() for name in wanted])
        request = c.PairsRequest(method=method.encode(), options=json.dumps(options, default=_plain).encode(), answers=names,
                                 answer_count=len(wanted), count=count, shapes=shapes.ctypes.data, poses_a=poses[0].ctypes.data,
                                 poses_b=poses[1].ctypes.data, threads=_threads(threads))
        widths = (ctypes.c_size_t * len(wanted))()
        with self._lock:
            self._check(lib.sdrs_shapes_layout(self._pointer, ctypes.byref(request), widths))
            room = np.empty((count, sum(widths))) if out is None else self._room(out, wanted, (count, sum(widths)))
            request.out, request.stride = room.ctypes.data, room.shape[1]
            self._check(lib.sdrs_shapes_query(self._pointer, ctypes.byref(request)))
        slots = None
        if method == "manifold" and not options.get("mean"):
            slots = self._slots(request) if any(_shape(name)[-1:] == (-1,) for name in wanted) else -1
        return self._split(room, wanted, list(widths), slots)

    def _rows(self, pairs: list[NDArray[Any]], count: int) -> NDArray[np.int32]:
        """Returns the shapes of all rows (count, 2). The array of a single pair is kept for the next call, because filling
        it is not parallel."""
        one = None if pairs[0].ndim or pairs[1].ndim else (int(pairs[0]), int(pairs[1]), count)
        key, shapes = self._kept
        if one is not None and one == key:
            return shapes
        shapes = np.empty((count, 2), dtype=np.int32)
        shapes[:, 0], shapes[:, 1] = pairs
        if one is not None:
            self._kept = one, shapes
        return shapes

    def _slots(self, request: Any) -> int:
        """Returns the largest number of contacts of a pair."""
        request.answers, request.answer_count = (ctypes.c_char_p * 1)(b"distance"), 1
        width = (ctypes.c_size_t * 1)()
        with self._lock:
            self._check(lib.sdrs_shapes_layout(self._pointer, ctypes.byref(request), width))
        return width[0]

    @staticmethod
    def _room(given: dict[str, NDArray[np.float64]], names: list[str], shape: tuple[int, int]) -> NDArray[np.float64]:
        room = next(iter(given.values())).base if given else None
        fits = list(given) == names and room is not None and room.shape == shape
        if room is None or not fits or any(array.base is not room for array in given.values()):
            raise c.Error(f"out: not the answer of a call for {shape[0]} rows of {', '.join(names)}")
        return room

    @staticmethod
    def _split(out: NDArray[np.float64], names: list[str], widths: list[int], slots: int | None) -> dict[str, NDArray[np.float64]]:
        answers, first = {}, 0
        for name, width in zip(names, widths):
            part, shape = out[:, first:first + width], _shape(name)
            if slots is not None and name not in ("smoothing", "left_out"):
                shape = (slots if width else 0,) + shape
            answers[name] = part.reshape((len(out),) + shape) if len(out) else np.zeros((0,) + tuple(max(n, 0) for n in shape))
            first += width
        return answers
