"""Gymnasium's robots (scenes/gym/) with the observations and rewards of its v5 tasks, for sdrs.gym.make.

Quantities that only MuJoCo provides are omitted: contact forces in reward and observation of ant and humanoid, and
inertias, body velocities and motor torques in the observation of the humanoid."""

from __future__ import annotations

import dataclasses
import math
import pathlib

import numpy as np

from . import _library as c
from .scene import Run, Scene

INFINITY = math.inf
FOLDERS = (c.BUNDLE / "gym", pathlib.Path(__file__).resolve().parents[2] / "scenes" / "gym")


@dataclasses.dataclass(frozen=True)
class Distance:
    """A reward term -weight |a - b| of two links. offset: position of the point of a, in the axes of a [m]."""

    a: str
    b: str
    weight: float
    offset: tuple[float, float, float] = (0, 0, 0)


@dataclasses.dataclass(frozen=True)
class Robot:
    timestep: float  # s
    frame_skip: int
    gears: tuple[float, ...]  # torque of an action of 1 [N m]
    control_weight: float
    forward_weight: float = 0  # weight of the velocity of the torso along x
    distances: tuple[Distance, ...] = ()
    healthy_reward: float = 0
    height: tuple[float, float] = (-INFINITY, INFINITY)  # range of the height of a healthy torso [m]
    pitch: tuple[float, float] = (-INFINITY, INFINITY)  # range of the pitch of a healthy torso [rad]
    state: float = INFINITY  # bound of the other coordinates and velocities of a healthy robot
    action: float = 1  # bound of the absolute value
    order: tuple[int, ...] = ()  # inputs of the scene in the order of the actions; empty if both orders agree
    clip: float = INFINITY  # bound of observed velocities
    skipped: int = 1  # number of first coordinates that are not observed
    by_mass: bool = False  # True if forward_weight applies to the centre of mass
    noise: float = 0
    gravity: tuple[float, float, float] = (0, 0, -9.81)
    steps: int = 1000


ROBOTS = {
    "hopper": Robot(0.002, 4, (200,) * 3, 1e-3, 1, healthy_reward=1, height=(0.7, INFINITY), pitch=(-0.2, 0.2), state=100, clip=10, noise=5e-3),
    "walker2d": Robot(0.002, 4, (100,) * 6, 1e-3, 1, healthy_reward=1, height=(0.8, 2), pitch=(-1, 1), clip=10, noise=5e-3),
    "half_cheetah": Robot(0.01, 5, (120, 90, 60, 120, 60, 30), 0.1, 1, noise=0.1),
    "ant": Robot(0.01, 5, (150,) * 8, 0.5, 1, healthy_reward=1, height=(0.2, 1), skipped=2, noise=0.1),
    "humanoid": Robot(0.003, 5, (100,) * 5 + (300, 200, 100, 100, 300, 200) + (25,) * 6, 0.1, 1.25, healthy_reward=5, height=(1, 2), action=0.4,
                      order=(1, 0, *range(2, 17)), skipped=2, by_mass=True, noise=1e-2),
    "swimmer": Robot(0.01, 4, (150,) * 2, 1e-4, 1, skipped=2, noise=0.1),
    "reacher": Robot(0.01, 2, (200,) * 2, 1, distances=(Distance("body1", "target", 1, (0.11, 0, 0)),), noise=5e-3, steps=50),
    "pusher": Robot(0.01, 5, (1,) * 7, 0.1, action=2, gravity=(0, 0, 0), noise=5e-3, steps=100,
                    distances=(Distance("object", "r_wrist_roll_link", 0.5), Distance("object", "goal", 1))),
}


def load(name: str, robot: Robot, dt: float | None) -> Scene:
    path = next((folder / f"{name}.xml" for folder in FOLDERS if (folder / f"{name}.xml").exists()), None)
    if path is None:
        raise c.Error(f"{name}.xml is in none of {', '.join(map(str, FOLDERS))}")
    frame = robot.timestep * robot.frame_skip
    skip = max(1, round(frame / (dt or robot.timestep)))
    text = (f"name: {name}\nsimulation: {{dt: {frame / skip!r}, steps: {skip * robot.steps}, gravity: {list(robot.gravity)}}}\n"
            f"include:\n  - {{file: {path.name}}}\nlinks: []\n")
    return Scene.from_text(text, path=path.parent / f"{name}.yaml")


def rotated(orientation, offset):
    """Returns `offset`, rotated by quaternions w x y z (..., 4)."""
    w, u = orientation[..., :1], orientation[..., 1:]
    across = np.cross(u, offset)
    return offset + 2 * w * across + 2 * np.cross(u, across)


def rotated_vjp(orientation, offset, seed):
    """Returns the derivatives of seed . R offset by the quaternions (..., 4), with R their rotation matrices."""
    w, u = orientation[..., :1], orientation[..., 1:]
    across = np.cross(u, offset)
    by_w = 2 * (seed * across).sum(-1, keepdims=True)
    by_u = 2 * w * np.cross(offset, seed) + 2 * (np.cross(across, seed) + np.cross(offset, np.cross(seed, u)))
    return np.concatenate([by_w, by_u], axis=-1)


class Reward:
    """Reward of a robot, and the gradient of its sum over a run."""

    def __init__(self, robot: Robot, scene: Scene) -> None:
        self.robot, self.frame = robot, robot.timestep * robot.frame_skip
        self.masses = np.zeros(len(scene.links))  # [kg]; zero unless the reward depends on the centre of mass
        if robot.by_mass:
            self.masses = np.where(np.arange(len(scene.links)) == scene.link("ground"), 0, scene.view("mass"))

    def forward(self, scene: Scene) -> float:
        if self.robot.by_mass:
            return float(self.masses @ scene.view("center")[:, 0] / self.masses.sum())
        return float(scene.position("torso")[0]) if self.robot.forward_weight else 0.0

    def distance(self, term: Distance, where):
        """Returns a - b of `where`, a scene (3) or a run (rows, 3)."""
        return where.position(term.a) + rotated(where.orientation(term.a), np.array(term.offset)) - where.position(term.b)

    def is_healthy(self, scene: Scene) -> bool:
        robot = self.robot
        if not robot.healthy_reward:
            return True
        z, q = scene.position("torso")[2], scene.coordinates
        pitch = q[2] if robot.pitch[1] < INFINITY else 0.0
        state = np.concatenate([q[2:], scene.velocities])
        return bool(robot.height[0] < z < robot.height[1] and robot.pitch[0] < pitch < robot.pitch[1] and np.all(np.abs(state) < robot.state))

    def parts(self, scene: Scene, before: float, action) -> dict[str, float]:
        """Returns the reward terms of a frame. before: value of forward() at the start of the frame."""
        robot = self.robot
        found = {"reward_ctrl": -robot.control_weight * float(np.square(action).sum())}
        if robot.forward_weight:
            found["reward_forward"] = robot.forward_weight * (self.forward(scene) - before) / self.frame
        if robot.healthy_reward:
            found["reward_survive"] = robot.healthy_reward * self.is_healthy(scene)
        for term in robot.distances:
            found[f"reward_{term.a}_{term.b}"] = -term.weight * float(np.linalg.norm(self.distance(term, scene)))
        return found

    def gradient(self, run: Run, skip: int):
        """Returns the sum of all rewards except control cost and healthy reward, and its gradient by the inputs (steps,
        nu)."""
        robot, rows = self.robot, run.steps + 1
        position: dict[str, np.ndarray] = {}
        orientation: dict[str, np.ndarray] = {}
        center: dict[str, np.ndarray] = {}
        value = 0.0
        if robot.forward_weight:
            links = {"torso": 1.0} if not robot.by_mass else {link: m / self.masses.sum() for link, m in zip(run.scene.links, self.masses) if m > 0}
            for link, share in links.items():
                x = (run.center(link) if robot.by_mass else run.position(link))[:, 0]
                value += robot.forward_weight * share * (x[-1] - x[0]) / self.frame
                seed = np.zeros((rows, 3))
                seed[-1, 0] = robot.forward_weight * share / self.frame
                (center if robot.by_mass else position)[link] = seed
        for term in robot.distances:
            apart = self.distance(term, run)
            length = np.linalg.norm(apart, axis=1, keepdims=True)
            seed = -term.weight * apart / np.maximum(length, 1e-300)
            at_frame = np.arange(rows) % skip == 0
            at_frame[0] = False
            seed[~at_frame] = 0
            value -= term.weight * float(length[at_frame].sum())
            position[term.a] = position.get(term.a, 0) + seed
            position[term.b] = position.get(term.b, 0) - seed
            if any(term.offset):
                orientation[term.a] = orientation.get(term.a, 0) + rotated_vjp(run.orientation(term.a), np.array(term.offset), seed)
        return value, run.gradient(position, orientation=orientation, center=center)["input"]


def observe(name: str, robot: Robot, reward: Reward, scene: Scene):
    """Returns Gymnasium's observation of the robot."""
    q, v = scene.coordinates, scene.velocities
    if name == "reacher":
        goal = scene.position("target")
        return np.concatenate([np.cos(q[:2]), np.sin(q[:2]), goal[:2], v[:2], reward.distance(robot.distances[0], scene)[:2]])
    if name == "pusher":
        return np.concatenate([q[:7], v[:7], *(scene.position(link) for link in ("r_wrist_roll_link", "object", "goal"))])
    if scene.nq > scene.nv:  # a free torso
        q = np.concatenate([scene.position("torso"), scene.orientation("torso"), q[7:]])
    elif name in ("hopper", "walker2d"):  # the observed height is that of the torso in the world
        q = np.concatenate([q[:1], scene.position("torso")[2:], q[2:]])
    return np.concatenate([q[robot.skipped:], np.clip(v, -robot.clip, robot.clip)])
