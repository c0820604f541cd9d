"""Recorded runs of one scene in parallel, and their gradients."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence

import numpy as np

from . import _library as c
from .scene import INDEX, LINK_BLOCKS, VECTORS, Array, Scene, _array, _doubles, _threads, default_threads


class Many:
    """`count` recorded runs of `steps` steps, kept in memory.

    coordinates (count, nq), velocities (count, nv), input (count, steps, nu): None stands for the values of the scene.
    threads: by default all processors. continues: as for Scene.run."""

    def __init__(self, scene: Scene, steps: int, count: int, coordinates: Array | None = None, velocities: Array | None = None,
                 input: Array | None = None, threads: int | None = None, continues: bool = False) -> None:
        self.scene, self.steps, self.count = scene, steps, count
        self.threads = _threads(default_threads() if threads is None else threads)
        shapes = {"coordinates": (count, scene.nq), "velocities": (count, scene.nv), "input": (count, steps, scene.nu)}
        given = {name: _doubles(x, shapes[name], name)
                 for name, x in (("coordinates", coordinates), ("velocities", velocities), ("input", input)) if x is not None}
        with scene._cloning:
            self.objects = [scene._object.clone() for _ in range(count)]
        for own in self.objects if continues else ():
            own.check(c.lib.sdrs_continue(own.pointer, True))
        for name, values in given.items():
            for own, row in zip(self.objects, values):
                own.check(c.lib.sdrs_set(own.pointer, INDEX[name], row.ctypes.data, row.size))
        self._pointers = (ctypes.c_void_p * max(count, 1))(*[own.pointer for own in self.objects])
        self._check(c.lib.sdrs_run_all(self._pointers, count, steps, self.threads))

    def _check(self, status: int) -> None:
        """Raises the error of the first run that failed."""
        if not status:
            return
        for k, own in enumerate(self.objects):
            if c.lib.sdrs_error(own.pointer):
                error = c.error_of(own.pointer, status)
                raise c.Error(f"run {k}: {error}", error.status, error.diagnostics)
        raise c.Error("a run failed", c.STATUS[status])

    def _gather(self, function, name: str, *arguments: int) -> Array:
        return np.stack([_array(None, self._ask(function, own, name, *arguments)) for own in self.objects])

    @staticmethod
    def _ask(function, own, name, *arguments):
        array = c.Array()
        own.check(function(own.pointer, INDEX[name], *arguments, ctypes.byref(array)))
        return array

    def record(self, name: str) -> Array:
        """Returns a recorded block of all runs (count, steps + 1, columns). Columns are ordered by link."""
        return self._gather(c.lib.sdrs_record, name, -1)

    def gradient(self, seeds: Mapping[str, Array], wanted: Sequence[str]) -> dict[str, Array]:
        """Returns the derivatives of a loss by the blocks `wanted`: {block: (count, ...)}.

        seeds: derivatives of the loss by recorded blocks, {block: (count, steps + 1, columns)}."""
        links = len(self.scene.links)
        widths = {"coordinates": self.scene.nq, "velocities": self.scene.nv,
                  **{name: links * width for name, width in LINK_BLOCKS.items()}}
        values = {name: _doubles(x, (self.count, self.steps + 1, widths[name]), f"seeds by {name}") for name, x in seeds.items()}
        each = [c.Seed(block=INDEX[name], link=-1, values=x[k].ctypes.data, count=x[k].size)
                for k in range(self.count) for name, x in values.items()]
        array = (c.Seed * max(len(each), 1))(*each)
        self._check(c.lib.sdrs_gradient_all(self._pointers, self.count, array, len(values), self.threads))
        found = {name: self._gather(c.lib.sdrs_gradient_view, name) for name in wanted}
        return {name: x[:, 0] if name in VECTORS else x for name, x in found.items()}
