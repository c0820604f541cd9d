"""Independent models of locomotion: the snake of scenes/snake.yaml, and a base on four mecanum wheels."""

import math

G = 9.81


def snake_speed(duration=5.0, dt=1e-3, after=2.0):
    """Mean speed [m/s] along +x of the head of scenes/snake.yaml, by the momentum of the whole chain.

    Eight bars have prescribed joint angles 0.5 sin(2 pi t - 0.8976 k). Unknown are the head's velocity and rate; they
    follow from the linear and the angular momentum, which friction changes. Each bar stands on the four corners of its
    box, with a quarter of its weight on each. Friction is -N (mu_a^2 u_a, mu_c^2 u_c) / |(mu_a u_a, mu_c u_c)|.
    """
    along, across, mass, length, width, links = 0.1, 0.8, 0.3, 0.11, 0.06, 8
    inertia, soft = mass * (length**2 + width**2) / 12, 2e-3
    corners = [(x, y) for x in (-length / 2, length / 2) for y in (-width / 2, width / 2)]
    px = py = spin = x0 = y0 = heading = 0.0
    begun = None
    for step in range(round(duration / dt)):
        t = step * dt
        if begun is None and t >= after:
            begun = x0
        angle, rate, bars = heading, 0.0, []
        cx = cy = vx = vy = 0.0  # of the bar's centre, from the head's, without the head's motion
        for k in range(links):
            if k > 0:
                jx, jy = cx - 0.06 * math.cos(angle), cy - 0.06 * math.sin(angle)
                jvx, jvy = vx + 0.06 * rate * math.sin(angle), vy - 0.06 * rate * math.cos(angle)
                phase, grown = 2 * math.pi * t - 0.8976 * k, min(1, t / 0.5)
                angle += grown * 0.5 * math.sin(phase)
                rate += grown * math.pi * math.cos(phase) + (math.sin(phase) if t < 0.5 else 0)
                cx, cy = jx - 0.06 * math.cos(angle), jy - 0.06 * math.sin(angle)
                vx, vy = jvx + 0.06 * rate * math.sin(angle), jvy - 0.06 * rate * math.cos(angle)
            bars.append((cx, cy, vx, vy, angle, rate))
        # momentum = mass matrix (V, W) + that of the prescribed motion; spin is about the head's centre
        sx, sy = sum(b[0] for b in bars) * mass, sum(b[1] for b in bars) * mass
        turn = sum(mass * (b[0] ** 2 + b[1] ** 2) + inertia for b in bars)
        ax, ay = px - mass * sum(b[2] for b in bars), py - mass * sum(b[3] for b in bars)
        az = spin - sum(mass * (b[0] * b[3] - b[1] * b[2]) + inertia * b[5] for b in bars)
        whole = mass * links
        w = (az - (sx * ay - sy * ax) / whole) / (turn - (sx**2 + sy**2) / whole)
        u, v = (ax + sy * w) / whole, (ay - sx * w) / whole
        fx = fy = torque = 0.0
        for cx, cy, vx, vy, angle, rate in bars:
            c, s = math.cos(angle), math.sin(angle)
            for x, y in corners:
                rx, ry = cx + c * x - s * y, cy + s * x + c * y
                ux = u - w * ry + vx - rate * (ry - cy)
                uy = v + w * rx + vy + rate * (rx - cx)
                ua, uc = c * ux + s * uy, c * uy - s * ux
                size = math.sqrt((along * ua) ** 2 + (across * uc) ** 2 + (across * soft) ** 2)
                fa, fc = (-mass * G / 4 * mu**2 * slip / size for mu, slip in ((along, ua), (across, uc)))
                gx, gy = c * fa - s * fc, s * fa + c * fc
                fx, fy, torque = fx + gx, fy + gy, torque + rx * gy - ry * gx
        # the head's centre moves: d(spin)/dt = torque - V x P
        spin += dt * (torque - (u * py - v * px))
        px, py = px + dt * fx, py + dt * fy
        x0, y0, heading = x0 + dt * u, y0 + dt * v, heading + dt * w
    return (x0 - begun) / (duration - after)


MECANUM = (0.05, 0.012, 9, 0.15, 0.12)  # wheel's and roller's radius [m], rollers a wheel, half wheelbase and track [m]


def mecanum(speeds, duration=1.5):
    """A base of 5 kg on four mecanum wheels with these rates [rad/s]: front left and right, rear left and right.

    The rollers are ellipsoids at 45 degrees. Their outline follows the wheel's circle to the fourth order.
    """
    radius, thick, count, front, side = MECANUM
    out = radius - thick
    long = math.sqrt(2 * out * thick)
    places = ((front, side, 1), (front, -side, -1), (-front, side, -1), (-front, -side, 1))
    links, drives = [], []
    for name, (x, y, hand), speed in zip(("fl", "fr", "rl", "rr"), places, speeds):
        links.append(f"  - {{name: {name}, parent: base, mass: 0.2, inertia: [2e-4, 3e-4, 2e-4, 0, 0, 0], joint: {{type: hinge, axis: [0, 1, 0], position: [{x}, {y}, 0]}}}}")
        drives.append(f"  - {{link: {name}, type: velocity, target: {speed}, damping_gain: 10}}")
        for k in range(count):
            angle, half = 2 * math.pi * k / count, math.sqrt(0.5)
            links.append(
                f"  - {{name: {name}{k}, groups: [rollers], parent: {name}, mass: 0.01, "
                f"joint: {{type: hinge, axis: [{hand * half!r}, {half!r}, 0], position: [{out * math.sin(angle)!r}, 0, {out * math.cos(angle)!r}], rpy: [0, {angle!r}, 0]}}, "
                f"shapes: [{{type: superellipsoid, exponent: 1, size: [{thick}, {long!r}, {thick}], rpy: [0, 0, {-hand * math.pi / 4!r}]}}]}}"
            )
    return f"""
simulation: {{duration: {duration}}}
contact: {{friction: 0.8, exclude: [[rollers, rollers]]}}
links:
  - {{name: ground, fixed: true, shape: {{type: half_space}}}}
  - {{name: base, mass: 5, inertia: [0.05, 0.05, 0.1, 0, 0, 0], position: [0, 0, {radius + 2e-4!r}]}}
{chr(10).join(links)}
controllers:
{chr(10).join(drives)}
"""


def mecanum_share():
    """A roller that has turned by phi from below lets its wheel go sideways at w R cos(phi): the mean over a roller."""
    return math.sin(math.pi / MECANUM[2]) / (math.pi / MECANUM[2])
