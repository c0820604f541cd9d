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

    def test_wrong_shapes_and_counts_are_errors(self):
        scene = sdrs.Scene(ARM)
        envs, env = sdrs.gym.VectorEnv(scene, 3), sdrs.gym.Env(scene)
        envs.reset()
        env.reset()
        for shape in ((3, 3), (4,), (3, 8), (12,)):
            with self.assertRaisesRegex(sdrs.Error, r"actions: got shape .*, expected \(3, 4\)"):
                envs.step(np.zeros(shape))
        with self.assertRaisesRegex(sdrs.Error, r"action: got shape \(8,\), expected \(4,\)"):
            env.step(np.zeros(8))
        for count in (0, -1, 2.5, "2"):
            with self.assertRaisesRegex(sdrs.Error, "num_envs: a whole number from 1 to"):
                sdrs.gym.VectorEnv(scene, count)

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


    def test_gradients_of_a_step_are_its_differences(self):
        """Of the observation after two frames of three steps, through both, by the first action and the first velocities."""
        actions = 0.2 * np.random.default_rng(7).standard_normal((2, 3, 4))
        many = sdrs.gym.VectorEnv(ARM, 3, threads=2, frame_skip=3, overrides={"contact.model": "none"})
        scene = many.scenes[0]
        first = np.concatenate([scene.coordinates, scene.velocities]) + np.zeros((3, 1))
        first[:, scene.nq:] += 0.1 * np.random.default_rng(8).standard_normal((3, scene.nv))
        weights = np.random.default_rng(9).standard_normal(first.shape)

        def after(seen, action):
            out = []
            for row, target in zip(seen, action):
                scene.set("coordinates", row[:scene.nq])
                scene.set("velocities", row[scene.nq:])
                scene.set("input", target)
                scene.step(3)
                out.append(np.concatenate([scene.coordinates, scene.velocities]))
            return np.array(out)

        middle = after(first, actions[0])
        by_middle, by_second = many.vjp(middle, actions[1], weights)
        by_first, by_action = many.vjp(first, actions[0], by_middle)
        along_action, along_state = np.ones_like(actions[0]), np.zeros_like(first)
        along_state[:, scene.nq:] = 1
        for h in (1e-4, 1e-5, 1e-6):  # each environment by itself: the losses are not added up
            ends = [(weights * after(after(first + h * s * along_state, actions[0] + h * s * along_action), actions[1])).sum(1)
                    for s in (1, -1)]
            wanted = (by_action * along_action).sum(1) + (by_first * along_state).sum(1)
            np.testing.assert_allclose((ends[0] - ends[1]) / (2 * h), wanted, rtol=1e-5)
        single = sdrs.gym.VectorEnv(ARM, 3, threads=1, frame_skip=3, overrides={"contact.model": "none"})
        np.testing.assert_array_equal(single.vjp(middle, actions[1], weights)[1], by_second)
        with self.assertRaisesRegex(sdrs.Error, "seeds: got shape"):
            many.vjp(middle, actions[1], weights[:, 1:])


class Robots(unittest.TestCase):
    SIZES = {"hopper": (11, 3), "walker2d": (17, 6), "half_cheetah": (17, 6), "ant": (27, 8), "humanoid": (45, 17), "swimmer": (8, 2),
             "reacher": (10, 2), "pusher": (23, 7)}

    def actions(self, env, frames=12):
        low, high = env.action_space.low.min(), env.action_space.high.max()
        return np.random.default_rng(1).uniform(low / 2, high / 2, (frames, *env.action_space.shape))

    def test_sizes_are_gymnasium_s(self):
        for name, (observed, acted) in self.SIZES.items():
            with self.subTest(name):
                env = sdrs.gym.make(name)
                seen, _ = env.reset(seed=1)
                self.assertEqual((seen.shape, env.action_space.shape, env.scene.nu), ((observed,), (acted,), acted))

    def test_the_start_is_mujoco_s(self):
        """Heights are the world's, as qpos is with `ref` and free joints."""
        for name, index, height in (("hopper", 0, 1.25), ("walker2d", 0, 1.25), ("half_cheetah", 0, 0), ("ant", 0, 0.75), ("humanoid", 0, 1.4)):
            with self.subTest(name):
                self.assertAlmostEqual(sdrs.gym.make(name, noise=0).reset(seed=1)[0][index], height, places=12)

    def test_free_velocities_are_linear_in_the_world_and_angular_in_the_body(self):
        env = sdrs.gym.make("ant", noise=0)
        seen, _ = env.reset(seed=1)
        start, velocities = env.scene.coordinates, np.zeros(env.scene.nv)
        start[3:7] = np.cos(0.5), 0, 0, np.sin(0.5)  # 1 rad about z
        velocities[:6] = 1, 0, 0, 0.5, 0, 0
        env.scene.set("coordinates", start)
        env.scene.set("velocities", velocities)
        env.scene.reset()
        before, turned = env.scene.position("torso"), env.scene.orientation("torso")
        env.scene.step()
        moved, now = env.scene.position("torso") - before, env.scene.orientation("torso")
        by = 2 * (turned[0] * now[1:] - now[0] * turned[1:] - np.cross(turned[1:], now[1:])) / env.scene.dt  # conj(turned) now, in the body's axes
        self.assertLess(np.abs(moved[:2] / env.scene.dt - [1, 0]).max(), 0.05)
        self.assertLess(np.abs(by[:2] - [0.5, 0]).max(), 0.05)

    def test_rewards_are_gymnasium_s_formulas(self):
        for name, forward, control, alive in (("hopper", 1, 1e-3, 1), ("half_cheetah", 1, 0.1, 0), ("ant", 1, 0.5, 1), ("swimmer", 1, 1e-4, 0)):
            with self.subTest(name):
                env = sdrs.gym.make(name, noise=0)
                env.reset(seed=1)
                action = self.actions(env)[0]
                before, began = env.scene.position("torso")[0], env.scene.time
                _, paid, ended, _, info = env.step(action)
                speed = (env.scene.position("torso")[0] - before) / (env.scene.time - began)
                self.assertFalse(ended)
                self.assertAlmostEqual(paid, forward * speed - control * sum(a * a for a in action) + alive, places=10)
                self.assertAlmostEqual(info["reward_forward"], forward * speed, places=10)
        env = sdrs.gym.make("reacher", noise=0)
        env.reset(seed=1)
        seen, paid, _, _, _ = env.step([0.5, -0.25])
        angles = np.arctan2(seen[2:4], seen[:2])
        tip = [0.1 * f(angles[0]) + 0.11 * f(angles.sum()) for f in (np.cos, np.sin)]
        self.assertAlmostEqual(paid, -np.hypot(tip[0] - 0.1, tip[1] + 0.1) - 0.5**2 - 0.25**2, places=9)

    def test_a_fallen_hopper_ends(self):
        env = sdrs.gym.make("hopper", noise=0)
        env.reset(seed=1)
        for k in range(300):
            _, _, ended, _, info = env.step([0, 0, 0])
            if ended:
                break
        self.assertTrue(ended)
        self.assertEqual(info["reward_survive"], 0)

    def test_gradients_of_the_return_are_its_differences(self):
        """Along a direction, at the best of four steps. Contact is solved to the scene's tolerance, which bounds what differences resolve."""
        for name, near in (("swimmer", 1e-6), ("reacher", 1e-6), ("pusher", 1e-4), ("hopper", 1e-3), ("half_cheetah", 3e-3), ("humanoid", 1e-3)):
            with self.subTest(name):
                env = sdrs.gym.make(name, noise=0)
                actions = self.actions(env)
                value, slope = env.gradient(actions)
                env.reset(seed=1)
                self.assertAlmostEqual(value, sum(env.step(action)[1] for action in actions), places=9)
                along = np.random.default_rng(2).standard_normal(actions.shape)
                found = [(env.gradient(actions + h * along)[0] - env.gradient(actions - h * along)[0]) / (2 * h) for h in (1e-3, 1e-4, 1e-5, 1e-6)]
                expected = float((slope * along).sum())
                self.assertLess(min(abs(one - expected) for one in found), near * abs(expected), f"{found} {expected}")

    def test_many_are_as_many_single_ones(self):
        many, one = sdrs.gym.make("ant", num_envs=3, threads=2, noise=0), sdrs.gym.make("ant", noise=0)
        np.testing.assert_array_equal(many.reset(seed=1)[0], [one.reset(seed=1)[0]] * 3)
        for action in self.actions(one, 3):
            seen, paid, _, _, _ = many.step([action] * 3)
            alone, alone_paid, _, _, _ = one.step(action)
            np.testing.assert_array_equal(seen, [alone] * 3)
            np.testing.assert_array_equal(paid, [alone_paid] * 3)

    def test_gradients_of_many_are_those_of_each(self):
        many, one = sdrs.gym.make("swimmer", num_envs=2, threads=2, noise=0), sdrs.gym.make("swimmer", noise=0)
        actions = np.random.default_rng(3).uniform(-1, 1, (2, 10, 2))
        values, slopes = many.gradient(actions)
        for k in range(2):
            value, slope = one.gradient(actions[k])
            self.assertEqual(values[k], value)
            np.testing.assert_array_equal(slopes[k], slope)
        with self.assertRaisesRegex(sdrs.Error, "not its whole state"):
            many.vjp(np.zeros((2, 8)), np.zeros((2, 2)), np.zeros((2, 8)))

    def test_an_unknown_robot_is_refused_with_the_known_ones(self):
        with self.assertRaisesRegex(sdrs.Error, "no robot is named 'cheetah': hopper, walker2d, half_cheetah"):
            sdrs.gym.make("cheetah")


if __name__ == "__main__":
    unittest.main()
