#!/usr/bin/env python3
"""What a call of many rollouts costs beside its bare steps.

    PYTHONPATH=python scripts/measure_rollouts.py [RUNS [BARE]]

RUNS rollouts (1000) of the spider of 500 steps each in one call on two threads, each with velocities of its own at the start; then
BARE of them (all) one by one, where only the steps are counted. Processor time, which a machine that does other things as well does
not falsify much; and whether both came to the same bits.
"""

import pathlib
import sys
import time

import numpy as np

import sdrs

STEPS, THREADS = 500, 2


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    bare_runs = int(sys.argv[2]) if len(sys.argv) > 2 else runs
    scene = sdrs.Scene(pathlib.Path(__file__).resolve().parents[1] / "scenes" / "spider.yaml")
    velocities = 0.05 * np.random.default_rng(1).standard_normal((runs, scene.nv))
    begun, wall = time.process_time(), time.perf_counter()
    ends = scene.rollout(steps=STEPS, velocities=velocities, threads=THREADS, record=False).coordinates
    call, wall = (time.process_time() - begun) / runs, time.perf_counter() - wall
    bare, same = 0.0, True
    for k in range(bare_runs):
        scene.set("velocities", velocities[k])
        scene.reset()
        begun = time.thread_time()
        scene.step(STEPS)
        bare += (time.thread_time() - begun) / bare_runs
        same = same and bool((scene.coordinates == ends[k]).all())
    print(f"{runs} rollouts of {STEPS} steps on {THREADS} threads: {wall:.1f} s")
    print(f"processor time a run: {1e3 * call:.2f} ms in the call, {1e3 * bare:.2f} ms for its bare steps: {bare / call:.1%}")
    print("the same bits" if same else "OTHER BITS")


if __name__ == "__main__":
    main()
