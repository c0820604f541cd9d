"""Forces with lever arms: rockets, quadrotors, towed bodies, and a pendulum under a constant force."""

import math

from row import Row


def motion(slope, y, duration, steps=4000):
    """Solution of y' = slope(t, y) by the classical Runge-Kutta method."""
    h = duration / steps
    for n in range(steps):
        t = n * h
        a = slope(t, y)
        b = slope(t + h / 2, [u + h / 2 * v for u, v in zip(y, a)])
        c = slope(t + h / 2, [u + h / 2 * v for u, v in zip(y, b)])
        d = slope(t + h, [u + h * v for u, v in zip(y, c)])
        y = [u + h / 6 * (k + 2 * m + 2 * n + o) for u, k, m, n, o in zip(y, a, b, c, d)]
    return y


def follower_path(mass, force, rate_of_turn, duration):
    """x and z of a body from rest whose force (across, along) rotates about y by rate_of_turn t^2 / 2."""

    def slope(t, y):
        angle = rate_of_turn * t * t / 2
        c, s = math.cos(angle), math.sin(angle)
        return [y[2], y[3], (c * force[0] + s * force[1]) / mass, (c * force[1] - s * force[0]) / mass - 9.81]

    return motion(slope, [0, 0, 0, 0], duration)[:2]


def pendulum_period(frequency, amplitude):
    """Period of a pendulum with this frequency of small swings, by the arithmetic-geometric mean."""
    a, b = 1.0, math.cos(amplitude / 2)
    for _ in range(8):
        a, b = (a + b) / 2, math.sqrt(a * b)
    return 2 * math.pi / frequency / a


def largest(r, column, start):
    low, high = r.range_of(column, start)
    return max(-low, high)


THRUST = (30 * math.sin(0.02), 30 * math.cos(0.02))
ROCKET = f"""
simulation: {{duration: 2}}
contact: {{model: none}}
links: [{{name: body, mass: 2, center: [0, 0, 0], inertia: [0.3, 0.3, 0.01, 0, 0, 0]}}]
loads: [{{link: body, axes: link, point: [0, 0, -0.5], force: [{THRUST[0]!r}, 0, {THRUST[1]!r}]}}]
"""
ROCKET_PATH = follower_path(2, THRUST, -0.5 * THRUST[0] / 0.3, 2)


def quadrotor(front, back, torque, tilt):
    rotors = [(0.2, 0, front, torque), (-0.2, 0, back, torque), (0, 0.2, 2.943, torque), (0, -0.2, 2.943, torque)]
    loads = "".join(
        f"  - {{link: body, axes: link, point: [{x}, {y}, 0], force: [0, 0, {thrust}], torque: [0, 0, {drag}]}}\n"
        for x, y, thrust, drag in rotors
    )
    return f"""
simulation: {{duration: 2}}
contact: {{model: none}}
links: [{{name: body, mass: 1.2, center: [0, 0, 0], inertia: [0.01, 0.01, 0.02, 0, 0, 0]}}]
initial: [{{link: body, coordinates: [0, 0, 0, 0, {tilt}, 0]}}]
loads:
{loads}"""


def towed(force, duration):
    """A free rod that a constant force pulls by its end, at first 1 rad from the direction of the force."""
    return f"""
simulation: {{duration: {duration}, gravity: [0, 0, 0]}}
contact: {{model: none}}
links: [{{name: rod, mass: 2, center: [0, 0, 0], inertia: [0.3, 0.3, 0.01, 0, 0, 0]}}]
initial: [{{link: rod, coordinates: [0, 0, 0, 0, 1, 0]}}]
loads: [{{link: rod, point: [0, 0, -0.5], force: [0, 0, -{force}]}}]
"""


CART = """
simulation: {duration: 10, gravity: [0, 0, 0]}
contact: {model: none}
links:
  - {name: cart, mass: 1, center: [0, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0], joint: {type: slide, axis: [1, 0, 0]}}
  - {name: bob, parent: cart, mass: 1, center: [0, 0, -1], inertia: [0.001, 0.001, 0.001, 0, 0, 0], joint: {type: hinge, axis: [0, 1, 0]}}
initial: [{link: bob, coordinates: [0.5]}]
loads: [{link: bob, force: [0, 0, -9.81]}]
"""

def bob(stiffness, duration):
    """A point mass of 1 kg at 0.5 rad on a tendon of 1 m."""
    return f"""
simulation: {{duration: {duration}}}
contact: {{model: none}}
links: [{{name: bob, mass: 1, shape: {{type: sphere, radius: 0.05}}, position: [{math.sin(0.5)!r}, 0, {-math.cos(0.5)!r}]}}]
tendons: [{{points: [{{link: world, point: [0, 0, 0]}}, {{link: bob}}], stiffness: {stiffness!r}, rest_length: 1}}]
"""


def elastic_pendulum(stiffness, duration):
    """x of the bob of bob() after a time."""

    def slope(t, y):
        length = math.hypot(y[0], y[1])
        pull = stiffness * max(length - 1, 0) / length
        return [y[2], y[3], -pull * y[0], -pull * y[1] - 9.81]

    return motion(slope, [math.sin(0.5), -math.cos(0.5), 0, 0], duration, 20000)[0]


def raft(lift, angle):
    """A raft of half the density of water, lifted by `lift` from its rest and leaned by `angle` about x."""
    return f"""
simulation: {{duration: 6}}
contact: {{model: none}}
fluid: {{density: 1000, level: 0}}
links: [{{name: raft, density: 500, shape: {{type: box, size: [0.6, 0.4, 0.2]}}, position: [0, 0, {lift}], rpy: [{angle}, 0, 0]}}]
"""


PUCKS = """
simulation: {duration: 10, gravity: [0, 0, 0]}
contact: {model: none}
links:
  - {name: light, mass: 1, shape: {type: sphere, radius: 0.05}, position: [0.8, 0, 0]}
  - {name: heavy, mass: 4, shape: {type: sphere, radius: 0.05}, position: [-0.2, 0, 0]}
tendons: [{points: [{link: light}, {link: heavy}], stiffness: 100, rest_length: 0.928}]
initial: [{link: light, velocities: [0, 2.4, 0, 0, 0, 0]}, {link: heavy, velocities: [0, -0.6, 0, 0, 0, 0]}]
"""

LEVERS = [
    Row(
        "bob on a stiff tendon at 0.5 rad: largest angle in the last 1.1 of 8 s",
        bob(1.0e5, 8),
        lambda r: math.asin(largest(r, "bob/cx", 6.9)),
        0.5,
        0.002,
        "energy",
    ),
    Row(
        "bob on a stiff tendon at 0.5 rad: period",
        bob(1.0e5, 8),
        lambda r: r.period("bob/cx"),
        pendulum_period(math.sqrt(9.81), 0.5),
        0.003,
        "4 K(sin(1/4)) sqrt(l / g)",
    ),
    Row(
        "bob on an elastic tendon of 100 N/m at 0.5 rad: x after 2 s",
        bob(100.0, 2),
        lambda r: r.at("bob/cx"),
        elastic_pendulum(100.0, 2),
        0.003,
        "m x'' = -f x / l, m z'' = -f z / l - m g integrated",
    ),
    Row(
        "raft that heaves by 1 mm: period",
        raft(0.001, 0),
        lambda r: r.period("raft/cz"),
        2 * math.pi / math.sqrt(2 * 9.81 / 0.2),
        0.006,
        "m z'' = -rho g A z",
    ),
    Row(
        "raft that heaves by 1 mm: largest height in the last s [mm]",
        raft(0.001, 0),
        lambda r: 1000 * largest(r, "raft/cz", 5),
        1 / (1 + 4 / 3 * 0.001 * 1000 * 0.24 / (2 * 24) * 8),
        0.02,
        "1 / a = 1 / a_0 + 4 k n / 3 after n periods, k = rho A / 2 m",
    ),
    Row(
        "raft that rolls by 0.01 rad: period",
        raft(0, 0.01),
        lambda r: r.period("raft/qx"),
        2 * math.pi / math.sqrt(24 * 9.81 * (0.4**2 / 12 / 0.1 - 0.05) / (24 * (0.4**2 + 0.2**2) / 12)),
        0.006,
        "I q'' = -m g GM q, GM = b^2 / 12 d - d / 2",
    ),
    Row(
        "two pucks on a taut tendon circle each other: angle after 10 s",
        PUCKS,
        lambda r: math.atan2(r.at("light/cy") - r.at("heavy/cy"), r.at("light/cx") - r.at("heavy/cx")),
        30 - 10 * math.pi,
        0.02,
        "k s = m1 m2 w^2 d / (m1 + m2)",
    ),
    Row(
        "two pucks on a taut tendon circle each other: change of the distance in 10 s",
        PUCKS,
        lambda r: math.hypot(r.at("light/cy") - r.at("heavy/cy"), r.at("light/cx") - r.at("heavy/cx")) - 1,
        0,
        0.001,
        "k s = m1 m2 w^2 d / (m1 + m2)",
    ),
    Row(
        "rocket with a thrust 0.02 rad off its axis: x after 2 s",
        ROCKET,
        lambda r: r.at("body/cx"),
        ROCKET_PATH[0],
        0.001,
        "q = f l t^2 / 2 I, then m x'' = R(q) f integrated",
    ),
    Row(
        "rocket with a thrust 0.02 rad off its axis: z after 2 s",
        ROCKET,
        lambda r: r.at("body/cz"),
        ROCKET_PATH[1],
        0.001,
        "q = f l t^2 / 2 I, then m z'' = R(q) f - m g integrated",
    ),
    Row(
        "quadrotor that yaws by 4 rad while tilted by 0.1 rad: x after 2 s",
        quadrotor(2.943, 2.943, 0.01, 0.1),
        lambda r: r.at("body/cx"),
        2 * 9.81 * math.sin(0.1),
        0.001,
        "g sin(tilt) t^2 / 2",
    ),
    Row(
        "quadrotor with 0.04 N between two rotors: x after 2 s",
        quadrotor(2.923, 2.963, 0, 0),
        lambda r: r.at("body/cx"),
        follower_path(1.2, (0, 11.772), 0.2 * 0.04 / 0.01, 2)[0],
        0.001,
        "q = 0.2 m df t^2 / 2 I, then m x'' = R(q) f integrated",
    ),
    Row(
        "constant force of 1 N across a rod at its end: sine of half the angle after 2 s",
        ROCKET.replace("axes: link, ", "").replace(f"{THRUST[0]!r}, 0, {THRUST[1]!r}", "1, 0, 0"),
        lambda r: abs(r.at("body/qy")),
        math.sin(abs(motion(lambda t, y: [y[1], -0.5 * math.cos(y[0]) / 0.3], [0, 0], 2)[0]) / 2),
        0.0001,
        "I q'' = -F l cos q, integrated",
    ),
    Row(
        "rod towed by its end at 1 rad: period",
        towed(20, 10),
        lambda r: r.period("rod/qy"),
        pendulum_period(math.sqrt(20 * 0.5 / 0.3), 1),
        0.001,
        "4 K(sin(1/2)) sqrt(I / F l)",
    ),
    Row(
        "rod towed by its end at 1 rad: largest angle in the last of 10 s",
        towed(20, 10),
        lambda r: 2 * math.asin(largest(r, "rod/qy", 8.9)),
        1,
        0.005,
        "energy",
    ),
    Row(
        "rod towed by its end with 0.4 MN, frequency times step 8: sine of half the largest angle after 2 s",
        towed(4.0e5, 3),
        lambda r: largest(r, "rod/qy", 2),
        0,
        0.01,
        "the rod comes to rest along the force",
    ),
    Row(
        "pendulum of 1 m under a constant force on a cart of equal mass: largest angle in the last 2 of 10 s",
        CART,
        lambda r: 2 * math.asin(largest(r, "bob/qy", 8)),
        0.5,
        0.005,
        "energy",
    ),
]
