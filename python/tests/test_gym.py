"""Environments: by Gymnasium's own checker where it is installed, else through a stand-in of its interface."""

import unittest

import numpy as np
from support import ARM, ROOT, real_or_standin

import sdrs

gymnasium, REAL = real_or_standin("gymnasium")
if not REAL:
    print("test_gym: Gymnasium is not installed: a stand-in of its interface (tests/standins/gymnasium) takes its place")
import sdrs.gym  # noqa: E402

SPIDER = ROOT / "scenes" / "spider.yaml"


class One(unittest.TestCase):
    @unittest.skipUnless(REAL, "Gymnasium is not installed: its checker is not there")
    def test_gymnasium_s_checker_passes(self):
        from gymnasium.utils.env_checker import check_env

        check_env(sdrs.gym.Env(SPIDER, noise=0.01), skip_render_check=True)

    def test_an_episode_is_a_run(self):
        env = sdrs.gym.Env(ARM, reward=lambda scene: scene.position("hand")[2])
        run = env.scene.run(input=np.full((12, 4), 0.1))
        seen, info = env.reset(seed=1)
        self.assertEqual(info, {})
        self.assertTrue(env.observation_space.contains(seen))
        for k in range(1, 13):
            seen, paid, ended, cut, info = env.step(np.full(4, 0.1))
            np.testing.assert_array_equal(seen, np.concatenate([run.coordinates[k], run.velocities[k]]))
            self.assertEqual(paid, run.position("hand")[k, 2])
            self.assertEqual((ended, cut), (False, k == 12))

    def test_noise_is_the_seed_s(self):
        env = sdrs.gym.Env(ARM, noise=0.1)
        first, again, other = env.reset(seed=3)[0], env.reset(seed=3)[0], env.reset(seed=4)[0]
        np.testing.assert_array_equal(first, again)
        self.assertFalse((first == other).all())

    def test_a_task_pays_its_loss_at_the_end(self):
        env = sdrs.gym.Env(ROOT / "scenes" / "tasks" / "throw.yaml")
        env.reset(seed=1)
        paid, cut = 0.0, False
        while not cut:
            self.assertEqual(paid, 0.0)
            _, paid, _, cut, _ = env.step(np.zeros(0))
        self.assertEqual(paid, -env.scene.clone().record().loss()[0])


class Many(unittest.TestCase):
    def test_they_are_as_many_single_ones_whatever_the_threads(self):
        actions = 0.2 * np.random.default_rng(6).standard_normal((12, 3, 4))
        single = [sdrs.gym.Env(ARM) for _ in range(3)]
        for threads in (1, 2):
            many = sdrs.gym.VectorEnv(ARM, 3, threads=threads)
            seen, _ = many.reset(seed=1)
            np.testing.assert_array_equal(seen, [env.reset(seed=1)[0] for env in single])
            for action in actions:
                seen, paid, ended, cut, _ = many.step(action)
                np.testing.assert_array_equal(seen, [env.step(a)[0] for env, a in zip(single, action)])
            self.assertTrue(cut.all() and not ended.any())
            seen, paid, ended, cut, _ = many.step(actions[0])  # begins anew
            np.testing.assert_array_equal(seen, [env.reset(seed=1)[0] for env in single])
            self.assertFalse(cut.any() or paid.any())


if __name__ == "__main__":
    unittest.main()
