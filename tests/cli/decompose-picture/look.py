"""Per panel of hulls.png: how many coloured regions there are, and how many hues."""
import collections
import sys
import zlib

WIDTH, GAP = 480, 4


def pixels(path):
    data = open(path, "rb").read()
    width, height = (int.from_bytes(data[k:k + 4], "big") for k in (16, 20))
    at, packed = 8, b""
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], "big")
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    raw, rows = zlib.decompress(packed), []
    for y in range(height):
        line = raw[y * (3 * width + 1):(y + 1) * (3 * width + 1)]
        assert line[0] == 0  # the writer filters no rows
        rows.append(line[1:])
    return width, height, rows


def hue(r, g, b):
    """0 to 5 sixths of the circle of colours, None for grey."""
    high, low = max(r, g, b), min(r, g, b)
    if high - low < 50:
        return None
    turn = (g - b if high == r else b - r if high == g else r - g) / (high - low) + (0 if high == r else 2 if high == g else 4)
    return round(turn * 2) % 12


def regions(cells):
    count = 0
    while cells:
        count += 1
        stack = [cells.pop()]
        while stack:
            x, y = stack.pop()
            for near in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                if near in cells:
                    cells.remove(near)
                    stack.append(near)
    return count


width, height, rows = pixels(sys.argv[1])
print(width, height)
for panel in range(3):
    left = panel * (WIDTH + GAP)
    found = {(x, y): hue(*rows[y][3 * (left + x):3 * (left + x) + 3]) for y in range(30, height) for x in range(WIDTH)}
    colored = {place for place, h in found.items() if h is not None}
    hues = [h for h, count in collections.Counter(found.values()).items() if h is not None and count > 300]
    print(len(colored) > 6000, len(hues), regions(colored))
