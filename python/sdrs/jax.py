"""Differentiable runs and steps for JAX, with the adjoint of the run as derivative (custom_vjp).

The functions call back to the host and work within jit. Double precision needs jax.config.update("jax_enable_x64",
True).

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
from ._library import Error
from ._many import Many
from .scene import Scene


def _host(array):
    return np.asarray(array, dtype=np.float64)


def _differentiable(forward, backward, outputs, inputs):
    """Returns a JAX function that calls `forward` on the host, with `backward` as its vector-Jacobian product.

    inputs, outputs: shapes of arguments and results without batch dimensions. All arguments have the same leading batch
    dimensions. forward and backward take and return arrays with one batch dimension. backward repeats the forward run,
    because no state is kept between the two calls."""

    def call(host, shapes, own, arguments):
        lead = np.shape(arguments[0])[:np.ndim(arguments[0]) - len(own[0])]
        for argument, shape in zip(arguments, own):
            if np.shape(argument) != lead + shape:
                raise Error(f"got an array of shape {np.shape(argument)}, expected {lead + shape}")

        def flat(*given):
            first = np.shape(given[0])[:np.ndim(given[0]) - len(own[0])]  # batch dimensions, including those of vmap
            results = host(*[_host(x).reshape((-1,) + shape) for x, shape in zip(given, own)])
            return tuple(_host(x).reshape(first + shape) for x, shape in zip(results, shapes))

        kinds = tuple(jax.ShapeDtypeStruct(lead + shape, jnp.float64) for shape in shapes)
        return jax.pure_callback(flat, kinds, *arguments, vmap_method="broadcast_all")

    function = jax.custom_vjp(lambda *arguments: call(forward, outputs, inputs, arguments))

    def ahead(*arguments):
        return function(*arguments), arguments

    def back(arguments, seeds):
        return call(backward, inputs, inputs + outputs, (*arguments, *seeds))

    function.defvjp(ahead, back)
    return function


def run(scene: Scene, steps: int | None = None, threads: int | None = None) -> Callable[..., tuple[jax.Array, jax.Array, jax.Array]]:
    """Returns a function that simulates a run: (coordinates, velocities, input) -> (coordinates, velocities,
    positions).

    Arguments: coordinates (nq), velocities (nv), input (steps, nu). Results: (steps + 1, nq), (steps + 1, nv) and
    positions of all links (steps + 1, links, 3). With a batch dimension in front of all arguments, or under vmap, one
    call of the library computes all runs on `threads` threads (by default all processors)."""
    steps = int(steps or scene.steps)
    rows, links = steps + 1, len(scene.links)

    def whole(q, v, u):
        return Many(scene, steps, len(q), q, v, u if scene.nu else None, threads)

    def forward(q, v, u):
        done = whole(q, v, u)
        return done.record("coordinates"), done.record("velocities"), done.record("position")

    def backward(q, v, u, by_q, by_v, by_x):
        wanted = ["coordinates", "velocities"] + ["input"] * (scene.nu > 0)
        seeds = {"coordinates": by_q, "velocities": by_v, "position": by_x.reshape(len(q), rows, -1)}
        slope = whole(q, v, u).gradient(seeds, wanted)
        return by_coordinates(scene, q, slope["coordinates"]), slope["velocities"], slope.get("input", np.zeros(u.shape))

    return _differentiable(forward, backward, [(rows, scene.nq), (rows, scene.nv), (rows, links, 3)],
                           [(scene.nq,), (scene.nv,), (steps, scene.nu)])


def step(scene: Scene, steps: int = 1, threads: int | None = None) -> Callable[..., tuple[jax.Array, jax.Array]]:
    """Returns a function that advances a state: (coordinates, velocities, input) -> (coordinates, velocities).

    Arguments: coordinates (nq), velocities (nv), input (nu), constant over the `steps` steps. The result of one call is
    the state for the next: with the default integrator, velocities are those of the middle of the last step
    (`continues` of Scene.run). Contact and feedback do not remember earlier steps. A batch dimension and vmap work as
    for `run`."""

    def some(q, v, u):
        return Many(scene, steps, len(q), q, v, np.repeat(u[:, None], steps, axis=1) if scene.nu else None, threads,
                    continues=True)

    def forward(q, v, u):
        done = some(q, v, u)
        return done.record("coordinates")[:, -1], done.record("velocities")[:, -1]

    def backward(q, v, u, by_q, by_v):
        seeds = {}
        for name, seed in (("coordinates", by_q), ("velocities", by_v)):
            seeds[name] = np.zeros((len(q), steps + 1, seed.shape[-1]))
            seeds[name][:, -1] = seed
        slope = some(q, v, u).gradient(seeds, ["coordinates", "velocities"] + ["input"] * (scene.nu > 0))
        by_input = slope["input"].sum(axis=1) if scene.nu else np.zeros(u.shape)
        return by_coordinates(scene, q, slope["coordinates"]), slope["velocities"], by_input

    return _differentiable(forward, backward, [(scene.nq,), (scene.nv,)], [(scene.nq,), (scene.nv,), (scene.nu,)])
