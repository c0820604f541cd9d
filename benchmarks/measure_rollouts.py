#!/usr/bin/env python3
"""What a call of many rollouts costs beside its bare steps.

    PYTHONPATH=python benchmarks/measure_rollouts.py [RUNS]

RUNS rollouts (1000) of the spider of 500 steps each on two threads, each with velocities of its own at the start. In turns of
50 runs: one call of them all, then the bare steps of the same runs, on two threads as well (each thread with a scene of its own,
and only the steps counted), so that a machine whose clock drifts, or whose two cores share what they have, does so to both. Processor
time, which other work on the machine does not falsify much; the median of the turns; and whether both came to the same bits.

Then the same number of rollouts of 100 steps with random inputs, alone and with the gradient of the last x by all inputs.
"""

import pathlib
import statistics
import sys
import threading
import time

import numpy as np

import sdrs

STEPS, THREADS, TURN = 500, 2, 50
SCENE = pathlib.Path(__file__).resolve().parents[1] / "scenes" / "spider.yaml"


def bare_steps(scene, velocities, ends, result, thread):
    seconds, same = 0.0, True
    for k in range(thread, len(velocities), THREADS):
        scene.set("velocities", velocities[k])
        scene.reset()
        begun = time.thread_time()
        scene.step(STEPS)
        seconds += time.thread_time() - begun
        same = same and bool((scene.coordinates == ends[k]).all())
    result[thread] = seconds, same


def turn(scenes, velocities):
    begun = time.process_time()
    ends = scenes[0].rollout(steps=STEPS, velocities=velocities, threads=THREADS, record=False).coordinates
    call = time.process_time() - begun
    result = [None] * THREADS
    workers = [threading.Thread(target=bare_steps, args=(scenes[1 + t], velocities, ends, result, t)) for t in range(THREADS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return call, sum(seconds for seconds, _ in result), all(same for _, same in result)


def with_gradients(scene, runs, steps=100):
    draw = np.random.default_rng(2)
    given = {"velocities": 0.05 * draw.standard_normal((runs, scene.nv)),
             "input": 0.1 * draw.standard_normal((runs, steps, scene.nu))}
    seeds = np.zeros((runs, steps + 1, scene.nq))
    seeds[:, -1, 0] = 1
    begun = time.process_time()
    scene.rollout(steps=steps, threads=THREADS, record=False, **given)
    alone = time.process_time()
    scene.rollout(steps=steps, threads=THREADS, seeds={"coordinates": seeds}, **given)
    return (time.process_time() - alone) / (alone - begun)


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    scenes = [sdrs.Scene(SCENE) for _ in range(1 + THREADS)]
    velocities = 0.05 * np.random.default_rng(1).standard_normal((runs, scenes[0].nv))
    turns = [turn(scenes, velocities[k : k + TURN]) for k in range(0, runs, TURN)]
    share = [bare / call for call, bare, _ in turns]
    call, bare = (sum(column) / runs for column in list(zip(*turns))[:2])
    print(f"{runs} rollouts of {STEPS} steps on {THREADS} threads, in turns of {TURN}")
    print(f"processor time a run: {1e3 * call:.2f} ms in the call, {1e3 * bare:.2f} ms for its bare steps")
    print(f"bare steps of the call: median {statistics.median(share):.1%}, turns {min(share):.1%} to {max(share):.1%}")
    ratios = [with_gradients(scenes[0], min(TURN, runs)) for _ in range(0, runs, TURN)]
    print(f"rollouts with gradients by input: {statistics.median(ratios):.2f} times their forward time, "
          f"turns {min(ratios):.2f} to {max(ratios):.2f}")
    print("the same bits" if all(same for _, _, same in turns) else "OTHER BITS")


if __name__ == "__main__":
    main()
