/* Tests gradient, Hessian and plane response of one pair (C4, C5) against central differences. Both bodies move by
 * finite twists of several sizes. The pairs include every type of contact, from millimetres to 100 m. */
#include <string.h>

#include "support/pairs.h"
#include "support/sweep.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* A pair under twists: xi = (w_a, v_a, w_b, v_b) about reference points that move with their bodies. */
typedef struct {
  Pair* pair;
  Pose pose[2];
  HullInstance ground; /* the half-space at xi = 0 */
  Vec3 reference[2], moved[2];
  Vec3 origin; /* where offsets are compared */
  Plane start;
} Twisted;

static Twisted twisted_create(Pair* pair, Random* random) {
  Twisted t = {.pair = pair, .pose = {pair->a.hull.pose, pair->b.hull.pose}, .ground = pair->b.hull};
  t.reference[0] = vec3_add_scaled(pair->a.hull.center, 0.3 * pair->size, random_direction(random));
  t.reference[1] = pair->b.hull.half_space
                       ? pair->a.hull.center
                       : vec3_add_scaled(pair->b.hull.center, 0.3 * pair->size, random_direction(random));
  PlaneSolution base = pair_solution(pair, "base");
  t.start = base.plane;
  t.origin = base.plane.origin;
  return t;
}

/* Planes are solved from the base plane where it separates, as a warm start would. A half-space stays: 6 numbers then.
 */
static bool solve_at(Twisted* t, const double* xi, PlaneSolution* solution) {
  for (int side = 0; side < 2; side++) {
    bool still = side == 1 && t->ground.half_space;
    t->moved[side] = still ? t->reference[1]
                           : vec3_add(t->reference[side], vec3(xi[6 * side + 3], xi[6 * side + 4], xi[6 * side + 5]));
  }
  body_place(&t->pair->a, pose_twisted(t->pose[0], t->reference[0], xi));
  if (!t->ground.half_space) body_place(&t->pair->b, pose_twisted(t->pose[1], t->reference[1], xi + 6));
  PlaneOutcome outcome = pair_solve(t->pair, t->start, solution);
  if (outcome == PLANE_INFEASIBLE) outcome = pair_solve(t->pair, pair_start(t->pair), solution);
  return outcome == PLANE_ACTIVE || outcome == PLANE_SEPARATED;
}

static void torque_of(Mat3 k, double out[3]) {
  out[0] = k.m[2][1] - k.m[1][2];
  out[1] = k.m[0][2] - k.m[2][0];
  out[2] = k.m[1][0] - k.m[0][1];
}

/* y = U, then dU/dxi about the moved references. */
static bool energy_and_gradient(void* context, const double* xi, double* y) {
  Twisted* t = context;
  PlaneSolution solution;
  if (!solve_at(t, xi, &solution)) return false;
  memset(y, 0, 13 * sizeof(double));
  if (solution.energy == 0) return true;
  PairDerivatives d;
  PlaneResponse response;
  plane_derivatives(&solution, t->ground.half_space, t->moved[0], t->moved[1], &d, &response);
  y[0] = d.energy;
  for (int side = 0; side < 2; side++) {
    torque_of(d.moment[side], y + 1 + 6 * side);
    y[1 + 6 * side + 3] = d.force[side].x;
    y[1 + 6 * side + 4] = d.force[side].y;
    y[1 + 6 * side + 5] = d.force[side].z;
  }
  return true;
}

static bool only_energy(void* context, const double* xi, double* y) {
  double all[13];
  if (!energy_and_gradient(context, xi, all)) return false;
  y[0] = all[0];
  return true;
}

static bool only_gradient(void* context, const double* xi, double* y) {
  double all[13];
  if (!energy_and_gradient(context, xi, all)) return false;
  memcpy(y, all + 1, 12 * sizeof(double));
  return true;
}

static bool plane_at(void* context, const double* xi, double* y) {
  Twisted* t = context;
  PlaneSolution solution;
  if (!solve_at(t, xi, &solution)) return false;
  Plane plane = plane_about(solution.plane, t->origin);
  y[0] = plane.n.x;
  y[1] = plane.n.y;
  y[2] = plane.n.z;
  y[3] = plane.o;
  return true;
}

typedef struct {
  double unit[12], inverse[12]; /* a step of the twist that matters at contact range, and one over it */
} Units;

static Units units_of(const Pair* pair, double gap) {
  double length = pair->support * fmin(0.5 * gap, fmax(1 - 0.5 * gap, 1e-3)), angle = length / pair->size;
  Units u;
  for (int k = 0; k < 12; k++) {
    u.unit[k] = k % 6 < 3 ? angle : length;
    u.inverse[k] = 1 / u.unit[k];
  }
  return u;
}

/* Rounding of coordinates, relative to the clearance, that the difference quotient divides by its step. */
static double allowed(const Pair* pair, double gap, double at_least) {
  double extent = pair->a.hull.radius + pair->b.hull.radius;
  return fmax(at_least, 3e3 * 2.2e-16 * extent / (pair->support * fmin(0.5 * gap, fmax(1 - 0.5 * gap, 1e-3))));
}

static void check_pair(PairKind kind, Random* random, double size, double support, double gap) {
  Pair pair = pair_create(kind, random, size, support, gap);
  Twisted t = twisted_create(&pair, random);
  const double zero[12] = {0};
  PlaneSolution base;
  assert_true(solve_at(&t, zero, &base));
  PairDerivatives d;
  PlaneResponse response;
  plane_derivatives(&base, t.ground.half_space, t.reference[0], t.reference[1], &d, &response);
  double y[13], full[12][12];
  energy_and_gradient(&t, zero, y);
  memcpy(full, d.hessian, sizeof full);
  for (int side = 0; side < 2; side++) /* curvature of the motion: w_j . (K^T - tr K) w_k */
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++)
        full[6 * side + j][6 * side + k] += d.moment[side].m[k][j] - (j == k ? mat3_trace(d.moment[side]) : 0);
  Units u = units_of(&pair, gap);
  char what[160];
  snprintf(what, sizeof what, "%s, size %g, s %g, gap %g s", pair_kind_name(kind), size, support, gap);
  int inputs = t.ground.half_space ? 6 : 12, rows = inputs;
  double hessian[144], gradient[12], dp[48];
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < inputs; j++) hessian[i * inputs + j] = full[i][j];
  memcpy(gradient, y + 1, sizeof gradient);
  Sweep energy = {only_energy, &t, inputs, 1, NULL, u.unit, NULL, 0.1, 5, 7};
  sweep_expect(&energy, gradient, 0, allowed(&pair, gap, 1e-7), "%s: gradient", what);
  Sweep force = {only_gradient, &t, inputs, 12, NULL, u.unit, u.inverse, 0.1, 5, 7};
  double padded[144] = {0};
  memcpy(padded, hessian, sizeof(double) * (size_t)(rows * inputs));
  if (t.ground.half_space) /* the reaction on the half-space is minus the force; no torque about its reference */
    for (int j = 0; j < inputs; j++)
      for (int i = 3; i < 6; i++) padded[(6 + i) * inputs + j] = -hessian[i * inputs + j];
  sweep_expect(&force, padded, 0, allowed(&pair, gap, 1e-6), "%s: Hessian", what);
  const double plane_scale[4] = {u.unit[0], u.unit[0], u.unit[0], u.unit[3]};
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < inputs; j++) dp[i * inputs + j] = response.dp[i][j];
  Sweep plane = {plane_at, &t, inputs, 4, NULL, u.unit, plane_scale, 0.1, 5, 7};
  sweep_expect(&plane, dp, 0, allowed(&pair, gap, 1e-5), "%s: plane response", what);
  solve_at(&t, zero, &base);
  pair_free(&pair);
}

/* ---------------------------------------------------------------- the sweeps */

static void derivatives_C4_C5_for_every_kind_of_pair(void** state) {
  (void)state;
  Random random = {21};
  static const double gaps[] = {0.1, 0.8, 1.5};
  for (int kind = 0; kind < PAIR_KINDS_WITH_ROUNDED; kind++)
    for (int g = 0; g < COUNT(gaps); g++) check_pair((PairKind)kind, &random, 0.3, 1e-2, gaps[g]);
}

static void derivatives_C4_C5_from_millimetres_to_100_m(void** state) {
  (void)state;
  Random random = {22};
  static const double sizes[] = {1e-3, 0.02, 1, 10, 100}, ratios[] = {1e-1, 1e-2, 1e-3};
  static const PairKind kinds[] = {PAIR_RANDOM_8, PAIR_EDGE_EDGE, PAIR_FACES, PAIR_HALF_SPACE_FACE};
  for (int i = 0; i < COUNT(sizes); i++)
    for (int j = 0; j < COUNT(ratios); j++)
      if (sizes[i] * ratios[j] < 0.2)
        check_pair(kinds[(i + j) % COUNT(kinds)], &random, sizes[i], sizes[i] * ratios[j], 0.9);
}

/* c -> s: everything goes to zero smoothly; the sweep crosses the end of the range. */
static void derivatives_C4_C5_at_the_end_of_the_range(void** state) {
  (void)state;
  Random random = {23};
  for (int kind = 0; kind < PAIR_KINDS_WITH_ROUNDED; kind++) {
    check_pair((PairKind)kind, &random, 0.3, 1e-2, 1.9);
    check_pair((PairKind)kind, &random, 0.3, 1e-2, 1.98);
  }
}

/* z -> 0: energies of 1e8 and more. */
static void derivatives_C4_C5_of_a_tiny_gap(void** state) {
  (void)state;
  Random random = {24};
  for (int kind = 0; kind < PAIR_KINDS_WITH_ROUNDED; kind++) check_pair((PairKind)kind, &random, 0.3, 1e-2, 0.01);
}

/* ---------------------------------------------------------------- invariants */

static void derivatives_are_symmetric_and_forces_cancel(void** state) {
  (void)state;
  Random random = {25};
  for (int kind = 0; kind < PAIR_HALF_SPACE_FACE; kind++)
    for (int k = 0; k < 20; k++) {
      Pair pair = pair_create((PairKind)kind, &random, 0.3, 1e-2, random_uniform(&random, 0.05, 1.9));
      PlaneSolution base = pair_solution(&pair, pair_kind_name((PairKind)kind));
      PairDerivatives d;
      PlaneResponse response;
      Vec3 reference = pair.a.hull.center; /* one point for both: then also the torques must cancel in the plane */
      plane_derivatives(&base, false, reference, reference, &d, &response);
      double scale = 0;
      for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++) scale = fmax(scale, fabs(d.hessian[i][j]));
      for (int i = 0; i < 12; i++)
        for (int j = 0; j < i; j++)
          compare_near(d.hessian[i][j], d.hessian[j][i], 1e-13 * scale, "Hessian (%d, %d)", i, j);
      double force = vec3_norm(d.force[0]);
      compare_vec3(vec3_scale(d.force[1], -1.0), d.force[0], 1e-10 * force, "seed 25, %s: force",
                   pair_kind_name((PairKind)kind));
      /* turning both bodies together about any axis in space does no work (frame independence) except through |n|
       * terms, which do not see rotations: the torques cancel too */
      double ta[3], tb[3];
      torque_of(d.moment[0], ta);
      torque_of(d.moment[1], tb);
      for (int i = 0; i < 3; i++)
        compare_near(ta[i], -tb[i], 1e-9 * force * pair.size, "seed 25, %s: torque %d", pair_kind_name((PairKind)kind),
                     i);
      pair_free(&pair);
    }
}

/* A common rigid motion of both bodies does not change the potential. The Hessian therefore maps (w, v, w, v) about one
 * point to the change of a constant covector, which the curvature term supplies. Translations are in its null space. */
static void derivatives_have_translations_in_the_null_space(void** state) {
  (void)state;
  Random random = {26};
  for (int kind = 0; kind < PAIR_HALF_SPACE_FACE; kind++) {
    Pair pair = pair_create((PairKind)kind, &random, 0.3, 1e-2, 0.6);
    PlaneSolution base = pair_solution(&pair, pair_kind_name((PairKind)kind));
    PairDerivatives d;
    PlaneResponse response;
    plane_derivatives(&base, false, pair.a.hull.center, pair.b.hull.center, &d, &response);
    for (int axis = 3; axis < 6; axis++)
      for (int i = 0; i < 12; i++)
        compare_near(d.hessian[i][axis], -d.hessian[i][6 + axis],
                     1e-9 * fabs(d.hessian[axis][axis]) + 1e-9 * vec3_norm(d.force[0]) / pair.support,
                     "%s: row %d, translation %d", pair_kind_name((PairKind)kind), i, axis - 3);
    pair_free(&pair);
  }
}

/* plane_predict is the response: its error is of second order in the twist. */
static void plane_predict_is_first_order(void** state) {
  (void)state;
  Random random = {27};
  for (int kind = 0; kind < PAIR_KINDS_WITH_ROUNDED; kind++) {
    Pair pair = pair_create((PairKind)kind, &random, 0.3, 1e-2, 0.8);
    Twisted t = twisted_create(&pair, &random);
    PlaneSolution base, there;
    const double zero[12] = {0};
    solve_at(&t, zero, &base);
    PairDerivatives d;
    PlaneResponse response;
    plane_derivatives(&base, t.ground.half_space, t.reference[0], t.reference[1], &d, &response);
    double direction[12], error[3];
    Units u = units_of(&pair, 0.8);
    for (int k = 0; k < 12; k++)
      direction[k] = (t.ground.half_space && k >= 6) ? 0 : u.unit[k] * random_normal(&random);
    for (int k = 0; k < 3; k++) {
      double xi[12], step = 0.05 * pow(0.1, k);
      for (int i = 0; i < 12; i++) xi[i] = step * direction[i];
      assert_true(solve_at(&t, xi, &there));
      Plane found = plane_about(plane_predict(base.plane, &response, xi, xi + 6), t.origin),
            wanted = plane_about(there.plane, t.origin);
      error[k] = vec3_norm(vec3_sub(found.n, wanted.n)) + fabs(found.o - wanted.o) / pair.size;
    }
    compare_at_most(error[1], error[0] / 50 + 1e-10, "%s: error of the prediction at a tenth of the twist",
                    pair_kind_name((PairKind)kind));
    compare_at_most(error[2], error[1] / 50 + 1e-10, "%s: at a hundredth", pair_kind_name((PairKind)kind));
    pair_free(&pair);
  }
}

/* contact.md, worked example: force and curvature of one vertex 0.1 over a half-space, s = 0.1. */
static void derivatives_C4_C5_worked_example(void** state) {
  (void)state;
  const Vec3 points[4] = {{0, 0, 0}, {1, 0, 1}, {-1, 1, 1}, {-1, -1, 1}};
  Pair pair = {body_create(points, 4), body_half_space(vec3(0, 0, 1), -0.1), 0.1, 1};
  PlaneSolution found = pair_solution(&pair, "worked example");
  PairDerivatives d;
  PlaneResponse response;
  plane_derivatives(&found, true, vec3(0, 0, 0), vec3(0, 0, 0), &d, &response);
  compare_vec3(d.force[0], vec3(0, 0, -3624.933464557978), 1e-7, "dU/dx");
  compare_vec3(d.force[1], vec3(0, 0, 3624.933464557978), 1e-7, "reaction");
  compare_near(d.hessian[5][5], 329996.0595336077, 1e-4, "d2U/dz2");
  pair_free(&pair);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_C4_C5_for_every_kind_of_pair),
      cmocka_unit_test(derivatives_C4_C5_from_millimetres_to_100_m),
      cmocka_unit_test(derivatives_C4_C5_at_the_end_of_the_range),
      cmocka_unit_test(derivatives_C4_C5_of_a_tiny_gap),
      cmocka_unit_test(derivatives_C4_C5_worked_example),
      cmocka_unit_test(derivatives_are_symmetric_and_forces_cancel),
      cmocka_unit_test(derivatives_have_translations_in_the_null_space),
      cmocka_unit_test(plane_predict_is_first_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
