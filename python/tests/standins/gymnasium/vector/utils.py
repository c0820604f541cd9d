"""NOT Gymnasium: see ../__init__.py."""

from ..spaces import Box


def batch_space(space, n):
    return Box(float(space.low.min()), float(space.high.max()), (n,) + space.shape, space.dtype)
