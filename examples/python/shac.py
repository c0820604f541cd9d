"""Trains a walking policy of the spider by short-horizon actor-critic (SHAC, Xu et al., ICLR 2022) and by CMA-ES.

SHAC uses gradients through the simulator. Both methods have the same number of simulated steps. Writes walk.csv:
method, steps, reward.

    PYTHONPATH=python /usr/bin/python3 examples/python/shac.py [FOLDER [STEPS]]      needs torch (Debian: python3-torch)
    ./sdrs plot FOLDER/walk.csv --columns reward --x steps --by method -o walk.png
"""
import math
import pathlib
import sys

import torch

import sdrs
import sdrs.torch

FOLDER = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "out/shac")
BUDGET = int(float(sys.argv[2])) if len(sys.argv) > 2 else 300_000  # simulated steps of each method
RUNS, WINDOW, HELD, EPISODE = 32, 16, 5, 120  # spiders, actions per update, steps per action, actions per episode
HIDDEN, DISCOUNT, TRACE = 32, 0.98, 0.95
torch.manual_seed(1)
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
scene = sdrs.Scene("scenes/spider.yaml", overrides={"controllers.*.velocity_gain": 0, "controllers.*.damping_gain": 10})
START = torch.tensor(scene.coordinates), torch.tensor(scene.velocities)
SHAPES = [(scene.nq - 2 + scene.nv + 2, HIDDEN), (HIDDEN,), (HIDDEN, scene.nu), (scene.nu,)]
COUNT = sum(math.prod(shape) for shape in SHAPES)


def observe(q, v, age):
    """Returns the state without x and y, and a phase of 1 Hz. age: number of actions since the start (runs)."""
    phase = 2 * math.pi * scene.dt * HELD * age
    return torch.cat([q[:, 2:], 0.2 * v, torch.sin(phase)[:, None], torch.cos(phase)[:, None]], 1)


def act(weights, seen):
    """Returns the joint targets [rad]. weights: (COUNT) for all runs, or (runs, COUNT)."""
    parts = torch.split(weights, [math.prod(shape) for shape in SHAPES], -1)
    w1, b1, w2, b2 = (part.reshape(weights.shape[:-1] + shape) for part, shape in zip(parts, SHAPES))
    hidden = torch.tanh(seen[:, None] @ w1 + b1.unsqueeze(-2))
    return 0.6 * torch.tanh(hidden @ w2 + b2.unsqueeze(-2))[:, 0]


def advance(weights, q, v, age):
    """Returns the state after one action and its reward: speed along x [m/s] minus costs of drift, yaw and control."""
    targets = act(weights, observe(q, v, age))
    after, speeds = sdrs.torch.step(scene, q, v, targets, steps=HELD)
    paid = (after[:, 0] - q[:, 0]) / (HELD * scene.dt) - 0.5 * torch.tanh(after[:, 1].square()) - 0.5 * (1 - torch.cos(after[:, 3]))
    return after, speeds, age + 1, paid - 0.05 * targets.square().mean(1)


@torch.no_grad()
def episodes(weights):
    """Returns the mean reward of an episode from the start for each row of weights (runs, COUNT)."""
    q, v, age, total = START[0].repeat(len(weights), 1), START[1].repeat(len(weights), 1), torch.zeros(len(weights)), 0
    for _ in range(EPISODE):
        q, v, age, paid = advance(weights, q, v, age)
        total = total + paid / EPISODE
    return total


def shac(weights, note):
    weights = weights.clone().requires_grad_(True)
    critic = torch.nn.Sequential(torch.nn.Linear(SHAPES[0][0], 64), torch.nn.ELU(), torch.nn.Linear(64, 1))
    optimizers = torch.optim.Adam([weights], 0.004, (0.7, 0.95)), torch.optim.Adam(critic.parameters(), 0.002)
    q, v = START[0].repeat(RUNS, 1), START[1] + 0.1 * torch.randn(RUNS, scene.nv)
    age = torch.randint(0, EPISODE, (RUNS,)).to(q)
    updates = BUDGET // (RUNS * WINDOW * HELD)
    for update in range(updates):
        optimizers[0].param_groups[0]["lr"] = 0.004 * (1 - update / updates)
        if update % 10 == 0:
            note("SHAC", update * RUNS * WINDOW * HELD, episodes(weights.detach()[None])[0])
        over = age >= EPISODE
        q, v = torch.where(over[:, None], START[0], q.detach()), torch.where(over[:, None], START[1], v.detach())
        age = torch.where(over, torch.zeros(RUNS), age)
        seen, paid = [observe(q, v, age)], []
        for _ in range(WINDOW):
            q, v, age, reward = advance(weights, q, v, age)
            seen.append(observe(q, v, age))
            paid.append(reward)
        values = [critic(x)[:, 0] for x in seen[1:]]
        target = -(sum(DISCOUNT**k * r for k, r in enumerate(paid)) + DISCOUNT**WINDOW * values[-1]).mean() / WINDOW
        slope, = torch.autograd.grad(target, weights)
        weights.grad = slope * min(1, 1 / float(slope.norm()))
        optimizers[0].step()
        wanted, ahead = [], values[-1].detach()  # TD(lambda)
        for reward, value in zip(reversed(paid), reversed(values)):
            ahead = reward.detach() + DISCOUNT * ((1 - TRACE) * value.detach() + TRACE * ahead)
            wanted.insert(0, ahead)
        states, wanted = torch.cat(seen[:-1]).detach(), torch.cat(wanted)
        for _ in range(16):
            optimizers[1].zero_grad()
            (critic(states)[:, 0] - wanted).square().mean().backward()
            optimizers[1].step()
    return weights.detach()


def cma_es(mean, note, step=0.1):
    """Hansen, The CMA evolution strategy: a tutorial (2016). The factor of the covariance is updated every 20
    generations."""
    n, population = len(mean), 4 + int(3 * math.log(len(mean)))
    share = torch.log(torch.tensor(population / 2 + 0.5)) - torch.log(torch.arange(1.0, population // 2 + 1))
    share = share / share.sum()
    mass = 1 / share.square().sum()
    cs, cc = (mass + 2) / (n + mass + 5), (4 + mass / n) / (n + 4 + 2 * mass / n)
    c1, size = 2 / ((n + 1.3)**2 + mass), math.sqrt(n) * (1 - 1 / (4 * n))
    cm = min(1 - c1, 2 * (mass - 2 + 1 / mass) / ((n + 2)**2 + mass))
    covariance, turn, scale, ps, pc = torch.eye(n), torch.eye(n), torch.ones(n), torch.zeros(n), torch.zeros(n)
    for generation in range(BUDGET // (population * EPISODE * HELD)):
        if generation % 4 == 0:
            note("CMA-ES", generation * population * EPISODE * HELD, episodes(mean[None])[0])
        if generation % 20 == 19:
            square, turn = torch.linalg.eigh(covariance)
            scale = square.clamp(min=1e-20).sqrt()
        moves = (torch.randn(population, n) * scale) @ turn.T
        best = moves[torch.argsort(-episodes(mean + step * moves))[:len(share)]]
        move = share @ best
        mean = mean + step * move
        ps = (1 - cs) * ps + math.sqrt(cs * (2 - cs) * mass) * turn @ ((turn.T @ move) / scale)
        pc = (1 - cc) * pc + math.sqrt(cc * (2 - cc) * mass) * move
        covariance = (1 - c1 - cm) * covariance + c1 * torch.outer(pc, pc) + cm * (best.T * share) @ best
        step *= float(torch.exp((cs / (1 + cs / mass)) * (ps.norm() / size - 1)))  # damping 1 + cs
    return mean


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    first = 0.1 * torch.randn(COUNT)
    with open(FOLDER / "walk.csv", "w") as table:
        table.write("method,steps,reward\n")

        def note(method, steps, reward):
            table.write(f"{method},{steps},{float(reward):.6f}\n")
            table.flush()
            print(f"{method} {steps} steps: reward {float(reward):.4f}", flush=True)

        for method, train in (("SHAC", shac), ("CMA-ES", cma_es)):
            note(method, BUDGET, episodes(train(first, note)[None])[0])
