#!/usr/bin/env python3
"""Every attribute of MJCF is imported, without effect on motion, or reported by name, and any other is an error: tests/mujoco/attributes.py SDRS WORK_FOLDER

The list of attributes is MuJoCo's own (schema.txt); what the importer claims is the table of src/robot/mjcf_left_out.c. A row of the table is
believed where a file shows it: an attribute that is read changes the scene, one that is not read stands in the remarks. With --page it
prints docs/mjcf-attributes.md. Prints `ok` or `FAIL` an element and `N passed, N failed`."""
import contextlib
import io
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
passed = failed = 0


def result(good, text):
    global passed, failed
    passed, failed = passed + good, failed + (not good)
    if not good:
        print("FAIL", text)


def schema():
    """{(parent, element): attributes}"""
    rows = {}
    for line in open(os.path.join(HERE, "schema.txt"), encoding="ascii"):
        if not line.startswith("#"):
            place, attributes = line.split(":")
            rows[tuple(place.split("/"))] = attributes.split()
    return rows


def table():
    """[(parent, element, read, idle, left out, fate)] of the source."""
    text = open(os.path.join(HERE, "../../src/robot/mjcf_left_out.c"), encoding="ascii").read()
    macros = {name: re.sub(r"\\\n", "", value) for name, value in re.findall(r"#define (\w+)((?:.*\\\n)*.*)\n", text)}
    rows = []
    for entry in re.findall(r"\{((?:\"[^{}]*?),\s*HANDLE_\w+)\}", text[text.index("ROWS[]"):]):
        for name, value in macros.items():
            entry = re.sub(rf"\b{name}\b(?=[^\"]*(?:\"[^\"]*\"[^\"]*)*$)", lambda _, v=value: v, entry)
        *words, fate = [part.strip() for part in entry.split(",")]
        parent, element, *names = ["".join(re.findall(r'"([^"]*)"', part)) for part in words]
        rows.append((parent, element, *([w for w in part.split("|") if w] for part in names), fate))
    return rows


def row_of(rows, parent, element):
    return next((row for row in rows if row[1] == element and row[0] in ("", parent)), None)


ROWS, SCHEMA = table(), schema()
WHOLE = {place for place in SCHEMA if (row := row_of(ROWS, *place)) and row[5] != "HANDLE_ATTRIBUTES"}


def is_inside(place):
    """Stands in an element that is left out or idle as a whole."""
    parents = {p for p in SCHEMA if p[1] == place[0] and p[0] != p[1]}
    return bool(parents) and all(p in WHOLE or is_inside(p) for p in parents)


def left_of(place):
    row = row_of(ROWS, *place)
    return [a for a in SCHEMA[place] if a in row[4]]


def page():
    print("# Attributes of MJCF\n\nEvery element and attribute of MuJoCo 3.12.0, and its fate in `sdrs import`. *Imported* attributes are read, or reported where their value "
          "is not.\n*Idle* ones have no effect on motion in sdrs. All others are named in the lines `left out` of the import. [mjcf.md](mjcf.md) tells what becomes of them.\n"
          "A name that is not on this page is an error, as in MuJoCo.\n"
          "This page is made by `tests/mujoco/attributes.py --page` from the table of the importer.\n\n| element | imported | idle | left out, reported |\n|---|---|---|---|")
    seen = set()
    for place in SCHEMA:
        row = row_of(ROWS, *place)
        if is_inside(place) or (place[0] == "default" and row and not row[0]):
            continue
        name = place[1] if not row or not row[0] else "/".join(place)
        if name in seen:
            continue
        seen.add(name)
        words = lambda names: " ".join(f"`{n}`" for n in names if n in SCHEMA[place])
        if place[1] in ("replicate", "attach"):
            print(f"| `{name}` | {words(SCHEMA[place])} | |  |")
        elif row[5] == "HANDLE_ATTRIBUTES":
            if SCHEMA[place]:
                print(f"| `{name}` | {words(row[2])} | {words(row[3])} | {words(left_of(place))} |")
        else:
            print(f"| `{name}` | | {'the element' if row[5] == 'HANDLE_AS_IDLE' else ''} | {'the element' if row[5] == 'HANDLE_AS_UNSUPPORTED' else ''} |")


if sys.argv[1:] == ["--page"]:
    page()
    sys.exit(0)
SDRS, WORK = sys.argv[1:3]
with contextlib.redirect_stdout(io.StringIO()) as made:
    page()
written = open(os.path.join(HERE, "../../docs/mjcf-attributes.md"), encoding="ascii").read()
result(made.getvalue() == written, "docs/mjcf-attributes.md is not that of the table: tests/mujoco/attributes.py --page")

# ---------------------------------------------------------------- every element has a row
for place in SCHEMA:
    if place[1] not in ("replicate", "attach") and not is_inside(place):
        row = row_of(ROWS, *place)
        result(row is not None, f"{'/'.join(place)} has no row")
        if row and row[5] == "HANDLE_ATTRIBUTES":
            known = row[2] + row[3] + row[4]
            unknown = [a for a in SCHEMA[place] if a not in known]
            result(not unknown and len(set(known)) == len(known), f"{'/'.join(place)}: {unknown} are in no column, or a name is in two")

MESH = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
# A model in which all that is read matters: NAME marks where the attributes of an element stand.
MODEL = """<mujoco><compiler COMPILER/><option OPTION><flag FLAG/></option>
<default><DEFAULT/></default>
<asset><mesh name="m" MESH/><material name="red" MATERIAL/></asset>
<worldbody WORLDBODY><geom type="plane" size="1 1 1" FLOOR/><COMPOSITE/><site name="nail" pos="0 0 3"/>
<frame FRAME><body name="a" BODY><inertial INERTIAL/><joint name="j" JOINT/><geom GEOM/><site name="s" SITE/></body></frame>
<body name="b" pos="1 0 1"><joint name="k" axis="0 1 0"/><joint name="k2" axis="0 0 1"/><geom name="gb" type="box" size="0.1 0.1 0.1"/><site name="sb"/></body>
<body name="c" pos="2 0 2"><freejoint FREEJOINT/><geom name="gc" type="mesh" mesh="m"/></body>
<body name="d" pos="3 0 2"><joint name="l" type="slide"/><geom size="0.1"/></body>
</worldbody>
<contact><PAIR/><EXCLUDE/></contact><tendon><TENDON/></tendon><equality><EQUALITY/></equality><actuator><ACTUATOR/></actuator>
<keyframe><key name="home" KEY/></keyframe></mujoco>"""
PLAIN = {"COMPILER": "", "OPTION": "", "FLAG": "", "DEFAULT": "", "MESH": 'file="m.obj"', "MATERIAL": "", "WORLDBODY": "", "FLOOR": "", "FRAME": "",
         "BODY": "", "INERTIAL": 'pos="0 0 0" mass="1" diaginertia="1 1 1"', "JOINT": "", "GEOM": 'size="0.1" pos="0 0 1"', "SITE": "", "FREEJOINT": "",
         "PAIR": "", "EXCLUDE": "", "TENDON": "", "EQUALITY": "", "ACTUATOR": "", "KEY": "", "COMPOSITE": ""}
KNOWN = {}  # results of texts


def imported(parts):
    """(scene, remarks), or (None, errors)."""
    text = MODEL
    for name in sorted(PLAIN, key=len, reverse=True):
        value = parts.get(name, PLAIN[name])
        text = text.replace(f"<{name}/>", value) if f"<{name}/>" in text else re.sub(rf"\b{name}\b", lambda _: value, text)
    if text in KNOWN:
        return KNOWN[text]
    path = os.path.join(WORK, "attribute.xml")
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    done = subprocess.run([SDRS, "import", path, "-o", path[:-3] + "yaml"], capture_output=True, text=True)
    scene = None
    if done.returncode == 0:
        scene = "".join(line for line in open(path[:-3] + "yaml", encoding="utf-8") if "left out" not in line)
    KNOWN[text] = scene, done.stderr
    return KNOWN[text]


with open(os.path.join(WORK, "m.obj"), "w", encoding="ascii") as mesh:
    mesh.write(MESH)
with open(os.path.join(WORK, "n.obj"), "w", encoding="ascii") as mesh:
    mesh.write(MESH.replace("0.1", "0.2"))

# ---------------------------------------------------------------- misspelled names are errors
for parts, words in (({"JOINT": 'dampign="1"'}, "unknown attribute 'dampign' of <joint> (did you mean 'damping'?)"),
                     ({"GEOM": 'size="0.1" frictoin="1"'}, "unknown attribute 'frictoin' of <geom> (did you mean 'friction'?)"),
                     ({"DEFAULT": '<default><joint armatur="1"/></default>'}, "unknown attribute 'armatur' of <joint> (did you mean 'armature'?)"),
                     ({"ACTUATOR": '<motr joint="j"/>'}, "unknown element 'motr' (did you mean 'motor'?)"),
                     ({"OPTION": 'timstep="0.001"'}, "unknown attribute 'timstep' of <option> (did you mean 'timestep'?)")):
    scene, said = imported(parts)
    result(scene is None and words in said, f"{parts}: {said}")

# ---------------------------------------------------------------- what is left out is named
FEW = {"geom": 'size="0.1"', "joint": "", "freejoint": "", "inertial": 'pos="0 0 0" mass="1" diaginertia="1 1 1"', "mesh": 'file="m.obj"'}
ITEMS = {  # where an element stands in the model, and what it needs
    ("mujoco", "compiler"): ("COMPILER", "{}"), ("mujoco", "option"): ("OPTION", "{}"), ("option", "flag"): ("FLAG", "{}"),
    ("asset", "mesh"): ("MESH", 'file="m.obj" {}'), ("asset", "material"): ("MATERIAL", "{}"), ("body", "frame"): ("FRAME", "{}"), ("body", "body"): ("BODY", "{}"),
    ("body", "inertial"): ("INERTIAL", 'pos="0 0 0" mass="1" diaginertia="1 1 1" {}'), ("body", "joint"): ("JOINT", "{}"), ("body", "geom"): ("GEOM", 'size="0.1" pos="0 0 1" {}'),
    ("body", "site"): ("SITE", "{}"), ("body", "freejoint"): ("FREEJOINT", "{}"), ("contact", "pair"): ("PAIR", '<pair geom1="gb" geom2="gc" {}/>'),
    ("contact", "exclude"): ("EXCLUDE", '<exclude body1="b" body2="c" {}/>'), ("keyframe", "key"): ("KEY", "{}"), ("default", "default"): ("DEFAULT", "<default {}/>"),
    ("tendon", "spatial"): ("TENDON", '<spatial name="t" {}><site site="s"/><site site="nail"/></spatial>'),
    ("spatial", "site"): ("TENDON", '<spatial name="t"><site site="s" {}/><site site="nail"/></spatial>'),
    ("tendon", "fixed"): ("TENDON", '<fixed name="t" {}><joint joint="j" coef="1"/></fixed>'),
    ("fixed", "joint"): ("TENDON", '<fixed name="t"><joint joint="j" coef="1" {}/></fixed>'),
    ("equality", "connect"): ("EQUALITY", '<connect body1="c" anchor="0 0 0" {}/>'), ("equality", "weld"): ("EQUALITY", '<weld body1="c" {}/>'),
    ("equality", "joint"): ("EQUALITY", '<joint joint1="j" joint2="k" {}/>'),
    ("composite", "geom"): ("COMPOSITE", '<composite type="cable" curve="s" count="3 1 1" offset="0 5 5"><geom type="capsule" size="0.01" {}/></composite>'),
    ("composite", "joint"): ("COMPOSITE", '<composite type="cable" curve="s" count="3 1 1" offset="0 5 5"><joint kind="main" {}/><geom type="capsule" size="0.01"/></composite>'),
    ("equality", "tendon"): ("EQUALITY", '<tendon tendon1="t" {}/>')}
for kind in ("motor", "position", "velocity", "general", "intvelocity", "damper", "cylinder"):
    ITEMS["actuator", kind] = ("ACTUATOR", f'<{kind} joint="j" {{}}/>')
for kind in ("mesh", "material", "joint", "geom", "site", "pair", "equality", "tendon", "motor", "position", "velocity", "general", "intvelocity", "damper", "cylinder"):
    ITEMS["default", kind] = ("DEFAULT", f"<default class='other'><{kind} {{}}/></default>")
NEEDS = {("equality", "tendon"): {"TENDON": '<fixed name="t"><joint joint="j" coef="1"/></fixed>'}}
# Attributes that name something; the import refuses names that do not exist.
NAMED = {"override": "enable", "jointinparent": "j", "slidersite": "s", "cranksite": "s", "body": "c"}
for place in SCHEMA:
    if place in WHOLE or is_inside(place) or place[1] in ("replicate", "attach") or not left_of(place):
        continue
    if place not in ITEMS:
        result(False, f"{'/'.join(place)}: {' '.join(left_of(place))}: not tried")
        continue
    name, form = ITEMS[place]
    value = "disable" if place[1] == "flag" else "7"
    attributes = " ".join(f'{a}="{NAMED.get(a, value)}"' for a in left_of(place))
    scene, remarks = imported({**NEEDS.get(place, {}), name: form.format(attributes)})
    unnamed = [a for a in left_of(place) if not re.search(rf"{place[1]}/{a}[,\n]", remarks)] if scene else [remarks]
    result(not unnamed, f"{'/'.join(place)}: not reported: {' '.join(unnamed)}")

# ---------------------------------------------------------------- what is read changes the scene
SPRING = '<spatial name="t" stiffness="5" springlength="0.1" {}><site site="s"/><site site="nail"/></spatial>'
READ = {  # element: ({part: attributes around}, {attribute: value, or value and others that it needs})
    ("mujoco", "compiler"): ("COMPILER", "{}", {"JOINT": 'range="-1 1"', "BODY": 'euler="0.1 0.2 0.3"', "INERTIAL": 'pos="0 0 0" mass="1" diaginertia="1 1 3"'}, {
        "boundmass": "2", "boundinertia": "2", "balanceinertia": "true", "inertiagrouprange": ("1 5", 'inertiafromgeom="true" boundmass="1" boundinertia="1"'),
        "angle": "radian", "autolimits": "false", "inertiafromgeom": "true", "eulerseq": "zyx", "settotalmass": "9", "meshdir": "sub", "assetdir": "sub"}),
    ("mujoco", "option"): ("OPTION", "{}", {"ACTUATOR": '<motor joint="j" group="3" ctrlrange="-1 1"/>'}, {"timestep": "0.001", "gravity": "0 0 -1", "actuatorgroupdisable": "3"}),
    ("option", "flag"): ("FLAG", "{}", {}, {"gravity": "disable"}),
    ("asset", "mesh"): ("MESH", "{}", {}, {"file": "n.obj", "scale": ("2 2 2", 'file="m.obj"'), "inertia": ("shell", 'file="m.obj"'), "vertex": "0 0 0 0.3 0 0 0 0.3 0 0 0 0.3"}),
    ("asset", "material"): ("MATERIAL", "{}", {"GEOM": 'size="0.1" pos="0 0 1" material="red"'}, {"rgba": "1 0 0 1"}),
    ("body", "frame"): ("FRAME", "{}", {}, {"pos": "0 0 1", "quat": "1 1 0 0", "euler": "10 0 0", "axisangle": "1 0 0 10", "xyaxes": "0 1 0 0 0 1", "zaxis": "1 0 0"}),
    ("body", "body"): ("BODY", "{}", {}, {"pos": "0 0 1", "quat": "1 1 0 0", "euler": "10 0 0", "axisangle": "1 0 0 10", "xyaxes": "0 1 0 0 0 1", "zaxis": "1 0 0", "gravcomp": "1"}),
    ("body", "inertial"): ("INERTIAL", "{}", {}, {
        "mass": ("2", 'diaginertia="1 1 1"'), "diaginertia": ("1 2 2", 'mass="1"'), "fullinertia": ("1 1 1 0.1 0 0", 'mass="1"'), "pos": ("0 0 1", 'mass="1" diaginertia="1 1 1"'),
        **{name: (value, 'pos="0 0 0" mass="1" diaginertia="1 2 2.5"') for name, value in
           {"quat": "1 1 0 0", "euler": "10 0 0", "axisangle": "1 0 0 10", "xyaxes": "0 1 0 0 0 1", "zaxis": "1 0 0"}.items()}}),
    ("body", "joint"): ("JOINT", "{}", {}, {
        "type": "slide", "pos": "0 0 1", "axis": "1 0 0", "range": "-10 10", "limited": ("false", 'range="-10 10"'), "damping": "1", "stiffness": "1", "armature": "1",
        "springref": ("10", 'stiffness="1"'), "frictionloss": "1", "ref": ("5", 'range="-10 10"')}),
    ("body", "geom"): ("GEOM", 'pos="0 0 1" {}', {"INERTIAL": None}, {
        "type": ("box", 'size="0.1 0.1 0.1"'), "size": "0.2", "contype": ("0", 'conaffinity="0" size="0.1"'), "conaffinity": ("0", 'contype="0" size="0.1"'), "friction": ("0.3", 'size="0.1" priority="1"'), "solref": ("-1000 -5", 'size="0.1"'), "solmix": ("3", 'size="0.1" solref="0.02 0.5"'),
        "priority": ("1", 'size="0.1" friction="0.4"'), "mass": ("1", 'size="0.1"'), "density": ("10", 'size="0.1"'), "rgba": ("1 0 0 1", 'size="0.1"'), "mesh": ("m", 'type="mesh"'),
        "fromto": ("0 0 0 0 0 1", 'type="capsule" size="0.1"'), **{name: (value, 'type="capsule" size="0.1 0.2"') for name, value in
           {"quat": "1 1 0 0", "euler": "10 0 0", "axisangle": "1 0 0 10", "xyaxes": "0 1 0 0 0 1", "zaxis": "1 0 0"}.items()}}),
    ("body", "site"): ("SITE", "{}", {"TENDON": SPRING.format("")}, {"pos": "0 0 0.5", "fromto": "0 0 0 1 0 0"}),
    ("body", "composite"): ("COMPOSITE", '<composite offset="0 5 5" {}><geom type="capsule" size="0.01"/></composite>', {}, {
        **{name: (value, 'type="cable" curve="s" count="3 1 1" size="1 0.5 1"') for name, value in
           {"prefix": "p", "initial": "none", "quat": "1 1 0 1"}.items()},
        "count": ("4 1 1", 'type="cable" curve="s"'), "size": ("2", 'type="cable" curve="s" count="3 1 1"'), "type": ("cable", 'curve="s" count="3 1 1"'),
        "curve": ("s s", 'type="cable" count="3 1 1"'), "vertex": ("0 0 0 1 0 0 1 1 0", 'type="cable"')}),
    ("composite", "joint"): ("COMPOSITE", '<composite type="cable" curve="s" count="3 1 1" offset="0 5 5"><joint kind="main" {}/><geom type="capsule" size="0.01"/></composite>', {}, {
        "damping": "1", "stiffness": "1", "range": "0 10"}),
    ("composite", "geom"): ("COMPOSITE", '<composite type="cable" curve="s" count="3 1 1" offset="0 5 5"><geom {}/></composite>', {}, {
        "type": ("box", 'size="0.1 0.1 0.1"'), **{name: (value, 'type="capsule" size="0.1"') for name, value in
                                                  {"mass": "1", "density": "10", "rgba": "1 0 0 1"}.items()},
        "contype": ("0", 'type="capsule" conaffinity="0" size="0.1"'), "conaffinity": ("0", 'type="capsule" contype="0" size="0.1"'), "size": ("0.2", 'type="capsule"'),
        "friction": ("0.3", 'type="capsule" size="0.1" priority="1"'), "priority": ("1", 'type="capsule" size="0.1" friction="0.4"')}),
    ("contact", "pair"): ("PAIR", "<pair {}/>", {}, {"friction": ("0.3 0.3", 'geom1="gb" geom2="gc"'), "solref": ("0.02 0.2", 'geom1="gb" geom2="gc"')}),
    ("contact", "exclude"): ("EXCLUDE", "<exclude {}/>", {}, {"body1": ("b", 'body2="c"'), "body2": ("b", 'body1="c"')}),
    ("keyframe", "key"): ("KEY", "{}", {"ACTUATOR": '<motor joint="j"/><intvelocity joint="j"/>'}, {
        "qpos": "0.1 0.1 0 0 0 5 1 0 0 0 0", "qvel": "1 0 0 0 0 0 0 0 0 0", "ctrl": "0.5 0", "act": "0.3"}),
    ("tendon", "spatial"): ("TENDON", SPRING, {}, {"stiffness": None, "springlength": None}),
    ("tendon", "fixed"): ("TENDON", '<fixed name="t" {}><joint joint="j" coef="2"/></fixed>', {}, {"stiffness": "3"}),
    ("equality", "connect"): ("EQUALITY", "<connect {}/>", {}, {"anchor": ("0 0 0.1", 'body1="c"'), "body2": ("b", 'body1="c" anchor="0 0 0"')}),
    ("equality", "joint"): ("EQUALITY", "<joint {}/>", {}, {"polycoef": ("0 2 0 0 0", 'joint1="j" joint2="k"'), "joint2": ("l", 'joint1="j"')}),
}
DRIVES = {
    "motor": {"ctrlrange": "-1 1", "forcerange": "-3 3", "gear": ("2", 'forcerange="-3 3"'), "forcelimited": ("false", 'forcerange="-3 3"'), "group": None},
    "position": {"kp": "5", "kv": "2", "dampratio": "1", "gear": "2", "forcerange": "-3 3", "inheritrange": None}, "velocity": {"kv": "2", "gear": "3"},
    "general": {"gainprm": ("2", 'biastype="affine" biasprm="1 -2 0"'), "biasprm": ("1 -2 -1", 'biastype="affine"'), "biastype": ("affine", 'biasprm="1 -2 -1"')},
    "intvelocity": {"kp": "5", "kv": "2"}, "damper": {"kv": ("3", 'ctrlrange="1 2"')}, "cylinder": {"area": ("2", 'bias="1 0 0"'), "bias": "1 0 0", "diameter": None}}
for kind, attributes in DRIVES.items():
    READ["actuator", kind] = ("ACTUATOR", f'<{kind} joint="j" {{}}/>', {"KEY": 'ctrl="0.5"'}, attributes)
for place, (name, form, around, attributes) in READ.items():
    for attribute, value in attributes.items():
        if value is None:
            continue
        value, others = value if isinstance(value, tuple) else (value, "")
        parts = {key: text for key, text in around.items() if text is not None}
        if "INERTIAL" in around:
            parts["COMPILER"] = 'inertiafromgeom="true"'
        if attribute in ("meshdir", "assetdir"):
            before = (None, "")
            after = imported({**parts, name: form.format(f'{attribute}="sub"')})
            result(after[0] is None and "sub/m.obj" in after[1], f"{'/'.join(place)}: {attribute} is not read: {after[1]}")
            continue
        empty = others if others or name not in ("MESH", "GEOM") else 'file="m.obj"' if name == "MESH" else 'size="0.1"'
        before = imported({**parts, name: form.format(re.sub(rf'\b{attribute}="[^"]*"', "", empty))})
        if before[0] is None:
            before = ("", "")
        after = imported({**parts, name: form.format(f'{attribute}="{value}" {others}')})
        result(after[0] is not None and before[0] != after[0], f"{'/'.join(place)}: {attribute} changes nothing: {after[1]}")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
