/* Tests inertia and gravity of a link through its second moment (S1) against sums over its mass points. Derivatives are
 * compared with central differences under finite twists. */
#include "simulate/terms.h"

#include <string.h>

#include "support/bodies.h"
#include "support/sweep.h"

enum { POINTS = 9 };

typedef struct {
  ModelLink link;
  Vec3 point[POINTS];
  double mass[POINTS];
  Pose pose, target;
  double weight;
  Vec3 reference;
  Pose motion; /* M: a change of the pose, any affine map */
} Case;

static Case case_create(Random* random) {
  Case c;
  memset(&c, 0, sizeof c);
  for (int k = 0; k < POINTS; k++) {
    c.point[k] = vec3(random_normal(random), random_normal(random), 0.5 + random_normal(random));
    c.mass[k] = random_uniform(random, 0.1, 2);
    const double x[4] = {c.point[k].x, c.point[k].y, c.point[k].z, 1};
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) c.link.moment.s[i][j] += c.mass[k] * x[i] * x[j];
  }
  c.link.mass = mass_moment_mass(&c.link.moment);
  c.link.center = mass_moment_center(&c.link.moment);
  c.pose = random_pose(random, 1);
  c.target = random_pose(random, 0); /* an affine map near the pose, not a rigid motion */
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) c.target.r.m[i][j] = c.pose.r.m[i][j] + 0.1 * random_normal(random);
  c.target.t = vec3_add_scaled(c.pose.t, 0.1, random_direction(random));
  c.weight = 1e4;
  c.reference = pose_apply(c.pose, c.link.center);
  return c;
}

static double energy_of_points(const Case* c, Pose pose) {
  double sum = 0;
  for (int k = 0; k < POINTS; k++) {
    Vec3 d = vec3_sub(pose_apply(pose, c->point[k]), pose_apply(c->target, c->point[k]));
    sum += 0.5 * c->weight * c->mass[k] * vec3_dot(d, d);
  }
  return sum;
}

static void inertia_S1_is_the_sum_over_mass_points(void** state) {
  (void)state;
  Random random = {71};
  for (int k = 0; k < 20; k++) {
    Case c = case_create(&random);
    compare_relative(inertia_energy(&c.link, c.pose, c.target, c.weight), energy_of_points(&c, c.pose), 1e-12,
                     "seed 71, energy");
    LinkTerms t;
    inertia_terms(&c.link, c.pose, c.target, c.weight, &t);
    Vec3 force = {0, 0, 0};
    Mat3 moment = mat3_zero();
    for (int m = 0; m < POINTS; m++) {
      Vec3 x = pose_apply(c.pose, c.point[m]),
           g = vec3_scale(vec3_sub(x, pose_apply(c.target, c.point[m])), c.weight * c.mass[m]);
      force = vec3_add(force, g);
      moment = mat3_add(moment, mat3_outer(g, vec3_sub(x, c.reference)));
    }
    compare_vec3(t.force, force, 1e-11 * vec3_norm(force), "seed 71, force");
    compare_arrays(&t.moment.m[0][0], &moment.m[0][0], 9, 1e-11, "seed 71, moment");
  }
}

static bool energy_at(void* context, const double* xi, double* y) {
  Case* c = context;
  y[0] = inertia_energy(&c->link, pose_twisted(c->pose, c->reference, xi), c->target, c->weight);
  return true;
}

static bool gradient_at(void* context, const double* xi, double* y) {
  Case* c = context;
  LinkTerms t;
  inertia_terms(&c->link, pose_twisted(c->pose, c->reference, xi), c->target, c->weight, &t);
  y[0] = t.moment.m[2][1] - t.moment.m[1][2];
  y[1] = t.moment.m[0][2] - t.moment.m[2][0];
  y[2] = t.moment.m[1][0] - t.moment.m[0][1];
  y[3] = t.force.x, y[4] = t.force.y, y[5] = t.force.z;
  return true;
}

static void inertia_S1_derivatives_match_central_differences(void** state) {
  (void)state;
  Random random = {72};
  for (int k = 0; k < 10; k++) {
    Case c = case_create(&random);
    const double zero[6] = {0};
    double gradient[6], h[36];
    gradient_at(&c, zero, gradient);
    LinkTerms t;
    inertia_terms(&c.link, c.pose, c.target, c.weight, &t);
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) {
        h[6 * i + j] = t.hessian[i][j];
        if (i < 3 && j < 3) h[6 * i + j] += t.moment.m[j][i] - (i == j ? mat3_trace(t.moment) : 0);
      }
    Sweep energy = {energy_at, &c, 6, 1, NULL, NULL, NULL, 0.1, 5, 8};
    sweep_expect(&energy, gradient, 0, 1e-8, "seed 72, case %d: gradient", k);
    Sweep slope = {gradient_at, &c, 6, 6, NULL, NULL, NULL, 0.1, 5, 8};
    sweep_expect(&slope, h, 0, 1e-8, "seed 72, case %d: Hessian", k);
  }
}

/* Phi = sum w m (x - y) . (M X~) over the mass points, by the entries of Y, by the points and by their masses. */
enum { INERTIA_INPUTS = 12 + 4 * POINTS };

static bool phi_of_points(void* context, const double* x, double* y) {
  const Case* c = context;
  Pose target = c->target;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) target.r.m[i][j] += x[4 * i + j];
  target.t = vec3_add(target.t, vec3(x[3], x[7], x[11]));
  *y = 0;
  for (int k = 0; k < POINTS; k++) {
    const double* own = x + 12 + 4 * k;
    Vec3 p = vec3_add(c->point[k], vec3(own[0], own[1], own[2]));
    Vec3 d = vec3_sub(pose_apply(c->pose, p), pose_apply(target, p));
    Vec3 eta = vec3_add(mat3_mul_vec(c->motion.r, p), c->motion.t);
    *y += c->weight * (c->mass[k] + own[3]) * vec3_dot(d, eta);
  }
  return true;
}

static void inertia_adjoint_A2_matches_central_differences(void** state) {
  (void)state;
  Random random = {74};
  for (int k = 0; k < 10; k++) {
    Case c = case_create(&random);
    double motion[3][4], target_bar[3][4] = {{0}}, found[INERTIA_INPUTS];
    MassMoment bar = mass_moment_zero();
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 4; j++) motion[i][j] = random_normal(&random);
      for (int j = 0; j < 3; j++) c.motion.r.m[i][j] = motion[i][j];
    }
    c.motion.t = vec3(motion[0][3], motion[1][3], motion[2][3]);
    inertia_adjoint(&c.link, c.pose, c.target, c.weight, motion, target_bar, &bar);
    memcpy(found, target_bar, sizeof target_bar);
    for (int m = 0; m < POINTS; m++) { /* S = sum m X~ X~^T */
      const double x[4] = {c.point[m].x, c.point[m].y, c.point[m].z, 1};
      double* own = found + 12 + 4 * m;
      own[0] = own[1] = own[2] = own[3] = 0;
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
          own[3] += bar.s[i][j] * x[i] * x[j];
          if (i < 3) own[i] += c.mass[m] * (bar.s[i][j] + bar.s[j][i]) * x[j];
        }
    }
    Sweep sweep = {phi_of_points, &c, INERTIA_INPUTS, 1, NULL, NULL, NULL, 0.1, 10, 4};
    sweep_expect(&sweep, found, 0, 1e-9, "seed 74, case %d", k);
  }
}

/* Derivatives are added to the array's content. A link without mass adds nothing. */
static void inertia_adjoint_adds(void** state) {
  (void)state;
  Random random = {75};
  Case c = case_create(&random);
  const double motion[3][4] = {{0, -1, 0, 2}, {1, 0, 0, 0}, {0, 0, 0, 1}};
  double once[3][4] = {{0}}, twice[3][4] = {{0}};
  MassMoment bar = mass_moment_zero(), bar_twice = mass_moment_zero();
  inertia_adjoint(&c.link, c.pose, c.target, c.weight, motion, once, &bar);
  for (int k = 0; k < 2; k++) inertia_adjoint(&c.link, c.pose, c.target, c.weight, motion, twice, &bar_twice);
  c.link.mass = 0;
  inertia_adjoint(&c.link, c.pose, c.target, c.weight, motion, twice, &bar_twice);
  for (int k = 0; k < 12; k++) once[k / 4][k % 4] *= 2;
  for (int k = 0; k < 16; k++) bar.s[k / 4][k % 4] *= 2;
  compare_arrays(&twice[0][0], &once[0][0], 12, 1e-15, "bar of Y");
  compare_arrays(&bar_twice.s[0][0], &bar.s[0][0], 16, 1e-15, "bar of S");
}

/* At rest with Y equal to the pose the force is zero. A link without mass has no terms. */
static void inertia_is_zero_where_it_must_be(void** state) {
  (void)state;
  Random random = {73};
  Case c = case_create(&random);
  LinkTerms t;
  inertia_terms(&c.link, c.pose, c.pose, c.weight, &t);
  compare_near(inertia_energy(&c.link, c.pose, c.pose, c.weight), 0, 0, "energy at the target");
  compare_near(vec3_norm(t.force), 0, 0, "force at the target");
  c.link.mass = 0;
  memset(&c.link.moment, 0, sizeof c.link.moment);
  inertia_terms(&c.link, c.pose, c.target, c.weight, &t);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) compare_near(t.hessian[i][j], 0, 0, "Hessian of a link without mass");
}

/* step.md, worked example: a point of 2 kg at (1, 0, 0) of the frame, frame at rest at the origin, Y shifted by
 * (0, 0.1, 0): energy 1/2 w 2 0.01, force (0, -0.2 w, 0), no torque about the point itself. */
static void inertia_S1_worked_example(void** state) {
  (void)state;
  ModelLink link;
  memset(&link, 0, sizeof link);
  const double x[4] = {1, 0, 0, 1};
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) link.moment.s[i][j] = 2 * x[i] * x[j];
  link.mass = 2;
  link.center = vec3(1, 0, 0);
  Pose target = pose_identity();
  target.t.y = 0.1;
  LinkTerms t;
  inertia_terms(&link, pose_identity(), target, 100, &t);
  compare_near(inertia_energy(&link, pose_identity(), target, 100), 1, 1e-14, "energy");
  compare_vec3(t.force, vec3(0, -20, 0), 1e-13, "force");
  compare_near(t.moment.m[0][1] - t.moment.m[1][0], 0, 1e-13, "torque about z");
  compare_near(t.hessian[3][3], 200, 1e-12, "mass over dt^2");
  compare_near(t.hessian[2][2], 0, 1e-12, "inertia of a point about itself");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inertia_S1_is_the_sum_over_mass_points),
      cmocka_unit_test(inertia_S1_derivatives_match_central_differences),
      cmocka_unit_test(inertia_adjoint_A2_matches_central_differences),
      cmocka_unit_test(inertia_adjoint_adds),
      cmocka_unit_test(inertia_is_zero_where_it_must_be),
      cmocka_unit_test(inertia_S1_worked_example),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
