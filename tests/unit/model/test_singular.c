/* Tests that loops in singular positions are reported, and only these, on mechanisms with known mobility. */
#include "fixture.h"

#define BARS "shapes: {bar: {type: box, size: [0.1, 0.1, 0.1]}}\nlinks:\n"
#define WORDS "starts in a singular position"

/* closure: index of the reported closure, or -1 if none is reported. */
typedef struct {
  const char* text;
  int closure;
} Case;

static void singular_Z11_tells_of_locked_and_of_parting_loops_alone(void** state) {
  (void)state;
  static const Case CASES[] = {
      /* a straight chain of two bars between posts cannot move, although to first order its midpoint can */
      {BARS
       "  - {name: a, shape: bar, mass: 1, joint: {type: hinge, axis: [0, 1, 0], position: [-1, 0, 0]}}\n"
       "  - {name: b, parent: a, shape: bar, mass: 1, joint: {type: hinge, axis: [0, 1, 0], position: [1, 0, 0]}}\n"
       "closures: [{type: hinge, a: b, b: world, point: [1, 0, 0], axis: [0, 1, 0]}]\n",
       0},
      /* the same, taut to a millionth; another loop stands before it in the list, a millimetre wide */
      {BARS
       "  - {name: a, shape: bar, mass: 1, joint: {type: hinge, axis: [0, 1, 0], position: [-1, 0, 0]}}\n"
       "  - {name: b, parent: a, shape: bar, mass: 1, joint: {type: hinge, axis: [0, 1, 0], position: [1, 0, 0]}}\n"
       "  - {name: c, shape: bar, mass: 1, position: [0, 5, 0]}\n"
       "closures:\n"
       "  - {type: ball, a: c, b: world, point: [0.001, 5, 0]}\n"
       "  - {type: hinge, a: b, b: world, point: [1, 0, 1e-6], axis: [0, 1, 0]}\n"
       "initial: [{link: b, coordinates: [-1e-6]}]\n",
       1},
      /* slack: a triangle, two of whose five rows say nothing, and which holds fast without a motion to stop */
      {BARS
       "  - {name: a, shape: bar, mass: 1, joint: {type: hinge, axis: [0, 1, 0], position: [-1, 0, 0]}}\n"
       "  - {name: b, parent: a, shape: bar, mass: 1, joint: {type: hinge, axis: [0, 1, 0], position: [1, 0, 1]}}\n"
       "closures: [{type: hinge, a: b, b: world, point: [1, 0, 0], axis: [0, 1, 0]}]\n",
       -1},
      /* a door on two hinges: five rows in vain */
      {BARS "  - {name: a, shape: bar, mass: 1, joint: {type: hinge, axis: [0, 1, 0]}}\n"
            "closures: [{type: hinge, a: a, b: world, point: [0, 1, 0], axis: [0, 1, 0]}]\n",
       -1},
      /* a parallelogram that stands up moves */
      {BARS
       "  - {name: a, shape: bar, mass: 1, joint: {type: hinge, axis: [0, 1, 0]}}\n"
       "  - {name: b, parent: a, shape: bar, mass: 1, joint: {type: hinge, axis: [0, 1, 0], position: [1, 0, 0]}}\n"
       "  - {name: c, parent: b, shape: bar, mass: 1, joint: {type: hinge, axis: [0, 1, 0], position: [2, 0, 0]}}\n"
       "closures: [{type: hinge, a: c, b: world, point: [2, 0, 0], axis: [0, 1, 0]}]\n"
       "initial: [{link: a, coordinates: [0.7]}, {link: b, coordinates: [-0.7]}, {link: c, coordinates: [0.7]}]\n",
       -1},
      /* laid flat it may go on crossed as well: a change point */
      {BARS
       "  - {name: a, shape: bar, mass: 1, joint: {type: hinge, axis: [0, 1, 0]}}\n"
       "  - {name: b, parent: a, shape: bar, mass: 1, joint: {type: hinge, axis: [0, 1, 0], position: [1, 0, 0]}}\n"
       "  - {name: c, parent: b, shape: bar, mass: 1, joint: {type: hinge, axis: [0, 1, 0], position: [2, 0, 0]}}\n"
       "closures: [{type: hinge, a: c, b: world, point: [2, 0, 0], axis: [0, 1, 0]}]\n",
       0},
      /* the straight chain with one bar prescribed: to first order the other bar cannot move */
      {BARS
       "  - {name: a, shape: bar, mass: 1, joint: {type: hinge, axis: [0, 1, 0], position: [-1, 0, 0]}}\n"
       "  - {name: b, parent: a, shape: bar, mass: 1, joint: {type: hinge, axis: [0, 1, 0], position: [1, 0, 0]}}\n"
       "controllers: [{link: a, type: prescribed, target: [0]}]\n"
       "closures: [{type: hinge, a: b, b: world, point: [1, 0, 0], axis: [0, 1, 0]}]\n",
       -1},
      /* universal joints in a line, a loop of three on a free body: a triangle laid flat */
      {BARS "  - {name: base, shape: bar, mass: 1}\n"
            "  - {name: a, parent: base, shape: bar, mass: 1, joint: {type: universal, axes: [[1, 0, 0], [0, 1, 0]], "
            "position: [1, 0, 0]}}\n"
            "  - {name: b, parent: a, shape: bar, mass: 1, joint: {type: universal, axes: [[1, 0, 0], [0, 1, 0]], "
            "position: [2, 0, 0]}}\n"
            "  - {name: c, parent: base, shape: bar, mass: 1, joint: {type: universal, axes: [[1, 0, 0], [0, 1, 0]], "
            "position: [-1, 0, 0]}}\n"
            "closures: [{type: weld, a: b, b: c}]\n",
       0},
      /* Bennett's linkage: the slopes' rank is 2 of 5 where it is closed, and it moves */
      {BARS "  - {name: a, shape: bar, mass: 1, joint: {type: hinge, axis: [0, 0, 1]}}\n"
            "  - {name: b, parent: a, shape: bar, mass: 1, joint: {type: hinge, axis: [0.5111755416338617, "
            "-0.260172046869939, 0.8191520442889918], "
            "position: [0.22679806071278866, 0.4456036800307177, 0.0]}}\n"
            "  - {name: c, parent: b, shape: bar, mass: 1, joint: {type: hinge, axis: [-0.6966447309645005, "
            "-0.1662063907122056, 0.6978979542209736], "
            "position: [-0.039598239791020645, -0.8084417886539494, -0.2320598533345132]}}\n"
            "closures: [{type: hinge, a: c, b: world, point: [0.49552979509866246, -0.6807702578224591, "
            "8.326672684688674e-17], "
            "axis: [-0.7809475569111779, -0.5684484279569098, 0.2588190451025207]}]\n",
       -1},
  };
  for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
    Fixture f;
    fixture_load(&f, CASES[k].text);
    const Diagnostic* found = find_message(&f, WORDS);
    if (f.model.singular_closure != CASES[k].closure || !found != (CASES[k].closure < 0))
      fail_msg("case %d: found %d, wanted %d", (int)k, f.model.singular_closure, CASES[k].closure);
    if (found) assert_int_equal(found->severity, SEVERITY_WARNING);
    assert_int_equal(f.status, STATUS_OK);
    fixture_free(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(singular_Z11_tells_of_locked_and_of_parting_loops_alone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
