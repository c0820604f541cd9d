#!/usr/bin/env python3
"""Draws docs/pictures/query-<method>.png: what each method of `sdrs query` answers, by `sdrs render`.

    scripts/draw_query.py [growth] [distance] [witness] [manifold] [--sdrs ./sdrs] [--work out/queries]

A question is asked, and bodies, points (balls) and normals (rods) of the answer are written as a scene of fixed links.
"""

import argparse
import json
import math
import os
import subprocess

BLUE, ORANGE, RED, GREEN, GREY = "#4477aa", "#ee8866", "#cc3311", "#228833", "#bbbbbb"


class Picture:
    """Shapes and links of a scene."""

    def __init__(self):
        self.links = []

    def body(self, shape, position, quaternion=(1, 0, 0, 0), color=GREY):
        if shape["type"] == "superellipsoid":
            shape = dict(shape, resolution=4)
        angle = 2 * math.acos(max(-1, min(1, quaternion[0])))
        sine = math.sin(angle / 2) or 1
        turn = [angle * c / sine for c in quaternion[1:]]
        place = {"position": list(position), "rotation_vector": turn}
        self.links.append({"name": f"link{len(self.links)}", "fixed": True, "color": color, "shapes": [dict(shape, **place)]})

    def ball(self, at, radius, color):
        self.body({"type": "sphere", "radius": radius, "resolution": 2}, at, color=color)

    def rod(self, start, end, radius, color):
        """A rod between two points."""
        along = [e - s for s, e in zip(start, end)]
        length = math.sqrt(sum(c * c for c in along))
        if length < 1e-9:
            return
        axis, cosine = (-along[1] / length, along[0] / length), along[2] / length
        sine = math.hypot(*axis)
        half = math.acos(max(-1, min(1, cosine))) / 2
        unit = (axis[0] / sine, axis[1] / sine) if sine > 1e-12 else (1, 0)
        quaternion = (math.cos(half), math.sin(half) * unit[0], math.sin(half) * unit[1], 0)
        middle = [(s + e) / 2 for s, e in zip(start, end)]
        self.body({"type": "cylinder", "radius": radius, "length": length}, middle, quaternion, color)

    def draw(self, options, name, *camera):
        path = os.path.join(options.work, f"{name}.yaml")
        scene = {"name": name, "contact": {"model": "none"}, "links": self.links}
        with open(path, "w", encoding="ascii") as file:
            json.dump(scene, file)
        subprocess.run([options.sdrs, "render", path, "-o", f"docs/pictures/query-{name}.png", "--no-labels", "-q", *camera],
                       check=True, stdout=subprocess.DEVNULL)


def ask(options, question):
    name = os.path.join(options.work, "question.jsonl")
    with open(name, "w", encoding="ascii") as file:
        json.dump(question, file)
    told = subprocess.run([options.sdrs, "query", name], capture_output=True, text=True, check=True).stdout
    return json.loads(told)


def beside(point, shift):
    return [p + s for p, s in zip(point, shift)]


def scaled(shape, factor):
    return dict(shape, size=[factor * s for s in shape["size"]])


BOX = {"type": "superellipsoid", "size": [0.5, 0.4, 0.3], "exponent": 4}
EGG = {"type": "superellipsoid", "size": [0.35, 0.35, 0.55], "exponent": 1}
TILT = [0.92388, 0, 0.38268, 0]
APART = [1.15, 0.1, 0.6]


def growth(options):
    """Left: the bodies, and the contact point scaled back onto each. Right: both grown by alpha until they touch."""
    told = ask(options, {"method": "growth", "a": BOX, "b": dict(EGG, position=APART, quaternion=TILT)})
    picture = Picture()
    right = [3.0, 0, 0]
    for shift, factor in (([0, 0, 0], 1), (right, told["alpha"])):
        picture.body(scaled(BOX, factor), shift, color=BLUE)
        picture.body(scaled(EGG, factor), beside(APART, shift), TILT, ORANGE)
    for key in ("witness_a", "witness_b"):
        picture.ball(told[key], 0.045, RED)
    touch = beside(told["point"], right)
    picture.rod(touch, beside(touch, [0, -0.7, 0]), 0.03, RED)  # towards the eye, out of the bodies
    picture.draw(options, "growth", "--view", "front", "--size", "960x400")


def distance(options):
    """The nearest points and what lies between them."""
    told = ask(options, {"method": "distance", "a": BOX, "b": dict(EGG, position=APART, quaternion=TILT)})
    picture = Picture()
    picture.body(BOX, [0, 0, 0], color=BLUE)
    picture.body(EGG, APART, TILT, ORANGE)
    for key in ("witness_a", "witness_b"):
        picture.ball(told[key], 0.045, RED)
    picture.rod(told["witness_a"], told["witness_b"], 0.015, RED)
    picture.draw(options, "distance", "--view", "front", "--size", "640x400")


def witness(options):
    """Nearest points (red), the samples that means are taken over (green), the smoothed points (white)."""
    cube = {"type": "points", "points": [[x, y, z] for x in (-0.4, 0.4) for y in (-0.4, 0.4) for z in (-0.4, 0.4)]}
    turned, place = [0.88, 0.2, 0.4, 0.15], [0, 0, 1.35]
    length = math.sqrt(sum(c * c for c in turned))
    turned = [c / length for c in turned]
    told = ask(options, {"method": "witness", "sampling": "fixed", "a": cube,
                         "b": dict(cube, position=place, quaternion=turned)})
    picture = Picture()
    picture.body(cube, [0, 0, 0], color=BLUE)
    picture.body(cube, place, turned, ORANGE)
    for point in told["samples_a"][1:]:
        picture.ball(point, 0.02, GREEN)
    for key in ("witness_a", "witness_b"):
        picture.ball(told[key], 0.03, RED)
    for key in ("smooth_a", "smooth_b"):
        picture.ball(told[key], 0.03, "#ffffff")
    picture.rod(told["witness_a"], told["witness_b"], 0.008, RED)
    picture.draw(options, "witness", "--azimuth", "-60", "--elevation", "30", "--size", "640x520")


def manifold(options):
    """Two cubes, one turned on the other, drawn apart: contacts of vertices (left) and edges (right), rods along the normals as
    long as the activity says."""
    from measure_contax import OVERLAP, TURN, boxes
    picture = Picture()
    cube = {"type": "box", "size": [1, 1, 1]}
    turn = [math.cos(TURN / 2), 0, 0, math.sin(TURN / 2)]
    for kind, cells, x in (("vertex_a", 4, 0), ("edge_a", 1, 2.2)):
        picture.body(cube, [x, 0, 0], color=BLUE)
        picture.body(cube, [x, 0, 1.9], turn, ORANGE)
        for contact in boxes(options, cells):
            strong = contact["activity"] if contact["distance"] < 0 else 0
            if contact["kind"] != kind or strong < 1e-3:
                continue
            at = beside(contact["point"], [x, 0, OVERLAP])
            longest = 0.35 if kind == "vertex_a" else 1.4  # of edges each crossing shares 1 among four
            picture.ball(at, 0.025, RED)
            picture.rod(at, beside(at, [-longest * strong * n for n in contact["normal"]]), 0.01, GREEN)
    picture.draw(options, "manifold", "--azimuth", "-65", "--elevation", "25", "--size", "960x560")


def main():
    methods = {"growth": growth, "distance": distance, "witness": witness, "manifold": manifold}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", default=list(methods))
    parser.add_argument("--sdrs", default="./sdrs")
    parser.add_argument("--work", default="out/queries")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    for name in options.methods:
        methods[name](options)


if __name__ == "__main__":
    main()
