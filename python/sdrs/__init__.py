"""sdrs: a simulator of robots in contact with exact gradients of whole runs (docs/python.md).

    import sdrs
    scene = sdrs.Scene("scenes/slide.yaml", overrides={"contact.friction": 0.2})
    run = scene.run()
    run.position("box")[-1]                              # where the box ends [m]
    run.gradient({"box": seeds})["velocities"]           # derivative of a loss by the velocities at the start

sdrs.torch, sdrs.jax and sdrs.gym are imported only when they are asked for: `import sdrs.torch`.
"""

from ._library import Error, version
from .scene import Proof, Rollouts, Run, Scene, query
from .shapes import Shapes

__version__ = version()
__all__ = ["Error", "Proof", "Rollouts", "Run", "Scene", "Shapes", "query", "version"]
