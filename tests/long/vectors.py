"""Helpers of strangers.py and its references: vectors as tuples, a Runge-Kutta method, unwrapped angles."""
import math


def add(*vectors):
    return tuple(map(sum, zip(*vectors)))


def scaled(factor, v):
    return tuple(factor * x for x in v)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def moved(state, step, by):
    return tuple(add(a, scaled(step, b)) for a, b in zip(state, by))


def runge_kutta(rate, state, dt):
    """One step of fourth order; a state is a tuple of vectors, as its rate is."""
    a = rate(state)
    b = rate(moved(state, dt / 2, a))
    c = rate(moved(state, dt / 2, b))
    d = rate(moved(state, dt, c))
    return tuple(add(x, scaled(dt / 6, add(p, scaled(2, q), scaled(2, r), s))) for x, p, q, r, s in zip(state, a, b, c, d))


def unwrapped(angles):
    """Without jumps of whole turns [rad]; the first stays."""
    told = []
    for angle in angles:
        told.append(told[-1] + math.remainder(angle - told[-1], 2 * math.pi) if told else angle)
    return told
