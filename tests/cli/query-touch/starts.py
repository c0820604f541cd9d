"""More starts of touch: no loss rises, some fall; the poses answered have the loss answered, by the method witness."""
import json
import subprocess

L = {"type": "mesh", "file": "l.obj", "pieces": "hulls"}
FAR = {"position": [2.5, 0.3, 0.2]}


def ask(question):
    text = json.dumps(question).encode()
    return json.loads(subprocess.run(["sdrs", "query", "-"], input=text, capture_output=True, check=True).stdout)


common = {"method": "touch", "a": L, "b": dict(L, **FAR), "iterations": 150}
one, four = (ask(dict(common, targets=12, starts=n))["losses"] for n in (1, 4))
print(all(b <= a for a, b in zip(one, four)), sum(b < 0.5 * a for a, b in zip(one, four)) > 0)
targets = {"target_a": [1, 1, 1], "target_b": [0, 0, 0]}
found = [ask(dict(common, starts=n, **targets)) for n in (1, 4)]
for r in found:
    placed = {k: dict(L, position=r[f"position_{k}"], quaternion=r[f"quaternion_{k}"]) for k in "ab"}
    print(abs(ask(dict({"method": "witness"}, **placed, **targets))["loss"] - r["loss"]) < 1e-9)
print(found[1]["loss"] <= found[0]["loss"])
