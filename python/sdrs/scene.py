"""Scenes, runs and rollouts as numpy arrays."""

from __future__ import annotations

import collections
import collections.abc
import concurrent.futures
import ctypes
import difflib
import html
import json
import operator
import os
import pathlib
import subprocess
import tempfile
import threading
import webbrowser
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _library as c
from ._chart import by_coordinates
from ._library import lib
from ._program import program

INDEX = {name: index for index, name in enumerate(c.BLOCKS)}
LINK_BLOCKS = {"position": 3, "orientation": 4, "center": 3, "force": 3, "reactions": 6, "imu": 6, "range": 6}
GRADIENTS = ["coordinates", "velocities", "input", "control", "vertices", "attachments", "mass", "contact", "material"]
VECTORS = {"time", "coordinates", "velocities", "design", "control", "mass", "contact"}

Array = NDArray[np.float64]
PathLike = Union[str, "os.PathLike[str]"]
Overrides = Union[Mapping[str, Any], Sequence[str], None]
ByLink = Union[Mapping[str, ArrayLike], Mapping[int, ArrayLike], Mapping[Union[str, int], ArrayLike]]  # a Mapping is invariant in its keys


class _Rollouts(NamedTuple):
    coordinates: Array
    velocities: Array
    steps: NDArray[np.int32]
    error: Optional[c.Error]


class Rollouts(_Rollouts):
    """Result of Scene.rollout.

    coordinates: (runs, steps + 1, nq); only the final ones (runs, nq) if record is false. velocities: likewise with nv.
    steps: number of steps done (runs). error: the sdrs.Error of the first run that failed, or None.
    gradient: {block: array} as returned by Run.gradient, with the runs as first dimension; NaN for a run that failed.
    None if the call had no seeds."""

    gradient: dict[str, Array] | None = None


class Proof(NamedTuple):
    """Result of Run.certify.

    proved: True if no two bodies intersect. row: first row at which the proof fails, or -1. links: names of the links
    of that row's pair. meets: True if these links intersect. smallest_gap: smallest gap of a recorded state [m]."""

    proved: bool
    row: int
    links: tuple[str, ...]
    meets: bool
    smallest_gap: float



class _Memory:
    """Read-only numpy view of memory of the library. The view keeps the owner of the memory alive."""

    def __init__(self, owner, array):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "typestr": "<f8", "shape": (array.rows, array.columns),
                                    "strides": (8 * array.stride, 8), "data": (array.data, True)}


def _array(owner: Any, array: c.Array) -> Array:
    if array.rows * array.columns == 0:
        return np.zeros((array.rows, array.columns))
    return np.asarray(_Memory(owner, array))


def _doubles(values: ArrayLike, shape: tuple[int, ...], name: str) -> Array:
    values = np.ascontiguousarray(values, dtype=np.float64)
    if values.shape != shape:
        raise c.Error(f"{name}: got shape {values.shape}, expected {shape}")
    return values


def _rows(values: ArrayLike) -> int:
    """Returns the length of the first dimension, or 1 for a scalar."""
    return (*np.shape(values), 1)[0]


def _place(kind, name, names):
    """Returns the index of `name` in `names`. Raises sdrs.Error with the most similar name if there is none."""
    names = list(names)
    if name in names:
        return names.index(name)
    near = difflib.get_close_matches(str(name), names, 1)
    raise c.Error(f"there is no {kind} '{name}'" +
                  (f" (did you mean '{near[0]}'?)" if near else f" (there are {', '.join(names)})" if len(names) <= 20 else ""))


def _block(name):
    """Returns the number of a block."""
    return _place("block", name, c.BLOCKS)


STEPS_MOST = 10**9  # limit of simulation.steps
THREADS_MOST = 1024  # limit of --threads


def default_threads() -> int:
    """Returns the number of processors available to this process."""
    return len(os.sched_getaffinity(0))


def _whole(value, most, name):
    """Returns a checked whole number from 1 to `most`."""
    try:
        number = operator.index(value)
    except TypeError:
        number = 0
    if number < 1 or number > most:
        raise c.Error(f"{name}: a whole number from 1 to {most}, got {value!r}")
    return number


def _threads(threads):
    """Returns a checked number of threads."""
    return _whole(threads, THREADS_MOST, "threads")


def _count(steps, otherwise):
    """Returns a checked number of steps; `otherwise` if steps is None."""
    if steps is None:
        return int(otherwise)
    try:
        steps = operator.index(steps)
    except TypeError:
        raise c.Error(f"steps: a whole number of at least 1, got {steps!r}") from None
    if steps < 1:
        raise c.Error(f"steps: a whole number of at least 1, got {steps}")
    if steps > STEPS_MOST:
        raise c.Error(f"steps: at most {STEPS_MOST}, got {steps}")
    return steps


def _is_text(path_or_text):
    """Returns True for the text of a scene, False for a path."""
    return isinstance(path_or_text, str) and ("\n" in path_or_text or "links:" in path_or_text)


def _override(key, value):
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    return f"{key}={value if isinstance(value, str) else json.dumps(value)}".encode()


def _overrides(overrides):
    if isinstance(overrides, dict):
        return [_override(key, value) for key, value in overrides.items()]
    return [text.encode() for text in overrides or []]


class _Object:
    """Owner of an object of the library. Frees the object when it is garbage-collected."""

    def __init__(self, pointer):
        self.pointer = pointer

    def __del__(self):
        if lib is not None and self.pointer:
            lib.sdrs_free(self.pointer)
        self.pointer = None

    def __reduce__(self):
        raise TypeError("memory of the library cannot be pickled: send the path or text of the scene and its overrides, and "
                        "make the Scene in the other process (Scene.clone copies within a process)")

    def check(self, status):
        if status:
            raise c.error_of(self.pointer, status)

    def clone(self) -> _Object:
        pointer = ctypes.c_void_p()
        status = lib.sdrs_clone(ctypes.byref(pointer), self.pointer)
        other = _Object(pointer)
        other.check(status)
        return other

    def set(self, block, values):
        self.check(lib.sdrs_set(self.pointer, _block(block), values.ctypes.data, values.size))

    def ask(self, function, owner, *arguments):
        array = c.Array()
        self.check(function(self.pointer, *arguments, ctypes.byref(array)))
        return _array(owner, array)


class Scene:
    """A scene, or a task with its scene, and its present state, which `step` advances.

    path_or_text: a path, or a text in YAML or JSON. A string with several lines or with `links:` is a text;
    Scene.from_file and Scene.from_text avoid this guess. overrides: {"links.box.mass": 2} as for --set. threads: number
    of threads within one run. scenario: index of the scenario of a task. path: file name of a text in messages;
    relative paths in the text start at its folder.
    """

    name: str
    dt: float  # s
    steps: int
    nq: int
    nv: int
    nu: int
    design_count: int
    links: list[str]

    def __init__(self, path_or_text: PathLike, overrides: Overrides = None, threads: int = 1, scenario: int = 0,
                 path: PathLike | None = None) -> None:
        self._load(path_or_text, _is_text(path_or_text), overrides, threads, scenario, path)

    @classmethod
    def from_file(cls, path: PathLike, overrides: Overrides = None, threads: int = 1, scenario: int = 0) -> Scene:
        """Reads a scene or task from a file."""
        scene = cls.__new__(cls)
        scene._load(path, False, overrides, threads, scenario, None)
        return scene

    @classmethod
    def from_text(cls, text: str, overrides: Overrides = None, threads: int = 1, scenario: int = 0,
                  path: PathLike | None = None) -> Scene:
        """Reads a scene or task from a text in YAML or JSON. path: file name of the text in messages; relative paths in
        the text start at its folder. A path that ends in .json selects JSON."""
        if not isinstance(text, str):
            raise c.Error(f"text: expected a str, got {type(text).__name__}: Scene.from_file reads a path")
        scene = cls.__new__(cls)
        scene._load(text, True, overrides, threads, scenario, path)
        return scene

    def _load(self, path_or_text: PathLike, is_text: bool, overrides: Overrides, threads: int, scenario: int,
              path: PathLike | None) -> None:
        texts = _overrides(overrides)
        options = c.Options(overrides=(ctypes.c_char_p * max(len(texts), 1))(*texts), override_count=len(texts),
                            threads=_threads(threads), scenario=scenario)
        pointer = ctypes.c_void_p()
        if is_text:
            status = lib.sdrs_parse(ctypes.byref(pointer), os.fspath(path_or_text).encode(), os.fsencode(path) if path else None,
                                    ctypes.byref(options))
        else:
            status = lib.sdrs_load(ctypes.byref(pointer), os.fsencode(path_or_text), ctypes.byref(options))
        self._object = _Object(pointer)
        self._object.check(status)
        self._source = (path_or_text, overrides, is_text)
        self._cloning = threading.Lock()
        self._read()

    def _read(self) -> None:
        pointer, info = self._object.pointer, c.Info()
        lib.sdrs_describe(pointer, ctypes.byref(info))
        self.name, self.dt, self.steps = info.name.decode(), info.dt, info.steps
        self.nq, self.nv, self.nu, self.design_count = info.coordinates, info.velocities, info.inputs, info.design
        self.links = [lib.sdrs_link_name(pointer, k).decode() for k in range(info.links)]
        self._vertices = info.vertices

    def clone(self) -> Scene:
        """Returns a copy in the initial state, with the start and the inputs that were set. Both share the model."""
        other = object.__new__(Scene)
        other._object, other._source, other._cloning = self._object.clone(), self._source, threading.Lock()
        other._read()
        return other

    __copy__ = clone

    def __deepcopy__(self, memo: dict[int, Any]) -> Scene:
        return self.clone()

    def __repr__(self):
        return (f"<sdrs.Scene '{self.name}': {len(self.links)} links, nq {self.nq}, nv {self.nv}, nu {self.nu}, "
                f"{self.steps} steps of {self.dt:g} s>")

    def link(self, link: str | int) -> int:
        """Returns the number of a link, given its name or its number."""
        if isinstance(link, str):
            return _place("link", link, self.links)
        return operator.index(link)

    def names(self, block: str) -> list[str]:
        """Returns the names of the columns of coordinates, velocities, input, design, control, mass, contact or
        material.

        The names of contact and material are the keys of the scene: scene.names("contact").index("friction") is 2.
        """
        counts = {"coordinates": self.nq, "velocities": self.nv, "input": self.nu, "design": self.design_count}
        counts |= {name: self.view(name).shape[-1] for name in ("control", "mass", "contact", "material")}
        count = counts[list(counts)[_place("block with names", block, counts)]]
        return [lib.sdrs_entry_name(self._object.pointer, INDEX[block], k).decode() for k in range(count)]

    # ---------------------------------------------------------------- the present state

    def view(self, block: str, link: str | int = -1) -> Array:
        """Returns a copy of a block of the present state."""
        array = np.array(self._object.ask(lib.sdrs_view, None, _block(block), self.link(link)))
        one_row = block in VECTORS or block == "input" or (block in LINK_BLOCKS and self.link(link) >= 0)
        return array[0] if one_row and len(array) else array

    @property
    def blocks(self) -> dict[str, Array]:
        """All blocks of the present state by name, without blocks that only a recorded run has."""
        found = {}
        for name in c.BLOCKS:
            try:
                if name != "design" or self.design_count:
                    found[name] = self.view(name)
            except c.Error as error:
                if error.status != "USAGE":
                    raise
        return found

    @property
    def time(self) -> float:
        """Present time [s]."""
        return float(self.view("time")[0])

    @property
    def coordinates(self) -> Array:
        """Joint coordinates (nq) [m, rad; quaternions w x y z]."""
        return self.view("coordinates")

    @property
    def velocities(self) -> Array:
        """Joint velocities (nv) [m/s, rad/s]."""
        return self.view("velocities")

    def position(self, link: str | int) -> Array:
        """Returns the position of the frame of a link in the world (3) [m]."""
        return self.view("position", link)

    def orientation(self, link: str | int) -> Array:
        """Returns the orientation of the frame of a link as a quaternion w x y z (4)."""
        return self.view("orientation", link)

    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """Warnings and notes from reading the scene."""
        return list(c.diagnostics_of(self._object.pointer))

    def set(self, block: str, values: ArrayLike | None, continues: bool | None = None) -> None:
        """Sets a block.

        coordinates (nq), velocities (nv): the initial state of a new run. The scene returns to this initial state, at
        time 0. A block that is not set keeps its initial value, not the value after the steps so far: set both blocks to
        start from a state. continues: True if `velocities` are those of the middle of a step, as a run or a step
        returns them (see `run`); False if they belong to the start. None keeps the setting, which is False after
        loading.
        input: targets of the controllers from the present time on, (nu) or (steps, nu); None restores the signals of
        the scene.
        design: variables of the task, which change the scene."""
        if continues is not None and block != "velocities":
            raise c.Error(f"continues: belongs to the velocities, not to '{block}'")
        values = np.zeros(0) if block == "input" and values is None else np.ascontiguousarray(values, dtype=np.float64)
        if block == "input" and values.size and values.shape not in ((self.nu,), (len(values), self.nu)):
            raise c.Error(f"input: got shape {values.shape}, expected ({self.nu},) or (steps, {self.nu})")
        self._object.set(block, values)
        if continues is not None:
            self._object.check(lib.sdrs_continue(self._object.pointer, continues))

    def reset(self) -> None:
        """Returns to the initial state: that of the scene, or the one that was set. Inputs stay set."""
        self._object.check(lib.sdrs_reset(self._object.pointer))

    def clear(self) -> None:
        """Restores the state after loading: discards start and inputs that were set."""
        self._object.check(lib.sdrs_clear(self._object.pointer))

    def step(self, steps: int = 1) -> None:
        """Advances the present state by `steps` steps."""
        self._object.check(lib.sdrs_step(self._object.pointer, _count(steps, 1)))

    # ---------------------------------------------------------------- whole runs

    def run(self, steps: int | None = None, coordinates: ArrayLike | None = None, velocities: ArrayLike | None = None,
            input: ArrayLike | None = None, continues: bool = False) -> Run:
        """Returns a recorded run from coordinates (nq) and velocities (nv) with targets `input` (steps, nu) of the
        controllers. Arguments that are None have the values that were set. The present state does not change.

        With the default integrator the velocities of row k >= 1 are those of the middle of step k. continues: True if
        `velocities` are such velocities, those of the last row of another run; False if they belong to the start.
        Velocities that were set keep the setting of `set`."""
        own = self._started(velocities is not None, continues)
        steps = _count(steps, _rows(input) if input is not None else self.steps)
        if coordinates is not None:
            own.set("coordinates", _doubles(coordinates, (self.nq,), "coordinates"))
        if velocities is not None:
            own.set("velocities", _doubles(velocities, (self.nv,), "velocities"))
        if input is not None:
            own.set("input", _doubles(input, (steps, self.nu), "input"))
        return Run(self, own, steps)

    def _started(self, has_velocities: bool, continues: bool) -> _Object:
        """Returns a clone for a run. has_velocities: the run has initial velocities of its own, to which `continues`
        belongs."""
        with self._cloning:
            own = self._object.clone()
        if has_velocities or continues:
            own.check(lib.sdrs_continue(own.pointer, continues))
        return own

    def record(self, steps: int | None = None) -> Run:
        """Returns a recorded run of this object, not of a copy, from its start with the inputs that were set."""
        return Run(self, self._object, _count(steps, self.steps))

    def rollout(self, steps: int | None = None, coordinates: ArrayLike | None = None, velocities: ArrayLike | None = None,
                input: ArrayLike | None = None, count: int | None = None, threads: int | None = None, record: bool = True,
                strict: bool = True, seeds: Mapping[str, ArrayLike] | None = None, continues: bool = False) -> Rollouts:
        """Simulates many runs in one call.

        coordinates (runs, nq) and velocities (runs, nv): initial states. input (runs, steps, nu): targets of the
        controllers. count: number of runs if all three are None. strict: True raises sdrs.Error if a run fails; False
        repeats the last state of a failed run. threads: by default all processors. continues: as for `run`.

        seeds: derivatives of a loss by recorded blocks, {block: (runs, steps + 1, columns)}, for coordinates (nq),
        velocities (nv), position, orientation, center and force (3 or 4 columns a link). `gradient` of the result is
        then {block: array} as returned by Run.gradient, with the runs first, bit-identical to that of single runs.
        Memory holds as many runs as there are threads."""
        given = [_rows(x) for x in (coordinates, velocities, input, *(seeds or {}).values()) if x is not None]
        count = count if count is not None else given[0] if given else 1
        steps = _count(steps, np.shape(input)[1] if input is not None and np.ndim(input) == 3 else self.steps)
        shapes = {"coordinates": (count, self.nq), "velocities": (count, self.nv), "input": (count, steps, self.nu)}
        inputs = {"coordinates": coordinates, "velocities": velocities, "input": input}
        for name, x in inputs.items():
            if x is not None and np.ndim(x) == len(shapes[name]) - 1:
                raise c.Error(f"{name}: got shape {np.shape(x)}; the first dimension is the run, {name}[None] is that of one run")
        arrays = {name: None if x is None else _doubles(x, shapes[name], name) for name, x in inputs.items()}
        start = self._started(velocities is not None, continues)
        if seeds is not None:
            return self._rollout_gradients(start, count, steps, arrays, seeds, threads, record, strict)
        rows = (count, steps + 1) if record else (count,)
        q, v, done = np.empty(rows + (self.nq,)), np.empty(rows + (self.nv,)), np.zeros(count, dtype=np.int32)
        kinds = ("record", "record_velocities") if record else ("final_coordinates", "final_velocities")
        request = c.RolloutRequest(count=count, steps=steps, threads=_threads(default_threads() if threads is None else threads),
                                   steps_done=done.ctypes.data, **{kinds[0]: q.ctypes.data, kinds[1]: v.ctypes.data},
                                   **{name: x.ctypes.data for name, x in arrays.items() if x is not None})
        status = lib.sdrs_rollout(start.pointer, ctypes.byref(request))
        error = c.error_of(start.pointer, status) if status else None
        if error and (strict or error.status != "SOLVER"):
            raise error
        return Rollouts(q, v, done, error)

    def _rollout_gradients(self, start: _Object, count: int, steps: int, arrays: dict[str, Array | None],
                           seeds: Mapping[str, ArrayLike], threads: int | None, record: bool, strict: bool) -> Rollouts:
        """Computes recorded runs of clones of `start`, and their gradients, on Python threads; calls of the library
        release the interpreter lock."""
        widths = {"coordinates": self.nq, "velocities": self.nv,
                  **{name: len(self.links) * width for name, width in LINK_BLOCKS.items()}}
        wanted = {}
        for name, values in seeds.items():
            _place("block of seeds", name, widths)
            values = np.asarray(values, dtype=np.float64)
            if values.ndim == 4 and name in LINK_BLOCKS:  # (runs, steps + 1, links, 3)
                values = values.reshape(values.shape[:2] + (-1,))
            wanted[name] = _doubles(values, (count, steps + 1, widths[name]), f"seeds by {name}")
        rows = slice(None) if record else -1
        q, v = np.empty((count, steps + 1, self.nq)), np.empty((count, steps + 1, self.nv))
        done = np.zeros(count, dtype=np.int32)
        errors: list[c.Error | None] = [None] * count
        slopes: list[Gradient | None] = [None] * count

        def one(k: int) -> None:
            with self._cloning:
                own = start.clone()
            for name, values in arrays.items():
                if values is not None:
                    own.set(name, values[k])
            try:
                run = Run(self, own, steps)
            except c.Error as error:
                errors[k] = error
                if error.status != "SOLVER":
                    return
                q[k], v[k], done[k] = self._until_failure(own, steps)
                return
            q[k], v[k], done[k] = run.coordinates, run.velocities, run.steps
            try:
                slopes[k] = run._gradient([(INDEX[name], -1, values[k]) for name, values in wanted.items()])
            except c.Error as error:
                errors[k] = error

        workers = _threads(default_threads() if threads is None else threads)
        if workers == 1:
            for k in range(count):
                one(k)
        else:
            with concurrent.futures.ThreadPoolExecutor(workers) as pool:
                list(pool.map(one, range(count)))
        error = next((error for error in errors if error), None)
        if error and (strict or error.status not in ("SOLVER", "NO_GRADIENT")):
            number = errors.index(error)
            raise c.Error(f"rollout {number}: {error}", error.status, error.diagnostics)
        found = Rollouts(q[:, rows], v[:, rows], done, error)
        whole = next((slope for slope in slopes if slope is not None), {})
        found.gradient = {block: np.stack([np.full_like(array, np.nan) if slope is None else slope[block] for slope in slopes])
                          for block, array in whole.items()}
        return found

    def _until_failure(self, own: _Object, steps: int) -> tuple[Array, Array, int]:
        """Returns the record of a failed run, its last state repeated, and the number of steps done."""
        q, v = (np.array(own.ask(lib.sdrs_record, None, INDEX[block], -1)) for block in ("coordinates", "velocities"))
        rows = np.minimum(np.arange(steps + 1), len(q) - 1)
        return q[rows], v[rows], len(q) - 1

    def linearize(self, input: ArrayLike | None = None) -> tuple[Array, Array]:
        """Returns the linearization of one step from the present state: A (2 nv, 2 nv) and B (2 nv, nu) with dx' = A dx
        + B du.

        x: increments of the joints (nv; for a quaternion rotations about the axes of the link), then velocities (nv).
        u: targets of the controllers, constant over the step. input: u (nu); by default the present targets. The
        derivatives are exact to the tolerance of the solver. The step continues the present motion (`continues` of
        `run`), with the loads and prescribed motions of the start of a run."""
        u = _doubles(self.view("input") if input is None else input, (self.nu,), "input") if self.nu else None
        run = self.run(1, coordinates=self.coordinates, velocities=self.velocities, input=None if u is None else u[None],
                       continues=True)
        a, b = np.empty((2 * self.nv, 2 * self.nv)), np.empty((2 * self.nv, self.nu))
        after = np.array(run.coordinates[1])
        for row in range(2 * self.nv):
            seeds = {"coordinates": np.zeros((2, self.nq)), "velocities": np.zeros((2, self.nv))}
            unit = np.eye(self.nv)[row % self.nv]
            if row < self.nv:
                seeds["coordinates"][1] = by_coordinates(self, after, unit)
            else:
                seeds["velocities"][1] = unit
            slope = run._gradient(run._seeds({}, seeds), ("coordinates", "velocities", "input"))
            a[row] = slope["state"]
            b[row] = slope["input"][0] if self.nu else 0
        return a, b

    # ---------------------------------------------------------------- notebooks

    def view_run(self, steps: int | None = None) -> Page:
        """Returns the page of `sdrs render` for a run of the file of this scene, for display in a notebook. Needs the
        program
        sdrs: in the package, in the checkout or on PATH."""
        return Page(self, steps)

    def _repr_html_(self) -> str:
        """Shows the first step of the scene in a notebook, or the reason why there is no page."""
        return _page_or_text(self, Page(self, 1))


class Gradient(dict[str, Array]):
    """Gradient {block: array}. Access to a block without a gradient raises sdrs.Error with the reason."""

    def __init__(self) -> None:
        super().__init__()
        self.missing: dict[str, c.Error] = {}

    def __missing__(self, block: str) -> Array:
        raise self.missing.get(block) or c.Error(f"there is no gradient with respect to '{block}' (there are {', '.join(self)})")


class Run:
    """A recorded run: row k of each array is the state after k steps. Arrays are read-only views of memory of the
    library, which stays allocated as long as a view exists."""

    def __init__(self, scene: Scene, own: _Object, steps: int) -> None:
        self.scene, self._own = scene, own
        own.check(lib.sdrs_run(own.pointer, steps))
        self.time = self._record("time")[:, 0]
        self.steps = len(self.time) - 1

    def __repr__(self):
        return f"<sdrs.Run of '{self.scene.name}': {self.steps} steps to t = {self.time[-1]:g} s>"

    def _record(self, block, link=-1):
        return self._own.ask(lib.sdrs_record, self._own, INDEX[block], link)

    @property
    def coordinates(self) -> Array:
        """Joint coordinates (rows, nq) [m, rad; quaternions w x y z]."""
        return self._record("coordinates")

    @property
    def velocities(self) -> Array:
        """Joint velocities (rows, nv) [m/s, rad/s]."""
        return self._record("velocities")

    def position(self, link: str | int) -> Array:
        """Returns the positions of the frame of a link in the world (rows, 3) [m]."""
        return self._record("position", self.scene.link(link))

    def orientation(self, link: str | int) -> Array:
        """Returns the orientations of the frame of a link as quaternions w x y z (rows, 4), continuous in time."""
        return self._record("orientation", self.scene.link(link))

    def center(self, link: str | int) -> Array:
        """Returns the centre of mass of a link (rows, 3) [m]."""
        return self._record("center", self.scene.link(link))

    def force(self, link: str | int) -> Array:
        """Returns the force of contact and friction on a link (rows, 3) [N]."""
        return self._record("force", self.scene.link(link))

    def reaction(self, link: str | int) -> Array:
        """Returns force and torque of the parent on a link, about the origin of the frame of the link, in world axes
        (rows, 6) [N, N m]. The first row is NaN. Needs simulation.output: [reactions] in the scene."""
        return self._record("reactions", self.scene.link(link))

    def imu(self, link: str | int) -> Array:
        """Returns acceleration minus gravity and angular velocity of the frame of a link, in the axes of the link
        (rows, 6) [m/s^2, rad/s]. The first and the last row are NaN."""
        return self._record("imu", self.scene.link(link))

    def range(self, link: str | int) -> Array:
        """Returns the distances from the origin of the frame of a link to the surfaces of other links along x, -x, y,
        -y, z and -z of the frame (rows, 6) [m]. NaN if nothing is hit."""
        return self._record("range", self.scene.link(link))

    @property
    def positions(self) -> Array:
        """Positions of the frames of all links (rows, links, 3) [m]."""
        return self._record("position").reshape(self.steps + 1, -1, 3)

    @property
    def orientations(self) -> Array:
        """Orientations of the frames of all links as quaternions w x y z (rows, links, 4)."""
        return self._record("orientation").reshape(self.steps + 1, -1, 4)

    # ---------------------------------------------------------------- gradients

    def _seeds(self, links, whole):
        rows, seeds = self.steps + 1, []
        for block, given in links.items():
            if given is not None and not isinstance(given, collections.abc.Mapping):
                raise c.Error(f"{block}: derivatives by link go in a dict, {{link: array of ({rows}, {LINK_BLOCKS[block]})}}")
            for link, values in ({} if given is None else given).items():
                values = _doubles(values, (rows, LINK_BLOCKS[block]), f"derivatives by {block} of '{link}'")
                seeds.append((INDEX[block], self.scene.link(link), values))
        for block, values in whole.items():
            if values is None:
                continue
            width = {"coordinates": self.scene.nq, "velocities": self.scene.nv}.get(block)
            shape = (rows, width) if width is not None else (rows, len(self.scene.links), LINK_BLOCKS[block[:-1]])
            name = block if width is not None else block[:-1]
            seeds.append((INDEX[name], -1, _doubles(values, shape, f"derivatives by {block}")))
        return seeds

    def _all_slopes(self, wanted: Sequence[str] | None = None) -> Gradient:
        slopes = Gradient()
        for block in wanted or GRADIENTS + (["design"] if self.scene.design_count else []):
            try:
                slope = np.array(self._own.ask(lib.sdrs_gradient_view, None, INDEX[block]))
            except c.Error as error:
                if error.status != "USAGE":
                    raise
                slopes.missing[block] = error
                continue
            slopes[block] = slope[0] if block in VECTORS else slope
        slopes["state"] = np.concatenate([slopes["coordinates"], slopes["velocities"]])
        return slopes

    def gradient(self, position: ByLink | None = None, *,
                 orientation: ByLink | None = None,
                 center: ByLink | None = None, force: ByLink | None = None,
                 coordinates: ArrayLike | None = None, velocities: ArrayLike | None = None,
                 positions: ArrayLike | None = None, orientations: ArrayLike | None = None,
                 reaction: ByLink | None = None,
                 imu: ByLink | None = None, range: ByLink | None = None) -> Gradient:
        """Returns the gradient of a loss L, given the derivatives of L by the recorded states.

        position={link: dL/dposition (rows, 3)}, likewise for the other blocks by link; coordinates (rows, nq),
        velocities (rows, nv), positions (rows, links, 3), orientations (rows, links, 4).

        The result is {block: array}: initial coordinates (nv; for a quaternion by rotations about the axes of the
        link), initial velocities (nv), state (2 nv, both together), input (steps, nu), control (parameters of the
        signals of the scene), vertices (vertices, 3), attachments (links, 3), mass (links), contact, material (1 + links +
        items of contact.pairs, 9: restitution and others, see names("material"); row 0 is that of `contact` in the
        scene), and design for a task. A run with the signals of the scene has no `input`, and a run with inputs has no `design` if a task has
        control variables; access to a missing block raises sdrs.Error."""
        seeds = self._seeds({"position": position, "orientation": orientation, "center": center, "force": force,
                             "reactions": reaction, "imu": imu, "range": range},
                            {"coordinates": coordinates, "velocities": velocities, "positions": positions,
                             "orientations": orientations})
        return self._gradient(seeds)

    def _gradient(self, seeds: Sequence[tuple[int, int, Array]], wanted: Sequence[str] | None = None) -> Gradient:
        """Returns the gradient. seeds: (number of the block, link or -1, values). wanted: blocks, which must include
        coordinates and velocities, or None for all."""
        array = (c.Seed * max(len(seeds), 1))(*[c.Seed(block=block, link=link, values=values.ctypes.data, count=values.size)
                                                for block, link, values in seeds])
        self._own.check(lib.sdrs_gradient(self._own.pointer, array, len(seeds)))
        return self._all_slopes(wanted)

    def loss(self) -> tuple[float, Gradient]:
        """Returns the loss of the task and its gradient {block: array}."""
        value = ctypes.c_double()
        self._own.check(lib.sdrs_loss(self._own.pointer, None, None, ctypes.byref(value)))
        return value.value, self._all_slopes()

    def certify(self) -> Proof:
        """Tries to prove that no two bodies intersect, in the recorded states and between them. Returns a Proof."""
        found = c.ProofResult()
        self._own.check(lib.sdrs_certify(self._own.pointer, ctypes.byref(found)))
        names = tuple(self.scene.links[k] for k in (found.link_a, found.link_b) if k >= 0)
        return Proof(bool(found.proved), found.row, names, bool(found.meets), found.smallest_gap)


    # ---------------------------------------------------------------- pictures

    def plot(self, what: str = "coordinates", link: str | int | None = None, axes: Any = None) -> Any:
        """Draws columns of the run against time [s] by matplotlib and returns its axes. what: "coordinates" or
        "velocities" of all joints, or "position" [m], "center" [m], "force" [N] of `link`. axes: axes to draw into; by
        default those of a new figure."""
        if what in ("coordinates", "velocities"):
            values, names = self._record(what), self.scene.names(what)
        elif what in ("position", "center", "force"):
            if link is None:
                raise c.Error(f"plot of {what}: no link given: name one of {', '.join(self.scene.links)}")
            values, names = self._record(what, self.scene.link(link)), ["x", "y", "z"]
        else:
            raise c.Error(f"plot: unknown quantity '{what}': use coordinates, velocities, position, center or force")
        if axes is None:
            try:
                from matplotlib import pyplot
            except ImportError:
                raise c.Error("plot: no matplotlib in this Python: install it, or pass axes") from None
            axes = pyplot.figure().add_subplot()
        for name, column in zip(names, np.asarray(values).T):
            axes.plot(self.time, column, label=name)
        axes.set_xlabel("time [s]")
        axes.set_ylabel({"position": "position [m]", "center": "center [m]", "force": "force [N]"}.get(what, what))
        axes.set_title(self.scene.name if link is None else f"{self.scene.name}: {self.scene.links[self.scene.link(link)]}")
        axes.legend()
        return axes

    def show(self, file: PathLike | None = None) -> str:
        """Writes the page of this run and returns its path. Without `file` the page is temporary and opens in the
        browser."""
        page = Page(self.scene, run=self).html()
        if file is None:
            handle, path = tempfile.mkstemp(".html", "sdrs-")
            with os.fdopen(handle, "w") as out:
                out.write(page)
            webbrowser.open(pathlib.Path(path).as_uri())
            return path
        pathlib.Path(file).write_text(page)
        return os.fspath(file)

    def _repr_html_(self) -> str:
        """Shows the page of this run in a notebook, or the reason why there is no page."""
        return _page_or_text(self, Page(self.scene, run=self))


def _plain(thing):
    """Converts numpy arrays and numbers for JSON."""
    return thing.tolist()


def _ask(questions, path):
    """Returns answers as `sdrs query` does: a dict for a dict, a list for a list."""
    found = ctypes.c_void_p()
    status = lib.sdrs_query_text(json.dumps(questions, default=_plain).encode(), os.fsencode(path) if path else None,
                                 ctypes.byref(found))
    text = ctypes.string_at(found).decode() if found else "out of memory"
    lib.sdrs_free_text(found)
    if status:
        raise c.Error(text, c.STATUS[status])
    answers = [json.loads(line, parse_int=float) for line in text.splitlines()]
    return answers[0] if isinstance(questions, dict) else answers


def query(a: Any, b: ArrayLike | None = None, support: float | None = None, path: PathLike | None = None) -> Any:
    """Computes distances and contacts of two bodies, as `sdrs query` does.

    query(question), query([question, ...]): a question is a dict with `method`, `a`, `b` and further keys of
    docs/queries.md. Returns a dict for a dict and a list for a list. Mesh files are relative to the folder of `path`.
    query(a, b, support): returns distance and contact potential of the convex hulls of two sets of points (n, 3).
    """
    if b is None:
        return _ask(a, path)
    a, b = (np.ascontiguousarray(x, dtype=np.float64).reshape(-1, 3) for x in (a, b))
    found, grad_a, grad_b = c.DistanceResult(), np.zeros_like(a), np.zeros_like(b)
    status = lib.sdrs_query(a.ctypes.data, len(a), b.ctypes.data, len(b), support, ctypes.byref(found), grad_a.ctypes.data,
                            grad_b.ctypes.data)
    if status:
        raise c.Error("points must be finite, and the support above 0", c.STATUS[status])
    return {"distance": found.distance, "witness_a": np.array(found.witness_a), "witness_b": np.array(found.witness_b),
            "potential": found.potential, "plane": np.array(found.plane), "grad_a": grad_a, "grad_b": grad_b}


class Page:
    """The page of `sdrs render` of a run, for notebooks. Without `run` the file of the scene is simulated."""

    def __init__(self, scene: Scene, steps: int | None = None, run: Run | None = None) -> None:
        self.scene, self.steps, self.run = scene, steps, run

    def html(self) -> str:
        """Returns the page as HTML. Raises sdrs.Error if the program sdrs is missing or rejects the scene."""
        path = program()
        if not path:
            raise c.Error("no program sdrs for the page: build it with `make` (./sdrs of the checkout), or put it on PATH")
        source, overrides, is_text = self.scene._source
        with tempfile.TemporaryDirectory() as folder:
            if is_text:
                file = pathlib.Path(folder, "scene.yaml")
                file.write_text(os.fspath(source))
                source = file
            words = [path, "simulate", os.fspath(source), "-q", "-o", folder + "/run"]
            for text in _overrides(overrides):
                words += ["--set", text.decode()]
            steps = 1 if self.run else self.steps
            words += ["--steps", str(steps)] if steps else []
            _call(words)
            if self.run:
                _replace_motion(pathlib.Path(folder, "run"), self.run)
            _call([path, "render", folder + "/run", "-q", "-o", folder + "/run.html"])
            return pathlib.Path(folder, "run.html").read_text()

    def _repr_html_(self) -> str:
        return f'<iframe style="width: 100%; height: 480px; border: 0" srcdoc="{html.escape(self.html())}"></iframe>'


def _call(words):
    """Runs a program. Raises sdrs.Error with the message of the program if it fails."""
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise c.Error(done.stderr.strip())


# Keys of summary.json that describe the scene, not the run.
SCENE_PARTS = ("name", "program", "working_folder", "inputs", "overrides", "model", "mass_models", "simulation", "contact")


def _replace_motion(folder, run):
    """Writes the motion of `run` into a run folder of its scene. Removes tables of other motions."""
    table = folder / "trajectory.csv"
    header = table.read_text().split("\n", 1)[0]
    names = [column[:-3] for column in header.split(",") if column.endswith("/px")]
    columns = [run.time[:, None]]
    for name in names:
        columns += [run.position(name), run.orientation(name), run.center(name)]
    for file in folder.glob("*.csv"):
        file.unlink()
    np.savetxt(table, np.hstack(columns), "%.17g", ",", header=header, comments="")
    summary = json.loads((folder / "summary.json").read_text())
    summary["simulation"]["steps"] = run.steps
    (folder / "summary.json").write_text(json.dumps({key: summary[key] for key in SCENE_PARTS if key in summary}))


def _page_or_text(thing, page):
    """Returns the page, or the text of `thing` and the reason why there is no page."""
    try:
        return page._repr_html_()
    except c.Error as missing:
        return f"<pre>{html.escape(repr(thing))}\n{html.escape(str(missing))}</pre>"
