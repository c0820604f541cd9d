"""NOT Gymnasium: a stand-in of the few parts of its interface that sdrs.gym uses, written from its documentation, so that tests run
where Gymnasium is not installed. It checks nothing that Gymnasium checks."""

import numpy as np

from . import spaces, vector  # noqa: F401

STANDIN = True


class Env:
    _np_random = None

    def reset(self, *, seed=None, options=None):
        if seed is not None or self._np_random is None:
            self._np_random = np.random.default_rng(seed)

    @property
    def np_random(self):
        if self._np_random is None:
            self._np_random = np.random.default_rng()
        return self._np_random

    def close(self):
        pass
