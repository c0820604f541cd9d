"""Reference for strangers.py: a ball with its centre of mass off its centre spins and slides on a plane. Integrates the
Newton-Euler equations in world axes by a Runge-Kutta method. The contact force keeps the ball's centre at its height."""
import math

from vectors import add, cross, dot, runge_kutta, scaled

MASS, RADIUS, OFFSET, ACROSS, ALONG = 0.02, 0.025, 0.004, 5.6e-6, 5.0e-6
FRICTION, GRAVITY, CREEP = 0.3, 9.81, 1e-3
UP = (0.0, 0.0, 1.0)


def inverse_inertia(axis, v):
    return add(scaled(1 / ACROSS, v), scaled((1 / ALONG - 1 / ACROSS) * dot(axis, v), axis))


def inertia(axis, v):
    return add(scaled(ACROSS, v), scaled((ALONG - ACROSS) * dot(axis, v), axis))


def rate(state):
    """Of (velocity of the centre of mass, spin, axis)."""
    velocity, spin, axis = state
    arm = add(scaled(OFFSET, axis), scaled(-RADIUS, UP))
    slip = add(velocity, cross(spin, arm))
    slip = (slip[0], slip[1], 0.0)
    force = add(UP, scaled(-FRICTION / math.sqrt(dot(slip, slip) + CREEP * CREEP), slip))  # for a normal force of 1
    by_force = inverse_inertia(axis, cross(arm, force))
    free = inverse_inertia(axis, scaled(-1, cross(spin, inertia(axis, spin))))
    lift = add(cross(free, axis), cross(spin, cross(spin, axis)))
    normal = (GRAVITY - OFFSET * lift[2]) / (1 / MASS + OFFSET * cross(by_force, axis)[2])
    return add(scaled(normal / MASS, force), scaled(-GRAVITY, UP)), add(scaled(normal, by_force), free), cross(spin, axis)


def upright(spin, roll, seconds, dt):
    """Height of the axis' tip, the cosine of the tilt, at every dt; spin [rad/s] in axes of the body at the start."""
    c, s = math.cos(roll), math.sin(roll)
    state = (0.0, 0.0, 0.0), (spin[0], c * spin[1] - s * spin[2], s * spin[1] + c * spin[2]), (0.0, -s, c)
    told = [c]
    for _ in range(round(seconds / dt)):
        state = runge_kutta(rate, state, dt)
        told.append(state[2][2])
    return told
