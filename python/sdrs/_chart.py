"""Converts derivatives by joint increments (nv), which the adjoint returns, to derivatives by coordinates (nq)."""

import numpy as np

_CHARTS = {}


def chart(scene):
    """Returns pairs (coordinate, velocity) of first indices of quaternions, and those of all other coordinates."""
    key = tuple(scene.names("coordinates")), tuple(scene.names("velocities"))
    if key not in _CHARTS:
        first = {}
        for k, name in enumerate(key[1]):
            first.setdefault(name.rsplit("/", 1)[0], k)
        turns, plain, used = [], [], {}
        for k, name in enumerate(key[0]):
            link, part = name.rsplit("/", 1)
            at = first[link] + used.get(link, 0)
            if part == "qw":
                turns.append((k, at))
            if part not in ("qw", "qx", "qy", "qz"):
                plain.append((k, at))
                used[link] = used.get(link, 0) + 1
        _CHARTS[key] = turns, plain
    return _CHARTS[key]


def by_coordinates(scene, coordinates, slope):
    """Returns dL/dq (..., nq), given `slope` = dL/dd (..., nv) for joint increments d and coordinates q (..., nq).

    The library normalizes a quaternion to q / |q|. A small rotation about the axes of the link is d = 2 Im(q* dq), so
    dL/dq = 2 q (0, dL/dd) / |q|, with the product of quaternions."""
    turns, plain = chart(scene)
    out = np.zeros(slope.shape[:-1] + (scene.nq,))
    for k, at in plain:
        out[..., k] = slope[..., at]
    for k, at in turns:
        w, x, y, z = np.moveaxis(np.asarray(coordinates)[..., k:k + 4], -1, 0)
        size = w * w + x * x + y * y + z * z  # once for the unit quaternion, once for dq
        a, b, c = np.moveaxis(slope[..., at:at + 3], -1, 0)
        turn = [-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a]
        out[..., k:k + 4] = np.stack([2 / size * part for part in turn], -1)
    return out


def seeds_of_row(rows, row, values):
    """Returns seeds (rows, ...) that are `values` in one row and zero elsewhere."""
    seeds = np.zeros((rows,) + values.shape)
    seeds[row] = values
    return seeds
