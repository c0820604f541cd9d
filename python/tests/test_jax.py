"""JAX functions: by JAX itself where it is installed, else by a stand-in of its interface."""

import unittest

import numpy as np
from support import ARM, closest_difference, real_or_standin

import sdrs

jax, REAL = real_or_standin("jax")
if REAL:
    jax.config.update("jax_enable_x64", True)
else:
    print("test_jax: JAX is not installed: a stand-in of its interface (tests/standins/jax) takes its place")
import sdrs.jax  # noqa: E402


class Functions(unittest.TestCase):
    def check(self, function, arguments, scene):
        """Every argument's derivative against differences along a random direction."""
        random = np.random.default_rng(4)
        results, back = jax.vjp(function, *arguments)
        weights = tuple(random.standard_normal(np.shape(result)) for result in results)
        slopes = back(weights)
        for k, slope in enumerate(slopes):
            self.assertEqual(np.shape(slope), np.shape(arguments[k]))

            def value(x, k=k):
                moved = [x if j == k else argument for j, argument in enumerate(arguments)]
                return sum(float((w * np.asarray(part)).sum()) for w, part in zip(weights, function(*moved)))

            direction = random.standard_normal(np.shape(arguments[k]))
            analytic = float((np.asarray(slope) * direction).sum())
            difference = closest_difference(value, arguments[k], direction, analytic)
            self.assertLess(abs(difference / analytic - 1), 1e-6)

    def test_a_run(self):
        scene = sdrs.Scene(ARM, overrides={"contact.model": "none"})
        q = scene.coordinates
        self.check(sdrs.jax.run(scene), (q, scene.velocities, 0.1 * np.ones((12, 4))), scene)

    def test_a_step(self):
        scene = sdrs.Scene(ARM, overrides={"contact.model": "none"})
        self.check(sdrs.jax.step(scene), (scene.coordinates, scene.velocities, 0.1 * np.ones(4)), scene)

    def test_many_are_as_many_single_ones(self):
        scene = sdrs.Scene(ARM)
        draw = np.random.default_rng(5)
        q, v = np.tile(scene.coordinates, (3, 1)), scene.velocities + 0.1 * draw.standard_normal((3, scene.nv))
        for function, u in ((sdrs.jax.run(scene, 5, threads=2), 0.1 * draw.standard_normal((3, 5, scene.nu))),
                            (sdrs.jax.step(scene, 3, threads=2), 0.1 * draw.standard_normal((3, scene.nu)))):
            results, back = jax.vjp(function, q, v, u)
            seeds = tuple(draw.standard_normal(np.shape(result)) for result in results)
            slopes = back(seeds)
            for k in range(3):
                alone, alone_back = jax.vjp(function, q[k], v[k], u[k])
                for many, single in zip((*results, *slopes), (*alone, *alone_back(tuple(seed[k] for seed in seeds)))):
                    np.testing.assert_array_equal(many[k], single)
            with self.assertRaisesRegex(sdrs.Error, "expected"):
                function(q, v[:2], u)

    @unittest.skipUnless(REAL, "JAX is not installed: nothing traces or compiles")
    def test_within_jit(self):
        scene = sdrs.Scene(ARM)
        run = sdrs.jax.run(scene)
        loss = lambda v: run(scene.coordinates, v, 0.1 * np.ones((12, 4)))[2][-1, 3, 0]  # noqa: E731
        np.testing.assert_allclose(jax.jit(jax.grad(loss))(scene.velocities), jax.grad(loss)(scene.velocities), rtol=1e-13)


if __name__ == "__main__":
    unittest.main()
