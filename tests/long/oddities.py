"""Cases of strangers.py: unusual scales, densities and shapes, and impacts on spinning bodies, each against a closed form."""
import cmath
import csv
import math
import os

GRAVITY = 9.81


def turns_by(run, link, before, after):
    """Mean angular speed between two rows; by the chord of the quaternions, which tells small turns."""
    chord = math.dist(*([run.at(link, c, row) for c in ("qw", "qx", "qy", "qz")] for row in (before, after)))
    return 4 * math.asin(chord / 2) / (run.time[after] - run.time[before])


def lift(Run, folder, between):
    """The load is 1 g, 1 kg or 100 t."""
    told = []
    for mass in (1e-3, 1, 1e5):
        run = Run(folder, "wedge-lift", **{"links__block__mass": mass})
        told.append(between(run.speeds("block", "cz")[-1], 0.25 * 0.999, 0.25 * 1.001, f"{mass:g} kg rise"))
    return ", ".join(told)


def needle(Run, folder, between):
    run = Run(folder, "needle")
    told = between(-run.speeds("needle", "cz")[-1], 0.75 * 0.995, 0.75 * 1.005, "centre goes on")
    return told + ", " + between(turns_by(run, "needle", -2, -1), 0.75 * 0.995, 0.75 * 1.005, "turns")


def foil(Run, folder, between):
    """J = m R^2 (2 + cos(2 pi / n)) / 6 of a prism of n sides."""
    run = Run(folder, "foil")
    inertia = 2e-5 * 0.05**2 * (2 + math.cos(2 * math.pi / 24)) / 6
    closed = 0.2 * 2e-5 * GRAVITY * 0.05 / inertia
    spin, time = [l / inertia for l in run.solver["lz"]], run.solver["time"]
    told = between((spin[99] - spin[599]) / (time[599] - time[99]), 0.9995 * closed, 1.0005 * closed, "slows down by")
    return told + ", " + between(abs(spin[-1]), 0, 1e-3, "spins at the end")


def lever(Run, folder, between):
    run = Run(folder, "lever")
    masses = {link: 10.0**(-4 + k % 7) for k in range(80) for link in [f"pebble{k}"]}
    masses["board"] = 1
    fastest = max(abs(run.speeds(link, c)[-1]) for link in masses for c in ("cx", "cy", "cz"))
    told = [between(fastest, 0, 1e-4, "fastest")]
    weight = GRAVITY * sum(masses.values())
    moment = GRAVITY * sum(mass * run.at(link, "cx") for link, mass in masses.items())
    with open(os.path.join(folder, "contacts.csv"), encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    for post, place in (("left", -0.4), ("right", 0.4)):
        force = sum(float(row["fz"]) for row in rows if row["time"] == rows[-1]["time"] and (row["a"], row["b"]) == (post, "board"))
        # the board's feet of 5 cm: where on a post it presses is not told to better than that
        closed = (weight + moment / place) / 2
        told.append(between(force, 0.999 * closed, 1.001 * closed, f"{post} post carries (closed form {closed:.1f} N)"))
    return ", ".join(told)


def bullet(Run, folder, between):
    run = Run(folder, "bullet")
    inertia = (1 + 0.06**2) / 12
    impulse = 900 / (1e6 + 1 + 0.4**2 / inertia)
    told = between(-run.speeds("bar", "cz")[-1] / impulse, 0.999, 1.001, "bar leaves, of its share,")
    told += ", " + between(turns_by(run, "bar", -2, -1) * inertia / (impulse * 0.4), 0.999, 1.001, "turns")
    off = max(abs(p - run.solver["pz"][0]) for p in run.solver["pz"]) / 9e-4
    turned = max(abs(l - run.solver["ly"][0]) for l in run.solver["ly"]) / (9e-4 * 0.4)
    return told + ", " + between(max(off, turned), 0, 1e-9, "momenta off")


def feet_in_the_long_run(mass, length, inertia, half, slope):
    """Speed over the heel's and over the toe's edge where the hub is highest; half: angles of half a foot and half a gap."""
    about, height = inertia + mass * length**2, mass * GRAVITY * length
    kept = [(inertia + mass * length**2 * math.cos(2 * angle)) / about for angle in half]
    heel = toe = 0.0
    for _ in range(1000):
        toe = kept[0]**2 * (heel + 2 * height / about * (math.cos(slope - half[1]) - math.cos(slope + half[0])))
        heel = kept[1]**2 * (toe + 2 * height / about * (math.cos(slope - half[0]) - math.cos(slope + half[1])))
    top = [square + 2 * height / about * (math.cos(slope - angle) - math.cos(slope)) for square, angle in ((heel, half[1]), (toe, half[0]))]
    return [math.sqrt(square) for square in top]


def feet(Run, folder, between):
    closed, told = feet_in_the_long_run(3, 0.5, 0.15, (math.radians(8), math.pi / 8 - math.radians(8)), 0.15), []
    for dt, off in ((1e-4, 0.003), (1e-3, 0.01)):
        run = Run(folder, "rimless-feet", simulation__dt=dt, simulation__record_every=round(1e-3 / dt))
        height, rates = run.trajectory["wheel/cz"], []
        for i in range(2, len(height) - 2):
            if height[i - 1] < height[i] >= height[i + 1]:
                rates.append(turns_by(run, "wheel", i - 1, i + 1))
        last = sorted(rates[-2:])
        for found, wanted, edge in zip(last, closed, ("heel", "toe")):
            told.append(between(found, (1 - off) * wanted, (1 + off) * wanted, f"dt {dt:g}: over the {edge} (closed form {wanted:.4f})"))
    return ", ".join(told)


def meeting_from_afar(Run, folder, between):
    """Nothing acts from outside, whatever the blow is like; it is one, and no step of it ends far out of balance."""
    told = []
    for integrator in ("first_order", "second_order", "momentum"):
        run = Run(folder, "meeting-from-afar", simulation__integrator=integrator)
        off = max(abs(x) for c in ("px", "py", "pz") for x in run.solver[c])
        told.append(between(off / 200, 0, 1e-8, f"momentum off, {integrator}"))
        between(run.solver["kinetic"][-1] / run.solver["kinetic"][0], 0, 0.9, "kinetic energy left")
        between(max(run.solver["residual"]), 0, 1e-2, "out of balance")
    return ", ".join(told)


def blow_takes(scene, low, high):
    """A blow that gives back a part takes energy, however long the step that it is in; momentum is off by the solver's tolerance."""

    def judge(Run, folder, between):
        run = Run(folder, scene)
        off = max(abs(run.solver[c][-1] - run.solver[c][0]) for c in ("px", "py", "pz"))
        told = between(off / abs(run.solver["px"][0]), 0, 1e-5, "momentum off")
        total = run.solver["kinetic"]
        between(max(b - a for a, b in zip(total, total[1:])) / total[0], -1, 1e-9, "energy gained in a step")
        return told + ", " + between(total[-1] / total[0], low, high, "kinetic energy left")

    return judge


long_steps = blow_takes("long-steps", 0.75, 0.9)  # steps of 0.3 to 10 s, which begin the blow otherwise: 0.805 to 0.868
second_blow = blow_takes("second-blow", 0.79, 0.83)  # steps of 0.02 to 0.5 s: 0.794 to 0.808


def turntable(Run, folder, between):
    """m v' = F and 2/5 m R^2 w' = R up x F with v - Omega x p = R w x up there: v' = 2/7 Omega x v."""
    told = []
    for integrator in ("momentum", "second_order"):
        run = Run(folder, "turntable", simulation__integrator=integrator)
        ways = [complex(x, y) for x, y in zip(run.speeds("ball", "cx"), run.speeds("ball", "cy"))]
        begin = 3 * len(ways) // 10
        turned = sum(cmath.phase(b / a) for a, b in zip(ways[begin:], ways[begin + 1:]))
        closed = 2 / 7 * 5
        told.append(between(turned / (run.time[-1] - run.time[begin + 1]), 0.99 * closed, 1.01 * closed, f"way turns, {integrator}"))
        between(abs(ways[-1] / ways[begin]), 0.97, 1.03, "speed kept")
    return ", ".join(told)


ODDITIES = {"meeting-from-afar": meeting_from_afar, "long-steps": long_steps, "second-blow": second_blow, "turntable": turntable, "wedge-lift": lift, "needle": needle, "foil": foil, "lever": lever, "bullet": bullet, "rimless-feet": feet}
