"""The wheel's tag: of one platform where the library lies in the package (scripts/make_wheel.sh), else of all."""

import os
import pathlib

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):
        if (pathlib.Path(self.root) / "sdrs" / "_bundle").is_dir():
            build_data["pure_python"] = False
            build_data["tag"] = os.environ["SDRS_WHEEL_TAG"]
