"""Runs and steps as JAX functions with a derivative of their own (custom_vjp): the adjoint of the run. They call back to the host
and work within jit; doubles need jax.config.update("jax_enable_x64", True).

    import sdrs, sdrs.jax
    run = sdrs.jax.run(scene, steps=100)                 # a function of (coordinates, velocities, input)
    jax.grad(lambda v: run(q, v, u)[2][-1, 1, 0])(v)     # [0] coordinates, [1] velocities, [2] positions of all links
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from ._chart import by_coordinates
from .scene import Scene


def _shapes(*shapes):
    return tuple(jax.ShapeDtypeStruct(shape, jnp.float64) for shape in shapes)


def _host(array):
    return np.asarray(array, dtype=np.float64)


def _differentiable(forward, backward, outputs, inputs):
    """A function of arrays of the shapes `inputs` that `forward` computes on the host, and its VJP by `backward`, which runs the
    forward function again: nothing is kept between the two calls."""

    @jax.custom_vjp
    def function(*arguments):
        return jax.pure_callback(forward, _shapes(*outputs), *arguments)

    def ahead(*arguments):
        return function(*arguments), arguments

    def back(arguments, seeds):
        return jax.pure_callback(backward, _shapes(*inputs), *arguments, *seeds)

    function.defvjp(ahead, back)
    return function


def run(scene: Scene, steps: int | None = None) -> Callable[..., tuple[jax.Array, jax.Array, jax.Array]]:
    """A function of coordinates (nq), velocities (nv) and input (steps, nu): coordinates (steps + 1, nq), velocities
    (steps + 1, nv) and positions of all links (steps + 1, links, 3)."""
    steps = int(steps or scene.steps)
    rows, links = steps + 1, len(scene.links)

    def whole(q, v, u):
        return scene.run(steps, coordinates=_host(q), velocities=_host(v), input=_host(u) if scene.nu else None)

    def forward(q, v, u):
        done = whole(q, v, u)
        return np.array(done.coordinates), np.array(done.velocities), np.array(done.positions)

    def backward(q, v, u, by_q, by_v, by_x):
        slope = whole(q, v, u).gradient(coordinates=_host(by_q), velocities=_host(by_v), positions=_host(by_x))
        return by_coordinates(scene, _host(q), slope["coordinates"]), slope["velocities"], slope["input"]

    return _differentiable(forward, backward, [(rows, scene.nq), (rows, scene.nv), (rows, links, 3)],
                           [(scene.nq,), (scene.nv,), (steps, scene.nu)])


def step(scene: Scene) -> Callable[..., tuple[jax.Array, jax.Array]]:
    """A function of coordinates (nq), velocities (nv) and input (nu): coordinates and velocities after one step. It is the first
    step of a run: what a longer one knows of the states before its own start is not there."""

    def one(q, v, u):
        return scene.run(1, coordinates=_host(q), velocities=_host(v), input=_host(u)[None, :] if scene.nu else None)

    def forward(q, v, u):
        done = one(q, v, u)
        return np.array(done.coordinates[1]), np.array(done.velocities[1])

    def backward(q, v, u, by_q, by_v):
        seeds = [np.stack([np.zeros_like(_host(seed)), _host(seed)]) for seed in (by_q, by_v)]
        slope = one(q, v, u).gradient(coordinates=seeds[0], velocities=seeds[1])
        return by_coordinates(scene, _host(q), slope["coordinates"]), slope["velocities"], slope["input"][0]

    return _differentiable(forward, backward, [(scene.nq,), (scene.nv,)], [(scene.nq,), (scene.nv,), (scene.nu,)])
