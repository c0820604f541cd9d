"""Ordinary machines: winch, yo-yo, wheelbarrow, see-saw, ladder truck, scissor lift."""

import math

from row import Row

G = 9.81


def seesaw_angle(time, step=1e-4):
    """Angle of a see-saw of 20 kg with boxes of 30 and 20 kg that do not slip on it, by Runge-Kutta's method [rad]."""
    h = 0.025 + 0.1  # of the boxes' centres above the axis
    inertia = 20 * (4**2 + 0.05**2) / 12 + sum(m * (l**2 + h**2 + 0.2**2 / 6) for m, l in ((30, 1.5), (20, 1.8)))

    def acceleration(q):
        return sum(m * G * (l * math.cos(q) + h * math.sin(q)) for m, l in ((30, 1.5), (20, -1.8))) / inertia

    q, w = 0.0, 0.0
    for _ in range(round(time / step)):
        k1 = acceleration(q)
        k2 = acceleration(q + step / 2 * w + step**2 / 8 * k1)
        k3 = acceleration(q + step * w + step**2 / 2 * k2)
        q += step * w + step**2 / 6 * (k1 + 2 * k2)
        w += step / 6 * (k1 + 4 * k2 + k3)
    return q


def ladder_inertia(elevation, extension):
    """Moment of inertia of a ladder truck about the vertical axis of its turntable [kg m^2]."""
    total = 500 * 0.8**2 / 2
    for mass, distance, width, height in ((200, 3, 0.4, 0.3), (100, 3 + extension, 0.3, 0.2)):
        own = (6**2 * math.cos(elevation) ** 2 + height**2 * math.sin(elevation) ** 2 + width**2) / 12
        total += mass * ((distance * math.cos(elevation)) ** 2 + own)
    return total


def scissor_speed(time, force=2000, mass=100, length=2, step=1e-5):
    """Speed of the table of a scissor lift of massless bars that stands at 30 degrees, under a horizontal force on its
    sliding foot, by the midpoint method [m/s]."""

    def acceleration(z):
        sine = 0.5 + z / length
        return force / mass * sine / math.sqrt(1 - sine * sine) - G

    z = v = 0.0
    for _ in range(round(time / step)):
        middle = acceleration(z + step / 2 * v)
        z, v = z + step * v + step**2 / 2 * middle, v + step * middle
    return v


SCISSOR = """
simulation: {duration: 0.5}
contact: {model: none}
links:
  - {name: a, mass: 0.001, joint: {type: hinge, axis: [0, -1, 0]}, shapes: [{type: box, size: [2, 0.04, 0.04], position: [1, 0, 0]}]}
  - {name: foot, mass: 0.001, joint: {type: slide, axis: [1, 0, 0], position: [1.7320508, 0, 0]}, shape: {type: box, size: [0.1, 0.1, 0.1]}}
  - {name: b, parent: foot, mass: 0.001, joint: {type: hinge, axis: [0, -1, 0]}, shapes: [{type: box, size: [2, 0.04, 0.04], position: [-1, 0, 0]}]}
  - {name: table, mass: 100, joint: {type: slide, axis: [0, 0, 1], position: [0.87, 0, 1]}, shape: {type: box, size: [2, 0.5, 0.05]}}
  - {name: roller, parent: table, mass: 0.001, joint: {type: slide, axis: [1, 0, 0], position: [0.8620508, 0, 0]}, shape: {type: box, size: [0.1, 0.1, 0.1]}}
closures:
  - {type: hinge, a: a, b: b, point: [0.8660254, 0, 0.5], axis: [0, 1, 0]}
  - {type: hinge, a: b, b: table, point: [0, 0, 1], axis: [0, 1, 0]}
  - {type: hinge, a: a, b: roller, point: [1.7320508, 0, 1], axis: [0, 1, 0]}
initial:
  - {link: a, coordinates: [0.5235987755982988]}
  - {link: b, coordinates: [-0.5235987755982988]}
loads: [{link: foot, force: [-2000, 0, 0]}]
"""

ORDINARY_MACHINES = [
    Row(
        "winch that lifts a load over a pulley: height",
        """
simulation: {duration: 2}
contact: {model: none}
links:
  - {name: drum, mass: 10, joint: {type: hinge, axis: [0, 1, 0], position: [-1, 0, 0]}, shapes: [{type: cylinder, radius: 0.1, length: 0.2, rpy: [1.5707963267948966, 0, 0]}]}
  - {name: load, mass: 20, joint: {type: slide, axis: [0, 0, 1], position: [1, 0, 0]}, shape: {type: box, size: [0.3, 0.3, 0.3]}}
couplings: [{link: load, of: drum, ratio: 0.1}]
loads: [{link: drum, torque: [0, 25, 0]}]
""",
        lambda r: r.at("load/cz"),
        0.5 * (25 / 0.1 - 20 * G) / (20 + 10 / 2) * 2**2,
        1e-4 * 4.3,
        "(T / r - m g) / (m + I / r^2) t^2 / 2",
    ),
    Row(
        "yo-yo: fall in 1 s",
        """
simulation: {duration: 1}
links:
  - {name: slide, mass: 0.01, inertia: [1.0e-6, 1.0e-6, 1.0e-6, 0, 0, 0], joint: {type: slide, axis: [0, 0, -1]}}
  - {name: disc, parent: slide, mass: 1, inertia: [0.002, 0.002, 0.002, 0, 0, 0], joint: {type: hinge, axis: [0, 1, 0]}}
couplings: [{link: slide, of: disc, ratio: 0.02}]
""",
        lambda r: -r.at("disc/cz"),
        0.5 * G * 1.01 / (1.01 + 0.002 / 0.02**2),
        1e-4 * 0.8243,
        "g / (1 + I / (m r^2)) t^2 / 2",
    ),
    Row(
        "geared motor that lifts 2 kg with a drum, to 0.75 rad a step: height",
        """
simulation: {duration: 2}
links:
  - {name: motor, mass: 1, joint: {type: hinge, axis: [0, 1, 0]}, shapes: [{type: cylinder, radius: 0.05, length: 0.05, rpy: [1.5707963267948966, 0, 0]}]}
  - {name: drum, mass: 4, joint: {type: hinge, axis: [0, 1, 0], position: [0.3, 0, 0]}, shapes: [{type: cylinder, radius: 0.1, length: 0.05, rpy: [1.5707963267948966, 0, 0]}]}
  - {name: load, mass: 2, joint: {type: slide, axis: [0, 0, 1], position: [0.6, 0, 0]}, shape: {type: box, size: [0.1, 0.1, 0.1]}}
couplings: [{link: motor, of: drum, ratio: 5}, {link: load, of: drum, ratio: 0.1}]
controllers: [{link: motor, type: torque, target: 0.5}]
""",
        lambda r: r.at("load/cz"),
        0.5 * 0.1 * (5 * 0.5 - 0.1 * 2 * G) / (25 * 0.00125 + 0.02 + 0.01 * 2) * 2**2,
        1e-4 * 1.51,
        "r (n T - m g r) / (n^2 I_1 + I_2 + m r^2) t^2 / 2",
    ),
    Row(
        "motor of 1e-7 kg m^2 geared 50 to 1 to a load of 1 kg m^2, position gain: fifth turning point of the load",
        """
simulation: {duration: 3}
links:
  - {name: motor, mass: 0.01, inertia: [1.0e-7, 1.0e-7, 1.0e-7, 0, 0, 0], joint: {type: hinge, axis: [0, 0, 1]}}
  - {name: load, mass: 1, inertia: [1, 1, 1, 0, 0, 0], joint: {type: hinge, axis: [0, 0, 1], position: [1, 0, 0]}}
couplings: [{link: motor, of: load, ratio: 50}]
controllers: [{link: motor, type: pd, position_gain: 0.02, damping_gain: 0.0004, target: 0}]
initial: [{link: load, coordinates: [0.1]}, {link: motor, coordinates: [5]}]
""",
        lambda r: 2 * math.asin(max(abs(x) for x in r.range_of("load/qz", 2.0, 2.5))),
        0.1 * math.exp(-5 * math.pi * 0.5 / math.sqrt(50 * 1.00025 - 0.25)),
        0.01 * 0.0328,
        "exp(-n pi c / sqrt(4 k J - c^2))",
    ),
    Row(
        "spindle that lifts a nut of 5 kg, to 8 rad a step: height",
        """
simulation: {duration: 1}
links:
  - {name: spindle, mass: 0.2, joint: {type: hinge, axis: [0, 0, 1]}, shape: {type: cylinder, radius: 0.01, length: 0.4}}
  - {name: nut, mass: 5, joint: {type: slide, axis: [0, 0, 1], position: [0.2, 0, 0]}, shape: {type: box, size: [0.1, 0.1, 0.1]}}
couplings: [{link: nut, of: spindle, ratio: 0.0008}]
controllers: [{link: spindle, type: torque, target: 0.05}]
""",
        lambda r: r.at("nut/cz"),
        0.5 * 0.0008 * (0.05 - 5 * G * 0.0008) / (1e-5 + 5 * 0.0008**2),
        1e-4 * 0.33,
        "p (T - m g p) / (I + m p^2) t^2 / 2",
    ),
    Row(
        "wheelbarrow that is carried level and pushed: way",
        """
simulation: {duration: 2}
contact: {friction: 0.8}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: tray, mass: 40, position: [0, 0, 0.5], shape: {type: box, size: [0.8, 0.6, 0.3]}}
  - {name: wheel, parent: tray, mass: 3, joint: {type: hinge, axis: [0, 1, 0], position: [0.6, 0, -0.3]}, shapes: [{type: cylinder, radius: 0.2, length: 0.08, rpy: [1.5707963267948966, 0, 0]}]}
loads:
  - {link: tray, point: [-0.9, 0, 0], force: [0, 0, 156.96]}
  - {link: tray, point: [-0.9, 0, -0.030337], force: [20, 0, 0]}
""",
        lambda r: r.at("tray/cx"),
        0.5 * 20 / (43 + 3 / 2) * 2**2,
        0.01 * 0.8989,
        "F / (m + I / r^2) t^2 / 2",
    ),
    Row(
        "see-saw with a box of 30 kg and one of 20 kg: angle after 0.4 s",
        """
simulation: {duration: 0.4}
contact: {friction: 0.6}
links:
  - {name: plank, mass: 20, joint: {type: hinge, axis: [0, -1, 0], position: [0, 0, 0.6]}, shapes: [{type: box, size: [4, 0.3, 0.05]}]}
  - {name: left, mass: 30, position: [-1.5, 0, 0.7252], shape: {type: box, size: [0.2, 0.2, 0.2]}}
  - {name: right, mass: 20, position: [1.8, 0, 0.7252], shape: {type: box, size: [0.2, 0.2, 0.2]}}
""",
        lambda r: math.atan2(r.direction("plank", "x", -1)[2], r.direction("plank", "x", -1)[0]),
        seesaw_angle(0.4),
        0.01 * 0.0442,
        "Lagrange, boxes that do not slip, Runge-Kutta",
    ),
    Row(
        "turntable of a ladder truck while its ladder rises and extends: rate",
        """
simulation: {duration: 4}
contact: {model: none}
links:
  - {name: turntable, mass: 500, joint: {type: hinge, axis: [0, 0, 1]}, shape: {type: cylinder, radius: 0.8, length: 0.4}}
  - {name: lower, parent: turntable, mass: 200, joint: {type: hinge, axis: [0, -1, 0]}, shapes: [{type: box, size: [6, 0.4, 0.3], position: [3, 0, 0]}]}
  - {name: upper, parent: lower, mass: 100, joint: {type: slide, axis: [1, 0, 0]}, shapes: [{type: box, size: [6, 0.3, 0.2], position: [3, 0, 0]}]}
controllers:
  - {link: lower, type: prescribed, target: {type: keyframes, times: [0, 3], values: [0.2, 1.0]}}
  - {link: upper, type: prescribed, target: {type: keyframes, times: [0, 3], values: [0, 5]}}
initial: [{link: turntable, velocities: [0.5]}]
""",
        lambda r: r.spin("turntable", "z", 3.2, 4),
        0.5 * ladder_inertia(0.2, 0) / ladder_inertia(1, 5),
        0.01 * 0.6418,
        "angular momentum",
    ),
    Row(
        "table of a scissor lift that is driven by a constant force: speed",
        SCISSOR,
        lambda r: r.mean_rate("table/cz", 0.39, 0.41),
        scissor_speed(0.4),
        0.01 * 1.036,
        "Lagrange with massless bars, midpoint method",
        recommended=["simulation.dt=0.002"],
    ),
]
