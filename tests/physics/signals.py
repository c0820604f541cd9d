"""Forces, torques and targets that change in time: ramps, sines, jumps and pushes between the time steps."""

import cmath
import math

from row import Row

BODY = """
simulation: {duration: 1, gravity: [0, 0, 0]}
links: [{name: body, mass: 1, shape: {type: box, size: [1, 1, 1]}}]
"""
WHEEL = """
simulation: {duration: 1}
links: [{name: wheel, mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], joint: {type: hinge, axis: [0, 0, 1]}, shape: {type: box, size: [0.5, 0.5, 0.5]}}]
"""
OMEGA = 2 * math.pi * 1.3
SINE = "{type: sines, terms: [{amplitude: 1, frequency: 1.3}]}"


def cart(duration, gains, target):
    """A cart of 1 kg on a slide that a drive of type pd moves."""
    return f"""
simulation: {{duration: {duration}}}
links: [{{name: cart, mass: 1, joint: {{type: slide, axis: [1, 0, 0]}}, shape: {{type: box, size: [1, 1, 1]}}}}]
controllers: [{{type: pd, link: cart, {gains}, target: {target}}}]
"""


def steady(k, c, t):
    """Steady state of x'' = k (p - x) + c (p' - x') with the target p = sin(OMEGA t)."""
    gain = (k + 1j * OMEGA * c) / (k - OMEGA**2 + 1j * OMEGA * c)
    return (gain * cmath.exp(1j * OMEGA * t)).imag


def driven_spring(k, t):
    """x'' = k (sin(OMEGA t) - x) from rest."""
    w = math.sqrt(k)
    return k / (k - OMEGA**2) * (math.sin(OMEGA * t) - OMEGA / w * math.sin(w * t))


CRATE = """
simulation: {duration: 1}
contact: {friction: 0.4}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: crate, mass: 10, shape: {type: box, size: [0.4, 0.4, 0.4]}, position: [0, 0, 0.201]}
"""
SLIDE = """
simulation: {duration: 1, gravity: [0, 0, 0]}
links: [{name: body, mass: 10, shape: {type: box, size: [0.4, 0.4, 0.4]}, joint: {type: slide, axis: [1, 0, 0], friction: 39.24}}]
"""

BELT = """
simulation: {duration: 1}
contact: {friction: 0.5}
links:
  - {name: belt, joint: {type: slide, axis: [1, 0, 0]}, mass: 1, shapes: [{type: box, size: [20, 1, 0.1], position: [0, 0, -0.05]}]}
  - {name: box, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.1]}, position: [0, 0, 0.0504]}
initial: [{link: box, velocities: [1, 0, 0, 0, 0, 0]}]
"""


def pushed(duration, force, friction, mass):
    """Distance that a body slides if a force above its friction acts for a time."""
    a = (force - friction) / mass
    return a * duration**2 / 2 + (a * duration) ** 2 / (2 * friction / mass)


SIGNALS = [
    Row(
        "crate that 60 N push above friction from 0.2 to 0.5 s: where it stops",
        CRATE
        + "loads: [{link: crate, point: [-0.2, 0, 0], force: {type: keyframes, times: [0.2, 0.2001, 0.5, 0.5001], values: [[0, 0, 0], [60, 0, 0], [60, 0, 0], [0, 0, 0]]}}]\n",
        lambda r: r.at("crate/cx"),
        pushed(0.3, 60, 39.24, 10),
        0.0014,
        "a t^2 / 2 + (a t)^2 / (2 mu g), a = F / m - mu g",
    ),
    Row(
        "the same from 0.2033 to 0.5047 s, between the ends of steps",
        CRATE
        + "loads: [{link: crate, point: [-0.2, 0, 0], force: {type: keyframes, times: [0.2033, 0.2034, 0.5047, 0.5048], values: [[0, 0, 0], [60, 0, 0], [60, 0, 0], [0, 0, 0]]}}]\n",
        lambda r: r.at("crate/cx"),
        pushed(0.3014, 60, 39.24, 10),
        0.0014,
        "a t^2 / 2 + (a t)^2 / (2 mu g), a = F / m - mu g",
    ),
    Row(
        "slide with dry friction, pushed by 60 N from 0.2 to 0.5 s: where it stops",
        SLIDE + "controllers: [{type: torque, link: body, target: {type: keyframes, times: [0.2, 0.2001, 0.5, 0.5001], values: [0, 60, 60, 0]}}]\n",
        lambda r: r.at("body/cx"),
        pushed(0.3, 60, 39.24, 10),
        0.00014,
        "a t^2 / 2 + (a t)^2 m / (2 F_f), a = (F - F_f) / m",
    ),
    Row(
        "slide with dry friction, pulled by a spring whose target jumps by 0.15 m: where it stops",
        SLIDE + "controllers: [{type: pd, link: body, position_gain: 400, target: {type: keyframes, times: [0.2033, 0.2034], values: [0, 0.15]}}]\n",
        lambda r: r.at("body/cx"),
        2 * (0.15 - 39.24 / 400),
        0.0001,
        "2 (target - F_f / k)",
    ),
    Row(
        "box on a belt of 1 m/s that stops at 0.5033 s, between the ends of steps: distance that it slides",
        BELT + "controllers: [{link: belt, type: prescribed, velocity: {type: keyframes, times: [0.5033, 0.5034], values: [1, 0]}}]\n",
        lambda r: r.at("box/cx") - r.at("belt/cx"),
        1 / (2 * 0.5 * 9.81),
        0.001,
        "v^2 / (2 mu g)",
    ),
    Row(
        "box on a belt that moves by 0.5 m in 0.5 s and stops: distance that it slides",
        BELT + "controllers: [{link: belt, type: prescribed, target: {type: keyframes, times: [0, 0.5], values: [0, 0.5]}}]\n",
        lambda r: r.at("box/cx") - r.at("belt/cx"),
        1 / (2 * 0.5 * 9.81),
        0.001,
        "v^2 / (2 mu g)",
    ),
    Row(
        "body that a weld releases at 0.2033 s: fall after 0.5 s",
        """
simulation: {duration: 0.5}
links: [{name: body, mass: 1, shape: {type: box, size: [0.1, 0.1, 0.1]}}]
closures: [{type: weld, a: body, active: {type: keyframes, times: [0.2033, 0.2034], values: [1, 0]}}]
""",
        lambda r: r.at("body/cz"),
        -9.81 / 2 * (0.5 - 0.20335) ** 2,
        0.0005,
        "g t^2 / 2",
    ),
    Row(
        "force that grows from 0 to 6 N in 1 s: displacement of 1 kg",
        BODY + "loads: [{link: body, force: {type: keyframes, times: [0, 1], values: [[0, 0, 0], [6, 0, 0]]}}]\n",
        lambda r: r.at("body/cx"),
        1,
        0.001,
        "a t^3 / 6",
    ),
    Row(
        "force 10 N cos(2 pi 1.3 Hz t): displacement after 1 s",
        BODY + "loads: [{link: body, force: {type: sines, terms: [[{amplitude: 10, frequency: 1.3, phase: 1.5707963267948966}], [], []]}}]\n",
        lambda r: r.at("body/cx"),
        10 * (1 - math.cos(OMEGA)) / OMEGA**2,
        0.002,
        "F / (m w^2) (1 - cos w t)",
    ),
    Row(
        "push of 6 N from 0.2033 to 0.5047 s, between the ends of steps: displacement",
        BODY
        + "loads: [{link: body, force: {type: keyframes, times: [0.2033, 0.2034, 0.5047, 0.5048], values: [[0, 0, 0], [6, 0, 0], [6, 0, 0], [0, 0, 0]]}}]\n",
        lambda r: r.at("body/cx"),
        3 * ((1 - 0.20335) ** 2 - (1 - 0.50475) ** 2),
        0.0012,
        "F / m (t - t_0)^2 / 2, from both ends",
    ),
    Row(
        "torque on a wheel that grows from 0 to 0.6 N m in 1 s: angle",
        WHEEL + "loads: [{link: wheel, torque: {type: keyframes, times: [0, 1], values: [[0, 0, 0], [0, 0, 0.6]]}}]\n",
        lambda r: r.at(r.turned("wheel", "z")),
        1,
        0.001,
        "a t^3 / 6",
    ),
    Row(
        "load of 25 N m on a wheel for 10 s, to 4 turns in a step: kinetic energy",
        WHEEL.replace("duration: 1", "duration: 10") + "loads: [{link: wheel, torque: [0, 0, 25]}]\n",
        lambda r: r.solver["kinetic"][-1],
        0.05 * (250 * 9.995) ** 2,
        600,
        "I (m t / I)^2 / 2 in the middle of the last step",
    ),
    Row(
        "velocity drive whose target grows to 2 rad/s in 1 s: angle",
        WHEEL + "controllers: [{type: velocity, link: wheel, damping_gain: 100, target: {type: keyframes, times: [0, 1], values: [0, 2]}}]\n",
        lambda r: r.at(r.turned("wheel", "z")),
        1 - 0.002,
        0.001,
        "a t^2 / 2 - a t I / c",
    ),
    Row(
        "pd drive that follows a ramp of 1 m/s: position after 1 s",
        cart(1, "position_gain: 400, damping_gain: 10", "{type: keyframes, times: [0, 1], values: [0, 1]}"),
        lambda r: r.at("cart/cx"),
        1,
        0.002,
        "no error in the steady state",
    ),
    Row(
        "pd drive that follows a sine of 1.3 Hz: position in the steady state",
        cart(3, "position_gain: 400, damping_gain: 10", SINE),
        lambda r: r.at("cart/cx"),
        steady(400, 10, 3),
        0.003,
        "amplitude (k + i w c) / (k - m w^2 + i w c)",
    ),
    Row(
        "spring whose end moves as a sine of 1.3 Hz: position after 1 s",
        cart(1, "position_gain: 100", SINE),
        lambda r: r.at("cart/cx"),
        driven_spring(100, 1),
        0.04,
        "k / (k - m w^2) (sin w t - w / w_0 sin w_0 t)",
    ),
    Row(
        "spring of 400 N/m whose target jumps by 1 m at 0.02 s: position 0.08 s later",
        cart(0.1, "position_gain: 400", "{type: keyframes, times: [0.02, 0.02001], values: [0, 1]}"),
        lambda r: r.at("cart/cx"),
        1 - math.cos(20 * (0.1 - 0.020005)),
        0.01,
        "1 - cos w_0 t",
    ),
]
