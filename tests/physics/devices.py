"""Devices: a latch, a skate, a block and tackle, joint stops, a sail, a hull, a levitated magnet, a column."""

import math

from row import Row

G = 9.81


def integrate(rate, state, end, steps=20000):
    """Runge-Kutta's method of fourth order for a tuple of numbers."""
    h = end / steps

    def moved(by, factor):
        return tuple(x + factor * d for x, d in zip(state, by))

    for _ in range(steps):
        k1 = rate(state)
        k2 = rate(moved(k1, h / 2))
        k3 = rate(moved(k2, h / 2))
        k4 = rate(moved(k3, h))
        state = tuple(x + h / 6 * (a + 2 * b + 2 * c + d) for x, a, b, c, d in zip(state, k1, k2, k3, k4))
    return state


def root(f, low, high):
    """Root of an increasing function by bisection."""
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if f(middle) > 0 else (middle, high)
    return (low + high) / 2


def latched():
    """A ball of 0.3 kg at 2 m/s is latched to the tip of a bar of 1.2 kg and 0.8 m, 0.05 m before it, and let go at
    1.3 s: place of the ball at 2 s [m]."""
    bar, arm, ball = 1.2 * (0.8**2 + 0.02**2) / 12 + 1.2 * 0.4**2, (0.8, -0.05), 0.3
    rate = ball * 2 * 0.8 / (bar + ball * (arm[0] ** 2 + arm[1] ** 2))
    angle = rate * (1.3 - 0.95 / 2)
    x = math.cos(angle) * arm[0] - math.sin(angle) * arm[1]
    y = math.sin(angle) * arm[0] + math.cos(angle) * arm[1]
    return x - rate * y * 0.7, y + rate * x * 0.7


def skated(time):
    """Place of a block that slides at 2 m/s along x, with friction 0.2 along (0.8, 0.6) and 0.6 across: the force
    dissipates the most energy."""

    def rate(state):
        _, _, vx, vy = state
        along, across = 0.8 * vx + 0.6 * vy, -0.6 * vx + 0.8 * vy
        size = math.hypot(0.2 * along, 0.6 * across)
        f, g = -G * 0.04 * along / size, -G * 0.36 * across / size
        return vx, vy, 0.8 * f - 0.6 * g, 0.6 * f + 0.8 * g

    return integrate(rate, (0.0, 0.0, 2.0, 0.0), time)[:2]


def stribeck_stop(sliding, extra, speed, mass):
    """Distance in which friction stops a mass that slides at 1 m/s [m]."""

    def rate(state):
        v = state[1]
        force = sliding + extra * math.exp(-((v / speed) ** 2)) if v > 0 else 0.0
        return max(v, 0.0), -force / mass

    return integrate(rate, (0.0, 1.0), 2)[0]


def sail_sine():
    """Sine of the angle of a sail of 0.5 kg, 0.5 m x 0.4 m, in a wind of 8 m/s: pressure rho v_n^2 / 2 on its face."""
    pressure, weight = 0.5 * 1.2 * 8**2 * 0.2, 0.5 * G
    return (-weight + math.sqrt(weight**2 + 4 * pressure**2)) / (2 * pressure)


def heel():
    """Angle of a raft of 2 m x 0.6 m x 0.2 m and 120 kg whose centre of mass is 20 mm off its middle: Scribanti's
    formula [rad]."""
    draught = 120 / (1000 * 0.6 * 2)
    radius = 0.6**2 / (12 * draught)
    height = draught / 2 + radius - 0.1

    def moment(angle):
        return math.sin(angle) * (height + radius / 2 * math.tan(angle) ** 2) - 0.02 * math.cos(angle)

    return root(moment, 0, 0.5)


SKATE = """
simulation: {duration: 0.4}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: block, mass: 1, position: [0, 0, 0.10045465], joint: {type: free, free_axes: [x, y, z]}, shape: {type: box, size: [0.2, 0.2, 0.2]}, friction: [0.2, 0.6], friction_axis: [0.8, 0.6, 0]}
initial: [{link: block, velocities: [2, 0, 0]}]
"""
LATCH = """
simulation: {duration: 2, gravity: [0, 0, 0]}
contact: {model: none}
links:
  - {name: bar, mass: 1.2, joint: {type: hinge, axis: [0, 0, 1]}, shapes: [{type: box, size: [0.8, 0.02, 0.02], position: [0.4, 0, 0]}]}
  - {name: ball, mass: 0.3, position: [0.8, -1, 0], shape: {type: sphere, radius: 0.02}}
closures:
  - {type: ball, a: ball, b: bar, point: [0.8, -1, 0], within: 0.05, near_b: [0.8, 0, 0], active: {type: keyframes, times: [1.3, 1.3001], values: [1, 0]}}
initial: [{link: ball, velocities: [0, 2, 0, 0, 0, 0]}]
"""
STOP = """
simulation: {{duration: 1, gravity: [0, 0, 0]}}
links:
  - {{name: top, mass: 2, joint: {{type: ball, swing: 0.5, twist: [-0.3, 0.4], limit_restitution: 0.5}}, shapes: [{{type: box, size: [0.2, 0.2, 0.6], position: [0, 0, 0.3]}}]}}
initial: [{{link: top, velocities: [{}]}}]
"""
STRIBECK = """
simulation: {duration: 1}
contact: {friction: 0.2, static_friction: 0.5, stribeck_speed: 0.3}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: box, mass: 1, position: [0, 0, 0.10045465], joint: {type: free, free_axes: [x, z]}, shape: {type: box, size: [0.2, 0.2, 0.2]}}
  - {name: slide, mass: 1.5, position: [0, 3, 1], joint: {type: slide, axis: [1, 0, 0], friction: 2, static_friction: 5, stribeck_speed: 0.3}, shape: {type: box, size: [0.2, 0.2, 0.2]}}
initial: [{link: box, velocities: [1, 0]}, {link: slide, velocities: [1]}]
"""

DEVICES = [
    Row(
        "ball that is latched to a bar and let go: x after 2 s",
        LATCH,
        lambda r: r.at("ball/cx"),
        latched()[0],
        0.001,
        "angular momentum, then a straight line",
    ),
    Row(
        "ball that is latched to a bar and let go: y after 2 s",
        LATCH,
        lambda r: r.at("ball/cy"),
        latched()[1],
        0.001,
        "angular momentum, then a straight line",
    ),
    Row(
        "block that slides obliquely to its friction axis: x after 0.4 s",
        SKATE,
        lambda r: r.at("block/cx"),
        skated(0.4)[0],
        0.0053,
        "largest dissipation, Runge-Kutta",
    ),
    Row(
        "block that slides obliquely to its friction axis: y after 0.4 s",
        SKATE,
        lambda r: r.at("block/cy"),
        skated(0.4)[1],
        0.0019,
        "largest dissipation, Runge-Kutta",
        recommended=("simulation.dt=0.002",),
        known={"default": "friction has the direction of the slip at the end of the step; 1.1 % at 10 ms, 0.2 % at 2 ms"},
    ),
    Row(
        "movable pulley of 3 kg, lifted by a weight of 2 kg over a fixed one: rise in 0.5 s",
        """
simulation: {duration: 0.5}
contact: {model: none}
links:
  - {name: pulley, mass: 3, joint: {type: slide, axis: [0, 0, 1], position: [0.1, 0, -1]}, shape: {type: cylinder, radius: 0.1, length: 0.05}}
  - {name: weight, mass: 2, joint: {type: slide, axis: [0, 0, 1], position: [0.4, 0, -1]}, shape: {type: box, size: [0.1, 0.1, 0.1]}}
tendons:
  - points: [{point: [0.01, 0, 9]}, {point: [0.19, 0, 9]}, {link: weight, point: [-0.01, 0, 0]}]
    wrap: [{type: cylinder, link: pulley, radius: 0.09, axis: [0, 1, 0], side: [0, 0, -0.2], after: 0}, {type: cylinder, radius: 0.1, position: [0.29, 0, 9.5], axis: [0, 1, 0], side: [0.29, 0, 9.7], after: 1}]
    stiffness: 1.0e+5
    rest_length: REST
""".replace("REST", repr(10 * 2 + math.pi * 0.09 + 0.5 + math.pi * 0.1 + 10.5 - 1e-4)),
        lambda r: r.at("pulley/cz") + 1,
        G * (2 * 2 - 3) / (4 * 2 + 3) * 0.25 / 2,
        0.0011,
        "g (2 m_1 - m_2) / (4 m_1 + m_2) t^2 / 2, parallel ropes",
    ),
    Row(
        "ball joint into its twist stop with restitution 0.5: rate",
        STOP.format("0, 0, 1"),
        lambda r: r.spin("top", "z", 0.7, 0.9),
        -0.5,
        0.005,
        "limit_restitution 0.5",
    ),
    Row(
        "ball joint into its cone with restitution 0.5: rate",
        STOP.format("0, 1, 0"),
        lambda r: r.spin("top", "y", 0.8, 0.9),
        -0.5,
        0.005,
        "limit_restitution 0.5",
    ),
    Row(
        "box that friction stops whose coefficient rises from 0.2 to 0.5: distance",
        STRIBECK,
        lambda r: r.at("box/cx"),
        stribeck_stop(0.2 * G, 0.3 * G, 0.3, 1),
        0.0024,
        "m v' = -f(v), Runge-Kutta",
        recommended=("simulation.dt=0.002",),
        known={"default": "the first step has static friction, and later steps that of the slip at their start"},
    ),
    Row(
        "slide that dry friction stops which rises from 2 to 5 N: distance",
        STRIBECK,
        lambda r: r.at("slide/cx"),
        stribeck_stop(2, 3, 0.3, 1.5),
        0.0035,
        "m v' = -f(v), Runge-Kutta",
    ),
    Row(
        "sail that hangs in a wind of 8 m/s: sine of its angle",
        """
simulation: {duration: 6}
contact: {model: none}
fluid: {density: 1.2, velocity: [8, 0, 0]}
links:
  - {name: sail, mass: 0.5, joint: {type: hinge, axis: [0, -1, 0], damping: 0.05}, shapes: [{type: box, size: [0.001, 0.5, 0.4], position: [0, 0, -0.2]}]}
""",
        lambda r: r.at("sail/cx") / 0.2,
        sail_sine(),
        0.0007,
        "rho v_n^2 / 2 A = m g sin",
    ),
    Row(
        "raft with a load 20 mm off its middle: heel [rad]",
        """
simulation: {duration: 8}
contact: {model: none}
fluid: {density: 1000, level: 0}
links:
  - {name: raft, mass: 120, joint: {type: free, free_axes: [z, rx], damping: [400, 40]}, shape: {type: box, size: [2, 0.6, 0.2]}, mass_model: given, center: [0, 0.02, 0], inertia: [4, 40, 40, 0, 0, 0]}
""",
        lambda r: r.tilt("raft", 7.9),
        heel(),
        1e-5,
        "Scribanti: sin (GM + BM / 2 tan^2) = a cos",
    ),
    Row(
        "magnet that floats above another: height",
        """
simulation: {duration: 6}
contact: {model: none}
links:
  - {name: magnet, mass: 0.01, joint: {type: slide, axis: [0, 0, 1], damping: 0.2, position: [0, 0, 0.04]}, shape: {type: cylinder, radius: 0.01, length: 0.004}}
loads: [{link: magnet, field: {type: dipole, to: world, axis: [0, 0, 1], strength: 0.5, moment: [0, 0, -0.6]}}]
""",
        lambda r: r.at("magnet/cz"),
        (3 * 2e-7 * 0.5 * 0.6 / (0.01 * G)) ** 0.25,
        1e-6,
        "3 mu_0 m_1 m_2 / (2 pi z^4) = m g",
    ),
    Row(
        "rubber column under 0.7 times its buckling load and 1 mN from the side: deflection",
        """
simulation: {duration: 12, gravity: [0, 0, 0]}
contact: {model: none}
rods: [{name: column, points: [[0, 0, 0], [0, 0, 1]], segments: 16, radius: 0.01, young: 1.0e+7, density: 1000, damping: 0.5, from: {}}]
links: []
loads: [{link: column_15, force: [0.001, 0, -0.1356524604763117], point: [0, 0, 0.03125]}]
""",
        lambda r: r.at("column_15/px") + 0.03125 * r.direction("column_15", "z", -1)[0],
        0.014008434030330927,
        0.0001,
        "Euler: F / P (tan(k L) / k - L), k^2 = P / E I",
    ),
    Row(
        "wheel regulated by its measured angular velocity",
        """
simulation: {duration: 5}
contact: {model: none}
links: [{name: wheel, mass: 1, joint: {type: hinge, axis: [0, 0, 1]}, shape: {type: cylinder, radius: 0.1, length: 0.05}}]
controllers: [{link: wheel, type: torque, target: 0.9, feedback: {measures: [wheel/wz], matrix: [-0.01]}}]
""",
        lambda r: r.spin("wheel", "z", 4, 5),
        90,
        0.09,
        "torque 0 at the set speed",
    ),
    Row(
        "gyroscope on a wheel at 200 rad/s",
        """
simulation: {duration: 0.5, output: [imu]}
contact: {model: none}
links: [{name: wheel, mass: 1, joint: {type: hinge, axis: [0, 0, 1]}, shape: {type: cylinder, radius: 0.1, length: 0.05}}]
initial: [{link: wheel, velocities: [200]}]
""",
        lambda r: r.imu.at("wheel/wz", 0.2),
        200,
        1e-6,
        "no torque",
    ),
    Row(
        "superellipsoid of the density of water: height after 2 s",
        """
simulation: {duration: 2}
fluid: {density: 1000}
links: [{name: b, density: 1000, shape: {type: superellipsoid, size: [0.1, 0.2, 0.15], exponent: 1.5}}]
""",
        lambda r: r.at("b/cz"),
        0,
        1e-4,
        "Archimedes",
    ),
]
