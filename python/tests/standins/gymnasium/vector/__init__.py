"""NOT Gymnasium: see ../__init__.py."""

from . import utils  # noqa: F401


class VectorEnv:
    def close(self):
        pass
