/* Tests invariances: pose of the whole scene, order of links, order of a hull's vertices, and order of a pair's bodies.
 * Short runs with contact, friction and joints agree to the growth of rounding errors. */
#include <string.h>

#include "support/bodies.h"
#include "support/runs.h"

enum { STEPS = 60 };
/* Steps are solved to 1e-10 N; over 0.3 s that and rounding may grow to this [m]. */
#define TOLERANCE 1e-10
#define ALLOWED 1e-9

#define HEAD                                                                                                         \
  "simulation: {dt: 0.005, steps: 100, integrator: %s}\n"                                                            \
  "contact: {barrier_distance: 2.0e-3, stiffness: 1.0e-7, friction: 0.4, smoothing: 1.0e-4}\n"                       \
  "shapes:\n"                                                                                                        \
  "  brick: {type: box, size: [0.2, 0.15, 0.1]}\n"                                                                   \
  "  stone: {type: points, points: [[0.1, 0, 0], [-0.05, 0.09, 0.01], [-0.04, -0.08, 0], [0, 0.01, 0.1], [0.01, 0, " \
  "-0.09], [0.05, 0.06, 0.05]]}\n"
#define GROUND_SLAB "  - {name: ground, fixed: true, position: [0, 0, -0.5], shape: {type: box, size: [4, 4, 1]}}\n"
#define GROUND_HALF_SPACE "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
#define BRICK_1 "  - {name: b1, mass: 0.5, shape: brick, position: [0, 0, 0.055], rotation_vector: [0, 0, 0.3]}\n"
#define BRICK_2 \
  "  - {name: b2, mass: 0.7, shape: brick, position: [0.05, 0.02, 0.17], rotation_vector: [0.05, 0.02, 1]}\n"
#define STONE "  - {name: s1, mass: 0.4, shape: stone, position: [-0.3, 0, 0.12]}\n"
#define ARM                                                                                                         \
  "  - {name: arm, mass: 0.6, joint: {type: hinge, axis: [0, 1, 0.1], position: [0.5, 0.1, 0.35], damping: 0.01}, " \
  "shapes: [{shape: brick, position: [-0.12, 0, 0]}]}\n"                                                            \
  "  - {name: hand, parent: arm, mass: 0.3, joint: {type: ball, position: [-0.25, 0, 0], damping: 0.002}, shapes: " \
  "[{shape: stone, position: [-0.11, 0, 0]}]}\n"
#define TAIL                                                    \
  "initial:\n"                                                  \
  "  - {link: b1, velocities: [0.5, -0.2, 0, 0, 0, 1]}\n"       \
  "  - {link: b2, velocities: [-0.3, 0.1, -0.5, 0.5, 0, -1]}\n" \
  "  - {link: s1, velocities: [1, 0.3, -1, 3, -2, 1]}\n"        \
  "  - {link: hand, velocities: [1, -1, 2]}\n"

static const char usual[] = HEAD "links:\n" GROUND_SLAB BRICK_1 BRICK_2 STONE ARM TAIL;
static const char usual_half_space[] = HEAD "links:\n" GROUND_HALF_SPACE BRICK_1 BRICK_2 STONE ARM TAIL;
static const char reordered[] = HEAD "links:\n" ARM STONE BRICK_2 BRICK_1 GROUND_SLAB TAIL;
static const char reordered_half_space[] = HEAD "links:\n" STONE ARM BRICK_1 GROUND_HALF_SPACE BRICK_2 TAIL;

static const char* const integrators[] = {"first_order", "second_order"};

/* Step both; every link of the second, seen through `moved`, is where that of the first is. */
static void compare_runs(Run* first, Run* second, Pose moved, const char* what) {
  double worst = 0;
  int touched = 0;
  for (int n = 1; n <= STEPS; n++) {
    touched += run_steps(first, 1).active_pairs;
    run_steps(second, 1);
    for (int i = 0; i < first->model.link_count; i++) {
      const char* name = first->model.links[i].name;
      int j = run_link(second, name);
      Pose a = pose_mul(moved, sim_state(first->sim)->pose[i]), b = sim_state(second->sim)->pose[j];
      Vec3 apart = vec3_sub(a.t, b.t);
      Mat3 turned = mat3_sub(a.r, b.r);
      double difference = vec3_norm(apart);
      for (int k = 0; k < 9; k++) difference = fmax(difference, fabs((&turned.m[0][0])[k]));
      worst = fmax(worst, difference);
      compare_at_most(difference, ALLOWED, "%s: link %s after %d steps", what, name, n);
    }
  }
  assert_true(touched > STEPS); /* there was contact to speak of */
  print_message("%s: largest difference %.1e\n", what, worst);
}

/* ---------------------------------------------------------------- the whole world, gravity and all */

static void move_world(Scene* scene, void* context) {
  const Pose* move = context;
  scene->simulation.gravity = mat3_mul_vec(move->r, scene->simulation.gravity);
  for (int i = 0; i < scene->link_count; i++) {
    SceneJoint* joint = &scene->links[i].joint;
    if (scene->links[i].parent >= 0) continue;
    joint->position = pose_apply(*move, joint->position);
    joint->rotation = quat_mul(quat_from_mat3(move->r), joint->rotation);
  }
}

static void invariant_under_motion_of_the_world(void** state) {
  (void)state;
  Random random = {121};
  for (int k = 0; k < 2; k++)
    for (int order = 0; order < 2; order++) {
      Pose move = random_pose(&random, 3);
      Run* first = run_create(1, TOLERANCE, k == 0 ? usual : usual_half_space, integrators[order]);
      Run* second =
          run_create_edited(1, TOLERANCE, move_world, &move, k == 0 ? usual : usual_half_space, integrators[order]);
      char what[120];
      snprintf(what, sizeof what, "seed 121, moved world, scene %d, %s", k, integrators[order]);
      compare_runs(first, second, move, what);
      run_free(first);
      run_free(second);
    }
}

/* ---------------------------------------------------------------- order of links: also which body of a pair is first
 */

static void invariant_under_the_order_of_links(void** state) {
  (void)state;
  Run* first = run_create(1, TOLERANCE, usual, integrators[0]);
  Run* second = run_create(1, TOLERANCE, reordered, integrators[0]);
  compare_runs(first, second, pose_identity(), "links in another order, slab");
  run_free(first);
  run_free(second);
  first = run_create(1, TOLERANCE, usual_half_space, integrators[1]);
  second = run_create(1, TOLERANCE, reordered_half_space, integrators[1]);
  compare_runs(first, second, pose_identity(), "links in another order, half-space");
  run_free(first);
  run_free(second);
}

/* Forces of contacts.csv are the same up to their sign. */
static void invariant_forces_of_a_swapped_pair(void** state) {
  (void)state;
  static const char pair[] =
      "simulation: {dt: 0.005, steps: 50, gravity: [0, 0, 0], integrator: first_order}\n"
      "contact: {barrier_distance: 2.0e-3, stiffness: 1.0e-7, friction: 0.4, smoothing: 1.0e-4}\n"
      "links:\n"
      "  - {name: %s, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, %s]}\n"
      "  - {name: %s, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, %s]}\n"
      "initial:\n"
      "  - {link: high, velocities: [0.3, 0, -0.5, 0, 0, 0.5]}\n";
  Run* first = run_create(1, TOLERANCE, pair, "low", "0", "high", "0.21");
  Run* second = run_create(1, TOLERANCE, pair, "high", "0.21", "low", "0");
  int seen = 0;
  for (int n = 0; n < 50; n++) {
    run_steps(first, 1);
    run_steps(second, 1);
    int count[2];
    const SimContact *a = sim_contacts(first->sim, &count[0]), *b = sim_contacts(second->sim, &count[1]);
    assert_int_equal(count[0], count[1]);
    if (count[0] == 0) continue;
    seen++;
    double size = vec3_norm(a->force);
    compare_vec3(vec3_scale(b->force, -1), a->force, 1e-6 * size + 1e-9, "step %d: force", n);
    compare_near(b->gap, a->gap, ALLOWED, "step %d: gap", n);
  }
  assert_true(seen > 3);
  run_free(first);
  run_free(second);
}

/* ---------------------------------------------------------------- order of vertices */

static void shuffle_points(Scene* scene, void* context) {
  Random* random = context;
  for (int i = 0; i < scene->shape_count; i++) {
    SceneShape* shape = &scene->shapes[i];
    for (int k = shape->point_count - 1; k > 0; k--) {
      int j = (int)random_uniform(random, 0, k + 1);
      Vec3 swap = shape->points[k];
      shape->points[k] = shape->points[j];
      shape->points[j] = swap;
    }
  }
}

static void invariant_under_the_order_of_vertices(void** state) {
  (void)state;
  Random random = {122};
  for (int order = 0; order < 2; order++) {
    Run* first = run_create(1, TOLERANCE, usual, integrators[order]);
    Run* second = run_create_edited(1, TOLERANCE, shuffle_points, &random, usual, integrators[order]);
    compare_runs(first, second, pose_identity(), "seed 122, vertices in another order");
    run_free(first);
    run_free(second);
  }
}

/* ---------------------------------------------------------------- bodies that never touch are independent */

static void invariant_under_company(void** state) {
  (void)state;
  Run* first = run_create(1, TOLERANCE,
                          HEAD "links:\n" GROUND_HALF_SPACE BRICK_1 BRICK_2
                               "initial:\n  - {link: b1, velocities: [0.5, -0.2, 0, 0, 0, 1]}\n",
                          integrators[0]);
  Run* second =
      run_create(1, TOLERANCE,
                 HEAD "links:\n" GROUND_HALF_SPACE BRICK_1 BRICK_2
                      "  - {name: far, mass: 3, shape: brick, position: [50, 0, 0.2], rotation_vector: [1, 1, 0]}\n"
                      "initial:\n  - {link: b1, velocities: [0.5, -0.2, 0, 0, 0, 1]}\n  - {link: far, velocities: [0, "
                      "0, -20, 0, 0, 0]}\n",
                 integrators[0]);
  compare_runs(first, second, pose_identity(), "with a body far away that strikes the ground hard");
  run_free(first);
  run_free(second);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(invariant_under_motion_of_the_world),
      cmocka_unit_test(invariant_under_the_order_of_links),
      cmocka_unit_test(invariant_forces_of_a_swapped_pair),
      cmocka_unit_test(invariant_under_the_order_of_vertices),
      cmocka_unit_test(invariant_under_company),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
