"""A union and a hull that overlap: `mean` against the list of contacts and against itself a little further on."""
import json
import subprocess

UNION = {"type": "union", "smoothing": 0.05, "of": [
    {"type": "superquadric", "size": [0.5, 0.4, 0.6], "exponents": [0.7, 0.5]},
    {"type": "superellipsoid", "size": [0.3, 0.3, 0.3], "exponent": 1, "position": [0.5, 0.1, 0.2]}]}
HULL = {"type": "points", "points": [[-0.5, -0.5, -0.4], [0.5, -0.5, -0.4], [-0.5, 0.4, -0.4], [0.5, 0.5, -0.5],
                                     [-0.4, -0.5, 0.5], [0.5, -0.5, 0.3], [-0.5, 0.5, 0.5], [0.4, 0.5, 0.5]]}
STEP = 1e-5


def ask(*questions):
    with open("questions.jsonl", "w", encoding="ascii") as file:
        file.writelines(json.dumps(question) + "\n" for question in questions)
    done = subprocess.run(["sdrs", "query", "questions.jsonl"], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def question(k=0, by=0.0, **more):
    """Both bodies with their places, the k-th coordinate of the one and the other moved."""
    bodies = []
    for body, (shape, place) in enumerate(((UNION, [0, 0, 0]), (HULL, [0.8, 0.2, 0.3]))):
        place = [x + by * (3 * body + i == k) for i, x in enumerate(place)]
        bodies.append(dict(shape, position=place, quaternion=[0.9, 0.3, 0.3, 0.1]))
    return dict(method="manifold", smoothing=0.05, softness=0.1, edges=5, a=bodies[0], b=bodies[1], **more)


listed, mean, culled = ask(question(), question(mean=True), question(mean=True, cull=True))
activity = sum(c["activity"] for c in listed["contacts"])
weighted = sum(c["activity"] * c["distance"] for c in listed["contacts"])
print(list(mean), abs(weighted / activity - mean["mean"]) < 1e-14, abs(activity - mean["activity"]) < 1e-12)
print(abs(culled["mean"] - mean["mean"]) < 1e-15)
(here,) = ask(question(mean=True, derivatives=True))
for k in range(6):
    low, high = ask(question(k, -STEP, mean=True), question(k, STEP, mean=True))
    slope = here["d_mean_b" if k >= 3 else "d_mean_a"][3 + k % 3]
    print(k, abs((high["mean"] - low["mean"]) / (2 * STEP) - slope) < 1e-8)
