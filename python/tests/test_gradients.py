"""Gradients of tasks: the library's, through Python, are those of the command line, for every kind of variable that the schema names."""

import json
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
from gradient_tasks import BOX, CONTROL, LOSS, PARAMETERS, ROUNDED, SCENE, command_line, owners, tasks
from support import PROGRAM, ROOT

import sdrs


def schema():
    text = subprocess.run([PROGRAM, "schema", "task"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(text)["definitions"]


class EveryVariable(unittest.TestCase):
    def compare(self, wanted):
        """Python's gradient by each variable is that of the command line, where one iteration has led."""
        for name, task in tasks():
            if not name.startswith(wanted):
                continue
            with tempfile.TemporaryDirectory() as folder:
                path, design, told = command_line(PROGRAM, task, folder)
                scene, names = sdrs.Scene(path), owners(folder)
            scene.set("design", np.array(design))
            found = scene.record().loss()[1]["design"]
            self.assertEqual(len(found), len(told), name)
            self.assertEqual(len(names), len(told), name)
            for owner in set(names):
                self.assertGreater(max(abs(slope) for slope, other in zip(told, names) if other == owner), 0, owner)
            for k, (python, command) in enumerate(zip(found, told)):
                self.assertEqual(python, command, f"{name}, variable {k}, {names[k]}")

    def test_every_type_of_parameters(self):
        types = set(schema()["parameter"]["properties"]["type"]["enum"])
        self.assertEqual(types, set(PARAMETERS))
        self.compare("parameters-")

    def test_every_number_of_control(self):
        properties = schema()["control"]["properties"]
        words = set(properties["parameters"]["items"]["enum"]) | set(properties["of"]["items"]["enum"]) - {"drives"}
        self.assertEqual(words, set(CONTROL))
        self.compare("control-")

    def test_every_block_of_design_and_start(self):
        self.compare("design-")

    def test_directions_of_joints_against_differences(self):
        for kind in ("axis", "rotation"):
            links = [link for link in SCENE["links"] if link["name"] in ("arm", "hand")]
            initial = [start for start in SCENE["initial"] if start["link"] in ("arm", "hand")]
            task = {"scene": {"simulation": SCENE["simulation"], "shapes": {"box": BOX}, "links": links, "initial": initial},
                    "loss": [loss for loss in LOSS if loss["link"] == "hand"], "optimizer": {"tolerance": 1e-12}, "parameters": [{"type": kind, **PARAMETERS[kind]}]}
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "task.json")
                path.write_text(json.dumps(task))
                scene = sdrs.Scene(path)
            slope = scene.record().loss()[1]["design"]
            for k, wanted in enumerate(slope):
                values = []
                for h in (1e-4, -1e-4):
                    moved = np.zeros(len(slope))
                    moved[k] = h
                    scene.set("design", moved)
                    values.append(scene.record().loss()[0])
                self.assertLess(abs((values[0] - values[1]) / 2e-4 - wanted), 1e-6 * np.linalg.norm(slope), f"{kind} {k}")

    def test_radius_of_rounded_points_against_differences(self):
        """Errors of central differences fall with the square of the step."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "task.json")
            path.write_text(json.dumps({**ROUNDED, "optimizer": {"tolerance": 1e-12}}))
            scene = sdrs.Scene(path)
        start = np.array([0.02])
        loss, slope = scene.record().loss()
        wanted, errors = slope["design"][0], []
        for h in (2e-6, 1e-6, 5e-7):
            values = []
            for side in (1, -1):
                scene.set("design", start + side * h)
                values.append(scene.record().loss()[0])
            errors.append(abs((values[0] - values[1]) / (2 * h) / wanted - 1))
        self.assertLess(errors[2], 3e-5)
        for k in range(2):
            self.assertAlmostEqual(errors[k] / errors[k + 1], 4, delta=0.1)

    def test_a_block_that_cannot_be_filled_is_an_error(self):
        from support import ARM

        scene = sdrs.Scene(ARM)
        seed = {"hand": np.ones((13, 3))}
        with self.assertRaisesRegex(sdrs.Error, "follows the scene's own signals"):
            scene.run().gradient(seed)["input"]
        self.assertEqual(scene.run(input=np.zeros((12, 4))).gradient(seed)["input"].shape, (12, 4))
        with self.assertRaisesRegex(sdrs.Error, "there is no gradient with respect to 'desing'"):
            scene.run().gradient(seed)["desing"]


class PrescribedJoints(unittest.TestCase):
    def test_inputs_and_start_against_differences(self):
        """The position of a belt is the input of a prescribed joint. The start is given, and does not follow from the first input."""
        links = [{"name": "belt", "joint": {"type": "slide", "axis": [1, 0, 0]}, "shape": {"type": "box", "size": [4, 1, 0.1]}},
                 {"name": "box", "mass": 1, "position": [0, 0, 0.15045], "shape": {"type": "box", "size": [0.2, 0.2, 0.2]}}]
        scene = sdrs.Scene.from_text(json.dumps({"simulation": {"dt": 0.01, "tolerance": 1e-11}, "contact": {"friction": 0.5}, "links": links,
                                                 "controllers": [{"link": "belt", "type": "prescribed", "target": 0}]}))
        steps, h = 6, 1e-6
        values, random = np.cumsum(np.linspace(1e-4, 1e-3, steps))[:, None], np.random.default_rng(21)
        run = scene.run(steps, input=values)
        seeds = {"coordinates": random.normal(size=run.coordinates.shape), "velocities": random.normal(size=run.velocities.shape)}
        found = run.gradient(**seeds)["input"][:, 0]

        def loss(at):
            moved = scene.run(steps, input=at)
            return float((seeds["coordinates"] * moved.coordinates).sum() + (seeds["velocities"] * moved.velocities).sum())

        for k in range(steps):
            move = np.zeros_like(values)
            move[k] = h
            slope = (loss(values + move) - loss(values - move)) / (2 * h)
            self.assertAlmostEqual(found[k], slope, delta=2e-5 * np.abs(found).max(), msg=f"input of step {k}")


class SignalsBesideInputs(unittest.TestCase):
    def test_loads_do_not_change_the_gradient_by_inputs(self):
        """A constant force on a body that nothing couples to the driven mass."""
        box = {"type": "box", "size": [0.1, 0.1, 0.1]}
        keys = {"type": "keyframes", "times": [0, 0.05, 0.1], "values": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}
        scene = sdrs.Scene.from_text(json.dumps({
            "simulation": {"dt": 0.01}, "contact": {"model": "none"},
            "links": [{"name": "mass", "mass": 2, "joint": {"type": "slide", "axis": [1, 0, 0]}, "shape": box}, {"name": "other", "position": [0, 5, 0], "mass": 1, "shape": box}],
            "controllers": [{"link": "mass", "type": "torque", "target": 0}], "loads": [{"link": "other", "force": keys}]}))
        for steps in (1, 8):
            run = scene.run(steps, input=np.zeros((steps, 1)))
            seed = np.zeros_like(run.velocities)
            seed[-1] = 1
            slope = run.gradient(velocities=seed)["input"][:, 0]
            np.testing.assert_allclose(slope[1:-1], 0.01 / 2, rtol=1e-9)  # impulse dt u / m
            np.testing.assert_allclose(slope.sum(), (steps - 0.5) * 0.01 / 2, rtol=1e-9)


class Impacts(unittest.TestCase):
    def test_a_common_motion_moves_nothing_against_each_other(self):
        """Two free bodies collide: what they have together of momentum does not depend on where the barrier begins, though each place does."""
        links = [{"name": "a", "mass": 0.4, "shape": {"type": "box", "size": [0.2, 0.2, 0.1]}},
                 {"name": "b", "mass": 0.05, "position": [0.03, 0.01, 0.2], "shape": {"type": "sphere", "radius": 0.03}}]
        scene = sdrs.Scene.from_text(json.dumps({
            "simulation": {"dt": 0.002, "steps": 150, "gravity": [0, 0, 0], "tolerance": 1e-12}, "links": links,
            "contact": {"restitution": 0.6, "support": 0.001, "stiffness": 1e-8},
            "initial": [{"link": "b", "velocities": [0, 0, -1, 0, 0, 0]}]}))
        run = scene.run()
        seed = np.zeros((151, 3))
        seed[-1, 2] = 1
        together = run.gradient({"a": 0.4 * seed, "b": 0.05 * seed})["contact"][0]
        alone = run.gradient({"b": 0.05 * seed})["contact"][0]
        self.assertGreater(abs(alone), 0.05)
        self.assertLess(abs(together), 1e-5)

    def door_strikes(self, joint, body, axis):
        """Derivatives by all coordinates of the body's position along an axis, 0.1 s after a door began to move towards the body."""
        links = [{"name": "door", "mass": 1, "mass_model": "uniform", "joint": joint,
                  "shapes": [{"type": "box", "size": [0.6, 0.04, 0.5], "position": [0.3, 0, 0]}]},
                 {"name": "body", "mass": 0.67, "position": [0.37, 0.206, 0.5], "shape": body}]
        scene = sdrs.Scene.from_text(json.dumps({
            "simulation": {"dt": 0.0002, "steps": 500, "tolerance": 1e-12}, "links": links,
            "contact": {"restitution": 0.6, "friction": 0},
            "initial": [{"link": "door", "velocities": [2.545]}]}))
        run = scene.run()
        seed = np.zeros((501, 3))
        seed[-1, axis] = 1
        return np.array(run.gradient({"body": seed})["coordinates"]).ravel()

    def test_the_place_of_an_impact_does_not_change_the_fall(self):
        """A door whose face is vertical does not change the height of a ball. The derivative by the ball's place across the face is 0."""
        hinge = {"type": "hinge", "position": [0, 0, 0.5], "axis": [0, 0, 1]}
        by = self.door_strikes(hinge, {"type": "sphere", "radius": 0.1}, 2)
        self.assertLess(np.abs(by[:3]).max(), 1e-6)
        self.assertAlmostEqual(by[3], 1, delta=1e-6)

    def test_a_door_and_a_body_displaced_together(self):
        """The body is displaced as the door and itself are displaced at the start."""
        slide = {"type": "slide", "position": [0, 0, 0.5], "axis": [0, 1, 0]}
        for body in ({"type": "sphere", "radius": 0.1}, {"type": "capsule", "radius": 0.05, "length": 0.2}):
            by = self.door_strikes(slide, body, 1)
            self.assertAlmostEqual(by[0] + by[2], 1, delta=1e-6)


if __name__ == "__main__":
    unittest.main()
