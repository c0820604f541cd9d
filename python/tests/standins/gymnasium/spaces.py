"""NOT Gymnasium: see __init__.py."""

import numpy as np


class Box:
    def __init__(self, low, high, shape=None, dtype=np.float32, seed=None):
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        self.low, self.high = (np.full(self.shape, bound, dtype) for bound in (low, high))

    def contains(self, x):
        return x.shape == self.shape and x.dtype == self.dtype and bool(np.all(x >= self.low) and np.all(x <= self.high))
