/* Tests bounds on the motion of links along a path (P1-P3). Vertex motion along random paths, by differences of
 * positions, stays within the bounds. The bounds must not be too wide. */
#include "simulate/terms.h"

#include <string.h>

#include "support/paths.h"
#include "support/runs.h"

static const char scene[] =
    "contact: {model: none}\n"
    "shapes:\n"
    "  bar: {type: box, size: [0.6, 0.05, 0.03]}\n"
    "links:\n"
    "  - {name: root, mass: 1, shape: bar, position: [0.1, 0.2, 0.3], rotation_vector: [0.3, -0.2, 0.5]}\n"
    "  - {name: b, parent: root, mass: 1, joint: {type: hinge, axis: [0.2, 0.3, 1], position: [0.4, 0, 0.1]}, shapes: "
    "[{shape: bar, position: [0.3, 0, 0]}]}\n"
    "  - {name: c, parent: b, mass: 1, joint: {type: universal, axes: [[0.3, 0, 1], [0, 1, 0.4]], position: [0.6, 0.1, "
    "0]}, shapes: [{shape: bar, position: [0.3, 0, 0]}]}\n"
    "  - {name: d, parent: c, mass: 1, joint: {type: ball, position: [0.5, 0, 0]}, shapes: [{shape: bar, position: "
    "[0.3, 0.1, 0]}]}\n"
    "  - {name: e, parent: d, fixed: true, position: [0.6, 0, 0.2], mass: 1, shape: bar}\n"
    "  - {name: f, parent: root, mass: 1, joint: {type: slide, axis: [1, 1, 0], position: [0, 0.3, 0]}, shape: bar}\n"
    "  - {name: g, parent: f, mass: 1, joint: {type: free, free_axes: [x, z, rx, rz], position: [0.2, 0, 0]}, shape: "
    "bar}\n"
    "  - {name: lone, mass: 1, joint: {type: free, free_axes: [y, ry]}, shape: bar}\n";

typedef struct {
  double speed, acceleration, spin, spin_rate; /* largest ratio of what was seen to its bound */
} Ratios;

/* Axial vector of a b^T: twice the rotation vector of a small rotation, to second order. */
static Vec3 small_turn(Mat3 a, Mat3 b) {
  Mat3 m = mat3_mul(a, mat3_transpose(b));
  return vec3_scale(vec3(m.m[2][1] - m.m[1][2], m.m[0][2] - m.m[2][0], m.m[1][0] - m.m[0][1]), 0.5);
}

/* Second differences of coordinates of order 1 over h^2 = 1e-6 carry this much rounding. */
#define ROUNDING 4e-9

static double ratio(double seen, double bound) {
  return bound > 0 ? (seen - ROUNDING) / bound : (seen > ROUNDING ? HUGE_VAL : 0);
}

static void look_at(const JointPath* path, double alpha, const MotionBounds* bounds, Pose (*p)[3], Ratios* worst) {
  const double h = 1e-3;
  int n = path->model->link_count;
  Pose* poses = MEMORY_NEW(Pose, n);
  for (int k = 0; k < 3; k++) {
    joint_path_poses(path, alpha + (k - 1) * h, poses);
    for (int i = 0; i < n; i++) p[i][k] = poses[i];
  }
  memory_free(poses);
  for (int i = 0; i < n; i++) {
    const MotionBound* b = &bounds->link[i];
    Vec3 v = vec3_scale(vec3_sub(p[i][2].t, p[i][0].t), 0.5 / h);
    Vec3 a = vec3_scale(vec3_sub(vec3_add(p[i][2].t, p[i][0].t), vec3_scale(p[i][1].t, 2)), 1 / (h * h));
    Vec3 w = vec3_scale(small_turn(p[i][2].r, p[i][0].r), 0.5 / h);
    Vec3 dw = vec3_scale(vec3_sub(small_turn(p[i][2].r, p[i][1].r), small_turn(p[i][1].r, p[i][0].r)), 1 / (h * h));
    worst->speed = fmax(worst->speed, ratio(vec3_norm(v), b->speed));
    worst->acceleration = fmax(worst->acceleration, ratio(vec3_norm(a), b->acceleration));
    worst->spin = fmax(worst->spin, ratio(vec3_norm(w), b->spin));
    worst->spin_rate = fmax(worst->spin_rate, ratio(vec3_norm(dw), b->spin_rate));
    /* a vertex: |x'| <= speed + spin arm, |x''| <= acceleration + (spin^2 + spin_rate) arm */
    const ModelHull* hull = &path->model->hulls[path->model->links[i].hull_first];
    for (int k = 0; k < hull->points.count; k++) {
      Vec3 x = vec3(hull->points.x[k], hull->points.y[k], hull->points.z[k]);
      double arm = vec3_norm(x);
      Vec3 x0 = pose_apply(p[i][0], x), x1 = pose_apply(p[i][1], x), x2 = pose_apply(p[i][2], x);
      Vec3 xv = vec3_scale(vec3_sub(x2, x0), 0.5 / h),
           xa = vec3_scale(vec3_sub(vec3_add(x2, x0), vec3_scale(x1, 2)), 1 / (h * h));
      worst->speed = fmax(worst->speed, ratio(vec3_norm(xv), b->speed + b->spin * arm));
      worst->acceleration =
          fmax(worst->acceleration, ratio(vec3_norm(xa), b->acceleration + (b->spin * b->spin + b->spin_rate) * arm));
    }
  }
}

static void bounds_P1_P2_P3_hold_along_random_paths(void** state) {
  (void)state;
  Random random = {81};
  Run* run = run_model("%s", scene);
  const Model* m = &run->model;
  JointPath path = joint_path_create(m);
  MotionBounds bounds = {MEMORY_NEW(MotionBound, m->link_count), MEMORY_NEW(JointBound, m->link_count)};
  Screw* screws = MEMORY_NEW(Screw, m->dof_count);
  Pose* poses = MEMORY_NEW(Pose, m->link_count);
  Pose(*three)[3] = memory_alloc(sizeof(Pose[3]) * (size_t)m->link_count);
  Ratios worst = {0, 0, 0, 0};
  for (int k = 0; k < 150; k++) {
    double size = pow(10, random_uniform(&random, -2, 0.6));
    for (int i = 0; i < m->dof_count; i++) path.delta[i] = random_normal(&random);
    model_increment(m, m->initial_coordinates, path.delta, 1, path.q);
    for (int i = 0; i < m->dof_count; i++) path.delta[i] = k % 4 && i % 3 == k % 3 ? 0 : size * random_normal(&random);
    model_poses(m, path.q, poses);
    model_screws(m, path.q, poses, screws);
    motion_bounds(m, path.q, poses, screws, path.delta, &bounds);
    for (double alpha = 2e-3; alpha < 1; alpha += 0.0997) look_at(&path, alpha, &bounds, three, &worst);
    /* differences carry h^2 of the fourth derivative, of the size of the fourth power of the turn: allow for it */
    double slack = 1 + 1e-5 * pow(1 + size, 4);
    compare_at_most(worst.speed, slack, "seed 81, path %d, size %g: speed against its bound", k, size);
    compare_at_most(worst.acceleration, slack, "seed 81, path %d, size %g: acceleration against its bound", k, size);
    compare_at_most(worst.spin, slack, "seed 81, path %d, size %g: spin against its bound", k, size);
    compare_at_most(worst.spin_rate, slack, "seed 81, path %d, size %g: change of spin against its bound", k, size);
  }
  print_message("largest share of the bound: speed %.2f, acceleration %.2f, spin %.2f, its change %.2f\n", worst.speed,
                worst.acceleration, worst.spin, worst.spin_rate);
  assert_true(worst.speed > 0.5 && worst.spin > 0.5 && worst.acceleration > 0.1 && worst.spin_rate > 0.1);
  joint_path_free(&path);
  memory_free(bounds.link);
  memory_free(bounds.joint);
  memory_free(screws);
  memory_free(poses);
  memory_free(three);
  run_free(run);
}

/* certificate.md, worked example: hinge about z by 0.5 rad, then at an arm of 2 m a slide by 0.1 m from 0: speed of the
 * second link 0.5 (2 + 0.1) + 0.1, acceleration 0.25 2.1 + 2 0.5 0.1, unless the start says less. */
static void bounds_P2_worked_example(void** state) {
  (void)state;
  MotionBound up = {0, 0, 0.5, 0};
  JointBound own = {.arm = 2, .length = 0.1, .slide = 0.1};
  MotionBound b = motion_bound_below(up, &own);
  compare_near(b.speed, 1.15, 1e-15, "speed");
  compare_near(b.acceleration, 0.625, 1e-15, "acceleration");
  compare_near(b.spin, 0.5, 0, "spin");
  compare_near(b.spin_rate, 0, 0, "change of spin");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bounds_P1_P2_P3_hold_along_random_paths),
      cmocka_unit_test(bounds_P2_worked_example),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
