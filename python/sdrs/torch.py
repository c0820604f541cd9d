"""Runs and steps as torch functions: their backward pass is the adjoint of the run. Doubles on the CPU.

    import sdrs, sdrs.torch
    out = sdrs.torch.run(scene, velocities=v)            # out.positions (steps + 1, links, 3), out.coordinates, ...
    (out.positions[-1, 1] - target).square().sum().backward()
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from ._chart import by_coordinates
from ._library import Error
from ._many import Many
from .scene import Scene, _count

class Output(NamedTuple):
    """Of `run`: (steps + 1, nq), (steps + 1, nv), (steps + 1, links, 3), (steps + 1, links, 4); of many runs with these first."""

    coordinates: torch.Tensor
    velocities: torch.Tensor
    positions: torch.Tensor
    orientations: torch.Tensor


def _numpy(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().cpu().numpy().astype(np.float64)


def _tensor(array):
    return torch.from_numpy(np.array(array, dtype=np.float64))


def _runs(scene, steps, coordinates, velocities, input, threads):
    """The runs of one call, from tensors with the runs first."""
    tensors = {"coordinates": coordinates, "velocities": velocities, "input": input}
    given = {name: None if x is None else _numpy(x) for name, x in tensors.items()}
    count = next((len(x) for x in given.values() if x is not None), 1)
    return Many(scene, steps, count, threads=threads, **given), given["coordinates"]


def _slopes(ctx, seeds):
    """Derivatives by coordinates, velocities and input, where they are asked for."""
    wanted = ["coordinates", "velocities"] + ["input"] * ctx.needs_input_grad[2]
    found = ctx.runs.gradient(seeds, wanted)
    if ctx.needs_input_grad[0]:
        found["coordinates"] = by_coordinates(ctx.runs.scene, ctx.start, found["coordinates"])
    return [_tensor(found[name]) if asked else None
            for name, asked in zip(("coordinates", "velocities", "input"), ctx.needs_input_grad)]


def _side_by_side(function, tensors, dimensions, *others):
    """Calls a function of tensors with the runs first. Without a run's dimension in any tensor it is one run, and the results have
    none either; a tensor without it is that of all runs."""
    tensors = [None if x is None else torch.as_tensor(x) for x in tensors]
    for x, wanted, name in zip(tensors, dimensions, ("coordinates", "velocities", "input")):
        if x is not None and x.dim() not in (wanted, wanted + 1):
            raise Error(f"{name}: expected {wanted} dimensions, or {wanted + 1} with the runs first, got {x.dim()}")
    counts = {len(x) for x, wanted in zip(tensors, dimensions) if x is not None and x.dim() == wanted + 1}
    if len(counts) > 1:
        raise Error(f"the tensors have different numbers of runs: {sorted(counts)}")
    count = max(counts, default=1)
    spread = [x if x is None or x.dim() > wanted else x.expand(count, *x.shape) for x, wanted in zip(tensors, dimensions)]
    results = function(*spread, *others)
    return results if counts else tuple(x[0] for x in results)


class _Run(torch.autograd.Function):
    @staticmethod
    def forward(ctx, coordinates, velocities, input, scene, steps, threads):
        ctx.runs, ctx.start = _runs(scene, steps, coordinates, velocities, input, threads)
        q, v, x, r = (ctx.runs.record(name) for name in ("coordinates", "velocities", "position", "orientation"))
        links = len(scene.links)
        return _tensor(q), _tensor(v), _tensor(x.reshape(*x.shape[:2], links, 3)), _tensor(r.reshape(*r.shape[:2], links, 4))

    @staticmethod
    def backward(ctx, *grad_outputs):
        names = "coordinates", "velocities", "position", "orientation"
        given = {name: _numpy(seed).reshape(*seed.shape[:2], -1) for name, seed in zip(names, grad_outputs) if seed is not None}
        return (*_slopes(ctx, given), None, None, None)


def run(scene: Scene, coordinates: torch.Tensor | None = None, velocities: torch.Tensor | None = None,
        input: torch.Tensor | None = None, steps: int | None = None, threads: int | None = None) -> Output:
    """A whole run from coordinates (nq) and velocities (nv) with targets (steps, nu), each a tensor or None (the scene's):
    coordinates (steps + 1, nq), velocities (steps + 1, nv), positions (steps + 1, links, 3) and orientations
    (steps + 1, links, 4) of all links. With the runs as first dimension of any of them, (runs, nq) ..., it is many runs in one
    call of the library on `threads` threads (default: all processors), and all results have that dimension first."""
    wanted = scene.steps if input is None else input.shape[-2]
    return Output(*_side_by_side(_Run.apply, (coordinates, velocities, input), (1, 1, 2), scene, _count(steps, wanted), threads))


class _Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx, coordinates, velocities, input, scene, steps, threads):
        held = None if input is None else input[:, None, :].expand(-1, steps, -1)
        ctx.runs, ctx.start = _runs(scene, steps, coordinates, velocities, held, threads)
        return _tensor(ctx.runs.record("coordinates")[:, -1]), _tensor(ctx.runs.record("velocities")[:, -1])

    @staticmethod
    def backward(ctx, *grad_outputs):
        seeds = {}
        for name, seed in zip(("coordinates", "velocities"), grad_outputs):
            seeds[name] = np.zeros((ctx.runs.count, ctx.runs.steps + 1, seed.shape[-1]))
            seeds[name][:, -1] = _numpy(seed)
        by_coordinates, by_velocities, by_input = _slopes(ctx, seeds)
        return (by_coordinates, by_velocities, None if by_input is None else by_input.sum(1), None, None, None)


def step(scene: Scene, coordinates: torch.Tensor, velocities: torch.Tensor, input: torch.Tensor | None = None,
         steps: int = 1, threads: int | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """One step, or `steps` of them, from coordinates (nq) and velocities (nv), with targets (nu) of the controllers held over
    them: coordinates and velocities afterwards. It is the beginning of a run: what a longer one knows of the states before its
    own start is not there. With the runs as first dimension it is many runs in one call, as for `run`."""
    return _side_by_side(_Step.apply, (coordinates, velocities, input), (1, 1, 1), scene, _count(steps, 1), threads)


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, design, scene):
        scene.set("design", _numpy(design))
        value, gradient = scene.record().loss()
        ctx.slope = gradient["design"]
        return torch.tensor(value, dtype=torch.float64)

    @staticmethod
    def backward(ctx, *grad_outputs):
        return grad_outputs[0] * _tensor(ctx.slope), None


def loss(scene: Scene, design: torch.Tensor) -> torch.Tensor:
    """The loss of a task by its variables (design). The scene becomes that of the design; it must have no clones and no runs
    that are still held."""
    return _Loss.apply(design, scene)
