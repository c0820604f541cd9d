/* What can be made: necks, walls, overhangs and extents of shapes whose measures are known. */
#include <math.h>

#include "unit/differentiate/loss_testing.h"

static const char SCENE[] =
    "simulation: {dt: 0.01, steps: 1}\n"
    "contact: {model: none}\n"
    "shapes:\n"
    "  cube: {type: box, size: [1, 1, 1]}\n"
    "  thin: {type: box, size: [0.2, 3, 2]}\n"
    "  tetrahedron: {type: points, points: [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]}\n"
    "links:\n"
    "  - {name: chain, mass: 1, shapes: [cube, {shape: cube, position: [0.7, 0, 0]}, {shape: cube, position: [1.6, 0, "
    "0]}]}\n"
    "  - {name: ring, mass: 1, position: [0, 9, 0], shapes: [cube, {shape: cube, position: [0.7, 0, 0]}, {shape: cube, "
    "position: [0.7, 0.9, 0]}, {shape: cube, position: [0, 0.8, 0]}]}\n"
    "  - {name: apart, mass: 1, position: [0, 20, 0], shapes: [cube, {shape: cube, position: [0, 0, 1.5]}]}\n"
    "  - {name: thin, mass: 1, position: [0, 30, 0], shapes: [cube, {shape: thin, position: [0, 0, 1]}]}\n"
    "  - {name: tetrahedron, mass: 1, position: [0, 40, 0], shape: tetrahedron}\n"
    "  - {name: roof, mass: 1, position: [0, 50, 0], shapes: [cube, {shape: cube, position: [3, 0, 2], "
    "rotation_vector: [0, 1.0471975511965976, 0]}]}\n";

static double value_of(const LossRun* run, TaskLoss loss) { return loss_value(run, &loss); }

/* Overlaps of 0.3 and 0.1 in a row; in a ring of 0.3, 0.1, 0.3 and 0.2 the narrowest is not needed. */
static void necks(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, SCENE);
  TaskLoss loss = loss_of(LOSS_NECK, "chain");
  loss.weight = 2;
  loss.margin = 0.25;
  compare_near(value_of(run, loss), 2 * (0.25 - 0.1), 1e-9, "chain");
  loss.link.text = name_text("ring");
  compare_near(value_of(run, loss), 2 * (0.25 - 0.2), 1e-9, "ring");
  loss.link.text = name_text("apart"); /* half a metre between them: the ball would have to be of less than nothing */
  compare_near(value_of(run, loss), 2 * (0.25 + 0.5), 1e-9, "apart");
  loss_run_free(run);
}

/* A box by its faces, a regular tetrahedron by two of its edges: edge / sqrt(2). */
static void walls(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, SCENE);
  TaskLoss loss = loss_of(LOSS_WALL, "thin");
  loss.weight = 1;
  loss.margin = 0.5;
  compare_near(value_of(run, loss), 0.3, 1e-12, "thin");
  loss.link.text = name_text("tetrahedron");
  compare_near(value_of(run, loss), 0.5 - 2, 1e-12, "tetrahedron");
  loss_run_free(run);
}

static void extents(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, SCENE);
  TaskLoss loss = loss_of(LOSS_EXTENT, "chain");
  loss.weight = 3;
  loss.direction = vec3(1, 0, 0);
  compare_near(value_of(run, loss), 3 * 2.6, 1e-12, "along x");
  loss.direction = vec3(0.6, 0, 0.8);
  compare_near(value_of(run, loss), 3 * (0.6 * 2.6 + 0.8), 1e-12, "across");
  loss_run_free(run);
}

/* The upper cube's faces look down by 30 and 60 degrees from the upright: one leans out too far, by sin 60 - sin 45;
 * the lower one stands on the bed. Above 60 degrees nothing does. */
static void overhangs(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, SCENE);
  TaskLoss loss = loss_of(LOSS_OVERHANG, "roof");
  loss.weight = 1;
  loss.direction = vec3(0, 0, 1);
  loss.angle = M_PI / 4;
  compare_near(value_of(run, loss), pow(sqrt(0.75) - sqrt(0.5), 2), 1e-12, "45 degrees");
  loss.angle = M_PI / 9; /* 20 degrees: both */
  double s = sin(M_PI / 9);
  compare_near(value_of(run, loss), pow(sqrt(0.75) - s, 2) + pow(0.5 - s, 2), 1e-12, "20 degrees");
  loss.angle = 1.1;
  compare_near(value_of(run, loss), 0, 0, "63 degrees");
  loss.link.text = name_text("apart"); /* the upper cube's whole lower side */
  loss.angle = M_PI / 4;
  compare_near(value_of(run, loss), pow(1 - sqrt(0.5), 2), 1e-12, "level");
  loss.link.text = name_text("thin"); /* its lower side is in the cube's middle, where a triangle is looked at */
  compare_near(value_of(run, loss), 0, 1e-12, "within another");
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(necks),
      cmocka_unit_test(walls),
      cmocka_unit_test(extents),
      cmocka_unit_test(overhangs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
