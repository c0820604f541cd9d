"""NOT JAX: see __init__.py."""

from numpy import float64  # noqa: F401
