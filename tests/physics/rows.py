"""Ordinary motion with known answers: one row a scene, what is measured on it, and the right value with its source.

Every scene says only what somebody would write who has read the README: neither time step nor integrator nor contact
parameters, unless the row is about them. `recommended` are the overrides that the guide advises for such a scene.
`known` names what a program without an answer within the limit falls short by; the test fails when it no longer does.
"""

import math
import os

from ball_joints import BALL_JOINTS
from classics import CLASSICS
from crawlers import MECANUM, mecanum, mecanum_share, snake_speed
from devices import DEVICES
from levers import LEVERS
from planar import PLANAR
from ordinary_machines import ORDINARY_MACHINES
from rollers import ROLLERS
from row import Row
from signals import SIGNALS

G = 9.81

# Force of a belt with 20 N in both strands at rest on a pulley that it wraps by 2.8 rad, coefficient 0.3 [N].
BELT = 2 * 20 * math.tanh(0.3 * 2.8 / 2)


def wheel(extra="", joint="", duration=10):
    """A wheel of 0.01 kg m^2 on a hinge."""
    return f"""
simulation: {{duration: {duration}}}
links:
  - name: wheel
    joint: {{type: hinge, axis: [0, 0, 1]{joint}}}
    mass: 1
    inertia: [0.01, 0.01, 0.01, 0, 0, 0]
{extra}"""


def oscillator(extra="", duration=32, start=0.1):
    """1 kg on a spring of 100 N/m: 10 rad/s."""
    return f"""
simulation: {{duration: {duration}, gravity: [0, 0, 0]}}
links:
  - name: mass
    joint: {{type: slide, axis: [1, 0, 0], stiffness: 100{extra}}}
    mass: 1
    inertia: [0.1, 0.1, 0.1, 0, 0, 0]
initial: [{{link: mass, coordinates: [{start}]}}]
"""


def damped_slide(damping=0, drive=""):
    """1 kg on a slide that begins with 1 m/s."""
    return f"""
simulation: {{duration: 1, gravity: [0, 0, 0]}}
links:
  - name: mass
    joint: {{type: slide, axis: [1, 0, 0], damping: {damping}}}
    mass: 1
    inertia: [0.1, 0.1, 0.1, 0, 0, 0]
initial: [{{link: mass, velocities: [1]}}]
{drive}
"""


def stick_slip_advance(mass, stiffness, dynamic, static, speed):
    """How far a block moves in one period that a spring pulls, the end of which moves at `speed` [m]."""
    amplitude, w = (static - dynamic) / stiffness, math.sqrt(stiffness / mass)
    return 2 * amplitude + speed * 2 * (math.pi - math.atan(amplitude * w / speed)) / w


def stribeck_period(mass, stiffness, normal, dynamic, static, width, speed, step=1e-5):
    """Period of a block on a belt with the friction normal (dynamic + (static - dynamic) exp(-(r / width)^2)) at the slip
    r, by Runge-Kutta's method [s]."""

    def acceleration(x, v):
        slip = speed - v
        return (normal * (dynamic + (static - dynamic) * math.exp(-((slip / width) ** 2))) - stiffness * x) / mass

    limit = static * normal / stiffness
    x, v, t = limit + 1e-12, speed, 0
    while not (v >= speed and x < 0.5 * limit):
        a1 = acceleration(x, v)
        a2 = acceleration(x + step / 2 * v, v + step / 2 * a1)
        a3 = acceleration(x + step / 2 * (v + step / 2 * a1), v + step / 2 * a2)
        a4 = acceleration(x + step * (v + step / 2 * a2), v + step * a3)
        x += step * (v + step / 6 * (a1 + a2 + a3))
        v = min(v + step / 6 * (a1 + 2 * a2 + 2 * a3 + a4), speed)
        t += step
    return t + (limit - x) / speed


def breakaway_force(dynamic, static, width, rate, way, step=1e-5):
    """Load at which a box of 1 kg has moved by `way`, the load growing with `rate` [N/s], by Heun's method [N]."""
    t, x, v = static * G / rate, 0, 0

    def acceleration(t, v):
        return rate * t - G * (dynamic + (static - dynamic) * math.exp(-((v / width) ** 2)))

    while x <= way:
        a = acceleration(t, v)
        after = v + step / 2 * (a + acceleration(t + step, v + step * a))
        x, v, t = x + step / 2 * (v + after), after, t + step
    return rate * t


STRIBECK_PERIOD = stribeck_period(2, 50, G, 0.2, 0.4, 0.01, 0.1)
BREAKAWAY = breakaway_force(0.3, 0.5, 0.01, 2, 0.005)


def stick_slip_period(run):
    """Mean time between the largest deflections of the carriage in the second half of the run [s]."""
    x, time = run.columns["carriage/cx"], run.time
    middle = 0.5 * (min(x[len(x) // 2 :]) + max(x[len(x) // 2 :]))
    falls = [i for i in range(len(x) // 3, len(x)) if x[i - 1] >= middle > x[i]]
    at = [time[i] - (middle - x[i]) / (x[i - 1] - x[i]) * (time[i] - time[i - 1]) for i in falls]
    return (at[-1] - at[0]) / (len(at) - 1)


def plank(angle, duration=10):
    """A solid plank of 1 m that hangs on a hinge at its end."""
    return f"""
simulation: {{duration: {duration}}}
links:
  - name: plank
    joint: {{type: hinge, axis: [0, 1, 0]}}
    mass: 1
    shapes: [{{type: box, size: [0.05, 0.05, 1], position: [0, 0, -0.5]}}]
initial: [{{link: plank, coordinates: [{angle}]}}]
"""


def box(extra="", velocities="[0, 0, 0, 0, 0, 0]", height=0.1005, duration=2, gravity=None, contact="friction: 0.3", size=0.2):
    """A solid box of 1 kg above level ground."""
    gravity = f", gravity: [{gravity}]" if gravity else ""
    return f"""
simulation: {{duration: {duration}{gravity}}}
contact: {{{contact}}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}}}
  - {{name: box, mass: 1, shape: {{type: box, size: [{size}, {size}, {size}]}}, position: [0, 0, {height}]}}
initial: [{{link: box, velocities: {velocities}}}]
{extra}"""


def slope(angle):
    """Gravity of a plane that is inclined by an angle [rad] and descends along x."""
    return f"{G * math.sin(angle)!r}, 0, {-G * math.cos(angle)!r}"


def turning_amplitude(run, column, last):
    """Largest deflection in the last span of time."""
    low, high = run.range_of(column, run.time[-1] - last)
    return max(high, -low)


def lost_energy(run, scale):
    """Change of the total energy from the first to the last second, as a share of `scale` [J]."""
    total, time = run.solver["total"], run.solver["time"]
    first = [value for t, value in zip(time, total) if t <= 1.0]
    last = [value for t, value in zip(time, total) if t >= time[-1] - 1.0]
    return (sum(last) / len(last) - sum(first) / len(first)) / scale


def energy_error(run):
    """Largest difference of the total energy from that at the start, as a share of the largest kinetic energy."""
    total = run.solver["total"]
    return max((value - total[0] for value in total), key=abs) / max(run.solver["kinetic"])


def ball_chain(count, length, initial, duration, weight=0):
    """Capsules that ball joints join, the last one with a weight at its end."""
    one = length / count
    scene = [
        f"simulation: {{duration: {duration}}}",
        "contact: {model: none}",
        "links:",
    ]
    for k in range(count):
        parent = "" if k == 0 else f"parent: rope{k - 1}, "
        where = "" if k == 0 else f", position: [0, 0, {-one}]"
        shapes = f"{{type: capsule, radius: 0.005, length: {one}, position: [0, 0, {-one / 2}]}}"
        mass = 1100 * math.pi * 0.005**2 * one
        if weight and k == count - 1:
            shapes += f", {{type: sphere, radius: 0.03, position: [0, 0, {-one - 0.03}]}}"
            mass = weight
        scene.append(f"  - {{name: rope{k}, mass: {mass}, {parent}joint: {{type: ball{where}}}, shapes: [{shapes}]}}")
    return "\n".join([*scene, initial, ""])


def bottoms(run, column):
    """Times and values of the lowest points, by parabolas."""
    y, t = run.columns[column], run.time
    found = []
    for i in range(1, len(y) - 1):
        if y[i] < y[i - 1] and y[i] <= y[i + 1]:
            a, b = (y[i + 1] + y[i - 1]) / 2 - y[i], (y[i + 1] - y[i - 1]) / 2
            found.append((t[i] - b / (2 * a) * (t[i] - t[i - 1]), y[i] - b * b / (4 * a)))
    return found


def bottoms_apart(run, column, count):
    """Mean time between the first `count` of them."""
    found = bottoms(run, column)
    return (found[count - 1][0] - found[0][0]) / (count - 1)


def bottom_left(run, column, count):
    """Depth below the start's mirror image: what is left of the swing about the first one's middle."""
    found, middle = bottoms(run, column), (run.columns[column][0] + bottoms(run, column)[0][1]) / 2
    return (found[count][1] - middle) / (found[0][1] - middle)


FLOATING_BUSHING = """
simulation: {duration: 3, gravity: [0, 0, 0]}
links:
  - {name: a, mass: 2, shape: {type: box, size: [0.3, 0.1, 0.1]}}
  - {name: b, mass: 1, position: [0.3, 0, 0], shape: {type: box, size: [0.2, 0.1, 0.1]}}
  - {name: c, parent: b, mass: 0.5, joint: {type: hinge, axis: [0, 1, 0], position: [0.2, 0, 0]}, shape: {type: box, size: [0.2, 0.1, 0.1]}}
bushings:
  - {a: a, b: b, frame_a: {position: [0.15, 0, 0]}, frame_b: {position: [-0.15, 0, 0]}, stiffness: [300, 400, 500, 2, 1, 3]}
contact: {model: none}
initial: [{link: a, velocities: [0, 0.1, 0, 1, 2, 3]}, {link: b, velocities: [0, 0.3, 0.2, 0, 2, 3]}, {link: c, velocities: [4]}]
"""
CABLE = "[[-0.4, 0, 0], [-0.3, 0, -0.3], [0.3, 0, -0.3], [0.4, 0, 0]]"


def catenary_sag(span, length):
    low, high = 0.05, 5.0
    for _ in range(80):
        a = (low + high) / 2
        low, high = (a, high) if 2 * a * math.sinh(span / (2 * a)) > length else (low, a)
    return a * (math.cosh(span / (2 * a)) - 1)


def helix(radius, pitch, turns, steps):
    """Points of a helix about z as YAML."""
    angles = [2 * math.pi * k / steps for k in range(turns * steps + 1)]
    points = [(radius * math.cos(a), radius * math.sin(a), pitch * a / (2 * math.pi)) for a in angles]
    return "[" + ", ".join(f"[{x:.9f}, {y:.9f}, {z:.9f}]" for x, y, z in points) + "]"


def elliptic_k(k):
    """Complete elliptic integral of the first kind by the arithmetic-geometric mean."""
    a, b = 1.0, math.sqrt(1 - k * k)
    while abs(a - b) > 1e-15:
        a, b = (a + b) / 2, math.sqrt(a * b)
    return math.pi / (2 * a)


def plank_period(amplitude):
    inertia = (1 + 0.05**2) / 12 + 0.25
    return 4 * math.sqrt(inertia / (G * 0.5)) * elliptic_k(math.sin(amplitude / 2))


# ------------------------------------------------------------ a brick that turns over: Euler's equations by Runge-Kutta
BRICK = (0.3, 0.2, 0.1)
BRICK_INERTIA = tuple((a * a + b * b) / 12 for a, b in ((0.2, 0.1), (0.3, 0.1), (0.3, 0.2)))
BRICK_SPIN = (0.05, 6.0, 0.0)


def brick_flips(until):
    """Times at which a brick's spin about its middle axis changes sign, by its own axes."""
    i1, i2, i3 = BRICK_INERTIA

    def rate(w):
        return (
            (i2 - i3) / i1 * w[1] * w[2],
            (i3 - i1) / i2 * w[2] * w[0],
            (i1 - i2) / i3 * w[0] * w[1],
        )

    w, t, h, flips = BRICK_SPIN, 0.0, 1e-4, []
    while t < until:
        k1 = rate(w)
        k2 = rate([a + h / 2 * b for a, b in zip(w, k1)])
        k3 = rate([a + h / 2 * b for a, b in zip(w, k2)])
        k4 = rate([a + h * b for a, b in zip(w, k3)])
        after = [a + h / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(w, k1, k2, k3, k4)]
        if w[1] * after[1] < 0:
            flips.append(t + h * w[1] / (w[1] - after[1]))
        w, t = after, t + h
    return flips


def seen_flips(run):
    """The same from the poses: the momentum is fixed in the world, so the sign is that of the middle axis along it."""
    i1, i2, _ = BRICK_INERTIA
    momentum = (i1 * BRICK_SPIN[0], i2 * BRICK_SPIN[1], 0.0)
    values = [sum(a * b for a, b in zip(run.direction("brick", "y", row), momentum)) for row in range(len(run.time))]
    return [
        run.time[k - 1] + values[k - 1] / (values[k - 1] - values[k]) * (run.time[k] - run.time[k - 1])
        for k in range(1, len(values))
        if values[k - 1] * values[k] < 0
    ]


# ------------------------------------------------------------------------------------------------ a top that precesses
TOP_TILT, TOP_SPIN = 0.5, 60.0


def top_precession():
    """Slow root of I1 cos(tilt) W^2 - I3 w3 W + m g l = 0 for 1 kg, l = 0.1 m, I1 = 0.02, I3 = 0.02 kg m^2."""
    a, b, c = 0.02 * math.cos(TOP_TILT), -0.02 * TOP_SPIN, 1.0 * G * 0.1
    return (-b - math.sqrt(b * b - 4 * a * c)) / (2 * a)


def azimuth_rate(run, link, start, end):
    """Mean rate at which a link's z axis goes round the vertical [rad/s]."""
    angles = []
    for row in range(len(run.time)):
        x, y, _ = run.direction(link, "z", row)
        angle = math.atan2(y, x)
        if angles:
            angle += 2 * math.pi * round((angles[-1] - angle) / (2 * math.pi))
        angles.append(angle)
    run.columns[f"{link}/azimuth"] = angles
    return run.mean_rate(f"{link}/azimuth", start, end)


def crane(share):
    """A crane of 10 kg on a base 0.4 m wide, with a load at 0.6 m that is a share of the largest: m (0.6 - 0.2) = M 0.2."""
    load = share * 10 * 0.2 / 0.4
    center = 0.6 * load / (10 + load)
    return f"""
simulation: {{duration: 4}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}}}
  - name: crane
    mass: {10 + load!r}
    center: [{center!r}, 0, 0.3]
    inertia: [2, 2, 2, 0, 0, 0]
    position: [0, 0, 0.0005]
    shapes:
      - {{type: box, size: [0.4, 0.4, 0.1], position: [0, 0, 0.05]}}
      - {{type: box, size: [0.1, 0.1, 0.8], position: [0, 0, 0.5]}}
"""


def cards(friction):
    """Two cards of 90 x 4 mm that lean on each other at 15 degrees. The lower corner is 9.7 mm beside the centre of mass
    and 86.9 mm below the upper contact, so that the ground must bear 9.7 / 86.9 = 0.112 of the weight sideways."""
    c, s = math.cos(math.radians(15)), math.sin(math.radians(15))
    x, z = 0.002 * c + 0.045 * s + 2e-5, 0.002 * s + 0.045 * c + 4e-5
    return f"""
simulation: {{duration: 2}}
contact: {{friction: {friction}}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}}}
  - {{name: left, mass: 0.01, shape: {{type: box, size: [0.004, 0.06, 0.09]}}, position: [{-x!r}, 0, {z!r}], rpy: [0, {math.radians(15)!r}, 0]}}
  - {{name: right, mass: 0.01, shape: {{type: box, size: [0.004, 0.06, 0.09]}}, position: [{x!r}, 0, {z!r}], rpy: [0, {-math.radians(15)!r}, 0]}}
"""


def cards_stand(run):
    return float(run.tilt("left", 1.9) < math.radians(25))


ROWS = [
    # ---------------------------------------------------------------------------------------------- bodies in the air
    Row("free fall", box(height=20, duration=1), lambda r: 20 - r.at("box/cz", 1.0), G / 2, 0.01 * G / 2, "g t^2 / 2"),
    Row(
        "thrown box",
        box(height=20, velocities="[3, 0, 4, 0, 0, 0]", duration=1),
        lambda r: r.range_of("box/cz")[1] - 20,
        16 / (2 * G),
        0.01 * 16 / (2 * G),
        "v^2 / (2 g)",
    ),
    Row(
        "box that spins in space",
        box(height=20, velocities="[0, 0, 0, 0, 0, 10]", duration=5, gravity="0, 0, 0"),
        lambda r: r.spin("box", "z", 4, 5),
        10,
        0.01,
        "angular momentum",
    ),
    Row(
        "rocket",
        box("loads: [{link: box, force: [2, 0, 0]}]", height=20, duration=3, gravity="0, 0, 0"),
        lambda r: r.at("box/cx"),
        9,
        0.09,
        "F t^2 / (2 m)",
    ),
    Row(
        "torque on a free box",
        box("loads: [{link: box, torque: [0, 0, 0.1]}]", height=20, duration=2, gravity="0, 0, 0"),
        lambda r: r.at(r.turned("box", "z")),
        0.5 * 0.1 / (0.04 / 6) * 4,
        0.01 * 30,
        "T t^2 / (2 I), I = m a^2 / 6",
    ),
    Row(
        "brick about its middle axis",
        f"""
simulation: {{duration: 20, gravity: [0, 0, 0]}}
links: [{{name: brick, mass: 1, shape: {{type: box, size: {list(BRICK)}}}}}]
initial: [{{link: brick, velocities: [0, 0, 0, {BRICK_SPIN[0]}, {BRICK_SPIN[1]}, {BRICK_SPIN[2]}]}}]
""",
        lambda r: seen_flips(r)[len(brick_flips(20)) - 1],
        brick_flips(20)[-1],
        0.02,
        "Euler's equations, Runge-Kutta",
    ),
    Row(
        "heavy top, 60 rad/s",
        f"""
simulation: {{duration: 4}}
links:
  - name: top
    joint: {{type: ball, rpy: [0, {TOP_TILT}, 0]}}
    mass: 1
    center: [0, 0, 0.1]
    inertia: [0.01, 0.01, 0.02, 0, 0, 0]
initial: [{{link: top, velocities: [{-top_precession() * math.sin(TOP_TILT)!r}, 0, {TOP_SPIN}]}}]
""",
        lambda r: azimuth_rate(r, "top", 0, 4),
        top_precession(),
        0.01 * top_precession(),
        "steady precession",
    ),
    Row(
        "fast top, 300 rad/s: largest tilt",
        """
simulation: {duration: 2}
links:
  - name: top
    joint: {type: ball, rpy: [0, 0.5, 0]}
    mass: 1
    center: [0, 0, 0.2]
    inertia: [0.004, 0.004, 0.002, 0, 0, 0]
initial: [{link: top, velocities: [0, 0, 300]}]
""",
        lambda r: r.tilt("top"),
        1.006,
        0.02,
        "turning points of the heavy top",
    ),
    # ------------------------------------------------------------------------------------------------ joints and drives
    Row(
        "motor on a wheel",
        wheel("controllers: [{link: wheel, type: torque, target: 0.2}]"),
        lambda r: 2 * r.at(r.turned("wheel", "z")) / 10,
        200,
        0.2,
        "T t / I, from the angle T t^2 / (2 I)",
    ),
    Row(
        "velocity servo",
        wheel("controllers: [{link: wheel, type: velocity, target: 100, damping_gain: 0.01}]", duration=20),
        lambda r: r.spin("wheel", "z", 18, 20),
        100,
        0.1,
        "target",
    ),
    Row(
        "motor against damping",
        wheel("controllers: [{link: wheel, type: torque, target: 0.2}]", ", damping: 0.01", duration=10),
        lambda r: r.spin("wheel", "z", 9, 10),
        20,
        0.02,
        "T / c",
    ),
    Row(
        "motor with armature",
        wheel("controllers: [{link: wheel, type: torque, target: 0.2}]", ", armature: 0.03"),
        lambda r: 2 * r.at(r.turned("wheel", "z")) / 10,
        50,
        0.05,
        "T t / (I + armature)",
    ),
    Row(
        "wheel stopped by dry friction",
        wheel("initial: [{link: wheel, velocities: [10]}]", ", friction: 0.05", duration=4),
        lambda r: r.at(r.turned("wheel", "z")),
        10,
        0.1,
        "I w^2 / (2 M)",
    ),
    Row(
        "wheel that a belt brings to speed while it slips: angle",
        """
simulation: {duration: 2, gravity: [0, 0, 0]}
links:
  - {name: motor, joint: {type: hinge, axis: [0, 0, 1]}, mass: 1, inertia: [1, 1, 1, 0, 0, 0]}
  - {name: wheel, joint: {type: hinge, axis: [0, 0, 1], position: [0.3, 0, 0]}, mass: 4, inertia: [0.01, 0.01, 0.02, 0, 0, 0]}
tendons:
  - joints: [{link: motor, ratio: 0.05}, {link: wheel, ratio: -0.1}]
    friction: %r
controllers: [{link: motor, type: prescribed, velocity: [40]}]
"""
        % BELT,
        lambda r: r.at(r.turned("wheel", "z")),
        20 * (2 - 20 * 0.02 / (2 * 0.1 * BELT)),
        0.38,
        "F = 2 T tanh(mu angle / 2) of Euler and Eytelwein",
    ),
    Row(
        "block that a spring pulls sticks and slips",
        """
simulation: {duration: 5, gravity: [0, 0, 0]}
links:
  - name: block
    joint: {type: slide, axis: [1, 0, 0], friction: 5, static_friction: 10}
    mass: 1
    inertia: [0.1, 0.1, 0.1, 0, 0, 0]
controllers: [{link: block, type: pd, position_gain: 100, target: {type: keyframes, times: [0, 10], values: [0, 1]}}]
""",
        lambda r: r.at("block/cx", 4.9),
        3 * stick_slip_advance(1, 100, 5, 10, 0.1),
        0.03 * 3 * stick_slip_advance(1, 100, 5, 10, 0.1),
        "sticks to f_s, slips 2 (pi - atan(A w / V)) / w",
    ),
    Row(
        "wheel slowed by damping",
        wheel("initial: [{link: wheel, velocities: [10]}]", ", damping: 0.01", duration=10),
        lambda r: r.at(r.turned("wheel", "z")),
        10,
        0.1,
        "I w / c",
    ),
    Row(
        "slide stopped by a damper: distance",
        damped_slide(damping=20),
        lambda r: r.at("mass/cx"),
        0.05,
        0.00015,
        "m v / c",
    ),
    Row(
        "slide stopped by a velocity drive: distance",
        damped_slide(drive="controllers: [{link: mass, type: velocity, target: 0, damping_gain: 20}]"),
        lambda r: r.at("mass/cx"),
        0.05,
        0.00015,
        "m v / c",
    ),
    Row("plank pendulum", plank(0.05), lambda r: r.period("plank/cx"), plank_period(0.05), 0.003 * 1.64, "elliptic integral"),
    Row(
        "plank pendulum from 90 degrees",
        plank(math.pi / 2, 20),
        lambda r: r.period("plank/cx"),
        plank_period(math.pi / 2),
        0.01 * 1.93,
        "elliptic integral",
    ),
    Row(
        "plank pendulum: height of return after 20 s",
        plank(1.0, 20),
        lambda r: max(abs(x) for t, x in zip(r.time, r.columns["plank/cx"]) if t > 18) / (0.5 * math.sin(1.0)),
        1,
        0.01,
        "energy",
    ),
    Row(
        "double pendulum: energy after 100 s",
        """
simulation: {duration: 100}
contact: {model: none}
links:
  - {name: upper, joint: {type: hinge, axis: [0, 1, 0]}, mass: 1, shapes: [{type: box, size: [0.02, 0.02, 1], position: [0, 0, -0.5]}]}
  - name: lower
    parent: upper
    joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, -1]}
    mass: 1
    shapes: [{type: box, size: [0.02, 0.02, 1], position: [0, 0, -0.5]}]
initial:
  - {link: upper, coordinates: [1.5]}
  - {link: lower, coordinates: [0.5]}
""",
        lambda r: lost_energy(r, G),
        0,
        0.01,
        "energy, share of m g l",
    ),
    Row(
        "rope of 20 ball joints with a weight that swings: error of the energy",
        ball_chain(20, 1.0, "initial: [{link: rope0, velocities: [0.5, 1, 0]}]", 2, weight=1.0),
        energy_error,
        0,
        0.001,
        "energy, share of the largest kinetic one",
    ),
    Row(
        "chain of 20 ball joints that falls from the horizontal: error of the energy",
        ball_chain(20, 1.0, "initial: [{link: rope0, coordinates: [0.7071067811865476, 0, 0.7071067811865476, 0]}]", 3),
        energy_error,
        0,
        0.01,
        "energy, share of the largest kinetic one",
        long=True,
    ),
    Row(
        "spring: amplitude after 50 periods",
        oscillator(),
        lambda r: turning_amplitude(r, "mass/cx", 0.7),
        0.1,
        0.002,
        "energy",
    ),
    Row("spring: period", oscillator(duration=10), lambda r: r.period("mass/cx"), 0.2 * math.pi, 0.002 * math.pi, "2 pi / w"),
    Row(
        "damped spring: amplitude after 5 s",
        oscillator(", damping: 0.4", duration=5.1),
        lambda r: turning_amplitude(r, "mass/cx", 0.32),
        0.1 * math.exp(-0.2 * 4.95),
        0.001,
        "exp(-c t / 2 m)",
    ),
    Row(
        "critically damped spring after 0.1 s",
        oscillator(", damping: 20", duration=0.1),
        lambda r: r.at("mass/cx"),
        0.2 * math.exp(-1),
        0.00022,
        "x_0 (1 + w t) exp(-w t)",
    ),
    Row(
        "damped spring that a force drives at 1.5 times its frequency: amplitude",
        oscillator(", damping: 1", duration=30, start=0)
        + "loads: [{link: mass, force: {type: sines, terms: [[{amplitude: 1, frequency: 2.3873241463784303}], [], []]}}]\n",
        lambda r: max(map(abs, r.range_of("mass/cx", 15))),
        1 / math.hypot(10**2 - 15**2, 15),
        0.003 / math.hypot(10**2 - 15**2, 15),
        "F / sqrt((k - m w^2)^2 + (c w)^2)",
    ),
    Row(
        "two masses on springs: slow mode",
        """
simulation: {duration: 10, gravity: [0, 0, 0]}
contact: {model: none}
links:
  - {name: one, joint: {type: slide, axis: [1, 0, 0], stiffness: 100}, mass: 1, inertia: [1, 1, 1, 0, 0, 0]}
  - {name: two, parent: one, joint: {type: slide, axis: [1, 0, 0], stiffness: 100}, mass: 1, inertia: [1, 1, 1, 0, 0, 0]}
initial:
  - {link: one, coordinates: [0.1]}
  - {link: two, coordinates: [0.0618033988749895]}
""",
        lambda r: r.period("one/cx"),
        2 * math.pi / (10 * (math.sqrt(5) - 1) / 2),
        0.01,
        "golden ratio",
    ),
    Row(
        "arm held by a servo against its weight",
        """
simulation: {duration: 10}
links:
  - {name: arm, joint: {type: hinge, axis: [0, -1, 0]}, mass: 0.5, center: [0.2, 0, 0], inertia: [0.001, 0.001, 0.001, 0, 0, 0]}
controllers: [{link: arm, type: pd, position_gain: 50, damping_gain: 2, target: 0}]
""",
        lambda r: math.asin(r.at("arm/cz") / 0.2),
        -0.019616225,
        2e-5,
        "k q = m g l cos q",
    ),
    Row(
        "bead on a rod that turns",
        """
simulation: {duration: 1, gravity: [0, 0, 0]}
contact: {model: none}
links:
  - {name: rod, joint: {type: hinge, axis: [0, 0, 1]}, mass: 1, inertia: [1, 1, 1, 0, 0, 0]}
  - {name: bead, parent: rod, joint: {type: slide, axis: [1, 0, 0]}, mass: 0.1, inertia: [1e-5, 1e-5, 1e-5, 0, 0, 0]}
controllers: [{link: rod, type: prescribed, velocity: 2}]
initial:
  - {link: bead, coordinates: [0.1], velocities: [0]}
""",
        lambda r: math.hypot(r.at("bead/cx"), r.at("bead/cy")),
        0.1 * math.cosh(2),
        0.001 * math.cosh(2),
        "r cosh(w t)",
    ),
    Row(
        "nut on a screw",
        """
simulation: {duration: 1}
links:
  - {name: nut, joint: {type: screw, axis: [0, 0, 1], pitch: 0.1}, mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0]}
""",
        lambda r: -r.at("nut/cz"),
        G / 4,
        0.01 * G / 4,
        "m g / (m + I / p^2)",
    ),
    Row(
        "Atwood machine with a pulley",
        """
simulation: {duration: 1}
contact: {model: none}
links:
  - {name: pulley, joint: {type: hinge, axis: [0, 1, 0]}, mass: 1, inertia: [0.005, 0.005, 0.005, 0, 0, 0]}
  - {name: heavy, joint: {type: slide, axis: [0, 0, 1]}, mass: 2, inertia: [1, 1, 1, 0, 0, 0]}
  - {name: light, joint: {type: slide, axis: [0, 0, 1]}, mass: 1, inertia: [1, 1, 1, 0, 0, 0]}
couplings:
  - {link: light, of: heavy, ratio: -1}
  - {link: pulley, of: heavy, ratio: 10}
""",
        lambda r: -r.at("heavy/cz"),
        G / (3 + 0.5) / 2,
        0.005 * G / 7,
        "(m1 - m2) g / (m1 + m2 + I / r^2)",
    ),
    Row(
        "two links in space, a motor between them",
        """
simulation: {duration: 5, gravity: [0, 0, 0]}
contact: {model: none}
links:
  - {name: body, mass: 2, shape: {type: box, size: [0.4, 0.2, 0.2]}}
  - name: arm
    parent: body
    joint: {type: hinge, axis: [0, 0, 1], position: [0.2, 0, 0]}
    mass: 1
    shapes: [{type: box, size: [0.4, 0.05, 0.05], position: [0.2, 0, 0]}]
controllers: [{link: arm, type: torque, target: 0.05}]
""",
        lambda r: max(abs(value) for value in r.solver["lz"]),
        0,
        1e-6,
        "angular momentum",
    ),
    Row(
        "five-bar that floats, a motor in it: angular momentum",
        """
simulation: {duration: 10, gravity: [0, 0, 0]}
contact: {model: none}
links:
  - {name: base, mass: 2, shape: {type: box, size: [0.3, 0.1, 0.05]}}
  - {name: l1, parent: base, mass: 0.3, joint: {type: hinge, axis: [0, 1, 0], position: [-0.1, 0, 0]}, shapes: [{type: box, size: [0.02, 0.02, 0.2], position: [0, 0, 0.1]}]}
  - {name: l2, parent: l1, mass: 0.2, joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, 0.2]}, shapes: [{type: box, size: [0.02, 0.02, 0.2], position: [0, 0, 0.1]}]}
  - {name: r1, parent: base, mass: 0.3, joint: {type: hinge, axis: [0, 1, 0], position: [0.1, 0, 0]}, shapes: [{type: box, size: [0.02, 0.02, 0.2], position: [0, 0, 0.1]}]}
  - {name: r2, parent: r1, mass: 0.2, joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, 0.2]}, shapes: [{type: box, size: [0.02, 0.02, 0.2], position: [0, 0, 0.1]}]}
initial:
  - {link: l2, coordinates: [0.5235988]}
  - {link: r2, coordinates: [-0.5235988]}
closures: [{type: hinge, a: l2, b: r2, point: [0, 0, 0.3732051], axis: [0, 1, 0]}]
controllers:
  - {link: l1, type: torque, target: {type: sines, terms: [{amplitude: 0.02, frequency: 1}]}}
""",
        lambda r: max(abs(value) for value in r.solver["ly"]),
        0,
        1e-6,
        "angular momentum",
    ),
    Row(
        "gear train that floats, a motor in it: angular momentum",
        """
simulation: {duration: 10, gravity: [0, 0, 0]}
contact: {model: none}
links:
  - {name: base, mass: 2, shape: {type: box, size: [0.3, 0.1, 0.05]}}
  - {name: g1, parent: base, mass: 0.3, joint: {type: hinge, axis: [0, 1, 0], position: [-0.1, 0, 0]}, shapes: [{type: cylinder, radius: 0.05, length: 0.02, rpy: [1.5707963, 0, 0]}]}
  - {name: g2, parent: base, mass: 0.6, joint: {type: hinge, axis: [0, 1, 0], position: [0.05, 0, 0]}, shapes: [{type: cylinder, radius: 0.1, length: 0.02, rpy: [1.5707963, 0, 0]}]}
couplings: [{link: g2, of: g1, ratio: -0.5}]
controllers:
  - {link: g1, type: torque, target: {type: sines, terms: [{amplitude: 0.05, frequency: 1}]}}
""",
        lambda r: max(abs(value) for value in r.solver["ly"]),
        0,
        1e-6,
        "angular momentum",
    ),
]


def door(dt, restitution=0):
    return f"""
simulation: {{dt: {dt}, duration: 1, gravity: [0, 0, 0]}}
contact: {{model: none}}
links:
  - {{name: door, joint: {{type: hinge, axis: [0, 1, 0], limits: [-1, 1], limit_restitution: {restitution}}}, mass: 1, center: [0, 0, -0.5], inertia: [0.083, 0.083, 0.001, 0, 0, 0]}}
initial: [{{link: door, velocities: [3]}}]
"""


ROWS += [
    Row(
        f"door into its stop, dt {dt * 1000:g} ms",
        door(dt),
        lambda r: r.spin("door", "y", 0.8, 1.0) / 3,
        0,
        0.01,
        "limit_restitution 0",
    )
    for dt in (0.01, 0.002, 0.0002)
]
ROWS += [
    Row(
        f"door into its stop with restitution 0.3, dt {dt * 1000:g} ms",
        door(dt, 0.3),
        lambda r: -r.spin("door", "y", 0.8, 1.0) / 3,
        0.3,
        0.01,
        "limit_restitution 0.3",
    )
    for dt in (0.01, 0.002, 0.0005, 0.0002)
]

ROWS += [
    Row(
        f"ball joint into {name}, dt {dt * 1000:g} ms",
        f"""
simulation: {{dt: {dt}, duration: 1, gravity: [0, 0, 0]}}
links:
  - name: arm
    joint: {{type: ball, swing: 0.8, twist: [-0.4, 0.4]}}
    mass: 1
    center: [0, 0, 0]
    inertia: [0.01, 0.01, 0.01, 0, 0, 0]
initial: [{{link: arm, velocities: [{speed}]}}]
""",
        lambda r, axis=axis: r.spin("arm", axis, 0.8, 1.0) / 2,
        0,
        0.01,
        "limit_restitution 0",
    )
    for name, axis, speed in (("its cone", "x", "2, 0, 0"), ("its twist stop", "z", "0, 0, 2"))
    for dt in (0.01, 0.0005)
]

ROWS += [
    Row(
        "pendulum whose weight hangs on a spring: error of the energy after 2 s",
        """
simulation: {duration: 2}
links:
  - {name: arm, mass: 1, joint: {type: hinge, axis: [0, 1, 0]}, center: [0, 0, -0.25], inertia: [0.02, 0.02, 0.001, 0, 0, 0]}
  - name: weight
    parent: arm
    joint: {type: slide, axis: [0, 0, 1], position: [0, 0, -0.55], stiffness: 200}
    mass: 0.3
    center: [0, 0, 0]
    inertia: [1.0e-4, 1.0e-4, 1.0e-4, 0, 0, 0]
initial: [{link: arm, coordinates: [1.2]}]
""",
        lambda r: (r.solver["total"][-1] - r.solver["total"][0]) / max(r.solver["kinetic"]),
        0,
        0.01,
        "share of the largest kinetic energy",
    ),
]


def cart(dt):
    """A cart that comes to the end of its rail at 1.5 m/s."""
    return f"""
simulation: {{dt: {dt}, duration: 0.6, gravity: [0, 0, 0]}}
links:
  - {{name: cart, mass: 1, shape: {{type: box, size: [0.2, 0.1, 0.1]}}, joint: {{type: slide, axis: [1, 0, 0], limits: [-1, 0.3], limit_restitution: 0.6}}}}
initial: [{{link: cart, velocities: [1.5]}}]
"""


ROWS += [
    Row(
        f"cart into its stop with restitution 0.6, dt {dt * 1000:g} ms",
        cart(dt),
        lambda r: -r.mean_rate("cart/px", 0.4, 0.6) / 1.5,
        0.6,
        0.01,
        "limit_restitution 0.6",
    )
    for dt in (0.01, 0.002, 0.0005, 0.0002)
]


def cone_rest():
    """Swing at which a penalty of 50 N m/rad, margin 0.05, beyond 0.8 rad bears m g l sin(swing) = 1 * 9.81 * 0.5 sin."""
    swing = 0.8
    for _ in range(200):
        swing = 0.8 + 0.025 + G * 0.5 * math.sin(swing) / 50
    return swing


def twist_rest():
    """Twist at which a penalty of 50 N m/rad, margin 0.05, beyond 0.4 rad bears a torque of 5 N m."""
    return 0.4 + 0.025 + 5 / 50


ROWS += [
    Row(
        "ball joint leans on its cone",
        """
simulation: {duration: 8}
links:
  - name: arm
    joint: {type: ball, swing: 0.8, limit_law: penalty, limit_stiffness: 50, limit_margin: 0.05, damping: 1.5}
    mass: 1
    center: [0, 0, 0.5]
    inertia: [0.02, 0.02, 0.01, 0, 0, 0]
initial: [{link: arm, coordinates: [0.1, 0.05, 0]}]
""",
        lambda r: r.tilt("arm", 7.9),
        cone_rest(),
        1e-4,
        "k (swing - 0.8 - margin / 2) = m g l sin(swing)",
    ),
    Row(
        "ball joint twisted to its stop",
        """
simulation: {duration: 8, gravity: [0, 0, 0]}
links:
  - name: arm
    joint: {type: ball, swing: 0.8, twist: [-0.2, 0.4], limit_law: penalty, limit_stiffness: 50, limit_margin: 0.05, damping: 1}
    mass: 1
    inertia: [0.02, 0.02, 0.01, 0, 0, 0]
loads: [{link: arm, torque: [0, 0, 5]}]
""",
        lambda r: 2 * math.atan2(r.at("arm/qz"), r.at("arm/qw")),
        twist_rest(),
        1e-4,
        "k (twist - 0.4 - margin / 2) = torque",
    ),
]

INCLINE = math.radians(20)
ROLL = math.radians(15)

ROWS += [
    # ------------------------------------------------------------------------------------------- sliding and standing
    Row("box that friction stops", box(velocities="[1, 0, 0, 0, 0, 0]"), lambda r: r.at("box/cx"), 1 / (0.6 * G), 0.03 / (0.6 * G), "v^2 / (2 mu g)"),
    Row(
        "box that slides down 20 degrees",
        box(gravity=slope(INCLINE), contact="friction: 0.2", duration=1),
        lambda r: r.at("box/cx"),
        G * (math.sin(INCLINE) - 0.2 * math.cos(INCLINE)) / 2,
        0.02 * 0.75,
        "g (sin - mu cos) t^2 / 2",
    ),
    Row(
        "box that friction holds on 20 degrees, 5 s",
        box(gravity=slope(INCLINE), contact="friction: 0.5", duration=5),
        lambda r: r.at("box/cx"),
        0,
        0.002,
        "tan 20 degrees = 0.36 < mu",
    ),
    Row(
        "box pushed harder than friction holds",
        box("loads: [{link: box, force: [4, 0, 0]}]", duration=1),
        lambda r: r.at("box/cx"),
        (4 - 0.3 * G) / 2,
        0.02 * 0.53,
        "(F - mu m g) t^2 / (2 m)",
    ),
    Row(
        "box pushed less than friction holds",
        box("loads: [{link: box, force: [2.5, 0, 0]}]", duration=2),
        lambda r: r.at("box/cx"),
        0,
        0.001,
        "F < mu m g",
    ),
    Row(
        "tall box that stands on a slope below its tipping angle",
        """
simulation: {duration: 2, gravity: [%s]}
contact: {friction: 1}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: box, mass: 1, shape: {type: box, size: [0.1, 0.1, 0.3]}, position: [0, 0, 0.1505]}
"""
        % slope(math.radians(18.2)),
        lambda r: r.tilt("box"),
        0,
        0.02,
        "tips at atan(1/3) = 18.43 degrees",
        known={"default": "contact acts at a gap, so the box tips 0.3 degrees early"},
    ),
    Row(
        "tall box that falls on a slope above its tipping angle",
        """
simulation: {duration: 3, gravity: [%s]}
contact: {friction: 1}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: box, mass: 1, shape: {type: box, size: [0.1, 0.1, 0.3]}, position: [0, 0, 0.1505]}
"""
        % slope(math.radians(19)),
        lambda r: 1.0 if r.tilt("box") > 1.5 else 0.0,
        1,
        0.5,
        "tips at atan(1/3) = 18.43 degrees",
    ),
    Row(
        "block on a slope, friction 0.1 along its axis and 0.6 across",
        box(gravity=slope(math.radians(30)), duration=1).replace("name: box,", "name: box, friction: [0.1, 0.6], friction_axis: [1, 0, 0],"),
        lambda r: r.at("box/cx"),
        0.5 * G * (math.sin(math.radians(30)) - 0.1 * math.cos(math.radians(30))),
        0.01 * 0.5 * G * (math.sin(math.radians(30)) - 0.1 * math.cos(math.radians(30))),
        "g (sin - mu_along cos) t^2 / 2",
    ),
    Row(
        "block on a slope, the axis across: how far it moves",
        box(gravity=slope(math.radians(30)), duration=1).replace("name: box,", "name: box, friction: [0.1, 0.6], friction_axis: [0, 1, 0],"),
        lambda r: r.at("box/cx"),
        0,
        0.003,
        "it holds below atan(0.6) = 31 degrees",
    ),
    Row(
        "skate that turns: across its way after half a circle",
        """
simulation: {duration: 1.5707963267948966}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: skate, joint: {type: planar, axis: [0, 0, 1]}, mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0]}
  - {name: blade, parent: skate, joint: {type: slide, axis: [0, 0, 1]}, position: [0, 0, 0.1005], mass: 1,
     shape: {type: sphere, radius: 0.1}, friction: [0, 0.8], friction_axis: [1, 0, 0]}
initial: [{link: skate, velocities: [1, 0, 2]}]
""",
        lambda r: r.at("blade/cy"),
        1.0,
        0.02,
        "no slip across the blade: a circle of radius v / w",
    ),
    Row(
        "force at which a box breaks away",
        """
simulation: {duration: 5}
contact: {friction: 0.3, static_friction: 0.5}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: box, mass: 1, shape: {type: box, size: [0.4, 0.4, 0.1]}, position: [0, 0, 0.0505]}
loads:
  - {link: box, point: [0, 0, -0.05], force: {type: keyframes, times: [0, 5], values: [[0, 0, 0], [10, 0, 0]]}}
""",
        lambda r: 2 * r.time[next(i for i, x in enumerate(r.columns["box/cx"]) if x > 0.005)],
        BREAKAWAY,
        0.01 * BREAKAWAY,
        "mu_s m g = 4.905 N, and 5 mm by Heun's method",
    ),
    Row(
        "mass on a spring, on a belt that sticks and slips: period",
        """
simulation: {duration: 12}
contact: {friction: 0.2, static_friction: 0.4, stribeck_speed: 0.01}
links:
  - {name: belt, shape: {type: half_space}, joint: {type: slide, axis: [1, 0, 0]}, mass: 1, inertia: [1, 1, 1, 0, 0, 0]}
  - {name: carriage, joint: {type: slide, axis: [1, 0, 0], stiffness: 50}, mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0]}
  - {name: box, parent: carriage, joint: {type: slide, axis: [0, 0, 1]}, position: [0, 0, 0.1005], mass: 1,
     shape: {type: box, size: [0.2, 0.2, 0.2]}}
controllers: [{link: belt, type: prescribed, velocity: 0.1}]
""",
        lambda r: stick_slip_period(r),
        STRIBECK_PERIOD,
        0.01 * STRIBECK_PERIOD,
        "Runge-Kutta; 1.60 s if friction fell at once",
    ),
    Row(
        "box on a belt that starts to move",
        """
simulation: {duration: 2}
contact: {friction: 0.3}
links:
  - {name: belt, joint: {type: slide, axis: [1, 0, 0]}, mass: 1, shapes: [{type: box, size: [20, 1, 0.1], position: [0, 0, -0.05]}]}
  - {name: box, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 0.1005]}
controllers: [{link: belt, type: prescribed, velocity: 1}]
""",
        lambda r: r.at("belt/cx") - r.at("box/cx"),
        1 / (0.6 * G),
        0.03 / (0.6 * G),
        "v^2 / (2 mu g) behind the belt",
    ),
    Row(
        "stack of ten boxes, 5 s: how far the top moves",
        """
simulation: {duration: 5}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - name: "box{i}"
    mass: 1
    shape: {type: box, size: [0.2, 0.2, 0.2]}
    repeat: {count: 10, position: [0, 0, 0.2005]}
    position: [0, 0, 0.1005]
""",
        lambda r: math.hypot(r.at("box9/cx"), r.at("box9/cy")),
        0,
        0.001,
        "symmetry",
    ),
    Row(
        "ladder that stands",
        """
simulation: {duration: 2}
contact: {friction: 0.55, pairs: [{a: ladder, b: wall, friction: 0}]}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: wall, fixed: true, shape: {type: half_space, normal: [1, 0, 0]}}
  - {name: ladder, mass: 10, shape: {type: box, size: [0.02, 0.4, 2]}, position: [0.715, 0, 0.715], rpy: [0, -0.7853981633974483, 0]}
""",
        lambda r: 1.0 if r.at("ladder/cz") > 0.65 else 0.0,
        1,
        0.5,
        "stands at 45 degrees for mu > 1/2",
    ),
    Row(
        "ladder that slips",
        """
simulation: {duration: 2}
contact: {friction: 0.4, pairs: [{a: ladder, b: wall, friction: 0}]}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: wall, fixed: true, shape: {type: half_space, normal: [1, 0, 0]}}
  - {name: ladder, mass: 10, shape: {type: box, size: [0.02, 0.4, 2]}, position: [0.715, 0, 0.715], rpy: [0, -0.7853981633974483, 0]}
""",
        lambda r: 1.0 if r.at("ladder/cz") > 0.65 else 0.0,
        0,
        0.5,
        "slips at 45 degrees for mu < 1/2",
    ),
    # ---------------------------------------------------------------------------------------------------- landings
    Row(
        "cube that lands at (2, -1) m/s: speed lost",
        box(velocities="[2, 0, -1, 0, 0, 0]", height=0.15, duration=0.4),
        lambda r: 2 - 0.3 * G * (0.39 - (math.sqrt(1 + 0.1 * G) - 1) / G) - r.slope("box/cx", 0.38, 0.4),
        0.3 * math.sqrt(1 + 0.1 * G),
        0.03 * 0.3 * math.sqrt(1 + 0.1 * G),
        "mu times the normal impulse, after a fall of 50 mm",
    ),
    Row(
        "cube that lands at (2, -1) m/s: tilt [degrees]",
        box(velocities="[2, 0, -1, 0, 0, 0]", height=0.15, duration=0.4),
        lambda r: math.degrees(r.tilt("box")),
        0,
        0.3,
        "lands flat",
    ),
    Row(
        "cube that lands at (2, -1) m/s: hop [m]",
        box(velocities="[2, 0, -1, 0, 0, 0]", height=0.15, duration=0.4),
        lambda r: r.range_of("box/cz", 0.1)[1] - 0.1005,
        0,
        0.0005,
        "restitution 0",
    ),
    Row(
        "box that slides at 1 m/s and falls 2 cm: way",
        box(velocities="[1, 0, 0, 0, 0, 0]", height=0.12, duration=1),
        lambda r: r.at("box/cx"),
        0.175758,  # v t + (v - mu g t)^2 / (2 mu g), t = sqrt(2 h / g), h = 19.5 mm: 2 cm less the gap of contact
        0.0009,
        "free fall, then mu times the normal impulse and mu m g",
    ),
    Row(
        "cube dropped 5 mm on a slope",
        """
simulation: {duration: 2, gravity: [%r, 0, %r]}
contact: {friction: 0.49}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: box, mass: 1000, shape: {type: box, size: [1, 1, 1]}, position: [0, 0, 0.505]}
"""
        % (9.8 * 0.5 / math.hypot(1, 0.5), -9.8 / math.hypot(1, 0.5)),
        lambda r: r.at("box/cx"),
        0.5 * 9.8 * 0.01 / math.hypot(1, 0.5) * 4,
        0.0175,
        "g (sin - mu cos) t^2 / 2",
    ),
    *(
        Row(
            f"ball that lands with a spin of 300 rad/s, dt {1000 * dt:g} ms: friction over mu times the normal impulse",
            """
simulation: {dt: %r, duration: 0.05, gravity: [0, 0, 0]}
contact: {friction: 0.3}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: ball, mass: 1, mass_model: given, inertia: [0.001, 0.001, 0.001, 0, 0, 0], position: [0, 0, %r], shape: {type: sphere, radius: 0.05%s}}
initial: [{link: ball, velocities: [1, 0, -1.4, 0, 300, 0]}]
"""
            % (dt, height, corners),
            lambda r: (r.slope("ball/cx", 0.04, 0.05) - 1) / (r.slope("ball/cz", 0.04, 0.05) + 1.4) / 0.3,
            1,
            0.02,
            "Coulomb: the surface slips throughout",
        )
        for dt, height, corners in ((0.005, 0.064, ", resolution: 4"), (0.01, 0.06575, ""))
    ),
    Row(
        "drop with restitution 0.5: height of the rebound",
        box(height=1.1, contact="restitution: 0.5", duration=1.0),
        lambda r: r.range_of("box/cz", 0.5)[1] - 0.1,
        0.25,
        0.01,
        "e^2 h",
    ),
    Row(
        "drop with restitution 0: height of the rebound",
        box(height=1.1, duration=1.0),
        lambda r: r.range_of("box/cz", 0.55)[1] - 0.1,
        0,
        0.002,
        "e^2 h",
    ),
]


def collision(restitution, dt=0.01):
    return f"""
simulation: {{dt: {dt}, duration: 1, gravity: [0, 0, 0]}}
contact: {{restitution: {restitution}}}
links:
  - {{name: left, mass: 1, shape: {{type: box, size: [0.2, 0.2, 0.2]}}, position: [-0.3, 0, 0]}}
  - {{name: right, mass: 1, shape: {{type: box, size: [0.2, 0.2, 0.2]}}, position: [0.3, 0, 0]}}
initial: [{{link: left, velocities: [1, 0, 0, 0, 0, 0]}}]
"""


ROWS += [
    Row("boxes that collide, restitution 1", collision(1), lambda r: r.slope("right/cx", 0.8, 1.0), 1, 0.01, "momentum, energy"),
    Row("boxes that collide, restitution 0", collision(0), lambda r: r.slope("right/cx", 0.8, 1.0), 0.5, 0.005, "momentum"),
    Row("boxes that collide, restitution 0: speed apart", collision(0), lambda r: r.slope("right/cx", 0.8, 1.0) - r.slope("left/cx", 0.8, 1.0), 0, 0.001, "e v"),
    Row("boxes that collide, restitution 0, dt 1 ms: speed apart", collision(0, 1e-3), lambda r: r.slope("right/cx", 0.8, 1.0) - r.slope("left/cx", 0.8, 1.0), 0, 0.001, "e v"),
    Row("boxes that collide, restitution 0, dt 0.1 ms: speed apart", collision(0, 1e-4), lambda r: r.slope("right/cx", 0.8, 1.0) - r.slope("left/cx", 0.8, 1.0), 0, 0.001, "e v"),
]


def cradle(dt, gap):
    links = "".join(
        f"  - {{name: b{k}, joint: {{type: hinge, axis: [0, 1, 0], position: [{k * (0.1 + gap):.6g}, 0, 1]}}, mass: 1, center: [0, 0, -1],"
        f" inertia: [1.0e-6, 1.0e-6, 1.0e-6, 0, 0, 0], shapes: [{{type: sphere, radius: 0.05, position: [0, 0, -1]}}]}}\n"
        for k in range(5)
    )
    return f"""
simulation: {{dt: {dt}, duration: 1.2}}
contact: {{friction: 0, restitution: 1}}
links:
{links}initial: [{{link: b0, coordinates: [0.4]}}]
"""


ROWS += [
    Row(
        f"Newton's cradle of five balls with gaps of {gap * 1000:g} mm, dt {dt * 1000:g} ms: way of the last ball [m]",
        cradle(dt, gap),
        lambda r: max(r.columns["b4/cx"]) - r.columns["b4/cx"][0],
        math.sin(0.4),
        0.001,
        "each impact exchanges the speeds of two equal balls",
    )
    for dt, gap in ((0.01, 3e-4), (0.001, 3e-4), (0.01, 1e-3))
]


BOX_FLOOR = "position: [0, 0, -0.1], shape: {type: box, size: [20, 20, 0.2]}"


def rolling(shape, gravity="", velocities="[0, 0, 0, 0, 0, 0]", duration=1.5, height=0.1005, mu=0.5, rotation="[0, 0, 0]", floor="shape: {type: half_space}"):
    return f"""
simulation: {{duration: {duration}{gravity}}}
contact: {{friction: {mu}}}
links:
  - {{name: ground, fixed: true, {floor}}}
  - {{name: body, mass: 1, shapes: [{{{shape}, rpy: {rotation}}}], position: [0, 0, {height}]}}
initial: [{{link: body, velocities: {velocities}}}]
"""


CART = """
simulation: {duration: 3}
contact: {friction: 0.8}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: body, mass: 2, shape: {type: box, size: [0.5, 0.3, 0.1]}, position: [0, 0, 0.1005]}
  - &wheel
    name: front_left
    parent: body
    joint: {type: hinge, axis: [0, 1, 0], position: [0.2, 0.2, 0]}
    mass: 0.3
    shapes: [{type: cylinder, radius: 0.1, length: 0.04, rpy: [1.5707963267948966, 0, 0]}]
  - {<<: *wheel, name: front_right, joint: {type: hinge, axis: [0, 1, 0], position: [0.2, -0.2, 0]}}
  - {<<: *wheel, name: rear_left, joint: {type: hinge, axis: [0, 1, 0], position: [-0.2, 0.2, 0]}}
  - {<<: *wheel, name: rear_right, joint: {type: hinge, axis: [0, 1, 0], position: [-0.2, -0.2, 0]}}
initial:
  - {link: body, velocities: [2, 0, 0, 0, 0, 0]}
  - {link: front_left, velocities: [20]}
  - {link: front_right, velocities: [20]}
  - {link: rear_left, velocities: [20]}
  - {link: rear_right, velocities: [20]}
"""

ROLL_GRAVITY = f", gravity: [{slope(ROLL)}]"

ROWS += [
    # ------------------------------------------------------------------------------------------------------- rolling
    Row(
        "ball that slides and then rolls",
        rolling("type: sphere, radius: 0.1", velocities="[2, 0, 0, 0, 0, 0]", mu=0.2),
        lambda r: r.slope("body/cx", 1.4, 1.5),
        2 * 5 / 7,
        0.005 * 10 / 7,
        "5/7 v",
    ),
    Row(
        "ball down 15 degrees",
        rolling("type: sphere, radius: 0.1", ROLL_GRAVITY),
        lambda r: r.at("body/cx"),
        5 / 7 * G * math.sin(ROLL) * 1.5**2 / 2,
        0.01 * 2.04,
        "5/7 g sin t^2 / 2",
    ),
    Row(
        "cylinder down 15 degrees",
        rolling("type: cylinder, radius: 0.1, length: 0.2", ROLL_GRAVITY, rotation="[1.5707963267948966, 0, 0]"),
        lambda r: r.slope("body/cx", 1.48, 1.5),
        2 / 3 * G * math.sin(ROLL) * 1.49,
        0.005 * 2.5,
        "2/3 g sin t",
    ),
    Row(
        "capsule written as two rounded points, down 15 degrees",
        rolling(
            "type: rounded_points, radius: 0.1, points: [[0, -0.1, 0], [0, 0.1, 0]]",
            ROLL_GRAVITY,
        ).replace("mass: 1", "density: 1000"),
        lambda r: r.slope("body/cx", 1.48, 1.5),
        G * math.sin(ROLL) * 1.49 / (1 + (0.2 / 2 + 4 / 3 * 0.1 * 2 / 5) / (0.2 + 4 / 3 * 0.1)),
        0.005 * 2.5,
        "g sin t / (1 + I / (m R^2)), I = (m_cylinder / 2 + 2/5 m_ball) R^2",
    ),
    Row("cart that coasts at 2 m/s", CART, lambda r: r.slope("body/cx", 2.8, 3.0), 2, 0.004, "nothing brakes it"),
    Row(
        "disc that spins on its flat end: angle until it stops",
        rolling("type: cylinder, radius: 0.1, length: 0.05", velocities="[0, 0, 0, 0, 0, 20]", height=0.0255, mu=0.3),
        lambda r: r.at(r.turned("body", "z")),
        20**2 / (2 * 4 * 0.3 * G / (3 * 0.1)),
        0.02 * 5.1,
        "torque 2/3 mu N R",
    ),
    Row(
        "ball slowed by rolling friction",
        rolling("type: sphere, radius: 0.1", velocities="[1, 0, 0, 0, 10, 0]", duration=1.0).replace("friction: 0.5", "friction: 0.5, rolling: 0.002"),
        lambda r: r.slope("body/cx", 0.95, 1.0),
        1 - 5 / 7 * G * 0.02 * 0.975,
        0.01,
        "5/7 g rolling / R",
    ),
]


ROWS += [
    Row(
        f"box on a slope of {degrees} degrees, friction {over:g} times its tangent: creep [mm/s]",
        box(gravity=slope(math.radians(degrees)), contact=f"friction: {over * math.tan(math.radians(degrees))!r}"),
        lambda r: 1000 * (r.at("box/cx", 2.0) - r.at("box/cx", 1.0)),
        0,
        0.01,
        "friction holds",
    )
    for degrees, over in ((10, 1.05), (26.565, 1.05), (40, 1.5))
]


def turntable(shape):
    return f"""
simulation: {{duration: 2}}
contact: {{friction: 0.3}}
links:
  - {{name: disc, joint: {{type: hinge, axis: [0, 0, 1]}}, shape: {{{shape}}}, mass: 1}}
  - {{name: box, shape: {{type: box, size: [0.1, 0.1, 0.05]}}, mass: 2, position: [0.4, 0, 0.0753]}}
controllers: [{{link: disc, type: prescribed, velocity: 2}}]
initial: [{{link: box, velocities: [0, 0.8, 0, 0, 0, 2]}}]
"""


ROWS += [
    Row(
        f"box on a turntable{of}: creep [mm/s]",
        turntable(shape),
        lambda r: 1000 * (math.hypot(r.at("box/cx"), r.at("box/cy")) - math.hypot(r.at("box/cx", 1.0), r.at("box/cy", 1.0))),
        0,
        0.01,
        "54 % of what friction holds",
    )
    for of, shape in [(f" of radius {radius} m", f"type: cylinder, radius: {radius}, length: 0.1") for radius in (0.5, 1, 2, 5)]
    + [(" with 64 corners", "type: cylinder, radius: 1, length: 0.1, segments: 64"), (" that is a wheel", "type: wheel, radius: 1, width: 0.1, rim: 0.02")]
]

ROWS += [
    # Found by a search through 200 starts, so that its integrator and contact parameters are those of the search.
    Row(
        "box that lands on a floor that is moved: energy gained [J]",
        """
simulation: {dt: 0.005, duration: 0.12, tolerance: 1e-8, integrator: first_order}
contact: {barrier_distance: 4.0e-3, stiffness: 1.0e-7, friction: 0.4, smoothing: 1.0e-3, restitution: 0.5}
shapes: {brick: {type: box, size: [0.2, 0.16, 0.1]}}
links:
  - {name: ground, joint: {type: slide, axis: [0, 0, 1]}, shape: {type: half_space}}
  - {name: lies, mass: 0.6, shape: brick, position: [0, 0, 0.0535]}
  - {name: box, density: 200, shape: brick, position: [0.02, 0.01, 0.2200000186367], rotation_vector: [0.2, 0.3, 0.1]}
controllers: [{link: ground, type: prescribed, target: {type: sines, terms: [{amplitude: 0.005, frequency: 2}]}}]
initial: [{link: box, velocities: [0.2, 0, -1.0000000212801, 1, 2, 0.399999934069800]}]
""",
        lambda r: max(a + b for a, b in zip(r.solver["kinetic"], r.solver["gravity"])) - r.solver["kinetic"][0] - r.solver["gravity"][0],
        0,
        0.02,
        "restitution below 1; the floor rises by 5 mm at 6 cm/s",
    ),
]

ROWS += [
    Row(
        "plank that swings from 90 degrees: largest force on its hinge",
        plank(math.pi / 2).replace("duration: 10", "duration: 10, output: [reactions]"),
        lambda r: max(map(math.hypot, r.reactions.columns["plank/fx"], r.reactions.columns["plank/fz"])),
        G * (1 + 2 * 0.25 / ((1 + 0.05**2) / 12 + 0.25)),
        0.01 * G,
        "m (g + l w^2) by its energy",
    ),
    Row(
        "accelerometer of a ball that is thrown: largest reading",
        """
simulation: {duration: 0.5, output: [imu]}
links: [{name: ball, mass: 1, shape: {type: sphere, radius: 0.1}}]
initial: [{link: ball, velocities: [1, 2, 3, 4, 5, 6]}]
""",
        lambda r: max(abs(x) for axis in "xyz" for x in r.imu.columns["ball/a" + axis]),
        0,
        1e-6,
        "free fall",
    ),
    Row(
        "gyroscope of the same ball",
        """
simulation: {duration: 0.5, output: [imu]}
links: [{name: ball, mass: 1, shape: {type: sphere, radius: 0.1}}]
initial: [{link: ball, velocities: [1, 2, 3, 4, 5, 6]}]
""",
        lambda r: math.hypot(*(r.imu.columns["ball/w" + axis][-1] for axis in "xyz")),
        math.sqrt(77),
        1e-3,
        "its angular velocity stays",
    ),
    Row(
        "two carts that are joined on the way: speed",
        """
simulation: {duration: 2, gravity: [0, 0, 0]}
links:
  - {name: a, joint: {type: slide, axis: [1, 0, 0]}, mass: 2, inertia: [0.01, 0.01, 0.01, 0, 0, 0]}
  - {name: b, joint: {type: slide, axis: [1, 0, 0], position: [1, 0, 0]}, mass: 3, inertia: [0.01, 0.01, 0.01, 0, 0, 0]}
closures: [{type: weld, a: a, b: b, active: {type: keyframes, times: [0.5, 0.501], values: [0, 1]}}]
initial: [{link: a, velocities: [1]}, {link: b, velocities: [-0.5]}]
""",
        lambda r: r.mean_rate("b/cx", 1, 2),
        0.1,
        1e-6,
        "(m1 v1 + m2 v2) / (m1 + m2)",
    ),
    Row(
        "two carts that join when they are 0.21 m apart: place",
        """
simulation: {duration: 2, gravity: [0, 0, 0]}
links:
  - {name: a, joint: {type: slide, axis: [1, 0, 0]}, mass: 2, inertia: [0.01, 0.01, 0.01, 0, 0, 0]}
  - {name: b, joint: {type: slide, axis: [1, 0, 0], position: [1, 0, 0]}, mass: 3, inertia: [0.01, 0.01, 0.01, 0, 0, 0]}
closures: [{type: weld, a: a, b: b, within: 0.21}]
initial: [{link: a, velocities: [1]}, {link: b, velocities: [-0.5]}]
""",
        lambda r: r.columns["a/cx"][-1],
        0.79 / 1.5 + 0.1 * (2 - 0.79 / 1.5),
        1e-6,
        "v t* + w (2 s - t*), t* = 0.79 m / 1.5 m/s",
    ),
    # ------------------------------------------------------------------------------------------------ legs and cranes
    Row(
        "foot of a 10 kg leg that lands at 1 m/s with 0.5 m/s of slip: speed lost",
        """
simulation: {duration: 0.2}
contact: {friction: 0.2}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: foot, mass: 2, shape: {type: box, size: [0.2, 0.2, 0.1]}, position: [0, 0, 0.051]}
  - name: body
    parent: foot
    joint: {type: slide, axis: [0, 0, 1], stiffness: 28800, damping: 960}
    mass: 8
    center: [0, 0, 0.2]
    inertia: [0.05, 0.05, 0.05, 0, 0, 0]
initial: [{link: foot, velocities: [0.5, 0, -1, 0, 0, 0]}]
""",
        lambda r: 0.5 - r.mean_rate("foot/cx", 0.1, 0.14),
        0.2 * (1 + 0.12 * G),
        0.03 * 0.2 * (1 + 0.12 * G),
        "mu times the impulse that stops the fall and carries the weight",
    ),
    Row(
        "tower crane that stands at 95 % of the load that tips it",
        crane(0.95),
        lambda r: r.tilt("crane"),
        0,
        0.01,
        "moments about the edge of its base",
    ),
    Row(
        "tower crane that tips at 105 %",
        crane(1.05),
        lambda r: float(r.tilt("crane") > 0.3),
        1,
        0.5,
        "moments about the edge of its base",
    ),
    Row(
        "two cards that lean on each other, mu 0.15",
        cards(0.15),
        cards_stand,
        1,
        0.5,
        "stand for mu > 0.112",
    ),
    Row(
        "two cards that lean on each other, mu 0.2",
        cards(0.2),
        cards_stand,
        1,
        0.5,
        "stand for mu > 0.112",
    ),
    Row("two cards that slip, mu 0.08", cards(0.08), cards_stand, 0, 0.5, "stand for mu > 0.112"),
]


# ------------------------------------------------------------------------------------------- round bodies that roll
def heading(run, link, start, end):
    """Angle by which the velocity of a link's centre turns between two times, less than pi [rad]."""
    angles = [math.atan2(run.slope(link + "/cy", t - 0.05, t + 0.05), run.slope(link + "/cx", t - 0.05, t + 0.05)) for t in (start, end)]
    return (angles[1] - angles[0] + math.pi) % (2 * math.pi) - math.pi


RIDER = """
simulation: {duration: 2}
contact: {friction: 0.5}
links:
  - {name: table, mass: 10, joint: {type: hinge, axis: [0, 0, 1]}, shape: {type: cylinder, radius: 1, length: 0.1}}
  - {name: ball, mass: 1, shape: {type: sphere, radius: 0.1}, position: [0.3, 0, 0.1505]}
controllers: [{link: table, type: prescribed, velocity: 3.5}]
initial: [{link: ball, velocities: [0, 0.2, 0, 8.5, 0, 0]}] # it rolls without slip from the start
"""

CAM = (0.05, 0.02, 0.02, 2.0)  # radius, eccentricity, radius of the roller, rad/s


def cam_height(angle):
    """Height of the roller's axis over the cam's: the centres are the sum of the radii apart."""
    radius, off, roller, _ = CAM
    return off * math.sin(angle) + math.sqrt((radius + roller) ** 2 - (off * math.cos(angle)) ** 2)


CAM_SCENE = f"""
simulation: {{duration: 3.5}}
links:
  - name: cam
    mass: 1
    joint: {{type: hinge, axis: [0, -1, 0]}}
    shapes: [{{type: cylinder, radius: {CAM[0]}, length: 0.02, position: [{CAM[1]}, 0, 0], rpy: [1.5707963267948966, 0, 0]}}]
  - name: follower
    mass: 0.5
    joint: {{type: slide, axis: [0, 0, 1], position: [0, 0, {cam_height(0) + 1e-4}]}}
    shapes: [{{type: cylinder, radius: {CAM[2]}, length: 0.02, rpy: [1.5707963267948966, 0, 0]}}]
controllers: [{{link: cam, type: prescribed, velocity: {CAM[3]}}}]
"""


def cam_error(run):
    rows = [(t, z) for t, z in zip(run.time, run.columns["follower/cz"]) if t > 0.3]
    return max(abs(z - cam_height(CAM[3] * t)) for t, z in rows)


DISC_RADIUS, DISC_RIM = 0.1, 0.002


def steady_rolling(tilt, circle, place, ring, rounding, across, along):
    """Rate [rad/s] at which a body of revolution of 1 kg that rolls without slip goes round, its centre at `circle` from the axis.

    tilt: of its axis from the vertical. It rolls on a circle of radius `ring` at `place` along its axis, with an edge
    that is a torus of minor radius `rounding`. across, along: moments of inertia about the centre of mass. Euler's
    equations of steady motion with the rolling condition. Returns also the spin about its own axis, over that rate, and
    the height of the centre of mass.
    """
    s, c = math.sin(tilt), math.cos(tilt)
    y, z = -place * s - ring * c, place * c - ring * s - rounding  # of the contact point, from the centre of mass
    spin = (circle - y) / (s * z + c * y)
    turn_y, turn_z = -spin * s, 1 + spin * c  # angular velocity over the rate
    axial = turn_z * c - turn_y * s
    moment_y = across * (turn_y + axial * s) - along * axial * s
    return math.sqrt(y * G / (z * circle - moment_y)), spin, -z


def rolling_disc(tilt, circle):
    """As steady_rolling, for the disc of disc_scene; returns the rate and the spin over the rate."""
    return steady_rolling(tilt, circle, 0, DISC_RADIUS - DISC_RIM, DISC_RIM, DISC_RADIUS**2 / 4, DISC_RADIUS**2 / 2)[:2]


def revolving_scene(shape, motion, tilt, circle, inertia, duration, board=False):
    """A body in steady_rolling `motion`, on the ground or on a free board of 1000 kg."""
    rate, spin, height = motion
    turn = [0, rate * math.sin(tilt), rate * (math.cos(tilt) + spin)]
    across, along = inertia
    below = "\n  - {name: board, mass: 1000, shape: {type: box, size: [4, 4, 0.1]}, position: [0, 0, -0.05]}" if board else ""
    return f"""
simulation: {{duration: {duration}}}
contact: {{friction: 1}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}, position: [0, 0, {-0.1005 if board else 0}]}}{below}
  - {{name: disc, mass: 1, inertia: [{across}, {across}, {along}, 0, 0, 0], position: [0, 0, {height + 2e-5}], rpy: [{tilt}, 0, 0],
      shape: {{{shape}}}}}
initial: [{{link: disc, velocities: [{rate * circle}, 0, 0, {turn[0]}, {turn[1]}, {turn[2]}]}}]
"""


DISC = f"type: disc, radius: {DISC_RADIUS}, rim: {DISC_RIM}"
DISC_INERTIA = (DISC_RADIUS**2 / 4, DISC_RADIUS**2 / 2)


def disc_scene(tilt, circle, duration, board=False):
    return revolving_scene(DISC, steady_rolling(tilt, circle, 0, DISC_RADIUS - DISC_RIM, DISC_RIM, *DISC_INERTIA), tilt, circle, DISC_INERTIA, duration, board)


PILL, PILL_INERTIA = steady_rolling(0.5, -0.1, -0.1, 0, 0.05, 0.0067, 0.0012), (0.0067, 0.0012)
FRUSTUM, FRUSTUM_INERTIA = steady_rolling(0.6, 0.3, -0.03, 0.1, 0, 0.002, 0.0035), (0.002, 0.0035)


def cone_on_its_side(half_angle=0.3, length=0.2, rate=4):
    """A solid cone that rolls on its side about its tip."""
    s, c, radius = math.sin(half_angle), math.cos(half_angle), length * math.tan(half_angle)
    across, along = 3 / 20 * radius**2 + 3 / 80 * length**2, 0.3 * radius**2
    turn = -rate * c / s  # about the line of contact
    return f"""
simulation: {{duration: 1}}
contact: {{friction: 1}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}}}
  - {{name: disc, mass: 1, center: [0, 0, {-length / 4}], inertia: [{across}, {across}, {along}, 0, 0, 0],
      position: [0, {length / 2 * c}, {length / 2 * s + 2.5e-4}], rpy: [{math.pi / 2 + half_angle}, 0, 0],
      shape: {{type: cone, bottom_radius: {radius}, top_radius: 0, length: {length}}}}}
initial: [{{link: disc, velocities: [{-0.75 * rate * length * c}, 0, 0, 0, {-turn * s}, {-turn * c}]}}]
"""


ECCENTRIC_BALL = """
simulation: {duration: 5}
contact: {friction: 1}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: ball, mass: 1, center: [0, 0, -0.015], inertia: [8.0e-4, 8.0e-4, 7.0e-4, 0, 0, 0], position: [0, 0, 0.0502], shape: {type: sphere, radius: 0.05}}
initial: [{link: ball, velocities: [0.25, 0, 0, 0, 5, 0]}]
"""


STEER, WHEELBASE, TRACK = 0.3, 0.4, 0.4


def ackermann():
    """A car that coasts with its front wheels on the circle about a point of the rear axle."""
    middle = WHEELBASE / math.tan(STEER)
    wheels, initial = [], []
    for name, x, y in (("fl", 1, 1), ("fr", 1, -1), ("rl", 0, 1), ("rr", 0, -1)):
        side = middle - y * TRACK / 2
        angle, far = (math.atan2(WHEELBASE, side), math.hypot(WHEELBASE, side)) if x else (0.0, side)
        wheels.append(
            f"  - {{name: {name}, parent: body, mass: 0.3, joint: {{type: hinge, axis: [0, 1, 0], position: [{x * WHEELBASE}, {y * TRACK / 2}, 0], "
            f"rpy: [0, 0, {angle}]}}, shapes: [{{type: wheel, radius: 0.1, width: 0.04, rim: 0.019, rpy: [1.5707963267948966, 0, 0]}}]}}"
        )
        initial.append(f"  - {{link: {name}, velocities: [{far / middle / 0.1}]}}")
    return f"""
simulation: {{duration: 3}}
contact: {{friction: 0.8}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}}}
  - {{name: body, mass: 2, shapes: [{{type: box, size: [0.5, 0.3, 0.1], position: [0.2, 0, 0]}}], position: [0, 0, 0.1002]}}
{chr(10).join(wheels)}
initial:
  - {{link: body, velocities: [1, 0, 0, 0, 0, {1 / middle}]}}
{chr(10).join(initial)}
"""


def two_wheels(left, right, body="position: [0, 0, 0.1002]", more=""):
    return f"""
simulation: {{duration: 3}}
contact: {{friction: 0.8}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}}}
  - {{name: body, mass: 2, shape: {{type: box, size: [0.2, 0.3, 0.1]}}, {body}}}
  - &wheel
    name: left
    parent: body
    joint: {{type: hinge, axis: [0, 1, 0], position: [0, 0.2, 0]}}
    mass: 0.3
    shapes: [{{type: wheel, radius: 0.1, width: 0.04, rim: 0.019, rpy: [1.5707963267948966, 0, 0]}}]
  - {{<<: *wheel, name: right, joint: {{type: hinge, axis: [0, 1, 0], position: [0, -0.2, 0]}}}}
{more}
controllers:
  - {{link: left, type: velocity, target: {left}, damping_gain: 1}}
  - {{link: right, type: velocity, target: {right}, damping_gain: 1}}
"""


CASTER = "  - {name: caster, parent: body, joint: {type: ball, position: [-0.15, 0, -0.05]}, mass: 0.1, shape: {type: sphere, radius: 0.05}}"

OMNI = (0.04, 0.0116, 0.004, 8)  # from the hub's axis to that of a roller, half length, radius, number of rollers


def skid_steer(spin):
    """A car on four wheels that do not steer, those of the left side driven backwards."""
    wheels, drives = [], []
    for name, x, y in (("fl", 1, 1), ("fr", 1, -1), ("rl", -1, 1), ("rr", -1, -1)):
        wheels.append(
            f"  - {{name: {name}, parent: body, mass: 0.3, joint: {{type: hinge, axis: [0, 1, 0], position: [{x * 0.15}, {y * 0.2}, 0]}}, "
            f"shapes: [{{type: wheel, radius: 0.1, width: 0.04, rim: 0.019, rpy: [1.5707963267948966, 0, 0]}}]}}"
        )
        drives.append(f"  - {{link: {name}, type: velocity, target: {-y * spin}, damping_gain: 10}}")
    return f"""
simulation: {{duration: 3}}
contact: {{friction: 0.8}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}}}
  - {{name: body, mass: 2, shape: {{type: box, size: [0.4, 0.3, 0.1]}}, position: [0, 0, 0.1002]}}
{chr(10).join(wheels)}
controllers:
{chr(10).join(drives)}
"""


def balancer(drive=""):
    """A body of 2 kg, 0.15 m above the axle of two wheels of 0.3 kg, that leans by 0.02 rad about the axle."""
    return f"""
simulation: {{duration: 1}}
contact: {{friction: 0.8}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}}}
  - {{name: body, mass: 2, center: [0, 0, 0.15], inertia: [0.02, 0.02, 0.02, 0, 0, 0], position: [0, 0, 0.1002], rpy: [0, 0.02, 0],
      shape: {{type: box, size: [0.06, 0.2, 0.2], position: [0, 0, 0.15]}}}}
  - &wheel
    name: left
    parent: body
    mass: 0.3
    inertia: [0.001, 0.0015, 0.001, 0, 0, 0]
    joint: {{type: hinge, axis: [0, 1, 0], position: [0, 0.2, 0]}}
    shapes: [{{type: wheel, radius: 0.1, width: 0.04, rim: 0.019, rpy: [1.5707963267948966, 0, 0]}}]
  - {{<<: *wheel, name: right, joint: {{type: hinge, axis: [0, 1, 0], position: [0, -0.2, 0]}}}}
{drive}"""


BALANCE = """controllers:
  - &drive {link: left, type: torque, target: 0, feedback: {measures: [body/zx], matrix: [1.5]}}
  - {<<: *drive, link: right}
"""


def lean_period(run):
    """Time from one fall of a body's lean through zero to the next [s]."""
    lean = [run.direction("body", "z", row)[0] for row in range(len(run.time))]
    falls = [
        run.time[k - 1] + lean[k - 1] / (lean[k - 1] - lean[k]) * (run.time[k] - run.time[k - 1])
        for k in range(1, len(lean))
        if lean[k - 1] > 0 >= lean[k]
    ]
    return falls[1] - falls[0]


def balancer_stiffness(gain):
    """-theta'' / theta of that robot when both wheels get the torque gain * theta in all, small leans, wheels that roll.

    (Me + m) x'' + m h theta'' = torque / R,   m h x'' + (m h^2 + I) theta'' = m g h theta - torque,   Me = 2 (m_w + I_w / R^2)
    """
    m, h, i, radius, rolls = 2.0, 0.15, 0.02, 0.1, 2 * (0.3 + 0.0015 / 0.1**2)
    total = rolls + m
    return (gain * (1 + m * h / (radius * total)) - m * G * h) / (i + m * h * h - (m * h) ** 2 / total)


def shipped(name):
    """Text of a scene in scenes/."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scenes", name + ".yaml"), encoding="utf-8") as file:
        return file.read()


def yaw_between(run, link, start, end):
    """By how much a body turns about z between two times, less than a turn [rad]."""
    turn = [2 * math.atan2(run.at(link + "/qz", t), run.at(link + "/qw", t)) for t in (start, end)]
    return turn[1] - turn[0]


CAPSTAN = math.exp(0.3 * math.pi)


def over_drum(share):
    """A cable over half of a drum at rest, friction 0.3, that pulls with CAPSTAN times this share of the other side's force.

    The heavy weight is held first and let down from 0.3 s to 2 s.
    """
    radius, drop, light = 0.1042, 0.25, 0.1
    arc = [(-radius * math.cos(math.pi * k / 20), 0.8 + radius * math.sin(math.pi * k / 20)) for k in range(21)]
    points = [(-radius, 0.8 - drop), *arc, (radius, 0.8 - drop)]
    hanging = drop * 1000 * math.pi * 0.003**2
    heavy = share * CAPSTAN * (light + hanging) - hanging
    return f"""
simulation: {{duration: 3}}
contact: {{friction: 0.3, exclude: [[cable, light], [cable, heavy]]}}
rods:
  - {{name: cable, points: [{", ".join(f"[{x:.8f}, 0, {z:.8f}]" for x, z in points)}], rest: straight, segments: 24, radius: 0.003, young: 1.0e+6,
     density: 1000, damping: 0.05, from: {{link: light, type: pinned}}, to: {{link: heavy, type: pinned}}}}
links:
  - {{name: drum, fixed: true, shape: {{type: cylinder, radius: 0.1, length: 0.2, position: [0, 0, 0.8], rpy: [1.5707963267948966, 0, 0]}}}}
  - {{name: light, mass: {light}, position: [{-radius}, 0, {0.78 - drop}], shape: {{type: sphere, radius: 0.02}}}}
  - {{name: heavy, mass: {heavy!r}, position: [{radius}, 0, {0.78 - drop}], shape: {{type: sphere, radius: 0.02}}}}
loads: [{{link: heavy, force: {{type: keyframes, times: [0.3, 2], values: [[0, 0, {G * (heavy - light)!r}], [0, 0, 0]]}}}}]
"""


SIDEWAYS = 4 * MECANUM[0] * mecanum_share()


def omni_wheel():
    """A hub at 3 rad/s with 8 rollers across its rim, on a frame that moves as it likes but does not turn."""
    out, half, radius, count = OMNI
    rollers = []
    for k in range(count):
        angle = 2 * math.pi * k / count
        x, z = out * math.sin(angle), out * math.cos(angle)
        rollers.append(
            f"  - {{name: roller{k}, groups: [rollers], parent: hub, mass: 0.01, joint: {{type: hinge, axis: [1, 0, 0], position: [{x!r}, 0, {z!r}], rpy: [0, {angle!r}, 0]}}, "
            f"shapes: [{{type: capsule, radius: {radius}, length: {2 * half}, rpy: [0, 1.5707963267948966, 0]}}]}}"
        )
    return f"""
simulation: {{duration: 5}}
contact: {{friction: 0.8, exclude: [[rollers, rollers]]}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}}}
  - {{name: frame, mass: 1, inertia: [0.01, 0.01, 0.01, 0, 0, 0], joint: {{type: free, free_axes: [x, y, z], position: [0, 0, {out + radius + 2e-4!r}]}}}}
  - {{name: hub, parent: frame, mass: 0.1, inertia: [1e-4, 1e-4, 1e-4, 0, 0, 0], joint: {{type: hinge, axis: [0, 1, 0]}}}}
{chr(10).join(rollers)}
controllers: [{{link: hub, type: velocity, target: 3, damping_gain: 10}}]
"""


def omni_advance():
    """Way of a hub per radian: the rollers' ends are the corners of a convex polygon, with the rollers' radius about it."""
    out, half, radius, count = OMNI
    ends = []
    for k in range(count):
        angle = 2 * math.pi * k / count
        for side in (-1, 1):
            ends.append((out * math.sin(angle) + side * half * math.cos(angle), out * math.cos(angle) - side * half * math.sin(angle)))
    around = sum(math.dist(ends[k], ends[(k + 1) % len(ends)]) for k in range(len(ends)))
    return around / (2 * math.pi) + radius


ROWS += [
    Row(
        "ball with backspin (draw shot)",
        rolling("type: sphere, radius: 0.1", velocities="[1, 0, 0, 0, -40, 0]", mu=0.5),
        lambda r: r.slope("body/cx", 1.4, 1.5),
        -3 / 7,
        0.005 * 3 / 7,
        "(5 v - 2 w R) / 7",
    ),
    Row(
        "ball with backspin on a floor that is a box",
        rolling("type: sphere, radius: 0.1", velocities="[1, 0, 0, 0, -40, 0]", mu=0.5, floor=BOX_FLOOR),
        lambda r: r.slope("body/cx", 1.4, 1.5),
        -3 / 7,
        0.0005 * 3 / 7,
        "(5 v - 2 w R) / 7",
    ),
    Row("ball that rolls on a turntable: rate of its circle", RIDER, lambda r: heading(r, "ball", 0.1, 1.9) / 1.8, 1, 0.01, "2/7 of the table's rate"),
    Row("roller on an eccentric cam: largest error of its height", CAM_SCENE, cam_error, 0, 1e-4, "centres R + r apart"),
    Row(
        "Euler's disk at 0.3 rad: rate of precession",
        disc_scene(0.3, 0, 0.5),
        lambda r: azimuth_rate(r, "disc", 0.1, 0.5),
        rolling_disc(0.3, 0)[0],
        0.01 * rolling_disc(0.3, 0)[0],
        "Euler's equations, 2 sqrt(g / (R sin)) for a thin edge",
    ),
    Row(
        "disc that rolls in a circle of 0.5 m at 1.2 rad: rate",
        disc_scene(1.2, 0.5, 2),
        lambda r: abs(azimuth_rate(r, "disc", 0.2, 2)),
        rolling_disc(1.2, 0.5)[0],
        0.01 * rolling_disc(1.2, 0.5)[0],
        "Euler's equations with rolling",
    ),
    Row(
        "the same disc on a free board of 1000 kg: rate",
        disc_scene(1.2, 0.5, 2, board=True),
        lambda r: abs(azimuth_rate(r, "disc", 0.2, 2)),
        rolling_disc(1.2, 0.5)[0],
        0.01 * rolling_disc(1.2, 0.5)[0],
        "the same",
    ),
    Row(
        "capsule on one end that rolls in a circle of 0.1 m at 0.5 rad: rate",
        revolving_scene("type: capsule, radius: 0.05, length: 0.2", PILL, 0.5, -0.1, PILL_INERTIA, 1),
        lambda r: abs(azimuth_rate(r, "disc", 0.1, 1)),
        PILL[0],
        0.01 * PILL[0],
        "the same",
    ),
    Row(
        "cone on the edge of its base that rolls in a circle of 0.3 m at 0.6 rad: rate",
        revolving_scene("type: cone, bottom_radius: 0.1, top_radius: 0.03, length: 0.06", FRUSTUM, 0.6, 0.3, FRUSTUM_INERTIA, 1),
        lambda r: abs(azimuth_rate(r, "disc", 0.1, 1)),
        FRUSTUM[0],
        0.01 * FRUSTUM[0],
        "the same",
    ),
    Row(
        "cone that rolls on its side about its tip: rate after 1 s over rate after 0.2 s",
        cone_on_its_side(),
        lambda r: azimuth_rate(r, "disc", 0.8, 1) / azimuth_rate(r, "disc", 0.1, 0.3),
        1,
        0.01,
        "nothing brakes it",
    ),
    Row(
        "ball with an eccentric mass that rocks: largest tilt after 4 s over that in the first second",
        ECCENTRIC_BALL,
        lambda r: r.tilt("ball", 4, 5) / r.tilt("ball", 0, 1),
        1,
        0.01,
        "energy",
    ),
    Row(
        "car with Ackermann steering that coasts: curvature",
        ackermann(),
        lambda r: r.mean_rate(r.turned("body", "z"), 0.5, 2.5) / math.hypot(r.slope("body/px", 2.45, 2.55), r.slope("body/py", 2.45, 2.55)),
        math.tan(STEER) / WHEELBASE,
        0.01 * math.tan(STEER) / WHEELBASE,
        "tan(steer) / wheelbase",
    ),
    Row(
        "two driven wheels and a caster: yaw rate",
        two_wheels(8, 12, more=CASTER),
        lambda r: r.mean_rate(r.turned("body", "z"), 1, 3),
        4 * 0.1 / 0.4,
        0.01,
        "(right - left) R / track",
    ),
    Row(
        "skid steer, the sides driven against each other: yaw rate",
        skid_steer(10),
        lambda r: r.mean_rate(r.turned("body", "z"), 1, 3),
        2 * 10 * 0.1 * 0.4 / (0.4**2 + 0.3**2),
        0.01 * 2 * 10 * 0.1 * 0.4 / (0.4**2 + 0.3**2),
        "2 w R track / (track^2 + wheelbase^2): friction against the slip of four equal wheels",
    ),
    Row(
        "two-wheeled robot without drives: rate at which its lean grows",
        balancer(),
        lambda r: math.acosh(math.asin(r.direction("body", "z", 30)[0]) / 0.02) / 0.3,
        math.sqrt(-balancer_stiffness(0)),
        0.01 * math.sqrt(-balancer_stiffness(0)),
        "Lagrange, small leans, wheels that roll",
        known={"default": "of first order in the time step: the contact lever arm is that of the end of the step; 2.9 % at 10 ms, 1.3 % at 5 ms"},
    ),
    Row(
        "two-wheeled robot that balances by feedback of its lean: period",
        balancer(BALANCE),
        lean_period,
        2 * math.pi / math.sqrt(balancer_stiffness(3)),
        0.01 * 2 * math.pi / math.sqrt(balancer_stiffness(3)),
        "the same, torque 3 N m a radian",
    ),
    Row(
        "omni wheel of 8 rollers: speed",
        omni_wheel(),
        lambda r: r.mean_rate("frame/px", 5 - 4 * math.pi / 3, 5),
        3 * omni_advance(),
        0.03 * omni_advance(),
        "perimeter of the rollers' hull in a turn",
    ),
    Row(
        "weights on a cable over a drum, pull at 95 % of the capstan's: speed",
        over_drum(0.95),
        lambda r: -r.mean_rate("heavy/cz", 2.5, 3),
        0,
        1e-3,
        "e^(mu pi) holds",
    ),
    Row(
        "the same at 105 %: it slips",
        over_drum(1.05),
        lambda r: float(-r.mean_rate("heavy/cz", 2.5, 3) > 0.05),
        1,
        0.5,
        "e^(mu pi) holds",
        long=True,
    ),
    Row(
        "base on four mecanum wheels of 9 rollers: speed sideways",
        mecanum((-4, 4, 4, -4)),
        lambda r: r.mean_rate("base/cy", 0.5, 1.5),
        SIDEWAYS,
        0.01 * SIDEWAYS,
        "w R sin(pi / 9) / (pi / 9): a roller that has turned by phi from below moves at w R cos(phi)",
        recommended=("simulation.dt=0.005",),
        known={"default": "friction impulses that act in a later step reduce the speed by 1.1 % at 10 ms, 0.5 % at 5 ms"},
        long=True,
    ),
    Row(
        "the same base, its sides against each other: yaw rate",
        mecanum((-4, 4, -4, 4)),
        lambda r: yaw_between(r, "base", 0.5, 1.5),
        SIDEWAYS / (MECANUM[3] + MECANUM[4]),
        0.01 * SIDEWAYS / (MECANUM[3] + MECANUM[4]),
        "the same over half wheelbase + half track",
        recommended=("simulation.dt=0.005",),
    ),
    Row(
        "snake of eight links, friction 0.1 along and 0.8 across: speed",
        shipped("snake"),
        lambda r: r.mean_rate("head/px", 2, 5),
        snake_speed(),
        0.01 * snake_speed(),
        "momentum of a chain with prescribed angles, friction at the corners of its boxes",
    ),
]

ROWS += [
    Row(
        "two weights on a cable over a pulley: displacement of the heavy weight",
        """
simulation: {duration: 0.5}
contact: {model: none}
links:
  - {name: light, mass: 1, shape: {type: box, size: [0.1, 0.1, 0.1]}, joint: {type: slide, axis: [0, 0, 1], position: [-0.2, 0, 0]}}
  - {name: heavy, mass: 3, shape: {type: box, size: [0.1, 0.1, 0.1]}, joint: {type: slide, axis: [0, 0, 1], position: [0.2, 0, 0]}}
tendons:
  - points: [{link: light}, {link: heavy}]
    wrap: [{type: cylinder, radius: 0.2, position: [0, 0, 2], axis: [0, 1, 0], side: [0, 0, 3]}]
    stiffness: 1.0e+5
    rest_length: 4.628318530717959
""",
        lambda r: r.columns["heavy/cz"][-1],
        -0.5 * 0.5 * G * 0.25,
        0.01 * 0.25 * G * 0.25,
        "g (m2 - m1) / (m1 + m2) t^2 / 2",
    ),
    Row(
        "shank that a cable over a kneecap holds: angle",
        """
simulation: {duration: 5}
contact: {model: none}
links:
  - {name: thigh, fixed: true}
  - {name: shank, parent: thigh, mass: 0.8, center: [0, 0, -0.2], inertia: [0.012, 0.012, 0.001, 0, 0, 0], joint: {type: hinge, axis: [0, 1, 0], damping: 0.4}}
tendons:
  - points: [{link: thigh, point: [-0.3, 0, 0.045]}, {link: shank, point: [0.045, 0, -0.12]}]
    wrap: [{type: cylinder, link: thigh, radius: 0.04, axis: [0, 1, 0], side: [0.1, 0, 0.1]}]
    tension: 30
""",
        lambda r: math.atan2(r.columns["shank/cx"][-1], -r.columns["shank/cz"][-1]),
        math.asin(30 * 0.04 / (0.8 * G * 0.2)),
        1e-4,
        "tension x radius = m g l sin",
    ),
    Row(
        "cantilever rod of rubber under a force on its tip: deflection",
        """
simulation: {duration: 10, gravity: [0, 0, 0]}
rods:
  - {name: bar, points: [[0, 0, 0], [1, 0, 0]], radius: 0.01, young: 1.0e+7, density: 1100, damping: 0.5, from: {}}
loads: [{link: bar_15, force: [0, 0, 0.001], point: [0, 0, 0.03125]}]
""",
        lambda r: r.columns["bar_15/cz"][-1] + 0.03125 * r.direction("bar_15", "z", -1)[2],
        0.001 / (3 * 1e7 * math.pi * 0.01**4 / 4),
        3e-5,
        "F L^3 / 3 E I",
    ),
    Row(
        "clamped nylon rod sags: period of its first bending oscillation",
        """
simulation: {duration: 1}
rods:
  - {name: bar, points: [[0, 0, 0], [0.5, 0, 0]], radius: 0.003, young: 3.0e+9, density: 1150, from: {}}
""",
        lambda r: bottoms_apart(r, "bar_15/cz", 4),
        2 * math.pi / (1.875104**2 * 0.0015 * math.sqrt(3e9 / 1150) / 0.25),
        2e-3,
        "Euler-Bernoulli beam, 1.875^2 sqrt(E I / rho A) / L^2",
        recommended=("simulation.dt=0.001",),
        known={"default": "second order in the step: 1.2 % at 0.34 rad of the oscillation a step, and 0.2 % by 16 segments"},
    ),
    Row(
        "clamped nylon rod swings: share of its amplitude that ten periods leave",
        """
simulation: {duration: 2.5}
rods:
  - {name: bar, points: [[0, 0, 0], [0.5, 0, 0]], radius: 0.003, young: 3.0e+9, density: 1150, from: {}}
""",
        lambda r: bottom_left(r, "bar_15/cz", 10),
        1.0,
        0.05,
        "no damping",
        recommended=("simulation.dt=0.001",),
        long=True,
    ),
    Row(
        "bob that swings on a stiff bushing at 0.2 rad: energy of its swing after 5 s",
        """
simulation: {duration: 5}
links:
  - {name: bob, mass: 1, position: [0.09933467, 0, -0.49003329], rotation_vector: [0, -0.2, 0], shape: {type: box, size: [0.05, 0.05, 0.2]}}
bushings: [{a: bob, frame_a: {position: [0, 0, 0.5]}, frame_b: {}, stiffness: [20000, 20000, 20000, 0, 0, 0]}]
""",
        lambda r: max(r.solver["kinetic"][-150:]) / (G * 0.5 * (1 - math.cos(0.2))),
        1.0,
        0.01,
        "no damping",
    ),
    Row(
        "two bodies and an arm that float, on a soft bushing: energy after 3 s",
        FLOATING_BUSHING,
        lambda r: r.solver["total"][-1] / r.solver["total"][0],
        1.0,
        0.01,
        "no damping",
    ),
    Row(
        "the same: angular momentum, largest change",
        FLOATING_BUSHING,
        lambda r: max(math.dist(row, (0.0033333, 0.0441667, 0.38375)) for row in zip(r.solver["lx"], r.solver["ly"], r.solver["lz"])),
        0,
        0.01 * 0.386,
        "m x x v + I w of the start",
    ),
    Row(
        "rubber cable of 1.23 m between points 0.8 m apart: sag",
        f"""
simulation: {{duration: 6}}
rods:
  - {{name: cable, points: {CABLE}, rest: straight, radius: 0.002, young: 1.0e+6, density: 1100, damping: 0.3, from: {{type: pinned}}, to: {{type: pinned}}}}
""",
        lambda r: -min(r.columns[f"cable_{i}/cz"][-1] for i in range(16)),
        catenary_sag(0.8, 0.6 + 2 * math.hypot(0.1, 0.3)),
        6e-3,
        "catenary; 16 segments",
    ),
    Row(
        "spring of steel wire, five turns, guided: deflection under 1 N",
        f"""
simulation: {{duration: 1, gravity: [0, 0, 0]}}
contact: {{model: none}}
rods:
  - {{name: wire, points: {helix(0.02, 0.005, 5, 16)}, radius: 0.001, young: 2.08e+11, shear: 8.0e+10, density: 7850, damping: 0.002, from: {{}}, to: {{link: plate}}}}
links:
  - {{name: plate, mass: 0.01, inertia: [1.0e-6, 1.0e-6, 1.0e-6, 0, 0, 0], joint: {{type: slide, axis: [0, 0, 1], position: [0, 0, 0.025]}}}}
loads: [{{link: plate, force: [0, 0, 1]}}]
""",
        lambda r: r.columns["plate/cz"][-1] - 0.025,
        8 * 0.04**3 * 5 / (8e10 * 0.002**4),
        4e-5,
        "8 D^3 N F / G d^4",
    ),
    Row(
        "engine on a bushing whose preload carries half of its weight: rest below the mount",
        """
simulation: {duration: 5}
contact: {model: none}
links:
  - {name: frame, fixed: true}
  - {name: engine, mass: 120, shape: {type: box, size: [0.5, 0.3, 0.3]}}
bushings:
  - {a: frame, b: engine, frame_b: {}, stiffness: [1.0e+5, 1.0e+5, 5.0e+4, 500, 500, 500], damping: [900, 900, 900, 30, 30, 30], preload: [0, 0, 588.6, 0, 0, 0]}
""",
        lambda r: r.columns["engine/cz"][-1],
        -60 * G / 5.0e4,
        1e-4 * 60 * G / 5.0e4,
        "(m g - preload) / stiffness",
    ),
    Row(
        "arm on a torsion bar: angle after 2 s",
        """
simulation: {duration: 2, gravity: [0, 0, 0]}
contact: {model: none}
links:
  - {name: arm, mass: 3, center: [0.2, 0, 0], inertia: [0.01, 0.05, 0.05, 0, 0, 0], joint: {type: hinge, axis: [0, 1, 0]}}
bushings:
  - {a: arm, frame_b: {}, stiffness: [0, 0, 0, 0, 4, 0]}
initial:
  - {link: arm, velocities: [2]}
""",
        lambda r: math.atan2(-r.columns["arm/cz"][-1], r.columns["arm/cx"][-1]),
        2 / math.sqrt(4 / 0.17) * math.sin(2 * math.sqrt(4 / 0.17)),
        2e-3 * 2 / math.sqrt(4 / 0.17),
        "rate / w sin(w t), w^2 = k / I",
    ),
]


# ------------------------------------------------------------ fluids (docs/derivations/fluid.md)
def sinking(density, viscosity, radius=0.01, excess=1000):
    """Speed of a sphere whose weight in the fluid is balanced by 6 pi mu r v + 1/2 rho (1/2) pi r^2 v^2."""
    weight = 4 / 3 * math.pi * radius**3 * excess * G
    square, linear = 0.25 * density * math.pi * radius**2, 6 * math.pi * viscosity * radius
    return (math.sqrt(linear**2 + 4 * square * weight) - linear) / (2 * square)


def sphere_in(density, viscosity, duration):
    return f"""
simulation: {{duration: {duration}}}
fluid: {{density: {density}, viscosity: {viscosity}}}
links:
  - {{name: ball, density: {density + 1000}, shape: {{type: sphere, radius: 0.01}}}}
"""


def last_speed(run, column):
    z = run.columns[column]
    return (z[-2] - z[-1]) / (run.time[-1] - run.time[-2])


def rising_zero_period(run, column):
    """Mean time between passages of zero upwards."""
    z, t = run.columns[column], run.time
    up = [t[i] - z[i] * (t[i + 1] - t[i]) / (z[i + 1] - z[i]) for i in range(len(z) - 1) if z[i] < 0 <= z[i + 1]]
    return (up[-1] - up[0]) / (len(up) - 1)


def raft(joint, coordinates, viscosity=0, duration=10):
    """A block of 0.4 x 0.4 x 0.2 m with half of water's density; it floats half under."""
    return f"""
simulation: {{duration: {duration}}}
fluid: {{density: 1000, viscosity: {viscosity}, level: 0}}
links:
  - {{name: raft, density: 500, joint: {joint}, shape: {{type: box, size: [0.4, 0.4, 0.2]}}}}
initial: [{{link: raft, coordinates: {coordinates}}}]
"""


def stopped_by(fluid, link, speed, duration):
    """A body that moves along z at a speed through a fluid at rest, without weight."""
    return f"""
simulation: {{duration: {duration}, gravity: [0, 0, 0]}}
fluid: {fluid}
links: [{{name: body, {link}}}]
initial: [{{link: body, velocities: [0, 0, {speed}, 0, 0, 0]}}]
"""


# Rolling of the raft: m g GM / I with BM = (b^4 / 12) / (b^2 T), KB = T / 2, KG = h / 2; without added mass.
RAFT_GM = 0.05 + 0.4**2 / 12 / 0.1 - 0.1
RAFT_ROLL = 2 * math.pi * math.sqrt((0.4**2 + 0.2**2) / 12 / (G * RAFT_GM))

ROWS += [
    Row("ball sinks in honey: speed", sphere_in(1400, 10, 1), lambda r: last_speed(r, "ball/pz"), sinking(1400, 10), 1e-4,
        "6 pi mu r v, and a drag coefficient of 1/2"),
    Row("ball sinks in water: speed", sphere_in(1000, 0.001, 2), lambda r: last_speed(r, "ball/pz"),
        sinking(1000, 0.001), 4e-3, "the same; drag of pressure alone, to 0.01 %", long=True),
    Row("plate of 20 g stops in air: distance in 1 s",
        stopped_by("{density: 1.2}", "mass: 0.02, shape: {type: box, size: [0.5, 0.5, 0.002]}", 10, 1),
        lambda r: r.at("body/pz"), math.log(1 + 0.15 * 10 / 0.02) * 0.02 / 0.15, 0.006,
        "m / k ln(1 + k v t / m), k = rho A / 2"),
    Row("ball stops in honey: distance",
        stopped_by("{density: 1.0e-6, viscosity: 1}", "mass: 0.01, shape: {type: sphere, radius: 0.01}", 1, 1),
        lambda r: r.at("body/pz"), 0.01 / (6 * math.pi * 0.01), 2e-4, "m v / (6 pi mu r)"),
    Row("block that floats: draught", raft("{type: slide, axis: [0, 0, 1]}", "[0.05]", viscosity=500),
        lambda r: 0.1 - r.at("raft/cz"), 0.1, 1e-4, "rho_body / rho_fluid h"),
    Row("block that bobs by 1 mm: period", raft("{type: slide, axis: [0, 0, 1]}", "[0.001]"),
        lambda r: rising_zero_period(r, "raft/cz"), 2 * math.pi * math.sqrt(0.1 / G), 1e-3,
        "2 pi sqrt(draught / g), without added mass"),
    Row("block that rolls by 0.01 rad: period", raft("{type: hinge, axis: [1, 0, 0]}", "[0.01]"),
        lambda r: rising_zero_period(r, "raft/qx"), RAFT_ROLL, 3e-3,
        "2 pi sqrt(I / (m g GM)), metacentre BM = b^2 / (12 T)"),
]


def fall_together(start, end, moment, mass):
    """Time in which two dipoles on a common axis come from one distance to another, by the midpoint rule with r = end + (start - end) cos^2 [s]."""
    count, total, most = 20000, 0.0, math.acos(0)
    for k in range(count):
        angle = most * (k + 0.5) / count
        r = end + (start - end) * math.cos(angle) ** 2
        gained = 2e-7 * moment**2 * (r**-3 - start**-3)
        speed = math.sqrt(4 * gained / mass)  # of the distance: the reduced mass is mass / 2
        total += 2 * (start - end) * math.cos(angle) * math.sin(angle) / speed
    return total * most / count


ROWS += [
    Row(
        "moon on an ellipse: period",
        """
simulation: {duration: 12, gravity: [0, 0, 0]}
links:
  - {name: sun, fixed: true, shape: {type: sphere, radius: 0.06}}
  - {name: moon, mass: 1, position: [1, 0, 0], shape: {type: sphere, radius: 0.03}}
initial: [{link: moon, velocities: [0, 0.8, 0, 0, 0, 0]}]
loads: [{link: moon, field: {type: point, to: sun, strength: 1}}]
""",
        lambda r: r.period("moon/cy"),
        2 * math.pi / (2 - 0.64) ** 1.5,
        0.01 * 3.96,
        "Kepler: 2 pi sqrt(a^3 / k), a = 1 / (2 / r - v^2)",
    ),
    Row(
        "compass needle: period of small swings",
        """
simulation: {duration: 4, gravity: [0, 0, 0]}
links:
  - name: needle
    joint: {type: hinge, axis: [0, 0, 1]}
    mass: 1
    inertia: [0.001, 0.001, 0.001, 0, 0, 0]
initial: [{link: needle, coordinates: [0.01]}]
loads: [{link: needle, field: {type: uniform, axis: [1, 0, 0], strength: 2, flux_density: [0.2, 0, 0]}}]
""",
        lambda r: r.period("needle/qz"),
        2 * math.pi * math.sqrt(0.001 / 0.4),
        0.01 * 0.314,
        "2 pi sqrt(I / m B)",
    ),
    Row(
        "two magnets that fall together: time from 60 to 50 mm",
        """
simulation: {duration: 0.3, gravity: [0, 0, 0]}
links:
  - {name: a, mass: 0.02, shape: {type: sphere, radius: 0.01}}
  - {name: b, mass: 0.02, position: [0.06, 0, 0], shape: {type: sphere, radius: 0.01}}
loads: [{link: a, field: {type: dipole, to: b, axis: [1, 0, 0], strength: 0.5, moment: [0.5, 0, 0]}}]
""",
        lambda r: r.crossings("a/cx", 0.005)[0],
        fall_together(0.06, 0.05, 0.5, 0.02),
        0.01 * 0.124,
        "energy -2 c m^2 / r^3, integrated",
    ),
]

ROWS += CLASSICS + ROLLERS + ORDINARY_MACHINES + SIGNALS + LEVERS + PLANAR + DEVICES + BALL_JOINTS
