"""Gymnasium environments from a scene or a task, single or vectorized on threads.

    import sdrs.gym
    env = sdrs.gym.make("ant")
    env = sdrs.gym.Env("scenes/spider.yaml", reward=lambda scene: scene.position("body")[0])
    envs = sdrs.gym.VectorEnv("scenes/spider.yaml", num_envs=64, threads=2)

An action contains the targets of all controllers, constant over `frame_skip` steps. An observation contains the
coordinates, then the velocities. `reward(scene)` and `terminated(scene)` are evaluated after the step. Without
`reward`, the reward of a task is minus its loss at the end of the run, and the reward of a scene is 0. An episode is
truncated after the number of steps of the scene. If the solver fails, the episode terminates with reward 0, and
info["error"] contains the message.

`make(name)` returns one of Gymnasium's robots with the actions, observations and rewards of its v5 task.
`gradient(actions)` of this environment returns the exact gradient of the return of an episode. `vjp` of a VectorEnv
computes derivatives through one step of all environments.
"""

from __future__ import annotations

import concurrent.futures
import ctypes
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike

from . import _library as c
from . import _robots
from ._chart import by_coordinates
from ._many import Many
from .scene import Array, Overrides, PathLike, Scene, _doubles, _threads, _whole, default_threads


ENVS_MOST = 10**6  # limit of num_envs


class _World:
    """Common part of single and vector environments: spaces, initial states and rewards."""

    def __init__(self, scene, overrides, reward, terminated, low, high, frame_skip, max_steps, noise):
        self.scene = scene if isinstance(scene, Scene) else Scene(scene, overrides)
        self.reward, self.terminated = reward, terminated
        self.frame_skip, self.noise = int(frame_skip), float(noise)
        self.max_steps = int(max_steps or max(1, self.scene.steps // self.frame_skip))
        self.start = self.scene.coordinates, self.scene.velocities
        self.action_space = gymnasium.spaces.Box(low, high, (self.scene.nu,), np.float64)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (self.scene.nq + self.scene.nv,), np.float64)

    def begin(self, scene, random):
        """Sets the initial state, with random noise added to its velocities."""
        coordinates, velocities = self.start
        if self.noise > 0:
            velocities = velocities + self.noise * random.standard_normal(self.scene.nv)
        scene.set("coordinates", coordinates)
        scene.set("velocities", velocities)
        scene.reset()

    def act(self, scene, action):
        scene.set("input", np.asarray(action, dtype=np.float64))

    def observe(self, scene):
        return np.concatenate([scene.coordinates, scene.velocities])

    def judge(self, scene, done, error) -> tuple[float, bool, bool, dict[str, Any]]:
        """Returns (reward, terminated, truncated, info) after `done` actions."""
        if error is not None:
            return 0.0, True, False, {"error": str(error)}
        ended = bool(self.terminated(scene)) if self.terminated else False
        cut = done >= self.max_steps
        if self.reward:
            return float(self.reward(scene)), ended, cut, {}
        paid = -scene.record(done * self.frame_skip).loss()[0] if cut and scene.design_count else 0.0
        return paid, ended, cut, {}


class _RobotWorld(_World):
    """Actions, observations and rewards of one of Gymnasium's robots."""

    def __init__(self, name, dt, max_steps, noise):
        if name not in _robots.ROBOTS:
            raise c.Error(f"no robot is named '{name}': {', '.join(_robots.ROBOTS)}")
        self.name, self.robot = name, _robots.ROBOTS[name]
        scene = _robots.load(name, self.robot, dt)
        skip = round(self.robot.timestep * self.robot.frame_skip / scene.dt)
        super().__init__(scene, None, None, None, -self.robot.action, self.robot.action, skip, max_steps or self.robot.steps,
                         self.robot.noise if noise is None else noise)
        self.pays = _robots.Reward(self.robot, scene)
        self.gears = np.array(self.robot.gears, dtype=np.float64)
        self.order = np.argsort(self.robot.order) if self.robot.order else np.arange(len(self.gears))
        size = len(self.observe(scene))
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float64)

    def torques(self, actions):
        return (np.clip(actions, -self.robot.action, self.robot.action) * self.gears)[..., self.order]

    def act(self, scene, action):
        scene.acted = self.pays.forward(scene), np.array(action, dtype=np.float64)
        scene.set("input", self.torques(scene.acted[1]))

    def observe(self, scene):
        return _robots.observe(self.name, self.robot, self.pays, scene)

    def judge(self, scene, done, error) -> tuple[float, bool, bool, dict[str, Any]]:
        if error is not None:
            return 0.0, True, False, {"error": str(error)}
        parts = self.pays.parts(scene, *scene.acted)
        return sum(parts.values()), not self.pays.is_healthy(scene), done >= self.max_steps, parts


    def gradient(self, actions):
        torques = np.repeat(self.torques(actions), self.frame_skip, axis=0)
        coordinates, velocities = self.start
        run = self.scene.run(coordinates=coordinates, velocities=velocities, input=torques)
        value, by_input = self.pays.gradient(run, self.frame_skip)
        by_torque = np.empty((len(actions), len(self.gears)))
        by_torque[:, self.order] = by_input.reshape(len(actions), self.frame_skip, -1).sum(axis=1)
        weight = self.robot.control_weight
        slope = by_torque * self.gears * (np.abs(actions) <= self.robot.action) - 2 * weight * actions
        return value - weight * float(np.square(actions).sum()) + self.robot.healthy_reward * len(actions), slope


class Env(gymnasium.Env):
    """A Gymnasium environment of a scene.

    scene: a path, a text or a Scene. action_low, action_high: bounds of the targets [m, rad]. noise: standard deviation
    of the initial velocities [m/s, rad/s]."""

    metadata = {"render_modes": []}

    def __init__(self, scene: Scene | PathLike, overrides: Overrides = None, reward: Callable[[Scene], float] | None = None,
                 terminated: Callable[[Scene], bool] | None = None, action_low: ArrayLike = -1.0,
                 action_high: ArrayLike = 1.0, frame_skip: int = 1, max_steps: int | None = None, noise: float = 0.0,
                 render_mode: None = None) -> None:
        self._enter(_World(scene, overrides, reward, terminated, action_low, action_high, frame_skip, max_steps, noise), render_mode)

    def _enter(self, world: _World, render_mode: None = None) -> None:
        self._world, self.scene, self.render_mode = world, world.scene, render_mode
        self.action_space, self.observation_space = world.action_space, world.observation_space
        self._done = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        self._done = 0
        self._world.begin(self.scene, self.np_random)
        return self._world.observe(self.scene), {}

    def step(self, action: ArrayLike) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        error, action = None, _doubles(action, self.action_space.shape, "action")
        try:
            self._world.act(self.scene, action)
            self.scene.step(self._world.frame_skip)
        except c.Error as fault:
            if fault.status != "SOLVER":
                raise
            error = fault
        self._done += 1
        reward, ended, cut, info = self._world.judge(self.scene, self._done, error)
        return self._world.observe(self.scene), reward, ended, cut, info


class VectorEnv(gymnasium.vector.VectorEnv):
    """num_envs runs of one scene that one call of the library advances in parallel. An environment whose episode has
    ended resets in its next step, as in Gymnasium (AutoresetMode.NEXT_STEP)."""

    metadata = {"render_modes": [], "autoreset_mode": getattr(getattr(gymnasium.vector, "AutoresetMode", None), "NEXT_STEP",
                                                              "next-step")}

    def __init__(self, scene: Scene | PathLike, num_envs: int, threads: int | None = None, overrides: Overrides = None, reward: Callable[[Scene], float] | None = None,
                 terminated: Callable[[Scene], bool] | None = None, action_low: ArrayLike = -1.0,
                 action_high: ArrayLike = 1.0, frame_skip: int = 1, max_steps: int | None = None, noise: float = 0.0) -> None:
        self._enter(_World(scene, overrides, reward, terminated, action_low, action_high, frame_skip, max_steps, noise), num_envs, threads)

    def _enter(self, world: _World, num_envs: int, threads: int | None) -> None:
        self._world = world
        self.num_envs, self.threads = _whole(num_envs, ENVS_MOST, "num_envs"), _threads(default_threads() if threads is None else threads)
        self.scenes = [self._world.scene.clone() for _ in range(self.num_envs)]
        self._pointers = (ctypes.c_void_p * self.num_envs)(*[scene._object.pointer for scene in self.scenes])
        self.single_action_space = self._world.action_space
        self.single_observation_space = self._world.observation_space
        batch = gymnasium.vector.utils.batch_space
        self.action_space = batch(self.single_action_space, self.num_envs)
        self.observation_space = batch(self.single_observation_space, self.num_envs)
        self._random = np.random.default_rng()
        self._done = np.zeros(self.num_envs, dtype=int)
        self._over = np.ones(self.num_envs, dtype=bool)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        if seed is not None:
            self._random = np.random.default_rng(seed)
        for scene in self.scenes:
            self._world.begin(scene, self._random)
        self._done[:] = 0
        self._over[:] = False
        return np.stack([self._world.observe(scene) for scene in self.scenes]), {}

    def _step_those(self, live):
        """Advances the environments `live`. Returns {index: error} of the environments whose step failed."""
        pointers = (ctypes.c_void_p * max(len(live), 1))(*[self._pointers[k] for k in live])
        before = {k: self.scenes[k].time for k in live}
        status = c.lib.sdrs_step_all(pointers, len(live), self._world.frame_skip, self.threads)
        if not status:
            return {}
        span = (self._world.frame_skip - 0.5) * self._world.scene.dt
        return {k: c.error_of(self._pointers[k], status) for k in live if self.scenes[k].time < before[k] + span}

    def step(self, actions: ArrayLike) -> tuple[Array, Array, np.ndarray, np.ndarray, dict[str, Any]]:
        actions = _doubles(actions, self.action_space.shape, "actions")
        rewards, ended, cut = np.zeros(self.num_envs), np.zeros(self.num_envs, bool), np.zeros(self.num_envs, bool)
        infos, begun = {}, np.flatnonzero(self._over)
        live = [k for k in range(self.num_envs) if not self._over[k]]
        for k in begun:
            self._world.begin(self.scenes[k], self._random)
            self._done[k], self._over[k] = 0, False
        for k in live:
            self._world.act(self.scenes[k], actions[k])
        errors = self._step_those(live)
        for k in live:
            self._done[k] += 1
            rewards[k], ended[k], cut[k], info = self._world.judge(self.scenes[k], self._done[k], errors.get(k))
            self._over[k] = ended[k] or cut[k]
            for name, value in info.items():
                infos.setdefault(name, [None] * self.num_envs)[k] = value
        return np.stack([self._world.observe(scene) for scene in self.scenes]), rewards, ended, cut, infos


    def vjp(self, observations: ArrayLike, actions: ArrayLike, seeds: ArrayLike) -> tuple[Array, Array]:
        """Returns the vector-Jacobian product of one step of each environment.

        seeds (num_envs, observation): derivatives of a loss by the observations after the step. The results are the
        derivatives by the observations before the step (num_envs, observation) and by the actions (num_envs, action).
        The step continues the motion of `observations`, as `step` does. The states of the environments do not
        change."""
        scene, held = self._world.scene, self._world.frame_skip
        shape = (self.num_envs, scene.nq + scene.nv)
        before, seeds = _doubles(observations, shape, "observations"), _doubles(seeds, shape, "seeds")
        actions = _doubles(actions, (self.num_envs, scene.nu), "actions")
        q, v = before[:, :scene.nq], before[:, scene.nq:]
        inputs = np.repeat(actions[:, None], held, axis=1) if scene.nu else None
        runs = Many(scene, held, self.num_envs, q, v, inputs, self.threads, continues=True)
        rows = np.zeros((self.num_envs, held + 1, shape[1]))
        rows[:, -1] = seeds
        wanted = ["coordinates", "velocities"] + ["input"] * (scene.nu > 0)
        slopes = runs.gradient({"coordinates": rows[..., :scene.nq], "velocities": rows[..., scene.nq:]}, wanted)
        by_state = np.hstack([by_coordinates(scene, q, slopes["coordinates"]), slopes["velocities"]])
        return by_state, slopes["input"].sum(axis=1) if scene.nu else np.zeros((self.num_envs, 0))


class RobotEnv(Env):
    """Environment of one of Gymnasium's robots. make() creates it."""

    _world: _RobotWorld

    def __init__(self, name: str, dt: float | None = None, max_steps: int | None = None, noise: float | None = None,
                 render_mode: None = None) -> None:
        self._enter(_RobotWorld(name, dt, max_steps, noise), render_mode)

    def gradient(self, actions: ArrayLike) -> tuple[float, Array]:
        """Returns the return of an episode (a number) and its exact gradient by `actions` (frames, actions).

        The episode starts without noise. The healthy reward is counted in each frame. The derivative by an action
        beyond its bound contains only the control cost."""
        return self._world.gradient(np.asarray(actions, dtype=np.float64))


class RobotVectorEnv(VectorEnv):
    """Vector environment of one of Gymnasium's robots. make() creates it."""

    _world: _RobotWorld

    def __init__(self, name: str, num_envs: int, threads: int | None = None, dt: float | None = None, max_steps: int | None = None,
                 noise: float | None = None) -> None:
        self._enter(_RobotWorld(name, dt, max_steps, noise), num_envs, threads)

    def gradient(self, actions: ArrayLike) -> tuple[Array, Array]:
        """Returns the returns of episodes (num_envs) and their gradients by `actions` (num_envs, frames, actions), as
        RobotEnv.gradient does for one environment."""
        actions = np.asarray(actions, dtype=np.float64)
        if actions.ndim != 3 or len(actions) != self.num_envs:
            raise c.Error(f"actions: got shape {actions.shape}, expected ({self.num_envs}, frames, {len(self._world.gears)})")
        with concurrent.futures.ThreadPoolExecutor(self.threads) as pool:
            values, slopes = zip(*pool.map(self._world.gradient, actions))
        return np.array(values), np.stack(slopes)

    def vjp(self, observations: ArrayLike, actions: ArrayLike, seeds: ArrayLike) -> tuple[Array, Array]:
        """Raises sdrs.Error, because the observations of a robot are not its whole state."""
        raise c.Error("vjp: a robot's observations are not its whole state: use gradient(actions), or VectorEnv of its scene")


def make(name: str, num_envs: int | None = None, threads: int | None = None, dt: float | None = None, max_steps: int | None = None,
         noise: float | None = None) -> RobotEnv | RobotVectorEnv:
    """Returns an environment of one of Gymnasium's robots, or a vector environment if num_envs is given.

    name: hopper, walker2d, half_cheetah, ant, humanoid, swimmer, reacher or pusher. Actions, observations and rewards
    are Gymnasium's. dt: time step [s], by default that of the model. noise: standard deviation of the initial
    velocities, by default Gymnasium's. Initial coordinates are those of the keyframe of the model."""
    if num_envs is None:
        return RobotEnv(name, dt, max_steps, noise)
    return RobotVectorEnv(name, num_envs, threads, dt, max_steps, noise)
