/* Tests fabrication losses: necks, walls, overhangs and extents of shapes with known measures. */
#include <math.h>
#include <string.h>

#include "unit/differentiate/loss_testing.h"

static const char SCENE[] =
    "simulation: {dt: 0.01, steps: 1, integrator: first_order}\n"
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

/* The upper cube has faces inclined by 30 and 60 degrees. One overhang exceeds the limit, by sin 60 - sin 45. The lower
 * cube stands on the bed. With a limit above 60 degrees there is no overhang. */
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

/* A bar on a hinge rotates between two posts. Its corners are 0.5 from the hinge and 0.05 up and down. The clearance is
 * smallest where a corner points at the first post. The second post lies outside of the hinge's range, except for its
 * end. */
static const char SWING[] =
    "simulation: {dt: 0.01, steps: 1, integrator: first_order}\n"
    "contact: {model: none}\n"
    "shapes: {bar: {type: box, size: [0.5, 0.1, 0.1]}, post: {type: box, size: [0.2, 4, 4]}, lid: {type: box, size: "
    "[4, 4, 0.2]}}\n"
    "links:\n"
    "  - {name: post, fixed: true, position: [0.7, 0, 0], shape: post}\n"
    "  - {name: lid, fixed: true, position: [0, 0, 1.1], shape: lid}\n"
    "  - {name: bar, joint: {type: hinge, axis: [0, -1, 0], limits: [-0.7, 0.4]}, mass: 1, shapes: [{shape: bar, "
    "position: [0.25, 0, 0]}]}\n"
    "  - {name: wheel, position: [0, 9, 0], mass: 1, shape: bar}\n"
    "  - {name: cross, joint: {type: free, free_axes: [x, z], limits: [[-0.2, 0.1], [0, 0.3]]}, mass: 1, shapes: "
    "[{shape: bar, position: [0.25, 0, 0]}]}\n"
    "initial:\n"
    "  - {link: bar, coordinates: [-0.3]}\n"
    "  - {link: cross, coordinates: [-0.1, 0.2]}\n";

static TaskLoss clears(TaskLossType type, const char* link, const char* other) {
  TaskLoss loss = loss_of(type, link);
  if (other) loss.other.text = name_text(other);
  loss.weight = 2;
  loss.margin = 0.25;
  return loss;
}

static void clearances(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, SWING);
  double corner = sqrt(0.2525);
  compare_near(value_of(run, clears(LOSS_CLEARANCE, "bar", "post")), 2 * (0.25 - (0.6 - corner)), 1e-9, "bar, post");
  double high = 0.5 * sin(0.4) + 0.05 * cos(0.4);
  compare_near(value_of(run, clears(LOSS_CLEARANCE, "bar", "lid")), 2 * (0.25 - (1 - high)), 1e-9, "bar, lid");
  compare_near(value_of(run, clears(LOSS_CLEARANCE, "cross", "post")), 2 * (0.25 - 0), 1e-9, "cross touches");
  compare_near(value_of(run, clears(LOSS_CLEARANCE, "cross", "lid")), 2 * (0.25 - (1 - 0.35)), 1e-9, "cross, lid");
  loss_run_free(run);
}

/* Two hinges form a universal joint beside a wall. The far corner reaches its full distance where the range allows it.
 * The certified bound is at most a thousandth of the link below the exact clearance. Inside a wall the clearance is
 * minus the depth. */
static void clearance_of_two_hinges(void** state) {
  (void)state;
  for (int wall = 0; wall < 2; wall++) {
    double at = wall ? 0.4 : 0.8;
    LossRun* run = loss_run_create(
        1,
        "simulation: {dt: 0.01, steps: 1, integrator: first_order}\ncontact: {model: none}\n"
        "shapes: {bar: {type: box, size: [0.5, 0.1, 0.1]}, wall: {type: half_space, normal: [-1, 0, 0]}}\n"
        "links:\n  - {name: wall, fixed: true, position: [%.17g, 0, 0], shape: wall}\n"
        "  - {name: bar, joint: {type: universal, axes: [[0, 1, 0], [0, 0, 1]], limits: [[-0.7, 0.4], [-1, 1]]}, "
        "mass: 1, shapes: [{shape: bar, position: [0.25, 0, 0]}]}\n",
        at);
    double corner = sqrt(0.25 + 0.05 * 0.05 * 2);
    compare_near(value_of(run, clears(LOSS_CLEARANCE, "bar", "wall")), 2 * (0.25 - (at - corner)), 1e-9, "at %g", at);
    loss_run_free(run);
  }
}

/* Unlimited rotations with or without a prismatic joint, separate and overlapping. A far corner points at the base. The
 * certified bound is at most a thousandth of the link below the exact value. A ball has the same clearance at every
 * angle. */
static void clearance_P8_of_free_rotations(void** state) {
  (void)state;
  static const struct {
    const char *joint, *shape;
    double at, radius, low;
  } cases[] = {
      {"type: universal, axes: [[1, 0, 0], [0, 1, 0]]", "finger", 0.4, 0, 0},
      {"type: universal, axes: [[1, 0, 0], [0, 1, 0]]", "finger", 0.2, 0, 0},
      {"type: free, free_axes: [z, rx, ry], limits: [[-0.1, 0.1], null, null]", "finger", 0.5, 0, 0.1},
      {"type: universal, axes: [[1, 0, 0], [0, 1, 0]]", "ball", 0.2, 0.1, 0},
  };
  for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
    LossRun* run = loss_run_create(1,
                                   "simulation: {dt: 0.01, steps: 1, integrator: first_order}\ncontact: {model: none}\n"
                                   "shapes:\n  base: {type: box, size: [0.4, 0.4, 0.1]}\n"
                                   "  finger: {type: box, size: [0.06, 0.04, 0.3]}\n"
                                   "  ball: {type: sphere, radius: 0.1, resolution: 1}\n"
                                   "links:\n  - {name: base, fixed: true, shape: base}\n"
                                   "  - {name: finger, parent: base, joint: {%s, position: [0, 0, %.17g]}, mass: 1, "
                                   "shapes: [{shape: %s, position: [0, 0, %g]}]}\n",
                                   cases[i].joint, cases[i].at, cases[i].shape, cases[i].radius > 0 ? 0 : 0.15);
    double radius = cases[i].radius > 0 ? cases[i].radius : sqrt(0.09 + 0.03 * 0.03 + 0.02 * 0.02);
    FabricationReport report = fabrication_measure(&run->run->model, 1, vec3(0, 0, 1), 0.7);
    compare_near(report.clearance, cases[i].at - cases[i].low - 0.05 - radius, 1e-9, "case %d", i);
    compare_at_most(report.clearance - report.clearance_lower_bound, 1.01e-3 * radius, "case %d: left out", i);
    compare_at_most(report.clearance_lower_bound, report.clearance, "case %d: proved", i);
    loss_run_free(run);
  }
}

/* The removal path is blocked or free. At a height of half a metre the path is free; along x the post blocks it. */
static void removals(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, SWING);
  TaskLoss loss = clears(LOSS_REMOVAL, "wheel", "post");
  loss.direction = vec3(1, 0, 0);
  loss.length = 2;
  compare_near(value_of(run, loss), 2 * (0.25 - (9 - 0.05 - 2)), 1e-9, "past");
  loss.direction = vec3(0, -1, 0);
  compare_near(value_of(run, loss), 2 * (0.25 - hypot(0.35, 4.95)), 1e-9, "towards");
  loss.link.text = name_text("cross");
  loss.direction = vec3(1, 0, 0);
  loss.length = 0.35; /* its end stands at 0.4, goes to 0.75; the face is at 0.6 */
  compare_near(value_of(run, loss), 2 * (0.25 + 0.15), 1e-9, "into");
  loss_run_free(run);
}

/* Derivatives by the vertices of a link's first hull, summed over those whose coordinate along `axis` has this sign. */
static double pull(const LossRun* run, const TaskLoss* loss, int link, int axis, double sign) {
  const Model* model = &run->run->model;
  Loss* made = loss_make(run, loss);
  LossSeeds seeds = loss_seeds_create(model, 1);
  double term, sum = 0;
  loss_evaluate(made, &run->recording, &term, &seeds);
  const ModelHull* hull = &model->hulls[model->links[link].hull_first];
  const double* const along[3] = {hull->points.x, hull->points.y, hull->points.z};
  for (int i = 0; i < hull->points.count; i++)
    if (along[axis][i] * sign > 0) sum += (&seeds.vertices[hull->vertex_first + i].x)[axis];
  loss_seeds_destroy(&seeds);
  loss_destroy(made);
  return sum;
}

/* A plate is thinnest between faces of four corners each: they share the slope. */
static void all_corners_of_a_wall_carry_it(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1,
                                 "simulation: {dt: 0.01, steps: 1, integrator: first_order}\ncontact: {model: none}\n"
                                 "links: [{name: plate, mass: 1, shape: {type: box, size: [2, 0.1, 1]}}]\n");
  TaskLoss loss = loss_of(LOSS_WALL, "plate");
  Loss* made = loss_make(run, &loss);
  LossSeeds seeds = loss_seeds_create(&run->run->model, 1);
  double term;
  loss_evaluate(made, &run->recording, &term, &seeds);
  const ModelHull* hull = &run->run->model.hulls[0];
  for (int i = 0; i < 8; i++)
    compare_vec3(seeds.vertices[i], vec3(0, hull->points.y[i] > 0 ? -0.25 : 0.25, 0), 1e-12, "corner %d", i);
  loss_seeds_destroy(&seeds);
  loss_destroy(made);
  loss_run_free(run);
}

/* A block moves through a fixed block. The depth is largest at the centre, where both directions along x are equally
 * far. Each one-sided derivative counts half. */
static void a_way_through_has_its_least_at_a_fold(void** state) {
  (void)state;
  LossRun* run = loss_run_create(
      1,
      "simulation: {dt: 0.01, steps: 1, gravity: [0, 0, 0], integrator: first_order}\ncontact: {model: none}\n"
      "links:\n  - {name: wall, fixed: true, shape: {type: box, size: [0.4, 4, 4]}}\n"
      "  - {name: block, mass: 1, position: [-1.1, 0, 0], shape: {type: box, size: [0.6, 1, 1]}}\n");
  TaskLoss loss = clears(LOSS_REMOVAL, "block", "wall");
  loss.direction = vec3(1, 0, 0);
  loss.length = 2.3;
  compare_near(value_of(run, loss), 2 * (0.25 + 0.2 + 0.3), 1e-9, "through");
  for (int link = 0; link < 2; link++)
    for (int side = -1; side < 2; side += 2)
      compare_near(pull(run, &loss, link, 0, side), side * 2 * 0.5, 1e-6, "link %d, side %d", link, side);
  loss_run_free(run);
}

static void boxes_that_exclude(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, SWING);
  TaskLoss loss = clears(LOSS_KEEP_OUT, "bar", NULL);
  loss.box_low = vec3(0.7, -1, 0.25), loss.box_high = vec3(0.9, 1, 0.5);
  compare_near(value_of(run, loss), 2 * (0.25 - hypot(0.2, 0.2)), 1e-12, "beside, in the link's own frame");
  loss.box_low = vec3(0.4, -1, -0.02);
  compare_near(value_of(run, loss), 2 * (0.25 + 0.07), 1e-9, "in it");
  loss_run_free(run);
}

static void expect_refused(const char* scene_link, TaskLossType type, const char* wanted) {
  LossRun* run = loss_run_create(1, SWING);
  TaskLoss loss = loss_of(type, scene_link);
  loss.length = 1, loss.direction = vec3(0, 0, 1);
  LossTask task;
  loss_task_set(&task, &loss, 1);
  Loss* made;
  Diagnostics diagnostics = {0};
  assert_int_equal(loss_create(&made, &task.task, 0, &run->run->model, &diagnostics), STATUS_BAD_INPUT);
  if (!strstr(diagnostics.items[0].text, wanted)) fail_msg("'%s'", diagnostics.items[0].text);
  diagnostics_free(&diagnostics);
  loss_run_free(run);
}

static void what_has_no_range_is_refused(void** state) {
  (void)state;
  expect_refused("post", LOSS_CLEARANCE, "the joint is fixed");
  expect_refused("wheel", LOSS_CLEARANCE, "three rotations");
  expect_refused("bar", LOSS_CLEARANCE, "has no parent");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(necks),
      cmocka_unit_test(walls),
      cmocka_unit_test(extents),
      cmocka_unit_test(overhangs),
      cmocka_unit_test(clearances),
      cmocka_unit_test(clearance_of_two_hinges),
      cmocka_unit_test(clearance_P8_of_free_rotations),
      cmocka_unit_test(removals),
      cmocka_unit_test(all_corners_of_a_wall_carry_it),
      cmocka_unit_test(a_way_through_has_its_least_at_a_fold),
      cmocka_unit_test(boxes_that_exclude),
      cmocka_unit_test(what_has_no_range_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
