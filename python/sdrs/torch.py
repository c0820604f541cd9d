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
from .scene import Scene

class Output(NamedTuple):
    """Of `run`: (steps + 1, nq), (steps + 1, nv), (steps + 1, links, 3), (steps + 1, links, 4)."""

    coordinates: torch.Tensor
    velocities: torch.Tensor
    positions: torch.Tensor
    orientations: torch.Tensor


def _numpy(tensor):
    return None if tensor is None else tensor.detach().cpu().numpy().astype(np.float64)


def _tensor(array):
    return torch.from_numpy(np.array(array, dtype=np.float64))


def _slopes(ctx, run, start, gradient):
    """Derivatives by coordinates, velocities and input, where they were given."""
    by_q = by_coordinates(run.scene, start if start is not None else run.coordinates[0], gradient["coordinates"])
    found = by_q, gradient["velocities"], gradient["input"] if ctx.needs_input_grad[2] else None
    return [_tensor(slope) if wanted else None for slope, wanted in zip(found, ctx.needs_input_grad[:3])]


class _Run(torch.autograd.Function):
    @staticmethod
    def forward(ctx, coordinates, velocities, input, scene, steps):
        ctx.start = _numpy(coordinates)
        ctx.run = scene.run(steps, coordinates=ctx.start, velocities=_numpy(velocities), input=_numpy(input))
        run = ctx.run
        return tuple(_tensor(x) for x in (run.coordinates, run.velocities, run.positions, run.orientations))

    @staticmethod
    def backward(ctx, *seeds):
        names = "coordinates", "velocities", "positions", "orientations"
        gradient = ctx.run.gradient(**{name: _numpy(seed) for name, seed in zip(names, seeds) if seed is not None})
        return (*_slopes(ctx, ctx.run, ctx.start, gradient), None, None)


def run(scene: Scene, coordinates: torch.Tensor | None = None, velocities: torch.Tensor | None = None,
        input: torch.Tensor | None = None, steps: int | None = None) -> Output:
    """A whole run from coordinates (nq) and velocities (nv) with targets (steps, nu), each a tensor or None (the scene's):
    coordinates (steps + 1, nq), velocities (steps + 1, nv), positions (steps + 1, links, 3) and orientations
    (steps + 1, links, 4) of all links."""
    return Output(*_Run.apply(coordinates, velocities, input, scene, steps))


class _Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx, coordinates, velocities, input, scene):
        ctx.start = _numpy(coordinates)
        given = None if input is None else _numpy(input)[None, :]
        ctx.run = scene.run(1, coordinates=ctx.start, velocities=_numpy(velocities), input=given)
        return _tensor(ctx.run.coordinates[1]), _tensor(ctx.run.velocities[1])

    @staticmethod
    def backward(ctx, by_q, by_v):
        seeds = [np.stack([np.zeros_like(seed), seed]) for seed in (_numpy(by_q), _numpy(by_v))]
        gradient = ctx.run.gradient(coordinates=seeds[0], velocities=seeds[1])
        if ctx.needs_input_grad[2]:
            gradient["input"] = gradient["input"][0]
        return (*_slopes(ctx, ctx.run, ctx.start, gradient), None)


def step(scene: Scene, coordinates: torch.Tensor, velocities: torch.Tensor,
         input: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """One step from coordinates (nq) and velocities (nv), with targets (nu) of the controllers: coordinates and velocities
    after it. It is the first step of a run: what a longer one knows of the states before its own start is not there."""
    return _Step.apply(coordinates, velocities, input, scene)


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, design, scene):
        scene.set("design", _numpy(design))
        value, gradient = scene.record().loss()
        ctx.slope = gradient["design"]
        return torch.tensor(value, dtype=torch.float64)

    @staticmethod
    def backward(ctx, by_loss):
        return by_loss * _tensor(ctx.slope), None


def loss(scene: Scene, design: torch.Tensor) -> torch.Tensor:
    """The loss of a task by its variables (design). The scene becomes that of the design; it must have no clones and no runs
    that are still held."""
    return _Loss.apply(design, scene)
