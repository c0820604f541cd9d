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


SIGNALS = [
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
