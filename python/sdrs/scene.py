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
LINK_BLOCKS = {"position": 3, "orientation": 4, "center": 3, "force": 3, "reactions": 6, "imu": 6}
GRADIENTS = ["coordinates", "velocities", "input", "control", "vertices", "attachments", "mass", "contact"]
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
    """coordinates (runs, steps + 1, nq) and velocities (runs, steps + 1, nv), or the last of each where no record was wanted;
    steps done (runs); error: None, or the sdrs.Error of the first run that failed. gradient: where seeds were given, {block:
    array}, as of Run.gradient, runs first; NaN for a run that failed."""

    gradient: dict[str, Array] | None = None


class Proof(NamedTuple):
    """Of Run.certify: proved; the row where a proof fails first (-1: none) and the links there; do they intersect; the smallest
    gap of a recorded state [m]."""

    proved: bool
    row: int
    links: tuple[str, ...]
    meets: bool
    smallest_gap: float



class _Memory:
    """Numbers of the library as numpy sees them: no copy, read only, and their owner lives as long as any array of them."""

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
    """Length of the first dimension; 1 for a number, which _doubles refuses."""
    return (*np.shape(values), 1)[0]


def _place(kind, name, names):
    """Place of a name in a list; a name that is none comes back with the one that may be meant, or with all there are."""
    names = list(names)
    if name in names:
        return names.index(name)
    near = difflib.get_close_matches(str(name), names, 1)
    raise c.Error(f"there is no {kind} '{name}'" +
                  (f" (did you mean '{near[0]}'?)" if near else f" (there are {', '.join(names)})" if len(names) <= 20 else ""))


def _block(name):
    """A block's number by its name."""
    return _place("block", name, c.BLOCKS)


STEPS_MOST = 10**9  # as of simulation.steps
THREADS_MOST = 1024  # as of --threads


def default_threads() -> int:
    """As many as there are processors for this process."""
    return len(os.sched_getaffinity(0))


def _threads(threads):
    """A number of threads."""
    try:
        number = operator.index(threads)
    except TypeError:
        number = 0
    if number < 1 or number > THREADS_MOST:
        raise c.Error(f"threads: a whole number from 1 to {THREADS_MOST}, got {threads!r}")
    return number


def _count(steps, otherwise):
    """A number of steps; None: as many as otherwise."""
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
    """A scene itself, rather than where it stands?"""
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
    """An object of the library, freed with the last one who knows it."""

    def __init__(self, pointer):
        self.pointer = pointer

    def __del__(self):
        if lib is not None and self.pointer:
            lib.sdrs_free(self.pointer)
        self.pointer = None

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
    """A scene, or a task with its scene, and one run of it that goes on step by step.

    path_or_text: a path, or a text in YAML or JSON (what has several lines, or the word `links:`); Scene.from_file and
    Scene.from_text say which. overrides: {"links.box.mass": 2} as for --set. threads: within one run. scenario: of a task.
    path: what a text is called in messages, and what paths in it start from.
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
        """The scene or task in this file, whatever its name looks like."""
        scene = cls.__new__(cls)
        scene._load(path, False, overrides, threads, scenario, None)
        return scene

    @classmethod
    def from_text(cls, text: str, overrides: Overrides = None, threads: int = 1, scenario: int = 0,
                  path: PathLike | None = None) -> Scene:
        """The scene or task that this text is, in YAML or JSON, of one line too. path: what it is called in messages, and what
        paths in it start from; a name that ends in .json makes it JSON."""
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
        """Another run of the same scene, at its beginning, with the start and the inputs that were set; what the scene holds is
        shared."""
        other = object.__new__(Scene)
        other._object, other._source, other._cloning = self._object.clone(), self._source, threading.Lock()
        other._read()
        return other

    __copy__ = clone

    def __repr__(self):
        return (f"<sdrs.Scene '{self.name}': {len(self.links)} links, nq {self.nq}, nv {self.nv}, nu {self.nu}, "
                f"{self.steps} steps of {self.dt:g} s>")

    def link(self, link: str | int) -> int:
        """Number of a link by its name, or the number itself."""
        if isinstance(link, str):
            return _place("link", link, self.links)
        return operator.index(link)

    def names(self, block: str) -> list[str]:
        """Names of the columns of coordinates, velocities, input, design, control, mass or contact.

        Those of contact are the keys of the scene: scene.names("contact").index("friction") is 2.
        """
        counts = {"coordinates": self.nq, "velocities": self.nv, "input": self.nu, "design": self.design_count}
        counts |= {name: self.view(name).size for name in ("control", "mass", "contact")}
        count = counts[list(counts)[_place("block with names", block, counts)]]
        return [lib.sdrs_entry_name(self._object.pointer, INDEX[block], k).decode() for k in range(count)]

    # ---------------------------------------------------------------- the present state

    def view(self, block: str, link: str | int = -1) -> Array:
        """A copy of the numbers of a block now."""
        array = np.array(self._object.ask(lib.sdrs_view, None, _block(block), self.link(link)))
        one_row = block in VECTORS or block == "input" or (block in LINK_BLOCKS and self.link(link) >= 0)
        return array[0] if one_row and len(array) else array

    @property
    def blocks(self) -> dict[str, Array]:
        """All blocks by name, as they are now; without those that the scene does not have or a recorded run alone has."""
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
        """s"""
        return float(self.view("time")[0])

    @property
    def coordinates(self) -> Array:
        """(nq) m, rad, quaternions w x y z"""
        return self.view("coordinates")

    @property
    def velocities(self) -> Array:
        """(nv) m/s, rad/s"""
        return self.view("velocities")

    def position(self, link: str | int) -> Array:
        """Of a link's frame in the world (3) [m]"""
        return self.view("position", link)

    def orientation(self, link: str | int) -> Array:
        """Quaternion w x y z of a link's frame (4)"""
        return self.view("orientation", link)

    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """What was found when the scene was read: warnings and notes."""
        return list(c.diagnostics_of(self._object.pointer))

    def set(self, block: str, values: ArrayLike | None) -> None:
        """coordinates, velocities: a run begins anew there. input: targets from now on, (nu) or (steps, nu); None: the
        scene's own signals again. design: the scene is that of these variables."""
        if block == "input" and values is None:
            values = np.zeros(0)
        self._object.set(block, np.ascontiguousarray(values, dtype=np.float64))

    def reset(self) -> None:
        """To the start: of the scene, or what was set. Inputs stay."""
        self._object.check(lib.sdrs_reset(self._object.pointer))

    def clear(self) -> None:
        """As after loading: nothing set."""
        self._object.check(lib.sdrs_clear(self._object.pointer))

    def step(self, steps: int = 1) -> None:
        """Advances the present state."""
        self._object.check(lib.sdrs_step(self._object.pointer, _count(steps, 1)))

    # ---------------------------------------------------------------- whole runs

    def run(self, steps: int | None = None, coordinates: ArrayLike | None = None, velocities: ArrayLike | None = None,
            input: ArrayLike | None = None) -> Run:
        """A recorded run from the start, or from these coordinates (nq) and velocities (nv), with these targets
        (steps, nu) of the controllers; what is not given is what was set. The scene itself stays where it is."""
        own = self._object.clone()
        steps = _count(steps, _rows(input) if input is not None else self.steps)
        if coordinates is not None:
            own.set("coordinates", _doubles(coordinates, (self.nq,), "coordinates"))
        if velocities is not None:
            own.set("velocities", _doubles(velocities, (self.nv,), "velocities"))
        if input is not None:
            own.set("input", _doubles(input, (_rows(input), self.nu), "input"))
        return Run(self, own, steps)

    def record(self, steps: int | None = None) -> Run:
        """The run of this very scene from its start, with the start and the inputs that were set in it."""
        return Run(self, self._object, _count(steps, self.steps))

    def rollout(self, steps: int | None = None, coordinates: ArrayLike | None = None, velocities: ArrayLike | None = None,
                input: ArrayLike | None = None, count: int | None = None, threads: int | None = None, record: bool = True,
                strict: bool = True, seeds: Mapping[str, ArrayLike] | None = None) -> Rollouts:
        """Many runs in one call: from starts (runs, nq), (runs, nv), with inputs (runs, steps, nu), or `count` times the
        same. strict: a run that fails raises; otherwise its rows repeat its last state. threads: default all processors.

        seeds: derivatives of a loss by what the runs show, {block: (runs, steps + 1, columns)} with the blocks coordinates
        (nq), velocities (nv), position, orientation, center and force (links x 3 or 4, one link after the other). Then
        `gradient` of the answer is {block: array}, as of Run.gradient, runs first: bit for bit that of each run by itself.
        As many runs are held in memory as there are threads."""
        given = [_rows(x) for x in (coordinates, velocities, input, *(seeds or {}).values()) if x is not None]
        count = count if count is not None else given[0] if given else 1
        steps = _count(steps, np.shape(input)[1] if input is not None and np.ndim(input) == 3 else self.steps)
        shapes = {"coordinates": (count, self.nq), "velocities": (count, self.nv), "input": (count, steps, self.nu)}
        inputs = {"coordinates": coordinates, "velocities": velocities, "input": input}
        for name, x in inputs.items():
            if x is not None and np.ndim(x) == len(shapes[name]) - 1:
                raise c.Error(f"{name}: got shape {np.shape(x)}; the first dimension is the run, {name}[None] is that of one run")
        arrays = {name: None if x is None else _doubles(x, shapes[name], name) for name, x in inputs.items()}
        if seeds is not None:
            return self._rollout_gradients(count, steps, arrays, seeds, threads, record, strict)
        rows = (count, steps + 1) if record else (count,)
        q, v, done = np.empty(rows + (self.nq,)), np.empty(rows + (self.nv,)), np.zeros(count, dtype=np.int32)
        kinds = ("record", "record_velocities") if record else ("final_coordinates", "final_velocities")
        request = c.RolloutRequest(count=count, steps=steps, threads=_threads(default_threads() if threads is None else threads),
                                   steps_done=done.ctypes.data, **{kinds[0]: q.ctypes.data, kinds[1]: v.ctypes.data},
                                   **{name: x.ctypes.data for name, x in arrays.items() if x is not None})
        status = lib.sdrs_rollout(self._object.pointer, ctypes.byref(request))
        error = c.error_of(self._object.pointer, status) if status else None
        if error and (strict or error.status != "SOLVER"):
            raise error
        return Rollouts(q, v, done, error)

    def _rollout_gradients(self, count: int, steps: int, arrays: dict[str, Array | None], seeds: Mapping[str, ArrayLike],
                           threads: int | None, record: bool, strict: bool) -> Rollouts:
        """A recorded run and its gradient after another, on threads of Python, which the library's calls do not hold up."""
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
                own = self._object.clone()
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
        """What a run that failed has recorded, its last state repeated."""
        q, v = (np.array(own.ask(lib.sdrs_record, None, INDEX[block], -1)) for block in ("coordinates", "velocities"))
        rows = np.minimum(np.arange(steps + 1), len(q) - 1)
        return q[rows], v[rows], len(q) - 1

    def linearize(self, input: ArrayLike | None = None) -> tuple[Array, Array]:
        """A (2 nv, 2 nv) and B (2 nv, nu) of one step from the present state x, with targets u of the controllers: dx' = A dx +
        B du. x: increments of the joints (nv; of a quaternion turns about the link's axes), then velocities (nv). input: u (nu),
        held over the step; default: the present targets. By the adjoint, exact to the solver's tolerance. The step is the first
        one of a run, at its time: loads and prescribed motions are those of the start, and what a longer run knows of the states
        before is not there."""
        u = _doubles(self.view("input") if input is None else input, (self.nu,), "input") if self.nu else None
        run = self.run(1, coordinates=self.coordinates, velocities=self.velocities, input=None if u is None else u[None])
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
        """For a notebook: the page of `sdrs render` of a run of this scene's file, inline. Needs the program: that of the
        package, of the checkout, or on PATH."""
        return Page(self, steps)

    def _repr_html_(self) -> str:
        """In a notebook: the first step of the scene's file as a page, or the reason why there is none."""
        return _page_or_text(self, Page(self, 1))


class Gradient(dict[str, Array]):
    """{block: array}. A block that this run has no gradient by is not in it; asking for it raises the library's error."""

    def __init__(self) -> None:
        super().__init__()
        self.missing: dict[str, c.Error] = {}

    def __missing__(self, block: str) -> Array:
        raise self.missing.get(block) or c.Error(f"there is no gradient with respect to '{block}' (there are {', '.join(self)})")


class Run:
    """A recorded run: row k of each array is the state after k steps. Arrays are the library's own memory, read only; they hold
    as long as anyone knows them."""

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
        """(rows, nq)"""
        return self._record("coordinates")

    @property
    def velocities(self) -> Array:
        """(rows, nv)"""
        return self._record("velocities")

    def position(self, link: str | int) -> Array:
        """Of a link's frame in the world (rows, 3) [m]"""
        return self._record("position", self.scene.link(link))

    def orientation(self, link: str | int) -> Array:
        """Quaternions w x y z of a link's frame (rows, 4), continuous in time"""
        return self._record("orientation", self.scene.link(link))

    def center(self, link: str | int) -> Array:
        """Of a link's mass (rows, 3) [m]"""
        return self._record("center", self.scene.link(link))

    def force(self, link: str | int) -> Array:
        """Of contact and friction on a link (rows, 3) [N]"""
        return self._record("force", self.scene.link(link))

    def reaction(self, link: str | int) -> Array:
        """Force and torque of the parent on a link about its frame's origin, world axes (rows, 6) [N, N m]; NaN in the
        first row. The scene asks for them: simulation.output: [reactions]"""
        return self._record("reactions", self.scene.link(link))

    def imu(self, link: str | int) -> Array:
        """Acceleration less gravity of a link's frame and its angular velocity, in the link's axes (rows, 6) [m/s^2, rad/s];
        NaN in the first and the last row"""
        return self._record("imu", self.scene.link(link))

    @property
    def positions(self) -> Array:
        """Of all links (rows, links, 3)"""
        return self._record("position").reshape(self.steps + 1, -1, 3)

    @property
    def orientations(self) -> Array:
        """Of all links (rows, links, 4)"""
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
                 imu: ByLink | None = None) -> Gradient:
        """Of a loss, from its derivatives: position={link: dL/dposition (rows, 3)} and so on; coordinates (rows, nq),
        velocities (rows, nv), positions (rows, links, 3). Returns {block: array}: coordinates and velocities of the start
        (nv; of a quaternion by turns about the link's axes; `state`: one after the other), input (steps, nu), control
        (parameters of the scene's signals), vertices (vertices, 3), attachments (links, 3), mass (links), contact, and
        design where the scene is a task. A run that follows the scene's own signals has no `input`, and asking for it raises
        sdrs.Error; so does `design` with control variables in a run that follows inputs."""
        seeds = self._seeds({"position": position, "orientation": orientation, "center": center, "force": force,
                             "reactions": reaction, "imu": imu},
                            {"coordinates": coordinates, "velocities": velocities, "positions": positions,
                             "orientations": orientations})
        return self._gradient(seeds)

    def _gradient(self, seeds: Sequence[tuple[int, int, Array]], wanted: Sequence[str] | None = None) -> Gradient:
        """seeds: (number of the block, link or -1, values). wanted: blocks, with coordinates and velocities among them; None:
        all."""
        array = (c.Seed * max(len(seeds), 1))(*[c.Seed(block=block, link=link, values=values.ctypes.data, count=values.size)
                                                for block, link, values in seeds])
        self._own.check(lib.sdrs_gradient(self._own.pointer, array, len(seeds)))
        return self._all_slopes(wanted)

    def loss(self) -> tuple[float, Gradient]:
        """The loss of the task and its gradient, {block: array}."""
        value = ctypes.c_double()
        self._own.check(lib.sdrs_loss(self._own.pointer, None, None, ctypes.byref(value)))
        return value.value, self._all_slopes()

    def certify(self) -> Proof:
        """A proof that no two bodies intersect in the recorded states and between them."""
        found = c.ProofResult()
        self._own.check(lib.sdrs_certify(self._own.pointer, ctypes.byref(found)))
        names = tuple(self.scene.links[k] for k in (found.link_a, found.link_b) if k >= 0)
        return Proof(bool(found.proved), found.row, names, bool(found.meets), found.smallest_gap)


    # ---------------------------------------------------------------- pictures

    def plot(self, what: str = "coordinates", link: str | int | None = None, axes: Any = None) -> Any:
        """Draws columns of the run against time [s] by matplotlib and returns its axes. what: "coordinates" or "velocities" of
        all joints, or "position" [m], "center" [m], "force" [N] of `link`. axes: where to draw; default: a new figure."""
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
        """Writes the page of this run and returns its path. Without `file` the page is temporary and opens in the browser."""
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
        """In a notebook: the page of this run, or the reason why there is none."""
        return _page_or_text(self, Page(self.scene, run=self))


def _plain(thing):
    """What JSON does not know: numpy's arrays and numbers."""
    return thing.tolist()


def _ask(questions, path):
    """Answers as of `sdrs query`: a dict for a dict, a list for a list."""
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
    """Where two bodies meet, as of `sdrs query`.

    query(question), query([question, ...]): dicts with `method`, `a`, `b` and what else docs/queries.md names; a dict, or
    a list of them. Meshes are sought beside `path`. query(a, b, support): distance and contact potential of the convex
    hulls of two sets of points (n, 3), as arrays.
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
    """A run as the page of `sdrs render`, for notebooks: the given run, or a new one of the scene's file."""

    def __init__(self, scene: Scene, steps: int | None = None, run: Run | None = None) -> None:
        self.scene, self.steps, self.run = scene, steps, run

    def html(self) -> str:
        """The page as one HTML text. Raises sdrs.Error where the program is missing or refuses the scene."""
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
    """Runs a program; its message is the error."""
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise c.Error(done.stderr.strip())


# The parts of summary.json that describe the scene and not the run.
SCENE_PARTS = ("name", "program", "working_folder", "inputs", "overrides", "model", "mass_models", "simulation", "contact")


def _replace_motion(folder, run):
    """Writes the motion of `run` into a run folder of its scene. Tables that belong to another motion are removed."""
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
    """The page; where there is none, the text of `thing` and the reason."""
    try:
        return page._repr_html_()
    except c.Error as missing:
        return f"<pre>{html.escape(repr(thing))}\n{html.escape(str(missing))}</pre>"
