"""Every public function and method says what it takes and returns, and the package says that it is typed."""

import inspect
import pathlib
import unittest

import sdrs


def public(thing, name):
    """(name, function) of a function, or of all public methods and properties of a class."""
    if inspect.isclass(thing):
        for key, member in vars(thing).items():
            if key.startswith("_") and key != "__init__":
                continue
            member = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if inspect.isfunction(member):
                yield f"{name}.{key}", member
    elif inspect.isfunction(thing):
        yield name, thing


class Types(unittest.TestCase):
    def modules(self):
        yield sdrs
        for name in ("sdrs.shapes", "sdrs.scene", "sdrs.torch", "sdrs.gym"):
            try:
                yield __import__(name, fromlist=["x"])
            except ImportError:
                pass  # torch or gymnasium is not there

    def test_every_public_function_is_annotated(self):
        checked = 0
        for module in self.modules():
            for name in getattr(module, "__all__", None) or [key for key in vars(module) if not key.startswith("_")]:
                thing = getattr(module, name)
                home = getattr(thing, "__module__", "")
                if home != module.__name__ and not (module is sdrs and home.startswith("sdrs.")):
                    continue
                for full, function in public(thing, f"{module.__name__}.{name}"):
                    signature = inspect.signature(function)
                    bare = [key for key, parameter in signature.parameters.items()
                            if parameter.annotation is parameter.empty and key not in ("self", "cls", "ctx")]
                    self.assertEqual(bare, [], full)
                    self.assertIsNot(signature.return_annotation, signature.empty, full)
                    checked += 1
        self.assertGreater(checked, 40)

    def test_the_package_is_marked(self):
        self.assertTrue((pathlib.Path(sdrs.__file__).parent / "py.typed").exists())


if __name__ == "__main__":
    unittest.main()
