"""Poses as rows of numbers give, bit for bit, what the same poses give as lines; damaged files are refused by byte."""
import json
import math
import random
import struct
import subprocess

BALL = {"type": "superellipsoid", "size": [1, 0.7, 0.5], "exponent": 3}
CONE = {"type": "truncated_cone", "bottom_radius": 0.4, "top_radius": 0.2, "below": 0.5, "above": 0.5, "sharpness": 20}
HULL = {"type": "points", "points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]}
TARGETS = {"target_a": [1, 0, 0], "target_b": [0, 0, 1]}
QUESTIONS = [
    ("growth", BALL, CONE, {}),
    ("growth", BALL, CONE, {"derivatives": True, "parameters": True}),
    ("distance", HULL, HULL, {"derivatives": True}),
    ("distance", BALL, HULL, {"derivatives": True, "parameters": True}),
    ("witness", HULL, HULL, {"derivatives": True}),
    ("manifold", BALL, HULL, {"derivatives": True, "mean": True, "smoothing": 0.05}),
    ("manifold", HULL, CONE, {"derivatives": True, "smoothing": 0.05, "edges": 3}),
    ("witness", HULL, HULL, dict(TARGETS, derivatives=True, estimate="analytic")),
    ("manifold", CONE, HULL, {"derivatives": True, "parameters": True, "smoothing": 0.05, "edges": 2, "points": 5}),
    ("touch", HULL, HULL, dict(TARGETS, iterations=20)),
    ("touch", HULL, HULL, {"targets": 3, "iterations": 5}),
]
KINDS = ["vertex_a", "vertex_b", "edge_a", "edge_b"]
COUNT = 40


def query(name):
    done = subprocess.run(["sdrs", "query", name], capture_output=True)
    return done.returncode, done.stdout, done.stderr.decode()


def poses():
    """Of a and b; once the same."""
    draw = random.Random(5)
    for i in range(COUNT):
        pose = []
        for _ in range(2):
            q = [draw.gauss(0, 1) for _ in range(4)]
            length = math.sqrt(sum(x * x for x in q))
            pose.append(([draw.uniform(-1.5, 1.5) for _ in range(3)], [x / length for x in q]))
        yield pose if i != 3 else [pose[0], pose[0]]


def numbers(value):
    if isinstance(value, list):
        return [x for part in value for x in numbers(part)]
    return [float(value)]


def bits(values):
    return struct.pack(f"<{len(values)}d", *values)


def as_lines(method, a, b, extra):
    with open("lines.jsonl", "w") as file:
        for i, pose in enumerate(poses()):
            line = {k: {"position": p, "quaternion": q} for k, (p, q) in zip("ab", pose)}
            if i == 0:
                line = dict({"method": method, "a": dict(a, **line["a"]), "b": dict(b, **line["b"])}, **extra)
            file.write(json.dumps(line) + "\n")
    return [json.loads(line, parse_int=float) for line in query("lines.jsonl")[1].splitlines()]


def as_rows(method, a, b, extra):
    with open("rows.bin", "wb") as file:
        file.write(json.dumps(dict({"method": method, "a": a, "b": b, "poses": COUNT}, **extra)).encode() + b"\n")
        for pose in poses():
            file.write(bits([x for part in pose for vector in part for x in vector]))
    head, rows = query("rows.bin")[1].split(b"\n", 1)
    head = json.loads(head)
    width = 8 * sum(count for _, count in head["columns"])
    assert head["rows"] == COUNT and len(rows) == COUNT * width
    return head["columns"], [rows[i * width:(i + 1) * width] for i in range(COUNT)]


def compare(method, a, b, extra):
    lines, (columns, rows) = as_lines(method, a, b, extra), as_rows(method, a, b, extra)
    unknown = differing = 0
    for line, row in zip(lines, rows):
        for contact in line.get("contacts", []):
            contact["kind"] = KINDS.index(contact["kind"])
        if "contacts" in line:
            contacts = line.pop("contacts")
            line.update({name: [contact[name] for contact in contacts] for name in contacts[0]})
        left = set(line) - {name for name, _ in columns}
        assert left <= {"method", "reason", "note", "note_shape_b", "samples_a", "samples_b"}, left
        for name, count in columns:
            part, row = row[:8 * count], row[8 * count:]
            if line.get(name) is None:
                unknown += 1
                assert not any(map(math.isfinite, struct.unpack(f"<{count}d", part)))
            else:
                differing += bits(numbers(line[name])) != part
    print(method, len(columns), "columns,", unknown, "unknown,", differing, "differ")


def streamed(data):
    """Through standard input: the same bytes; and each row is answered before the next one is sent."""
    rows = data.index(b"\n") + 1
    whole = subprocess.run(["sdrs", "query", "-"], input=data, capture_output=True)
    with subprocess.Popen(["sdrs", "query", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(data[:rows])
        process.stdin.flush()
        answers = process.stdout.readline()
        width = 8 * sum(count for _, count in json.loads(answers)["columns"])
        for i in range(COUNT):
            process.stdin.write(data[rows + 112 * i:rows + 112 * (i + 1)])
            process.stdin.flush()
            answers += process.stdout.read(width)
        process.stdin.close()
        same = process.wait() == 0 and whole.stdout == answers
    cut = subprocess.run(["sdrs", "query", "-"], input=data[:-5], capture_output=True)
    wrong = subprocess.run(["sdrs", "query", "-"], input=changed(2 * 112 + 16, math.nan), capture_output=True)
    lines = subprocess.run(["sdrs", "query", "-"], input=open("lines.jsonl", "rb").read(), capture_output=True)
    print("stream:", same and whole.stdout == query("rows.bin")[1], lines.stdout == query("lines.jsonl")[1])
    for name, done in (("cut", cut), ("wrong", wrong)):
        print(name, done.returncode, len(done.stdout) - len(answers) + width * COUNT, done.stderr.decode().strip())


def refused(text, data):
    with open("bad.bin", "wb") as file:
        file.write(data)
    code, out, told = query("bad.bin")
    print(f"{text}: {code} {len(out)} {told.splitlines()[0]}")


for question in QUESTIONS:
    compare(*question)
good = open("rows.bin", "rb").read()
start = good.index(b"\n") + 1


def changed(offset, number):
    return good[:start + offset] + struct.pack("<d", number) + good[start + offset + 8:]


streamed(good)
refused("cut", good[:-5])
refused("rows are missing", good[:start + 3 * 112])
refused("more", good + b"xyz")
refused("not a number", changed(2 * 112 + 16, math.nan))
refused("no unit", changed(112 + 56 + 24, 3.0))
refused("too many", good.replace(b'"poses": 40', b'"poses": 1e30'))
refused("no rows", good.replace(b'"poses": 40', b'"poses": 0'))
refused("method", good.replace(b'"touch"', b'"growth"'))
refused("not the first", good[:start].replace(b', "poses": 40', b"") + good[:start])
