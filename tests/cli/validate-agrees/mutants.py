"""mutants.py TASK.json: tasks with one value exchanged, taken away or added. Each is taken by both, `sdrs validate` and `sdrs optimize`, or refused
by both in the same words. Prints where they differ, and how many were refused and taken."""
import copy
import json
import os
import subprocess
import sys

OTHERS = {bool: ["x", 3], float: [-1, 1e200, "x", [], None], int: [-1, 0, 0.5, "x", []], str: ["nonsense", "", 5, "two"],
          list: [[], "x", [{}]], dict: [{}, "x", 5]}


def places(value, path=()):
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def changed(base, path, act):
    task = copy.deepcopy(base)
    owner = task
    for key in path[:-1]:
        owner = owner[key]
    act(owner, path[-1])
    return task


def mutants(base):
    for path in places(base):
        yield path, changed(base, path, lambda owner, key: owner.pop(key))
        value = base
        for key in path:
            value = value[key]
        for other in OTHERS[type(value)]:
            yield path, changed(base, path, lambda owner, key, other=other: owner.__setitem__(key, other))
        if isinstance(value, dict):
            yield path, changed(base, path, lambda owner, key: owner[key].update(colour=3))


def said(*words):
    done = subprocess.run(["sdrs", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stderr


def main():
    refused = taken = 0
    every = 1 if "SDRS_LONG" in os.environ else 7  # of more than 300; coprime to how many stand for a value
    for path, task in list(mutants(json.load(open(sys.argv[1]))))[::every]:
        with open("mutant.json", "w") as file:
            json.dump(task, file)
        verdict, told = said("validate", "mutant.json", "-q")
        code, words = said("optimize", "mutant.json", "-q", "-o", "mutant", "--iterations", "1", "--no-converge")
        refused += code == 3
        taken += code in (0, 4)
        if (verdict, code) not in ((0, 0), (0, 4), (1, 3)) or code == 3 and told != words:
            print(path, verdict, code, told, words)
    print("mutants agree" if refused > 100 / every and taken > 20 / every else (refused, taken))


main()
