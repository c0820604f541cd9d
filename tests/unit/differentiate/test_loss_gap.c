/* Tests the smallest distance of two links in closed form for vertices, edges, faces and half-spaces, and its witness
 * points. */
#include <string.h>

#include "loss_testing.h"

#define BODIES                                                                                         \
  "simulation: {dt: 0.1, steps: 1, gravity: [0, 0, 0], integrator: first_order}\n"                     \
  "contact: {model: none}\n"                                                                           \
  "shapes: {cube: {type: box, size: [2, 2, 2]}}\n"                                                     \
  "links:\n"                                                                                           \
  "  - {name: a, mass: 1, shape: cube}\n"                                                              \
  "  - {name: b, mass: 1, shapes: [cube, {shape: cube, position: [0, 50, 0]}], position: [9, 0, 0]}\n" \
  "  - {name: ground, fixed: true, shape: {type: half_space, normal: [0, 0, 2], offset: -20}}\n"

static TaskLoss gap_of(const char* link, const char* other, double margin) {
  TaskLoss loss = loss_of(LOSS_GAP, link);
  loss.other.text = name_text(other);
  loss.margin = margin;
  loss.from = 0.1;
  return loss;
}

/* Returns the distance d, recovered from the loss (30 - d)^2. */
static double distance_of(LossRun* run, const char* link, const char* other) {
  TaskLoss loss = gap_of(link, other, 30);
  return 30 - sqrt(loss_value(run, &loss));
}

static void distances_of_cubes(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, BODIES);
  Pose *a = pose_at(run, 1, 0), *b = pose_at(run, 1, 1);
  *a = pose_identity();
  *b = (Pose){mat3_identity(), vec3(5, 0.5, 0)};
  compare_near(distance_of(run, "a", "b"), 3, 1e-13, "faces");
  *b = (Pose){mat3_identity(), vec3(4, 3, 4)};
  compare_near(distance_of(run, "a", "b"), 3, 1e-13, "corners: (2, 1, 2)");
  *b = (Pose){mat3_identity(), vec3(5, 6, 0.5)};
  compare_near(distance_of(run, "b", "a"), 5, 1e-13, "parallel edges: (3, 4)");
  *b = (Pose){mat3_identity(), vec3(0, -50, 7)};
  compare_near(distance_of(run, "a", "b"), 5, 1e-13, "the second hull");
  /* turned by 45 degrees about x and a by 45 about y, edges cross at right angles above each other */
  a->r = mat3_from_quat(quat_about(vec3(0, 1, 0), M_PI / 4));
  *b = (Pose){mat3_from_quat(quat_about(vec3(1, 0, 0), M_PI / 4)), vec3(0.1, 0.2, 7)};
  compare_near(distance_of(run, "a", "b"), 7 - 2 * sqrt(2), 1e-13, "crossed edges");
  loss_run_free(run);
}

/* The ground's surface is at z = -20. */
static void distances_to_a_half_space(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, BODIES);
  *pose_at(run, 1, 0) = (Pose){mat3_from_quat(quat_about(vec3(1, 0, 0), M_PI / 4)), vec3(3, 4, -11)};
  compare_near(distance_of(run, "a", "ground"), 9 - sqrt(2), 1e-13, "above");
  compare_near(distance_of(run, "ground", "a"), 9 - sqrt(2), 1e-13, "the other way round");
  pose_at(run, 1, 0)->t.z = -20;
  compare_near(distance_of(run, "a", "ground"), -sqrt(2), 1e-13, "below the surface it is negative");
  pose_at(run, 1, 2)->t.z = -5;
  compare_near(distance_of(run, "a", "ground"), 5 - sqrt(2), 1e-13, "the ground's own frame moved");
  loss_run_free(run);
}

/* Beyond the margin nothing; within it the square of the lack. */
static void margin(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, BODIES);
  for (int k = 0; k <= 1; k++) {
    *pose_at(run, k, 0) = pose_identity();
    *pose_at(run, k, 1) = (Pose){mat3_identity(), vec3(k == 0 ? 4 : 5, 0, 0)};
  }
  TaskLoss loss = gap_of("a", "b", 3 - 1e-9);
  compare_near(loss_value(run, &loss), 0, 0, "just beyond");
  loss.margin = 3 + 1e-9;
  compare_near(loss_value(run, &loss), 1e-18, 1e-23, "just within");
  loss.margin = 3.5;
  loss.from = -1;
  compare_near(loss_value(run, &loss), (1.5 * 1.5 + 0.5 * 0.5) / 2, 1e-13, "mean over the run");
  loss_run_free(run);
}

/* Intersecting hulls have the gap zero and no gradient. */
static void hulls_that_meet(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, BODIES);
  *pose_at(run, 1, 0) = pose_identity();
  *pose_at(run, 1, 1) = (Pose){mat3_identity(), vec3(0.5, 0.5, 0.5)};
  TaskLoss loss = gap_of("a", "b", 3);
  Loss* made = loss_make(run, &loss);
  LossSeeds seeds = loss_seeds_create(&run->run->model, 1);
  double term;
  compare_near(loss_evaluate(made, &run->recording, &term, &seeds), 9, 0, "gap zero");
  for (size_t i = 0; i < seeds.length; i++) compare_near((&seeds.pose[0][0][0])[i], 0, 0, "seed %zu", i);
  loss_destroy(made);
  loss_seeds_destroy(&seeds);
  loss_run_free(run);
}

/* A corner of b lies above the centre of a's face. It carries b's full weight. On a, three corners represent the
 * witness point: their weights sum to 1 and their weighted positions to (0.5, 0.25). */
static void vertices_that_carry_a_nearest_point(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, BODIES);
  Model* m = &run->run->model;
  *pose_at(run, 1, 0) = pose_identity();
  Mat3 corner_down =
      mat3_from_quat(quat_mul(quat_about(vec3(0, 1, 0), atan(sqrt(0.5))), quat_about(vec3(1, 0, 0), M_PI / 4)));
  *pose_at(run, 1, 1) = (Pose){corner_down, vec3(0.5, 0.25, 1 + sqrt(3) + 0.5)};
  TaskLoss loss = gap_of("a", "b", 1.5);
  Loss* made = loss_make(run, &loss);
  LossSeeds seeds = loss_seeds_create(m, 1);
  double term;
  /* L = (1.5 - d)^2 with d = 0.5: dL/dd = -2 */
  compare_near(loss_evaluate(made, &run->recording, &term, &seeds), 1, 1e-13, "value");
  double weight = 0;
  Vec3 point = vec3(0, 0, 0);
  for (int i = 0; i < 8; i++) {
    Vec3 g = seeds.vertices[i];
    weight += g.z;
    point = vec3_add_scaled(point, g.z, m->hulls[0].solid.vertices[i]);
  }
  compare_near(weight, 2, 1e-13, "a: raised by 1, the gap falls by 1");
  compare_vec3(vec3_scale(point, 0.5), vec3(0.5, 0.25, 1), 1e-13, "a: the point");
  int carriers = 0;
  for (int i = 8; i < 16; i++)
    if (vec3_norm(seeds.vertices[i]) > 0) {
      carriers++;
      compare_vec3(mat3_mul_vec(corner_down, seeds.vertices[i]), vec3(0, 0, -2), 1e-13, "b: the corner");
    }
  assert_int_equal(carriers, 1);
  loss_destroy(made);
  loss_seeds_destroy(&seeds);
  loss_run_free(run);
}

/* Parallel faces share the gap among all their corners. The weights of each side sum to 1, and both witness points lie
 * above each other. A step along the gradient widens the gap, but moving one corner does not. */
static void expect_shared(LossRun* run, const char* other, int carriers) {
  Model* m = &run->run->model;
  TaskLoss loss = gap_of("a", other, 1.5);
  Loss* made = loss_make(run, &loss);
  LossSeeds seeds = loss_seeds_create(m, 1);
  double term, before = loss_evaluate(made, &run->recording, &term, &seeds), found = 0;
  Vec3 sum = vec3(0, 0, 0);
  for (int i = 0; i < 8; i++) {
    found += vec3_norm(seeds.vertices[i]) > 0;
    sum = vec3_add(sum, mat3_mul_vec(pose_at(run, 1, 0)->r, seeds.vertices[i]));
  }
  compare_near(found, carriers, 0, "corners of a that carry the gap over %s", other);
  compare_vec3(sum, vec3(0, 0, -2 * (1.5 - 0.5)), 1e-9, "their sum");
  /* a step along minus the gradient of both: the slope in the steepest direction is the gradient's norm */
  double step = 1e-4, square = 0, kept[2][3][8];
  for (int h = 0; h < 2; h++) {
    double* axis[3] = {(double*)m->hulls[h].points.x, (double*)m->hulls[h].points.y, (double*)m->hulls[h].points.z};
    for (int i = 0; i < 24; i++) {
      Vec3 g = seeds.vertices[8 * h + i / 3];
      double slope = (const double[]){g.x, g.y, g.z}[i % 3];
      square += slope * slope;
      kept[h][i % 3][i / 3] = axis[i % 3][i / 3];
      axis[i % 3][i / 3] -= step * slope;
    }
  }
  double after = loss_evaluate(made, &run->recording, &term, NULL);
  compare_near((before - after) / step, square, 1e-3, "descent over %s", other);
  for (int h = 0; h < 2; h++) {
    double* axis[3] = {(double*)m->hulls[h].points.x, (double*)m->hulls[h].points.y, (double*)m->hulls[h].points.z};
    for (int k = 0; k < 3; k++) memcpy(axis[k], kept[h][k], sizeof kept[h][k]);
  }
  loss_destroy(made);
  loss_seeds_destroy(&seeds);
}

static void level_corners_carry_together(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, BODIES);
  *pose_at(run, 1, 0) = (Pose){mat3_identity(), vec3(3, 4, -18.5)};
  expect_shared(run, "ground", 4);
  *pose_at(run, 1, 0) = (Pose){mat3_identity(), vec3(0, 0, 2.5)};
  *pose_at(run, 1, 1) = pose_identity();
  expect_shared(run, "b", 4); /* face above face */
  pose_at(run, 1, 0)->t.x = 0.7;
  expect_shared(run, "b", 4); /* beside each other, overlapping */
  pose_at(run, 1, 0)->r = mat3_from_quat(quat_about(vec3(0, 0, 1), 0.6));
  expect_shared(run, "b", 4); /* turned against each other */
  *pose_at(run, 1, 0) = (Pose){mat3_from_quat(quat_about(vec3(1, 0, 0), M_PI / 4)), vec3(0.5, 0.2, 1.5 + sqrt(2))};
  expect_shared(run, "b", 2); /* an edge over a face */
  loss_run_free(run);
}

static void the_world_may_move(void** state) {
  (void)state;
  Random random = {88};
  LossRun* run = loss_run_create(1, BODIES);
  for (int i = 0; i < 6; i++) run->recording.pose[i] = random_pose(&random, 4);
  const char* const pairs[][2] = {{"a", "b"}, {"a", "ground"}};
  for (int k = 0; k < 2; k++) {
    TaskLoss loss = gap_of(pairs[k][0], pairs[k][1], 30);
    loss.from = -1;
    expect_same_when_moved(run, loss, loss, random_pose(&random, 2), "gap, seed 88");
  }
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distances_of_cubes),
      cmocka_unit_test(distances_to_a_half_space),
      cmocka_unit_test(margin),
      cmocka_unit_test(hulls_that_meet),
      cmocka_unit_test(vertices_that_carry_a_nearest_point),
      cmocka_unit_test(level_corners_carry_together),
      cmocka_unit_test(the_world_may_move),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
