"""Queries as arrays: the numbers of sdrs.query, closed forms, slots of contacts, threads, errors."""

import unittest

import numpy as np
import sdrs

EGG = {"type": "superellipsoid", "size": [1, 0.7, 0.5], "exponent": 4}
BALL = {"type": "sphere", "radius": 0.6}
BOX = {"type": "box", "size": [1, 1, 1]}
WEDGE = {"type": "points", "points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}
KINDS = ["vertex_a", "vertex_b", "edge_a", "edge_b"]


def poses(count, reach, seed):
    draw = np.random.default_rng(seed)
    q = draw.normal(size=(count, 4))
    return np.hstack([reach * draw.normal(size=(count, 3)), q / np.linalg.norm(q, axis=1)[:, None]])


def asked(shape, pose):
    return {**shape, "position": pose[:3], "quaternion": pose[3:]}


class Queries(unittest.TestCase):
    def same_as_json(self, method, a, b, outputs, derivatives, rows=4, parameters=(), **options):
        shapes, at_a, at_b = sdrs.Shapes([a, b]), poses(rows, 0.3, 1), poses(rows, 1, 2)
        for k in range(rows):
            found = shapes.query(method, 0, 1, at_a[k], at_b[k], outputs=outputs, derivatives=derivatives, parameters=parameters,
                                 **options)
            line = sdrs.query({"method": method, "derivatives": True, "parameters": bool(parameters), "a": asked(a, at_a[k]), "b": asked(b, at_b[k]), **options})
            if "contacts" in line:
                for contact in line["contacts"]:
                    contact["kind"] = KINDS.index(contact["kind"])
                line = {name: [contact[name] for contact in line["contacts"]] for name in line["contacts"][0]}
            self.assertEqual(set(found), set(outputs) | {f"d_{name}_{body}" for name in derivatives for body in "ab"}
                             | {f"d_{name}_shape_{body}" for name in parameters for body in "ab"})
            for name, array in found.items():
                expected = np.array(np.nan if line[name] is None else line[name], dtype=float)
                np.testing.assert_array_equal(array[0], np.broadcast_to(expected, array.shape[1:]), err_msg=name)

    def test_numbers_are_those_of_json(self):
        self.same_as_json("growth", EGG, BALL, ("alpha", "bounds", "point", "normal", "gap", "witness_a", "multipliers", "proved"),
                          ("alpha", "gap", "point", "normal"))
        self.same_as_json("growth", EGG, BALL, ("force", "wrench_a"), ("force", "wrench_b"), stiffness=1000)
        self.same_as_json("distance", BOX, WEDGE, ("distance", "normal", "witness_a", "witness_b"), ("distance", "witness_b"))
        self.same_as_json("distance", EGG, WEDGE, ("distance", "bounds"), ("distance", "normal"))
        self.same_as_json("witness", BOX, WEDGE, ("distance", "smooth_a", "smooth_b", "temperature_a", "jacobian_a_b"),
                          ("smooth_a", "witness_b"))
        self.same_as_json("manifold", BOX, WEDGE, ("kind", "point", "distance", "normal", "activity"),
                          ("point", "distance", "normal", "activity"), edges=3)
        self.same_as_json("manifold", BOX, EGG, ("mean", "activity", "left_out"), ("mean",), mean=True)
        self.same_as_json("touch", BOX, WEDGE, ("loss", "position_b", "quaternion_b"), (), target_a=[0, 0, 0.5],
                          target_b=[0, 0, 0], iterations=10)

    def test_derivatives_by_parameters_are_those_of_json(self):
        self.same_as_json("growth", EGG, BALL, ("alpha",), (), parameters=("alpha", "normal"))
        self.same_as_json("distance", EGG, WEDGE, (), (), parameters=("distance",))
        self.same_as_json("manifold", EGG, BALL, ("distance",), (), parameters=("point", "distance"))

    def test_paths_of_mixed_pairs_and_threads(self):
        rows = 500
        shapes, at_a, at_b = sdrs.Shapes([EGG, BALL, {**EGG, "exponent": 2}]), poses(rows, 0.1, 3), poses(rows, 1, 4)
        i, j = np.arange(rows) % 3, np.arange(rows) % 2
        one, two = (shapes.query("growth", i, j, at_a, at_b, ("alpha", "gap"), ("gap",), threads=n) for n in (1, 2))
        for name in one:
            np.testing.assert_array_equal(one[name], two[name])
        for k in range(0, rows, 50):  # in a call by itself, cold
            alone = shapes.query("growth", i[k], j[k], at_a[k], at_b[k], ("alpha", "gap"), ("gap",))
            for name in one:
                np.testing.assert_allclose(one[name][k], alone[name][0], rtol=1e-6, atol=1e-9)

    def test_answers_are_written_over(self):
        shapes, at = sdrs.Shapes([BOX, WEDGE]), poses(6, 0.5, 9)
        ask = dict(outputs=("distance", "point"), derivatives="distance", edges=2)
        first = shapes.query("manifold", 0, 1, at, at[::-1], **ask)
        kept = {name: array.copy() for name, array in first.items()}
        again = shapes.query("manifold", 0, 1, at[::-1], at, out=first, **ask)
        alone = shapes.query("manifold", 0, 1, at[::-1], at, **ask)
        for name, array in again.items():
            self.assertIs(array.base, first[name].base)
            np.testing.assert_array_equal(array, alone[name])
            self.assertFalse((array == kept[name]).all())
        for wrong in (dict(at=at[:3]), dict(outputs="distance"), dict(out={})):
            rows = wrong.pop("at", at)
            with self.assertRaisesRegex(sdrs.Error, "out: not the answer of a call"):
                shapes.query("manifold", 0, 1, rows, rows, **{**ask, "out": first, **wrong})

    def test_balls_have_their_closed_form(self):
        shapes = sdrs.Shapes([BALL, {"type": "sphere", "radius": 1.0}])
        at = np.tile([0, 0, 0, 1, 0, 0, 0], (50, 1)).astype(float)
        far = at.copy()
        far[:, 1] = np.linspace(1, 3, 50)
        found = shapes.query("growth", 0, 1, at[0], far, ("alpha", "gap", "normal"), ("alpha",))
        np.testing.assert_allclose(found["alpha"], far[:, 1] / 1.6, rtol=1e-9)
        np.testing.assert_allclose(found["gap"], far[:, 1] - 1.6, atol=1e-9)
        np.testing.assert_allclose(found["d_alpha_b"][:, 4], 1 / 1.6, rtol=1e-9)
        self.assertEqual(found["normal"].shape, (50, 3))
        self.assertEqual(found["d_alpha_a"].shape, (50, 6))

    def test_flat_on_flat_has_slopes_of_the_distance_alone(self):
        draw, rows = np.random.default_rng(7), 100
        cube = {"type": "superellipsoid", "size": [1, 1, 1], "exponent": 8}
        here, there = np.tile([0, 0, 0, 1, 0, 0, 0.0], (2, rows, 1))
        there[:, :3] = draw.uniform(-0.3, 0.3, (rows, 3)) * (draw.uniform(size=(rows, 3)) < 0.7)
        there[np.arange(rows), np.arange(rows) % 3] = draw.choice([-2.5, 2.5], rows)
        found = sdrs.Shapes([cube]).query("growth", 0, 0, here, there, ("alpha", "normal"), ("alpha", "gap", "point"))
        expected = found["alpha"] / (found["normal"] * there[:, :3]).sum(axis=1)  # alpha n / (n . r)
        np.testing.assert_allclose(found["d_alpha_b"][:, 3:], expected[:, None] * found["normal"], atol=1e-7)
        np.testing.assert_allclose(found["d_alpha_a"][:, 3:], -found["d_alpha_b"][:, 3:], atol=1e-7)
        self.assertTrue(np.isfinite(found["d_gap_a"]).all() and np.isnan(found["d_point_a"]).any())
        boxes = sdrs.Shapes([BOX]).query("distance", 0, 0, here, there, ("distance", "normal"), ("distance", "witness_a"))
        np.testing.assert_allclose(boxes["distance"], 1.5)
        np.testing.assert_allclose(boxes["d_distance_b"][:, 3:], boxes["normal"], atol=1e-12)
        self.assertTrue(np.isfinite(boxes["d_distance_a"]).all() and np.isnan(boxes["d_witness_a_a"]).all())

    def test_slots_beyond_the_contacts_are_nan(self):
        shapes = sdrs.Shapes([BOX, WEDGE])
        at, j = poses(3, 0.5, 5), np.array([0, 1, 0])
        found = shapes.query("manifold", 0, j, at, at[::-1], ("point", "distance", "kind"), ("distance",), edges=2)
        one = shapes.query("manifold", 0, 1, at[1], at[1], "distance", edges=2)["distance"].shape[1]
        slots = found["distance"].shape[1]
        self.assertLess(one, slots)
        self.assertEqual(found["point"].shape, (3, slots, 3))
        self.assertEqual(found["d_distance_a"].shape, (3, slots, 6))
        self.assertTrue(np.isnan(found["distance"][1, one:]).all() and np.isfinite(found["distance"][1, :one]).all())
        self.assertTrue(np.isfinite(found["distance"][[0, 2]]).all())

    def test_what_cannot_be_is_refused(self):
        shapes, at = sdrs.Shapes([EGG, BOX]), np.array([0, 0, 0, 1, 0, 0, 0.0])
        for words, call in [
                ("did you mean 'alpha'", lambda: shapes.query("growth", 0, 0, at, at, "alpah")),
                ("growth needs a smooth shape", lambda: shapes.query("growth", 0, 1, at, at)),
                ("shapes are 0 to 1", lambda: shapes.query("growth", 0, 2, at, at)),
                ("shapes are 0 to 1", lambda: shapes.query("growth", -1, 0, at, at)),
                ("a whole number", lambda: shapes.query("growth", 0.5, 0, at, at)),
                ("expected (n, 7)", lambda: shapes.query("growth", 0, 0, at[:6], at)),
                ("as long as each other", lambda: shapes.query("growth", 0, [0, 0, 0], poses(2, 1, 1), at)),
                ("row 0: quaternion_a", lambda: shapes.query("growth", 0, 0, 2 * at, at)),
                ("unknown key 'smothing'", lambda: shapes.query("manifold", 1, 1, at, at, smothing=0.1)),
                ("radius: must be in", lambda: sdrs.Shapes([{"type": "sphere", "radius": -1}]))]:
            with self.assertRaises(sdrs.Error) as caught:
                call()
            self.assertIn(words, str(caught.exception))
            self.assertEqual(str(caught.exception.status), "USAGE" if "shapes are" in words or "whole" in words or "expected" in words
                             or "as long" in words else "BAD_INPUT")

    def test_no_rows(self):
        found = sdrs.Shapes([EGG]).query("growth", 0, 0, np.zeros((0, 7)), np.zeros((0, 7)), ("alpha", "point"), ("gap",))
        self.assertEqual([found[name].shape for name in ("alpha", "point", "d_gap_a")], [(0,), (0, 3), (0, 6)])


if __name__ == "__main__":
    unittest.main()
