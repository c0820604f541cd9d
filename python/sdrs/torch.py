"""Differentiable runs and steps for torch, in double precision on the CPU. The backward pass is the adjoint of the run.

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
    """Result of `run`: coordinates (steps + 1, nq), velocities (steps + 1, nv), positions (steps + 1, links, 3) and
    orientations (steps + 1, links, 4). For many runs the first dimension is the run."""

    coordinates: torch.Tensor
    velocities: torch.Tensor
    positions: torch.Tensor
    orientations: torch.Tensor


def _numpy(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().cpu().numpy().astype(np.float64)


def _tensor(array):
    return torch.from_numpy(np.array(array, dtype=np.float64))


def _runs(scene, steps, coordinates, velocities, input, threads, continues):
    """Simulates the runs of one call. The first dimension of each tensor is the run."""
    tensors = {"coordinates": coordinates, "velocities": velocities, "input": input}
    given = {name: None if x is None else _numpy(x) for name, x in tensors.items()}
    count = next((len(x) for x in given.values() if x is not None), 1)
    return Many(scene, steps, count, threads=threads, continues=continues, **given), given["coordinates"]


def _slopes(ctx, seeds):
    """Returns the derivatives by coordinates, velocities and input; None if autograd does not need one."""
    wanted = ["coordinates", "velocities"] + ["input"] * ctx.needs_input_grad[2]
    found = ctx.runs.gradient(seeds, wanted)
    if ctx.needs_input_grad[0]:
        found["coordinates"] = by_coordinates(ctx.runs.scene, ctx.start, found["coordinates"])
    return [_tensor(found[name]) if asked else None
            for name, asked in zip(("coordinates", "velocities", "input"), ctx.needs_input_grad)]


def _side_by_side(function, tensors, dimensions, *others):
    """Calls `function` with a batch dimension in front of each tensor. A tensor without batch dimension applies to all
    runs. If no tensor has a batch dimension, the results have none."""
    tensors = [None if x is None else torch.as_tensor(x) for x in tensors]
    for x, wanted, name in zip(tensors, dimensions, ("coordinates", "velocities", "input")):
        if x is not None and x.dim() not in (wanted, wanted + 1):
            raise Error(f"{name}: got shape {tuple(x.shape)}, expected {wanted} dimensions, or {wanted + 1} with the runs first")
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
        ctx.runs, ctx.start = _runs(scene, steps, coordinates, velocities, input, threads, False)
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
    """Simulates a run and returns an Output.

    coordinates (nq), velocities (nv): initial state. input (steps, nu): targets of the controllers. None stands for the
    values of the scene. If a tensor has a batch dimension in front, (runs, nq) ..., one call of the library computes
    all runs on `threads` threads (by default all processors), and all results have the batch dimension."""
    wanted = scene.steps if input is None or len(input.shape) < 2 else input.shape[-2]
    return Output(*_side_by_side(_Run.apply, (coordinates, velocities, input), (1, 1, 2), scene, _count(steps, wanted), threads))


class _Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx, coordinates, velocities, input, scene, steps, threads):
        held = None if input is None else input[:, None, :].expand(-1, steps, -1)
        ctx.runs, ctx.start = _runs(scene, steps, coordinates, velocities, held, threads, True)
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
    """Advances coordinates (nq) and velocities (nv) by `steps` steps and returns both.

    input (nu): targets of the controllers, constant over the steps. The result of one call is the state for the next:
    with the default integrator, velocities are those of the middle of the last step (`continues` of Scene.run).
    Contact and feedback do not remember earlier steps. A batch dimension works as for `run`."""
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
    """Returns the loss of a task as a function of its variables (design).

    The call sets the design of `scene`, which must have no clones and no runs that still exist."""
    return _Loss.apply(design, scene)
