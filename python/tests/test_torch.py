"""Gradients through torch are the adjoint's, and those of torch's own differences."""

import json
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
from support import ARM, PROGRAM, ROOT

import sdrs

try:
    import torch

    import sdrs.torch
except ImportError as missing:
    raise unittest.SkipTest(f"torch is not there: {missing}")


def leaf(array):
    return torch.tensor(np.array(array), dtype=torch.float64, requires_grad=True)


CHAIN = """
simulation: {dt: 0.01}
contact: {model: none}
links:
  - {name: a, mass: 1, joint: {type: hinge, axis: [0, 1, 0]}, shapes: [{type: box, size: [0.05, 0.05, 0.5], position: [0, 0, -0.25]}]}
  - name: b
    parent: a
    mass: 0.5
    joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, -0.5], stiffness: 2, damping: 0.05}
    shapes: [{type: box, size: [0.05, 0.05, 0.5], position: [0, 0, -0.25]}]
  - {name: c, parent: b, mass: 0.3, joint: {type: ball, position: [0, 0, -0.5]}, shapes: [{type: box, size: [0.05, 0.08, 0.3], position: [0, 0, -0.15]}]}
controllers: [{link: a, type: torque, target: 0}]
initial: [{link: a, coordinates: [0.5], velocities: [1]}, {link: c, coordinates: [0.1, 0.2, 0.3], velocities: [1, 2, 3]}]
"""


class Whole(unittest.TestCase):
    def test_the_gradient_is_the_adjoint_s(self):
        scene = sdrs.Scene(ARM)
        q, v, u = leaf(scene.coordinates), leaf(scene.velocities), leaf(0.1 * np.ones((12, 4)))
        out = sdrs.torch.run(scene, q, v, u)
        target = torch.tensor([0.5, 0.2, 0.9], dtype=torch.float64)
        loss = (out.positions[:, 3] - target).square().sum() + out.orientations[-1, 2].sum() + out.velocities[-1].square().sum()
        loss.backward()
        run = scene.run(input=0.1 * np.ones((12, 4)))
        by_orientation, by_velocity = np.zeros((13, 4)), np.zeros((13, 10))
        by_orientation[-1], by_velocity[-1] = 1, 2 * run.velocities[-1]
        slope = run.gradient({"hand": 2 * (run.position("hand") - target.numpy())}, orientation={"arm": by_orientation},
                             velocities=by_velocity)
        for found, wanted in ((v.grad, slope["velocities"]), (u.grad, slope["input"])):
            np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-12, atol=1e-12 * np.abs(wanted).max())

    def test_torch_s_differences_agree(self):
        scene = sdrs.Scene(ARM, overrides={"contact.model": "none"})
        q, v, u = leaf(scene.coordinates), leaf(scene.velocities), leaf(0.1 * np.ones((12, 4)))
        whole = lambda *x: tuple(part[-1] for part in sdrs.torch.run(scene, *x))  # noqa: E731
        self.assertTrue(torch.autograd.gradcheck(whole, (q, v, u), eps=1e-6, atol=1e-6, rtol=1e-5))
        one = lambda *x: sdrs.torch.step(scene, *x)  # noqa: E731
        self.assertTrue(torch.autograd.gradcheck(one, (q, v, leaf(0.1 * np.ones(4))), eps=1e-6, atol=1e-6, rtol=1e-5))

    def test_steps_continue_the_motion(self):
        """Chained steps are one run: a fall in closed form, a pendulum of two links; with the derivatives of differences."""
        fall = sdrs.Scene("{simulation: {dt: 0.01}, contact: {model: none}, links: [{name: m, mass: 2, joint: {type: slide, "
                          "axis: [0, 0, 1]}, shape: {type: sphere, radius: 0.1}}], controllers: [{link: m, type: torque, target: 0}]}")
        x, v, u = leaf(np.zeros(1)), leaf(np.zeros(1)), leaf(np.zeros(1))
        q, rate = x, v
        for _ in range(100):
            q, rate = sdrs.torch.step(fall, q, rate, u)
        q.backward()
        for found, wanted in ((q, -9.81 * 0.5050), (rate, -9.81), (u.grad, 0.5050 / 2), (v.grad, 1)):
            self.assertAlmostEqual(float(found), wanted, places=11)

        scene = sdrs.Scene(CHAIN)
        given = scene.run(7)
        start = leaf(given.coordinates[-1]), leaf(given.velocities[-1]), leaf(0.1 * np.ones(scene.nu))

        def chain(q, v, u):
            for _ in range(5):
                q, v = sdrs.torch.step(scene, q, v, u)
            return q, v

        whole = scene.run(5, start[0].detach().numpy(), start[1].detach().numpy(), np.full((5, scene.nu), 0.1), continues=True)
        for found, wanted in zip(chain(*start), (whole.coordinates[-1], whole.velocities[-1])):
            np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=1e-9, atol=1e-10)
        self.assertTrue(torch.autograd.gradcheck(chain, start, eps=1e-6, atol=1e-6, rtol=1e-5))

    def test_many_are_as_many_single_ones(self):
        """Results and gradients, bit for bit, whatever the threads; what all runs share gets the sum."""
        scene = sdrs.Scene(ARM)
        draw = np.random.default_rng(5)
        v = scene.velocities + 0.1 * draw.standard_normal((3, scene.nv))
        u = 0.1 * draw.standard_normal((3, 5, scene.nu))
        for function in (lambda q, v, u, **o: sdrs.torch.run(scene, q, v, u, **o), lambda q, v, u, **o: sdrs.torch.step(scene, q, v, u[..., 0, :], **o)):
            singles = [(leaf(scene.coordinates), leaf(v[k]), leaf(u[k])) for k in range(3)]
            alone = [function(*single) for single in singles]
            weights = [torch.from_numpy(draw.standard_normal(tuple(part.shape))) for part in alone[0]]
            for results in alone:
                sum((w * part).sum() for w, part in zip(weights, results)).backward()
            for threads in (1, 2):
                together = leaf(scene.coordinates), leaf(v), leaf(u)
                results = function(*together, threads=threads)
                sum((w * part).sum() for w, part in zip(weights, results)).backward()
                for k in range(3):
                    for part, single in zip(results, alone[k]):
                        np.testing.assert_array_equal(part[k].detach().numpy(), single.detach().numpy())
                    np.testing.assert_array_equal(together[1].grad[k].numpy(), singles[k][1].grad.numpy())
                    np.testing.assert_array_equal(together[2].grad[k].numpy(), singles[k][2].grad.numpy())
                np.testing.assert_allclose(together[0].grad.numpy(), sum(single[0].grad.numpy() for single in singles), rtol=1e-12, atol=1e-12)

    def test_what_does_not_fit_is_refused(self):
        scene = sdrs.Scene(ARM)
        q, v = torch.from_numpy(scene.coordinates), torch.from_numpy(scene.velocities)
        with self.assertRaisesRegex(sdrs.Error, "different numbers of runs"):
            sdrs.torch.step(scene, q.repeat(2, 1), v.repeat(3, 1))
        with self.assertRaisesRegex(sdrs.Error, r"velocities: got shape \(1, 1, 10\), expected 1 dimensions, or 2"):
            sdrs.torch.step(scene, q, v[None, None])
        for shape in (12,), (2, 3, 12, 4):
            with self.assertRaisesRegex(sdrs.Error, r"input: got shape \(.*12.*\), expected 2 dimensions, or 3"):
                sdrs.torch.run(scene, input=torch.zeros(shape))
        bad = v.repeat(3, 1)
        bad[1, 0] = float("nan")
        with self.assertRaisesRegex(sdrs.Error, "velocities must be finite"):
            sdrs.torch.step(scene, q, bad)

    def test_steps_chain(self):
        """A policy: the target of each step is linear in the state before it. Its derivative against differences."""
        scene = sdrs.Scene(ARM, overrides={"contact.model": "none"})

        def end(gain):
            q, v = torch.from_numpy(scene.coordinates), torch.from_numpy(scene.velocities)
            for _ in range(4):
                q, v = sdrs.torch.step(scene, q, v, gain * v[6:10])
            return q[-1]

        gain = leaf(0.3)
        end(gain).backward()
        difference = (end(torch.tensor(0.3001)) - end(torch.tensor(0.2999))) / 2e-4
        self.assertLess(abs(float(gain.grad / difference) - 1), 1e-4)

    @unittest.skipUnless(PROGRAM.exists(), "the program is not built")
    def test_it_is_that_of_gradcheck(self):
        """The size of the gradient by the start, over a whole run and over one step, which gradcheck prints and holds against
        differences."""
        wanted_place = torch.tensor([0.5, 0.2, 0.9], dtype=torch.float64)
        scene = sdrs.Scene(ARM, overrides={"simulation.tolerance": 1e-12})
        for steps in 12, 1:
            q, v = leaf(scene.coordinates), leaf(scene.velocities)
            out = sdrs.torch.run(scene, q, v, steps=steps)
            loss = (out.positions[-1, scene.link("hand")] - wanted_place).square().sum()
            loss.backward()
            by = q.grad.numpy()  # of a quaternion (1, 0, 0, 0) half of x, y, z is the slope by a turn
            found = np.linalg.norm(np.concatenate([by[:3], by[4:7] / 2, by[8:11] / 2, by[11:], v.grad.numpy()]))
            with tempfile.TemporaryDirectory() as folder:
                task = pathlib.Path(folder) / "task.yaml"
                pathlib.Path(folder, "arm.yaml").write_text(ARM)
                task.write_text(f"scene: arm.yaml\nsteps: {steps}\ncontrol: [{{link: arm}}]\n"
                                f"loss: [{{type: point, link: hand, point: [0, 0, 0], target: {wanted_place.tolist()}}}]\n")
                words = [PROGRAM, "gradcheck", task, "--wrt", "state", "--directions", "1", "--json", "-q"]
                checked = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)[0]
            self.assertAlmostEqual(float(loss), checked["loss"], delta=1e-15)
            self.assertTrue(checked["blocks"]["state"]["passed"])
            self.assertLess(abs(found / checked["blocks"]["state"]["gradient_norm"] - 1), 1e-12)

    def test_a_task_s_loss(self):
        task = sdrs.Scene(ROOT / "scenes" / "tasks" / "throw.yaml")
        design = leaf([1.5])
        sdrs.torch.loss(task, design).backward()
        np.testing.assert_array_equal(design.grad.numpy(), task.record().loss()[1]["design"])


if __name__ == "__main__":
    unittest.main()
