"""NOT JAX: a stand-in of the few parts of its interface that sdrs.jax uses, written from its documentation, so that tests run where
JAX is not installed. `vjp` is what jax.vjp does for one function with a derivative of its own; nothing is traced."""

import numpy as np

from . import numpy as jnp  # noqa: F401

STANDIN = True


class ShapeDtypeStruct:
    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, np.dtype(dtype)


def pure_callback(callback, result_shape_dtypes, *arguments, vmap_method=None):
    results = callback(*arguments)
    for result, wanted in zip(results, result_shape_dtypes):
        assert np.shape(result) == wanted.shape and np.asarray(result).dtype == wanted.dtype
    assert len(results) == len(result_shape_dtypes)
    return results


class custom_vjp:
    def __init__(self, function):
        self.function = function

    def __call__(self, *arguments):
        return self.function(*arguments)

    def defvjp(self, ahead, back):
        self.ahead, self.back = ahead, back


def vjp(function, *arguments):
    results, kept = function.ahead(*arguments)
    return results, lambda seeds: function.back(kept, seeds)
