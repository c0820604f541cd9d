"""One row of the physics tests: a scene, its measured quantity, and the right value."""


class Row:
    def __init__(self, name, scene, measure, right, within, source, recommended=(), known=None, long=False):
        self.name = name
        self.scene = scene
        self.measure = measure
        self.right = right
        self.within = within  # absolute, in the unit of `right`
        self.source = source
        self.recommended = recommended
        self.known = known or {}  # by variant: "default", "recommended"
        self.long = long  # 0.7 s of processor time and more: not in `make check`, unless no other row shows the like
