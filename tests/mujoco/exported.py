"""For designs.py and search.py: exported files with another time step."""
import re

STEP = 0.001  # of exported files [s]


def at_step(text, step):
    """The file for another time step [s]: rotors that stand for rate gains go with it (docs/export.md)."""
    text = re.sub(r'\barmature="([^"]*)"', lambda found: f'armature="{float(found[1]) * step / STEP!r}"', text)
    return re.sub(r'\btimestep="[^"]*"', f'timestep="{step!r}"', text, count=1)
