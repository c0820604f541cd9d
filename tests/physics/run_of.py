"""A run as columns of numbers, and what is measured on it.

Positions [m], angles [rad], times [s]; world axes. Every quantity is taken from the poses of links, so that the
trajectory of another program is measured by the same functions.
"""

import bisect
import csv
import math


class Run:
    """Poses of links over time: columns `time`, `<link>/px` ... `<link>/qz`, `<link>/cx` ..."""

    def __init__(self, lines):
        reader = csv.reader(lines)
        names = next(reader)
        rows = [[float(word) for word in row] for row in reader]
        self.columns = {name: [row[k] for row in rows] for k, name in enumerate(names)}
        self.time = self.columns["time"]

    def add_centers(self, other):
        """Centres of mass of a run without them, which stand in the links as in another run of the same scene."""
        for name in [name for name in other.columns if name.endswith("/cx")]:
            link = name[:-3]
            if f"{link}/px" not in self.columns:
                continue
            local = [0.0, 0.0, 0.0]
            for i, axis in enumerate("xyz"):
                way = other.direction(link, axis, 0)
                local[i] = sum(
                    way[k] * (other.columns[f"{link}/c{x}"][0] - other.columns[f"{link}/p{x}"][0])
                    for k, x in enumerate("xyz")
                )
            for k, x in enumerate("xyz"):
                self.columns[f"{link}/c{x}"] = [
                    self.columns[f"{link}/p{x}"][row]
                    + sum(local[i] * self.direction(link, axis, row)[k] for i, axis in enumerate("xyz"))
                    for row in range(len(self.time))
                ]

    def at(self, name, time=None):
        """Value of a column at a time (default: the end), linear between rows."""
        values = self.columns[name]
        if time is None or time >= self.time[-1]:
            return values[-1]
        k = max(1, bisect.bisect_left(self.time, time))
        part = (time - self.time[k - 1]) / (self.time[k] - self.time[k - 1])
        return values[k - 1] + part * (values[k] - values[k - 1])

    def range_of(self, name, start=0.0, end=math.inf):
        """Smallest and largest value of a column within a span of time."""
        values = [value for time, value in zip(self.time, self.columns[name]) if start <= time <= end]
        return min(values), max(values)

    def mean_rate(self, name, start, end):
        """Mean rate of a column over a span of time."""
        return (self.at(name, end) - self.at(name, start)) / (end - start)

    def slope(self, name, start, end):
        """Rate of a column by a least squares line through the rows of a span of time."""
        points = [(t, v) for t, v in zip(self.time, self.columns[name]) if start <= t <= end]
        mean_t = sum(t for t, _ in points) / len(points)
        mean_v = sum(v for _, v in points) / len(points)
        return sum((t - mean_t) * (v - mean_v) for t, v in points) / sum((t - mean_t) ** 2 for t, _ in points)

    def quaternion(self, link, row):
        return [self.columns[f"{link}/q{axis}"][row] for axis in "wxyz"]

    def turned(self, link, axis):
        """Angle about a world axis, added up row by row: right while a link turns less than pi from row to row."""
        k, total, angles = "xyz".index(axis) + 1, 0.0, [0.0]
        for row in range(1, len(self.time)):
            p, q = self.quaternion(link, row - 1), self.quaternion(link, row)
            w = sum(a * b for a, b in zip(p, q))
            # The vector part of q times the conjugate of p.
            vector = [
                0.0,
                -q[0] * p[1] + q[1] * p[0] - q[2] * p[3] + q[3] * p[2],
                -q[0] * p[2] + q[2] * p[0] - q[3] * p[1] + q[1] * p[3],
                -q[0] * p[3] + q[3] * p[0] - q[1] * p[2] + q[2] * p[1],
            ]
            size = math.sqrt(sum(x * x for x in vector))
            if size > 0:
                total += 2 * math.atan2(size, abs(w)) * vector[k] / size * (1 if w >= 0 else -1)
            angles.append(total)
        self.columns[f"{link}/turned_{axis}"] = angles
        return f"{link}/turned_{axis}"

    def spin(self, link, axis, start, end):
        """Mean angular velocity about a world axis over a span of time [rad/s]."""
        return self.mean_rate(self.turned(link, axis), start, end)

    def direction(self, link, axis, row):
        """A link's axis `x`, `y` or `z` in the world at a row."""
        w, x, y, z = self.quaternion(link, row)
        return {
            "x": (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
            "y": (2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
            "z": (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)),
        }[axis]

    def tilt(self, link, start=0.0, end=math.inf):
        """Largest angle between a link's z axis and the vertical within a span of time [rad]."""
        return max(
            math.acos(max(-1.0, min(1.0, self.direction(link, "z", row)[2])))
            for row, time in enumerate(self.time)
            if start <= time <= end
        )

    def crossings(self, name, level=0.0):
        """Times at which a column rises through a level."""
        values = self.columns[name]
        return [
            self.time[k - 1] + (level - values[k - 1]) / (values[k] - values[k - 1]) * (self.time[k] - self.time[k - 1])
            for k in range(1, len(values))
            if values[k - 1] < level <= values[k]
        ]

    def period(self, name, level=0.0):
        """Mean time between rises through a level."""
        times = self.crossings(name, level)
        return (times[-1] - times[0]) / (len(times) - 1)
