"""Reference for strangers.py: a rattleback that rolls without slipping. Integrates the Newton-Euler equations about the
contact point in body axes by a Runge-Kutta method. It uses no code of the program, only the numbers of the scene."""
import math

from vectors import add, cross, dot, runge_kutta, scaled, unwrapped

SEMI_AXES, CENTRE, MASS, GRAVITY = (0.2, 0.03, 0.02), (0.0, 0.0, -0.01), 1.0, 9.81
INERTIA = ((2.0e-4, -2.0e-5, 0.0), (-2.0e-5, 1.6e-3, 0.0), (0.0, 0.0, 1.7e-3))


def times(matrix, v):
    return tuple(dot(row, v) for row in matrix)


def solved(matrix, b):
    """Cramer's rule; the columns are those of a symmetric matrix."""
    x, y, z = matrix
    det = dot(x, cross(y, z))
    return (dot(b, cross(y, z)) / det, dot(x, cross(b, z)) / det, dot(x, cross(y, b)) / det)


def contact(up, up_rate):
    """From the centre of mass to the lowest point of the ellipsoid, and its rate."""
    squares = [a * a for a in SEMI_AXES]
    length = math.sqrt(sum(s * u * u for s, u in zip(squares, up)))
    growth = sum(s * u * r for s, u, r in zip(squares, up, up_rate))
    arm = tuple(-s * u / length - c for s, u, c in zip(squares, up, CENTRE))
    rate = tuple(-s * r / length + s * u * growth / length**3 for s, u, r in zip(squares, up, up_rate))
    return arm, rate


def acceleration(spin, up):
    arm, arm_rate = contact(up, cross(up, spin))
    known = add(cross(arm_rate, spin), cross(spin, cross(arm, spin)), scaled(GRAVITY, up))
    torque = add(scaled(-1, cross(spin, times(INERTIA, spin))), scaled(MASS, cross(arm, known)))
    square = dot(arm, arm)
    matrix = [[INERTIA[i][k] + MASS * (square * (i == k) - arm[i] * arm[k]) for k in range(3)] for i in range(3)]
    return solved(matrix, torque)


def rate(state):
    """Of (spin, the world's x and z axes), all in axes of the body."""
    spin, ahead, up = state
    return acceleration(spin, up), cross(ahead, spin), cross(up, spin)


def headings(spin, tilt, seconds, dt):
    """Heading [rad] of the body's x axis, from 0 on, at every dt; spin [rad/s] about the world's z axis, tilt [rad] by roll and pitch."""
    c, s = math.cos(tilt), math.sin(tilt)
    up = (-s, s * c, c * c)  # rows of Ry(tilt) Rx(tilt)
    state = scaled(spin, up), (c, s * s, s * c), up
    angles = [math.atan2(cross(up, state[1])[0], c)]
    for _ in range(round(seconds / dt)):
        state = runge_kutta(rate, state, dt)
        angles.append(math.atan2(cross(state[2], state[1])[0], state[1][0]))
    return [angle - angles[0] for angle in unwrapped(angles)]
