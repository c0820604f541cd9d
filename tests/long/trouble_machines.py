"""What machines are made of, for the scenes of trouble.py --machines: springs, dry friction and armatures of joints,
loads, cords, drives with limits, delays and feedback, closures, couplings, materials; all scaled as their dimensions say.
"""
import math

DEGREES = {"hinge": 1, "slide": 1, "universal": 2, "ball": 3}


def direction(draw):
    while True:
        v = [draw.gauss(0, 1) for _ in range(3)]
        size = math.hypot(*v)
        if size > 0.1:
            return [x / size for x in v]


def vector(draw, scales, size, **dimension):
    return scales([draw.gauss(0, size) for _ in range(3)], **dimension)


def moving(scene):
    return [link for link in scene["links"] if not link.get("fixed")]


def kind_of(link):
    return link.get("joint", {}).get("type", "free")


def turns(link):
    return kind_of(link) != "slide"


def arm(link):
    """Powers of length of what acts on the joint's coordinate, over what acts on a slide's."""
    return 2 if turns(link) else 0


def joint_terms(draw, scales, scene, duration):
    del duration
    for link in moving(scene):
        joint = link.get("joint")
        if not joint:
            continue
        reach = 0 if turns(link) else 1
        if draw.random() < 0.3:
            joint["stiffness"] = scales(10**draw.uniform(-1, 2), length=arm(link), mass=1, time=-2)
            joint["rest"] = [scales(draw.uniform(-0.3, 0.3) if turns(link) else draw.uniform(-0.05, 0.05), length=reach)] * DEGREES[kind_of(link)]
        if draw.random() < 0.3:
            joint["friction"] = scales(10**draw.uniform(-2, 1), length=2 - reach, mass=1, time=-2)
            joint["friction_speed"] = scales(10**draw.uniform(-4, -2), length=reach, time=-1)
        if draw.random() < 0.2 and joint["type"] != "ball":
            joint["armature"] = scales(10**draw.uniform(-2, 0), length=arm(link), mass=1)


def loads(draw, scales, scene, duration):
    scene["loads"] = []
    for link in moving(scene):
        if draw.random() < 0.7:
            continue
        load = {"link": link["name"], "axes": draw.choice(["world", "link"])}
        if draw.random() < 0.7:
            load["force"] = vector(draw, scales, 5, length=1, mass=1, time=-2)
            if draw.random() < 0.5:
                load["point"] = vector(draw, scales, 0.1, length=1)
        if draw.random() < 0.5 or "force" not in load:
            rows = [vector(draw, scales, 0.5, length=2, mass=1, time=-2) for _ in range(3)]
            load["torque"] = {"type": draw.choice(["keyframes", "spline"]), "times": [0, duration / 2, duration], "values": rows}
        scene["loads"].append(load)


def tendons(draw, scales, scene, duration):
    del duration
    names = [link["name"] for link in moving(scene)] + ["world"]
    scene["tendons"] = []
    for _ in range(draw.choice([0, 1, 1, 2])):
        places = draw.sample(names, min(len(names), draw.choice([2, 2, 3])))
        far = scales(3, length=1)
        points = [{"link": place, "point": [x + far * (place == "world") for x in vector(draw, scales, 0.1, length=1)]} for place in places]
        tendon = {"points": points}
        if draw.random() < 0.6:
            tendon["tension"] = scales(10**draw.uniform(-1, 1.5), length=1, mass=1, time=-2)
        if draw.random() < 0.6 or "tension" not in tendon:
            tendon["stiffness"] = scales(10**draw.uniform(0, 3), mass=1, time=-2)
            tendon["rest_length"] = scales(draw.uniform(0.5, 3), length=1)
        scene["tendons"].append(tendon)


def measurements(scene, scales):
    """Names of what feedback may measure, each with its unit."""
    found = []
    for link in moving(scene):
        name, reach = link["name"], 0 if turns(link) else 1
        coordinate = {"hinge": "angle", "slide": "position"}.get(kind_of(link))
        if coordinate:
            found += [(f"{name}/{coordinate}", scales(1, length=reach)), (f"{name}/{coordinate}/rate", scales(1, length=reach, time=-1))]
        found += [(f"{name}/pz", scales(1, length=1)), (f"{name}/vx", scales(1, length=1, time=-1)), (f"{name}/wy", scales(1, time=-1)),
                  (f"{name}/zx", 1), (f"{name}/fz", scales(1, length=1, mass=1, time=-2))]
    return found


def drives(draw, scales, scene, duration):
    driven, measured = {drive["link"] for drive in scene["controllers"]}, measurements(scene, scales)
    for link in moving(scene):
        if "joint" not in link or link["name"] in driven or draw.random() < 0.5:
            continue
        reach, count = 0 if turns(link) else 1, DEGREES[kind_of(link)]
        force = scales(1, length=2 - reach, mass=1, time=-2)
        drive = {"link": link["name"], "type": draw.choice(["torque", "velocity", "pd"])}
        unit = {"pd": scales(0.1 if turns(link) else 0.03, length=reach), "velocity": scales(2, length=reach, time=-1), "torque": force}[drive["type"]]
        if drive["type"] == "pd":
            drive["position_gain"] = scales(10**draw.uniform(-1, 2.5), length=arm(link), mass=1, time=-2)
        if drive["type"] != "torque" or draw.random() < 0.5:
            drive["damping_gain"] = scales(10**draw.uniform(-2, 1), length=arm(link), mass=1, time=-1)
        drive["target"] = [unit * draw.gauss(0, 1) for _ in range(count)]
        if draw.random() < 0.5:
            drive["max_force"] = force * 10**draw.uniform(-1.5, 1.5)
        if draw.random() < 0.3:
            drive["delay"] = duration * draw.uniform(0, 0.2)
        if draw.random() < 0.4:
            chosen = draw.sample(measured, min(len(measured), draw.choice([1, 2, 3])))
            matrix = [[0.3 * unit * draw.gauss(0, 1) / own for _, own in chosen] for _ in range(count)]
            drive["feedback"] = {"measures": [name for name, _ in chosen], "matrix": matrix}
        scene["controllers"].append(drive)


def closures(draw, scales, scene, duration):
    del duration
    names = [link["name"] for link in moving(scene)]
    scene["closures"] = []
    for _ in range(draw.choice([1, 1, 2, 3])):
        a, b = draw.choice(names), draw.choice(names + ["world"])
        kind = draw.choice(["weld", "ball", "ball", "hinge", "slide", "distance", "distance"])
        closure = {"type": kind, "a": a, "b": b, "axes": "link"}
        if a == b:
            continue
        if kind in ("ball", "hinge", "distance") or draw.random() < 0.3:
            closure["point"] = vector(draw, scales, 0.2, length=1)
        if kind in ("hinge", "slide") or (kind == "distance" and draw.random() < 0.5):
            closure["axis"] = direction(draw)
            if kind == "distance":
                closure["length"] = scales(draw.uniform(0.2, 1), length=1)
        if draw.random() < 0.25:
            closure["break_force"] = scales(10**draw.uniform(0, 3), length=1, mass=1, time=-2)
        scene["closures"].append(closure)


def couplings(draw, scales, scene, duration):
    del duration
    held = {drive["link"] for drive in scene["controllers"] if drive["type"] == "prescribed"}
    one = [link for link in moving(scene) if kind_of(link) in ("hinge", "slide") and link["name"] not in held]
    if len(one) < 2:
        return
    follower, of = draw.sample(one, 2)
    lengths = (not turns(follower)) - (not turns(of))
    ratio = draw.choice([-1, 1]) * 10**draw.uniform(-0.7, 0.7) * {0: 1, 1: 0.2, -1: 5}[lengths]
    scene["couplings"] = [{"link": follower["name"], "of": of["name"], "ratio": scales(ratio, length=lengths)}]


def materials(draw, scales, scene, duration):
    del duration
    for link in scene["links"]:
        if draw.random() < 0.3:
            link["friction"] = draw.choice([0, 0.05, 0.4, 1.5])
        for key in ("rolling", "spinning"):
            if draw.random() < 0.15:
                link[key] = scales(10**draw.uniform(-3, -1.5), length=1)
        if draw.random() < 0.1 and scene["contact"].get("restitution", 0) is not None:
            link["restitution"] = draw.choice([0, 0.5, 0.9])
        if draw.random() < 0.1 and not link.get("fixed"):
            link["gravity_compensation"] = draw.choice([0.5, 1])


PARTS = ((joint_terms, 0.6), (loads, 0.5), (tendons, 0.4), (drives, 0.6), (closures, 0.6), (couplings, 0.4), (materials, 0.4))
LISTS = ("loads", "tendons", "closures", "couplings")


def add_parts(draw, scales, scene):
    duration = scene["simulation"]["dt"] * scene["simulation"]["steps"]
    for add, share in PARTS:
        if draw.random() < share:
            add(draw, scales, scene, duration)
    for key in LISTS:
        if not scene.get(key):
            scene.pop(key, None)


def act_from_outside(scene):
    """Whether a part of a machine can change the linear momentum of all bodies together."""
    closed_to_world = any(closure["b"] == "world" for closure in scene.get("closures", []))
    held_up = any(link.get("gravity_compensation") for link in scene["links"])
    return closed_to_world or held_up or "loads" in scene or "tendons" in scene


def store_energy(scene):
    """Whether a part gives or keeps energy that the table's columns of energies leave out."""
    springs = any("stiffness" in link.get("joint", {}) for link in scene["links"])
    return springs or act_from_outside(scene) or "closures" in scene or any(link.get("restitution") for link in scene["links"])


def speaks_of(item, name):
    """Whether a closure, coupling, tendon, load or drive needs this link."""
    measured = item.get("feedback", {}).get("measures", [])
    named = [item.get(key) for key in ("link", "of", "a", "b")] + [point["link"] for point in item.get("points", [])]
    return name in named or any(word.startswith(name + "/") for word in measured)
