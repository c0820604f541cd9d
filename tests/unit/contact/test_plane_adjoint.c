/* Tests derivatives of the contact force along a field (A5, A6, A13) against central differences. The variables are
 * vertices, the support and the pose of a half-space. The differences solve the planes again. */
#include <stdio.h>
#include <string.h>

#include "support/pair_steps.h"
#include "support/sweep.h"

static bool contact_at(void* context, const double* x, double* y) {
  double phi[2];
  if (!pair_step_phi(context, x, phi)) return false;
  *y = phi[0];
  return true;
}

static void check_step(PairStep* s, const char* what) {
  int n = pair_step_inputs(s);
  double *row = MEMORY_NEW(double, n), *other = MEMORY_NEW(double, n), *unit = MEMORY_NEW(double, n);
  double phi[2], forward[2];
  assert_true(pair_step_phi(s, NULL, forward));
  pair_step_adjoint(s, phi, row, other);
  compare_relative(phi[0], forward[0], 1e-9, "%s: value", what);
  pair_step_units(s, unit);
  Sweep sweep = {contact_at, s, n, 1, NULL, unit, NULL, 0.3, 6, 5};
  sweep_expect(&sweep, row, 0, 1e-7, "%s", what);
  memory_free(row);
  memory_free(other);
  memory_free(unit);
}

static const PairMotion motion = {.speed = 1, .spin = 1, .approach = 0.1, .both = true, .ground = true};

/* From deep in contact to where all but the nearest vertices have left it. Many vertices are slow and nothing new. */
static void plane_adjoint_A4_A5_A6_for_every_kind_of_pair(void** state) {
  (void)state;
  Random random = {181};
  static const double gaps[] = {0.3, 1, 1.7};
  for (int kind = 0; kind < PAIR_KINDS; kind++)
    for (int g = 0; g < 3; g++) {
      if (kind == PAIR_RANDOM_512 || ((kind == PAIR_RANDOM_64 || kind == PAIR_UNEQUAL) && g != 1)) continue;
      PairStep s = pair_step_create((PairKind)kind, &motion, &random, gaps[g]);
      char what[100];
      snprintf(what, sizeof what, "seed 181, %s, gap %g", pair_kind_name((PairKind)kind), gaps[g]);
      check_step(&s, what);
      pair_step_free(&s);
    }
}

static void plane_adjoint_A5_tip_on_tip(void** state) {
  (void)state;
  Random random = {182};
  PairStep s = pair_step_tips(&motion, &random, 0.8);
  check_step(&s, "seed 182, tips");
  pair_step_free(&s);
}

/* contact.md, worked example: a vertex 0.1 over a half-space, s = 0.1, field along z. */
static void plane_adjoint_A5_A13_worked_example(void** state) {
  (void)state;
  const Vec3 tip[5] = {{0, 0, 0}, {1, 0, 5}, {-1, 1, 5}, {-1, -1, 5}, {0, 0, 6}};
  PairStep s = {.half_space = true, .normal = {0, 0, 1}, .support = 0.1, .size = 1};
  s.friction = (FrictionParameters){.coefficient = 0.4, .smoothing = 1e-2, .dt = 0.01};
  s.points[0] = MEMORY_NEW(Vec3, 5);
  s.points[1] = MEMORY_NEW(Vec3, 1);
  memcpy(s.points[0], tip, sizeof tip);
  s.count[0] = 5;
  s.now[0] = s.next[0] = (Pose){mat3_identity(), vec3(0, 0, 0.1)};
  s.now[1] = s.next[1] = pose_identity();
  s.twist[0][5] = 1;
  double phi[2], contact[45], friction[45];
  assert_int_equal(pair_step_inputs(&s), 45);
  pair_step_adjoint(&s, phi, contact, friction);
  compare_relative(phi[0], -3624.933464557978, 1e-10, "Phi = dU/dz");
  compare_relative(contact[15 + 2], 329996.0595336077, 1e-10, "by the height of the vertex at t + dt");
  compare_near(contact[2], 0, 0, "by its height at t");
  compare_relative(contact[44], -329996.0595336077, 1e-10, "by the height of the ground at t + dt");
  compare_near(contact[15 + 5], 0, 0, "by a vertex that does not touch");
  pair_step_free(&s);
}

/* All vertices displaced together, with the half-space if there is one: the forces stay. */
static void plane_adjoint_sums_to_zero_over_a_common_displacement(void** state) {
  (void)state;
  Random random = {183};
  for (int kind = 0; kind < PAIR_KINDS; kind++) {
    PairStep s = pair_step_create((PairKind)kind, &motion, &random, 0.7);
    int n = pair_step_inputs(&s), vertices = s.count[0] + s.count[1];
    double *row = MEMORY_NEW(double, n), *other = MEMORY_NEW(double, n), phi[2], sum[3] = {0}, size = 0;
    memset(s.twist[0], 0, 3 * sizeof(double)); /* a field of displacements: it does not depend on where one is */
    memset(s.twist[1], 0, 3 * sizeof(double));
    pair_step_adjoint(&s, phi, row, other);
    for (int k = 0; k < 3 * vertices; k++) {
      sum[k % 3] += row[3 * vertices + k];
      size = fmax(size, fabs(row[3 * vertices + k]));
    }
    for (int i = 0; i < 3; i++) {
      sum[i] += row[n - 3 + i];
      compare_near(sum[i], 0, 1e-7 * size, "seed 183, %s, axis %d", pair_kind_name((PairKind)kind), i);
    }
    memory_free(row);
    memory_free(other);
    pair_step_free(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plane_adjoint_A4_A5_A6_for_every_kind_of_pair),
      cmocka_unit_test(plane_adjoint_A5_tip_on_tip),
      cmocka_unit_test(plane_adjoint_A5_A13_worked_example),
      cmocka_unit_test(plane_adjoint_sums_to_zero_over_a_common_displacement),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
