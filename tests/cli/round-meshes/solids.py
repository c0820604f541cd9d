"""Meshes of solids of revolution, turned and moved, a scene of them and a cart on four wheels."""
import math


def write(name, profile, sides, move=lambda x, y, z: (x, y, z)):
    with open(name + ".obj", "w") as out:
        for radius, z in profile:
            for i in range(sides):
                angle = 2 * math.pi * i / sides
                out.write("v %.9g %.9g %.9g\n" % move(radius * math.cos(angle), radius * math.sin(angle), z))
        for k in range(len(profile) - 1):
            for i in range(sides):
                j = (i + 1) % sides
                a, b, c, d = (k * sides + n + 1 for n in (i, j, sides + j, sides + i))
                out.write(f"f {a} {b} {c} {d}\n")
        last = (len(profile) - 1) * sides
        for i in range(1, sides - 1):
            out.write(f"f 1 {i + 2} {i + 1}\nf {last + 1} {last + i + 1} {last + i + 2}\n")


def arc(center, z, radius, begin, end, count=12):
    angles = [begin + (end - begin) * k / count for k in range(count + 1)]
    return [(center + radius * math.cos(a), z + radius * math.sin(a)) for a in angles]


def about_y(x, y, z):
    return x, -z, y


right = math.pi / 2
write("cylinder", [(0.1, -0.02), (0.1, 0.02)], 32, lambda x, y, z: (x + 0.01, 0.02 - z, y + 0.03))
root = 0.05 * math.sqrt(3)  # its three moments of inertia are equal
write("even", [(0.1, -root), (0.1, root)], 32, about_y)
write("wheel", arc(0.09, -0.01, 0.01, -right, 0) + arc(0.09, 0.01, 0.01, 0, right), 40,
      lambda x, y, z: (0.8 * x + 0.6 * z, y, 0.3 - 0.6 * x + 0.8 * z))
write("cone", [(0.05, -0.1), (0.1, 0.1)], 40)
write("tip", [(1e-9, -0.1), (0.05, 0.1)], 40)  # a scene's cone has its tip at the top
write("ball", arc(0, 0, 0.1, 0.01 - right, right - 0.01, 30), 40)
write("capsule", arc(0, -0.1, 0.05, 0.01 - right, 0) + arc(0, 0.1, 0.05, 0, right - 0.01), 40, about_y)
write("disc", arc(0.1, 0, 0.03, -right, right, 16), 40)
write("coarse", [(0.1, -0.02), (0.1, 0.02)], 16)
write("hexagon", [(0.1, -0.02), (0.1, 0.02)], 6)
write("box", [(0.1, -0.02), (0.1, 0.02)], 4)
names = "cylinder even wheel cone tip ball capsule disc coarse hexagon box".split()
with open("solids.yaml", "w") as out:
    out.write("simulation: {dt: 0.01, steps: 2}\nshapes:\n")
    for name in names:
        out.write(f"  {name}: {{type: mesh, file: {name}.obj}}\n")
    out.write("links:\n")
    for i, name in enumerate(names):
        out.write(f"  - {{name: on_{name}, density: 1000, shape: {name}, position: [{i}, 0, 1]}}\n")

INERTIAL = "<inertial><mass value='{}'/><inertia ixx='{}' iyy='{}' izz='{}' ixy='0' ixz='0' iyz='0'/></inertial>"
with open("cart.urdf", "w") as out:
    out.write("<robot name='cart'><link name='body'>" + INERTIAL.format(1, 0.01, 0.01, 0.01))
    out.write("<collision><geometry><box size='0.3 0.1 0.05'/></geometry></collision></link>\n")
    for name, x, y in ("fl", 0.12, 0.12), ("fr", 0.12, -0.12), ("bl", -0.12, 0.12), ("br", -0.12, -0.12):
        out.write(f"<link name='{name}'>" + INERTIAL.format(0.1, 3e-4, 5e-4, 3e-4) + "<collision><origin rpy='1.5707963267949 0 0'/>")
        out.write("<geometry><mesh filename='tyre.obj'/></geometry></collision></link>\n")
        out.write(f"<joint name='j{name}' type='continuous'><parent link='body'/><child link='{name}'/>")
        out.write(f"<origin xyz='{x} {y} 0'/><axis xyz='0 1 0'/></joint>\n")
    out.write("</robot>\n")
write("tyre", [(0.1, -0.015), (0.1, 0.025)], 32)
