"""Tasks with every kind of variable that the schema names, over one scene, and what `sdrs optimize` says of their gradients."""

import csv
import json
import os
import pathlib
import struct
import subprocess

BOX = {"type": "box", "size": [0.2, 0.1, 0.15]}
EGG = {"type": "superellipsoid", "size": [0.1, 0.08, 0.06], "exponent": 1.5}


def hinge(y, **more):
    return {"type": "hinge", "axis": [0, 1, 0], "position": [0, y, 1], **more}


# Bodies in contact, an arm of every kind of drive, closed loops, tendons and smooth shapes, far from one another.
SCENE = {
    "simulation": {"dt": 0.005, "steps": 10, "integrator": "first_order"},
    "contact": {"friction": 0.3, "support": 2e-3, "stiffness": 1e-7, "smoothing": 1e-4, "rest_speed": 0.02, "restitution": 0.1,
                "rolling": 0.01, "spinning": 0.01, "static_friction": 0.5, "stribeck_speed": 0.8,
                "pairs": [{"a": "ground", "b": "box", "friction": 0.2, "restitution": 0.4, "rolling": 0.02, "spinning": 0.02,
                           "static_friction": 0.4, "stribeck_speed": 0.9},
                          {"a": "ground", "b": "skate", "friction": [0.1, 0.3], "friction_axis": [1, 0.4, 0.2]}]},
    "shapes": {"ground": {"type": "half_space"}, "box": BOX},
    "links": [
        {"name": "ground", "fixed": True, "shape": "ground"},
        {"name": "box", "shape": BOX, "mass": 1, "position": [0, 0, 0.145], "rotation_vector": [0.3, 0.5, 0.1]},
        {"name": "other", "shape": "box", "mass": 1, "friction": [0.2, 0.4], "friction_axis": [1, 0.4, 0.2], "static_friction": 0.6,
         "stribeck_speed": 0.7, "restitution": 0.3, "rolling": 0.01, "spinning": 0.01,
         "position": [1, 0, 0.13], "rotation_vector": [0.5, 0.2, 0.1]},
        {"name": "plain", "shape": "box", "mass": 1, "position": [2, 0, 0.13], "rotation_vector": [0.5, 0.2, 0.1]},
        {"name": "skate", "shape": "box", "mass": 1, "position": [3, 0, 0.13], "rotation_vector": [0.5, 0.2, 0.1]},
        {"name": "arm", "shape": "box", "mass": 0.4,
         "joint": hinge(2, damping=0.02, stiffness=0.3, friction=0.05, static_friction=0.08, stribeck_speed=0.5, armature=0.01)},
        {"name": "hand", "parent": "arm", "shape": "box", "density": 160, "joint": {"type": "ball", "position": [0.2, 0, 0]}},
        {"name": "gate", "mass": 1, "shape": "box", "position": [0.1, 5, 2], "rotation_vector": [0.2, 0.1, 0.3]},
        {"name": "bob", "mass": 0.7, "shape": "box", "position": [1, 6, 2]},
        {"name": "rack", "mass": 0.3, "shape": "box", "joint": {"type": "slide", "axis": [1, 0, 0.5], "position": [0, 8, 1]}},
        {"name": "pinion", "mass": 0.4, "shapes": [{"shape": "box", "position": [0.1, 0, 0]}], "joint": hinge(9)},
        {"name": "wheel", "mass": 0.4, "shapes": [{"shape": "box", "position": [0.1, 0, 0]}], "joint": hinge(10)},
        {"name": "pulled", "mass": 0.5, "shape": "box", "joint": hinge(12)},
        {"name": "egg", "mass": 1, "shape": EGG, "position": [0, 14, 2]},
        {"name": "shuttle", "mass": 0.5, "shape": "box",
         "joint": {"type": "slide", "axis": [1, 0, 0], "position": [0, 16, 1], "limits": [0, 0.05], "limit_restitution": 0.5}},
    ],
    "closures": [
        {"type": "hinge", "a": "gate", "point": [0, 5.1, 2.2], "axis": [0.2, 1, 0.4]},
        {"type": "distance", "a": "bob", "point": [1.05, 6.05, 2.05], "axis": [0.2, 0.1, 1], "length": 0.4},
    ],
    "couplings": [{"link": "rack", "of": "pinion", "ratio": 0.2}, {"link": "wheel", "of": "pinion", "ratio": 3, "offset": -0.1}],
    "tendons": [{"points": [{"link": "ground", "point": [0.3, 12, 1.3]}, {"link": "pulled", "point": [0.1, 0, 0.05]}],
                 "wrap": [{"type": "cylinder", "radius": 0.03, "position": [0.2, 12, 1.19], "axis": [0, 1, 0.1]}],
                 "stiffness": 40, "rest_length": 0.2, "friction": 0.5, "tension": {"type": "keyframes", "times": [0, 1], "values": [[3], [4]]}}],
    "bushings": [{"a": "pulled", "b": "ground", "frame_a": {"position": [0.1, 0, 0.05]}, "frame_b": {"position": [0.2, 12, 1.1], "rpy": [0.1, 0.2, 0]},
                  "stiffness": [20, 30, 40, 0.2, 0.3, 0.4], "damping": [0.1, 0.2, 0.1, 0.01, 0.01, 0.01], "preload": [0.2, 0, 0.1, 0, 0.01, 0]}],
    "controllers": [
        {"link": "arm", "type": "pd", "position_gain": 4, "velocity_gain": 0.02, "damping_gain": 0.1, "max_force": 3, "delay": 0.011,
         "target": {"type": "sines", "offset": 0.1, "terms": [{"amplitude": 0.5, "frequency": 2, "phase": 0.3}]},
         "feedback": {"measures": ["arm/angle/rate", "hand/wx"], "matrix": [[0.1, 0.05]]}},
    ],
    "loads": [{"link": "box", "force": [1, 0.2, 0.3], "torque": [0.01, 0.02, 0.03]}],
    "initial": [
        {"link": "box", "velocities": [1, 0.3, -0.9, 0.2, 0.1, 0]},
        {"link": "other", "velocities": [0.5, 0.3, -0.9, 0.2, 0.1, 0]},
        {"link": "plain", "velocities": [0.5, 0.3, -0.9, 0.2, 0.1, 0]},
        {"link": "skate", "velocities": [0.5, 0.3, -0.9, 0.2, 0.1, 0]},
        {"link": "arm", "velocities": [1]},
        {"link": "hand", "coordinates": [0.5, 0.5, 0.5, 0.5], "velocities": [0.3, -1, 2]},
        {"link": "pinion", "coordinates": [0.4], "velocities": [2]},
        {"link": "rack", "velocities": [0.4]},
        {"link": "wheel", "coordinates": [1.1], "velocities": [6]},
        {"link": "gate", "velocities": [0.1, 0, 0.2, 0.5, 0.3, 0.2]},
        {"link": "egg", "velocities": [0, 0.2, -1, 3, 2, 1]},
        {"link": "shuttle", "coordinates": [0.025], "velocities": [3]},
    ],
}
# One body half in water; a fluid around all of the others would take long.
IN_WATER = {
    "simulation": SCENE["simulation"], "contact": {"model": "none"},
    "fluid": {"density": 50, "viscosity": 0.2, "velocity": [0.3, 0.1, 0.05], "level": 0.15},
    "links": [link for link in SCENE["links"] if link["name"] == "box"][:1],
    "initial": [start for start in SCENE["initial"] if start["link"] == "box"],
}
MOVING = ["box", "other", "plain", "skate", "hand", "gate", "bob", "rack", "wheel", "pulled", "egg", "shuttle"]
LOSS = [{"type": "point", "name": link, "link": link, "point": [0.1, 0.05, 0.02], "target": [0.4, 0.2, 0.1]} for link in MOVING]

PARAMETERS = {
    "mass": {"links": ["box", "hand"]}, "center": {"link": "arm"}, "inertia": {"link": "arm"}, "size": {"link": "box"},
    "damping": {"links": ["arm", "hand"]}, "joint_stiffness": {"link": "arm"}, "joint_friction": {"link": "arm"}, "armature": {"link": "arm"},
    **{word: {"link": "shuttle"} for word in ("lower_limit", "upper_limit", "limit_restitution")},
    "axis": {"link": "arm"}, "rotation": {"links": ["arm", "hand"]}, "shape_size": {"link": "egg"}, "shape_form": {"link": "egg"},
    **{f"link_{word}": {"link": "other"} for word in ("friction", "friction_along", "static_friction", "stribeck_speed",
                                                       "restitution", "rolling", "spinning")},
    **{f"pair_{word}": {"a": "ground", "b": "box"} for word in ("friction", "static_friction", "stribeck_speed", "restitution",
                                                                "rolling", "spinning")},
    "pair_friction_along": {"a": "ground", "b": "skate"},
    "closure_point": {"a": "gate"}, "closure_axis": {"a": "gate"}, "closure_length": {"a": "bob"}, "ratio": {"link": "rack"},
    "offset": {"link": "wheel"}, **{f"tendon_{word}": {"link": "pulled"} for word in ("point", "stiffness", "rest_length", "friction", "wrap_radius",
                                                                                           "wrap_position", "wrap_axis")},
    **{f"bushing_{word}": {"link": "pulled"} for word in ("stiffness", "damping", "preload", "position_a", "position_b")},
    "joint_static_friction": {"link": "arm"}, **{f"fluid_{word}": {} for word in ("density", "viscosity", "velocity", "level")},
    **{word: {} for word in ("gravity", "friction", "barrier_distance", "stiffness", "smoothing", "rest_speed", "restitution", "rolling",
                             "spinning", "static_friction", "stribeck_speed")},
}
CONTROL = {
    **{word: {"link": "arm", "of": ["drives"], "parameters": [word]}
       for word in ("values", "amplitude", "frequency", "phase", "delay", "position_gain", "velocity_gain", "damping_gain",
                    "max_force", "feedback")},
    "forces": {"link": "box", "of": ["forces"]}, "torques": {"link": "box", "of": ["torques"]},
    "tensions": {"link": "pulled", "of": ["tensions"]},
}
# A foot with a round edge that lands and slides; its radius changes contact and mass.
ROUNDED = {
    "scene": {
        "simulation": {"dt": 0.005, "steps": 30}, "contact": {"friction": 0.3},
        "links": [
            {"name": "ground", "fixed": True, "shape": {"type": "half_space"}},
            {"name": "foot", "density": 900, "position": [0, 0, 0.035], "rpy": [0.05, 0.1, 0], "shape": {
                "type": "rounded_points", "radius": 0.02,
                "points": [[-0.08, -0.03, 0], [-0.08, 0.03, 0], [0.1, -0.045, 0], [0.1, 0.045, 0], [0, 0, 0.06]]}},
        ],
        "initial": [{"link": "foot", "velocities": [0.4, 0.1, -0.3, 0, 0, 1]}],
    },
    "loss": [{"type": "point", "link": "foot", "target": [0.2, 0.1, 0.1]}],
    "design": {"mass": "density"}, "parameters": [{"type": "size", "link": "foot", "lengths": ["radius"]}],
}
BLOCKS = {
    "rounded_points": ROUNDED,
    "vertices": {"design": {"vertices": [{"link": "box"}]}}, "cage": {"design": {"cage": [{"link": "box", "cells": [1, 1, 1]}]}},
    "attachments": {"design": {"connect": False, "attachments": [{"link": "arm"}]}},
    "coordinates": {"initial": [{"link": "arm", "coordinates": True},
                                {"links": ["hand", "box"], "coordinates": True, "turns": True}]},
    "velocities": {"initial": [{"links": ["arm", "hand", "box"], "velocities": True}]},
}


def task_of(varies):
    return {"name": "task", "scene": SCENE, "loss": LOSS, "optimizer": {"type": "gradient", "tolerance": 1e-7, "iterations": 1}, **varies}


def in_groups(words):
    """Lists of words that share a task: in the short form all, with SDRS_LONG each has its own."""
    return [[word] for word in words] if os.environ.get("SDRS_LONG") else [list(words)]


def tasks():
    """Pairs of a name and a task: types of parameters, numbers of control, blocks of design and start."""
    for wet in (False, True):
        for kinds in in_groups([kind for kind in PARAMETERS if kind.startswith("fluid_") == wet]):
            varies = {"parameters": [{"type": kind, **PARAMETERS[kind]} for kind in kinds]}
            if wet:
                varies |= {"scene": IN_WATER, "loss": LOSS[:1]}
            yield "parameters-" + "+".join(kinds), task_of(varies)
    for words in in_groups(CONTROL):
        yield "control-" + "+".join(words), task_of({"control": [CONTROL[word] for word in words]})
    for name, varies in BLOCKS.items():
        yield "design-" + name, task_of(varies)


def owners(folder):
    """For each variable of a task that command_line has led to its link and quantity, as `arm/inertia`."""
    with open(pathlib.Path(folder, "run/design.csv")) as table:
        return ["/".join(row["variable"].split("/")[:2]) for row in csv.DictReader(table)]


def command_line(program, task, folder):
    """Path of the task, and after one iteration of `sdrs optimize` its variables and the gradient by each of them."""
    path = pathlib.Path(folder, "task.json")
    path.write_text(json.dumps(task))
    done = subprocess.run([program, "optimize", path, "-q", "--no-converge", "-o", folder + "/run"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    arrays = {}
    for line in pathlib.Path(folder, "run/checkpoint").read_text().splitlines():
        if line.startswith("doubles "):
            arrays[line.split()[1]] = numbers = []
        elif line.startswith("integers "):
            numbers = []
        elif len(line) == 16:
            numbers.append(struct.unpack(">d", bytes.fromhex(line))[0])
    return path, arrays["x"], arrays["gradient"]
