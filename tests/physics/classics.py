"""Classic problems of mechanics: Furuta's pendulum, a slider-crank's torque, Painleve's rod, a rattleback, the Whipple
bicycle, piles of logs, and the rolling and bouncing tests of SimBenchmark (Kang and Hwangbo, github.com/leggedrobotics).

Each right value is a closed form, a published number, or the integral of equations that are written down here.
"""

import cmath
import math
import os
import sys

from row import Row

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "long"))
import rattleback
from vectors import runge_kutta

G = 9.81


def integrated(rate, state, seconds, steps):
    for _ in range(steps):
        state = runge_kutta(rate, state, seconds / steps)
    return state


# ---------------------------------------------------------------------------------------------------- Furuta's pendulum
ARM, LENGTH = (0.3, 0.01), 0.3  # length [m] and inertia about its axis [kg m^2] of the arm; length of the rod [m]


def furuta(angle, duration):
    """An arm that turns freely about the vertical; a rod of 0.2 kg on a hinge along it, at its end; `angle` from hanging."""
    inertia = 0.2 * LENGTH**2 / 12
    return f"""
simulation: {{duration: {duration}}}
links:
  - {{name: arm, mass: 0.1, inertia: [1.0e-4, {ARM[1]}, {ARM[1]}, 0, 0, 0], joint: {{type: hinge, axis: [0, 0, 1]}}}}
  - name: rod
    parent: arm
    mass: 0.2
    center: [0, 0, {-LENGTH / 2}]
    inertia: [{inertia}, {inertia}, 1.0e-5, 0, 0, 0]
    joint: {{type: hinge, axis: [1, 0, 0], position: [{ARM[0]}, 0, 0]}}
initial: [{{link: rod, coordinates: [{angle}]}}]
"""


def furuta_period():
    """Small oscillations: det(K - w^2 M) = 0 with K = diag(0, m g l), M the inertia of (arm, rod) at rest."""
    mass, centre = 0.2, LENGTH / 2
    arm, both, rod = ARM[1] + 1e-5 + mass * ARM[0] ** 2, mass * ARM[0] * centre, mass * LENGTH**2 / 3
    return 2 * math.pi / math.sqrt(mass * G * centre * arm / (arm * rod - both**2))


def energy_error(run, scale):
    """Largest difference of the total energy from that at the start, as a share of `scale` [J]."""
    total = run.solver["total"]
    return max((value - total[0] for value in total), key=abs) / scale


def energy_gain(run, scale):
    """Largest gain of the total energy over that at the start, as a share of `scale` [J]; 1 if a number is missing."""
    total = run.solver["total"]
    return max(value - total[0] for value in total) / scale if all(map(math.isfinite, total)) else 1.0


# ------------------------------------------------------------------------------------------------------ a slider-crank
CRANK, ROD, SPEED = 0.1, 0.3, 10.0  # lengths [m], rad/s


# The crank turns at 10 rad/s, without gravity.
SLIDER_CRANK = f"""
simulation: {{duration: 1.2, gravity: [0, 0, 0], output: [reactions]}}
contact: {{model: none}}
links:
  - {{name: crank, mass: 0.5, center: [0.05, 0, 0], inertia: [1.0e-4, 4.0e-4, 4.0e-4, 0, 0, 0], joint: {{type: hinge, axis: [0, -1, 0]}}}}
  - {{name: rod, parent: crank, mass: 0.4, center: [0.15, 0, 0], inertia: [1.0e-4, 3.0e-3, 3.0e-3, 0, 0, 0], joint: {{type: hinge, axis: [0, -1, 0], position: [{CRANK}, 0, 0]}}}}
  - {{name: piston, mass: 1, inertia: [1.0e-3, 1.0e-3, 1.0e-3, 0, 0, 0], joint: {{type: slide, axis: [1, 0, 0], position: [{CRANK + ROD}, 0, 0]}}}}
closures: [{{type: hinge, a: rod, b: piston, point: [{CRANK + ROD}, 0, 0], axis: [0, 1, 0]}}]
controllers: [{{link: crank, type: prescribed, velocity: {SPEED}}}]
initial: [{{link: rod, velocities: [{-SPEED * (1 + CRANK / ROD)}]}}]
"""


def crank_inertia(angle):
    """Twice the kinetic energy of crank, rod and piston over the square of the crank's rate [kg m^2]."""
    s, c = math.sin(angle), math.cos(angle)
    lean_s = CRANK * s / ROD
    lean_c = math.sqrt(1 - lean_s**2)
    lean = CRANK * c / (ROD * lean_c)  # rate of the rod's angle over that of the crank
    piston = -CRANK * s - ROD * lean_s * lean
    rod_x, rod_z = -CRANK * s - ROD / 2 * lean_s * lean, CRANK * c - ROD / 2 * lean_c * lean
    return 4e-4 + 0.5 * 0.05**2 + 0.4 * (rod_x**2 + rod_z**2) + 3e-3 * lean**2 + piston**2


def guide_force(angle):
    """Force of the guide on the piston by the moments of the rod about the crank's pin; accelerations by differences [N]."""

    def rod(angle):
        lean = math.asin(CRANK * math.sin(angle) / ROD)
        pin = (CRANK * math.cos(angle), CRANK * math.sin(angle))
        return lean, (pin[0] + ROD / 2 * math.cos(lean), pin[1] - ROD / 2 * math.sin(lean)), pin[0] + ROD * math.cos(lean)

    h = 1e-4
    before, now, after = rod(angle - h), rod(angle), rod(angle + h)
    second = [(a - 2 * b + c) * (SPEED / h) ** 2 for a, b, c in zip((before[0], *before[1], before[2]), (now[0], *now[1], now[2]), (after[0], *after[1], after[2]))]
    lean, x, z = now[0], ROD * math.cos(now[0]), -ROD * math.sin(now[0])
    # 3e-3 turn + (x, z) / 2 cross 0.4 a = (x, z) cross (-piston's inertia, force); turns from x to z are positive.
    moment = -3e-3 * second[0] + 0.4 * (x / 2 * second[2] - z / 2 * second[1])
    return (moment - z * 1.0 * second[3]) / x


def largest(function):
    return max(abs(function(2 * math.pi * k / 3600)) for k in range(3600))


def crank_torque(angle):
    """Lagrange's equation at a constant rate: half the slope of that inertia times the rate squared."""
    step = 1e-5
    return 0.5 * (crank_inertia(angle + step) - crank_inertia(angle - step)) / (2 * step) * SPEED**2


# ------------------------------------------------------------------------------------------------------ Painleve's rod
HALF, CAP, LEAN, SLIDES = 0.5, 0.005, math.radians(60), 3.0  # m, m, rad from the ground, m/s towards its lower end
ROD_INERTIA = HALF**2 / 3


def rod_scene(friction, duration):
    y = HALF * math.sin(LEAN) + CAP
    return f"""
simulation: {{duration: {duration}}}
contact: {{friction: {friction}}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}}}
  - {{name: rod, mass: 1, inertia: [1.0e-3, {ROD_INERTIA}, {ROD_INERTIA}, 0, 0, 0], position: [0, 0, {y + 2.5e-5}], rpy: [0, {-LEAN}, 0],
      shapes: [{{type: capsule, radius: {CAP}, length: {2 * HALF}, rpy: [0, 1.5707963267948966, 0]}}]}}
initial: [{{link: rod, velocities: [{-SLIDES * math.cos(LEAN)}, 0, {SLIDES * math.sin(LEAN)}, 0, 0, 0]}}] # in the rod's axes
"""


def rod_angle(run, time):
    """Angle of the rod from the ground, up to 180 degrees [rad]."""
    row = min(range(len(run.time)), key=lambda k: abs(run.time[k] - time))
    x, _, z = run.direction("rod", "x", row)
    return math.atan2(z, x)


def sliding_rod(friction, seconds):
    """Angle of a rigid rod that slides on: N = m (g - l w^2 sin) / (1 + m x (x - mu y) / I), x, y of the centre from the contact [rad]."""

    def rate(state):
        (angle,), (w,) = state
        x, y = HALF * math.cos(angle), HALF * math.sin(angle) + CAP
        lever = (friction * y - x) / ROD_INERTIA
        force = (G - HALF * math.sin(angle) * w * w) / (1 - x * lever)
        return (w,), (lever * force,)

    return integrated(rate, ((LEAN,), (0.0,)), seconds, 1000)[0][0]


def jammed_rod(seconds):
    """Angle of a rod that stops at its lower end at once and goes on about it [rad]. Above mu = (I / m + x^2) / (x y) = 1.33 no
    force keeps the end from sinking while it slides (Painleve 1895); the impulse ends when it sticks (Genot and Brogliato 1999)."""
    x, y = HALF * math.cos(LEAN), HALF * math.sin(LEAN) + CAP

    def rate(state):
        (angle,), (w,) = state
        x, y = HALF * math.cos(angle), HALF * math.sin(angle) + CAP
        # About the point of contact, which rolls with the cap: (I + m r^2) w' = -m g x - m w^2 (x y' - ...) of d(r^2)/dt / 2.
        return (w,), ((-G * x - HALF * math.cos(angle) * CAP * w * w) / (ROD_INERTIA + x * x + y * y),)

    return integrated(rate, ((LEAN,), (SLIDES * y / (ROD_INERTIA + x * x + y * y),)), seconds, 1000)[0][0]


# -------------------------------------------------------------------------------------------------------- a rattleback
RATTLE = """
simulation: {duration: 3.4}
contact: {friction: 1}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - name: stone
    mass: 1
    center: [0, 0, 0]
    inertia: [2.0e-4, 1.6e-3, 1.7e-3, -2.0e-5, 0, 0]
    shapes: [{type: superellipsoid, size: [0.2, 0.03, 0.02], exponent: 1, position: [0, 0, 0.01]}]
    position: [0, 0, 0.010076953455617]
    rpy: [0.00872664626, 0.00872664626, 0] # half a degree each
initial: [{link: stone, velocities: [0.00152292085199, 0.0864977552742, 0, 0, 0, -5]}]
"""


def turning_time(time, headings):
    """When the heading is furthest against its angle at the start; 0 if it turns back by less than 0.1 rad [s]."""
    row = min(range(len(headings)), key=lambda k: headings[k])
    return time[row] if headings[-1] - headings[row] > 0.1 else 0.0


def stone_headings(run):
    """Azimuth of the stone's x axis [rad]."""
    angles = []
    for row in range(len(run.time)):
        x, y, _ = run.direction("stone", "x", row)
        angle = math.atan2(y, x)
        angles.append(angle + 2 * math.pi * round((angles[-1] - angle) / (2 * math.pi)) if angles else angle)
    return angles


RATTLE_HEADINGS = rattleback.headings(-5, 0.00872664626, 3.4, 2e-3)


# ------------------------------------------------------------------------------------------------ the Whipple bicycle
# Meijaard, Papadopoulos, Ruina and Schwab, Proc. R. Soc. A 463 (2007): table 1 (parameters; their z is down and their y to the right), the
# canonical matrices and table 2 (eigenvalues) by speed.
TILT, TRAIL, BASE = math.pi / 10, 0.08, 1.02
BIKE_M = ((80.81722, 2.31941332208709), (2.31941332208709, 0.29784188199686))
BIKE_K0 = ((-80.95, -2.59951685249872), (-2.59951685249872, -0.80329488458618))
BIKE_K2 = ((0.0, 76.59734589573222), (0.0, 2.65431523794604))
BIKE_C1 = ((0.0, 33.86641391492494), (-0.85035641456978, 1.68540397397560))
WEAVE = {3: 1.70675605663975 + 2.31582447384325j, 5: -0.77534188219585 + 4.46486771378823j, 7: -2.13875644258362 + 7.19525913329805j}
CAPSIZE = {5: -0.32286642900409, 7: 0.10268170574766}
RIM = 0.0001  # of the wheels' edges, which the paper has as knives [m]


def bike_steer(eigenvalue, speed):
    """Steer angle over lean of a mode: the first row of (M s^2 + v C1 s + g K0 + v^2 K2) q = 0."""
    lean, steer = (
        BIKE_M[0][k] * eigenvalue**2 + speed * BIKE_C1[0][k] * eigenvalue + G * BIKE_K0[0][k] + speed**2 * BIKE_K2[0][k] for k in (0, 1)
    )
    return -lean / steer


def bicycle(speed, eigenvalue, lean, duration):
    """The benchmark bicycle at a speed [m/s], started in one mode with a lean [rad]. x ahead, y to the left, z up; a lean to the
    right and a steer angle to the right are positive, as in the paper."""
    ratio = bike_steer(eigenvalue, speed)
    steer, steer_rate = lean * ratio.real, lean * (ratio * eigenvalue).real
    lean_rate = lean * eigenvalue.real
    yaw_rate = -(speed * steer + TRAIL * steer_rate) * math.cos(TILT) / BASE
    s, c = math.sin(TILT), math.cos(TILT)
    wheel = "rpy: [1.5707963267948966, 0, 0]"
    return f"""
simulation: {{duration: {duration}}}
contact: {{friction: 1}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}}}
  - {{name: frame, mass: 85, center: [0.3, 0, 0.9], inertia: [9.2, 11, 2.8, 0, -2.4, 0], position: [0, 0, 3.0e-6], rpy: [{lean}, 0, 0]}}
  - {{name: rear, parent: frame, mass: 2, inertia: [0.0603, 0.12, 0.0603, 0, 0, 0], joint: {{type: hinge, axis: [0, 1, 0], position: [0, 0, 0.3]}},
      shapes: [{{type: disc, radius: 0.3, rim: {RIM}, {wheel}}}]}}
  - {{name: fork, parent: frame, mass: 4, center: [{0.9 - BASE - TRAIL}, 0, 0.7], inertia: [0.05892, 0.06, 0.00708, 0, 0.00756, 0],
      joint: {{type: hinge, axis: [{s}, 0, {-c}], position: [{BASE + TRAIL}, 0, 0]}}}}
  - {{name: front, parent: fork, mass: 3, inertia: [0.1405, 0.28, 0.1405, 0, 0, 0], joint: {{type: hinge, axis: [0, 1, 0], position: [{-TRAIL}, 0, 0.35]}},
      shapes: [{{type: disc, radius: 0.35, rim: {RIM}, {wheel}}}]}}
initial:
  - {{link: frame, velocities: [{speed}, 0, 0, {lean_rate}, 0, {yaw_rate}]}} # of its origin, where the rear wheel touches
  - {{link: rear, velocities: [{speed / 0.3}]}}
  - {{link: front, velocities: [{speed / 0.35}]}}
  - {{link: fork, coordinates: [{steer}], velocities: [{steer_rate}]}}
"""


def leans(run, spacing):
    """Lean of the frame to the right at multiples of a time [rad]."""
    rows = [min(range(len(run.time)), key=lambda k: abs(run.time[k] - i * spacing)) for i in range(round(run.time[-1] / spacing) + 1)]
    return [math.asin(run.direction("frame", "y", row)[2]) for row in rows]


def seen_mode(run, spacing=0.05):
    """Eigenvalue s of one oscillation: x(t + h) = 2 e^(a h) cos(b h) x(t) - e^(2 a h) x(t - h) with s = a + i b, by least squares."""
    x = leans(run, spacing)
    triples = list(zip(x, x[1:], x[2:]))
    bb, bc, cc = (sum(f(a, b) for a, b, _ in triples) for f in (lambda a, b: b * b, lambda a, b: a * b, lambda a, b: a * a))
    yb, yc = sum(y * b for _, b, y in triples), sum(y * a for a, _, y in triples)
    det = bb * cc - bc * bc
    p, q = (yb * cc - yc * bc) / det, (yc * bb - yb * bc) / det  # x(t + h) = p x(t) + q x(t - h)
    return cmath.log(p / 2 + cmath.sqrt(p * p / 4 + q)) / spacing


def growth(run, start, end):
    """Mean rate of the logarithm of the lean [1/s]."""
    x = leans(run, 0.1)
    return math.log(abs(x[round(end / 0.1)] / x[round(start / 0.1)])) / (end - start)


# -------------------------------------------------------------------------------------------------------- piles of logs
def three_logs(friction, duration=1.5):
    """A log that lies on two that touch, on the ground, radius 0.1 m."""
    r, gap = 0.1, 1e-4
    x, z = r + gap, 2 * r * math.sin(math.radians(60)) + 2 * gap
    log = "shapes: [{type: capsule, radius: 0.1, length: 1, rpy: [1.5707963267948966, 0, 0]}]"
    return f"""
simulation: {{duration: {duration}}}
contact: {{friction: {friction}}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}}}
  - {{name: left, mass: 1, position: [{-x}, 0, {r + gap}], {log}}}
  - {{name: right, mass: 1, position: [{x}, 0, {r + gap}], {log}}}
  - {{name: top, mass: 1, position: [0, 0, {r + gap + z}], {log}}}
"""


def top_stays(run):
    return float(run.at("top/cz") > 0.25)


def log_in_row(degrees):
    """A log in the trough of two that are fixed side by side, on a slope."""
    angle, log = math.radians(degrees), "type: capsule, radius: 0.1, length: 1, rpy: [1.5707963267948966, 0, 0]"
    return f"""
simulation: {{duration: 3, gravity: [{G * math.sin(angle)}, 0, {-G * math.cos(angle)}]}}
contact: {{friction: 0.5}}
links:
  - {{name: bed, fixed: true, shapes: [{{{log}, position: [-0.1, 0, 0]}}, {{{log}, position: [0.1, 0, 0]}}, {{{log}, position: [0.3, 0, 0]}}]}}
  - {{name: top, mass: 1, position: [0, 0, {0.2 * math.sin(math.radians(60)) + 2e-4}], shapes: [{{{log}}}]}}
"""


# -------------------------------------------------------------------------------------------------------- SimBenchmark
def rolling_plate(x, y):
    """25 balls on a plate of 10 kg that a force pushes over the ground: the numbers of the test `rolling`."""
    balls = "\n".join(
        f"  - {{name: ball{5 * i + k}, mass: 1, shape: {{type: sphere, radius: 0.5}}, position: [{2 * i - 4}, {2 * k - 4}, 1.502]}}" for i in range(5) for k in range(5)
    )
    return f"""
simulation: {{duration: 4}}
contact: {{friction: 0.8, pairs: [{{a: plate, b: ground, friction: 0.4}}]}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}}}
  - {{name: plate, mass: 10, shape: {{type: box, size: [20, 20, 1]}}, position: [0, 0, 0.501]}}
{balls}
loads: [{{link: plate, force: [{x}, {y}, 0]}}]
"""


# A frictionless ball at 1.5 m/s meets another at half a radius from its centre: the normal is at 30 degrees.
OFF_CENTRE = """
simulation: {duration: 1, gravity: [0, 0, 0]}
contact: {friction: 0}
links:
  - {name: a, mass: 1, shape: {type: sphere, radius: 0.1}, position: [-0.4, 0, 0]}
  - {name: b, mass: 1, shape: {type: sphere, radius: 0.1}, position: [0, 0.1, 0]}
initial: [{link: a, velocities: [1.5, 0, 0, 0, 0, 0]}]
"""

ROUND_ON_PLATE = """
simulation: {duration: 1}
contact: {friction: 0.8, pairs: [{a: plate, b: ground, friction: 0}]}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: plate, mass: 1, shape: {type: box, size: [4, 1, 0.1]}, position: [0, 0, 0.0505]}
  - {name: log, mass: 1, shapes: [{type: cylinder, radius: 0.1, length: 0.3, rpy: [1.5707963267948966, 0, 0]}], position: [0, 0, 0.201]}
loads: [{link: plate, force: [4, 0, 0]}]
"""

PUSH = (150 - 0.4 * 35 * G) / 10  # of the plate, had it no balls: m/s^2
BALL_PULL = PUSH / (3.5 + 2.5)  # what the plate gives one ball: 7/2 of it over the mass is the plate's acceleration
PLATE, BALL = PUSH - 2.5 * BALL_PULL, BALL_PULL


def bouncing(restitution, duration):
    """A ball of 10 kg that falls from 5 m: the numbers of the test `bouncing`."""
    return f"""
simulation: {{duration: {duration}}}
contact: {{restitution: {restitution}}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}}}
  - {{name: ball, mass: 10, shape: {{type: sphere, radius: 0.1}}, position: [0, 0, 5]}}
"""


def fall(height):
    return math.sqrt(2 * height / G)


def peak(restitution, number):
    """Times between which the ball is in the air after an impact."""
    first, e = fall(4.9), restitution
    start = first + 2 * first * sum(e**k for k in range(1, number))
    return start, start + 2 * first * e**number


DT = ("simulation.dt=0.001",)
STONE = ("simulation.dt=0.00005", "simulation.integrator=second_order", "contact.model=penalty", "contact.stiffness=1e10")

LAG = "friction uses the contact force of the previous step"
LEVER = "of first order in the time step: the contact lever arm is that of the end of the step"
CLASSICS = [
    Row(
        "Furuta's pendulum: largest error of its energy in 60 s",
        furuta(2.5, 60),
        lambda r: energy_error(r, 2 * 0.2 * G * LENGTH / 2),
        0,
        0.01,
        "energy, share of 2 m g l",
        recommended=("simulation.dt=0.005",),
        known={"default": "second order in the step: its links turn at up to 19 rad/s"},
    ),
    Row("Furuta's pendulum: period of small oscillations", furuta(0.02, 10), lambda r: r.period("rod/cy", sum(r.range_of("rod/cy")) / 2), furuta_period(), 0.003 * furuta_period(), "det(K - w^2 M) = 0"),
    Row(
        "slider-crank at 10 rad/s: largest torque on the crank",
        SLIDER_CRANK,
        lambda r: max(map(abs, r.reactions.columns["crank/my"])),
        largest(crank_torque),
        0.01 * largest(crank_torque),
        "Lagrange, half of M' w^2",
    ),
    Row(
        "the same: largest force of the piston on its guide",
        SLIDER_CRANK,
        lambda r: max(map(abs, r.reactions.columns["piston/fz"])),
        largest(guide_force),
        0.01 * largest(guide_force),
        "Newton and Euler",
    ),
    Row(
        "the same: torque after 1.1 s",
        SLIDER_CRANK,
        lambda r: -r.reactions.at("crank/my", 1.1),
        crank_torque(11),
        0.01 * largest(crank_torque),
        "Lagrange, half of M' w^2",
        recommended=("simulation.dt=0.0005",),
        known={"default": "a row has the forces of the beginning of its step, where a signal leads the joint"},
    ),
    Row(
        "Painleve's rod, mu 0.8: rotation after 0.12 s [rad]",
        rod_scene(0.8, 0.12),
        lambda r: rod_angle(r, 0.12) - LEAN,
        sliding_rod(0.8, 0.12) - LEAN,
        0.02 * (sliding_rod(0.8, 0.12) - LEAN),
        "rigid rod that slides, Runge-Kutta",
        recommended=("contact.friction_iterations=20", "simulation.dt=0.002"),
        known={"default": LAG},
    ),
    Row(
        "Painleve's rod, mu 1.8, where no force holds it: rotation after 0.1 s [rad]",
        rod_scene(1.8, 0.1),
        lambda r: rod_angle(r, 0.1) - LEAN,
        jammed_rod(0.1) - LEAN,
        0.02 * (jammed_rod(0.1) - LEAN),
        "jams at once (impact without collision), then turns about its end",
        recommended=("contact.friction_iterations=20", "simulation.dt=0.002"),
        known={"default": LAG},
    ),
    Row("the same rod: gain of energy in 2 s", rod_scene(1.8, 2), lambda r: energy_gain(r, 0.5 * SLIDES**2), 0, 0.001, "friction only dissipates, share of the kinetic energy"),
    Row(
        "rattleback: time at which it turns back, 0 for never",
        RATTLE,
        lambda r: turning_time(r.time, stone_headings(r)),
        turning_time([2e-3 * k for k in range(len(RATTLE_HEADINGS))], RATTLE_HEADINGS),
        0.03 * 2.844,
        "equations of rolling, Runge-Kutta",
        recommended=STONE,
        known={"default": "an ellipsoid is a polyhedron there: friction over a face ends its spin"},
        long=True,
    ),
]

for speed, duration in ((3, 1.5), (5, 2.5), (7, 1.5)):
    for part in ("real", "imag"):
        right = getattr(WEAVE[speed], part)
        CLASSICS.append(
            Row(
                f"Whipple bicycle at {speed} m/s: weave, {'growth' if part == 'real' else 'angular frequency'}",
                bicycle(speed, WEAVE[speed], 0.002, duration),
                lambda r, part=part: getattr(seen_mode(r), part),
                right,
                0.01 * abs(WEAVE[speed]),
                "Meijaard et al. (2007), table 2",
                recommended=DT,
                known={"default": LEVER} if (speed, part) in ((3, "real"), (3, "imag"), (5, "imag"), (7, "imag")) else None,
            )
        )
CLASSICS.append(
    Row(
        "Whipple bicycle at 7 m/s: capsize, growth",
        bicycle(7, CAPSIZE[7], 0.002, 5),
        lambda r: growth(r, 1, 5),
        CAPSIZE[7],
        0.005,
        "Meijaard et al. (2007), table 2",
        recommended=DT,
        known={"default": LEVER},
    )
)

CLASSICS += [
    Row("three logs in a pile, mu 0.3", three_logs(0.3), top_stays, 1, 0.5, "stands for mu > tan 15 degrees = 0.268", recommended=("contact.smoothing=1e-11",)),
    Row("three logs in a pile, mu 0.24", three_logs(0.24), top_stays, 0, 0.5, "falls for mu < tan 15 degrees = 0.268"),
    Row("log in a row of logs, slope of 28 degrees", log_in_row(28), lambda r: float(r.at("top/cz") > 0.15), 1, 0.5, "rolls on above 30 degrees"),
    Row("log in a row of logs, slope of 32 degrees", log_in_row(32), lambda r: float(r.at("top/cx") > 0.15), 1, 0.5, "rolls on above 30 degrees"),
    Row("SimBenchmark rolling: speed of the plate after 4 s", rolling_plate(0, 150), lambda r: r.slope("plate/cy", 3.9, 4), PLATE * 3.95, 0.01 * PLATE * 4, "F, friction and 25 balls that roll"),
    Row("SimBenchmark rolling: speed of a ball", rolling_plate(0, 150), lambda r: r.slope("ball0/cy", 3.9, 4), BALL * 3.95, 0.01 * BALL * 4, "2/7 of the plate's"),
    Row(
        "SimBenchmark rolling, askew: speed of the plate",
        rolling_plate(75, 75 * math.sqrt(3)),
        lambda r: math.hypot(r.slope("plate/cx", 3.9, 4), r.slope("plate/cy", 3.9, 4)),
        PLATE * 3.95,
        0.01 * PLATE * 4,
        "the same: friction has no direction",
    ),
    Row(
        "cylinder on a free plate that is pushed: its acceleration",
        ROUND_ON_PLATE,
        lambda r: (r.slope("log/cx", 0.8, 0.9) - r.slope("log/cx", 0.2, 0.3)) / 0.6,
        1,
        0.01,
        "1/3 of the plate's, F / (M + m / 3)",
    ),
    Row(
        "balls that meet off centre, restitution 0: speed of the second",
        OFF_CENTRE,
        lambda r: math.hypot(r.mean_rate("b/cx", 0.8, 1), r.mean_rate("b/cy", 0.8, 1)),
        0.75 * math.cos(math.pi / 6),
        0.015 * 0.65,
        "v / 2 cos(30 degrees)",
        recommended=("contact.restitution=0.01",),
        known={"default": "the impact ends with the step, and the force has the direction of that time"},
    ),
    Row("balls that meet off centre: spin without friction", OFF_CENTRE, lambda r: r.spin("b", "z", 0.8, 1), 0, 1e-6, "the normal goes through the centre"),
    Row("SimBenchmark bouncing, restitution 1: energy after 20 s", bouncing(1, 20), lambda r: energy_error(r, 10 * G * 4.9), 0, 0.01, "energy, share of m g h"),
    Row(
        "SimBenchmark bouncing, restitution 0.8: height of the third rebound",
        bouncing(0.8, 6),
        lambda r: r.range_of("ball/cz", *peak(0.8, 3))[1] - 0.1,
        4.9 * 0.8**6,
        0.01 * 4.9 * 0.8**6,
        "e^2n h",
    ),
]
