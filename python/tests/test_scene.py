"""Scenes, runs, gradients and rollouts against the program, closed forms, differences and one another."""

import copy
import csv
import gc
import json
import math
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import numpy as np
from support import ARM, PROGRAM, ROOT, closest_difference

import sdrs
from sdrs._chart import chart
from sdrs import _library, _program


class Library(unittest.TestCase):
    def test_the_example_of_a_linearisation_balances(self):
        out = subprocess.run([sys.executable, ROOT / "examples" / "python" / "balance.py"], check=True, cwd=ROOT, text=True,
                             stdout=subprocess.PIPE).stdout.split()
        self.assertLess(abs(float(out[1])), 0.01)  # rad, from 0.3
        self.assertLess(abs(float(out[4])), 0.05)  # m

    @unittest.skipUnless(os.environ.get("SDRS_LONG"), "7 s of processor time: with SDRS_LONG")
    def test_the_example_of_iterative_lqr_swings_the_pole_up(self):
        out = subprocess.run([sys.executable, ROOT / "examples" / "python" / "swing_up.py"], check=True, cwd=ROOT, text=True,
                             stdout=subprocess.PIPE).stdout.splitlines()
        pole, cart = (float(word) for word in out[2].replace(",", "").split() if word[0] in "+-")
        self.assertLess(abs(pole), 0.01)  # rad, from pi
        self.assertLess(abs(cart), 0.01)  # m
        self.assertRegex(out[3], r"collides with the bumper in steps \[\d")

    def test_linearisation_through_an_impact_is_that_of_differences(self):
        """A cart of 2 m/s meets a bumper with restitution within the step."""
        scene = sdrs.Scene.from_text("""
simulation: {dt: 0.02, steps: 10, integrator: first_order, tolerance: 1.0e-12}
contact: {friction: 0, restitution: 0.8}
links:
  - {name: bumper, fixed: true, position: [0.7, 0, 0], shape: {type: box, size: [0.2, 0.2, 0.2]}}
  - {name: cart, mass: 1, joint: {type: slide, axis: [1, 0, 0]}, shape: {type: box, size: [0.2, 0.1, 0.1]}}
controllers: [{link: cart, type: torque, target: 0}]
""")
        start = np.array([0.48, 2.0, 0.5])  # m, m/s, N

        def end(x):
            run = scene.run(1, coordinates=x[:1], velocities=x[1:2], input=x[2:][None])
            return np.r_[run.coordinates[-1], run.velocities[-1]]

        self.assertLess(end(start)[1], -1)
        scene.set("coordinates", start[:1])
        scene.set("velocities", start[1:2])
        wanted = np.hstack(scene.linearize(start[2:]))
        for k in range(3):
            found = [(end(start + h * np.eye(3)[k]) - end(start - h * np.eye(3)[k])) / (2 * h) for h in (1e-4, 1e-5, 1e-6)]
            self.assertLess(min(np.abs(one - wanted[:, k]).max() for one in found), 1e-5 * np.abs(wanted).max())

    def test_linearisation_is_that_of_differences(self):
        scene = sdrs.Scene(ARM, path="arm.yaml")
        scene.step(3)
        q, v, u = scene.coordinates, scene.velocities, scene.view("input")
        a, b = scene.linearize()
        self.assertEqual((a.shape, b.shape), ((2 * scene.nv, 2 * scene.nv), (2 * scene.nv, scene.nu)))
        turns, plain = chart(scene)

        def times(p, r):
            return np.r_[p[0] * r[0] - p[1:] @ r[1:], p[0] * r[1:] + r[0] * p[1:] + np.cross(p[1:], r[1:])]

        def moved(d):
            out = q.copy()
            for k, at in plain:
                out[k] += d[at]
            for k, at in turns:
                half = 0.5 * np.linalg.norm(d[at:at + 3])
                out[k:k + 4] = times(q[k:k + 4], np.r_[np.cos(half), 0.5 * np.sinc(half / np.pi) * d[at:at + 3]])
            return out

        def increments(after, before):
            out = np.zeros(scene.nv)
            for k, at in plain:
                out[at] = after[k] - before[k]
            for k, at in turns:
                out[at:at + 3] = 2 * times(before[k:k + 4] * [1, -1, -1, -1], after[k:k + 4])[1:]
            return out

        def end(x):
            run = scene.run(1, coordinates=moved(x[:scene.nv]), velocities=v + x[scene.nv:2 * scene.nv],
                            input=(u + x[2 * scene.nv:])[None])
            return run.coordinates[1], run.velocities[1]

        for column in range(2 * scene.nv + scene.nu):
            step = 1e-6 * np.eye(2 * scene.nv + scene.nu)[column]
            (q_up, v_up), (q_down, v_down) = end(step), end(-step)
            difference = np.r_[increments(q_up, q_down), v_up - v_down] / 2e-6
            found = np.hstack([a, b])[:, column]
            np.testing.assert_allclose(found, difference, atol=2e-5 * max(1, abs(found).max()), err_msg=str(column))

    def test_gradients_of_many_runs_are_those_of_each(self):
        scene, draw, runs, steps = sdrs.Scene(ARM, path="arm.yaml"), np.random.default_rng(3), 5, 6
        velocities, inputs = 0.1 * draw.normal(size=(runs, scene.nv)), 0.3 * draw.normal(size=(runs, steps, scene.nu))
        seeds = {"coordinates": draw.normal(size=(runs, steps + 1, scene.nq)),
                 "position": draw.normal(size=(runs, steps + 1, len(scene.links), 3))}
        one, two = (scene.rollout(velocities=velocities, input=inputs, seeds=seeds, threads=n) for n in (1, 2))
        plain = scene.rollout(velocities=velocities, input=inputs)
        np.testing.assert_array_equal(one.coordinates, plain.coordinates)
        np.testing.assert_array_equal(one.velocities, plain.velocities)
        self.assertIsNone(plain.gradient)
        for k in range(runs):
            alone = scene.run(velocities=velocities[k], input=inputs[k]).gradient(
                coordinates=seeds["coordinates"][k], positions=seeds["position"][k])
            self.assertEqual(set(alone), set(one.gradient))
            for block, slope in alone.items():
                np.testing.assert_array_equal(one.gradient[block][k], slope, err_msg=block)
                np.testing.assert_array_equal(two.gradient[block][k], slope, err_msg=block)
        self.assertEqual(one.gradient["input"].shape, (runs, steps, scene.nu))
        with self.assertRaises(sdrs.Error) as caught:
            scene.rollout(velocities=velocities, input=inputs, seeds={"coordinates": seeds["coordinates"][:, 1:]})
        self.assertIn("seeds by coordinates: got shape", str(caught.exception))
        with self.assertRaises(sdrs.Error):
            scene.rollout(velocities=velocities, seeds={"time": seeds["coordinates"]})

    def test_files_and_texts_are_told_apart_by_name(self):
        line = '{"links": [{"name": "a", "mass": 1, "shape": {"type": "sphere", "radius": 0.1}}], "simulation": {"steps": 3, "integrator": "first_order"}}'
        scene = sdrs.Scene.from_text(line, path="one.json")
        self.assertEqual((scene.links, scene.steps), (["a"], 3))
        self.assertEqual(sdrs.Scene.from_text(line, overrides={"simulation.steps": 4}).steps, 4)
        self.assertEqual(sdrs.Scene.from_file(ROOT / "scenes" / "slide.yaml").name, "slide")
        with self.assertRaises(sdrs.Error) as caught:
            sdrs.Scene.from_file(line)
        self.assertEqual(caught.exception.status, "IO")
        with self.assertRaises(sdrs.Error) as caught:
            sdrs.Scene.from_text("scenes/slide.yaml")
        self.assertEqual(caught.exception.status, "BAD_INPUT")
        with self.assertRaises(sdrs.Error):
            sdrs.Scene.from_text(ROOT / "scenes" / "slide.yaml")

    def test_the_blocks_are_in_the_header_s_order(self):
        for index, name in enumerate(_library.BLOCKS):
            self.assertEqual(_library.lib.sdrs_block_name(index).decode(), name)
        self.assertEqual(_library.lib.sdrs_block_count(), len(_library.BLOCKS))

    def test_every_function_of_the_header_is_known_or_left_out_on_purpose(self):
        import re

        header = (ROOT / "src" / "library" / "sdrs.h").read_text()
        declared = set(re.findall(r"SDRS_API [a-z_ *]*?(sdrs_[a-z_]+)\(", header))
        unused = {"sdrs_block_find", "sdrs_link_find", "sdrs_add_seed"}  # Python has names and losses itself
        self.assertEqual(declared - unused, set(_library.SIGNATURES))


class Scenes(unittest.TestCase):
    def test_a_range_sensor_measures_the_height(self):
        text = ("simulation: {dt: 0.01, steps: 3, gravity: [0, 0, 0]}\ncontact: {model: none}\nlinks:\n"
                "  - {name: ground, fixed: true, shape: {type: half_space, offset: -1}}\n"
                "  - {name: drone, mass: 1, position: [0, 0, 2], shape: {type: sphere, radius: 0.1}}\n"
                "initial: [{link: drone, velocities: [0, 0, -5, 0, 0, 0]}]\n")
        scene = sdrs.Scene.from_text(text)
        np.testing.assert_allclose(scene.view("range", scene.link("drone"))[5], 3)
        run = scene.run()
        np.testing.assert_allclose(run.range("drone")[:, 5], [3, 2.95, 2.9, 2.85])
        self.assertTrue(np.isnan(run.range("drone")[:, :5]).all())
        seed = np.zeros((4, 6))
        seed[3, 5] = 1
        slope = run.gradient(range={"drone": seed})
        np.testing.assert_allclose(slope["velocities"], [0, 0, 0.03, 0, 0, 0], atol=1e-9)

    def test_a_hanging_link_bears_on_its_joint(self):
        scene = sdrs.Scene.from_text(
            "simulation: {steps: 5, output: [reactions]}\n"
            "links: [{name: a, mass: 2, center: [0, 0, -1], inertia: [1, 1, 1, 0, 0, 0], joint: {type: ball}}]\n")
        run = scene.run()
        np.testing.assert_allclose(run.reaction("a")[1:], np.tile([0, 0, 2 * 9.81, 0, 0, 0], (5, 1)), atol=1e-9)
        np.testing.assert_allclose(run.imu("a")[1:-1], np.tile([0, 0, 9.81, 0, 0, 0], (4, 1)), atol=1e-9)
        self.assertTrue(np.isnan(run.imu("a")[[0, -1]]).all())
        by = np.zeros((6, 6))
        by[5, 2] = 1
        np.testing.assert_allclose(run.gradient(reaction={"a": by})["mass"], [9.81], rtol=1e-9)

    def test_sizes_and_names(self):
        scene = sdrs.Scene(ARM)
        self.assertEqual((scene.nq, scene.nv, scene.nu, scene.steps, scene.dt), (12, 10, 4, 12, 0.01))
        self.assertEqual(scene.links, ["ground", "box", "arm", "hand"])
        self.assertEqual(scene.names("coordinates")[3], "box/qw")
        self.assertEqual(scene.names("input"), ["arm/0", "arm/1", "arm/2", "hand/0"])
        self.assertEqual(scene.names("contact")[2], "friction")
        self.assertEqual(scene.names("mass"), scene.links)
        self.assertEqual(scene.names("control")[0], "arm/values/0")
        self.assertEqual(len(scene.names("control")), scene.view("control").size)
        blocks = scene.blocks
        self.assertEqual(blocks["coordinates"].shape, (12,))
        self.assertEqual(blocks["position"].shape, (4, 3))
        np.testing.assert_array_equal(blocks["mass"], [0, 1, 1, 0.5])
        self.assertNotIn("reactions", blocks)  # nobody asks for them
        np.testing.assert_array_equal(scene.position("arm"), [0, 1, 1])

    def test_overrides_are_those_of_set(self):
        scene = sdrs.Scene(ARM, overrides={"simulation.dt": 0.005, "links.hand.mass": np.float64(2),
                                           "simulation.gravity": np.zeros(3), "simulation.integrator": "second_order"})
        self.assertEqual(scene.dt, 0.005)
        self.assertEqual(scene.view("mass")[3], 2)
        with self.assertRaises(sdrs.Error) as caught:
            sdrs.Scene(ARM, overrides={"links.hnd.mass": 2})
        self.assertIn("hnd", str(caught.exception))

    def test_errors_are_those_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "wrong.yaml")
            path.write_text("simulation: {dt: -1, integrator: first_order}\nlinks:\n  - {name: box, mas: 1}\n")
            with self.assertRaises(sdrs.Error) as caught:
                sdrs.Scene(path)
            told = subprocess.run([PROGRAM, "simulate", path, "-q", "-o", folder + "/none"], stderr=subprocess.PIPE,
                                  text=True)
            self.assertEqual(str(caught.exception), told.stderr.rstrip("\n"))
        self.assertEqual(caught.exception.status, "BAD_INPUT")
        self.assertEqual(caught.exception.diagnostics[0]["line"], 1)
        with self.assertRaises(sdrs.Error) as caught:
            sdrs.Scene("nowhere.yaml")
        self.assertEqual(caught.exception.status, "IO")
        with self.assertRaises(sdrs.Error):
            sdrs.Scene(ARM).run(velocities=np.zeros(3))
        with self.assertRaises(sdrs.Error):
            sdrs.Scene(ARM).run().position("leg")


    def test_mistakes_are_told_with_what_there_is(self):
        scene = sdrs.Scene(ARM)
        for act, words in ((lambda: scene.position("hnd"), "there is no link 'hnd' (did you mean 'hand'?)"),
                           (lambda: scene.position("leg"), "there is no link 'leg' (there are ground, box, arm, hand)"),
                           (lambda: scene.set("velocity", [1]), "there is no block 'velocity' (did you mean 'velocities'?)"),
                           (lambda: scene.view("speed"), "there is no block 'speed' (there are "),
                           (lambda: scene.names("force"), "(there are coordinates, velocities, input, design, control, mass, contact, material)"),
                           (lambda: scene.run(2.5), "steps: a whole number of at least 1, got 2.5"),
                           (lambda: scene.run(-1), "steps: a whole number of at least 1, got -1"),
                           (lambda: scene.run(2**32 + 3), "steps: at most 1000000000, got 4294967299"),
                           (lambda: scene.run().gradient(np.zeros((13, 3))),
                            "position: derivatives by link go in a dict, {link: array of (13, 3)}"),
                           (lambda: scene.rollout(threads=-3), "threads: a whole number from 1 to 1024, got -3"),
                           (lambda: sdrs.Scene(ARM, threads=-3), "threads: a whole number from 1 to 1024, got -3"),
                           (lambda: scene.rollout(threads=2.5), "threads: a whole number from 1 to 1024, got 2.5"),
                           (lambda: scene.set("input", np.zeros(5)), "input: got shape (5,), expected (4,) or (steps, 4)"),
                           (lambda: scene.set("input", np.zeros(8)), "input: got shape (8,), expected (4,) or (steps, 4)"),
                           (lambda: scene.set("coordinates", scene.coordinates, continues=True),
                            "continues: belongs to the velocities, not to 'coordinates'"),
                           (lambda: scene.step(0), "steps: a whole number of at least 1, got 0"),
                           (lambda: scene.rollout(steps="ten"), "steps: a whole number of at least 1, got 'ten'")):
            with self.assertRaises(sdrs.Error) as caught:
                act()
            self.assertIn(words, str(caught.exception))
        self.assertEqual(scene.run(np.int64(3)).steps, 3)

    def test_what_is_printed_says_what_it_is(self):
        scene = sdrs.Scene(ARM)
        self.assertEqual(repr(scene), f"<sdrs.Scene '{scene.name}': 4 links, nq 12, nv 10, nu 4, 12 steps of 0.01 s>")
        self.assertEqual(repr(scene.run(3)), f"<sdrs.Run of '{scene.name}': 3 steps to t = 0.03 s>")

    def test_a_copy_is_a_run_of_its_own(self):
        import copy

        scene = sdrs.Scene(ARM)
        other = copy.copy(scene)
        other.step(2)
        self.assertEqual((scene.time, other.time), (0, 0.02))

    def test_a_text_of_one_line_is_a_scene(self):
        ball = sdrs.Scene("{simulation: {dt: 0.01, steps: 5, integrator: first_order}, links: [{name: a, mass: 1, shape: {type: sphere, radius: 0.1}}]}")
        # first order: v = g dt k, z = -g dt^2 (1 + ... + 5)
        self.assertAlmostEqual(ball.run().position("a")[-1, 2], -9.81 * 1e-4 * 15, delta=1e-12)


class Runs(unittest.TestCase):
    def test_a_run_has_the_bits_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PROGRAM, "simulate", ROOT / "scenes" / "spider.yaml", "--steps", "40", "-q", "-o", folder],
                           check=True, stdout=subprocess.DEVNULL)
            with open(folder + "/trajectory.csv") as file:
                rows = list(csv.reader(file))
        run = sdrs.Scene(ROOT / "scenes" / "spider.yaml").run(40)
        table = np.array(rows[1:], dtype=float)
        np.testing.assert_array_equal(run.time, table[:, 0])
        for link in run.scene.links:
            columns = [rows[0].index(f"{link}/{name}") for name in ("px", "py", "pz", "qw", "qx", "qy", "qz", "cx", "cy", "cz")]
            shown = np.hstack([run.position(link), run.orientation(link), run.center(link)])
            np.testing.assert_array_equal(shown, table[:, columns])

    def test_arrays_are_not_copies_and_outlive_their_run(self):
        run = sdrs.Scene(ARM).run()
        x, again = run.position("hand"), run.position("hand")
        self.assertEqual(x.__array_interface__["data"][0], again.__array_interface__["data"][0])
        self.assertTrue(np.shares_memory(run.coordinates, run.coordinates))
        self.assertFalse(x.flags.writeable)
        copy = x.copy()
        del run, again
        gc.collect()
        others = [sdrs.Scene(ARM).run() for _ in range(5)]
        np.testing.assert_array_equal(x, copy)
        self.assertEqual(len(others), 5)

    def test_steps_are_the_run(self):
        scene = sdrs.Scene(ARM)
        targets = 0.2 * np.random.default_rng(1).standard_normal((12, 4))
        run = scene.run(input=targets)
        for row, target in zip(run.coordinates[1:], targets):
            scene.set("input", target)
            scene.step()
            np.testing.assert_array_equal(scene.coordinates, row)
        np.testing.assert_array_equal(scene.record().coordinates, run.coordinates)

    def test_a_block_that_is_set_starts_a_run(self):
        """The velocities that are not set are those of the scene's start; with continues a fall in steps is that in one run."""
        fall = sdrs.Scene("{simulation: {dt: 0.01}, contact: {model: none}, links: [{name: m, mass: 2, joint: {type: slide, axis: "
                          "[0, 0, 1]}, shape: {type: sphere, radius: 0.1}}], initial: [{link: m, velocities: [3]}]}")
        fall.step(10)
        fall.set("coordinates", [1])
        self.assertEqual((fall.time, fall.coordinates[0], fall.velocities[0]), (0, 1, 3))
        fall.set("coordinates", [0])
        fall.set("velocities", [0])
        for _ in range(100):
            fall.step()
            q, v = fall.coordinates, fall.velocities
            fall.set("coordinates", q)
            fall.set("velocities", v, continues=True)
        # The first of 100 steps begins at rest and ends with the velocity of its middle, g dt / 2.
        self.assertAlmostEqual(fall.coordinates[0], -9.81 / 2, delta=1e-12)
        one = fall.run(5, velocities=[0.5])
        self.assertAlmostEqual(one.coordinates[-1, 0], q[0] + 0.5 * 0.05 - 9.81 / 2 * 0.05**2, delta=1e-12)
        self.assertAlmostEqual(fall.run(1).velocities[-1, 0], v[0] - 9.81 * 0.01, delta=1e-12)

    def test_a_continued_run_slides_on(self):
        """A box that slides from a state of a run: Coulomb's friction from the first step on, and the derivative by the start."""
        text = """
simulation: {dt: 0.005, duration: 1, tolerance: 1.0e-12}
contact: {friction: 0.5, stiffness: 1.0e-9, barrier_distance: 1.0e-3}
links:
  - {name: ground, fixed: true, shape: {type: half_space}}
  - {name: box, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 0.11], joint: {type: free, free_axes: [x, z]}}
"""
        scene, steps = sdrs.Scene.from_text(text), 10
        q, v = np.array([0, -0.0095452]), np.array([1.5, 0])
        run = scene.run(steps, q, v, continues=True)
        seed = np.zeros((steps + 1, scene.nq))
        seed[-1, 0] = 1
        slope = run.gradient(coordinates=seed)["coordinates"][1]
        h = np.array([0, 1e-7])
        ends = [scene.run(steps, q + side * h, v, continues=True).coordinates[-1, 0] for side in (1, -1)]
        self.assertAlmostEqual(slope, (ends[0] - ends[1]) / 2e-7, delta=1e-4)
        whole = scene.run(60, q, v, continues=True)
        for _ in range(3):
            parts = scene.run(20, q, v, continues=True)
            q, v = parts.coordinates[-1], parts.velocities[-1]
        self.assertAlmostEqual(q[0], whole.coordinates[-1, 0], delta=2e-3 * whole.coordinates[-1, 0])
        other = sdrs.Scene.from_text(text, overrides={"simulation.integrator": "second_order"})
        with self.assertRaisesRegex(sdrs.Error, "second_order cannot continue"):
            other.linearize()

    def test_parameters_of_loads_and_tendons_have_names(self):
        scene = sdrs.Scene.from_text("{links: [{name: b, mass: 1, shape: {type: box, size: [1, 1, 1]}}], loads: [{link: b, force: "
                                     "[1, 2, 3]}, {link: b, torque: [4, 5, 6]}], tendons: [{points: [{link: world, point: [0, 0, 3]}, "
                                     "{link: b}], tension: 7}]}")
        self.assertEqual(scene.names("control"), [f"b/force_values/{k}" for k in range(3)] +
                         [f"b/load2_torque_values/{k}" for k in range(3)] + ["tendon1/tension_values/0"])

    def test_the_start_of_a_prescribed_link_is_an_input(self):
        """A conveyor that begins beside its signal: derivatives by its given height against differences of runs."""
        scene = sdrs.Scene(ROOT / "scenes" / "conveyor.yaml", overrides={"simulation.tolerance": 1e-12})
        scene.step(15)
        q, v, h = scene.coordinates.copy(), scene.velocities.copy(), np.zeros(scene.nq)
        h[scene.names("coordinates").index("table/z")] = 1e-8
        seed = np.zeros((5, scene.nv))
        seed[-1] = np.random.default_rng(1).standard_normal(scene.nv)
        gradient = scene.run(4, coordinates=q, velocities=v).gradient(velocities=seed)["coordinates"]
        ends = [np.sum(seed[-1] * scene.run(4, coordinates=q + side * h, velocities=v).velocities[-1]) for side in (1, -1)]
        slope, found = (ends[0] - ends[1]) / 2e-8, gradient[scene.names("velocities").index("table/2")]
        self.assertGreater(abs(slope), 1)
        self.assertAlmostEqual(found, slope, delta=1e-5 * abs(slope))
        own = scene.run(4).gradient(velocities=seed)["coordinates"]  # this start follows from the signal
        self.assertEqual(own[scene.names("velocities").index("table/2")], 0)

    def test_rollouts_continue_a_motion(self):
        """Each is the run with `continues`, and so is its gradient; the fall of 100 rollouts of one step in closed form."""
        scene = sdrs.Scene(ARM, overrides={"simulation.integrator": "momentum"})
        first = scene.run(5)
        q, v = np.array(first.coordinates[-1:]), np.array(first.velocities[-1:])
        seeds = {"coordinates": np.ones((1, 4, scene.nq))}
        run = scene.run(3, q[0], v[0], continues=True)
        for many in scene.rollout(3, q, v, continues=True), scene.rollout(3, q, v, continues=True, seeds=seeds):
            np.testing.assert_array_equal(many.coordinates[0], run.coordinates)
        slope = run.gradient(coordinates=seeds["coordinates"][0])
        for block, array in slope.items():
            np.testing.assert_array_equal(many.gradient[block][0], array, err_msg=block)
        self.assertGreater(np.abs(scene.rollout(3, q, v).coordinates[0] - run.coordinates).max(), 1e-5)

        fall = sdrs.Scene("{simulation: {dt: 0.01}, contact: {model: none}, links: [{name: m, mass: 2, joint: {type: slide, axis: "
                          "[0, 0, 1]}, shape: {type: sphere, radius: 0.1}}]}")
        q = v = np.zeros((2, 1))
        for _ in range(100):
            many = fall.rollout(1, q, v, continues=True, record=False)
            q, v = many.coordinates, many.velocities
        np.testing.assert_allclose(q, -9.81 * 0.505, rtol=1e-12)

    def test_gradients_by_restitution(self):
        """A ball that meets a wall at 2 m/s leaves it at 2 e; two links have the geometric mean, a pair its own."""
        text = """
simulation: {{dt: 0.005, steps: 60, gravity: [0, 0, 0], tolerance: 1.0e-12}}
contact: {{friction: 0, restitution: 0.5{pairs}}}
links:
  - {{name: wall, fixed: true, shape: {{type: half_space}}{wall}}}
  - {{name: ball, mass: 1, shape: {{type: sphere, radius: 0.1}}, position: [0, 0, 0.3]{ball}}}
initial: [{{link: ball, velocities: [0, 0, -2, 0, 0, 0]}}]
"""
        seed = np.zeros((61, 6))
        seed[-1, 2] = 1
        pairs = ", pairs: [{a: ball, b: wall, restitution: 0.7}]"
        for words, e, wanted in (({}, 0.5, [2, 0, 0]), ({"ball": ", restitution: 0.8"}, 0.8, [0, 0, 2]),
                                 ({"wall": ", restitution: 0.36", "ball": ", restitution: 0.64"}, 0.48, [0, 4 / 3, 0.75]),
                                 ({"pairs": pairs}, 0.7, [0, 0, 0, 2])):
            scene = sdrs.Scene.from_text(text.format(**{"pairs": "", "wall": "", "ball": "", **words}))
            run = scene.run()
            self.assertAlmostEqual(run.velocities[-1, 2], 2 * e, delta=2e-3)
            slope, at = run.gradient(velocities=seed)["material"], scene.names("material").index("restitution")
            np.testing.assert_allclose(slope[:, at], wanted, atol=4e-3)
            given = scene.view("material")
            self.assertEqual((given.shape, slope.shape), ((len(wanted), 9), (len(wanted), 9)))
            self.assertEqual(given[0, at], 0.5)
            np.testing.assert_array_equal(np.isnan(given[1:, at]), np.array(wanted[1:]) == 0)
        friction = scene.names("contact").index("friction")
        self.assertEqual(slope[0, scene.names("material").index("friction")], run.gradient(velocities=seed)["contact"][friction])

    def test_a_gradient_is_that_of_differences(self):
        scene, random = sdrs.Scene(ARM), np.random.default_rng(2)
        v, u = scene.velocities, 0.2 * random.standard_normal((12, 4))
        weights = random.standard_normal((13, 3))

        def value(numbers):
            run = scene.run(velocities=numbers[:10], input=numbers[10:].reshape(12, 4))
            return float((weights * run.position("hand")).sum())

        x, direction = np.concatenate([v, u.ravel()]), random.standard_normal(58)
        direction[:6] *= 1e-3  # the box stands on a stiff contact
        slope = scene.run(velocities=v, input=u).gradient({"hand": weights})
        analytic = float(np.concatenate([slope["velocities"], slope["input"].ravel()]) @ direction)
        self.assertLess(abs(closest_difference(value, x, direction, analytic) / analytic - 1), 1e-7)
        np.testing.assert_array_equal(slope["state"], np.concatenate([slope["coordinates"], slope["velocities"]]))

    def test_the_example_is_the_closed_form_in_thirty_lines(self):
        path = ROOT / "examples" / "python" / "throw.py"
        self.assertLessEqual(len(path.read_text().splitlines()), 30)
        found = float(subprocess.run([sys.executable, path], check=True, cwd=ROOT, stdout=subprocess.PIPE).stdout)
        self.assertLess(abs(found / math.sqrt(2 * 0.5 * 0.3 * 9.81) - 1), 1e-4)

    def test_a_task_has_a_loss_by_its_design(self):
        task = sdrs.Scene(ROOT / "scenes" / "tasks" / "throw.yaml")
        self.assertEqual(task.names("design"), ["box/velocity/0"])

        def loss(design):
            task.set("design", design)
            return task.record().loss()

        value, slope = loss([1.5])
        difference = (loss([1.5001])[0] - loss([1.4999])[0]) / 2e-4
        self.assertGreater(value, 0)
        self.assertLess(abs(slope["design"][0] / difference - 1), 1e-6)

    def test_the_page_of_a_run(self):
        try:
            shown = sdrs.Scene(ARM).view_run(3)._repr_html_()
        except sdrs.Error as missing:
            self.skipTest(f"no page: {missing}")
        self.assertTrue(shown.startswith("<iframe") and "&lt;html" in shown)

    def test_the_program_of_a_build_without_sources_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder, "python", "sdrs")
            (pathlib.Path(folder) / "out" / "lib").mkdir(parents=True)
            package.mkdir(parents=True)
            beside = pathlib.Path(folder, "sdrs")
            beside.write_text("")
            beside.chmod(0o755)
            with unittest.mock.patch.object(_program, "__file__", str(package / "_program.py")):
                self.assertEqual(_program.program(), str(beside.resolve()))

    def test_a_run_shows_its_own_motion(self):
        scene = sdrs.Scene(ROOT / "scenes" / "slide.yaml")
        run = scene.run(3, velocities=[0, 2, 0, 0, 0, 0])
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            header = "time," + ",".join(f"box/{name}" for name in ("px", "py", "pz", "qw", "qx", "qy", "qz", "cx", "cy", "cz"))
            (folder / "trajectory.csv").write_text(header + "\n")
            (folder / "contacts.csv").write_text("of another motion")
            (folder / "summary.json").write_text('{"name": "slide", "simulation": {"steps": 1}, "result": {}}')
            sdrs.scene._replace_motion(folder, run)
            self.assertFalse((folder / "contacts.csv").exists())
            table = np.loadtxt(folder / "trajectory.csv", delimiter=",", skiprows=1)
            np.testing.assert_array_equal(table[:, 1:4], run.position("box"))
            np.testing.assert_array_equal(table[:, 4:8], run.orientation("box"))
            self.assertAlmostEqual(table[-1, 2], 3 * 0.002, 4)  # 2 m/s along y in steps of 1 ms, friction 0.3
            self.assertEqual(json.loads((folder / "summary.json").read_text()), {"name": "slide", "simulation": {"steps": 3}})
        try:
            page = run.show(os.devnull)
        except sdrs.Error as missing:
            self.skipTest(f"no page: {missing}")
        self.assertEqual(page, os.devnull)
        self.assertTrue(run._repr_html_().startswith("<iframe") and scene._repr_html_().startswith("<iframe"))

    def test_no_page_names_the_reason(self):
        task = sdrs.Scene(ROOT / "scenes" / "tasks" / "throw.yaml")
        self.assertRegex(task._repr_html_(), r"(?s)^<pre>&lt;sdrs.Scene.*\n.*</pre>$")

    def test_plots_need_a_quantity_and_a_link(self):
        run = sdrs.Scene(ROOT / "scenes" / "slide.yaml").run(3)
        with self.assertRaisesRegex(sdrs.Error, "unknown quantity 'speed'"):
            run.plot("speed")
        with self.assertRaisesRegex(sdrs.Error, "no link given: name one of ground, box"):
            run.plot("position")
        drawn = unittest.mock.Mock()
        self.assertIs(run.plot("position", "box", axes=drawn), drawn)
        self.assertEqual([call.kwargs["label"] for call in drawn.plot.call_args_list], ["x", "y", "z"])
        np.testing.assert_array_equal(drawn.plot.call_args_list[0].args[1], run.position("box")[:, 0])

    def test_questions_are_those_of_the_program(self):
        ball = {"type": "superellipsoid", "size": np.array([0.5, 0.5, 0.5]), "exponent": 1}
        asked = [{"method": method, "a": ball, "b": {**ball, "position": np.array([2.0, 0, 0])}, "derivatives": True}
                 for method in ("growth", "manifold")]
        corner = np.vstack([np.zeros(3), np.eye(3)])
        asked.append({"method": "distance", "a": {"type": "points", "points": corner},
                      "b": {"type": "points", "points": corner + 2.0}})
        answers = sdrs.query(asked)
        # Spheres of radius 1/2, two metres apart: they touch when they are twice as large.
        self.assertAlmostEqual(answers[0]["alpha"], 2.0, 9)
        np.testing.assert_allclose(answers[0]["normal"], [1, 0, 0], atol=1e-9)
        # From the face in the plane x + y + z = 1 to the corner (2, 2, 2).
        self.assertAlmostEqual(answers[2]["distance"], 5 / np.sqrt(3), 12)
        self.assertEqual(sdrs.query(asked[0]), answers[0])
        with self.assertRaisesRegex(sdrs.Error, "unknown key 'metod'|metod"):
            sdrs.query({"metod": "growth"})

    def test_a_proof_and_a_query(self):
        proof = sdrs.Scene(ARM).run().certify()
        self.assertTrue(proof.proved)
        self.assertGreater(proof.smallest_gap, 0)
        cube = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
        self.assertAlmostEqual(sdrs.query(cube, cube + [1.25, 0.1, 0], 0.5)["distance"], 0.25, 12)
        with self.assertRaises(sdrs.Error):
            sdrs.query(cube, cube * np.nan, 0.5)


class Copies(unittest.TestCase):
    def test_a_deep_copy_is_a_clone_and_pickling_says_what_to_do(self):
        scene = sdrs.Scene(ARM)
        copied = copy.deepcopy(scene)
        np.testing.assert_array_equal(copied.run(3).coordinates, scene.run(3).coordinates)
        for whole in (scene, scene.run(3)):
            with self.assertRaisesRegex(TypeError, "send the path or text of the scene"):
                pickle.dumps(whole)

    def test_inputs_have_a_row_for_each_step(self):
        scene = sdrs.Scene(ARM)
        for rows in (2, 6):
            with self.assertRaisesRegex(sdrs.Error, rf"input: got shape \({rows}, 4\), expected \(5, 4\)"):
                scene.run(5, input=np.zeros((rows, 4)))


class Rollouts(unittest.TestCase):
    def test_they_are_runs_whatever_the_threads(self):
        scene, random = sdrs.Scene(ARM), np.random.default_rng(3)
        v, u = 0.1 * random.standard_normal((5, 10)), 0.2 * random.standard_normal((5, 12, 4))
        for threads in (1, 2, 3):
            all_of_them = scene.rollout(velocities=v, input=u, threads=threads)
            for k in range(5):
                run = scene.run(velocities=v[k], input=u[k])
                np.testing.assert_array_equal(all_of_them.coordinates[k], run.coordinates)
                np.testing.assert_array_equal(all_of_them.velocities[k], run.velocities)
        last = scene.rollout(velocities=v, input=u, record=False)
        np.testing.assert_array_equal(last.coordinates, all_of_them.coordinates[:, -1])
        np.testing.assert_array_equal(last.steps, [12] * 5)

    def test_a_start_that_cannot_be_is_told(self):
        scene = sdrs.Scene(ARM)
        q = np.stack([scene.coordinates] * 3)
        q[1, 2] = -0.05  # in the ground
        with self.assertRaises(sdrs.Error) as caught:
            scene.rollout(coordinates=q)
        self.assertIn("rollout 1", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
